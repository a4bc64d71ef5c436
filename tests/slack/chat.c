/* chat: messages posted, changed and deleted, through the Web API and a response_url. */
#include "fake.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	TEXT_MOST = 40000, /* longer texts are cut, with a warning */
	UPDATE_MOST = 4000,
	MARKDOWN_MOST = 12000,
	BLOCKS_TEXT_MOST = 13200,
	RICH_TEXT_MOST = 11300,
	METADATA_BYTES = 1024, /* Slack gives no number; our own posts keep to this one */
	URL_MS = 30 * 60 * 1000,
	URL_POSTS = 5,
};

/* ---- the contents of a message ---- */

static bool metadata_fits(struct call *c, const cJSON *metadata)
{
	const char *type = json_str(metadata, "event_type");
	const cJSON *payload = member_of(metadata, "event_payload"), *item;
	OWNED(char_ptr) char *text = cJSON_PrintUnformatted(payload);

	if (!cJSON_IsObject(metadata) || !cJSON_IsObject(payload) || !type[0])
		return call_fail(c, "invalid_metadata_format");
	for (; *type; type++)
		if (!isalnum((unsigned char)*type) && *type != '_')
			return call_fail(c, "invalid_metadata_format");
	cJSON_ArrayForEach (item, payload) {
		if (!cJSON_IsString(item) && !cJSON_IsNumber(item) && !cJSON_IsBool(item))
			return call_fail(c, "invalid_metadata_schema");
	}
	return strlen(text) > METADATA_BYTES ? call_fail(c, "metadata_too_large") : true;
}

static bool blocks_fit(struct call *c, const cJSON *blocks)
{
	OWNED(str) struct str place = { 0 };
	bool rich = false;
	size_t length;

	if (!cJSON_IsArray(blocks))
		return call_fail(c, "invalid_blocks_format");
	if (blocks_check(blocks, MESSAGE, "/blocks", &place) != 0)
		return call_fail_at(c, "invalid_blocks", &place);
	length = blocks_characters(blocks, &rich);
	return length > (rich ? RICH_TEXT_MOST : BLOCKS_TEXT_MOST)
	           ? call_fail(c, "msg_blocks_too_long")
	           : true;
}

static bool markdown_fits(struct call *c)
{
	if (call_text(c, "text")[0] || member_of(c->args, "blocks"))
		return call_fail(c, "markdown_text_conflict");
	return characters(call_text(c, "markdown_text")) > MARKDOWN_MOST
	           ? call_fail(c, "msg_too_long")
	           : true;
}

bool chat_content(struct call *c)
{
	const cJSON *blocks = member_of(c->args, "blocks");
	const cJSON *metadata = member_of(c->args, "metadata");

	if (call_text(c, "markdown_text")[0])
		return markdown_fits(c);
	if (blocks && !blocks_fit(c, blocks))
		return false;
	if (!call_text(c, "text")[0] && cJSON_GetArraySize(blocks) == 0 &&
	    cJSON_GetArraySize(member_of(c->args, "attachments")) == 0)
		return call_fail(c, "no_text");
	return !metadata || (cJSON_IsObject(metadata) && !metadata->child) ||
	       metadata_fits(c, metadata);
}

/* Cuts the text to the length that Slack keeps. */
static void cut_text(struct call *c)
{
	OWNED(char_ptr) char *text = xstrdup(call_text(c, "text"));
	size_t count = 0;

	for (char *at = text; *at; at++) {
		if (((unsigned char)*at & 0xC0) == 0x80)
			continue;
		if (++count > TEXT_MOST) {
			*at = '\0';
			call_warn(c, "message_truncated");
			json_set_text(c->args, "text", text);
			return;
		}
	}
}

static void fill(cJSON *m, const cJSON *args)
{
	static const char *const KEPT[] = { "blocks", "metadata", "client_msg_id",
		                            "reply_broadcast" };

	for (size_t i = 0; i < COUNT(KEPT); i++) {
		const cJSON *item = member_of(args, KEPT[i]);

		if (item)
			json_set(m, KEPT[i], cJSON_Duplicate(item, true));
	}
	if (json_true(args, "reply_broadcast"))
		json_set_text(m, "subtype", "thread_broadcast");
}

/* Gives a block_id to each block without one, as Slack does. */
static void name_blocks(cJSON *m)
{
	cJSON *block;

	cJSON_ArrayForEach (block, member_of(m, "blocks")) {
		if (!json_text(block, "block_id"))
			json_set_text(block, "block_id", world_id("b"));
	}
}

static void echo(cJSON *event)
{
	static const struct how ONCE = { .copies = 1 };

	if (setting_true("message_events"))
		(void)envelope_send(event_envelope(event), &ONCE);
	else
		cJSON_Delete(event);
}

static cJSON *event_of(const cJSON *m)
{
	cJSON *event = world_shown(m, true);

	json_set_text(event, "channel", json_str(m, "channel"));
	json_set_text(event, "channel_type", "channel");
	json_set_text(event, "event_ts", json_str(m, "ts"));
	return event;
}

