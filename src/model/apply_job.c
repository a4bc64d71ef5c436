#include "apply_job.h"

#include "clock.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	SHORTAGE_MS = 200, /* times attempts: pause of a job that was put back */
	REFUSED_MS = 60000, /* of one whose rows the rules refuse */
};

void job_changes_clear(struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		file_change_clear(&j->changes[i]);
	free(j->changes);
	j->changes = NULL;
	j->count = 0;
}

void job_clear(struct job *j)
{
	const int fds[] = { j->root_fd, j->lock_fd };

	job_changes_clear(j);
	for (size_t i = 0; i < COUNT(fds); i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	free(j->workspace_root);
	request_clear(&j->request);
	*j = (struct job)JOB_INIT;
}

struct file_change *job_add_change(struct job *j)
{
	j->changes = xrealloc(j->changes, (j->count + 1) * sizeof(*j->changes));
	j->changes[j->count] = (struct file_change)FILE_CHANGE_INIT;
	return &j->changes[j->count++];
}

/* Whether a text is not there any more, rather than a database that cannot be read. */
bool job_is_missing(const struct err *e)
{
	return e->kind == ERR_INPUT && strncmp(e->text, "not found", 9) == 0;
}

void job_note_forced(struct job *j)
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

/* ---- settling: one transaction, fenced by the claim ---- */

/* Tells whoever ordered an undo. */
static int settle_command(struct job *j, struct err *e)
{
	stmt *s = store_stmt(j->a->store, SQL_COMMAND_SETTLE);

	bind_int(s, ":apply", j->seq);
	return stmt_run(s, e) < 0 ? -1 : 1;
}

int job_commit(struct job *j, stmt *s, const char *state, struct err *e)
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

stmt *job_fenced(struct job *j, enum sql which)
{
	stmt *s = store_stmt(j->a->store, which);

	bind_int(s, ":seq", j->seq);
	bind_int(s, ":claim", j->claim);
	return s;
}

int job_run_on_changes(struct job *j, enum sql which, struct err *e)
{
	stmt *s = store_stmt(j->a->store, which);

	bind_int(s, ":apply", j->seq);
	if (stmt_run(s, e) >= 0)
		return 0;
	store_rollback(j->a->store);
	return -1;
}

int job_settle_applied(struct job *j, struct err *e)
{
	stmt *s;

	if (store_begin(j->a->store, e) || job_run_on_changes(j, SQL_FILE_CHANGE_DONE, e))
		return -1;
	s = job_fenced(j, SQL_APPLY_APPLIED);
	bind_text(s, ":state", j->is_undo ? "undone" : "applied");
	bind_int(s, ":forced", j->report->forced);
	return job_commit(j, s, j->is_undo ? "undone" : "applied", e);
}

static int settle_failed(struct job *j, const char *state, struct err *e)
{
	const struct refusal *why = &j->report->why;
	stmt *s;

	if (store_begin(j->a->store, e) || job_run_on_changes(j, SQL_FILE_CHANGE_UNDONE, e))
		return -1;
	s = job_fenced(j, SQL_APPLY_FAILED);
	bind_text(s, ":state", state);
	bind_text(s, ":code", why->code);
	bind_text(s, ":message", why->text);
	return job_commit(j, s, state, e);
}

/* Notes that the job rests for a moment. With too many of them it just does not. */
static void let_wait_ms(struct job *j, int64_t ms)
{
	for (size_t i = 0; i < APPLY_WAITING_MAX; i++)
		if (j->a->waiting[i].seq == 0) {
			j->a->waiting[i].seq = j->seq;
			j->a->waiting[i].due_ms = clock_monotonic_ms() + ms;
			return;
		}
}

void job_let_rest(struct job *j)
{
	let_wait_ms(j, REFUSED_MS);
}

int job_put_back(struct job *j, struct err *e)
{
	if (store_begin(j->a->store, e))
		return -1;
	let_wait_ms(j, (int64_t)SHORTAGE_MS * j->report->attempts);
	return job_commit(j, job_fenced(j, SQL_APPLY_PUT_BACK), "queued", e);
}

void job_undo(struct job *j)
{
	bool removed = false;

	for (size_t i = j->count; i-- > 0;)
		removed |= file_change_undo(j->root_fd, &j->changes[i]);
	for (size_t i = 0; i < j->count && removed; i++) {
		struct refusal why;

		if (j->changes[i].dir_fd >= 0)
			(void)file_change_sync(&j->changes[i], &why);
	}
}

bool job_may_try_again(const struct job *j)
{
	return j->report->attempts < APPLY_ATTEMPTS_MAX;
}

/* Settles by report->why: again later, or refused. */
static int settle_refusal(struct job *j, struct err *e)
{
	if (j->report->why.again && job_may_try_again(j))
		return job_put_back(j, e);
	if (j->root_fd >= 0)
		job_undo(j);
	return settle_failed(j, "refused", e);
}

enum step job_refused(struct job *j, struct err *e)
{
	return settle_refusal(j, e) ? STEP_FAILED : STEP_SETTLED;
}

int job_settle_dead(struct job *j, struct err *e)
{
	(void)refusal_set(
	    &j->report->why, "crashed",
	    "crashed worker: the applier died %d times over this write; each file is as "
	    "it was or as somebody else left it",
	    j->report->attempts - 1);
	if (j->root_fd >= 0)
		job_undo(j);
	return settle_failed(j, "dead", e);
}
