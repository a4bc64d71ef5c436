#include "stall.h"

#include "id.h"
#include "setting.h"
#include "sql/stall.h"
#include "sql/steering.h"
#include "steering.h"
#include "str.h"

#include <stdio.h>
#include <string.h>

static const char CLOCK[] = "system:clock";

void stall_settings_read(struct store *st, struct stall_settings *s)
{
	s->enabled = setting_is_on(st, "stall.enabled", true);
	s->threshold_ms = setting_int(st, "stall.inactivity_threshold_seconds", 300) * 1000;
	s->escalation_ms = setting_int(st, "stall.escalation_threshold_seconds", 120) * 1000;
	s->max_nudges = setting_int(st, "stall.max_retries", 3);
}

/* ---- when ---- */

static int first(struct store *st, int (*read)(struct store *, struct instant_row *, struct err *),
                 int64_t after_ms, int64_t *ret_ms, struct err *e)
{
	OWNED(instant_row) struct instant_row row = { 0 };
	int got = read(st, &row, e);

	if (got > 0 && clock_parse(row.at) + after_ms < *ret_ms)
		*ret_ms = clock_parse(row.at) + after_ms;
	return got < 0 ? -1 : 0;
}

int stall_next(struct store *st, const struct stall_settings *s, int64_t *ret_ms, struct err *e)
{
	*ret_ms = INT64_MAX;
	return err_if(first(st, sql_stall_idle_first, s->threshold_ms, ret_ms, e) ||
	              first(st, sql_stall_step_first, s->escalation_ms, ret_ms, e));
}

/* ---- alerts ---- */

/* What is due: a silence, or the next step of a stall. */
struct due {
	int64_t seq; /* of the session, or of the stall */
	int64_t idle_since_ms, last_activity_ms; /* of a silence */
	int64_t automatic; /* of a stall */
	char session_id[ID_BYTES];
	bool is_live, is_watched, is_asking, is_there, may_be_there, is_stalled; /* of a silence */
	bool is_undelivered; /* of a stall */
};

/* The next page, after `skip` refused rows. */
static int list_silent(struct store *st, const struct stall_settings *set, int64_t now_ms,
                       int64_t skip, struct due rows[STALL_BATCH], struct err *e)
{
	OWNED(stall_idle_due_row) struct stall_idle_due_row row = { 0 };
	struct instant before = clock_instant(now_ms - set->threshold_ms);
	int got = 0, n = 0;

	sql_stall_idle_due(st, before.text, STALL_BATCH, skip, &row);
	while (n < STALL_BATCH && (got = row_next(&row.row, e)) > 0) {
		struct due *r = &rows[n++];

		*r = (struct due){
			.seq = row.seq,
			.idle_since_ms = clock_parse(row.idle_since),
			.last_activity_ms =
			    row.last_activity_at ? clock_parse(row.last_activity_at) : -1,
			.is_live = row.status == SESSION_STATUS_ACTIVE ||
			           row.status == SESSION_STATUS_INTERRUPTED,
			.is_watched = !row.stall_paused,
			.is_asking = row.is_asking,
			.is_there = row.is_there,
			.may_be_there = row.may_be_there,
			.is_stalled = row.is_stalled,
		};
		(void)snprintf(r->session_id, sizeof(r->session_id), "%s", row.id);
	}
	return got < 0 ? -1 : n;
}

struct counts {
	int64_t nudges, automatic;
};

/* An agent that a nudge only woke for a moment keeps its count of nudges; otherwise it would be
 * nudged forever. A moment is shorter than the silence that raises an alert. */
static int counts_before(struct store *st, const struct stall_settings *set, const struct due *r,
                         struct counts *c, struct err *e)
{
	OWNED(stall_last_row) struct stall_last_row last = { 0 };
	int got = sql_stall_last(st, r->seq, &last, e);

	*c = (struct counts){ 0 };
	if (last.status == STALL_STATUS_SELF_RECOVERED &&
	    r->last_activity_ms - clock_parse(last.ended_at) < set->threshold_ms)
		*c = (struct counts){ .nudges = last.nudge_count, .automatic = last.auto_count };
	return got < 0 ? -1 : 0;
}

static int raise_alert(struct store *st, const struct stall_settings *set, const struct due *r,
                       int64_t now_ms, struct err *e)
{
	struct id id = id_new();
	struct counts before;

	if (counts_before(st, set, r, &before, e))
		return -1;
	const struct stall_insert_args args = {
		.id = id.text,
		.session = r->seq,
		.is_there = r->is_there,
		.idle_seconds = (now_ms - r->idle_since_ms) / 1000,
		.nudge_count = before.nudges,
		.auto_count = before.automatic,
	};
	return err_if(sql_stall_insert(st, &args, e) ||
	              sql_stall_mark_session(st, r->session_id, e));
}

/* Decides what a session's silence means, now that it has lasted long enough. */
static int judge(struct store *st, const struct stall_settings *set, const struct due *r,
                 int64_t now_ms, struct stall_tally *tally, struct err *e)
{
	if (r->is_live && !r->is_asking && !r->is_there && !r->may_be_there) {
		int left = sql_stall_client_gone(st, r->seq, e);

		if (left < 0 || (left > 0 && sql_stall_tell_left(st, r->seq, e)))
			return -1;
		tally->left += left;
	} else if (r->is_live && !r->is_asking && set->enabled && r->is_watched && !r->is_stalled) {
		if (raise_alert(st, set, r, now_ms, e))
			return -1;
		tally->raised++;
	}
	return sql_stall_stop_clock(st, r->seq, e);
}

