/* Plans a job: an approved change against the current files, or the inversion of a write. */
#include "apply_job.h"

#include "content.h"
#include "effect.h"
#include "regular.h"
#include "setting.h"
#include "sql/apply.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- plan and journal ---- */

static struct proposal proposal_of(const struct apply_job *j)
{
	return (struct proposal){ .workspace_root = j->workspace_root,
		                  .file_path = j->request.row.file_path,
		                  .body = str_text(&j->request.body),
		                  .body_length = j->request.body.length,
		                  .ours = j->a->ours,
		                  .silent = true,
		                  .fuzz = (size_t)setting_int(j->a->store, "apply.fuzz_lines", 0),
		                  .asked = j->request.files,
		                  .asked_count = j->request.file_count };
}

static bool touches(const struct touched *t, const char *action)
{
	return strcmp(t->action, action) == 0;
}

static bool has_changed(const struct touched *now, const struct touched *then)
{
	return strcmp(now->path, then->path) == 0 && strcmp(now->hash, then->hash) != 0;
}

/* Whether the path is touched as shown. Under whole content, a file may have appeared or
 * disappeared. */
static bool is_as_shown(bool is_diff, const struct touched *now, const struct touched *then)
{
	bool came_or_went = !is_diff && has_changed(now, then);

	return strcmp(now->path, then->path) == 0 && texts_same(now->other, then->other) &&
	       now->mode == then->mode && (came_or_went || touches(now, then->action));
}

static int not_shown(struct refusal *why, const char *path)
{
	return refusal_set(
	    why, "digest_mismatch",
	    "what the proposal does to %.300s is not what was shown; ask for clearance again",
	    path);
}

/* ---- force ---- */

static int refuse_force(struct apply_job *j, const char *path, const char *what)
{
	return refusal_set(
	    &j->report->why, "patch_conflict",
	    "patch conflict: %.300s: the file has changed since the proposal, and %s; "
	    "read it again and ask again",
	    path, what);
}

/* Whether another file is made from it. */
static bool is_source(const struct plan *plan, size_t at)
{
	for (size_t i = 0; i < plan->count; i++)
		if (i != at && plan->files[i].from == at)
			return true;
	return false;
}

/* A changed file may be written by force if the result is what was shown, and nobody was asked
 * about what is there now. */
static int check_changed(struct apply_job *j, const struct plan *plan, size_t at, struct err *e)
{
	const struct touched *now = &plan->files[at].is;
	int asked;

	if (apply_job_force(j) == FORCE_NOT)
		return refuse_force(j, now->path,
		                    "the operator does not let it be forced (apply.force)");
	if (is_source(plan, at))
		return refuse_force(j, now->path, "what is copied or renamed is not forced");
	asked = sql_apply_asked_since(j->a->store, j->request.row.seq, now->hash, e);
	return asked > 0 ? refuse_force(j, now->path, "was asked about since") : asked;
}

/* Checks that the files are those that were shown, and unchanged or forced. */
static int compare(struct apply_job *j, const struct plan *plan, bool *ret_changed, struct err *e)
{
	struct refusal *why = &j->report->why;

	for (size_t i = 0; i < plan->count && i < j->request.file_count; i++) {
		const struct touched *now = &plan->files[i].is, *then = &j->request.files[i];
		bool changed = has_changed(now, then);

		if (changed && check_changed(j, plan, i, e))
			return -1;
		if (!is_as_shown(plan->is_diff, now, then))
			return changed ? refuse_force(j, now->path, "it came or went")
			               : not_shown(why, now->path);
		*ret_changed |= changed;
	}
	if (plan->count > j->request.file_count)
		return not_shown(why, plan->files[j->request.file_count].is.path);
	if (plan->count < j->request.file_count)
		return not_shown(why, j->request.files[plan->count].path);
	return 0;
}

/* The file whose owner, mode and attributes a renamed file keeps. */
static const char *renamed_from(const struct plan *plan, const struct planned *f)
{
	if (!f->by || !f->by->is_rename || f->from == PLAN_NONE)
		return NULL;
	return plan->files[f->from].is.target;
}

/* A copy takes no access list along: nobody may do more with it than with its source. */
static void narrow_copy(int root_fd, const struct plan *plan, struct planned *f)
{
	if (f->by && f->by->is_copy && f->from != PLAN_NONE)
		f->new_mode &= file_change_common_mode(root_fd, plan->files[f->from].is.target);
}

static void take_plan(struct apply_job *j, struct plan *plan, struct apply_job *into)
{
	size_t from_files = plan->count;
	char **like = xcalloc(from_files, sizeof(*like));

	for (size_t i = 0; i < plan->count; i++) {
		const char *path = renamed_from(plan, &plan->files[i]);

		like[i] = xstrdup_if(path);
		narrow_copy(j->root_fd, plan, &plan->files[i]);
	}
	for (size_t i = 0; i < plan->count; i++) {
		if (!touches(&plan->files[i].is, "read"))
			file_change_take(j->root_fd, &plan->files[i], like[i],
			                 apply_job_add_change(into));
		free(like[i]);
	}
	free(like);
}

