#include "envelope.h"

#include "json.h"
#include "json_writer.h"
#include "order.h"
#include "sql/slack_envelope.h"

#include <string.h>

void slack_stored_clear(struct slack_stored *s)
{
	str_clear(&s->why);
	str_clear(&s->reply);
	*s = (struct slack_stored){ 0 };
}

void slack_ack(struct str *out, const char *envelope_id, const char *payload)
{
	str_add(out, "{\"envelope_id\":");
	json_quote(out, envelope_id);
	if (payload && *payload && out->length + strlen(payload) + 16 < SLACK_ACK_BYTES)
		str_addf(out, ",\"payload\":%s", payload);
	str_add_char(out, '}');
}

/* Whether a reply is for us: in a session's thread, or if it mentions us; of others, what would be
 * an answer, in a thread of ours, or in one of which nothing is known any more. 1, 0, -1. */
static int is_for_us(struct store *st, const struct slack_intent *a,
                     const struct slack_thread_row *t, struct err *e)
{
	int64_t known;

	if (t->seq || a->mentioned)
		return 1;
	if (!a->verdict && !a->below_us)
		return 0;
	known = sql_slack_thread_of_ours(st, a->channel, a->thread_ts, e);
	return known < 0 ? -1 : known ? a->verdict != NULL : a->below_us;
}

/* Whether it is about an older message in a thread. */
static bool is_afterwards(const struct slack_intent *a)
{
	return a->meaning == INTENT_EDITED || a->meaning == INTENT_DELETED;
}

/* understood, ignored or malformed. */
static const char *reading_of(const struct slack_intent *a, const struct slack_thread_row *t,
                              bool for_us)
{
	if (a->meaning == INTENT_UNKNOWN)
		return "malformed";
	if (a->meaning == INTENT_NOTHING || (a->meaning == INTENT_REPLY && !for_us) ||
	    (is_afterwards(a) && !t->seq))
		return "ignored";
	return "understood";
}

/* The seq of its row, -1. */
static int64_t insert(struct store *st, struct slack_frame *f, const struct slack_intent *a,
                      const char *reading, struct err *e)
{
	OWNED(str) struct str payload = { 0 };

	if (f->payload && strcmp(reading, "ignored") != 0) { /* others' messages are not kept */
		cJSON *own = cJSON_GetObjectItemCaseSensitive(f->root, "payload");

		slack_payload_strip(own);
		json_canonical(&payload, own);
	}
	const struct slack_envelope_insert_args args = {
		.envelope_id = f->envelope_id,
		.type = f->type,
		.kind = a->kind,
		.team_id = a->team,
		.user_id = a->user,
		.channel_id = a->channel,
		.event_key = a->event_key,
		.message_key = a->message_key,
		.client_key = a->client_key,
		.action = a->action,
		.reading = reading,
		.problem = a->problem,
		.payload = payload.bytes,
	};
	return sql_slack_envelope_insert(st, &args, e);
}

static int read_outcome(struct store *st, int64_t seq, struct slack_envelope_outcome_row *row,
                        struct err *e)
{
	if (sql_slack_envelope_outcome(st, seq, row, e) < 0)
		return -1;
	return row->outcome
	           ? 0
	           : err_set(e, ERR_BUG, "db: envelope %lld has no outcome", (long long)seq);
}

int slack_envelope_store(struct store *st, struct slack_frame *f, const struct slack_intent *a,
                         const struct proof_key *key, struct slack_stored *out, struct err *e)
{
	OWNED(slack_thread_row) struct slack_thread_row thread = { 0 };
	OWNED(slack_envelope_outcome_row) struct slack_envelope_outcome_row row = { 0 };
	bool is_reply = a->meaning == INTENT_REPLY;
	int64_t seq;
	int for_us;

	if ((is_reply || is_afterwards(a)) &&
	    sql_slack_thread(st, a->channel, a->thread_ts, &thread, e) < 0)
		return -1;
	for_us = is_reply ? is_for_us(st, a, &thread, e) : 0;
	if (for_us < 0)
		return -1;
	seq = insert(st, f, a, reading_of(a, &thread, for_us), e);
	if (seq < 0 || read_outcome(st, seq, &row, e))
		return -1;
	out->outcome = row.outcome;
	str_add(&out->why, row.why ? row.why : "");
	str_add(&out->reply, row.first_reply ? row.first_reply : "");
	if (row.outcome != SLACK_ENVELOPE_OUTCOME_ACCEPTED)
		return 0;
	if (slack_order_run(st, a, &thread, row.operator_id, key, &out->reply, e))
		return -1;
	if (!f->accepts_payload)
		str_reset(&out->reply);
	return out->reply.length ? sql_slack_envelope_answer(st, out->reply.bytes, seq, e) : 0;
}
