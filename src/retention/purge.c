#include "purge.h"

#include "setting.h"
#include "undo_export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	BATCH = 200, /* rows in one transaction */
	PAUSE_MIN_MS = 1,
	PAUSE_MAX_MS = 100,
	TEXT_BATCH = 50, /* these rows are big */
	GROUP_MAX = 1000, /* sessions that go together */
	DAY_MS = 24 * 3600 * 1000,
	DEFAULT_DAYS = 30,
	DEFAULT_AUDIT_DAYS = 365,
	MOST_DAYS = 36500,
	ENVELOPE_DAYS = 7, /* what Slack sent holds what people typed */
};

enum phase {
	PHASE_IDLE,
	PHASE_ABANDONED,
	PHASE_IMAGES,
	PHASE_SESSIONS,
	PHASE_SLACK,
	PHASE_TEXTS,
	PHASE_ANSWERS,
	PHASE_CONNECTIONS,
	PHASE_WORKERS,
	PHASE_TIME_GAPS,
	PHASE_COMMANDS,
	PHASE_DECISIONS,
	PHASE_STEERINGS,
	PHASE_POLICIES,
	PHASE_UPKEEPS,
	PHASE_ENVELOPES,
	PHASE_TIMELINE,
	PHASE_COUNT
};

/* A table that is walked through from its first row to its last, in stretches of :after to :upto.
 */
static const struct walk {
	enum sql end, delete_in;
	int batch;
	bool dated; /* delete_in knows :cutoff */
	const char *noun;
} WALKS[PURGE_TABLES] = {
	[PURGE_WORKERS] = { SQL_WORKER_AFTER, SQL_WORKER_DELETE_OLD, BATCH, true, "worker" },
	[PURGE_TIME_GAPS] = { SQL_TIME_GAP_AFTER, SQL_TIME_GAP_DELETE_OLD, BATCH, true,
	                      "time_gap" },
	[PURGE_COMMANDS] = { SQL_COMMAND_AFTER, SQL_COMMAND_DELETE_OLD, BATCH, true, "command" },
	[PURGE_DECISIONS] = { SQL_DECISION_AFTER, SQL_DECISION_DELETE_OLD, BATCH, true,
	                      "decision" },
	[PURGE_STEERINGS] = { SQL_STEERING_AFTER, SQL_STEERING_DELETE_OLD, BATCH, true,
	                      "steering" },
	[PURGE_POLICIES] = { SQL_POLICY_AFTER, SQL_POLICY_DELETE_OLD, BATCH, true, "policy" },
	[PURGE_UPKEEPS] = { SQL_UPKEEP_AFTER, SQL_UPKEEP_DELETE_OLD, BATCH, true, "upkeep" },
	[PURGE_TEXTS] = { SQL_CONTENT_AFTER, SQL_CONTENT_DELETE_UNUSED, TEXT_BATCH, false,
	                  "content" },
};

/* Runs s in a transaction of its own. Rows changed, -1. */
static int change(struct purge *p, stmt *s, struct err *e)
{
	int n = stmt_run(s, e);

	if (n < 0) {
		store_rollback(p->store);
		return -1;
	}
	return store_commit(p->store, e) ? -1 : n;
}

/* ---- sessions ---- */

/* The rows of the sessions in hand, children first. Returns how many were deleted; BATCH: there may
 * be more. */
static int delete_belongings(struct purge *p, struct err *e)
{
	static const enum sql ORDER[] = {
		SQL_AUTO_APPROVAL_DELETE, SQL_AUTO_NOTICE_DELETE, SQL_STEERING_DELETE,
		SQL_STALL_DELETE,         SQL_PAUSE_DELETE,       SQL_SLACK_OUTBOX_DELETE_OF,
		SQL_SLACK_MESSAGE_DELETE, SQL_ANSWER_DELETE_OF,   SQL_TOOL_CALL_DELETE,
		SQL_FILE_CHANGE_DELETE,   SQL_APPLY_DELETE,       SQL_DECISION_DELETE,
		SQL_REQUEST_FILE_DELETE,  SQL_REQUEST_DELETE,     SQL_CHECKPOINT_DELETE,
		SQL_CONNECTION_DELETE_OF,
	};
	int done = 0;

	for (size_t i = 0; i < COUNT(ORDER) && done < BATCH; i++) {
		stmt *s = store_stmt(p->store, ORDER[i]);
		int n;

		bind_text(s, ":sessions", str_text(&p->group));
		bind_int(s, ":limit", BATCH - done);
		n = stmt_run(s, e);
		if (n < 0)
			return -1;
		done += n;
	}
	return done;
}

static int delete_sessions(struct purge *p, struct err *e)
{
	stmt *s = store_stmt(p->store, SQL_SESSION_DELETE);

	bind_text(s, ":sessions", str_text(&p->group));
	return stmt_run(s, e);
}

