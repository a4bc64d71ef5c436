#include "apply.h"

#include "clock.h"
#include "request.h"
#include "safe_path.h"

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

/* The job in hand, and its changes: one today, all of a multi-file diff one day. */
struct job {
	struct applier *a;
	struct apply_report *report;
	int64_t seq, request_seq, claim;
	bool was_claimed, force;
	char *workspace_root;
	int lock_fd, root_fd;
	struct request request;
	struct file_change *changes;
	size_t count;
	bool journaled; /* the rows of changes are there, from a predecessor */
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

/* Runs s and commits, or rolls back if the job is not ours any more. */
static int commit_settle(struct job *j, stmt *s, const char *state, struct err *e)
{
	struct store *st = j->a->store;
	int changed = stmt_run(s, e);

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
	bind_int(s, ":forced", j->report->forced);
	return commit_settle(j, s, "applied", e);
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

/* Settles by report->why: again later, or refused. */
static int settle_refusal(struct job *j, struct err *e)
{
	if (j->report->why.again && j->report->attempts < APPLY_ATTEMPTS_MAX)
		return put_back(j, e);
	return settle_failed(j, "refused", e);
}

static enum step refused(struct job *j, struct err *e)
{
	return settle_refusal(j, e) ? STEP_FAILED : STEP_SETTLED;
}

static int settle_dead(struct job *j, struct err *e)
{
	(void)refuse(&j->report->why, "crashed",
	             "crashed worker: the applier died %d times over this write; the file is as it "
	             "was or as somebody else left it",
	             j->report->attempts - 1);
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
		(void)refuse(&j->report->why, "corrupt",
		             "the stored proposal does not have its hash any more: expected %.64s, "
		             "found %s",
		             col_text(s, APPLY_BODY_HASH_HASH), found.text);
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static enum step read_order(struct job *j, struct err *e)
{
	struct err wrong = ERR_INIT;
	int found = request_read(j->a->store, j->request_seq, &j->request, &wrong);

	if (found < 0 && wrong.kind != ERR_INPUT) {
		*e = wrong;
		return STEP_FAILED;
	}
	if (found <= 0)
		(void)refuse(&j->report->why, "corrupt", "the proposal cannot be read: %s",
		             found < 0 ? wrong.text : "it is gone");
	else if (strcmp(j->request.state, "approved") != 0)
		(void)refuse(&j->report->why, "not_approved", "the request is %s, not approved",
		             j->request.state);
	else if (check_body(j, e))
		return STEP_FAILED;
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
		(void)refuse(&j->report->why, "workspace_unreadable", "%s", wrong.text);
		j->report->why.again = j->was_claimed; /* what happened is not known yet */
	}
	return refused(j, e);
}

/* ---- after a crash ---- */

enum found { FOUND_BEFORE = 1, FOUND_AFTER = 2, FOUND_OTHER = 4 };

static int read_journal(struct job *j, struct err *e)
{
	stmt *s = store_stmt(j->a->store, SQL_FILE_CHANGE_OPEN);
	int got;

	bind_int(s, ":apply", j->seq);
	while ((got = stmt_row(s, e)) > 0) {
		struct file_change *f = add_change(j);
		const char *temp = col_text(s, FILE_CHANGE_OPEN_TEMP_NAME);

		str_add(&f->path, col_text(s, FILE_CHANGE_OPEN_PATH));
		(void)snprintf(f->hash_before, sizeof(f->hash_before), "%s",
		               col_text(s, FILE_CHANGE_OPEN_HASH_BEFORE));
		(void)snprintf(f->hash_after, sizeof(f->hash_after), "%s",
		               col_text(s, FILE_CHANGE_OPEN_HASH_AFTER));
		(void)snprintf(f->temp_name, sizeof(f->temp_name), "%s", temp ? temp : "");
	}
	stmt_reset(s);
	return got;
}

/* Where all changes stand, as a set of enum found; 0: cannot be told, report->why says why. A
 * change that makes no difference to the content is done again: its mode may be missing. */
static unsigned look_at_changes(struct job *j)
{
	unsigned all = 0;

	for (size_t i = 0; i < j->count; i++) {
		const struct file_change *f = &j->changes[i];
		char hash[SHA256_BYTES];
		int told = file_change_look(j->root_fd, str_text(&f->path), hash, &j->report->why);

		if (told < 0)
			return 0;
		if (told > 0 && strcmp(hash, f->hash_before) == 0)
			all |= FOUND_BEFORE;
		else if (told > 0 && strcmp(hash, f->hash_after) == 0)
			all |= FOUND_AFTER;
		else
			all |= FOUND_OTHER;
	}
	return all;
}

static int remove_temps(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_remove_temp(j->root_fd, str_text(&j->changes[i].path),
		                            j->changes[i].temp_name, &j->report->why))
			return -1;
	return 0;
}

static void note_forced(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (strcmp(j->changes[i].hash_before, j->request.original_hash) != 0)
			j->report->forced = true;
}

/* All is in place: makes it durable and says so. */
static enum step finish(struct job *j, struct err *e)
{
	struct refusal *why = &j->report->why;
	int failed = 0;

	j->report->recovered = true;
	for (size_t i = 0; i < j->count && !failed; i++)
		failed = file_change_sync_path(j->root_fd, str_text(&j->changes[i].path), why);
	if (failed && j->report->attempts < APPLY_ATTEMPTS_MAX)
		return put_back(j, e) ? STEP_FAILED : STEP_SETTLED;
	note_forced(j);
	return settle_applied(j, e) ? STEP_FAILED : STEP_SETTLED;
}

/* A predecessor's journal: what it left undone is undone here, what it has done is settled. */
static enum step recover(struct job *j, struct err *e)
{
	unsigned found;

