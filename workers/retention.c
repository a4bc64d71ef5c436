/* retention: keeps the database's log short, and deletes what is old.
 *
 * - It is the one checkpointer: at each look (its bell, which a writer rings when the log is over
 *   1000 pages, or 5 s) the log is copied into the database (PASSIVE). Where its file is over
 *   LOG_BYTES and still grows, the next writer is made to begin the log anew (RESTART), with
 * BUSY_MS of patience: PASSIVE alone never does that while somebody commits all the time, even if
 * it copies all of it each time (tried: 300 commits of 200 kB left 60 MB). The log is never
 *   truncated: overwriting is cheaper than growing, and a file that does not grow is short enough.
 * - Hourly, first an hour after the start: sessions interrupted for retention_days are terminated,
 *   sessions terminated for as long are deleted with everything that belongs to them, then what was
 *   said in Slack as long ago, texts that no row holds on to, old answers, connections that never
 *   called a tool, and what Slack sent over ENVELOPE_DAYS ago. Batches of 500 rows, so that nobody
 *   waits for the write lock. A session goes whole, and waits while a row of another one refers to
 *   it. Events stay; so do decisions about nothing.
 *
 * A kill leaves a batch undone; the next purge goes on from there. */
#include "log.h"
#include "setting.h"
#include "worker.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LOG_BYTES = 4 << 20,
	HELD_MS = 1000, /* after a RESTART that a long reader held up */
	BUSY_MS = 20,
	PURGE_MS = 3600 * 1000,
	BATCH = 500, /* rows in one transaction */
	CONTENT_BATCH = 50, /* these rows are big */
	PAUSE_MS = 1,
	CHECKPOINT_BATCHES = 8, /* keeps the log short while much is deleted */
	DAY_MS = 24 * 3600 * 1000,
	DEFAULT_DAYS = 30,
	ENVELOPE_DAYS = 7, /* what Slack sent holds what people typed */
};

/* What a purge does, in this order; PURGE_IDLE: wait for the next one. */
enum phase {
	PURGE_IDLE,
	PURGE_ABANDONED,
	PURGE_SESSIONS,
	PURGE_SLACK,
	PURGE_CONTENT,
	PURGE_ANSWERS,
	PURGE_CONNECTIONS,
	PURGE_ENVELOPES,
};

struct retention {
	int64_t restart_ms; /* monotonic: not before */
	int64_t log_bytes; /* of the log's file, at the last RESTART */
	int64_t purge_ms; /* monotonic: when the next purge begins, 0: not set yet */
	enum phase phase;
	struct instant cutoff;
	int batches;
	struct instant victim_at; /* the session in hand: its end and */
	int64_t victim; /* its seq; the purge goes on behind it */
	bool victim_open; /* rows of it may be left */
	int64_t content_after;
	int sessions, terminated;
	int64_t rows;
};

/* ---- the log ---- */

static int64_t log_bytes(const char *db_path)
{
	char path[4096];
	struct stat s;

	(void)snprintf(path, sizeof(path), "%.4000s-wal", db_path);
	return stat(path, &s) == 0 ? s.st_size : 0; /* stat() opens nothing: locks stay */
}

static int restart(struct retention *r, struct worker *w, struct err *e)
{
	int left = store_checkpoint(&w->store, true, BUSY_MS, e);

	if (left > 0)
		r->restart_ms = clock_monotonic_ms() + HELD_MS;
	r->log_bytes = log_bytes(w->db_path);
	return left < 0 ? -1 : 0;
}

static int checkpoint(struct retention *r, struct worker *w, struct err *e)
{
	int64_t bytes = log_bytes(w->db_path);

	if (store_checkpoint(&w->store, false, 0, e) < 0)
		return -1;
	if (bytes <= LOG_BYTES || bytes <= r->log_bytes || clock_monotonic_ms() < r->restart_ms)
		return 0;
	return restart(r, w, e);
}

/* ---- the purge ---- */

