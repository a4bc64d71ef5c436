#include "apply.h"

#include "clock.h"
#include "content.h"
#include "request.h"
#include "safe_path.h"
#include "setting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	LOCKED_LOOK_MS = 50, /* another process has the workspace: look again after this */
	SHORTAGE_MS = 200, /* times attempts: pause of a job that was put back */
	LOCK_NAME_BYTES = 32,
};

/* The job in hand, and the change of each file. */
struct job {
	struct applier *a;
	struct apply_report *report;
	int64_t seq, request_seq, claim;
	bool was_claimed, force, is_undo;
	bool gives_up; /* too many have died over it: it is only tidied up */
	char *workspace_root;
	int lock_fd, root_fd;
	struct request request;
	struct file_change *changes;
	size_t count;
	bool journaled; /* the rows of changes are there, from a predecessor: planned */
};

#define JOB_INIT                                                                                   \
	{                                                                                          \
		.lock_fd = -1, .root_fd = -1, .request = REQUEST_INIT                              \
	}

/* What is to be done with a job next. */
enum step { STEP_FAILED = -1, STEP_SETTLED, STEP_GO_ON };

static void changes_clear(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		file_change_clear(&j->changes[i]);
	free(j->changes);
	j->changes = NULL;
	j->count = 0;
}