/* ---- posting ---- */

/* Resolves a person's id to their direct messages, and checks that the bot may post there. */
static cJSON *place(struct call *c)
{
	cJSON *channel;

	if (world_user(call_text(c, "channel")))
		json_set_text(c->args, "channel", world_direct(call_text(c, "channel"))->string);
	channel = call_channel(c, "channel");
	if (!channel)
		return NULL;
	if (json_true(channel, "is_archived"))
		(void)call_fail(c, "is_archived");
	else if (!json_true(channel, "is_member") && !call_has_scope("chat:write.public"))
		(void)call_fail(c, "not_in_channel");
	return call_failed(c) ? NULL : channel;
}

/* Strict: the first message of a thread must exist, and must not be a reply itself. */
static bool thread_fits(struct call *c)
{
	const char *ts = call_text(c, "thread_ts");
	const cJSON *parent = ts[0] ? world_message(call_text(c, "channel"), ts) : NULL;

	if (!ts[0])
		return true;
	if (!parent || (json_text(parent, "thread_ts") && !json_is(parent, "thread_ts", ts)))
		return call_fail(c, "cannot_reply_to_message");
	return true;
}

static bool posted_before(struct call *c)
{
	const char *id = call_text(c, "client_msg_id");
	const cJSON *m;

	if (!id[0] || !setting_is("client_msg_id", "dedupe"))
		return false;
	cJSON_ArrayForEach (m, world_messages()) {
		if (!json_is(m, "client_msg_id", id) ||
		    !json_is(m, "channel", call_text(c, "channel")))
			continue;
		json_set_text(call_ok(c), "channel", json_str(m, "channel"));
		json_set_text(c->answer, "ts", json_str(m, "ts"));
		json_set_bool(c->answer, "is_duplicate", true);
		return true;
	}
	return false;
}

void chat_postMessage(struct call *c)
{
	cJSON *m;

	if (!place(c) || !chat_content(c) || !thread_fits(c) || posted_before(c) ||
	    rate_of_channel(c, call_text(c, "channel")))
		return;
	cut_text(c);
	m = world_post(call_text(c, "channel"), NULL,
	               call_text(c, call_text(c, "markdown_text")[0] ? "markdown_text" : "text"),
	               json_text(c->args, "thread_ts"));
	fill(m, c->args);
	name_blocks(m);
	json_set_text(call_ok(c), "channel", json_str(m, "channel"));
	json_set_text(c->answer, "ts", json_str(m, "ts"));
	json_set(c->answer, "message", world_shown(m, true));
	echo(event_of(m));
}

void chat_postEphemeral(struct call *c)
{
	const char *user = call_need(c, "user");
	cJSON *m;

	if (!user || !place(c) || !chat_content(c))
		return;
	if (!world_user(user)) {
		(void)call_fail(c, "user_not_in_channel");
		return;
	}
	m = world_post(call_text(c, "channel"), NULL, call_text(c, "text"),
	               json_text(c->args, "thread_ts"));
	fill(m, c->args);
	cJSON_DeleteItemFromObject(m, "metadata");
	json_set_text(m, "ephemeral_for", user);
	json_set_text(call_ok(c), "message_ts", json_str(m, "ts"));
}

/* ---- changing ---- */

static cJSON *own_message(struct call *c, const char *not_ours)
{
	const char *ts = call_need(c, "ts");
	cJSON *m;

	if (!ts || !call_channel(c, "channel"))
		return NULL;
	m = world_message(call_text(c, "channel"), ts);
	if (!m)
		(void)call_fail(c, "message_not_found");
	else if (!json_is(m, "bot_id", BOT))
		(void)call_fail(c, not_ours);
	return call_failed(c) ? NULL : m;
}

static bool holds_rich_text(const cJSON *blocks)
{
	const cJSON *block;

	cJSON_ArrayForEach (block, blocks) {
		if (json_is(block, "type", "rich_text"))
			return true;
	}
	return false;
}

/* Text alone removes the blocks, blocks alone keep the text, omitted metadata stays. */
static void change(cJSON *m, const cJSON *args)
{
	const cJSON *blocks = member_of(args, "blocks"), *metadata = member_of(args, "metadata");

	if (json_text(args, "text"))
		json_set_text(m, "text", json_str(args, "text"));
	if (blocks)
		json_set(m, "blocks", cJSON_Duplicate(blocks, true));
	else
		cJSON_DeleteItemFromObject(m, "blocks");
	if (metadata)
		json_set(m, "metadata", cJSON_Duplicate(metadata, true));
	if (metadata && cJSON_GetArraySize(metadata) == 0)
		cJSON_DeleteItemFromObject(m, "metadata");
	if (json_true(args, "reply_broadcast"))
		json_set_bool(m, "reply_broadcast", true);
	name_blocks(m);
	json_set_bool(m, "edited", true);
}

