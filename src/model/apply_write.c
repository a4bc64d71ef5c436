/* Writes what was planned: journal, stage, place; and handles what a predecessor left of that. */
#include "apply_job.h"

#include "content.h"
#include "files.h"
#include "setting.h"
#include "sql/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the files ---- */

/* Adds to the refusal that a file could not be put back, or makes that the refusal. */
static void refuse_also(struct apply_job *j, const struct refusal *also, const char *path)
{
	struct refusal first = j->report->why;

	(void)refusal_set(&j->report->why, first.code ? first.code : also->code,
	                  "%.500s%s%.200s could not be put back: %.200s",
	                  first.code ? first.text : "", first.code ? "; " : "", path, also->text);
}

/* Takes back what is in place, the last first. Files that somebody else has changed in the meantime
 * stay as they are. What cannot be put back now is retried by the next claim. */
static void roll_back(struct apply_job *j)
{
	for (size_t i = j->count; i-- > 0;) {
		struct file_change *f = &j->changes[i];
		struct refusal why = { .code = NULL };

		if (!f->placed)
			continue;
		if (file_change_put_back(f, &why) == 0) {
			(void)file_change_sync(f, 1, &why);
		} else if (strcmp(why.code, "patch_conflict") == 0) {
			(void)file_change_tidy(j->root_fd, f, &why);
			f->placed = f->staged = false;
		} else {
			refuse_also(j, &why, str_text(&f->path));
			j->report->why.again = true;
		}
	}
	if (!j->report->why.again)
		apply_job_undo(j);
}

static int place_some(struct apply_job *j, bool deletions)
{
	for (size_t i = 0; i < j->count; i++) {
		struct file_change *f = &j->changes[i];

		if (f->placed || file_change_is(f, "delete") != deletions)
			continue;
		if (file_change_place(f, &j->report->why))
			return -1;
	}
	return 0;
}

/* Checks everything once more, then puts it in place: first the writes, then the removals. */
static int place_all(struct apply_job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (!j->changes[i].placed && file_change_check(&j->changes[i], &j->report->why))
			return -1;
	return place_some(j, false) || place_some(j, true) ? -1 : 0;
}

static int sync_all(struct apply_job *j)
{
	return file_change_sync(j->changes, j->count, &j->report->why);
}

