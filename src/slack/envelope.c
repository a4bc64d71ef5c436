#include "envelope.h"

#include "json.h"
#include "order.h"

#include <stdio.h>
#include <string.h>

void slack_stored_clear(struct slack_stored *s)
{
	str_clear(&s->why);
	str_clear(&s->reply);
	*s = (struct slack_stored)SLACK_STORED_INIT;
}

void slack_ack(struct str *out, const char *envelope_id, const char *payload)
{
	str_add(out, "{\"envelope_id\":");
	json_quote(out, envelope_id);
	if (payload && *payload && out->length + strlen(payload) + 16 < SLACK_ACK_BYTES)
		str_addf(out, ",\"payload\":%s", payload);
	str_add_char(out, '}');
}

/* understood, ignored or malformed. A reply in somebody else's thread is none of ours, unless it
 * names us. */
static const char *reading_of(const struct slack_act *a, const struct slack_thread *t)
{
	if (a->deed == DEED_UNKNOWN)
		return "malformed";
	if (a->deed == DEED_NOTHING || (a->deed == DEED_REPLY && !t->session_seq && !a->mentioned))
		return "ignored";
	return "understood";
}

static int insert(struct store *st, struct slack_frame *f, const struct slack_act *a,
                  const char *reading, struct err *e)
{
	OWNED(str) struct str payload = STR_INIT;
	stmt *s;

	if (f->payload && strcmp(reading, "ignored") != 0) { /* what others say is not kept */
		cJSON *own = cJSON_GetObjectItemCaseSensitive(f->root, "payload");

		slack_payload_strip(own);
		json_canonical(&payload, own);
	}
	s = store_stmt(st, SQL_SLACK_ENVELOPE_INSERT);
	bind_text(s, ":envelope_id", f->envelope_id);
	bind_text(s, ":type", f->type);
	bind_text(s, ":kind", a->kind);
	bind_text(s, ":team_id", a->team);
	bind_text(s, ":user_id", a->user);
	bind_text(s, ":channel_id", a->channel);
	bind_text(s, ":event_key", a->event_key);
	bind_text(s, ":message_key", a->message_key);
	bind_text(s, ":client_key", a->client_key);
	bind_text(s, ":action", a->action);
	bind_text(s, ":reading", reading);
	bind_text(s, ":problem", a->problem);
	bind_text(s, ":payload", payload.bytes);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* The outcome; who acted goes to operator_id. */
static int read_outcome(struct store *st, int64_t seq, struct slack_stored *out,
                        struct str *operator_id, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_ENVELOPE_OUTCOME);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0 && col_text(s, SLACK_ENVELOPE_OUTCOME_OUTCOME)) {
		const char *why = col_text(s, SLACK_ENVELOPE_OUTCOME_WHY);
		const char *who = col_text(s, SLACK_ENVELOPE_OUTCOME_OPERATOR_ID);
		const char *before = col_text(s, SLACK_ENVELOPE_OUTCOME_FIRST_REPLY);

		(void)snprintf(out->outcome, sizeof(out->outcome), "%s",
		               col_text(s, SLACK_ENVELOPE_OUTCOME_OUTCOME));
		str_add(&out->why, why ? why : "");
		str_add(operator_id, who ? who : "");
		str_add(&out->reply, before ? before : "");
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	return *out->outcome
	           ? 0
	           : err_set(e, ERR_BUG, "db: envelope %lld has no outcome", (long long)seq);
}

static int write_reply(struct store *st, int64_t seq, const struct str *reply, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_ENVELOPE_ANSWER);

	bind_int(s, ":seq", seq);
	bind_text(s, ":reply", reply->bytes);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int slack_envelope_store(struct store *st, struct slack_frame *f, const struct slack_act *a,
                         const struct proof_key *key, struct slack_stored *out, struct err *e)
{
	OWNED(str) struct str operator_id = STR_INIT;
	struct slack_thread thread = { .session_seq = 0 };
	int64_t seq;

	if (a->deed == DEED_REPLY && slack_thread_find(st, a, &thread, e))
		return -1;
	if (insert(st, f, a, reading_of(a, &thread), e))
		return -1;
	seq = store_last_seq(st);
	if (read_outcome(st, seq, out, &operator_id, e))
		return -1;
	if (strcmp(out->outcome, "accepted") != 0)
		return 0;
	if (slack_order_run(st, a, &thread, str_text(&operator_id), key, &out->reply, e))
		return -1;
	if (!f->accepts_payload)
		str_reset(&out->reply);
	return out->reply.length ? write_reply(st, seq, &out->reply, e) : 0;
}
