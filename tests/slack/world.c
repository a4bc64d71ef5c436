/* world: the people, channels and messages of the workspace. */
#include "fake.h"

#include <stdio.h>
#include <string.h>

static cJSON *users, *channels, *messages;

cJSON *world_users(void)
{
	return users;
}

cJSON *world_channels(void)
{
	return channels;
}

cJSON *world_messages(void)
{
	return messages;
}

cJSON *world_user(const char *id)
{
	return member_of(users, id);
}

cJSON *world_channel(const char *id)
{
	return member_of(channels, id);
}

void world_make(void)
{
	users = json_literal(
	    "{'U01OP': {'name': 'op', 'real_name': 'Olga Operator', 'team_id': 'T01TEAM'},"
	    " 'U02OP': {'name': 'op2', 'real_name': 'Otto Operator', 'team_id': 'T01TEAM'},"
	    " 'U03GUEST': {'name': 'guest', 'real_name': 'Gast', 'team_id': 'T99OTHER'},"
	    " 'U04GONE': {'name': 'gone', 'real_name': 'Gone', 'team_id': 'T01TEAM',"
	    "  'deleted': true},"
	    " 'U0BOT': {'name': 'intercom', 'real_name': 'intercom', 'team_id': 'T01TEAM',"
	    "  'is_bot': true}}");
	channels =
	    json_literal("{'C01AGENTS': {'name': 'agents', 'is_member': true},"
	                 " 'C02OTHER': {'name': 'other', 'is_member': false},"
	                 " 'C03OLD': {'name': 'old', 'is_member': true, 'is_archived': true},"
	                 " 'G01SECRET': {'name': 'secret', 'is_member': false, 'is_private': true},"
	                 " 'G02PRIV': {'name': 'priv', 'is_member': true, 'is_private': true},"
	                 " 'D01OP': {'name': 'directmessage', 'is_member': true, 'is_im': true,"
	                 "  'user': 'U01OP'}}");
	messages = cJSON_CreateArray();
}

cJSON *world_message(const char *channel, const char *ts)
{
	cJSON *m;

	cJSON_ArrayForEach (m, messages) {
		if (json_is(m, "channel", channel) && json_is(m, "ts", ts) &&
		    !json_true(m, "deleted") && !json_text(m, "ephemeral_for"))
			return m;
	}
	return NULL;
}

cJSON *world_direct(const char *user)
{
	cJSON *channel;
	const char *id;

	cJSON_ArrayForEach (channel, channels) {
		if (json_true(channel, "is_im") && json_is(channel, "user", user))
			return channel;
	}
	id = world_id("D");
	channel = json_literal("{'name': 'directmessage', 'is_member': true, 'is_im': true}");
	json_set_text(channel, "user", user);
	json_set(channels, id, channel);
	return channel;
}

/* Microseconds, as in Slack; six decimal digits, so that texts sort. */
const char *world_ts(void)
{
	static int64_t last_us;
	static char text[40];
	int64_t us = fake_now_ms() * 1000;

	last_us = us > last_us ? us : last_us + 1;
	(void)snprintf(text, sizeof(text), "%lld.%06d", (long long)(last_us / 1000000),
	               (int)(last_us % 1000000));
	return text;
}

const char *world_id(const char *prefix)
{
	static int number;

	return text_of("%sF%05d", prefix, ++number);
}

cJSON *world_post(const char *channel, const char *user, const char *text, const char *thread_ts)
{
	cJSON *m = json_literal("{'type': 'message'}");

	json_set_text(m, "channel", channel);
	json_set_text(m, "user", user ? user : BOT_USER);
	json_set_text(m, "ts", world_ts());
	json_set_text(m, "team", TEAM);
	json_set_text(m, "text", text);
	if (!user) {
		json_set_text(m, "bot_id", BOT);
		json_set_text(m, "app_id", APP);
	}
	if (thread_ts && thread_ts[0]) {
		cJSON *parent = world_message(channel, thread_ts);

		json_set_text(m, "thread_ts", thread_ts);
		if (parent) {
			json_set_text(parent, "thread_ts", thread_ts);
			json_set_int(parent, "reply_count", json_int(parent, "reply_count", 0) + 1);
			json_set_text(m, "parent_user_id", json_str(parent, "user"));
		}
	}
	(void)cJSON_AddItemToArray(messages, m);
	return m;
}

cJSON *world_shown(const cJSON *message, bool all_metadata)
{
	static const char *const OURS[] = { "channel", "deleted", "ephemeral_for", "client_msg_id",
		                            "reply_broadcast" };
	cJSON *shown = cJSON_Duplicate(message, true);
	const cJSON *metadata = member_of(message, "metadata");

	for (size_t i = 0; i < COUNT(OURS); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(shown, OURS[i]);
	if (metadata && !all_metadata) {
		cJSON *part = cJSON_CreateObject();

		json_set_text(part, "event_type", json_str(metadata, "event_type"));
		json_set(shown, "metadata", part);
	}
	return shown;
}
