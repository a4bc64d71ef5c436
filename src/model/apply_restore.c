/* Puts a workspace back to what a checkpoint holds. What is journaled is the name of the hidden
 * directory and how far it got; what is to be done follows from the two manifests. */
#include "apply_job.h"

#include "restore_plan.h"
#include "setting.h"

#include <stdio.h>
#include <string.h>

/* ---- the order ---- */

/* Fills the steps. 0, 1 refused: report->why says so. */
static int make_steps(struct apply_job *j, const struct workspace_restore_of_request_row *row)
{
	const struct restore_order order = { .from_hash = row->from_hash,
		                             .to_hash = row->to_hash,
		                             .paths = row->paths };
	OWNED(str) struct str path = { 0 };
	struct refusal *why = &j->report->why;
	struct err wrong = { 0 };

	if (strcmp(restore_digest(&order).text, j->request.row.digest) != 0) {
		(void)refusal_set(why, "digest_mismatch",
		                  "what would be put back is not what was shown; restore again");
		return 1;
	}
	objects_path(j->a->database ? j->a->database : "", &path);
	if (objects_open(str_text(&path), false, &j->objects, &wrong) == 0 &&
	    restore_plan(&j->objects, &order, &j->tree, NULL, &wrong) == 0)
		return 0;
	(void)refusal_set(why, "content_missing", "%s", wrong.text);
	why->again = wrong.kind == ERR_AGAIN;
	return 1;
}

enum step apply_restore_read(struct apply_job *j, struct err *e)
{
	OWNED(workspace_restore_of_request_row)
	struct workspace_restore_of_request_row row = { 0 };
	int got = sql_workspace_restore_of_request(j->a->store, j->request_seq, &row, e);

	if (got < 0)
		return STEP_FAILED;
	if (got == 0 || !row.from_hash) {
		(void)refusal_set(&j->report->why, "corrupt", "the order to restore is gone");
		return apply_job_refused(j, e);
	}
	j->progress = row.state;
	(void)snprintf(j->before_id, sizeof(j->before_id), "%s", row.before_id);
	if (make_steps(j, &row))
		return apply_job_refused(j, e);
	j->tree.root_fd = j->root_fd;
	j->tree.ours = j->a->ours;
	j->tree.leave_attributes = !setting_is_on(j->a->store, "apply.keep_attributes", true);
	(void)snprintf(j->tree.stage_name, sizeof(j->tree.stage_name), "%s",
	               row.stage_name ? row.stage_name : "");
	str_addf(&j->report->what, "%zu paths to checkpoint %.8s", j->tree.count, row.to_hash);
	return STEP_GO_ON;
}

typedef int change_of(struct store *st, const char *machine, struct err *e);

/* If there is something to change, changes it. 0 or -1. */
static int change_if(struct applier *a, int64_t found, change_of *change, struct err *e)
{
	if (found <= 0)
		return (int)found;
	if (store_begin(a->store, e))
		return -1;
	return store_end(a->store, change(a->store, a->machine, e) < 0, e);
}

int apply_restore_queue(struct applier *a, struct err *e)
{
	return err_if(change_if(a, sql_workspace_restore_agent(a->store, a->machine, e),
	                        sql_workspace_restore_stop_agent, e) ||
	              change_if(a, sql_workspace_restore_ready(a->store, a->machine, e),
	                        sql_workspace_restore_apply, e));
}

/* ---- the journal ---- */

static enum step journal_planned(struct apply_job *j, struct err *e)
{
	struct store *st = j->a->store;

	tree_change_name(&j->tree);
	j->is_back = false;
	if (store_begin(st, e))
		return STEP_FAILED;
	return apply_job_commit_step(
	    j, sql_workspace_restore_planned(st, j->tree.stage_name, j->seq, j->claim, e), e);
}

/* ---- the files ---- */

/* What is in place is not known, or cannot be changed now: the next claim looks again. */
static enum step try_later(struct apply_job *j, struct err *e)
{
	j->report->why.again = true;
	return apply_job_refused(j, e);
}

/* Nothing is in place: removes the hidden directory, and settles as report->why says. */
static enum step give_up(struct apply_job *j, struct err *e)
{
	struct refusal first = j->report->why, why = { .code = NULL };

	if (tree_change_remove_stage(&j->tree, &why)) {
		(void)refusal_set(&j->report->why, first.code, "%.600s; %.300s", first.text,
		                  why.text);
		return try_later(j, e);
	}
	j->is_back = true;
	return apply_job_refused(j, e);
}