static void job_clear(struct job *j)
{
	const int fds[] = { j->root_fd, j->lock_fd };

	changes_clear(j);
	for (size_t i = 0; i < COUNT(fds); i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	free(j->workspace_root);
	request_clear(&j->request);
	*j = (struct job)JOB_INIT;
}

void apply_report_clear(struct apply_report *r)
{
	str_clear(&r->what);
	*r = (struct apply_report)APPLY_REPORT_INIT;
}

static struct file_change *add_change(struct job *j)
{
	j->changes = xrealloc(j->changes, (j->count + 1) * sizeof(*j->changes));
	j->changes[j->count] = (struct file_change)FILE_CHANGE_INIT;
	return &j->changes[j->count++];
}

/* ---- settling: one transaction, fenced by the claim ---- */

/* Tells whoever ordered an undo. */
static int settle_command(struct job *j, struct err *e)
{
	stmt *s = store_stmt(j->a->store, SQL_COMMAND_SETTLE);

	bind_int(s, ":apply", j->seq);
	return stmt_run(s, e) < 0 ? -1 : 1;
}

/* Runs s and commits, or rolls back if the job is not ours any more. */
static int commit_settle(struct job *j, stmt *s, const char *state, struct err *e)
{
	struct store *st = j->a->store;
	int changed = stmt_run(s, e);

	if (changed > 0 && j->is_undo && strcmp(state, "queued") != 0)
		changed = settle_command(j, e);
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

static stmt *fenced(struct job *j, enum sql which)
{
	stmt *s = store_stmt(j->a->store, which);

	bind_int(s, ":seq", j->seq);
	bind_int(s, ":claim", j->claim);
	return s;
}

static int run_on_changes(struct job *j, enum sql which, struct err *e)
{
	stmt *s = store_stmt(j->a->store, which);

	bind_int(s, ":apply", j->seq);
	if (stmt_run(s, e) >= 0)
		return 0;
	store_rollback(j->a->store);
	return -1;
}

static int settle_applied(struct job *j, struct err *e)
{
	stmt *s;

	if (store_begin(j->a->store, e) || run_on_changes(j, SQL_FILE_CHANGE_DONE, e))
		return -1;
	s = fenced(j, SQL_APPLY_APPLIED);
	bind_text(s, ":state", j->is_undo ? "undone" : "applied");
	bind_int(s, ":forced", j->report->forced);
	return commit_settle(j, s, j->is_undo ? "undone" : "applied", e);
}

static int settle_failed(struct job *j, const char *state, struct err *e)
{
	const struct refusal *why = &j->report->why;
	stmt *s;

	if (store_begin(j->a->store, e) || run_on_changes(j, SQL_FILE_CHANGE_UNDONE, e))
		return -1;
	s = fenced(j, SQL_APPLY_FAILED);
	bind_text(s, ":state", state);
	bind_text(s, ":code", why->code);
	bind_text(s, ":message", why->text);
	return commit_settle(j, s, state, e);
}

/* Notes that the job rests for a moment. With too many of them it just does not. */
static void let_wait(struct job *j)
{
	for (size_t i = 0; i < APPLY_WAITING_MAX; i++)
		if (j->a->waiting[i].seq == 0) {
			j->a->waiting[i].seq = j->seq;
			j->a->waiting[i].due_ms =
			    clock_monotonic_ms() + (int64_t)SHORTAGE_MS * j->report->attempts;
			return;
		}
}

static int put_back(struct job *j, struct err *e)
{
	if (store_begin(j->a->store, e))
		return -1;
	let_wait(j);
	return commit_settle(j, fenced(j, SQL_APPLY_PUT_BACK), "queued", e);
}

/* Nothing is in place: what was staged and made for it goes. */
static void undo(struct job *j)
{
	for (size_t i = j->count; i-- > 0;)
		file_change_undo(j->root_fd, &j->changes[i]);
}

static bool may_try_again(const struct job *j)
{
	return j->report->attempts < APPLY_ATTEMPTS_MAX;
}

/* Settles by report->why: again later, or refused. */
static int settle_refusal(struct job *j, struct err *e)
{
	if (j->report->why.again && may_try_again(j))
		return put_back(j, e);
	if (j->root_fd >= 0)
		undo(j);
	return settle_failed(j, "refused", e);
}

static enum step refused(struct job *j, struct err *e)
{
	return settle_refusal(j, e) ? STEP_FAILED : STEP_SETTLED;
}

static int settle_dead(struct job *j, struct err *e)
{
	(void)refusal_set(
	    &j->report->why, "crashed",
	    "crashed worker: the applier died %d times over this write; each file is as "
	    "it was or as somebody else left it",
	    j->report->attempts - 1);
	if (j->root_fd >= 0)
		undo(j);
	return settle_failed(j, "dead", e);
}

/* ---- what was ordered ---- */

/* That the text is the one that the operator saw. */
static int check_body(struct job *j, struct err *e)
{
	struct sha256 found = sha256_of(str_text(&j->request.body), j->request.body.length);
	stmt *s = store_stmt(j->a->store, SQL_APPLY_BODY_HASH);
	int got;

	bind_int(s, ":request", j->request_seq);
	got = stmt_row(s, e);
	if (got > 0 && strcmp(col_text(s, APPLY_BODY_HASH_HASH), found.text) != 0)
		(void)refusal_set(
		    &j->report->why, "corrupt",
		    "the stored proposal does not have its hash any more: expected %.64s, "
		    "found %s",
		    col_text(s, APPLY_BODY_HASH_HASH), found.text);
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

/* That all that is going to be looked at is what was shown to whoever approved it. */
static enum step check_order(struct job *j, struct err *e)
{
	struct sha256 found;

	if (j->is_undo)
		return STEP_GO_ON; /* what is put back is bound by its hashes */
	if (check_body(j, e))
		return STEP_FAILED;
	if (j->report->why.code)
		return refused(j, e);
	found = request_shown_digest(&j->request);
	if (strcmp(found.text, j->request.digest) == 0)
		return STEP_GO_ON;
	(void)refusal_set(
	    &j->report->why, "digest_mismatch",
	    "the stored proposal is not the one that was shown: its digest is %.64s, that "
	    "of the question %.64s; ask for clearance anew",
	    found.text, j->request.digest);
	return refused(j, e);
}

/* Whether a text is not there any more, rather than a database that cannot be read. */
static bool is_missing(const struct err *e)
{
	return e->kind == ERR_INPUT && strncmp(e->text, "not found", 9) == 0;
}

static enum step read_order(struct job *j, struct err *e)
{
	const char *wanted = j->is_undo ? "consumed" : "approved";
	struct err wrong = ERR_INIT;
	int found = request_read(j->a->store, j->request_seq, &j->request, &wrong);

	if (found < 0 && !is_missing(&wrong)) {
		*e = wrong;
		return STEP_FAILED;
	}
	if (found <= 0)
		(void)refusal_set(&j->report->why, "corrupt", "the proposal cannot be read: %s",
		                  found < 0 ? wrong.text : "it is gone");
	else if (strcmp(j->request.state, wanted) != 0)
		(void)refusal_set(&j->report->why, "not_approved", "the request is %s, not %s",
		                  j->request.state, wanted);
	return j->report->why.code ? refused(j, e) : STEP_GO_ON;
}

static enum step open_workspace(struct job *j, struct err *e)
{
	struct err wrong = ERR_INIT;

	errno = 0;
	if (workspace_open(j->workspace_root, &j->root_fd, &wrong) == 0)
		return STEP_GO_ON;
	(void)refuse_err(&j->report->why, &wrong);
	if (!j->report->why.again) {
		(void)refusal_set(&j->report->why, "workspace_unreadable", "%s", wrong.text);
		j->report->why.again = j->was_claimed; /* what happened is not known yet */
	}
	return refused(j, e);
}

/* ---- the files ---- */

static bool is_action(const struct file_change *f, const char *action)
{
	return strcmp(f->action, action) == 0;
}

/* Adds to the refusal that a file could not be put back, or makes that the refusal. */
static void refuse_also(struct job *j, const struct refusal *also, const char *path)
{
	struct refusal first = j->report->why;

	(void)refusal_set(&j->report->why, first.code ? first.code : also->code,
	                  "%.500s%s%.200s could not be put back: %.200s",
	                  first.code ? first.text : "", first.code ? "; " : "", path, also->text);
}

/* Takes back what is in place, the last first. What somebody else has changed in the meantime stays
 * theirs. What cannot be put back now is tried again by the next claim. */
static void roll_back(struct job *j)
{
	for (size_t i = j->count; i-- > 0;) {
		struct file_change *f = &j->changes[i];
		struct refusal why = { .code = NULL };

		if (!f->placed)
			continue;
		if (file_change_put_back(f, &why) == 0) {
			(void)file_change_sync(f, &why);
		} else if (strcmp(why.code, "patch_conflict") == 0) {
			(void)file_change_tidy(j->root_fd, f, &why);
			f->placed = f->staged = false;
		} else {
			refuse_also(j, &why, str_text(&f->path));
			j->report->why.again = true;
		}
	}
	if (!j->report->why.again)
		undo(j);
}

static int place_some(struct job *j, bool deletions)
{
	for (size_t i = 0; i < j->count; i++) {
		struct file_change *f = &j->changes[i];

		if (f->placed || is_action(f, "delete") != deletions)
			continue;
		if (file_change_place(f, &j->report->why))
			return -1;
	}
	return 0;
}

/* Looks at all once more, then puts them in place: first what is written, then what goes. */
static int place_all(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (!j->changes[i].placed && file_change_check(&j->changes[i], &j->report->why))
			return -1;
	return place_some(j, false) || place_some(j, true) ? -1 : 0;
}

static int sync_all(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->changes[i].dir_fd >= 0 && file_change_sync(&j->changes[i], &j->report->why))
			return -1;
	return 0;
}

static int tidy_all(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_tidy(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	return 0;
}

static void note_forced(struct job *j)
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

/* All is in place: makes it durable, lets the old files go, and says so. The old ones must not be
 * gone before all the new ones are safe. */
static enum step finish(struct job *j, struct err *e)
{
	bool failed = (j->count > 1 && sync_all(j)) || tidy_all(j) || sync_all(j);

	/* The files are new, but not safely: the next claim finds that and goes on. */
	if (failed && may_try_again(j))
		return put_back(j, e) ? STEP_FAILED : STEP_SETTLED;
	note_forced(j);
	return settle_applied(j, e) ? STEP_FAILED : STEP_SETTLED;
}

static int stage_all(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_open(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	if (file_change_check_space(j->changes, j->count, &j->report->why))
		return -1;
	for (size_t i = 0; i < j->count; i++)
		if (file_change_stage(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	return 0;
}

/* Commits that the new contents are complete. From here on a hidden file is never a part. */
static enum step journal_staged(struct job *j, struct err *e)
{
	stmt *s;
	int changed;

	if (store_begin(j->a->store, e))
		return STEP_FAILED;
	s = store_stmt(j->a->store, SQL_FILE_CHANGE_STAGED);
	bind_int(s, ":apply", j->seq);
	bind_int(s, ":claim", j->claim);
	changed = stmt_run(s, e);
	if (changed <= 0) {
		store_rollback(j->a->store);
		j->report->state = "lost";
		return changed < 0 ? STEP_FAILED : STEP_SETTLED;
	}
	return store_commit(j->a->store, e) ? STEP_FAILED : STEP_GO_ON;
}

/* Puts in place what is staged. */
static enum step place(struct job *j, struct err *e)
{
	if (place_all(j) == 0)
		return finish(j, e);
	roll_back(j);
	return refused(j, e);
}

static enum step write_files(struct job *j, struct err *e)
{
	enum step next;

	if (stage_all(j)) {
		undo(j);
		return refused(j, e);
	}
	next = journal_staged(j, e);
	return next == STEP_GO_ON ? place(j, e) : next;
}

/* ---- after a crash ---- */

/* 1 the last row says that all is staged, 0 not, -1 error. */
static int read_journal(struct job *j, struct err *e)
{
	stmt *s = store_stmt(j->a->store, SQL_FILE_CHANGE_OPEN);
	bool staged = false;
	int got;

	bind_int(s, ":apply", j->seq);
	while ((got = stmt_row(s, e)) > 0) {
		struct file_change *f = add_change(j);
		const char *temp = col_text(s, FILE_CHANGE_OPEN_TEMP_NAME);
		const char *backup = col_text(s, FILE_CHANGE_OPEN_BACKUP_NAME);

		str_add(&f->path, col_text(s, FILE_CHANGE_OPEN_PATH));
		f->action = touched_action(col_text(s, FILE_CHANGE_OPEN_ACTION));
		(void)snprintf(f->hash_before, sizeof(f->hash_before), "%s",
		               col_text(s, FILE_CHANGE_OPEN_HASH_BEFORE));
		(void)snprintf(f->hash_after, sizeof(f->hash_after), "%s",
		               col_text(s, FILE_CHANGE_OPEN_HASH_AFTER));
		(void)snprintf(f->temp_name, sizeof(f->temp_name), "%s", temp ? temp : "");
		(void)snprintf(f->backup_name, sizeof(f->backup_name), "%s", backup ? backup : "");
		f->size = (size_t)col_int(s, FILE_CHANGE_OPEN_BYTES);
		f->mode = (int)col_int(s, FILE_CHANGE_OPEN_MODE_AFTER);
		f->made_from = (size_t)col_int(s, FILE_CHANGE_OPEN_MADE_FROM);
		staged = strcmp(col_text(s, FILE_CHANGE_OPEN_STATE), "staged") == 0;
	}
	stmt_reset(s);
	return got < 0 ? -1 : staged;
}

/* What happened is not known yet. */
static enum step not_known(struct job *j, struct err *e)
{
	j->report->why.again = true;
	if (!may_try_again(j)) {
		struct refusal last = j->report->why;

		(void)refusal_set(
		    &j->report->why, last.code,
		    "%.600s; an applier died over this write, and how far it got "
		    "cannot be told: look at its files, and for hidden ones beside them",
		    last.text);
		changes_clear(j); /* left as they are */
	}
	return refused(j, e);
}

static enum step somebody_else(struct job *j, const struct file_change *f, struct err *e)
{
	(void)refusal_set(&j->report->why, "patch_conflict",
	                  "patch conflict: %.300s: somebody else has changed the file while it was "
	                  "being written; read it again and ask anew, or use force",
	                  str_text(&f->path));
	roll_back(j);
	return refused(j, e);
}

/* Where all changes stand that were not staged for certain, as a set of enum found; 0: cannot be
 * told, report->why says why. *ret_other: the first that is FOUND_OTHER. A change that makes no
 * difference to the content is done again: its mode may be missing. */
static unsigned look_at_changes(struct job *j, size_t *ret_other)
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

static int remove_temps(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_remove_temp(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	return 0;
}

static int open_all(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_open(j->root_fd, &j->changes[i], &j->report->why))
			return -1;
	return 0;
}

/* Nothing was put in place: it is done anew, unless the files are as they are to be already. */
static enum step recover_planned(struct job *j, struct err *e)
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

/* Forgets the journal of a predecessor, and begins anew. */
static enum step begin_anew(struct job *j, struct err *e)
{
	roll_back(j);
	if (j->report->why.again)
		return refused(j, e);
	if (store_begin(j->a->store, e) || run_on_changes(j, SQL_FILE_CHANGE_UNDONE, e) ||
	    store_commit(j->a->store, e))
		return STEP_FAILED;
	changes_clear(j);
	return STEP_GO_ON;
}

/* All new contents were complete: finished if that can be, else taken back. */
static enum step recover_staged(struct job *j, struct err *e)
{
	const struct file_change *other = NULL;
	unsigned all = 0;
	bool complete = true;

	for (size_t i = 0; i < j->count; i++) {
		struct file_change *f = &j->changes[i];
		enum found found;

		if (file_change_find(j->root_fd, f, &found, &j->report->why))
			return not_known(j, e);
		all |= found;
		complete &= found != FOUND_BEFORE || f->staged;
		if (found & (FOUND_OTHER | FOUND_GONE) && !other)
			other = f;
	}
	j->report->why = (struct refusal){ .code = NULL };
	j->report->recovered = true;
	if (all & FOUND_AFTER) { /* an old file was let go: all were in place and safe */
		(void)place_all(j);
		j->report->why.code = NULL;
		return finish(j, e);
	}
	if (other)
		return somebody_else(j, other, e);
	if (all == FOUND_PLACED)
		return finish(j, e);
	if (!complete || j->gives_up)
		return begin_anew(j, e);
	return place(j, e);
}

/* A predecessor's journal: what it left undone is undone or finished here, what it has done is
 * settled. */
static enum step recover(struct job *j, struct err *e)
{
	int staged = read_journal(j, e);

	if (staged < 0)
		return STEP_FAILED;
	if (j->count == 0)
		return STEP_GO_ON;
	return staged ? recover_staged(j, e) : recover_planned(j, e);
}

/* ---- plan and journal ---- */

static struct proposal proposal_of(const struct job *j)
{
	return (struct proposal){ .workspace_root = j->workspace_root,
		                  .file_path = j->request.file_path,
		                  .body = str_text(&j->request.body),
		                  .body_length = j->request.body.length,
		                  .database = j->a->database,
		                  .run_dir = j->a->run_dir,
		                  .fuzz = (size_t)setting_int(j->a->store, "apply.fuzz_lines", 0) };
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether the path is touched as it was shown. By force a file may have come or gone. */
static bool is_as_shown(const struct job *j, const struct touched *now, const struct touched *then)
{
	bool moved = j->force && strcmp(now->hash, then->hash) != 0 &&
	             strcmp(now->action, "delete") != 0 && strcmp(now->action, "read") != 0 &&
	             strcmp(then->action, "delete") != 0 && strcmp(then->action, "read") != 0;

	return strcmp(now->path, then->path) == 0 && same_text(now->other, then->other) &&
	       now->mode == then->mode && (moved || now->action == then->action);
}

static int not_shown(struct refusal *why, const char *path)
{
	return refusal_set(
	    why, "digest_mismatch",
	    "what the proposal does to %.300s is not what was shown; ask for clearance "
	    "anew",
	    path);
}

/* That the files are those that were shown, and as they were then. */
static int compare(struct job *j, const struct plan *plan)
{
	struct refusal *why = &j->report->why;

	for (size_t i = 0; i < plan->count && i < j->request.file_count; i++) {
		const struct touched *now = &plan->files[i].is, *then = &j->request.files[i];

		if (!j->force && strcmp(now->path, then->path) == 0 &&
		    strcmp(now->hash, then->hash) != 0)
			return refuse_changed(why, now->path, then->hash, now->hash);
		if (!is_as_shown(j, now, then))
			return not_shown(why, now->path);
	}
	if (plan->count > j->request.file_count)
		return not_shown(why, plan->files[j->request.file_count].is.path);
	if (plan->count < j->request.file_count)
		return not_shown(why, j->request.files[plan->count].path);
	return 0;
}

/* The file whose owner, mode and attributes a renamed one keeps. */
static const char *renamed_from(const struct plan *plan, const struct planned *f)
{
	if (!f->by || !f->by->is_rename || f->from == PLAN_NONE)
		return NULL;
	return str_text(&plan->files[f->from].target);
}

static void take_plan(struct job *j, struct plan *plan, struct job *into)
{
	size_t from_files = plan->count;
	char **like = xcalloc(from_files, sizeof(*like));

	for (size_t i = 0; i < plan->count; i++) {
		const char *path = renamed_from(plan, &plan->files[i]);

		like[i] = path ? xstrdup(path) : NULL;
	}
	for (size_t i = 0; i < plan->count; i++) {
		if (strcmp(plan->files[i].is.action, "read") != 0)
			file_change_take(j->root_fd, &plan->files[i], like[i], add_change(into));
		free(like[i]);
	}
	free(like);
}

static int plan_write(struct job *j, struct job *into)
{
	OWNED(plan) struct plan plan = PLAN_INIT;
	struct proposal p = proposal_of(j);

	if (plan_look(j->root_fd, &p, &plan, &j->report->why) || compare(j, &plan) ||
	    plan_work(&p, &plan, &j->report->why))
		return -1;
	take_plan(j, &plan, into);
	return 0;
}

/* ---- taking a write back ---- */

/* That the file is as it was written. */
static int check_untouched(struct job *j, const struct file_change *f)
{
	struct refusal *why = &j->report->why;
	char hash[SHA256_BYTES];
	int told = file_change_look(j->root_fd, str_text(&f->path), hash, why);

	if (told < 0)
		return -1;
	if (told > 0 && strcmp(hash, f->hash_before) == 0)
		return 0;
	return refusal_set(
	    why, "patch_conflict",
	    "patch conflict: %.300s: the file has changed since it was written: only what "
	    "nobody has touched is put back",
	    str_text(&f->path));
}

static const char *inverse(const char *action)
{
	if (strcmp(action, "create") == 0)
		return touched_action("delete");
	return touched_action(strcmp(action, "delete") == 0 ? "create" : "modify");
}

/* What puts a change back. *ret_image: the content's seq, 0: there was no file, -1: not kept. */
static void invert(stmt *s, struct file_change *f, int64_t *ret_image)
{
	const char *other = col_text(s, FILE_CHANGE_LIST_OTHER_PATH);

	str_add(&f->path, col_text(s, FILE_CHANGE_LIST_PATH));
	f->action = inverse(col_text(s, FILE_CHANGE_LIST_ACTION));
	f->other = other ? xstrdup(other) : NULL;
	(void)snprintf(f->hash_before, sizeof(f->hash_before), "%s",
	               col_text(s, FILE_CHANGE_LIST_HASH_AFTER));
	if (!col_is_null(s, FILE_CHANGE_LIST_MODE_AFTER))
		f->mode_before = (int)col_int(s, FILE_CHANGE_LIST_MODE_AFTER);
	if (!col_is_null(s, FILE_CHANGE_LIST_MODE_BEFORE))
		f->mode = (int)col_int(s, FILE_CHANGE_LIST_MODE_BEFORE);
	f->exact_mode = true;
	f->made_from = (size_t)col_int(s, FILE_CHANGE_LIST_MADE_FROM);
	*ret_image = col_int(s, FILE_CHANGE_LIST_BEFORE_SEQ);
	if (is_action(f, "delete"))
		*ret_image = 0;
	else if (*ret_image == 0)
		*ret_image = -1;
}

static int64_t applied_seq(struct job *j, struct err *e)
{
	stmt *s = store_stmt(j->a->store, SQL_APPLY_DONE);

	bind_int(s, ":request", j->request_seq);
	return stmt_number(s, APPLY_DONE_SEQ, e);
}

/* The changes of the write, inverted, and the contents they put back. 0, 1 refused, -1 error. */
static int read_written(struct job *j, struct job *into, struct err *e)
{
	int64_t images[PROPOSAL_FILES], seq = applied_seq(j, e);
	stmt *s;
	int got;

	if (seq < 0)
		return -1;
	s = store_stmt(j->a->store, SQL_FILE_CHANGE_LIST);
	bind_int(s, ":apply", seq);
	while ((got = stmt_row(s, e)) > 0 && into->count < PROPOSAL_FILES) {
		struct file_change *f = add_change(into);

		invert(s, f, &images[into->count - 1]);
	}
	stmt_reset(s);
	for (size_t i = 0; i < into->count && got == 0; i++) {
		struct file_change *f = &into->changes[i];

		if (images[i] > 0)
			got = content_get(j->a->store, images[i], &f->bytes, e);
		if (images[i] < 0 || (got && is_missing(e))) {
			(void)refusal_set(
			    &j->report->why, "no_before_image",
			    "what was in %.300s before is not kept any more: the write "
			    "was larger than undo_limit_bytes or is older than "
			    "retention_days",
			    str_text(&f->path));
			return 1;
		}
	}
	return got < 0 ? -1 : 0;
}

/* Of a file that was renamed away and comes back, the file that it was renamed to. */
static void find_like(struct file_change *f)
{
	if (is_action(f, "modify"))
		str_add(&f->like, str_text(&f->path));
	else if (is_action(f, "create") && f->other)
		str_add(&f->like, f->other);
}

static int plan_undo(struct job *j, struct job *into, struct err *e)
{
	int got = read_written(j, into, e);

	for (size_t i = 0; i < into->count && got == 0; i++) {
		struct file_change *f = &into->changes[i];
		size_t made_from = f->made_from;

		find_like(f);
		file_change_prepare(j->root_fd, f);
		if (is_action(f, "delete"))
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

static int compare_with_journal(struct job *j, const struct job *planned)
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
	    j->request.file_path);
}

/* The names and directories are those of the journal. */
static void keep_names(struct job *j, struct job *planned)
{
	for (size_t i = 0; i < j->count && i < planned->count; i++) {
		const struct file_change *old = &j->changes[i];
		struct file_change *f = &planned->changes[i];

		(void)snprintf(f->temp_name, sizeof(f->temp_name), "%s", old->temp_name);
		(void)snprintf(f->backup_name, sizeof(f->backup_name), "%s", old->backup_name);
		f->made_from = old->made_from;
	}
}

static void leave_attributes(struct job *j)
{
	bool leave = !setting_is_on(j->a->store, "apply.keep_attributes", true);

	for (size_t i = 0; i < j->count; i++)
		j->changes[i].leave_attributes = leave;
}

static void tell_what(struct job *j)
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

/* Plans; in place of what the journal says, which must come out the same. */
static enum step plan(struct job *j, struct err *e)
{
	struct job planned = JOB_INIT;
	int got = j->is_undo ? plan_undo(j, &planned, e) : plan_write(j, &planned);

	if (got == 0 && j->journaled && compare_with_journal(j, &planned))
		got = 1;
	if (got < 0 && !j->report->why.code) {
		changes_clear(&planned);
		return STEP_FAILED;
	}
	if (got) {
		changes_clear(&planned);
		return refused(j, e);
	}
	if (j->journaled)
		keep_names(j, &planned);
	changes_clear(j);
	j->changes = planned.changes;
	j->count = planned.count;
	leave_attributes(j);
	note_forced(j);
	tell_what(j);
	return STEP_GO_ON;
}

/* ---- the journal ---- */

static bool keeps_images(struct job *j)
{
	int64_t limit = setting_int(j->a->store, "undo_limit_bytes", APPLY_UNDO_BYTES);
	int64_t bytes = 0;

	for (size_t i = 0; i < j->count; i++)
		bytes += (int64_t)j->changes[i].old_bytes.length;
	return !j->is_undo && bytes <= limit;
}

static int insert_change(struct job *j, const struct file_change *f, bool with_image, struct err *e)
{
	stmt *s;
	int64_t image = 0;

	if (with_image && !is_action(f, "create"))
		image = content_put(j->a->store, str_text(&f->old_bytes), f->old_bytes.length, e);
	if (image < 0)
		return -1;
	s = store_stmt(j->a->store, SQL_FILE_CHANGE_INSERT);
	bind_int(s, ":apply", j->seq);
	bind_int(s, ":claim", j->claim);
	bind_text(s, ":path", str_text(&f->path));
	bind_text(s, ":action", f->action);
	bind_text(s, ":other_path", f->other);
	bind_text(s, ":hash_before", f->hash_before);
	bind_text(s, ":hash_after", f->hash_after);
	bind_int(s, ":bytes", (int64_t)f->size);
	bind_text(s, ":temp_name", *f->temp_name ? f->temp_name : NULL);
	bind_text(s, ":backup_name", f->backup_name);
	if (f->mode_before >= 0)
		bind_int(s, ":mode_before", f->mode_before);
	if (f->mode >= 0)
		bind_int(s, ":mode_after", f->mode);
	bind_int(s, ":made_from", (int64_t)f->made_from);
	bind_seq(s, ":before", image);
	return stmt_run(s, e);
}

/* Commits what is going to be done. */
static enum step journal(struct job *j, struct err *e)
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

/* ---- one job ---- */

/* Work was begun APPLY_ATTEMPTS_MAX times and nobody lived to settle it: tidies up. */
static enum step bury(struct job *j, struct err *e)
{
	enum step next = STEP_GO_ON;

	j->gives_up = true;
	if (j->report->attempts == APPLY_ATTEMPTS_MAX + 1) /* else even that kills */
		next = read_order(j, e);
	if (next == STEP_GO_ON && j->request.id)
		next = open_workspace(j, e);
	if (next == STEP_GO_ON && j->request.id)
		next = recover(j, e);
	if (next == STEP_GO_ON)
		next = settle_dead(j, e) ? STEP_FAILED : STEP_SETTLED;
	return next;
}

static int work(struct job *j, struct err *e)
{
	static enum step (*const STEPS[])(struct job *, struct err *) = {
		read_order, open_workspace, recover, check_order, plan, journal, write_files
	};
	enum step next = STEP_GO_ON;

	if (j->was_claimed && j->report->attempts > APPLY_ATTEMPTS_MAX)
		next = bury(j, e);
	for (size_t i = 0; i < COUNT(STEPS) && next == STEP_GO_ON; i++)
		next = STEPS[i](j, e);
	return next == STEP_FAILED ? -1 : 1;
}

/* 1 ours, 0 somebody else was faster, -1. */
static int claim(struct job *j, struct err *e)
{
	stmt *s;
	int got;

	if (store_begin(j->a->store, e))
		return -1;
	s = fenced(j, SQL_APPLY_CLAIM);
	bind_text(s, ":worker", j->a->worker_id);
	got = stmt_row(s, e);
	if (got > 0) {
		j->request_seq = col_int(s, APPLY_CLAIM_REQUEST_SEQ);
		j->force = col_int(s, APPLY_CLAIM_FORCE) != 0;
		j->claim = col_int(s, APPLY_CLAIM_CLAIM);
		j->report->attempts = (int)col_int(s, APPLY_CLAIM_ATTEMPTS);
		j->is_undo = strcmp(col_text(s, APPLY_CLAIM_KIND), "undo") == 0;
	}
	stmt_reset(s);
	if (got <= 0) {
		store_rollback(j->a->store);
		return got;
	}
	return store_commit(j->a->store, e) ? -1 : 1;
}

/* The workspace is ours until the job is cleared. 1 locked, 0 somebody else has it, -1. */
static int lock_workspace(struct job *j, struct err *e)
{
	char name[LOCK_NAME_BYTES];

	(void)snprintf(name, sizeof(name), "ws-%.8s.lock",
	               sha256_of(j->workspace_root, strlen(j->workspace_root)).text);
	j->lock_fd = openat(j->a->run_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->lock_fd < 0)
		return err_errno(e, ERR_AGAIN, "cannot open the lock file %s", name);
	if (flock(j->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 1;
	return errno == EWOULDBLOCK || errno == EINTR
	           ? 0
	           : err_errno(e, ERR_AGAIN, "cannot lock %s", name);
}

/* Milliseconds that job seq still has to rest, 0: none. */
static int64_t rest_ms(struct applier *a, int64_t seq)
{
	for (size_t i = 0; i < APPLY_WAITING_MAX; i++) {
		int64_t left = a->waiting[i].due_ms - clock_monotonic_ms();

		if (a->waiting[i].seq != seq)
			continue;
		if (left > 0)
			return left;
		a->waiting[i].seq = 0;
	}
	return 0;
}

/* The oldest job behind j->seq. 1 there is one, 0, -1. */
static int look(struct job *j, struct err *e)
{
	stmt *s = store_stmt(j->a->store, SQL_APPLY_NEXT);
	int64_t after = j->seq;
	int got;

	bind_text(s, ":host", j->a->host);
	bind_int(s, ":after", after);
	got = stmt_row(s, e);
	if (got > 0) {
		j->seq = col_int(s, APPLY_NEXT_SEQ);
		j->claim = col_int(s, APPLY_NEXT_CLAIM);
		j->was_claimed = strcmp(col_text(s, APPLY_NEXT_STATE), "claimed") == 0;
		j->workspace_root = xstrdup(col_text(s, APPLY_NEXT_WORKSPACE_ROOT));
	}
	stmt_reset(s);
	return got;
}

/* Looks at the job behind *seq, moves that there, and does it if it can. 1 did it, 0 not, then
 * *ret_rest_ms is when it may go, -1 error; *ret_found: there was one. */
static int try_next(struct applier *a, int64_t *seq, struct apply_report *r, int64_t *ret_rest_ms,
                    bool *ret_found, struct err *e)
{
	OWNED(job) struct job j = JOB_INIT;
	int got;

	j.a = a;
	j.report = r;
	j.seq = *seq;
	got = look(&j, e);
	*ret_found = got > 0;
	if (got <= 0)
		return got;
	*seq = r->seq = j.seq;
	*ret_rest_ms = rest_ms(a, j.seq);
	if (*ret_rest_ms > 0)
		return 0;
	got = lock_workspace(&j, e);
	if (got == 0)
		*ret_rest_ms = LOCKED_LOOK_MS;
	if (got > 0)
		got = claim(&j, e);
	return got > 0 ? work(&j, e) : got;
}

int apply_next(struct applier *a, struct apply_report *r, int64_t *ret_due_ms, struct err *e)
{
	int64_t seq = 0, now_ms = clock_now_ms();
	bool found = true;

	*ret_due_ms = INT64_MAX;
	while (found) {
		int64_t left_ms = 0;
		int did = try_next(a, &seq, r, &left_ms, &found, e);

		if (did != 0)
			return did;
		if (left_ms > 0 && now_ms + left_ms < *ret_due_ms)
			*ret_due_ms = now_ms + left_ms;
	}
	return 0;
}
