/* harness: given rows, run a worker, expect rows. For tests written with Check; a test that uses it
 * has `tcase_add_checked_fixture(c, NULL, close_store)`, or none: what a failed test leaves behind
 * is taken away when the program ends. */
#ifndef HARNESS_H
#define HARNESS_H

#include "clock.h"
#include "err.h"
#include "store.h"
#include "suite.h"

#include <stdint.h>
#include <sys/types.h>

/* A new empty directory, removed at the end. Valid until the next scratch or fresh_store. */
const char *scratch(void);
/* The same with a name so short that run directories with sockets fit beneath it, whatever $TMPDIR
 * is. Valid until the next call. */
const char *short_scratch(void);

/* An empty database with rules, a run directory, the default operator local:tester, mode local, no
 * Slack, this build; the real time; host "h". What the test had before is closed. */
void fresh_store(void);
/* Kills the workers that still run, and removes the directory. */
void close_store(void);
/* Closes the harness's own connection: from here on a test puts database files there itself, and
 * uses no `given`, `rows` or `expect` until the next fresh_store. */
void leave_store(void);
/* A case of tests that use the store, added to s; no test may last longer. */
TCase *store_case(Suite *s, const char *name, int seconds);
const char *test_db(void);
const char *test_run(void);

/* The clock of this process and of all workers: sets it to an instant (unix ms), or moves it. Both
 * ring all bells. Only differences from the machine's clock are kept: time goes on running. */
void at(int64_t unix_ms);
void advance(int64_t ms);

/* Runs statements as somebody else's connection would, and rings all bells. */
void given(const char *sql);
/* Every session is in this mode, and nothing else has changed: as if an operator had ordered it. */
void given_mode(const char *mode);
/* The rows of a query: columns joined by '|', a line each, NULL as nothing. The caller frees. */
char *rows(const char *sql);
/* The rows of a query are these; a failure shows both. */
void expect(const char *sql, const char *text);
/* They become these within 10 seconds. */
void expect_soon(const char *sql, const char *text);
/* They stay these for ms: only for what must not happen and leaves nothing to wait for. */
void expect_still(const char *sql, const char *text, int ms);

/* Runs the binary $INTERCOM_BUILD/name until it has nothing more to do ($INTERCOM_DRAIN); the test
 * fails unless it ends with status 0. */
void run_worker(const char *name);
/* The same, and returns the status; 128 + signal if one killed it. */
int try_worker(const char *name);
/* Starts it and waits until its row is ready. */
pid_t start_worker(const char *name);
/* Starts it below strace, which kills it at its nth system call of that name. In a process group of
 * its own; the caller waits for it. "runner-12": the runner of run 12. */
pid_t start_killed_at(const char *name, const char *call, int n);
/* Starts it below strace, which stops it behind its nth system call of that name, and waits until
 * it stands still. path: only calls on that file count; NULL: all. */
struct stopped {
	pid_t tracer, pid; /* strace, and the worker */
};
struct stopped start_stopped_at(const char *name, const char *call, int n, const char *path);
/* Lets it go on until it has nothing more to do; the test fails unless it ends with status 0. */
void go_on(struct stopped s);
/* survives (whether the worker came as far as the nth call) for the first call of that name, for
 * the one that is step further on, and so on, until it did not; the test fails if that is soon. */
void kill_at_each(const char *call, int step, bool (*survives)(const char *call, int n));
/* SIGKILL, and waits for its end. For other signals: kill(2). */
void kill_worker(pid_t pid);
/* SIGSTOP, at a moment when it is not writing: nobody waits for its lock. */
void halt_worker(pid_t pid);
/* SIGTERM; the test fails unless it ends with status 0. */
void stop_worker(pid_t pid);

#endif
