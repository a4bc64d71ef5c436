#include "apply_job.h"

#include "clock.h"
#include "files.h"
#include "sql/apply.h"
#include "sql/decision.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	SHORTAGE_MS = 200, /* times attempts: pause of a job that was put back, */
	SILENT_MS = 10000, /* of one whose disk does not answer */
	REFUSED_MS = 60000, /* of one whose rows the rules refuse */
};

void apply_job_changes_clear(struct apply_job *j)
{
	for (size_t i = 0; i < j->count; i++)
		file_change_clear(&j->changes[i]);
	free(j->changes);
	j->changes = NULL;
	j->count = 0;
}

void apply_job_clear(struct apply_job *j)
{
	filer_clear(&j->hand); /* which closes what it has open */
	apply_job_changes_clear(j);
	tree_change_clear(&j->tree);
	objects_clear(&j->objects);
	str_clear(&j->back);
	if (j->root_fd >= 0)
		(void)files_close(j->root_fd);
	if (j->lock_fd >= 0)
		(void)close(j->lock_fd);
	free(j->workspace_root);
	filer_owner_clear(&j->owner);
	request_clear(&j->request);
	*j = (struct apply_job)APPLY_JOB_INIT;
}

struct file_change *apply_job_add_change(struct apply_job *j)
{
	j->changes = xrealloc(j->changes, (j->count + 1) * sizeof(*j->changes));
	j->changes[j->count] = (struct file_change)FILE_CHANGE_INIT;
	return &j->changes[j->count++];
}

bool apply_job_is_missing(const struct err *e)
{
	return e->kind == ERR_INPUT && strncmp(e->text, "not found", 9) == 0;
}

void apply_job_note_forced(struct apply_job *j)
{
	size_t at = 0;

	for (size_t i = 0; i < j->request.file_count && !j->is_undo; i++) {
		const struct touched *t = &j->request.files[i];

		if (strcmp(t->action, "read") == 0)
			continue;
		if (at < j->count && strcmp(j->changes[at].hash_before, t->hash) != 0)
			j->report->forced = true;
		at++;
	}
}

/* ---- the journal ---- */

enum step apply_job_commit_step(struct apply_job *j, int changed, struct err *e)
{
	if (changed <= 0) {
		store_rollback(j->a->store);
		j->report->state = "lost";
		return changed < 0 ? STEP_FAILED : STEP_SETTLED;
	}
	return store_commit(j->a->store, e) ? STEP_FAILED : STEP_GO_ON;
}

enum step apply_job_note(struct apply_job *j, apply_job_move *move, struct err *e)
{
	if (store_begin(j->a->store, e))
		return STEP_FAILED;
	return apply_job_commit_step(j, move(j->a->store, j->seq, j->claim, e), e);
}

/* ---- settling: one transaction, fenced by the claim ---- */

int apply_job_commit(struct apply_job *j, int changed, const char *state, struct err *e)
{
	struct store *st = j->a->store;

	if (files_is_lost()) { /* nobody knows what was done last */
		store_rollback(st);
		return err_set(e, ERR_AGAIN, "the process that changed the files is gone");
	}
	/* Alerts the operator who ordered an undo. */
	if (changed > 0 && j->is_undo && strcmp(state, "queued") != 0 &&
	    sql_command_settle(st, j->seq, e))
		changed = -1;
	if (changed <= 0) {
		store_rollback(st);
		j->report->state = "lost";
		return changed;
	}
	if (store_commit(st, e))
		return -1;
	j->report->state = state;
	return 0;
}

int apply_job_settle_applied(struct apply_job *j, struct err *e)
{
	enum apply_state state = j->is_undo ? APPLY_STATE_UNDONE : APPLY_STATE_APPLIED;
	struct store *st = j->a->store;
	int changed;

	if (store_begin(st, e))
		return -1;
	changed = sql_file_change_settle(st, FILE_CHANGE_STATE_DONE, j->seq, e);
	if (changed >= 0)
		changed = sql_apply_applied(st, state, j->report->forced, j->seq, j->claim, e);
	return apply_job_commit(j, changed, apply_state_name(state), e);
}

static int settle_failed(struct apply_job *j, enum apply_state state, struct err *e)
{
	const struct apply_failed_args args = { .state = state,
		                                .code = j->report->why.code,
		                                .why = j->report->why.text,
		                                .seq = j->seq,
		                                .claim = j->claim };
	struct store *st = j->a->store;
	int changed;

	if (store_begin(st, e))
		return -1;
	changed = sql_file_change_settle(st, FILE_CHANGE_STATE_UNDONE, j->seq, e);
	if (changed >= 0)
		changed = sql_apply_failed(st, &args, e);
	return apply_job_commit(j, changed, apply_state_name(state), e);
}

/* Records that the job rests for a moment. If too many rest, it does not. */
static void let_wait_ms(struct apply_job *j, int64_t ms)
{
	for (size_t i = 0; i < APPLY_WAITING_MAX; i++)
		if (j->a->waiting[i].seq == 0) {
			j->a->waiting[i].seq = j->seq;
			j->a->waiting[i].due_ms = clock_monotonic_ms() + ms;
			return;
		}
}

