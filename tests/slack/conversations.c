/* conversations: channels and their messages. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

enum { HISTORY_LIMIT = 100, HISTORY_MOST = 999, REPLIES_LIMIT = 1000, REPLIES_MOST = 1000 };

static const char *scope_of(const cJSON *channel, const char *what)
{
	return text_of("%s:%s",
	               json_true(channel, "is_im")        ? "im"
	               : json_true(channel, "is_private") ? "groups"
	                                                  : "channels",
	               what);
}

/* ---- reading ---- */

static bool is_ts(const char *text)
{
	return text[0] && strspn(text, "0123456789.") == strlen(text);
}

/* A ts as a sortable number: seconds and six decimal digits. */
static int64_t instant(const char *ts)
{
	const char *point = strchr(ts, '.');
	char fraction[7] = "000000";

	for (int i = 0; point && i < 6 && point[1 + i]; i++)
		fraction[i] = point[1 + i];
	return strtoll(ts, NULL, 10) * 1000000 + strtoll(fraction, NULL, 10);
}

static bool within(const struct call *c, const cJSON *m)
{
	const char *oldest = call_text(c, "oldest"), *latest = call_text(c, "latest");
	int64_t inclusive = json_true(c->args, "inclusive"), at = instant(json_str(m, "ts"));

	return (!oldest[0] || at > instant(oldest) - inclusive) &&
	       (!latest[0] || at < instant(latest) + inclusive);
}

static bool limits_fit(struct call *c, int64_t most)
{
	int64_t limit = json_int(c->args, "limit", 1);
	const char *cursor = call_text(c, "cursor");

	if (call_text(c, "oldest")[0] && !is_ts(call_text(c, "oldest")))
		return call_fail(c, "invalid_ts_oldest");
	if (call_text(c, "latest")[0] && !is_ts(call_text(c, "latest")))
		return call_fail(c, "invalid_ts_latest");
	if (limit < 1 || limit > most)
		return call_fail(c, "invalid_limit");
	if (cursor[0] && (strncmp(cursor, "next:", 5) != 0 || !is_ts(cursor + 5)))
		return call_fail(c, "invalid_cursor");
	return true;
}

/* The channel named by an argument, if it may be read; else sets the error and returns NULL. */
static cJSON *readable(struct call *c)
{
	cJSON *channel = call_channel(c, "channel");

	if (!channel || !call_scope(c, scope_of(channel, "history")))
		return NULL;
	if (!json_true(channel, "is_member")) {
		(void)call_fail(c, "not_in_channel");
		return NULL;
	}
	return channel;
}

/* Answers with at most limit of found, from the cursor on, and a cursor to the rest. Newest first:
 * the cursor names the newest of the rest. */
static void page(struct call *c, const cJSON *found, int64_t limit, bool newest_first)
{
	const char *cursor = call_text(c, "cursor");
	int64_t from = cursor[0] ? instant(cursor + 5) : 0;
	bool metadata = json_true(c->args, "include_all_metadata");
	cJSON *list = cJSON_CreateArray(), *next = cJSON_CreateObject();
	const char *rest = NULL;
	const cJSON *m;

	cJSON_ArrayForEach (m, found) {
		int64_t at = instant(json_str(m, "ts"));

		if (from && (newest_first ? at > from : at < from))
			continue;
		if (cJSON_GetArraySize(list) == limit) {
			rest = text_of("next:%s", json_str(m, "ts"));
			break;
		}
		(void)cJSON_AddItemToArray(list, world_shown(m, metadata));
	}
	json_set(call_ok(c), "messages", list);
	json_set_bool(c->answer, "has_more", rest != NULL);
	json_set_text(next, "next_cursor", rest ? rest : "");
	json_set(c->answer, "response_metadata", next);
}

static bool is_seen(const struct call *c, const cJSON *m)
{
	return json_is(m, "channel", call_text(c, "channel")) && !json_true(m, "deleted") &&
	       !json_text(m, "ephemeral_for");
}

void conversations_history(struct call *c)
{
	OWNED(cJSON_ptr) cJSON *found = cJSON_CreateArray();
	const cJSON *m;

	if (!readable(c) || !limits_fit(c, HISTORY_MOST))
		return;
	cJSON_ArrayForEach (m, world_messages()) {
		bool top = !json_text(m, "thread_ts") ||
		           json_is(m, "thread_ts", json_str(m, "ts")) ||
		           json_is(m, "subtype", "thread_broadcast");

		if (top && is_seen(c, m) && within(c, m))
			(void)cJSON_InsertItemInArray(found, 0, cJSON_Duplicate(m, true));
	}
	page(c, found, json_int(c->args, "limit", HISTORY_LIMIT), true);
}

void conversations_replies(struct call *c)
{
	OWNED(cJSON_ptr) cJSON *found = cJSON_CreateArray();
	const char *ts;
	const cJSON *m;

	if (!readable(c) || !limits_fit(c, REPLIES_MOST) || !(ts = call_need(c, "ts")))
		return;
	if (!world_message(call_text(c, "channel"), ts)) {
		(void)call_fail(c, "thread_not_found");
		return;
	}
	cJSON_ArrayForEach (m, world_messages()) {
		if (is_seen(c, m) &&
		    (json_is(m, "ts", ts) || (json_is(m, "thread_ts", ts) && within(c, m))))
			(void)cJSON_AddItemToArray(found, cJSON_Duplicate(m, true));
	}
	page(c, found, json_int(c->args, "limit", REPLIES_LIMIT), false);
}

/* ---- channels ---- */

static cJSON *shown(const cJSON *channel)
{
	static const char *const FLAGS[] = { "is_member", "is_archived", "is_private", "is_im" };
	cJSON *c = cJSON_CreateObject();

	json_set_text(c, "id", channel->string);
	json_set_text(c, "name", json_str(channel, "name"));
	json_set_bool(c, "is_channel", !json_true(channel, "is_im"));
	for (size_t i = 0; i < COUNT(FLAGS); i++)
		json_set_bool(c, FLAGS[i], json_true(channel, FLAGS[i]));
	if (json_text(channel, "user"))
		json_set_text(c, "user", json_str(channel, "user"));
	return c;
}

void conversations_info(struct call *c)
{
	const cJSON *channel = call_channel(c, "channel");

	if (!channel || !call_scope(c, scope_of(channel, "read")))
		return;
	json_set(call_ok(c), "channel", shown(channel));
	if (json_true(c->args, "include_num_members"))
		json_set_int(member_of(c->answer, "channel"), "num_members", 3);
}

void conversations_join(struct call *c)
{
	cJSON *channel = call_channel(c, "channel");

	if (!channel)
		return;
	if (json_true(channel, "is_private") || json_true(channel, "is_im")) {
		(void)call_fail(c, "method_not_supported_for_channel_type");
		return;
	}
	if (json_true(channel, "is_archived")) {
		(void)call_fail(c, "is_archived");
		return;
	}
	if (json_true(channel, "is_member"))
		call_warn(c, "already_in_channel");
	json_set_bool(channel, "is_member", true);
	json_set(call_ok(c), "channel", shown(channel));
}

void conversations_open(struct call *c)
{
	const char *users = call_need(c, "users");
	const cJSON *user = users ? world_user(users) : NULL;

	if (!users)
		return;
	if (!user)
		(void)call_fail(c, "user_not_found");
	else if (json_true(user, "deleted"))
		(void)call_fail(c, "user_disabled");
	else
		json_set(call_ok(c), "channel", shown(world_direct(users)));
}