/* What is not as it was, once everything is put back. */
static void note_back(struct apply_job *j)
{
	struct str *back = &j->back;
	OWNED(str) struct str left = { 0 };
	OWNED(str) struct str gone = { 0 };

	str_reset(back);
	tree_change_name_left(&j->tree, &left);
	tree_change_name_gone(&j->tree, &gone);
	if (left.length > 0)
		str_addf(back, "; left as others have made it: %s", str_text(&left));
	if (gone.length > 0)
		str_addf(back,
		         "; what was there before is no longer in the folder, but in checkpoint "
		         "%.13s (`session-restore %.13s` with these paths brings it back): %s",
		         j->before_id, j->before_id, str_text(&gone));
}

/* Puts everything back. What cannot be put back now is retried by the next claim. */
static enum step put_back(struct apply_job *j, struct err *e)
{
	struct refusal first = j->report->why, why = { .code = NULL };

	if (tree_change_put_back(&j->tree, &why)) {
		(void)refusal_set(&j->report->why, why.code, "%.400s; %.400s", first.text,
		                  why.text);
		return try_later(j, e);
	}
	note_back(j);
	(void)refusal_set(&j->report->why, first.code, "%.300s%s", first.text, str_text(&j->back));
	return give_up(j, e);
}

/* All is in place for good. */
static enum step finish(struct apply_job *j, struct err *e)
{
	if (tree_change_finish(&j->tree, &j->report->why))
		return try_later(j, e);
	return apply_job_settle_applied(j, e) ? STEP_FAILED : STEP_SETTLED;
}

static enum step place(struct apply_job *j, struct err *e)
{
	enum step next;

	if (tree_change_place(&j->tree, &j->report->why))
		return put_back(j, e);
	next = apply_job_note(j, sql_workspace_restore_placed, e);
	return next == STEP_GO_ON ? finish(j, e) : next;
}

enum step apply_restore_write(struct apply_job *j, struct err *e)
{
	enum step next;

	if (tree_change_check(&j->tree, &j->report->why)) {
		struct refusal first = j->report->why;

		(void)refusal_set(&j->report->why, first.code, "%.500s%s", first.text,
		                  str_text(&j->back));
		j->report->why.again = first.again;
		return apply_job_refused(j, e);
	}
	next = journal_planned(j, e);
	if (next != STEP_GO_ON)
		return next;
	if (tree_change_stage(&j->tree, &j->report->why))
		return give_up(j, e);
	next = apply_job_note(j, sql_workspace_restore_staged, e);
	return next == STEP_GO_ON ? place(j, e) : next;
}

/* ---- after a crash ---- */

/* Its hidden directory is gone or emptied: it was taken back, or somebody has removed it. */
static void note_cut_off(struct apply_job *j)
{
	str_addf(&j->back,
	         "; an attempt before this one was cut off, and some paths may be as in the "
	         "checkpoint: what was there before it is in checkpoint %.13s (`session-restore "
	         "%.13s` brings it back)",
	         j->before_id, j->before_id);
}

/* Nothing is in place. */
static enum step remove_left(struct apply_job *j, struct err *e)
{
	if (tree_change_remove_stage(&j->tree, &j->report->why))
		return try_later(j, e);
	j->is_back = true;
	return STEP_GO_ON;
}

static enum step recover_staged(struct apply_job *j, struct err *e)
{
	int found = tree_change_find(&j->tree, &j->report->why);

	if (found < 0)
		return try_later(j, e);
	if (found > 0 && !j->gives_up) {
		j->report->recovered = true;
		return place(j, e);
	}
	if (found > 0 && tree_change_put_back(&j->tree, &j->report->why))
		return try_later(j, e);
	if (found > 0)
		note_back(j);
	else
		note_cut_off(j);
	return remove_left(j, e);
}

enum step apply_restore_recover(struct apply_job *j, struct err *e)
{
	if (j->progress == WORKSPACE_RESTORE_STATE_PLANNED)
		return remove_left(j, e);
	if (j->progress == WORKSPACE_RESTORE_STATE_STAGED)
		return recover_staged(j, e);
	if (j->progress != WORKSPACE_RESTORE_STATE_PLACED)
		return STEP_GO_ON;
	j->report->recovered = true;
	return finish(j, e);
}
