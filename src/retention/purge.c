#include "purge.h"

#include "metric.h"
#include "setting.h"
#include "sql/purge.h"
#include "undo_export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	BATCH = 200, /* rows per transaction */
	PAUSE_MIN_MS = 1,
	PAUSE_MAX_MS = 100,
	TEXT_BATCH = 50, /* these rows are large */
	GROUP_MAX = 1000, /* sessions deleted together */
	DAY_MS = 24 * 3600 * 1000,
	DEFAULT_DAYS = 30,
	DEFAULT_AUDIT_DAYS = 365,
	MOST_DAYS = 36500,
	ENVELOPE_DAYS = 7, /* payloads from Slack contain what people typed */
};

/* Texts have no age: they are deleted when no row refers to them. */
static int delete_unused(struct store *st, int64_t after, int64_t upto, const char *cutoff,
                         struct err *e)
{
	(void)cutoff;
	return sql_content_delete_unused(st, after, upto, e);
}

/* A table that is walked from its first row to its last, in stretches after `after`. */
static const struct walk {
	int64_t (*end)(struct store *st, int64_t after, int64_t limit, struct err *e);
	int (*delete_in)(struct store *st, int64_t after, int64_t upto, const char *cutoff,
	                 struct err *e);
	int batch;
	const char *noun;
} WALKS[PURGE_TABLES] = {
	[PURGE_WORKERS] = { sql_worker_after, sql_worker_delete_old, BATCH, "worker" },
	[PURGE_TIME_GAPS] = { sql_time_gap_after, sql_time_gap_delete_old, BATCH, "time_gap" },
	[PURGE_LOOKS] = { sql_file_look_after, sql_file_look_delete_old, BATCH, "file_look" },
	[PURGE_LAPSES] = { sql_gate_lapse_after, sql_gate_lapse_delete_old, BATCH, "gate_lapse" },
	[PURGE_REFUSALS] = { sql_fence_refusal_after, sql_fence_refusal_delete_old, BATCH,
	                     "fence_refusal" },
	[PURGE_ALIAS_RUNS] = { sql_alias_run_after, sql_alias_run_delete_old, BATCH, "alias_run" },
	[PURGE_COMMANDS] = { sql_command_after, sql_command_delete_old, BATCH, "command" },
	[PURGE_DECISIONS] = { sql_decision_after, sql_decision_delete_old, BATCH, "decision" },
	[PURGE_STEERINGS] = { sql_steering_after, sql_steering_delete_old, BATCH, "steering" },
	[PURGE_POLICIES] = { sql_policy_after, sql_policy_delete_old, BATCH, "policy" },
	[PURGE_UPKEEPS] = { sql_upkeep_after, sql_upkeep_delete_old, BATCH, "upkeep" },
	[PURGE_TEXTS] = { sql_content_after, delete_unused, TEXT_BATCH, "content" },
};

/* Ends the transaction of a statement that changed n rows, -1: it failed. Returns n, or -1. */
static int end_change(struct purge *p, int n, struct err *e)
{
	return store_end(p->store, n < 0, e) ? -1 : n;
}

/* ---- sessions ---- */

/* The newest requests with their files, because a question is compared with what was shown as long
 * as it is there (proof.h). Returns how many rows. */
static int delete_requests(struct store *st, const char *sessions, int64_t limit, struct err *e)
{
	int64_t first = sql_request_newest(st, sessions, limit, e);
	int files, n;

	if (first <= 0)
		return (int)first;
	files = sql_request_file_delete(st, sessions, first, e);
	n = files < 0 ? -1 : sql_request_delete(st, sessions, first, e);
	return n < 0 ? -1 : files + n;
}

/* Deletes the rows of the current sessions, children first. Returns how many; BATCH or more: there
 * may be more. */
static int delete_belongings(struct purge *p, struct err *e)
{
	static int (*const ORDER[])(struct store * st, const char *sessions, int64_t limit,
	                            struct err *e) = {
		sql_slack_outbox_delete_of,
		sql_slack_message_delete,
		sql_auto_approval_delete,
		sql_auto_notice_delete,
		sql_agent_line_delete,
		sql_agent_turn_delete,
		sql_agent_question_delete,
		sql_agent_input_delete,
		sql_steering_delete,
		sql_stall_delete,
		sql_pause_delete,
		sql_agent_usage_delete,
		sql_agent_run_delete,
		sql_gate_rewrite_delete,
		sql_gate_file_delete,
		sql_gate_call_delete,
		sql_tool_call_delete,
		sql_file_change_delete,
		sql_checkpoint_delete,
		sql_apply_delete,
		sql_decision_delete,
		sql_workspace_restore_delete,
		delete_requests,
		sql_connection_delete,
		sql_alias_run_delete,
		sql_file_look_delete,
		sql_gate_lapse_delete,
	};
	int done = 0;

	for (size_t i = 0; i < COUNT(ORDER) && done < BATCH; i++) {
		int n = ORDER[i](p->store, str_text(&p->group), BATCH - done, e);

		if (n < 0)
			return -1;
		done += n;
	}
	return done;
}