/* Checks that the result is what was shown, byte for byte; for a forced diff, the removed and added
 * lines. */
static int compare_results(struct apply_job *j, const struct plan *plan, bool changed)
{
	if (changed && plan->is_diff)
		return effect_is_shown(plan, str_text(&j->request.effect), j->request.effect.length)
		           ? 0
		           : refuse_force(j, j->request.row.file_path,
		                          "what it would become is not what was approved");
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->files[i].is.result_hash, j->request.files[i].result_hash) != 0)
			return not_shown(&j->report->why, plan->files[i].is.path);
	return 0;
}

/* Checks that it does what was approved, also to files that have changed since. 0, -1 as
 * plan_write. */
static int check_plan(struct apply_job *j, struct proposal *p, struct plan *plan, struct err *e)
{
	bool changed = false;

	if (compare(j, plan, &changed, e))
		return -1;
	p->unique = changed; /* nothing else tells where a hunk belongs */
	return proposal_work(p, plan, &j->report->why) || compare_results(j, plan, changed) ? -1
	                                                                                    : 0;
}

/* The first file that has changed; NULL: none has. */
static const char *first_changed(const struct apply_job *j, const struct plan *plan)
{
	for (size_t i = 0; i < plan->count && i < j->request.file_count; i++)
		if (has_changed(&plan->files[i].is, &j->request.files[i]))
			return plan->files[i].is.path;
	return NULL;
}

/* Refuses to write over a file that has changed, and says whether force would do it. -1. */
static int refuse_changed(struct apply_job *j, struct proposal *p, struct plan *plan,
                          const char *path, struct err *e)
{
	bool fits;

	j->force = true;
	fits = check_plan(j, p, plan, e) == 0;
	j->force = false;
	if (e->kind)
		return -1;
	return refusal_set(&j->report->why, "patch_conflict",
	                   "patch conflict: %.300s: the file has changed since the proposal; read "
	                   "it again and ask again%s",
	                   path, fits ? ", or use force" : "");
}

enum { PLANNED = 0, ASKED = 2 };

/* PLANNED; ASKED: the job waits for the operator; -1: report->why, or else e. */
static int plan_write(struct apply_job *j, struct apply_job *into, struct err *e)
{
	OWNED(plan) struct plan plan = { 0 };
	struct proposal p = proposal_of(j);
	const char *changed;

	if (proposal_look(j->root_fd, &p, &plan, &j->report->why))
		return -1;
	changed = first_changed(j, &plan);
	if (changed && !j->force)
		return refuse_changed(j, &p, &plan, changed, e);
	if (changed && apply_job_force(j) == FORCE_ASKS) {
		if (proposal_work(&p, &plan, &j->report->why))
			return -1;
		return apply_job_ask(j, &plan, e) ? -1 : ASKED;
	}
	if (check_plan(j, &p, &plan, e))
		return -1;
	take_plan(j, &plan, into);
	return PLANNED;
}

/* ---- taking a write back ---- */

/* Checks that the file is as it was written. */
static int check_untouched(struct apply_job *j, const struct file_change *f)
{
	struct refusal *why = &j->report->why;
	char hash[SHA256_BYTES];
	int told = file_change_look(j->root_fd, str_text(&f->path), hash, why);

	if (told < 0)
		return -1;
	if (told > 0 && strcmp(hash, f->hash_before) == 0)
		return 0;
	return refusal_set(why, "patch_conflict",
	                   "patch conflict: %.300s: the file has changed since it was written: "
	                   "only unchanged files are reverted",
	                   str_text(&f->path));
}

static const char *inverse(enum file_change_action action)
{
	switch (action) {
	case FILE_CHANGE_ACTION_CREATE:
		return "delete";
	case FILE_CHANGE_ACTION_DELETE:
		return "create";
	case FILE_CHANGE_ACTION_MODIFY:
	case FILE_CHANGE_ACTION_NONE:
		break;
	}
	return "modify";
}

/* Nobody recorded whose the content was, and now it may be ours: it comes back without them. */
static mode_t without_set_id(mode_t mode)
{
	return mode & ~regular_set_id(mode);
}

/* What puts a change back. *ret_image: the content's seq, 0: there was no file, -1: not kept. */
static void invert(const struct file_change_list_row *row, struct file_change *f,
                   int64_t *ret_image)
{
	str_add(&f->path, row->path);
	f->action = inverse(row->action);
	f->other = xstrdup_if(row->other_path);
	(void)snprintf(f->hash_before, sizeof(f->hash_before), "%s", row->hash_after);
	if (row->has_mode_after)
		f->mode_before = (int)row->mode_after;
	if (row->has_mode_before)
		f->mode = (int)without_set_id((mode_t)row->mode_before);
	f->exact_mode = true;
	f->made_from = (size_t)row->made_from;
	*ret_image = row->before_seq;
	if (file_change_is(f, "delete"))
		*ret_image = 0;
	else if (*ret_image == 0)
		*ret_image = -1;
}

