#include "apply_job.h"

#include "clock.h"
#include "files.h"
#include "instance.h"
#include "safe_path.h"
#include "sql/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	LOCKED_LOOK_MS = 50, /* another process has the workspace: look again after this time */
	LOCK_NAME_BYTES = 48,
	OWNER_SLOW_MS = 2000, /* then a job of another user that is done has taken long */
	OWNER_REST_FOR = 10, /* times as long as others waited */
	OWNER_LOST_MS = 1000, /* at least, where their process was lost */
	SILENT_REST_MS = 10000, /* after the start, where a disk did not answer */
	CHECKPOINT_PATIENCE_MS = 30000, /* for the checkpoint before a critical write; undo keeps
	                                   what the write replaces anyway */
};

void apply_report_clear(struct apply_report *r)
{
	str_clear(&r->what);
	*r = (struct apply_report){ 0 };
}

/* ---- the order ---- */

/* Checks that the text is the one that the operator saw. */
static int check_body(struct apply_job *j, struct err *e)
{
	struct sha256 found = sha256_of(str_text(&j->request.body), j->request.body.length);
	OWNED(apply_body_hash_row) struct apply_body_hash_row row = { 0 };
	int got = sql_apply_body_hash(j->a->store, j->request.row.seq, &row, e);

	if (got > 0 && strcmp(row.hash, found.text) != 0)
		(void)refusal_set(&j->report->why, "corrupt",
		                  "the stored proposal no longer has its hash: expected %.64s, "
		                  "found %s",
		                  row.hash, found.text);
	return got < 0 ? -1 : 0;
}

/* Checks that everything we are about to examine is what the approver was shown. */
static enum step check_order(struct apply_job *j, struct err *e)
{
	struct sha256 found;

	if (j->is_undo)
		return STEP_GO_ON; /* the hashes bind what is put back */
	if (check_body(j, e))
		return STEP_FAILED;
	if (j->report->why.code)
		return apply_job_refused(j, e);
	found = request_shown_digest(&j->request);
	if (strcmp(found.text, j->request.row.digest) == 0)
		return STEP_GO_ON;
	(void)refusal_set(
	    &j->report->why, "digest_mismatch",
	    "the stored proposal is not the one that was shown: its digest is %.64s, that "
	    "of the question %.64s; ask for clearance again",
	    found.text, j->request.row.digest);
	return apply_job_refused(j, e);
}

static enum step read_order(struct apply_job *j, struct err *e)
{
	enum request_state wanted = j->is_undo ? REQUEST_STATE_CONSUMED : REQUEST_STATE_APPROVED;
	const struct request_row *row = &j->request.row;
	struct err wrong = { 0 };
	int64_t seq = j->question_seq ? j->question_seq : j->request_seq;
	int found = request_read(j->a->store, seq, &j->request, &wrong);

	if (found < 0 && !apply_job_is_missing(&wrong)) {
		*e = wrong;
		return STEP_FAILED;
	}
	if (found <= 0)
		(void)refusal_set(&j->report->why, "corrupt", "the proposal cannot be read: %s",
		                  found < 0 ? wrong.text : "it is gone");
	else if (j->question_seq && row->state != wanted)
		(void)refusal_set(&j->report->why, "not_approved",
		                  "the file had changed, and force was %s: %.300s",
		                  request_state_name(row->state),
		                  row->reason ? row->reason : "nobody answered in time");
	else if (row->state != wanted)
		(void)refusal_set(&j->report->why, "not_approved", "the request is %s, not %s",
		                  request_state_name(row->state), request_state_name(wanted));
	return j->report->why.code ? apply_job_refused(j, e) : STEP_GO_ON;
}

/* Whether the fence keeps it out of a workspace that it began with, and that its owner may read.
 * Asked after it was opened, or errno says why not. */
static bool is_fenced_off(const struct apply_job *j)
{
	const struct roots *known = j->a->workspaces;
	const struct root *root = known ? roots_find(known, j->workspace_root) : NULL;

	if (!root || !known->is_fenced)
		return false;
	if (j->root_fd >= 0)
		return !root->is_held;
	return errno == EACCES &&
	       faccessat(AT_FDCWD, j->workspace_root, R_OK | X_OK, AT_EACCESS) == 0;
}