/* One batch of the sessions in hand: 1 they are gone, 0 rows are left, -1 error. */
static int delete_batch(struct purge *p, struct err *e)
{
	int n, gone = 0;

	if (store_begin(p->store, e))
		return -1;
	n = delete_belongings(p, e);
	if (n >= 0 && n < BATCH)
		gone = delete_sessions(p, e);
	if (n < 0 || gone < 0) {
		store_rollback(p->store);
		return -1;
	}
	if (store_commit(p->store, e))
		return -1;
	p->belongings += n;
	p->sessions += gone;
	return n < BATCH;
}

/* The victim and all that go with it become the group. 1, 0 one of them has to stay, -1. */
static int gather(struct purge *p, struct err *e)
{
	stmt *s = store_stmt(p->store, SQL_SESSION_BOUND);
	bool free_to_go = true;
	int got, count = 0;

	str_reset(&p->group);
	bind_int(s, ":session", p->victim);
	bind_text(s, ":cutoff", p->cutoff.text);
	while (free_to_go && (got = stmt_row(s, e)) > 0) {
		str_addf(&p->group, "%s%" PRId64, count++ ? "," : "[",
		         col_int(s, SESSION_BOUND_SEQ));
		free_to_go = col_int(s, SESSION_BOUND_IS_OLD) != 0 && count <= GROUP_MAX;
	}
	stmt_reset(s);
	if (!free_to_go || got < 0) {
		str_reset(&p->group);
		return free_to_go ? -1 : 0;
	}
	str_add_char(&p->group, ']');
	return 1;
}

/* The next session becomes the victim: 1, 0 there is none. */
static int next_victim(struct purge *p, struct err *e)
{
	stmt *s = store_stmt(p->store, SQL_SESSION_OLD);
	struct instant at;
	int got;

	bind_text(s, ":cutoff", p->cutoff.text);
	bind_text(s, ":after_at", p->victim_at.text);
	bind_int(s, ":after", p->victim);
	got = stmt_row(s, e);
	if (got > 0) {
		(void)snprintf(at.text, sizeof(at.text), "%s",
		               col_text(s, SESSION_OLD_TERMINATED_AT));
		p->victim = col_int(s, SESSION_OLD_SEQ);
	}
	stmt_reset(s);
	if (got > 0)
		p->victim_at = at; /* it was bound */
	return got;
}

static int purge_sessions(struct purge *p, struct err *e)
{
	struct err why = ERR_INIT;
	int done;

	if (!p->group.length) {
		int got = next_victim(p, e);

		if (got <= 0)
			return got;
		return gather(p, e) < 0 ? -1 : 1;
	}
	done = delete_batch(p, &why);
	if (done < 0 && why.kind != ERR_REFUSED) {
		*e = why;
		return -1;
	}
	if (done < 0) { /* a rule or a reference forbids it: not this one, but on with the others */
		p->stays = why;
		(void)err_prefix(&p->stays, "a session of %s stays", p->victim_at.text);
	}
	if (done != 0)
		str_reset(&p->group);
	return 1;
}

/* ---- what is old by itself ---- */

/* Whether look gives a row. */
static int is_any(struct purge *p, enum sql look, struct err *e)
{
	stmt *s = store_stmt(p->store, look);
	int got;

	bind_text(s, ":cutoff", p->cutoff.text);
	got = stmt_row(s, e);
	stmt_reset(s);
	return got;
}

/* A change of up to BATCH rows older than the cutoff. */
static int change_old(struct purge *p, enum sql which, struct err *e)
{
	stmt *s;

	if (store_begin(p->store, e))
		return -1;
	s = store_stmt(p->store, which);
	bind_text(s, ":cutoff", p->cutoff.text);
	bind_int(s, ":limit", BATCH);
	return change(p, s, e);
}

static int purge_abandoned(struct purge *p, struct err *e)
{
	int got = is_any(p, SQL_SESSION_ABANDONED, e);
	int n = got > 0 ? change_old(p, SQL_SESSION_TERMINATE_ABANDONED, e) : got;

	if (n > 0)
		p->terminated += n;
	return n;
}

static int purge_connections(struct purge *p, struct err *e)
{
	int got = is_any(p, SQL_CONNECTION_UNUSED, e);
	int n = got > 0 ? change_old(p, SQL_CONNECTION_DELETE_UNUSED, e) : got;

	if (n > 0)
		p->connections += n;
	return n;
}