/* The changes of the write, inverted, and the contents that they restore. 0, 1 refused, -1
 * error. */
static int read_written(struct apply_job *j, struct apply_job *into, struct err *e)
{
	OWNED(file_change_list_row) struct file_change_list_row row = { 0 };
	int64_t images[PROPOSAL_FILES], seq = sql_apply_done(j->a->store, j->request_seq, e);
	int got;

	if (seq < 0)
		return -1;
	sql_file_change_list(j->a->store, seq, &row);
	while ((got = row_next(&row.row, e)) > 0 && into->count < PROPOSAL_FILES) {
		struct file_change *f = apply_job_add_change(into);

		invert(&row, f, &images[into->count - 1]);
	}
	for (size_t i = 0; i < into->count && got == 0; i++) {
		struct file_change *f = &into->changes[i];

		if (images[i] > 0)
			got = content_get(j->a->store, images[i], &f->bytes, e);
		if (images[i] < 0 || (got && apply_job_is_missing(e))) {
			(void)refusal_set(
			    &j->report->why, "no_before_image",
			    "the previous content of %.300s is no longer kept: the write "
			    "was larger than undo_limit_bytes or is older than "
			    "retention_days",
			    str_text(&f->path));
			return 1;
		}
	}
	return got < 0 ? -1 : 0;
}

/* For a file that returns from a rename: the file that it was renamed to. */
static void find_like(struct file_change *f)
{
	if (file_change_is(f, "modify"))
		str_add(&f->like, str_text(&f->path));
	else if (file_change_is(f, "create") && f->other)
		str_add(&f->like, f->other);
}

/* A mode that somebody has set since the write, as `chmod 600` does, is not taken back with it. */
static void keep_mode(const struct apply_job *j, const struct apply_job *undo,
                      struct file_change *f)
{
	for (size_t i = 0; i < undo->count && f->like.length; i++) {
		const struct file_change *written = &undo->changes[i];

		if (strcmp(str_text(&written->path), str_text(&f->like)) == 0)
			file_change_keep_mode(j->root_fd, written->mode_before, f);
	}
}

static int plan_undo(struct apply_job *j, struct apply_job *into, struct err *e)
{
	int got = read_written(j, into, e);

	for (size_t i = 0; i < into->count && got == 0; i++) {
		struct file_change *f = &into->changes[i];
		size_t made_from = f->made_from;

		find_like(f);
		keep_mode(j, into, f);
		file_change_prepare(j->root_fd, f);
		if (file_change_is(f, "delete"))
			f->made_from = made_from;
		if (check_untouched(j, f))
			got = 1;
	}
	return got;
}

/* ---- planning ---- */

static bool is_same(const struct file_change *a, const struct file_change *b)
{
	return strcmp(str_text(&a->path), str_text(&b->path)) == 0 &&
	       strcmp(a->hash_before, b->hash_before) == 0 &&
	       strcmp(a->hash_after, b->hash_after) == 0;
}

static int compare_with_journal(struct apply_job *j, const struct apply_job *planned)
{
	bool same = j->count == planned->count;

	for (size_t i = 0; i < j->count && same; i++)
		same = is_same(&planned->changes[i], &j->changes[i]);
	if (same)
		return 0;
	return refusal_set(
	    &j->report->why, "patch_conflict",
	    "patch conflict: %.300s leads to another file than when the write began; "
	    "call check_diff again",
	    j->request.row.file_path);
}

/* Takes over the names and directories of the journal. */
static void keep_names(struct apply_job *j, struct apply_job *planned)
{
	for (size_t i = 0; i < j->count && i < planned->count; i++) {
		const struct file_change *old = &j->changes[i];
		struct file_change *f = &planned->changes[i];

		(void)snprintf(f->temp_name, sizeof(f->temp_name), "%s", old->temp_name);
		(void)snprintf(f->backup_name, sizeof(f->backup_name), "%s", old->backup_name);
		f->made_from = old->made_from;
	}
}

static void leave_attributes(struct apply_job *j)
{
	bool leave = !setting_is_on(j->a->store, "apply.keep_attributes", true);

	for (size_t i = 0; i < j->count; i++)
		j->changes[i].leave_attributes = leave;
}

enum step apply_job_plan(struct apply_job *j, struct err *e)
{
	struct apply_job planned = APPLY_JOB_INIT;
	int got = j->is_undo ? plan_undo(j, &planned, e) : plan_write(j, &planned, e);

	if (got == ASKED)
		return STEP_SETTLED;
	if (got == 0 && j->journaled && compare_with_journal(j, &planned))
		got = 1;
	if (got < 0 && !j->report->why.code) {
		apply_job_changes_clear(&planned);
		return STEP_FAILED;
	}
	if (got) {
		apply_job_changes_clear(&planned);
		return apply_job_refused(j, e);
	}
	if (j->journaled)
		keep_names(j, &planned);
	apply_job_changes_clear(j);
	j->changes = planned.changes;
	j->count = planned.count;
	leave_attributes(j);
	apply_job_note_forced(j);
	return STEP_GO_ON;
}