void apply_job_let_rest(struct apply_job *j)
{
	let_wait_ms(j, REFUSED_MS);
}

void apply_job_leave(struct apply_job *j)
{
	let_wait_ms(j, (int64_t)SHORTAGE_MS * j->report->attempts);
	j->report->state = "left";
	(void)refusal_set(
	    &j->report->why, "io_error",
	    "the process that changes the files as their owner has ended, or does not "
	    "answer");
}

int apply_job_put_back(struct apply_job *j, struct err *e)
{
	if (store_begin(j->a->store, e))
		return -1;
	let_wait_ms(j, j->is_silent ? SILENT_MS : (int64_t)SHORTAGE_MS * j->report->attempts);
	return apply_job_commit(j, sql_apply_put_back(j->a->store, j->seq, j->claim, e), "queued",
	                        e);
}

void apply_job_undo(struct apply_job *j)
{
	bool removed = false;

	for (size_t i = j->count; i-- > 0;)
		removed |= file_change_undo(j->root_fd, &j->changes[i]);
	if (removed)
		(void)file_change_sync(j->changes, j->count, &(struct refusal){ .code = NULL });
}

bool apply_job_may_try_again(const struct apply_job *j)
{
	return j->report->attempts < APPLY_ATTEMPTS_MAX + (j->is_fenced_off ? 1 : 0);
}

/* Why it is not settled, for whoever ordered it. */
static void say_unfinished(const struct apply_job *j, const struct workspace_restore_half_row *row,
                           struct str *why)
{
	const char *what = "nothing is in place, but this is left of it";

	if (row->state == WORKSPACE_RESTORE_STATE_STAGED)
		what = "some paths may be as in the checkpoint and some as before; what was "
		       "replaced is in this folder";
	else if (row->state == WORKSPACE_RESTORE_STATE_PLACED)
		what = "all files are as in the checkpoint, but permissions of folders, emptied "
		       "folders and this one may not be";
	str_addf(why, "%s (%s: %s)", j->report->why.text, what, row->stage_name);
}

/* A restore that cannot go on, as report->why says: if something of it is in the workspace, it is
 * not settled; its operator is told, and it rests for a minute. 1 so it is, 0 nothing of it is
 * there, -1. */
static int keep_unfinished(struct apply_job *j, struct err *e)
{
	OWNED(workspace_restore_half_row) struct workspace_restore_half_row row = { 0 };
	OWNED(str) struct str why = { 0 };
	int got = j->is_back ? 0 : sql_workspace_restore_half(j->a->store, j->request_seq, &row, e);

	if (got <= 0)
		return got;
	say_unfinished(j, &row, &why);
	if (store_begin(j->a->store, e))
		return -1;
	if (sql_workspace_restore_unfinished(j->a->store, str_text(&why), j->seq, j->claim, e) <
	    0) {
		store_rollback(j->a->store);
		return -1;
	}
	apply_job_let_rest(j);
	return apply_job_commit(j, sql_apply_put_back(j->a->store, j->seq, j->claim, e), "queued",
	                        e)
	           ? -1
	           : 1;
}

/* Settles according to report->why: again later, or refused. */
static int settle_refusal(struct apply_job *j, struct err *e)
{
	int kept;

	if (j->report->why.again && apply_job_may_try_again(j))
		return apply_job_put_back(j, e);
	kept = j->is_restore ? keep_unfinished(j, e) : 0;
	if (kept != 0)
		return kept < 0 ? -1 : 0;
	if (j->root_fd >= 0)
		apply_job_undo(j);
	return settle_failed(j, APPLY_STATE_REFUSED, e);
}

enum step apply_job_refused(struct apply_job *j, struct err *e)
{
	return settle_refusal(j, e) ? STEP_FAILED : STEP_SETTLED;
}

int apply_job_settle_unsafe(struct apply_job *j, struct err *e)
{
	struct refusal last = j->report->why;

	(void)refusal_set(&j->report->why, last.code,
	                  "%.600s; each file is as was approved, but the disk does not say that it "
	                  "stays so: look at it, and for hidden files (.intercom-*) next to them, "
	                  "which hold what was there before",
	                  last.text);
	return settle_failed(j, APPLY_STATE_DEAD, e);
}

int apply_job_settle_dead(struct apply_job *j, bool is_tidy, struct err *e)
{
	(void)refusal_set(
	    &j->report->why, "crashed",
	    "crashed worker: the applier, or its filer, died %d times over this %s; %s%s%s",
	    j->report->attempts - 1, j->is_restore ? "restore" : "write",
	    is_tidy ? "each file is as it was or as somebody else left it"
	            : "how far it got is unknown: look at its files, and for hidden ones "
	              "(.intercom-*) next to them",
	    str_text(&j->back), j->is_restore ? "; order it again" : "");
	if (j->root_fd >= 0)
		apply_job_undo(j);
	return settle_failed(j, APPLY_STATE_DEAD, e);
}
