/* What is said once, and searched for before it is repeated: messages and files. */
#include "json.h"
#include "poster.h"

#include "log.h"

#include <string.h>

enum { PAGES_MAX = 10, PAGE = 200, CLOCK_OFF_MS = 5000, OVERLAP_MS = 60000 };

static const char EVENT_TYPE[] = "intercom_message";

static bool is(const char *text, const char *other)
{
	return text && strcmp(text, other) == 0;
}

/* ---- messages ---- */

static cJSON *marker(const struct slack_intent_row *i)
{
	cJSON *metadata = cJSON_CreateObject(), *payload;

	(void)cJSON_AddStringToObject(metadata, "event_type", EVENT_TYPE);
	payload = cJSON_AddObjectToObject(metadata, "event_payload");
	(void)cJSON_AddStringToObject(payload, "id", i->marker);
	(void)cJSON_AddStringToObject(payload, "part", slack_part_kind_name(i->part));
	(void)cJSON_AddNumberToObject(payload, "gen", (double)i->generation);
	return metadata;
}

/* An answer without the message's ts may be anybody's: the message is in doubt. */
static int post_message(struct poster *p, struct slack_intent_row *i, struct slack_call *c,
                        struct err *e)
{
	OWNED(slack_said) struct slack_said said = { 0 };
	OWNED(str) struct str form = { 0 };
	struct err why = { 0 };
	bool calls = i->part == SLACK_PART_KIND_ASK || i->part == SLACK_PART_KIND_STALL ||
	             i->part == SLACK_PART_KIND_ESCALATED;

	if (poster_render(p, i, &said, &why))
		return poster_unsayable(p, i, &why, e);
	slack_form_add(&form, "channel", i->channel_id);
	poster_add_said(&form, i, &said);
	slack_form_add(&form, "thread_ts", i->thread);
	if (i->thread && calls)
		slack_form_add(&form, "reply_broadcast", "true");
	slack_form_add_json(&form, "metadata", marker(i));
	slack_form_add(&form, "unfurl_links", "false");
	slack_form_add(&form, "unfurl_media", "false");
	if (poster_call(p, c, "chat.postMessage", &form, e))
		return -1;
	if (c->class == SLACK_OK && !*json_some_text(c->json, "ts")) {
		c->class = SLACK_UNKNOWN;
		(void)snprintf(c->why, sizeof(c->why), "the answer does not say which message");
	}
	return 1;
}

/* ---- files ---- */

/* Returns 1 to continue, 0 if the answer in c says why not, -1 on error. */
static int get_address(struct poster *p, struct slack_call *c, const struct str *bytes,
                       const struct str *name, const char *type, struct err *e)
{
	OWNED(str) struct str form = { 0 };

	slack_form_add(&form, "filename", str_text(name));
	slack_form_add_int(&form, "length", (int64_t)bytes->length);
	slack_form_add(&form, "snippet_type", type);
	if (poster_call(p, c, "files.getUploadURLExternal", &form, e))
		return -1;
	return c->class == SLACK_OK;
}

static int share(struct poster *p, struct slack_intent_row *i, struct slack_call *c,
                 const struct str *name, struct err *e)
{
	OWNED(str) struct str form = { 0 };
	cJSON *files = cJSON_CreateArray(), *file = cJSON_CreateObject();

	(void)cJSON_AddStringToObject(file, "id", i->file_id);
	(void)cJSON_AddStringToObject(file, "title", str_text(name));
	(void)cJSON_AddItemToArray(files, file);
	slack_form_add_json(&form, "files", files);
	slack_form_add(&form, "channel_id", i->channel_id);
	slack_form_add(&form, "thread_ts", i->thread);
	return poster_call(p, c, "files.completeUploadExternal", &form, e) ? -1 : 1;
}

/* Returns 1 if c has the outcome, 0 if the post is settled, -1 on error. */
static int post_file(struct poster *p, struct slack_intent_row *i, struct slack_call *c,
                     struct err *e)
{
	OWNED(str) struct str bytes = { 0 };
	OWNED(str) struct str name = { 0 };
	OWNED(char_ptr) char *url = NULL;
	struct err why = { 0 };
	const char *type;
	int got = poster_file(p, i, &bytes, &name, &type, &why);