/* Deletes up to limit rows. */
static int delete_some(struct worker *w, enum sql which, int64_t session, int limit, struct err *e)
{
	stmt *s = store_stmt(&w->store, which);

	bind_int(s, ":session", session);
	bind_int(s, ":limit", limit);
	return stmt_run(s, e);
}

/* The rows of a session, children first. Returns how many were deleted; limit: there may be more.
 */
static int delete_children(struct worker *w, int64_t session, int limit, struct err *e)
{
	static const enum sql ORDER[] = {
		SQL_STEERING_DELETE,      SQL_PAUSE_DELETE,      SQL_SLACK_OUTBOX_DELETE_OF,
		SQL_SLACK_MESSAGE_DELETE, SQL_ANSWER_DELETE_OF,  SQL_TOOL_CALL_DELETE,
		SQL_FILE_CHANGE_DELETE,   SQL_APPLY_DELETE,      SQL_DECISION_DELETE,
		SQL_REQUEST_DELETE,       SQL_CHECKPOINT_DELETE, SQL_CONNECTION_DELETE_OF,
	};
	int done = 0;

	for (size_t i = 0; i < COUNT(ORDER) && done < limit; i++) {
		int n = delete_some(w, ORDER[i], session, limit - done, e);

		if (n < 0)
			return -1;
		done += n;
	}
	return done;
}

static int delete_session(struct worker *w, int64_t session, struct err *e)
{
	stmt *s = store_stmt(&w->store, SQL_SESSION_DELETE);

	bind_int(s, ":session", session);
	return stmt_run(s, e);
}

/* One batch of the session in hand: 1 it is gone, 0 rows are left, -1 error. */
static int delete_batch(struct retention *r, struct worker *w, struct err *e)
{
	int n, gone = 0;

	if (store_begin(&w->store, e))
		return -1;
	n = delete_children(w, r->victim, BATCH, e);
	if (n >= 0 && n < BATCH)
		gone = delete_session(w, r->victim, e);
	if (n < 0 || gone < 0) {
		store_rollback(&w->store);
		return -1;
	}
	r->rows += n + gone;
	return store_commit(&w->store, e) ? -1 : n < BATCH;
}

static int is_held(struct worker *w, int64_t session, struct err *e)
{
	stmt *s = store_stmt(&w->store, SQL_SESSION_HELD);
	int got, held;

	bind_int(s, ":session", session);
	got = stmt_row(s, e);
	held = got > 0 && col_int(s, SESSION_HELD_HELD) != 0;
	stmt_reset(s);
	return got < 0 ? -1 : held;
}

/* Takes the next session in hand: 1, 0 there is none. */
static int next_victim(struct retention *r, struct worker *w, struct err *e)
{
	stmt *s = store_stmt(&w->store, SQL_SESSION_OLD);
	int got;

	bind_text(s, ":cutoff", r->cutoff.text);
	bind_text(s, ":after_at", r->victim_at.text);
	bind_int(s, ":after", r->victim);
	got = stmt_row(s, e);
	if (got > 0) {
		struct instant at;

		(void)snprintf(at.text, sizeof(at.text), "%s",
		               col_text(s, SESSION_OLD_TERMINATED_AT));
		r->victim = col_int(s, SESSION_OLD_SEQ);
		stmt_reset(s);
		r->victim_at = at;
		return 1;
	}
	stmt_reset(s);
	return got;
}

/* 1 something was done, 0 no session is left, -1 error. */
static int purge_sessions(struct retention *r, struct worker *w, struct err *e)
{
	struct err why = ERR_INIT;
	int done;

	if (!r->victim_open) {
		int got = next_victim(r, w, e);
		int held = got > 0 ? is_held(w, r->victim, e) : 0;

		if (got <= 0 || held < 0)
			return held < 0 ? -1 : got;
		r->victim_open = !held;
		return 1;
	}
	done = delete_batch(r, w, &why);
	if (done < 0 && why.kind != ERR_INPUT) {
		*e = why;
		return -1;
	}
	if (done < 0) /* a rule or a reference forbids it: not this one, but on with the others */
		log_error("a session of %s stays: %s", r->victim_at.text, why.text);
	r->sessions += done > 0;
	r->victim_open = done == 0;
	return 1;
}

