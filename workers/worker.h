/* worker: what every worker process needs apart from its one job: arguments, lock, store, bell,
 * signals, heartbeat, readiness. See workers/README.md for the contract. */
#ifndef WORKER_H
#define WORKER_H

#include "doorbell.h"
#include "err.h"
#include "fences.h"
#include "id.h"
#include "machine.h"
#include "store.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	WORKER_LOOK_MS = 5000, /* upper bound for the cost of a lost bell */
	WORKER_HEARTBEAT_MS = 30000, /* between heartbeats */
	WORKER_REFUSED_MS = 1000, /* until it looks again after a refused row */
	WORKER_NAME_BYTES = 60,
	WORKER_RENEWS = 79, /* exit status: a successor is to be started at once */
};

struct worker {
	const char *name; /* also of its lock, its bell and its rows */
	struct id id; /* of this incarnation; worker.id, claims, listeners */
	int64_t row; /* the only row that it serves; 0: it serves all */
	char row_name[WORKER_NAME_BYTES]; /* what name points to in that case */
	char machine[MACHINE_BYTES];
	const char *db_path;
	char *database; /* its real path */
	const char *run_dir;
	char *moved_to; /* what run_dir points to once it has vanished */
	int run_fd;
	int lock_fd;
	int signal_fd; /* SIGTERM and SIGINT arrive here */
	int extra_fd; /* also wakes step, which drains it; -1: none. Closed by worker_close */
	struct doorbell bell;
	struct store store;
	int64_t due_ms; /* unix ms when step wants to look again, INT64_MAX: only at a bell */
	bool in_hand; /* what step has begun goes on: its idle moments do not count for a drain */
	int64_t heartbeat_ms; /* monotonic: when the next heartbeat is due */
	int beat_wait_ms; /* how long one waits for the write lock; 0: as long as any write */
	bool stopping;
	bool rung; /* the last wait ended with its bell */
	bool rests; /* its database is closed: worker_rest */
	bool ready; /* its row says so */
	bool any_port; /* set before it is ready: its server has another port than usual */
	struct roots workspaces; /* set before it is ready: those that it may write */
	bool renews; /* set by step: it ends, and a successor is started at once, with another fence
	              */
	char fence[FENCE_STATE_BYTES]; /* what is in force; "": not yet put up */
	struct err refused; /* the last refused row that was logged, */
	int64_t refused_ms; /* monotonic: and when it may be logged again */
	int64_t rest_ms; /* monotonic: after a refused row, do not look before this */
};

/* Parses the arguments that every worker takes (--db PATH, --run DIR, --log-format text|json,
 * --log-level L, --help, --version; exits for the last two), takes the worker's lock, opens the
 * store and checks that its build matches, opens the bell, marks dead predecessors as ended and
 * writes its own row. purpose: one line for --help. */
int worker_open(struct worker *w, const char *name, const char *purpose, int argc, char **argv,
                struct err *e);

/* The same for a worker that runs once per row: it also takes --run-row SEQ, its name ends with
 * that number ("runner-12"), and its lock file holds its pid and its build. It outlives its
 * supervisor: the next one finds it by that file (instance.h). */
int worker_open_for_row(struct worker *w, const char *name, const char *purpose, int argc,
                        char **argv, struct err *e);

/* Returns whether the run directory has vanished (logind removes $XDG_RUNTIME_DIR) and
 * agent-intercom has made another: then lock and bell have moved there, bell.fd and run_fd are new,
 * and code that waits for the old ones must switch to them. A check costs two stat(2). Exits with
 * 75 if the fence keeps the other one out of reach. */
bool worker_move(struct worker *w);

/* Puts up the fence of its row in the table of processes (src/fence/fences.c): what it needs beyond
 * that, it has opened before. For a worker that starts others before it is ready, which are to have
 * the same fence; for all others worker_ready does it. */
int worker_fence(struct worker *w, struct err *e);

/* Marks its row as ready, and puts up its fence, unless it stands. detail: what an operator wants
 * to know, or NULL. */
int worker_ready(struct worker *w, const char *detail, struct err *e);

/* Shows that the worker is alive: touches the lock file (pulse.h) and, if due, updates the
 * heartbeat in its row. A worker that does not for 40 s is replaced: long work calls pulse(). */
int worker_heartbeat(struct worker *w, struct err *e);

/* Milliseconds until the next thing due by the clock (heartbeat, due_ms, regular look). */
int worker_patience_ms(const struct worker *w);

/* Closes the database until worker_wake: the parsed schema and cached pages take 2 MiB. For a
 * worker that has been idle for long, and of which there are many. */
void worker_rest(struct worker *w);
/* Opens it again, if it is closed. */
int worker_wake(struct worker *w, struct err *e);

/* Handles an error that means the rules refused a row: logs it (once a minute while it is the same)
 * and undoes the transaction; the worker continues after WORKER_REFUSED_MS. Returns whether it was
 * such an error; then e is clean. */
bool worker_forgives(struct worker *w, struct err *e);
/* The same for rows that a batch left behind. Returns whether there were any. */
bool worker_tells_refused(struct worker *w, const struct err_refused *refused);

/* The exit status: 78 (wrong input or configuration) only if the worker was never ready; if nothing
 * is wrong and it renews, WORKER_RENEWS. */
int worker_exit(const struct worker *w, const struct err *e);

/* Sleeps until the bell (which it drains), extra_fd, a signal or the clock; busy: only checks,
 * without sleeping. Returns whether to stop. In test builds, $INTERCOM_DRAIN makes the first idle
 * moment a stop. */
bool worker_wait(struct worker *w, bool busy);

/* Records in its row that it stopped (if e is clean) and releases everything. */
void worker_close(struct worker *w, const struct err *e);

/* The whole life of a worker that looks at rows. step does one piece of work and returns 1 if it
 * did something, 0 if there is nothing to do now (it may set w->due_ms), -1 if it cannot continue;
 * after ERR_REFUSED the loop continues. Returns the exit status. */
typedef int worker_step(struct worker *w, struct err *e);
int worker_main(const char *name, const char *purpose, worker_step *step, int argc, char **argv);
/* What follows worker_open, which returned `opened`. */
int worker_serve(struct worker *w, int opened, worker_step *step, struct err *e);

#endif