	i->file_id = NULL; /* nothing is shared yet: after a failure start over */
	if (got < 0)
		return poster_unsayable(p, i, &why, e);
	if (got == 0)
		return slack_settle_needless(&p->w.store, i, e) ? -1 : 0;
	got = get_address(p, c, &bytes, &name, type, e);
	if (got <= 0)
		return got < 0 ? -1 : 1;
	url = xstrdup(json_some_text(c->json, "upload_url"));
	(void)snprintf(p->upload, sizeof(p->upload), "%s", json_some_text(c->json, "file_id"));
	if (poster_call_at(p, c, url, str_text(&bytes), bytes.length, e))
		return -1;
	if (c->class != SLACK_OK)
		return 1;
	if (slack_settle_upload(&p->w.store, i, p->upload, e))
		return -1;
	i->file_id = p->upload;
	return share(p, i, c, &name, e);
}

/* ---- one post ---- */

static int join(struct poster *p, const char *channel, struct err *e)
{
	OWNED(slack_call) struct slack_call c = { 0 };

	if (poster_call_of(p, &c, "conversations.join", channel, e))
		return -1;
	return c.class == SLACK_OK;
}

static int send_one(struct poster *p, struct slack_intent_row *i, struct slack_call *c,
                    struct err *e)
{
	return i->kind == SLACK_KIND_FILE ? post_file(p, i, c, e) : post_message(p, i, c, e);
}

int poster_post(struct poster *p, struct slack_intent_row *i, struct err *e)
{
	OWNED(slack_call) struct slack_call c = { 0 };
	int got = send_one(p, i, &c, e);

	if (got > 0 && is(c.error, "not_in_channel")) {
		got = join(p, i->channel_id, e);
		got = got > 0 ? send_one(p, i, &c, e) : (got < 0 ? -1 : 1);
	}
	if (got <= 0)
		return got;
	if (c.class == SLACK_OK)
		return slack_settle_sent(
		    &p->w.store, i,
		    i->kind == SLACK_KIND_FILE ? NULL : json_some_text(c.json, "ts"), e);
	log_warn("%s %lld (attempt %lld): %s", slack_part_kind_name(i->part),
	         (long long)i->message_seq, (long long)i->attempts, c.why);
	return slack_settle_failed(&p->w.store, i, &c, e);
}

/* ---- searching for a post in doubt ---- */

struct found {
	char ts[40], other[40]; /* "" none; of two the older is ts */
};

static bool is_ours(const struct poster *p, const cJSON *message)
{
	return !*p->bot_id || is(json_some_text(message, "bot_id"), p->bot_id) ||
	       is(json_some_text(message, "user"), p->user_id);
}

static bool is_it(const struct slack_intent_row *i, const cJSON *message)
{
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(message, "metadata");
	const cJSON *payload = cJSON_GetObjectItemCaseSensitive(metadata, "event_payload");
	const cJSON *file;

	if (i->kind != SLACK_KIND_FILE)
		return is(json_some_text(payload, "id"), i->marker) &&
		       slack_part_kind_of(json_some_text(payload, "part")) == i->part;
	cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(message, "files"))
		if (i->file_id && is(json_some_text(file, "id"), i->file_id))
			return true;
	return false;
}

static void take(struct found *f, const char *ts)
{
	if (is(f->ts, ts) || is(f->other, ts))
		return;
	if (!*f->ts || strcmp(ts, f->ts) < 0) {
		memcpy(f->other, f->ts, sizeof(f->other));
		(void)snprintf(f->ts, sizeof(f->ts), "%s", ts);
	} else {
		(void)snprintf(f->other, sizeof(f->other), "%s", ts);
	}
}

/* Search from a minute before the attempt, by Slack's clock where ours is off. */
static void oldest(const struct poster *p, const struct slack_intent_row *i, char out[40])
{
	int64_t ms = clock_parse(i->started_at ? i->started_at : "");

	if (ms < 0)
		ms = clock_now_ms();
	if (p->web.skew_ms > CLOCK_OFF_MS || p->web.skew_ms < -CLOCK_OFF_MS)
		ms += p->web.skew_ms;
	ms -= OVERLAP_MS;
	(void)snprintf(out, 40, "%lld.000000", (long long)(ms > 0 ? ms / 1000 : 0));
}

