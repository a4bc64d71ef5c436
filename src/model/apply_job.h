/* apply_job: what the files of apply share: the job in hand, and its steps. For them only. */
#ifndef APPLY_JOB_H
#define APPLY_JOB_H

#include "apply.h"
#include "request.h"

#include <string.h>

/* The job in hand, and the change of each file. */
struct apply_job {
	struct applier *a;
	struct apply_report *report;
	int64_t seq, request_seq, claim;
	int64_t question_seq; /* apply.force asks: the question about the changed file; 0: none */
	bool was_claimed, force, is_undo;
	bool is_silent; /* the disk does not answer: it rests for longer */
	bool gives_up; /* too many have died over it: it is only tidied up */
	char *workspace_root;
	int lock_fd, root_fd;
	struct request request;
	struct file_change *changes;
	size_t count;
	bool journaled; /* the rows of changes are there, from a predecessor: planned */
};

#define APPLY_JOB_INIT                                                                             \
	{                                                                                          \
		.lock_fd = -1, .root_fd = -1                                                       \
	}

/* What is to be done with a job next. */
enum step { STEP_FAILED = -1, STEP_SETTLED, STEP_GO_ON };

static inline bool is_action(const struct file_change *f, const char *action)
{
	return strcmp(f->action, action) == 0;
}

/* ---- apply_job.c: its changes, and settling it ---- */

void apply_job_clear(struct apply_job *j);
void apply_job_changes_clear(struct apply_job *j);
struct file_change *apply_job_add_change(struct apply_job *j);

/* Nothing is in place: what was staged and made for it goes, for good: once the job is settled,
 * nobody tidies up after a power cut. */
void apply_job_undo(struct apply_job *j);

/* Whether another claim may do work. */
bool apply_job_may_try_again(const struct apply_job *j);

/* Whether a text no longer exists, rather than a database that cannot be read. */
bool apply_job_is_missing(const struct err *e);

/* Whether the disk with the files of a job answers, asked before the applier itself waits for it.
 */
bool apply_job_disk_answers(struct apply_job *j);

/* Sets report->forced. */
void apply_job_note_forced(struct apply_job *j);

/* Settle it: as done; as queued again, for a moment; as dead. 0 or -1. */
int apply_job_settle_applied(struct apply_job *j, struct err *e);
int apply_job_put_back(struct apply_job *j, struct err *e);
/* Leaves it alone for a minute. */
void apply_job_let_rest(struct apply_job *j);
int apply_job_settle_dead(struct apply_job *j, struct err *e);

/* Commits a change of so many rows, or rolls back if the job is no longer ours. 0 or -1. */
int apply_job_commit(struct apply_job *j, int changed, const char *state, struct err *e);

/* Settles by report->why: again later, or refused. */
enum step apply_job_refused(struct apply_job *j, struct err *e);

/* ---- apply_force.c ---- */

/* What of a file that has changed since it was shown may be written. */
enum force { FORCE_NOT, FORCE_LIKE_SHOWN, FORCE_ASKS };
enum force apply_job_force(struct apply_job *j);

/* Asks the operator about what the proposal does to the files as they are now; the job waits for
 * the answer. proposal_work has been done. 0 or -1. */
int apply_job_ask(struct apply_job *j, const struct plan *plan, struct err *e);

/* ---- apply_plan.c ---- */

/* Plans; in place of what the journal says, which must come out the same. */
enum step apply_job_plan(struct apply_job *j, struct err *e);

/* ---- apply_write.c ---- */

/* A predecessor's journal: what it left undone is undone or finished here, what it has done is
 * settled. */
enum step apply_job_recover(struct apply_job *j, struct err *e);

/* Commits what is going to be done. */
enum step apply_job_journal(struct apply_job *j, struct err *e);

/* Stages all and puts it in place. */
enum step apply_job_write(struct apply_job *j, struct err *e);

#endif
