/* site: a whole system to talk to: config, database, workspace, and a supervisor with its workers.
 * Its processes, those of relays, and everything they started are gone when the test program
 * ends. */
#ifndef SITE_H
#define SITE_H

#include "harness.h"
#include "str.h"

#include <sys/types.h>

struct site {
	char home[100]; /* $HOME, also of the relays */
	char workspace[120];
	char config[160];
	char database[200];
	int port;
	pid_t pid; /* of the supervisor, 0 while none of ours runs */
	const char *fails; /* "inotify_init1:error=EMFILE": a call that fails in all of its
	                      processes, by strace; NULL: none */
};

/* On the harness's database: call fresh_store first. more: lines of config.toml. */
struct site site_make(const char *more);
/* On a database elsewhere. $HOME of the test is that of the site made last. */
struct site site_make_at(const char *database, const char *more);
/* Starts the supervisor and waits until it reports that it is ready. */
void site_start(struct site *s);
/* Starts it under strace, which kills the supervisor at its nth system call of that name; returns
 * strace's pid, for which the caller waits. */
pid_t site_start_killed_at(const struct site *s, const char *call, int n);
/* The supervisor of that strace, 0 if it is not there. */
pid_t site_traced(pid_t tracer);
/* A site on a fresh_store; not started, or started. */
struct site given_site(void);
struct site given_running_site(void);
/* Starts it and waits for its end; returns its exit status and puts its output in said. */
int site_try(struct site *s, struct str *said);
/* SIGTERM; returns its exit status. */
int site_stop(struct site *s);
/* SIGKILL to the supervisor and all workers. */
void site_kill(struct site *s);
/* Environment for relays: HOME, PATH, USER and nothing else. */
char *const *site_environment(const struct site *s);
/* Pid of a ready worker, 0 if there is none. */
pid_t worker_pid(const char *name);
/* SIGKILL to it; waits until its replacement is ready. */
void kill_and_await(const char *name);

#endif
