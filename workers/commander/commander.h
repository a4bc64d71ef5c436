/* commander: runs the commands of [commands] that operators order by their aliases. What its parts
 * share; each stands on those below it.
 *
 * main.c    its life: which runs begin, and when
 * job.c     one run: its process, its output, its end
 * rows.c    the row of a run
 *
 * Each command has a keeper (agent/keeper.h): nothing that it started outlives its run, even if it
 * has left its group, and even if commander is killed. */
#ifndef COMMANDER_H
#define COMMANDER_H

#include "capture.h"
#include "err.h"
#include "keeper_owner.h"
#include "sql/alias_run.h"
#include "str.h"
#include "worker.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	COMMANDER_JOBS = 8, /* at once: each may use all of the machine */
	COMMANDER_BUSY_MS = 1000, /* until rows are tried again that could not be written */
	COMMANDER_MARK_BYTES = 100,
};

/* The variable that marks every process of a run. */
#define COMMANDER_MARK "INTERCOM_ALIAS_RUN"

enum job_phase {
	JOB_FREE, /* this place holds no run */
	JOB_STARTS, /* the keeper of its user has not answered yet */
	JOB_RUNS,
	JOB_TERM, /* its group has SIGTERM */
	JOB_DRAIN, /* it has ended, or was killed; what it wrote is read */
	JOB_RELEASED, /* its keeper ends what is left of it */
	JOB_OVER, /* nothing of it is left; its row does not say so yet */
};

struct job {
	enum job_phase phase;
	int64_t due_ms; /* monotonic: when the next phase begins; INT64_MAX: not by the clock */
	struct alias_run_row row; /* as it was claimed */
	struct keeper keeper;
	uid_t uid; /* whose process it is; 0: our own */
	struct owner_process asked; /* what as-owner has said of its keeper */
	struct keeper_sweep sweep; /* which ends what it left, if it is another user's */
	int64_t sweep_end_ms; /* monotonic: when that is no longer waited for */
	struct launch process;
	struct capture output;
	bool has_begun; /* its process became the command */
	bool is_told; /* its row says that it runs */
	bool has_status; /* status is valid */
	int status; /* as waitpid(2) says */
	enum alias_run_outcome outcome; /* NONE: its status says it */
	struct str why;
	int64_t show_ms; /* monotonic: when its output may be shown next */
	int64_t shown; /* bytes of output that the row knows of */
	int64_t try_ms; /* monotonic: when its row is tried again; 0: now */
};

#define JOB_INIT                                                                                   \
	{                                                                                          \
		.phase = JOB_FREE, .due_ms = INT64_MAX, .asked = OWNER_PROCESS_INIT,               \
		.sweep = KEEPER_SWEEP_INIT                                                         \
	}

struct commander {
	struct worker w;
	struct job jobs[COMMANDER_JOBS];
	int epoll;
	int64_t timeout_ms; /* of the setting, as the last run began */
	struct str start_socket; /* by whom commands of other users are started; "": none are */
	bool lost_keeper; /* one was killed: what it kept is our child */
	int64_t look_ms; /* monotonic: when rows are looked at, at the latest */
	bool leaving;
};

/* ---- job.c ---- */

/* Begins to start a run that was claimed; what fails becomes its outcome. -1: the row cannot be
 * written. */
int job_begin(struct commander *c, struct job *j, struct err *e);
/* One that starts: begins it as soon as its keeper has answered. 1 it has begun, or will not, 0 not
 * yet, -1 as job_begin. */
int job_go(struct commander *c, struct job *j, struct err *e);
/* Reads what it wrote, and takes the steps that are due. 1 there may be more to read, 0 not now. */
int job_turn(struct commander *c, struct job *j);
/* It shall end, for this reason; the first one stands. grace_ms: between SIGTERM and SIGKILL. */
void job_end(struct job *j, enum alias_run_outcome outcome, const char *why, int64_t grace_ms);
/* Gives its place to others. */
void job_clear(struct job *j);

enum { JOB_GRACE_MS = 5000 };

/* ---- rows.c ---- */

/* What a dead predecessor had in hand is ended: its processes first, then its rows. So is what was
 * ordered so long ago that nobody expects it. */
int rows_recover(struct commander *c, struct err *e);
/* Takes the next run: 1 it is in j, 0 there is none, -1. */
int rows_claim(struct commander *c, struct job *j, struct err *e);
/* The process is there, and waits: on disk before it is let go. */
int rows_process(struct commander *c, const struct job *j, struct err *e);
int rows_running(struct commander *c, const struct job *j, struct err *e);
/* Whether its end was ordered. */
int rows_stop_is_wanted(struct commander *c, const struct job *j, struct err *e);
/* Its output so far. */
int rows_show(struct commander *c, struct job *j, struct err *e);
/* It is over. */
int rows_settle(struct commander *c, struct job *j, struct err *e);
/* The system stops: those that wait do not begin. */
int rows_end_waiting(struct commander *c, struct err *e);
/* Begins to have all killed that is left of a run of another user whose keeper is gone, or hangs.
 */
void rows_sweep(struct commander *c, struct keeper_sweep *s, uid_t uid, struct keeper_rest *rest,
                const char *worker_id, int64_t seq);
/* Tells how that ended. */
void rows_swept(struct keeper_sweep *s, int64_t seq);
/* The variable and its value that mark the processes of a run. */
void rows_mark(const char *worker_id, int64_t seq, char out[COMMANDER_MARK_BYTES]);

#endif
