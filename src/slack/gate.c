#include "gate.h"

#include "clock.h"

/* A burst and the calls after it stay below 50 and 100 per minute. */
enum { BURST = 8, UPDATE_GAP_MS = 1500, CALL_GAP_MS = 700 };

int slack_gate_strikes(struct store *st, const char *gate, struct err *e)
{
	OWNED(slack_gate_read_row) struct slack_gate_read_row row = { 0 };

	return sql_slack_gate_read(st, gate, &row, e) < 0 ? -1 : (int)row.strikes;
}

int slack_gate_close(struct store *st, const char *gate, int64_t ms, const char *why, struct err *e)
{
	struct instant at = clock_instant(clock_now_ms() + ms);

	return sql_slack_gate_close(st, at.text, why, gate, e);
}

static int64_t gap_of(const struct slack_intent_row *i)
{
	return i->kind == SLACK_KIND_UPDATE || i->kind == SLACK_KIND_DELETE ? UPDATE_GAP_MS
	                                                                    : CALL_GAP_MS;
}

/* One post per second; for other methods a burst, then Slack's limit per minute. */
int slack_gate_pass(struct store *st, const struct slack_intent_row *i, struct err *e)
{
	OWNED(slack_gate_read_row) struct slack_gate_read_row row = { 0 };
	int64_t now_ms = clock_now_ms(), gap = gap_of(i), spent = 0, open;
	int got = sql_slack_gate_read(st, i->gate, &row, e);
	struct instant spent_at, open_at;

	if (got < 0)
		return -1;
	if (got > 0)
		spent = clock_parse(row.spent_at);
	spent = (spent > now_ms ? spent : now_ms) + gap;
	open =
	    i->class == SLACK_KIND_CLASS_LOOKUP ? now_ms + SLACK_POST_GAP_MS : spent - BURST * gap;
	spent_at = clock_instant(spent);
	open_at = clock_instant(open);
	if (sql_slack_gate_pass(st, open > now_ms ? open_at.text : "", spent_at.text, i->gate, e))
		return -1;
	return sql_slack_gate_open(st, "slack", e);
}

int slack_gate_close_all(struct store *st, const char *why, struct err *e)
{
	if (store_begin(st, e))
		return -1;
	return store_end(st, slack_gate_close(st, "slack", SLACK_PARKED_MS, why, e), e);
}

int slack_gate_open_all(struct store *st, struct err *e)
{
	if (store_begin(st, e))
		return -1;
	return store_end(st, sql_slack_gate_open(st, "slack", e), e);
}