	if (read_journal(j, e) < 0)
		return STEP_FAILED;
	if (j->count == 0)
		return STEP_GO_ON;
	found = look_at_changes(j);
	if (found == 0 || remove_temps(j)) {
		j->report->why.again = true; /* what happened is not known yet */
		return refused(j, e);
	}
	j->report->why = (struct refusal){ .code = NULL };
	if (found == FOUND_AFTER)
		return finish(j, e);
	if (found == FOUND_BEFORE) {
		j->journaled = true;
		return STEP_GO_ON;
	}
	(void)refuse(
	    &j->report->why, "patch_conflict",
	    "patch conflict: %.300s: somebody else has changed the file while it was being "
	    "written; read it again and ask anew, or use force",
	    str_text(&j->changes[0].path));
	return refused(j, e);
}

/* ---- plan and journal ---- */

static bool is_same(const struct file_change *a, const struct file_change *b)
{
	return strcmp(str_text(&a->path), str_text(&b->path)) == 0 &&
	       strcmp(a->hash_before, b->hash_before) == 0 &&
	       strcmp(a->hash_after, b->hash_after) == 0;
}

/* Plans; in place of what the journal says, which must come out the same. */
static enum step plan(struct job *j, struct err *e)
{
	const struct proposal p = { .workspace_root = j->workspace_root,
		                    .file_path = j->request.file_path,
		                    .original_hash = j->request.original_hash,
		                    .body = str_text(&j->request.body),
		                    .body_length = j->request.body.length,
		                    .force = j->force,
		                    .database = j->a->database };
	struct file_change planned = FILE_CHANGE_INIT;

	if (file_change_plan(j->root_fd, &p, &planned, &j->report->why)) {
		file_change_clear(&planned);
		return refused(j, e);
	}
	if (j->journaled && (j->count != 1 || !is_same(&planned, &j->changes[0]))) {
		file_change_clear(&planned);
		(void)refuse(
		    &j->report->why, "patch_conflict",
		    "patch conflict: %.300s leads to another file than when the write began; "
		    "call check_diff again",
		    j->request.file_path);
		return refused(j, e);
	}
	if (j->journaled)
		memcpy(planned.temp_name, j->changes[0].temp_name, TEMP_NAME_BYTES);
	changes_clear(j);
	*add_change(j) = planned;
	note_forced(j);
	str_addf(&j->report->what, "%s %s, %zu bytes", planned.action, str_text(&planned.path),
	         planned.bytes.length);
	return STEP_GO_ON;
}

static int insert_change(struct job *j, const struct file_change *f, struct err *e)
{
	stmt *s = store_stmt(j->a->store, SQL_FILE_CHANGE_INSERT);

	bind_int(s, ":apply", j->seq);
	bind_int(s, ":claim", j->claim);
	bind_text(s, ":path", str_text(&f->path));
	bind_text(s, ":action", f->action);
	bind_text(s, ":hash_before", f->hash_before);
	bind_text(s, ":hash_after", f->hash_after);
	bind_int(s, ":bytes", (int64_t)f->bytes.length);
	bind_text(s, ":temp_name", *f->temp_name ? f->temp_name : NULL);
	return stmt_run(s, e);
}

/* Commits what is going to be done. */
static enum step journal(struct job *j, struct err *e)
{
	if (j->journaled)
		return STEP_GO_ON;
	if (store_begin(j->a->store, e))
		return STEP_FAILED;
	for (size_t i = 0; i < j->count; i++) {
		int inserted = insert_change(j, &j->changes[i], e);

		if (inserted <= 0) {
			store_rollback(j->a->store);
			j->report->state = "lost";
			return inserted < 0 ? STEP_FAILED : STEP_SETTLED;
		}
	}
	return store_commit(j->a->store, e) ? STEP_FAILED : STEP_GO_ON;
}

/* ---- the files ---- */

static void undo(struct job *j)
{
	for (size_t i = j->count; i-- > 0;)
		file_change_undo(j->root_fd, &j->changes[i]);
}

/* Stages all, then commits each. NEEDSWORK: with several files, a commit that fails after another
 * has succeeded must put that one's old content back, which then has to be journaled too. */
static int change_files(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (file_change_stage(j->root_fd, &j->changes[i], &j->report->why)) {
			undo(j);
			return -1;
		}
	for (size_t i = 0; i < j->count; i++)
		if (file_change_commit(&j->changes[i], &j->report->why)) {
			undo(j);
			return -1;
		}
	return 0;
}

static enum step write_files(struct job *j, struct err *e)
{
	int failed = 0;

	if (change_files(j))
		return refused(j, e);
	for (size_t i = 0; i < j->count && !failed; i++)
		failed = file_change_sync(&j->changes[i], &j->report->why);
	/* The file is new, but not safely: the next claim finds that and syncs again. */
	if (failed && j->report->attempts < APPLY_ATTEMPTS_MAX)
		return put_back(j, e) ? STEP_FAILED : STEP_SETTLED;
	return settle_applied(j, e) ? STEP_FAILED : STEP_SETTLED;
}

/* ---- one job ---- */

/* Work was begun APPLY_ATTEMPTS_MAX times and nobody lived to settle it: tidies up. */
static enum step bury(struct job *j, struct err *e)
{
	enum step next = STEP_GO_ON;

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
		read_order, open_workspace, recover, plan, journal, write_files
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