static enum step wait_for_successor(struct apply_job *j, struct err *e)
{
	j->is_fenced_off = j->a->is_fenced_off = true;
	(void)refusal_set(&j->report->why, "workspace_unreadable",
	                  "the workspace %.300s is another folder than when the applier began; "
	                  "call again",
	                  j->workspace_root);
	j->report->why.again = true;
	return apply_job_refused(j, e);
}

/* Whether a process of another user works there; that of a test is ours. */
static bool is_foreign(const struct apply_job *j)
{
	return filer_has_hand(&j->owner) && !filer_is_forced();
}

static enum step open_workspace(struct apply_job *j, struct err *e)
{
	struct err wrong = { 0 };
	int failed;

	if (filer_has_hand(&j->owner) && apply_job_start_hand(j))
		return apply_job_refused(j, e);
	if (!filer_has_hand(&j->owner) && !apply_job_disk_answers(j)) {
		(void)refusal_set(&j->report->why, "workspace_unreadable",
		                  "the disk of %.300s does not answer; call again when it does",
		                  j->workspace_root);
		j->report->why.again = true;
		return apply_job_refused(j, e);
	}
	errno = 0;
	failed = safe_path_open(j->workspace_root, &j->root_fd, &wrong);
	if (!is_foreign(j) && is_fenced_off(j))
		return wait_for_successor(j, e);
	if (!failed)
		return STEP_GO_ON;
	(void)refuse_err(&j->report->why, &wrong);
	if (!j->report->why.again) {
		(void)refusal_set(&j->report->why, "workspace_unreadable", "%s", wrong.text);
		j->report->why.again = j->was_claimed; /* the outcome is still unknown */
	}
	return apply_job_refused(j, e);
}

/* ---- one job ---- */

typedef enum step step_of(struct apply_job *, struct err *);

/* Work began APPLY_ATTEMPTS_MAX times and no applier survived to settle it: tidies up. */
static enum step bury(struct apply_job *j, struct err *e)
{
	step_of *recover = j->is_restore ? apply_restore_recover : apply_job_recover;
	/* Later, even that kills. But a restore is never left half done. */
	bool tidies = j->is_restore || j->report->attempts <= APPLY_ATTEMPTS_MAX + APPLY_TIDIES_MAX;
	enum step next = STEP_GO_ON;

	j->gives_up = true;
	if (tidies)
		next = read_order(j, e);
	if (next == STEP_GO_ON && j->request.row.id)
		next = open_workspace(j, e);
	if (next == STEP_GO_ON && j->request.row.id && j->is_restore)
		next = apply_restore_read(j, e);
	if (next == STEP_GO_ON && j->request.row.id)
		next = recover(j, e);
	if (next == STEP_GO_ON)
		next = apply_job_settle_dead(j, tidies, e) ? STEP_FAILED : STEP_SETTLED;
	return next;
}

static int work(struct apply_job *j, struct err *e)
{
	static step_of *const WRITE[] = { read_order,        open_workspace,
		                          apply_job_recover, check_order,
		                          apply_job_plan,    apply_job_journal,
		                          apply_job_write,   NULL };
	static step_of *const RESTORE[] = { read_order,          open_workspace,
		                            apply_restore_read,  apply_restore_recover,
		                            apply_restore_write, NULL };
	step_of *const *steps = j->is_restore ? RESTORE : WRITE;
	enum step next = STEP_GO_ON;

	if (j->was_claimed && j->report->attempts > APPLY_ATTEMPTS_MAX)
		next = bury(j, e);
	for (; *steps && next == STEP_GO_ON; steps++)
		next = (*steps)(j, e);
	return next == STEP_FAILED ? -1 : 1;
}