/* One batch of the current sessions: 1 they are deleted, 0 rows are left, -1 error. */
static int delete_batch(struct purge *p, struct err *e)
{
	int n, gone = 0;

	if (store_begin(p->store, e))
		return -1;
	n = delete_belongings(p, e);
	if (n >= 0 && n < BATCH)
		gone = sql_session_delete(p->store, str_text(&p->group), e);
	if (store_end(p->store, n < 0 || gone < 0, e))
		return -1;
	p->belongings += n;
	p->sessions += gone;
	return n < BATCH;
}

/* The victim and all sessions tied to it become the group. 1, 0 one of them has to stay, -1. */
static int gather(struct purge *p, struct err *e)
{
	OWNED(session_bound_row) struct session_bound_row row = { 0 };
	bool free_to_go = true;
	int got = 0, count = 0;

	str_reset(&p->group);
	sql_session_bound(p->store, p->victim, p->cutoff.text, &row);
	while (free_to_go && (got = row_next(&row.row, e)) > 0) {
		str_addf(&p->group, "%s%" PRId64, count++ ? "," : "[", row.seq);
		free_to_go = row.is_old && count <= GROUP_MAX;
	}
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
	OWNED(session_old_row) struct session_old_row row = { 0 };
	int got = sql_session_old(p->store, p->cutoff.text, p->victim_at.text, p->victim, &row, e);

	if (got > 0) {
		(void)snprintf(p->victim_at.text, sizeof(p->victim_at.text), "%s",
		               row.terminated_at);
		p->victim = row.seq;
	}
	return got;
}

static int purge_sessions(struct purge *p, struct err *e)
{
	struct err why = { 0 };
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
	if (done < 0) { /* a rule or a reference forbids it: skip this one */
		p->stays = why;
		(void)err_prefix(&p->stays, "a session of %s stays", p->victim_at.text);
	}
	if (done != 0)
		str_reset(&p->group);
	return 1;
}

/* ---- old rows ---- */

/* Whether rows of a kind are older than the cutoff, and the change of up to limit such rows. */
struct old {
	int (*any)(struct store *st, const char *cutoff, struct err *e);
	int (*change)(struct store *st, const char *cutoff, int64_t limit, struct err *e);
};

/* One batch. Returns how many rows were changed, which are added to *count; -1. */
static int purge_old(struct purge *p, const struct old *old, int64_t *count, struct err *e)
{
	int n = old->any(p->store, p->cutoff.text, e);

	if (n <= 0)
		return n;
	if (store_begin(p->store, e))
		return -1;
	n = end_change(p, old->change(p->store, p->cutoff.text, BATCH, e), e);
	if (n > 0)
		*count += n;
	return n;
}

/* Forgets a few images once they are in the directory: how many, 0 none or impossible. */
static int export_images(struct purge *p, const char *dir, struct err *e)
{
	OWNED(str) struct str rows = { 0 };
	struct err why = { 0 };
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
	n = end_change(p, sql_file_change_forget_these(p->store, rows.bytes, e), e);
	if (n > 0)
		p->images += n;
	return n;
}

/* The contents of files before old writes: those can no longer be undone. */
static int purge_images(struct purge *p, struct err *e)
{
	static const struct old OLD = { sql_file_change_image_old, sql_file_change_forget };
	OWNED(str) struct str dir = { 0 };
	int got = OLD.any(p->store, p->cutoff.text, e);
	int wanted = got > 0 ? audit_cut_dir(p->store, &dir, e) : got;

	if (got <= 0 || wanted < 0)
		return got <= 0 ? got : -1;
	return wanted ? export_images(p, dir.bytes, e) : purge_old(p, &OLD, &p->images, e);
}

/* Settled intents, messages without a session, then what was read. */
static int purge_slack(struct purge *p, struct err *e)
{
	static const struct old ORDER[] = {
		{ sql_slack_outbox_old, sql_slack_outbox_delete_old },
		{ sql_slack_message_old, sql_slack_message_delete_old },
		{ sql_slack_read_old, sql_slack_read_delete_old },
	};

	for (size_t i = 0; i < COUNT(ORDER); i++) {
		int n = purge_old(p, &ORDER[i], &p->slack, e);

		if (n != 0)
			return n;
	}
	return 0;
}

