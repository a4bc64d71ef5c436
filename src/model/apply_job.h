/* apply_job: shared by the files of apply, and only by them: the current job and its steps. */
#ifndef APPLY_JOB_H
#define APPLY_JOB_H

#include "apply.h"
#include "filer.h"
#include "id.h"
#include "object.h"
#include "request.h"
#include "tree_change.h"

#include "sql/workspace_restore.h"

#include <string.h>

/* The current job, and the change of each file. */
struct apply_job {
	struct applier *a;
	struct apply_report *report;
	int64_t seq, request_seq, claim;
	int64_t question_seq; /* apply.force asks: the request about the changed file; 0: none */
	bool was_claimed, force, is_undo, is_restore;
	bool is_silent; /* the disk does not answer: the job rests longer */
	bool is_fenced_off; /* a successor can write there: this claim has done no work */
	bool gives_up; /* too many appliers have died on it: only tidied up */
	char *workspace_root;
	int lock_fd, root_fd;
	struct filer_owner owner; /* another user than ours: a hand of theirs changes the files */
	struct filer hand;
	struct request request;
	struct file_change *changes;
	size_t count;
	bool journaled; /* the rows of changes exist, from a predecessor: planned */
	/* Of a restore, instead of changes: */
	struct objects objects;
	struct tree_change tree;
	enum workspace_restore_state progress; /* how far a predecessor got */
	char before_id[ID_BYTES]; /* the checkpoint of what was there */
	struct str back; /* what is not as it was although all is put back, in words */
	bool is_back; /* what a predecessor or we had begun is taken back, and nothing is left of it
	               */
};

#define APPLY_JOB_INIT                                                                             \
	{                                                                                          \
		.lock_fd = -1, .root_fd = -1, .hand = FILER_INIT, .objects = OBJECTS_INIT,         \
		.tree = TREE_CHANGE_INIT                                                           \
	}

/* What to do next with a job. */
enum step { STEP_FAILED = -1, STEP_SETTLED, STEP_GO_ON };

/* ---- apply_job.c: its changes, and settling it ---- */

void apply_job_clear(struct apply_job *j);
void apply_job_changes_clear(struct apply_job *j);
struct file_change *apply_job_add_change(struct apply_job *j);

/* Nothing is in place: removes what was staged and made for it, durably: once the job is settled,
 * nobody tidies up after a power failure. */
void apply_job_undo(struct apply_job *j);

/* Whether another claim may do the work. */
bool apply_job_may_try_again(const struct apply_job *j);

/* Whether a text no longer exists (as opposed to a database that cannot be read). */
bool apply_job_is_missing(const struct err *e);

/* Whether the disk with a job's files answers; asked before the applier itself would block on
 * it. */
bool apply_job_disk_answers(struct apply_job *j);

/* A workspace whose disk did not answer; left_fd hangs up when whoever waits for it has ended. */
bool apply_disk_is_silent(struct applier *a, const char *root);
void apply_disk_note_silent(struct applier *a, const char *root, int left_fd);

/* Sets report->forced. */
void apply_job_note_forced(struct apply_job *j);

/* Settle it: as done; as queued again, for a moment; as dead. 0 or -1. */
int apply_job_settle_applied(struct apply_job *j, struct err *e);
int apply_job_put_back(struct apply_job *j, struct err *e);
/* Lets it rest for a minute. */
void apply_job_let_rest(struct apply_job *j);
/* All is in place, but the disk does not say that it stays there: as dead. */
int apply_job_settle_unsafe(struct apply_job *j, struct err *e);
/* is_tidy: nothing of it is left in the workspace. */
int apply_job_settle_dead(struct apply_job *j, bool is_tidy, struct err *e);

/* Commits the change of so many rows, or rolls back if the job is no longer ours. 0 or -1. */
int apply_job_commit(struct apply_job *j, int changed, const char *state, struct err *e);

/* Commits the change of so many rows of the journal; STEP_SETTLED: the job is no longer ours. */
enum step apply_job_commit_step(struct apply_job *j, int changed, struct err *e);
/* The same of a move of the job, in a transaction of its own. */
typedef int apply_job_move(struct store *st, int64_t seq, int64_t claim, struct err *e);
enum step apply_job_note(struct apply_job *j, apply_job_move *move, struct err *e);

/* Settles according to report->why: again later, or refused; but a restore of which something is in
 * the workspace is not settled: its operator is told, and it is tried again every minute. */
enum step apply_job_refused(struct apply_job *j, struct err *e);

/* ---- apply_hand.c ---- */

/* Finds out whose the workspace is. 0 or -1. */
int apply_job_find_owner(struct apply_job *j, struct err *e);
/* Starts the hand of the owner, and has it look at the files. 0; 1: not, and report->why says why;
 * is_silent: its disk does not answer. */
int apply_job_start_hand(struct apply_job *j);
/* The hand was lost, and nobody knows what it did last: the job stays claimed, as if we had died
 * over it, and is claimed again after a rest. */
void apply_job_leave(struct apply_job *j);

/* ---- apply_force.c ---- */

/* Whether a file that has changed since it was shown may be written. */
enum force { FORCE_NOT, FORCE_LIKE_SHOWN, FORCE_ASKS };
enum force apply_job_force(struct apply_job *j);

/* Asks the operator about what the proposal now does to the files; the job waits for the answer.
 * Call it after proposal_work. 0 or -1. */
int apply_job_ask(struct apply_job *j, const struct plan *plan, struct err *e);

/* ---- apply_plan.c ---- */

/* Plans; an existing journal must come out the same and is replaced by the plan. */
enum step apply_job_plan(struct apply_job *j, struct err *e);

/* ---- apply_write.c ---- */

/* Handles a predecessor's journal: unfinished work is undone or finished here, finished work is
 * settled. */
enum step apply_job_recover(struct apply_job *j, struct err *e);

/* Commits what is about to be done. */
enum step apply_job_journal(struct apply_job *j, struct err *e);

/* Stages everything and puts it in place. */
enum step apply_job_write(struct apply_job *j, struct err *e);

/* ---- apply_restore.c ---- */

/* Makes jobs of what was approved, once the agents that run there have ended. 0 or -1. */
int apply_restore_queue(struct applier *a, struct err *e);

/* Reads what is to be put back, and checks that it is what was shown. */
enum step apply_restore_read(struct apply_job *j, struct err *e);

/* Finishes or puts back what a predecessor left unfinished. */
enum step apply_restore_recover(struct apply_job *j, struct err *e);

/* Checks the workspace, makes everything new, and puts it in place. */
enum step apply_restore_write(struct apply_job *j, struct err *e);

#endif
