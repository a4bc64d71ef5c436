/* harness: given rows, run a worker, expect rows. For tests written with Check. A test that uses it
 * has `tcase_add_checked_fixture(c, NULL, close_store)`, or no fixture: what a failed test leaves
 * behind is removed when the program ends. */
#ifndef HARNESS_H
#define HARNESS_H

#include "clock.h"
#include "err.h"
#include "store.h"
#include "suite.h"

#include <stdint.h>
#include <sys/types.h>

/* How many workers a system without Slack has. */
#define SITE_WORKERS "8"

/* A new empty directory, removed at the end. Valid until the next scratch or fresh_store. */
const char *scratch(void);
/* The same with a name so short that run directories with sockets fit below it, whatever $TMPDIR
 * is. Valid until the next call. */
const char *short_scratch(void);

/* An empty database with rules, a run directory, the default operator local:tester, mode local, no
 * Slack, this build; the real time; host "h". Closes what the test had before. */
void fresh_store(void);
/* A connection of the test's own, made anew: without what the old one has seen of the database. */
void open_database_again(void);
/* Kills the workers that still run, and removes the directory. */
void close_store(void);
/* Closes the harness's own connection: from here on the test puts database files there itself, and
 * must not use `given`, `rows` or `expect` until open_database_again or the next fresh_store. */
void leave_store(void);
/* A test case for tests that use the store, added to s; no test may take longer than seconds. */
TCase *store_case(Suite *s, const char *name, int seconds);
const char *test_db(void);
const char *test_run(void);

/* Sets the clock of this process and of all workers to an instant (unix ms), or moves it. Both ring
 * all bells. The harness keeps only the difference from the machine's clock, so time keeps
 * running. */
void at(int64_t unix_ms);
void advance(int64_t ms);

/* Runs statements as another process's connection would, and rings all bells. */
void given(const char *sql);
/* Puts every session in this mode and changes nothing else, as if an operator had ordered it. */
void given_mode(const char *mode);
/* The rows of a query: columns joined by '|', one line each, NULL as nothing. The caller frees the
 * text. */
char *rows(const char *sql);
/* The rows of a query must be these; a failure shows both. */
void expect(const char *sql, const char *text);
/* They must become these, and may not stand still for AGENT_PATIENCE_MS before. */
void expect_soon(const char *sql, const char *text);
/* They must stay these for ms: only for things that must not happen and leave nothing to wait
 * for. */
void expect_still(const char *sql, const char *text, int ms);

/* Runs the binary $INTERCOM_BUILD/name until it has nothing more to do ($INTERCOM_DRAIN); fails the
 * test unless it exits with status 0. One that wants a successor gets it. */
void run_worker(const char *name);
/* The same, and returns the status; 128 + signal if a signal killed it. */
int try_worker(const char *name);
/* Starts it and waits until its row is ready. A successor that it wants (WORKER_RENEWS) is started,
 * too; the pid stands for that, then. */
pid_t start_worker(const char *name);
/* Starts it under strace, which writes these system calls of it to log, with the paths of
 * descriptors, and injects something into them: how is "error=EIO:when=3", for example, or NULL. It
 * has a process group of its own; the caller waits for it. "runner-12": the runner of run 12. */
pid_t start_traced(const char *name, const char *calls, const char *how, const char *log);
/* The same; strace kills it at its nth system call of that name. */
pid_t start_killed_at(const char *name, const char *call, int n);
/* start_traced, until it has nothing more to do; only calls on that path count. Returns its status.
 */
int try_traced_on(const char *path, const char *name, const char *calls, const char *how,
                  const char *log);
/* Starts it under strace, which stops it after its nth system call of that name, and waits until it
 * has stopped. path: only calls on that file count; NULL: all. */
struct stopped {
	pid_t tracer, pid; /* strace, and the worker */
};
struct stopped start_stopped_at(const char *name, const char *call, int n, const char *path);
/* Continues it until it has nothing more to do; fails the test unless it exits with status 0. */
void go_on(struct stopped s);
/* How far one kill is from the next: 1 with INTERCOM_KILLS=all, otherwise sample. */
int kill_step(int sample);
/* Calls survives for the first call of that name, the one kill_step(sample) further on, and so on,
 * until it returns false; fails the test if that is too soon. survives returns whether the worker
 * reached the nth call. */
void kill_at_each(const char *call, int sample, bool (*survives)(const char *call, int n));
/* SIGKILL, and waits for its end. For other signals use kill(2). */
void kill_worker(pid_t pid);
/* SIGSTOP, at a moment when it is not writing, so that nobody waits for its lock. */
void halt_worker(pid_t pid);
/* SIGTERM; fails the test unless it exits with status 0. */
void stop_worker(pid_t pid);

#endif
