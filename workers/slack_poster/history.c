/* What agents read of a channel: a call alongside the posts. If this poster dies, the next one
 * repeats the read; it changes nothing in Slack. */
#include "json.h"
#include "poster.h"

#include "payload.h"
#include "sql/slack_history.h"
#include "text.h"

#include <string.h>

enum {
	READ_MS = 8000, /* for the answer: the caller waits for 10 s */
	TEXT_UNITS = 4000, /* per message, the limit that Slack asks apps to observe when posting */
};

/* ---- Slack's messages, as the resource shows them ---- */

static cJSON *shown(const cJSON *message)
{
	const char *ts = json_text(message, "ts"), *user = json_text(message, "user");
	const char *text = json_text(message, "text"), *thread = json_text(message, "thread_ts");
	OWNED(str) struct str plain = { 0 };
	OWNED(str) struct str cut = { 0 };
	cJSON *out = cJSON_CreateObject();

	slack_text_plain(&plain, text ? text : "", NULL);
	(void)slack_add(&cut, str_text(&plain), plain.length, TEXT_UNITS, SLACK_RAW);
	(void)cJSON_AddStringToObject(out, "ts", ts ? ts : "");
	(void)cJSON_AddStringToObject(out, "user", user ? user : "unknown");
	(void)cJSON_AddStringToObject(out, "text", str_text(&cut));
	if (thread && (!ts || strcmp(thread, ts) != 0)) /* the head of a thread names itself */
		(void)cJSON_AddStringToObject(out, "thread_ts", thread);
	return out;
}

static char *resource(const cJSON *answer)
{
	cJSON *out = cJSON_CreateObject();
	cJSON *messages = cJSON_AddArrayToObject(out, "messages");
	const cJSON *m;
	char *text;

	cJSON_ArrayForEach (m, cJSON_GetObjectItemCaseSensitive(answer, "messages"))
		(void)cJSON_AddItemToArray(messages, shown(m));
	(void)cJSON_AddBoolToObject(out, "has_more", cJSON_IsTrue(json_get(answer, "has_more")));
	text = cJSON_PrintUnformatted(out);
	cJSON_Delete(out);
	return text;
}

/* ---- answering ---- */

static int close_gate(struct poster *p, int64_t ms, struct err *e)
{
	struct instant until = clock_instant(clock_now_ms() + ms);

	return sql_slack_gate_gap(&p->w.store, until.text, "conversations.history", e);
}

/* shut_ms: how long nothing may be read from now on. */
static int answer(struct poster *p, int64_t read, const char *messages, const char *error,
                  int64_t shut_ms, struct err *e)
{
	if (store_begin(&p->w.store, e))
		return -1;
	return store_end(&p->w.store,
	                 sql_slack_history_insert(&p->w.store, messages, error, read, e) < 0 ||
	                     (shut_ms && close_gate(p, shut_ms, e)),
	                 e);
}

static int finish(struct poster *p, struct err *e)
{
	struct slack_call *c = &p->reading.call;
	OWNED(char_ptr) char *messages = c->class == SLACK_OK ? resource(c->json) : NULL;

	p->reading.busy = false;
	poster_heed(p, c);
	return answer(p, p->reading.seq, messages, messages ? NULL : c->why,
	              c->class == SLACK_RATE ? c->retry_ms : 0, e);
}

int poster_turn_reading(struct poster *p, struct err *e)
{
	OWNED(slack_read_next_row) struct slack_read_next_row next = { 0 };
	OWNED(str) struct str form = { 0 };
	int got;

	if (p->reading.busy && !p->reading.call.done)
		return 0;
	if (p->reading.busy && finish(p, e))
		return -1;
	got = p->w.stopping ? 0 : sql_slack_read_next(&p->w.store, &next, e);
	if (got <= 0)
		return got;
	if (next.closed)
		return answer(p, next.seq, NULL,
		              "too many calls: Slack wants a pause; read again in a minute", 0, e)
		           ? -1
		           : 1;
	p->reading.seq = next.seq;
	slack_form_add(&form, "channel", next.channel_id);
	slack_form_add_int(&form, "limit", next.most);
	slack_call_start(&p->web, &p->reading.call, "conversations.history", &form, READ_MS);
	p->reading.busy = true;
	return 1;
}