/* What Slack sent is deleted earlier than the rest. */
static int purge_envelopes(struct purge *p, struct err *e)
{
	static const struct old OLD = { sql_slack_envelope_old, sql_slack_envelope_delete_old };
	const struct instant cutoff = p->cutoff;
	int n;

	p->cutoff = clock_instant(clock_now_ms() - (int64_t)ENVELOPE_DAYS * DAY_MS);
	n = purge_old(p, &OLD, &p->envelopes, e);
	p->cutoff = cutoff;
	return n;
}

/* ---- walks ---- */

static int walk(struct purge *p, enum purge_table table, struct err *e)
{
	const struct walk *w = &WALKS[table];
	int64_t end = w->end(p->store, p->after, w->batch, e);
	int n;

	if (end <= 0)
		return (int)end;
	if (store_begin(p->store, e))
		return -1;
	n = end_change(p, w->delete_in(p->store, p->after, end, p->cutoff.text, e), e);
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

static struct instant cutoff_of(struct store *st)
{
	int64_t days = days_of(st, "retention_days", DEFAULT_DAYS);

	return clock_instant(clock_now_ms() - days * DAY_MS);
}

void purge_begin(struct purge *p, struct store *st)
{
	purge_clear(p);
	p->store = st;
	p->phase = 1;
	p->cutoff = cutoff_of(st);
}

int purge_was_cut_off(struct store *st, struct err *e)
{
	return sql_session_cut_off(st, cutoff_of(st).text, e);
}

/* What is there now is counted: later rows are too young to be deleted. */
static int count_rows(struct purge *p, struct err *e)
{
	int64_t behind = metric_behind(p->store, e);

	if (behind < 0 || (behind > 0 && metric_count(p->store, e)))
		return -1;
	return behind > METRIC_STRETCH;
}

/* In this order: run, else what is old, which it counts, else a walk through a table. */
static const struct phase {
	int (*run)(struct purge *p, struct err *e); /* a batch, as work */
	struct old old;
	size_t count; /* in struct purge */
	enum purge_table table;
} PHASES[] = {
	{ .run = count_rows },
	{ .old = { sql_session_abandoned, sql_session_terminate_abandoned },
	  .count = offsetof(struct purge, terminated) },
	{ .run = purge_images },
	{ .run = purge_sessions },
	{ .run = purge_slack },
	{ .table = PURGE_LOOKS },
	{ .table = PURGE_LAPSES },
	{ .table = PURGE_REFUSALS },
	{ .table = PURGE_TEXTS },
	{ .old = { sql_answer_old, sql_answer_delete_old },
	  .count = offsetof(struct purge, answers) },
	{ .old = { sql_connection_unused, sql_connection_delete_unused },
	  .count = offsetof(struct purge, connections) },
	{ .table = PURGE_WORKERS },
	{ .table = PURGE_TIME_GAPS },
	{ .table = PURGE_ALIAS_RUNS },
	{ .table = PURGE_COMMANDS },
	{ .table = PURGE_DECISIONS },
	{ .table = PURGE_STEERINGS },
	{ .table = PURGE_POLICIES },
	{ .table = PURGE_UPKEEPS },
	{ .run = purge_envelopes },
	{ .run = purge_timeline },
};

/* One batch: 1 something was done, 0 the phase is complete, -1 error. */
static int work(struct purge *p, struct err *e)
{
	const struct phase *phase = &PHASES[p->phase - 1];
	void *count = (char *)p + phase->count;

	if (phase->run)
		return phase->run(p, e);
	return phase->old.any ? purge_old(p, &phase->old, count, e) : walk(p, phase->table, e);
}

int purge_some(struct purge *p, struct err *e)
{
	int64_t start = clock_monotonic_ms();
	int did = work(p, e);

	p->took_ms = clock_monotonic_ms() - start;
	if (did < 0 &&
	    e->kind == ERR_REFUSED) { /* continue with the rest: the next purge tries again */
		p->stays = *e;
		*e = (struct err){ 0 };
		did = 0;
	}
	if (did < 0)
		return -1;
	if (did > 0) {
		p->batches++;
		return 1;
	}
	p->after = 0;
	p->phase = p->phase < (int)COUNT(PHASES) ? p->phase + 1 : 0;
	return p->phase != 0;
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
	return p->phase != 0;
}

static void add_count(struct str *out, int64_t count, const char *what)
{
	if (count)
		str_addf(out, "%s%" PRId64 " %s", out->length ? ", " : "", count, what);
}

void purge_tell(const struct purge *p, struct str *out)
{
	OWNED(str) struct str deleted = { 0 };

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
		str_addf(out, "terminated %" PRId64 " session(s) that were interrupted",
		         p->terminated);
	if (deleted.length)
		str_addf(out, "%sdeleted %s", out->length ? "; " : "", deleted.bytes);
}

void purge_clear(struct purge *p)
{
	str_clear(&p->group);
	audit_cut_clear(&p->cut);
	*p = (struct purge)PURGE_INIT;
}