static int read_page(struct poster *p, const struct slack_intent_row *i, const char *cursor,
                     struct slack_call *c, struct err *e)
{
	OWNED(str) struct str form = { 0 };
	char from[40];

	oldest(p, i, from);
	slack_form_add(&form, "channel", i->channel_id);
	slack_form_add(&form, "ts", i->thread);
	slack_form_add(&form, "oldest", from);
	slack_form_add(&form, "inclusive", "true");
	slack_form_add_int(&form, "limit", PAGE);
	slack_form_add(&form, "include_all_metadata", "true");
	slack_form_add(&form, "cursor", cursor && *cursor ? cursor : NULL);
	return poster_call(p, c, i->thread ? "conversations.replies" : "conversations.history",
	                   &form, e);
}

/* Adds to ours what we have said there. Returns 1 if it has looked everywhere, 0 if c says why not,
 * -1 on error. */
static int look(struct poster *p, const struct slack_intent_row *i, cJSON *ours,
                struct slack_call *c, struct err *e)
{
	OWNED(str) struct str cursor = { 0 };

	for (int page = 0; page < PAGES_MAX; page++) {
		const cJSON *next;
		cJSON *all, *message;

		if (read_page(p, i, str_text(&cursor), c, e))
			return -1;
		if (c->class != SLACK_OK)
			return 0;
		all = cJSON_GetObjectItemCaseSensitive(c->json, "messages");
		while ((message = cJSON_DetachItemFromArray(all, 0)) != NULL)
			if (is_ours(p, message))
				(void)cJSON_AddItemToArray(ours, message);
			else
				cJSON_Delete(message);
		next = cJSON_GetObjectItemCaseSensitive(c->json, "response_metadata");
		if (!*json_some_text(next, "next_cursor"))
			break;
		str_reset(&cursor);
		str_add(&cursor, json_some_text(next, "next_cursor"));
	}
	return 1;
}

/* Posted twice: deletes the later one. A failure changes nothing. */
static int drop(struct poster *p, const struct slack_intent_row *i, const char *ts, struct err *e)
{
	OWNED(slack_call) struct slack_call c = { 0 };
	OWNED(str) struct str form = { 0 };

	slack_form_add(&form, "channel", i->channel_id);
	slack_form_add(&form, "ts", ts);
	return poster_call(p, &c, "chat.delete", &form, e);
}

static int settle(struct poster *p, const struct slack_intent_row *i, const cJSON *ours,
                  struct err *e)
{
	struct found f = { .ts = "" };
	const cJSON *message;

	cJSON_ArrayForEach (message, ours)
		if (is_it(i, message))
			take(&f, json_some_text(message, "ts"));
	if (*f.other && i->kind != SLACK_KIND_FILE && drop(p, i, f.other, e))
		return -1;
	return *f.ts ? slack_settle_sent(&p->w.store, i, f.ts, e)
	             : slack_settle_missing(&p->w.store, i, e);
}

/* After a restore all that waited is in doubt: a thread is read once for all of it. */
static int settle_beside(struct poster *p, const struct slack_intent_row *i, const cJSON *ours,
                         struct err *e)
{
	struct store *st = &p->w.store;
	int64_t seq = 0;

	while ((seq = sql_slack_outbox_doubtful_beside(st, i->lane_seq, seq, i->started_at, e)) >
	       0) {
		OWNED(slack_intent_row) struct slack_intent_row beside = { 0 };

		if (sql_slack_intent_read(st, seq, &beside, e) < 0)
			return -1;
		if (settle(p, &beside, ours, e))
			poster_refused(p, &beside, e);
		if (e->kind != ERR_NONE)
			return -1;
	}
	return err_if(seq < 0);
}

int poster_look_for(struct poster *p, struct slack_intent_row *i, struct err *e)
{
	OWNED(slack_call) struct slack_call c = { 0 };
	OWNED(cJSON_ptr) cJSON *ours = cJSON_CreateArray();
	int got = look(p, i, ours, &c, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return slack_settle_blind(&p->w.store, i, &c, e);
	return err_if(settle(p, i, ours, e) || settle_beside(p, i, ours, e));
}