/* Whether look gives a row. */
static int is_any(struct retention *r, struct worker *w, enum sql look, struct err *e)
{
	stmt *s = store_stmt(&w->store, look);
	int got;

	bind_text(s, ":cutoff", r->cutoff.text);
	got = stmt_row(s, e);
	stmt_reset(s);
	return got;
}

/* A change of up to BATCH rows older than the cutoff, in a transaction of its own. */
static int change_old(struct retention *r, struct worker *w, enum sql which, struct err *e)
{
	stmt *s;
	int n;

	if (store_begin(&w->store, e))
		return -1;
	s = store_stmt(&w->store, which);
	bind_text(s, ":cutoff", r->cutoff.text);
	bind_int(s, ":limit", BATCH);
	n = stmt_run(s, e);
	if (n < 0) {
		store_rollback(&w->store);
		return -1;
	}
	return store_commit(&w->store, e) ? -1 : n;
}

static int purge_abandoned(struct retention *r, struct worker *w, struct err *e)
{
	int got = is_any(r, w, SQL_SESSION_ABANDONED, e);
	int n = got > 0 ? change_old(r, w, SQL_SESSION_TERMINATE_ABANDONED, e) : got;

	if (n > 0)
		r->terminated += n;
	return n;
}

static int purge_connections(struct retention *r, struct worker *w, struct err *e)
{
	int got = is_any(r, w, SQL_CONNECTION_UNUSED, e);
	int n = got > 0 ? change_old(r, w, SQL_CONNECTION_DELETE_UNUSED, e) : got;

	if (n > 0)
		r->rows += n;
	return n;
}

/* Intents that are settled, messages that belong to no session, then what was read. */
static int purge_slack(struct retention *r, struct worker *w, struct err *e)
{
	static const enum sql ORDER[][2] = {
		{ SQL_SLACK_OUTBOX_OLD, SQL_SLACK_OUTBOX_DELETE_OLD },
		{ SQL_SLACK_MESSAGE_OLD, SQL_SLACK_MESSAGE_DELETE_OLD },
		{ SQL_SLACK_READ_OLD, SQL_SLACK_READ_DELETE_OLD },
	};

	for (size_t i = 0; i < COUNT(ORDER); i++) {
		int got = is_any(r, w, ORDER[i][0], e);
		int n = got > 0 ? change_old(r, w, ORDER[i][1], e) : got;

		if (n > 0)
			r->rows += n;
		if (n != 0)
			return n;
	}
	return 0;
}

/* A table in the order of its rows' birth: the oldest are deleted, if the first of them is old. */
static int purge_oldest(struct retention *r, struct worker *w, enum sql oldest, enum sql delete_old,
                        struct err *e)
{
	stmt *s = store_stmt(&w->store, oldest);
	int got = stmt_row(s, e);
	bool old = got > 0 && strcmp(col_text(s, 0), r->cutoff.text) < 0;

	stmt_reset(s);
	if (got < 0 || !old)
		return got < 0 ? -1 : 0;
	int n = change_old(r, w, delete_old, e);
	if (n > 0)
		r->rows += n;
	return n;
}

static int purge_answers(struct retention *r, struct worker *w, struct err *e)
{
	return purge_oldest(r, w, SQL_ANSWER_OLDEST, SQL_ANSWER_DELETE_OLD, e);
}

static int purge_envelopes(struct retention *r, struct worker *w, struct err *e)
{
	const struct instant before = r->cutoff;
	int n;

	r->cutoff = clock_instant(clock_now_ms() - (int64_t)ENVELOPE_DAYS * DAY_MS);
	n = purge_oldest(r, w, SQL_SLACK_ENVELOPE_OLDEST, SQL_SLACK_ENVELOPE_DELETE_OLD, e);
	r->cutoff = before;
	return n;
}