/* Some images are forgotten when they are in the directory: how many, 0 none or it cannot be. */
static int export_images(struct purge *p, const char *dir, struct err *e)
{
	OWNED(str) struct str rows = STR_INIT;
	struct err why = ERR_INIT;
	stmt *s;
	int n = undo_export(p->store, dir, &p->cutoff, &rows, &why);

	if (n < 0 && store_is_broken(p->store)) {
		*e = why;
		return -1;
	}
	if (n < 0) {
		p->stays = why;
		(void)err_prefix(&p->stays,
		                 "what undo needs is kept, because it cannot be exported");
	}
	if (n <= 0)
		return 0;
	if (store_begin(p->store, e))
		return -1;
	s = store_stmt(p->store, SQL_FILE_CHANGE_FORGET_THESE);
	bind_text(s, ":rows", rows.bytes);
	return change(p, s, e);
}

/* What was in files before writes that are old: those cannot be undone any more. */
static int purge_images(struct purge *p, struct err *e)
{
	OWNED(str) struct str dir = STR_INIT;
	int got = is_any(p, SQL_FILE_CHANGE_IMAGE_OLD, e);
	int wanted = got > 0 ? audit_cut_dir(p->store, &dir, e) : got;
	int n = got;

	if (wanted > 0)
		n = export_images(p, dir.bytes, e);
	else if (got > 0)
		n = wanted < 0 ? -1 : change_old(p, SQL_FILE_CHANGE_FORGET, e);
	if (n > 0)
		p->images += n;
	return n;
}

/* Intents that are settled, messages that belong to no session, then what was read. */
static int purge_slack(struct purge *p, struct err *e)
{
	static const enum sql ORDER[][2] = {
		{ SQL_SLACK_OUTBOX_OLD, SQL_SLACK_OUTBOX_DELETE_OLD },
		{ SQL_SLACK_MESSAGE_OLD, SQL_SLACK_MESSAGE_DELETE_OLD },
		{ SQL_SLACK_READ_OLD, SQL_SLACK_READ_DELETE_OLD },
	};

	for (size_t i = 0; i < COUNT(ORDER); i++) {
		int got = is_any(p, ORDER[i][0], e);
		int n = got > 0 ? change_old(p, ORDER[i][1], e) : got;

		if (n > 0)
			p->slack += n;
		if (n != 0)
			return n;
	}
	return 0;
}

/* A table in the order of its rows' birth: the oldest go, if the first of them is old. */
static int purge_oldest(struct purge *p, enum sql oldest, enum sql delete_old, int64_t *count,
                        struct err *e)
{
	stmt *s = store_stmt(p->store, oldest);
	int got = stmt_row(s, e);
	bool old = got > 0 && strcmp(col_text(s, 0), p->cutoff.text) < 0;

	stmt_reset(s);
	if (got < 0 || !old)
		return got < 0 ? -1 : 0;
	int n = change_old(p, delete_old, e);
	if (n > 0)
		*count += n;
	return n;
}

/* What Slack sent goes earlier than the rest. */
static int purge_envelopes(struct purge *p, struct err *e)
{
	const struct instant cutoff = p->cutoff;
	int n;

	p->cutoff = clock_instant(clock_now_ms() - (int64_t)ENVELOPE_DAYS * DAY_MS);
	n = purge_oldest(p, SQL_SLACK_ENVELOPE_OLDEST, SQL_SLACK_ENVELOPE_DELETE_OLD, &p->envelopes,
	                 e);
	p->cutoff = cutoff;
	return n;
}

/* ---- walks ---- */

/* The end of the next stretch, 0 if there is none, -1 on error. All of these statements have one
 * column. */
static int64_t stretch_end(struct purge *p, const struct walk *w, struct err *e)
{
	stmt *s = store_stmt(p->store, w->end);

	bind_int(s, ":after", p->after);
	bind_int(s, ":limit", w->batch);
	return stmt_number(s, CONTENT_AFTER_SEQ, e);
}

static int walk(struct purge *p, enum purge_table table, struct err *e)
{
	const struct walk *w = &WALKS[table];
	int64_t end = stretch_end(p, w, e);
	stmt *s;
	int n;

	if (end <= 0)
		return (int)end;
	if (store_begin(p->store, e))
		return -1;
	s = store_stmt(p->store, w->delete_in);
	bind_int(s, ":after", p->after);
	bind_int(s, ":upto", end);
	if (w->dated)
		bind_text(s, ":cutoff", p->cutoff.text);
	n = change(p, s, e);
	if (n < 0)
		return -1;
	p->walked[table] += n;
	p->after = end;
	return 1;
}

/* ---- the timeline ---- */

static int64_t days_of(struct store *st, const char *name, int64_t otherwise)
{
	int64_t days = setting_int(st, name, otherwise);

	return days < 0 || days > MOST_DAYS ? otherwise : days;
}

static int purge_timeline(struct purge *p, struct err *e)
{
	int did;

	if (!p->cut.store) {
		int64_t days = days_of(p->store, "audit_retention_days", DEFAULT_AUDIT_DAYS);

		audit_cut_begin(&p->cut, p->store, clock_instant(clock_now_ms() - days * DAY_MS));
	}
	did = audit_cut_some(&p->cut, e);
	if (p->cut.stays.kind != ERR_NONE)
		p->stays = p->cut.stays;
	p->cut.stays.kind = ERR_NONE;
	return did;
}