static int tidy_all(struct apply_job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_tidy(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	return 0;
}

static void tell_what(struct apply_job *j)
{
	size_t bytes = 0;

	for (size_t i = 0; i < j->count; i++)
		bytes += j->changes[i].size;
	if (j->count == 1)
		str_addf(&j->report->what, "%s %s, %zu bytes", j->changes[0].action,
		         str_text(&j->changes[0].path), bytes);
	else
		str_addf(&j->report->what, "%zu files, %zu bytes", j->count, bytes);
}

/* Everything is in place: makes it durable, removes the old files, and settles. No old file may be
 * removed before all new ones are safe. */
static enum step finish(struct apply_job *j, struct err *e)
{
	bool is_safe = j->count == 1 || sync_all(j) == 0;
	bool is_tidy = is_safe && tidy_all(j) == 0;

	is_safe = is_safe && sync_all(j) == 0;
	/* The files are new, but not durably: the next claim finds that and continues. */
	if (!(is_safe && is_tidy) && apply_job_may_try_again(j))
		return apply_job_put_back(j, e) ? STEP_FAILED : STEP_SETTLED;
	if (!is_safe)
		return apply_job_settle_unsafe(j, e) ? STEP_FAILED : STEP_SETTLED;
	apply_job_note_forced(j);
	tell_what(j);
	return apply_job_settle_applied(j, e) ? STEP_FAILED : STEP_SETTLED;
}

static int open_all(struct apply_job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_open(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	return 0;
}

static int stage_all(struct apply_job *j)
{
	if (open_all(j) || file_change_check_space(j->changes, j->count, &j->report->why))
		return -1;
	return file_change_stage(j->root_fd, j->changes, j->count, &j->report->why);
}

/* Puts what is staged in place. */
static enum step place(struct apply_job *j, struct err *e)
{
	if (place_all(j) == 0)
		return finish(j, e);
	roll_back(j);
	return apply_job_refused(j, e);
}

enum step apply_job_write(struct apply_job *j, struct err *e)
{
	enum step next;

	if (stage_all(j)) {
		apply_job_undo(j);
		return apply_job_refused(j, e);
	}
	/* The new contents are complete: from here on no hidden file is partial. */
	next = apply_job_note(j, sql_file_change_staged, e);
	return next == STEP_GO_ON ? place(j, e) : next;
}

/* ---- after a crash ---- */

/* 1 the last row says that everything is staged, 0 not, -1 error. */
static int read_journal(struct apply_job *j, struct err *e)
{
	OWNED(file_change_open_row) struct file_change_open_row row = { 0 };
	bool staged = false;
	int got;

	sql_file_change_open(j->a->store, j->seq, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		struct file_change *f = apply_job_add_change(j);

		str_add(&f->path, row.path);
		f->action = file_change_action_name(row.action);
		(void)snprintf(f->hash_before, sizeof(f->hash_before), "%s", row.hash_before);
		(void)snprintf(f->hash_after, sizeof(f->hash_after), "%s", row.hash_after);
		(void)snprintf(f->temp_name, sizeof(f->temp_name), "%s",
		               row.temp_name ? row.temp_name : "");
		(void)snprintf(f->backup_name, sizeof(f->backup_name), "%s",
		               row.backup_name ? row.backup_name : "");
		f->size = (size_t)row.bytes;
		f->mode = (int)row.mode_after;
		f->mode_before = row.has_mode_before ? (int)row.mode_before : -1;
		f->made_from = (size_t)row.made_from;
		staged = row.state == FILE_CHANGE_STATE_STAGED;
	}
	return got < 0 ? -1 : staged;
}

/* The outcome is still unknown. */
static enum step not_known(struct apply_job *j, struct err *e)
{
	j->report->why.again = true;
	if (!apply_job_may_try_again(j)) {
		struct refusal last = j->report->why;

		(void)refusal_set(&j->report->why, last.code,
		                  "%.600s; an applier died over this write, and how far it got is "
		                  "unknown: look at its files, and for hidden ones next to them",
		                  last.text);
		apply_job_changes_clear(j); /* left as they are */
	}
	return apply_job_refused(j, e);
}

static enum step somebody_else(struct apply_job *j, const struct file_change *f, struct err *e)
{
	(void)refusal_set(&j->report->why, "patch_conflict",
	                  "patch conflict: %.300s: someone else has changed the file while it was "
	                  "being written; read it again and ask again",
	                  str_text(&f->path));
	roll_back(j);
	return apply_job_refused(j, e);
}

/* The states of all changes that may not have been staged, as a set of enum file_change_found; 0:
 * unknown, report->why says why. *ret_other: the first that is FOUND_OTHER. A change that does not
 * alter the content is done again: its mode may be missing. */
static unsigned look_at_changes(struct apply_job *j, size_t *ret_other)
{
	unsigned all = 0;

	for (size_t i = 0; i < j->count; i++) {
		const struct file_change *f = &j->changes[i];
		char hash[SHA256_BYTES];
		int told = file_change_look(j->root_fd, str_text(&f->path), hash, &j->report->why);

		if (told < 0)
			return 0;
		if (told > 0 && strcmp(hash, f->hash_before) == 0) {
			all |= FOUND_BEFORE;
		} else if (told > 0 && strcmp(hash, f->hash_after) == 0) {
			all |= FOUND_AFTER;
		} else {
			*ret_other = all & FOUND_OTHER ? *ret_other : i;
			all |= FOUND_OTHER;
		}
	}
	return all;
}

static int remove_temps(struct apply_job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_remove_temp(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	return 0;
}

/* Nothing was put in place: it is redone, unless the files already have their intended content. */
static enum step recover_planned(struct apply_job *j, struct err *e)
{
	size_t other = 0;
	unsigned found = look_at_changes(j, &other);

	if (found == 0 || remove_temps(j))
		return not_known(j, e);
	j->report->why = (struct refusal){ .code = NULL };
	if (found == FOUND_BEFORE) {
		j->journaled = true;
		return STEP_GO_ON;
	}
	if (found != FOUND_AFTER)
		return somebody_else(j, &j->changes[other], e);
	if (open_all(j))
		return not_known(j, e);
	j->report->recovered = true;
	return finish(j, e);
}

/* Forgets a predecessor's journal and starts over. */
static enum step begin_anew(struct apply_job *j, struct err *e)
{
	roll_back(j);
	if (j->report->why.again || files_is_lost())
		return apply_job_refused(j, e);
	if (store_begin(j->a->store, e) ||
	    store_end(j->a->store,
	              sql_file_change_settle(j->a->store, FILE_CHANGE_STATE_UNDONE, j->seq, e) < 0,
	              e))
		return STEP_FAILED;
	apply_job_changes_clear(j);
	return STEP_GO_ON;
}

/* ---- hidden files that somebody has removed ---- */

/* The seq of the content before each change, 0: none is kept; the caller frees it. NULL: error. */
static int64_t *read_images(const struct apply_job *j, struct err *e)
{
	OWNED(file_change_open_row) struct file_change_open_row row = { 0 };
	int64_t *images = xcalloc(j->count, sizeof(*images));
	size_t count = 0;
	int got;

	sql_file_change_open(j->a->store, j->seq, &row);
	while ((got = row_next(&row.row, e)) > 0 && count < j->count)
		images[count++] = row.before_seq;
	if (got >= 0)
		return images;
	free(images);
	return NULL;
}

/* Makes the old file of a change again. 0; 1 it cannot be, and the change stays; -1. */
static int remake(struct apply_job *j, struct file_change *f, int64_t image, struct err *e)
{
	OWNED(str) struct str old = { 0 };
	struct refusal why = { .code = NULL }, first = j->report->why;
	int got = image ? content_get(j->a->store, image, &old, e) : 1;

	if (got < 0 && !apply_job_is_missing(e))
		return -1;
	if (got == 0 && file_change_remake_old(j->root_fd, f, &old, &why) == 0)
		return 0;
	f->placed = f->staged = false;
	(void)refusal_set(
	    &j->report->why, "patch_conflict",
	    "%.500s%s%.300s has been written and stays so: hidden files of this write "
	    "were removed while it was under way",
	    first.code ? first.text : "",
	    first.code ? "; " : "patch conflict: ", str_text(&f->path));
	return 1;
}

/* So that what was put in place can be put back. */
static int remake_all(struct apply_job *j, const enum file_change_found *found, struct err *e)
{
	int64_t *images = read_images(j, e);
	int got = images ? 0 : -1;

	for (size_t i = 0; i < j->count && got >= 0; i++)
		if (found[i] == FOUND_AFTER)
			got = remake(j, &j->changes[i], images[i], e);
	free(images);
	return got < 0 ? -1 : 0;
}

/* ---- where all new contents were complete ---- */

/* What is in place and whether it can be completed, change by change. */
struct recovery {
	enum file_change_found *found;
	unsigned all;
	size_t other; /* the first that somebody else has changed */
	bool complete; /* the new content of each that is not in place is there */
	bool not_all; /* one of them was not put in place, whoever removed an old file */
};

static int look_at_staged(struct apply_job *j, struct recovery *r)
{
	*r = (struct recovery){ .found = xcalloc(j->count, sizeof(*r->found)),
		                .other = j->count,
		                .complete = true };
	for (size_t i = 0; i < j->count; i++) {
		struct file_change *f = &j->changes[i];

		if (file_change_find(j->root_fd, f, &r->found[i], &j->report->why))
			return -1;
		r->all |= r->found[i];
		r->complete &= r->found[i] != FOUND_BEFORE || f->staged;
		r->not_all |= (r->found[i] == FOUND_BEFORE && file_change_shows(f)) ||
		              (r->found[i] == FOUND_OTHER && f->staged && !f->placed);
		if (r->found[i] & (FOUND_OTHER | FOUND_GONE) && r->other == j->count)
			r->other = i;
	}
	return 0;
}

/* An old file is gone: all were in place and durable, and it was removed; or somebody else has
 * removed it. */
static enum step recover_without_old(struct apply_job *j, const struct recovery *r, struct err *e)
{
	if (place_all(j) == 0 || !r->not_all) {
		j->report->why.code = NULL;
		return finish(j, e);
	}
	j->report->why = (struct refusal){ .code = NULL };
	if (remake_all(j, r->found, e))
		return STEP_FAILED;
	if (j->report->why.code) {
		roll_back(j);
		return apply_job_refused(j, e);
	}
	return r->other < j->count ? somebody_else(j, &j->changes[r->other], e) : begin_anew(j, e);
}

/* Finishes if possible, otherwise takes them back. */
static enum step recover_by(struct apply_job *j, const struct recovery *r, struct err *e)
{
	j->report->why = (struct refusal){ .code = NULL };
	j->report->recovered = true;
	if (r->all & FOUND_AFTER)
		return recover_without_old(j, r, e);
	if (r->other < j->count)
		return somebody_else(j, &j->changes[r->other], e);
	if (r->all == FOUND_PLACED)
		return finish(j, e);
	if (!r->complete || j->gives_up)
		return begin_anew(j, e);
	return place(j, e);
}

static enum step recover_staged(struct apply_job *j, struct err *e)
{
	struct recovery r;
	enum step next = look_at_staged(j, &r) ? not_known(j, e) : recover_by(j, &r, e);

	free(r.found);
	return next;
}

enum step apply_job_recover(struct apply_job *j, struct err *e)
{
	int staged = read_journal(j, e);

	if (staged < 0)
		return STEP_FAILED;
	if (j->count == 0)
		return STEP_GO_ON;
	return staged ? recover_staged(j, e) : recover_planned(j, e);
}

/* ---- the journal ---- */

static bool keeps_images(struct apply_job *j)
{
	int64_t limit = setting_int(j->a->store, "undo_limit_bytes", APPLY_UNDO_BYTES);
	int64_t bytes = 0;

	for (size_t i = 0; i < j->count; i++)
		bytes += (int64_t)j->changes[i].old_bytes.length;
	return !j->is_undo && (bytes <= limit || j->report->forced); /* nobody saw those */
}

static int insert_change(struct apply_job *j, const struct file_change *f, bool with_image,
                         struct err *e)
{
	const int64_t mode_before = f->mode_before, mode_after = f->mode;
	struct file_change_insert_args args = {
		.apply = j->seq,
		.claim = j->claim,
		.path = str_text(&f->path),
		.action = file_change_action_of(f->action),
		.other_path = f->other,
		.hash_before = f->hash_before,
		.hash_after = f->hash_after,
		.bytes = (int64_t)f->size,
		.temp_name = *f->temp_name ? f->temp_name : NULL,
		.backup_name = f->backup_name,
		.mode_before = mode_before >= 0 ? &mode_before : NULL,
		.mode_after = mode_after >= 0 ? &mode_after : NULL,
		.made_from = (int64_t)f->made_from,
	};

	if (with_image && !file_change_is(f, "create"))
		args.before =
		    content_put(j->a->store, str_text(&f->old_bytes), f->old_bytes.length, e);
	return args.before < 0 ? -1 : sql_file_change_insert(j->a->store, &args, e);
}

enum step apply_job_journal(struct apply_job *j, struct err *e)
{
	bool with_images;

	if (j->journaled)
		return STEP_GO_ON;
	if (store_begin(j->a->store, e))
		return STEP_FAILED;
	with_images = keeps_images(j);
	for (size_t i = 0; i < j->count; i++) {
		int inserted = insert_change(j, &j->changes[i], with_images, e);

		if (inserted <= 0) {
			store_rollback(j->a->store);
			j->report->state = "lost";
			return inserted < 0 ? STEP_FAILED : STEP_SETTLED;
		}
	}
	return store_commit(j->a->store, e) ? STEP_FAILED : STEP_GO_ON;
}
