#include "outbox.h"

#include "clock.h"

enum { REFUSED_MS = 60000 }; /* rest of a lane whose head the rules refuse */

/* A long one is sent alone. */
static bool may_join(const struct slack_outbox_followers_row *row, int64_t leader, int64_t *left)
{
	*left -= row->size;
	return *left >= 0 && row->part == SLACK_PART_KIND_SAID && !row->thread_ts &&
	       (!row->leader_seq || row->leader_seq == leader);
}

/* Those directly after this one that may be sent with it: how many, -1. */
static int list_followers(struct store *st, const struct slack_intent_row *i,
                          int64_t seqs[SLACK_BURST_MAX], struct err *e)
{
	OWNED(slack_outbox_followers_row) struct slack_outbox_followers_row row = { 0 };
	int64_t size = sql_slack_call_size(st, i->call_seq, e), left = SLACK_BURST_BYTES - size;
	int got, count = 0;

	if (size < 0 || left < 0)
		return size < 0 ? -1 : 0;
	sql_slack_outbox_followers(st, i->lane_seq, i->seq, SLACK_BURST_MAX - 1, &row);
	while ((got = row_next(&row.row, e)) > 0 && may_join(&row, i->seq, &left))
		seqs[count++] = row.seq;
	return got < 0 ? -1 : count;
}

/* Broadcasts are sent together. A retry sends the same text again, otherwise an earlier attempt
 * could not be found. */
static int gather(struct store *st, const struct slack_intent_row *i, struct err *e)
{
	int64_t seqs[SLACK_BURST_MAX];
	int count;

	if (i->part != SLACK_PART_KIND_SAID || !i->root_seq || i->attempts > 1)
		return 0;
	count = list_followers(st, i, seqs, e);
	for (int k = 0; k < count; k++)
		if (sql_slack_outbox_lead(st, i->seq, seqs[k], e))
			return -1;
	return count < 0 ? -1 : 0;
}

static int claim(struct store *st, const char *worker_id, int64_t seq, struct slack_intent_row *i,
                 struct err *e)
{
	int did = sql_slack_outbox_claim(st, worker_id, seq, e);

	if (did <= 0)
		return did;
	return sql_slack_intent_read(st, seq, i, e) < 0 || gather(st, i, e) ? -1 : 1;
}

/* Other lanes take precedence for a while. */
static void let_lane_rest(struct store *st, int64_t seq)
{
	struct instant due = clock_instant(clock_now_ms() + REFUSED_MS);

	if (store_begin(st, NULL) == 0)
		(void)store_end(st, sql_slack_lane_rest(st, due.text, seq, NULL), NULL);
}

/* The rules refuse the claim of a lane's head: it becomes dead, so that it does not block what
 * follows; if they refuse that, too, its lane rests. */
static void give_up(struct store *st, int64_t seq, const char *why)
{
	OWNED(slack_intent_row) struct slack_intent_row i = { 0 };

	if (sql_slack_intent_read(st, seq, &i, NULL) <= 0 ||
	    slack_settle_dead(st, &i, why, NULL, NULL))
		let_lane_rest(st, seq);
}

int slack_outbox_claim(struct store *st, const char *worker_id, const char *slot,
                       struct slack_intent_row *i, struct err *e)
{
	int64_t seq =
	    sql_slack_lane_next(st, slot, e); /* without a lock: an idle look writes nothing */
	int did;

	if (seq <= 0)
		return (int)seq;
	if (store_begin(st, e))
		return -1;
	seq = sql_slack_lane_next(st, slot, e);
	did = seq > 0 ? claim(st, worker_id, seq, i, e) : (int)seq;
	if (did <= 0) {
		store_rollback(st);
		if (did < 0 && e->kind == ERR_REFUSED)
			give_up(st, seq, e->text);
		return did;
	}
	return store_commit(st, e) ? -1 : 1;
}

int slack_outbox_doubtful(struct store *st, struct slack_intent_row *i, struct err *e)
{
	int64_t seq = sql_slack_outbox_doubtful(st, e);

	return seq > 0 ? sql_slack_intent_read(st, seq, i, e) : (int)seq;
}

/* Unix ms, 0 for '', INT64_MAX for none. */
static int64_t ms_of(const struct instant_row *row)
{
	if (!row->at)
		return INT64_MAX;
	return *row->at ? clock_parse(row->at) : 0;
}

int64_t slack_outbox_due(struct store *st, struct err *e)
{
	OWNED(instant_row) struct instant_row lane = { 0 }, doubt = { 0 };

	if (sql_slack_lane_due(st, &lane, e) < 0 || sql_slack_outbox_doubt_due(st, &doubt, e) < 0)
		return -1;
	return ms_of(&lane) < ms_of(&doubt) ? ms_of(&lane) : ms_of(&doubt);
}