/* The end of the next stretch of texts, 0 if there is none, -1 on error. */
static int64_t content_end(struct retention *r, struct worker *w, struct err *e)
{
	stmt *s = store_stmt(&w->store, SQL_CONTENT_AFTER);
	int64_t end = 0;
	int got;

	bind_int(s, ":after", r->content_after);
	bind_int(s, ":limit", CONTENT_BATCH);
	got = stmt_row(s, e);
	if (got > 0)
		end = col_int(s, CONTENT_AFTER_SEQ);
	stmt_reset(s);
	return got < 0 ? -1 : end;
}

static int purge_content(struct retention *r, struct worker *w, struct err *e)
{
	int64_t end = content_end(r, w, e);
	stmt *s;
	int n;

	if (end <= 0)
		return (int)end;
	if (store_begin(&w->store, e))
		return -1;
	s = store_stmt(&w->store, SQL_CONTENT_DELETE_UNUSED);
	bind_int(s, ":after", r->content_after);
	bind_int(s, ":upto", end);
	n = stmt_run(s, e);
	if (n < 0) {
		store_rollback(&w->store);
		return -1;
	}
	r->rows += n;
	r->content_after = end;
	return store_commit(&w->store, e) ? -1 : 1;
}

static void begin_purge(struct retention *r, struct worker *w)
{
	int64_t days = setting_int(&w->store, "retention_days", DEFAULT_DAYS);

	*r = (struct retention){ .restart_ms = r->restart_ms,
		                 .log_bytes = r->log_bytes,
		                 .purge_ms = clock_monotonic_ms() + PURGE_MS,
		                 .phase = PURGE_ABANDONED };
	if (days < 0 || days > 36500)
		days = DEFAULT_DAYS;
	r->cutoff = clock_instant(clock_now_ms() - days * DAY_MS);
}

/* One batch: 1 something was done, 0 the phase is through, -1 error. */
static int purge_some(struct retention *r, struct worker *w, struct err *e)
{
	switch (r->phase) {
	case PURGE_ABANDONED:
		return purge_abandoned(r, w, e);
	case PURGE_SESSIONS:
		return purge_sessions(r, w, e);
	case PURGE_CONTENT:
		return purge_content(r, w, e);
	case PURGE_SLACK:
		return purge_slack(r, w, e);
	case PURGE_ANSWERS:
		return purge_answers(r, w, e);
	case PURGE_CONNECTIONS:
		return purge_connections(r, w, e);
	case PURGE_ENVELOPES:
		return purge_envelopes(r, w, e);
	case PURGE_IDLE:
	default:
		return 0;
	}
}

/* 1 there is more to do, 0 the purge is over. */
static int purge(struct retention *r, struct worker *w, struct err *e)
{
	struct pollfd stop = { .fd = w->signal_fd, .events = POLLIN };
	int did = purge_some(r, w, e);

	if (did < 0)
		return -1;
	if (did > 0) {
		if (++r->batches % CHECKPOINT_BATCHES == 0 && restart(r, w, e))
			return -1;
		(void)poll(&stop, 1, PAUSE_MS); /* the others' turn */
		return 1;
	}
	r->phase = r->phase == PURGE_ENVELOPES ? PURGE_IDLE : r->phase + 1;
	if (r->phase == PURGE_IDLE && (r->rows || r->terminated))
		log_info("deleted %d sessions, %lld rows in all; terminated %d interrupted ones",
		         r->sessions, (long long)r->rows, r->terminated);
	return r->phase != PURGE_IDLE;
}

static int step(struct worker *w, struct err *e)
{
	static struct retention r;
	int64_t now = clock_monotonic_ms();

	if (r.purge_ms == 0)
		r.purge_ms = now + PURGE_MS;
	if (r.phase != PURGE_IDLE)
		return purge(&r, w, e);
	if (checkpoint(&r, w, e))
		return -1;
	if (now >= r.purge_ms) {
		begin_purge(&r, w);
		return 1;
	}
	w->due_ms = clock_now_ms() + r.purge_ms - now;
	return 0;
}

int main(int argc, char **argv)
{
	return worker_main("retention", "Keeps the database's log short and deletes what is old.",
	                   step, argc, argv);
}