void chat_update(struct call *c)
{
	cJSON *m = own_message(c, "cant_update_message"), *event;

	if (!m || !chat_content(c))
		return;
	if (characters(call_text(c, "text")) > UPDATE_MOST) {
		(void)call_fail(c, "msg_too_long");
		return;
	}
	if (holds_rich_text(member_of(m, "blocks")) &&
	    !holds_rich_text(member_of(c->args, "blocks"))) {
		(void)call_fail(c, "block_mismatch");
		return;
	}
	event = json_literal("{'type': 'message', 'subtype': 'message_changed', 'hidden': true}");
	json_set(event, "previous_message", world_shown(m, true));
	change(m, c->args);
	json_set_text(event, "channel", json_str(m, "channel"));
	json_set_text(event, "ts", world_ts());
	json_set(event, "message", world_shown(m, true));
	json_set_text(call_ok(c), "channel", json_str(m, "channel"));
	json_set_text(c->answer, "ts", json_str(m, "ts"));
	json_set_text(c->answer, "text", json_str(m, "text"));
	json_set(c->answer, "message", world_shown(m, true));
	echo(event);
}

void chat_delete(struct call *c)
{
	cJSON *m = own_message(c, "cant_delete_message");

	if (!m)
		return;
	json_set_bool(m, "deleted", true);
	json_set_text(call_ok(c), "channel", json_str(m, "channel"));
	json_set_text(c->answer, "ts", json_str(m, "ts"));
}

void chat_getPermalink(struct call *c)
{
	const char *ts = call_need(c, "message_ts");
	const char *point = ts ? strchr(ts, '.') : NULL;

	if (!ts || !call_channel(c, "channel"))
		return;
	if (!world_message(call_text(c, "channel"), ts) || !point) {
		(void)call_fail(c, "message_not_found");
		return;
	}
	json_set_text(call_ok(c), "channel", call_text(c, "channel"));
	json_set_text(c->answer, "permalink",
	              text_of("https://lab.slack.com/archives/%s/p%.*s%s", call_text(c, "channel"),
	                      (int)(point - ts), ts, point + 1));
}

/* ---- response_url ---- */

static cJSON *urls; /* by path */

const char *response_url_new(const char *kind, const char *user, const char *channel,
                             const char *ts)
{
	const char *path = text_of("/%s/%s/%s/hook", kind, TEAM, world_id("u"));
	cJSON *url = cJSON_CreateObject();

	if (!urls)
		urls = cJSON_CreateObject();
	json_set_int(url, "made_ms", fake_now_ms());
	json_set_int(url, "left", URL_POSTS);
	json_set_text(url, "user", user);
	json_set_text(url, "channel", channel);
	json_set_text(url, "ts", ts);
	json_set(urls, path, url);
	return text_of("%s%s", fake_origin(), path);
}

cJSON *chat_say(const cJSON *payload, const char *channel, const char *user)
{
	cJSON *m =
	    world_post(channel, NULL, json_str(payload, "text"), json_text(payload, "thread_ts"));

	fill(m, payload);
	cJSON_DeleteItemFromObject(m, "metadata");
	name_blocks(m);
	if (!json_is(payload, "response_type", "in_channel"))
		json_set_text(m, "ephemeral_for", user);
	return m;
}

/* Ephemeral messages count here: this is the only way to change them. */
static cJSON *original(const cJSON *url)
{
	cJSON *m;

	cJSON_ArrayForEach (m, world_messages()) {
		if (json_is(m, "channel", json_str(url, "channel")) &&
		    json_is(m, "ts", json_str(url, "ts")) && !json_true(m, "deleted"))
			return m;
	}
	return NULL;
}

static void respond(struct call *c, const cJSON *url)
{
	bool replace = json_true(c->args, "replace_original");
	bool delete = json_true(c->args, "delete_original");
	cJSON *m = replace || delete ? original(url) : NULL;

	if ((replace || delete) && !m) {
		(void)call_fail(c, "message_not_found");
	} else if (delete) {
		json_set_bool(m, "deleted", true);
	} else if (!chat_content(c)) {
		return;
	} else if (replace) {
		change(m, c->args);
	} else {
		(void)chat_say(c->args, json_str(url, "channel"), json_str(url, "user"));
	}
	if (!call_failed(c))
		c->plain = "ok";
}

void response_url_post(struct call *c, const char *path)
{
	cJSON *url = member_of(urls, path);
	int64_t left = json_int(url, "left", 0);

	if (!url) {
		(void)call_fail(c, "invalid_url");
		c->status = HTTP_NOTFOUND;
	} else if (left == 0) {
		(void)call_fail(c, "used_url");
		c->status = HTTP_NOTFOUND;
	} else if (json_int(url, "made_ms", 0) + URL_MS < fake_now_ms()) {
		(void)call_fail(c, "expired_url");
		c->status = HTTP_NOTFOUND;
	} else if (strcmp(c->body, "json") != 0 && !call_failed(c)) {
		(void)call_fail(c, "invalid_payload");
		c->status = HTTP_BADREQUEST;
	} else if (!call_failed(c)) {
		json_set_int(url, "left", left - 1);
		respond(c, url);
	}
}