/* 1 ours, 0 another applier was faster, -1. */
static int claim(struct apply_job *j, struct err *e)
{
	struct apply_claim_row row = { 0 };
	int got;

	if (store_begin(j->a->store, e))
		return -1;
	got = sql_apply_claim(j->a->store, j->a->worker_id, j->seq, j->claim, &row, e);
	if (got <= 0) {
		store_rollback(j->a->store);
		return got;
	}
	j->request_seq = row.request_seq;
	j->question_seq = row.question_seq;
	j->force = row.force && !j->question_seq;
	j->claim = row.claim;
	j->report->attempts = (int)row.attempts;
	j->is_undo = row.kind == APPLY_KIND_UNDO;
	j->is_restore = row.kind == APPLY_KIND_RESTORE;
	if (store_commit(j->a->store, e))
		return -1;
	if (j->a->ours)
		own_places_look(j->a->ours);
	return 1;
}

/* The workspace is ours until the job is cleared. 1 locked; 0 another process has it, or the run
 * directory has vanished: the worker is about to move to the new one; -1. */
static int lock_workspace(struct apply_job *j, struct err *e)
{
	char name[LOCK_NAME_BYTES];

	/* So long that nobody finds a name for a folder of theirs that shares its lock. */
	(void)snprintf(name, sizeof(name), INSTANCE_WORKSPACE "%.32s.lock",
	               sha256_of(j->workspace_root, strlen(j->workspace_root)).text);
	j->lock_fd = openat(j->a->run_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->lock_fd < 0 && errno == ENOENT)
		return 0;
	if (j->lock_fd < 0)
		return err_errno(e, ERR_AGAIN, "cannot open the lock file %s", name);
	if (flock(j->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 1;
	return errno == EWOULDBLOCK || errno == EINTR
	           ? 0
	           : err_errno(e, ERR_AGAIN, "cannot lock %s", name);
}

/* Milliseconds that job seq still rests, 0: none. */
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

/* ---- other users ---- */

/* The owner's own entry, or the one that ends first. */
static size_t resting_of(const struct applier *a, uid_t uid)
{
	size_t best = 0;

	for (size_t i = 0; i < APPLY_WAITING_MAX; i++) {
		if (a->resting[i].due_ms && a->resting[i].uid == uid)
			return i;
		if (a->resting[i].due_ms < a->resting[best].due_ms)
			best = i;
	}
	return best;
}

static int64_t owner_rest_ms(const struct applier *a, uid_t uid)
{
	size_t i = resting_of(a, uid);
	int64_t left = a->resting[i].due_ms - clock_monotonic_ms();

	return a->resting[i].uid == uid && left > 0 ? left : 0;
}

/* This job began at began_ms. One that was done, but took long, is made up for only if others have
 * waited for it. */
static void let_owner_rest(struct apply_job *j, int64_t began_ms, bool was_lost)
{
	int64_t took = clock_monotonic_ms() - began_ms, uid = j->owner.uid;
	size_t i = resting_of(j->a, j->owner.uid);

	if (!was_lost && (took < OWNER_SLOW_MS ||
	                  sql_apply_is_waited_for(j->a->store, j->a->machine, uid, NULL) == 0))
		return;
	if (took < OWNER_LOST_MS)
		took = OWNER_LOST_MS;
	j->report->rests_ms = took * OWNER_REST_FOR;
	j->a->resting[i].uid = j->owner.uid;
	j->a->resting[i].due_ms = clock_monotonic_ms() + j->report->rests_ms;
}

/* Whether a workspace is within the fence, and its disk answered when that was put up: who was
 * started for one workspace waits for no other. */
static bool is_within_reach(struct applier *a, const char *workspace, int64_t *ret_rest_ms)
{
	const struct roots *known = a->workspaces;
	const struct root *root;
	int64_t left = 0;

	if (!known || !known->is_fenced)
		return true;
	root = roots_find(known, workspace);
	a->is_fenced_off |= !root;
	if (root && root->is_silent)
		left = known->asked_ms + SILENT_REST_MS - clock_monotonic_ms();
	*ret_rest_ms = left > 0 ? left : 0;
	return root && left <= 0;
}

/* The oldest job after j->seq in workspaces where a dead applier left one unfinished, or in the
 * others. 1 there is one, 0, -1. */
static int look(struct apply_job *j, bool left, struct err *e)
{
	OWNED(apply_next_row) struct apply_next_row row = { 0 };
	struct instant patience = clock_instant(clock_now_ms() - CHECKPOINT_PATIENCE_MS);
	int got = sql_apply_next(j->a->store, j->a->machine, j->seq, patience.text, left, &row, e);

	if (got <= 0)
		return got;
	j->seq = row.seq;
	j->claim = row.claim;
	j->was_claimed = row.state == APPLY_STATE_CLAIMED;
	j->workspace_root = xstrdup(row.workspace_root);
	return 1;
}

/* Looks at the job after *seq, moves *seq there, and does the job if possible. 1 done; 0 not done,
 * and *ret_rest_ms is when it may be tried; -1 error. *ret_found: there was one. */
static int try_next(struct applier *a, bool left, int64_t *seq, struct apply_report *r,
                    int64_t *ret_rest_ms, bool *ret_found, struct err *e)
{
	OWNED(apply_job) struct apply_job j = APPLY_JOB_INIT;
	int64_t began_ms = clock_monotonic_ms();
	int got;

	j.a = a;
	j.report = r;
	j.seq = *seq;
	got = look(&j, left, e);
	*ret_found = got > 0;
	if (got <= 0)
		return got;
	*seq = r->seq = j.seq;
	*ret_rest_ms = rest_ms(a, j.seq);
	if (*ret_rest_ms > 0)
		return 0;
	if (apply_job_find_owner(&j, e))
		return -1;
	if (is_foreign(&j))
		*ret_rest_ms = owner_rest_ms(a, j.owner.uid);
	if (*ret_rest_ms > 0)
		return 0;
	/* The hand has a fence of its own; that of a test has ours. */
	if (!is_foreign(&j) && !is_within_reach(a, j.workspace_root, ret_rest_ms))
		return 0;
	got = lock_workspace(&j, e);
	if (got == 0)
		*ret_rest_ms = LOCKED_LOOK_MS;
	if (got > 0) {
		got = claim(&j, e);
		r->beside = r->beside || got == 0;
	}
	if (got > 0)
		got = work(&j, e);
	if (got != 0 && is_foreign(&j))
		let_owner_rest(&j, began_ms, files_is_lost() || j.is_silent);
	if (got != 0 && files_is_lost()) {
		store_rollback(a->store);
		apply_job_leave(&j);
		*e = (struct err){ 0 };
		return 1;
	}
	if (got < 0 && e->kind == ERR_REFUSED) { /* the others continue */
		store_rollback(a->store);
		apply_job_let_rest(&j);
		r->state = "kept";
		(void)refusal_set(&r->why, "refused", "%s", e->text);
		*e = (struct err){ 0 };
		got = 1;
	}
	return got;
}

/* As apply_next, for the workspaces that look distinguishes. */
static int do_next(struct applier *a, bool left, struct apply_report *r, int64_t *ret_due_ms,
                   struct err *e)
{
	int64_t seq = 0, now_ms = clock_now_ms();
	bool found = true;

	while (found) {
		int64_t left_ms = 0;
		int did = try_next(a, left, &seq, r, &left_ms, &found, e);

		if (did != 0)
			return did;
		if (left_ms > 0 && now_ms + left_ms < *ret_due_ms)
			*ret_due_ms = now_ms + left_ms;
	}
	return 0;
}

int apply_workspaces(struct store *st, const char *machine, struct roots *into, struct err *e)
{
	OWNED(apply_workspaces_row) struct apply_workspaces_row row = { 0 };
	int got;

	sql_apply_workspaces(st, machine, APPLY_WORKSPACES_MAX, &row);
	while ((got = row_next(&row.row, e)) > 0)
		roots_add(into, row.workspace_root);
	return got;
}

int apply_next(struct applier *a, struct apply_report *r, int64_t *ret_due_ms, struct err *e)
{
	int did;

	*ret_due_ms = INT64_MAX;
	if (apply_restore_queue(a, e))
		return -1;
	did = do_next(a, false, r, ret_due_ms, e);
	if (did != 0 || r->beside) /* an unfinished job may be another applier's */
		return did;
	return do_next(a, true, r, ret_due_ms, e);
}