/* ---- all of it ---- */

void purge_begin(struct purge *p, struct store *st)
{
	int64_t days = days_of(st, "retention_days", DEFAULT_DAYS);

	purge_clear(p);
	p->store = st;
	p->phase = PHASE_ABANDONED;
	p->cutoff = clock_instant(clock_now_ms() - days * DAY_MS);
}

/* One batch of a phase: 1 something was done, 0 the phase is through, -1 error. */
static int work(struct purge *p, struct err *e)
{
	switch ((enum phase)p->phase) {
	case PHASE_ABANDONED:
		return purge_abandoned(p, e);
	case PHASE_SESSIONS:
		return purge_sessions(p, e);
	case PHASE_TEXTS:
		return walk(p, PURGE_TEXTS, e);
	case PHASE_ANSWERS:
		return purge_oldest(p, SQL_ANSWER_OLDEST, SQL_ANSWER_DELETE_OLD, &p->answers, e);
	case PHASE_IMAGES:
		return purge_images(p, e);
	case PHASE_SLACK:
		return purge_slack(p, e);
	case PHASE_ENVELOPES:
		return purge_envelopes(p, e);
	case PHASE_CONNECTIONS:
		return purge_connections(p, e);
	case PHASE_WORKERS:
		return walk(p, PURGE_WORKERS, e);
	case PHASE_TIME_GAPS:
		return walk(p, PURGE_TIME_GAPS, e);
	case PHASE_COMMANDS:
		return walk(p, PURGE_COMMANDS, e);
	case PHASE_DECISIONS:
		return walk(p, PURGE_DECISIONS, e);
	case PHASE_STEERINGS:
		return walk(p, PURGE_STEERINGS, e);
	case PHASE_POLICIES:
		return walk(p, PURGE_POLICIES, e);
	case PHASE_UPKEEPS:
		return walk(p, PURGE_UPKEEPS, e);
	case PHASE_TIMELINE:
		return purge_timeline(p, e);
	case PHASE_IDLE:
	case PHASE_COUNT:
	default:
		return 0;
	}
}

int purge_some(struct purge *p, struct err *e)
{
	int64_t start = clock_monotonic_ms();
	int did = work(p, e);

	p->took_ms = clock_monotonic_ms() - start;
	if (did < 0 &&
	    e->kind == ERR_REFUSED) { /* on with what follows: the next purge tries again */
		p->stays = *e;
		*e = (struct err)ERR_INIT;
		did = 0;
	}
	if (did < 0)
		return -1;
	if (did > 0) {
		p->batches++;
		return 1;
	}
	p->after = 0;
	p->phase = p->phase + 1 == PHASE_COUNT ? PHASE_IDLE : p->phase + 1;
	return p->phase != PHASE_IDLE;
}

int purge_pause_ms(const struct purge *p)
{
	int64_t pause = 2 * p->took_ms;

	if (pause < PAUSE_MIN_MS)
		return PAUSE_MIN_MS;
	return pause < PAUSE_MAX_MS ? (int)pause : PAUSE_MAX_MS;
}

bool purge_is_under_way(const struct purge *p)
{
	return p->phase != PHASE_IDLE;
}

static void add_count(struct str *out, int64_t count, const char *what)
{
	if (count)
		str_addf(out, "%s%" PRId64 " %s", out->length ? ", " : "", count, what);
}

void purge_tell(const struct purge *p, struct str *out)
{
	OWNED(str) struct str deleted = STR_INIT;

	add_count(&deleted, p->sessions, "session(s)");
	add_count(&deleted, p->belongings, "row(s) of sessions");
	add_count(&deleted, p->answers, "of answer");
	add_count(&deleted, p->connections, "of connection");
	add_count(&deleted, p->slack, "of what was said in Slack");
	add_count(&deleted, p->envelopes, "of slack_envelope");
	add_count(&deleted, p->images, "image(s) of files before a write");
	add_count(&deleted, p->cut.events, "of the timeline");
	for (int i = 0; i < PURGE_TABLES; i++) {
		char what[40];

		(void)snprintf(what, sizeof(what), "of %s", WALKS[i].noun);
		add_count(&deleted, p->walked[i], what);
	}
	if (p->terminated)
		str_addf(out, "terminated %d session(s) that were interrupted", p->terminated);
	if (deleted.length)
		str_addf(out, "%sdeleted %s", out->length ? "; " : "", deleted.bytes);
}

void purge_clear(struct purge *p)
{
	str_clear(&p->group);
	audit_cut_clear(&p->cut);
	*p = (struct purge)PURGE_INIT;
}