/* ---- nudges ---- */

int stall_nudge(struct store *st, const char *session_id, const char *text, const char *operator_id,
                const char *source, int64_t *ret_seq, struct err *e)
{
	const struct steering_insert_args w = { .kind = "nudge",
		                                .session_id = session_id,
		                                .text = text,
		                                .operator_id = operator_id,
		                                .source = source };

	*ret_seq = sql_steering_insert(st, &w, e);
	return *ret_seq < 0 ? -1 : sql_stall_mark_session(st, session_id, e);
}

static int list_waiting(struct store *st, const struct stall_settings *set, int64_t now_ms,
                        int64_t skip, struct due rows[STALL_BATCH], struct err *e)
{
	OWNED(stall_step_due_row) struct stall_step_due_row row = { 0 };
	struct instant before = clock_instant(now_ms - set->escalation_ms);
	int got = 0, n = 0;

	sql_stall_step_due(st, before.text, STALL_BATCH, skip, &row);
	while (n < STALL_BATCH && (got = row_next(&row.row, e)) > 0) {
		rows[n] = (struct due){ .seq = row.seq,
			                .automatic = row.auto_count,
			                .is_undelivered = row.is_undelivered };
		(void)snprintf(rows[n].session_id, sizeof(rows[n].session_id), "%s",
		               row.session_id);
		n++;
	}
	return got < 0 ? -1 : n;
}

/* 1 the nudge is queued, 0 the rules refused it (the operator system:clock is inactive), -1. */
static int nudge_by_clock(struct store *st, const struct due *w, struct err *e)
{
	struct err why = { 0 };
	int64_t seq;

	if (stall_nudge(st, w->session_id, NULL, CLOCK, "clock", &seq, e))
		return -1;
	if (steering_check(st, seq, &why) == 0)
		return 1;
	if (why.kind == ERR_INPUT)
		return 0;
	*e = why;
	return -1;
}

/* Each step advances the stall, so that it is not due again at once. */
static int step(struct store *st, const struct stall_settings *set, const struct due *w,
                int64_t now_ms, struct stall_tally *tally, struct err *e)
{
	int did = 0;

	(void)now_ms;
	if (w->automatic < set->max_nudges) {
		if (w->is_undelivered)
			did = sql_stall_nudge_again(st, w->seq, e) ||
			              sql_stall_mark_session(st, w->session_id, e)
			          ? -1
			          : 1;
		else
			did = nudge_by_clock(st, w, e);
	}
	if (did < 0)
		return -1;
	if (did) {
		tally->nudged++;
		return 0;
	}
	tally->escalated++;
	return sql_stall_escalate(st, w->seq, e);
}

/* ---- all of them ---- */

/* Ends the part of one row: 0 it is kept, or its rules refused it and it has no effect; -1 error.
 * failed: the result of its step. */
static int end_part(struct store *st, int failed, const struct stall_tally *before,
                    struct stall_tally *tally, struct err *e)
{
	if (!failed)
		return store_keep(st, e);
	store_undo(st);
	*tally = *before;
	return err_take_refused(e, &tally->refused) ? 0 : -1;
}

/* Acts on what is listed, page by page. Returns how many there were, or -1. */
static int act_on(struct store *st, const struct stall_settings *set, int64_t now_ms,
                  int (*list)(struct store *st, const struct stall_settings *set, int64_t now_ms,
                              int64_t skip, struct due rows[STALL_BATCH], struct err *e),
                  int (*act)(struct store *st, const struct stall_settings *set,
                             const struct due *due, int64_t now_ms, struct stall_tally *tally,
                             struct err *e),
                  struct stall_tally *tally, struct err *e)
{
	struct due rows[STALL_BATCH];
	int n, all = 0, first = tally->refused.count;

	do {
		n = list(st, set, now_ms, tally->refused.count - first, rows, e);
		for (int i = 0; i < n; i++) {
			const struct stall_tally before = *tally;

			if (store_part(st, e) ||
			    end_part(st, act(st, set, &rows[i], now_ms, tally, e), &before, tally,
			             e))
				return -1;
		}
		all += n;
	} while (n == STALL_BATCH && all == tally->refused.count - first);
	return n < 0 ? -1 : all;
}

int stall_pass(struct store *st, const struct stall_settings *s, int64_t now_ms,
               struct stall_tally *tally, struct err *e)
{
	int silent, waiting;

	if (store_begin(st, e))
		return -1;
	silent = act_on(st, s, now_ms, list_silent, judge, tally, e);
	waiting = silent < 0 ? -1 : act_on(st, s, now_ms, list_waiting, step, tally, e);
	if (waiting < 0 || silent + waiting <= tally->refused.count) {
		store_rollback(st);
		return waiting < 0 ? -1 : 0;
	}
	return store_commit(st, e) ? -1 : 1;
}
