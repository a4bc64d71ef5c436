/* web_api: the methods, and what every call is checked for: token, scope, body, rate. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TIER_MS = 60000, CHANNEL_MS = 1000 };
enum flags { FORM_ONLY = 1, APP_LEVEL = 2 };

struct method {
	const char *name;
	void (*run)(struct call *c);
	const char *scope; /* NULL: none, or the method checks it by kind of channel */
	int a_minute; /* calls; 0: hundreds */
	int flags;
};

/* ---- answers ---- */

cJSON *call_ok(struct call *c)
{
	if (!c->answer)
		c->answer = cJSON_CreateObject();
	if (!member_of(c->answer, "ok"))
		json_set_bool(c->answer, "ok", true);
	return c->answer;
}

bool call_failed(const struct call *c)
{
	return cJSON_IsFalse(member_of(c->answer, "ok"));
}

bool call_fail(struct call *c, const char *error)
{
	if (call_failed(c))
		return false;
	json_set_bool(call_ok(c), "ok", false);
	json_set_text(c->answer, "error", error);
	return false;
}

static cJSON *list_in(cJSON *object, const char *name)
{
	if (!member_of(object, name))
		json_set(object, name, cJSON_CreateArray());
	return member_of(object, name);
}

static cJSON *response_metadata(struct call *c)
{
	if (!c->answer)
		c->answer = cJSON_CreateObject();
	if (!member_of(c->answer, "response_metadata"))
		json_set(c->answer, "response_metadata", cJSON_CreateObject());
	return member_of(c->answer, "response_metadata");
}

bool call_fail_at(struct call *c, const char *error, const struct str *place)
{
	OWNED(str) struct str shown = { 0 };

	if (call_failed(c))
		return false;
	(void)call_fail(c, error);
	str_addf(&shown, "[ERROR] %s", str_text(place));
	(void)cJSON_AddItemToArray(list_in(c->answer, "errors"),
	                           cJSON_CreateString(str_text(place)));
	(void)cJSON_AddItemToArray(list_in(response_metadata(c), "messages"),
	                           cJSON_CreateString(str_text(&shown)));
	return false;
}

void call_warn(struct call *c, const char *warning)
{
	if (strcmp(c->name, "control") == 0 || strcmp(c->name, "upload") == 0 ||
	    strcmp(c->name, "response_url") == 0)
		return;
	(void)cJSON_AddItemToArray(list_in(response_metadata(c), "warnings"),
	                           cJSON_CreateString(warning));
	json_set_text(c->answer, "warning", warning);
}

/* ---- arguments ---- */

const char *call_text(const struct call *c, const char *name)
{
	return json_str(c->args, name);
}

const char *call_need(struct call *c, const char *name)
{
	OWNED(str) struct str place = { 0 };

	if (member_of(c->args, name) && (!json_text(c->args, name) || call_text(c, name)[0]))
		return call_text(c, name);
	str_addf(&place, "missing required field: %s", name);
	(void)call_fail_at(c, "invalid_arguments", &place);
	return NULL;
}

cJSON *call_channel(struct call *c, const char *name)
{
	const char *id = call_text(c, name);
	cJSON *channel = world_channel(id);

	if (!channel || ((json_true(channel, "is_private") || json_true(channel, "is_im")) &&
	                 !json_true(channel, "is_member"))) {
		(void)call_fail(c, "channel_not_found");
		return NULL;
	}
	return channel;
}

/* ---- scopes ---- */

bool call_has_scope(const char *scope)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, setting("scopes")) {
		if (strcmp(item->valuestring, scope) == 0)
			return true;
	}
	return false;
}

static void scopes_text(struct str *out)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, setting("scopes"))
		str_addf(out, "%s%s", out->length ? "," : "", item->valuestring);
}

bool call_scope(struct call *c, const char *scope)
{
	OWNED(str) struct str provided = { 0 };

	if (!scope || call_has_scope(scope))
		return true;
	if (call_failed(c))
		return false;
	scopes_text(&provided);
	(void)call_fail(c, "missing_scope");
	json_set_text(c->answer, "needed", scope);
	json_set_text(c->answer, "provided", str_text(&provided));
	return false;
}

/* ---- small methods ---- */

static void auth_test(struct call *c)
{
	cJSON *a = call_ok(c);

	json_set_text(a, "url", "https://lab.slack.com/");
	json_set_text(a, "team", "lab");
	json_set_text(a, "user", json_str(world_user(BOT_USER), "name"));
	json_set_text(a, "team_id", TEAM);
	json_set_text(a, "user_id", BOT_USER);
	json_set_text(a, "bot_id", BOT);
	json_set_bool(a, "is_enterprise_install", false);
}

static void users_info(struct call *c)
{
	const char *id = call_need(c, "user");
	cJSON *known = id ? world_user(id) : NULL, *user, *profile;

	if (!known) {
		(void)call_fail(c, "user_not_found");
		return;
	}
	user = cJSON_Duplicate(known, true);
	json_set_text(user, "id", id);
	json_set_bool(user, "deleted", json_true(known, "deleted"));
	json_set_bool(user, "is_bot", json_true(known, "is_bot"));
	if (!json_text(user, "tz"))
		json_set_text(user, "tz", "Europe/Berlin");
	profile = cJSON_CreateObject();
	json_set_text(profile, "display_name", json_str(known, "name"));
	json_set_text(profile, "real_name", json_str(known, "real_name"));
	json_set(user, "profile", profile);
	json_set(call_ok(c), "user", user);
}

static void bots_info(struct call *c)
{
	cJSON *bot;

	if (strcmp(call_text(c, "bot"), BOT) != 0) {
		(void)call_fail(c, "bot_not_found");
		return;
	}
	bot = json_literal("{'id': 'B01BOT', 'app_id': 'A01APP', 'user_id': 'U0BOT',"
	                   " 'name': 'intercom', 'deleted': false}");
	json_set(call_ok(c), "bot", bot);
}

/* The message for a reaction or a pin; if there is none, sets the error and returns NULL. */
static cJSON *marked(struct call *c)
{
	cJSON *channel = call_channel(c, "channel"), *m = NULL;

	if (!channel)
		return NULL;
	if (!json_true(channel, "is_member"))
		(void)call_fail(c, "not_in_channel");
	else if (!call_text(c, "timestamp")[0])
		(void)call_fail(c, "no_item_specified");
	else if (!(m = world_message(call_text(c, "channel"), call_text(c, "timestamp"))))
		(void)call_fail(c, "message_not_found");
	return m;
}

/* The index of a text in a list, -1 if absent. */
static int index_in(const cJSON *list, const char *text)
{
	int i = 0;
	const cJSON *item;

	cJSON_ArrayForEach (item, list) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return i;
		i++;
	}
	return -1;
}

/* Adds text to a message's list, or removes it. */
static void mark(struct call *c, const char *list, const char *text, bool add, const char *already)
{
	cJSON *m = marked(c);
	int at;

	if (!m)
		return;
	at = index_in(list_in(m, list), text);
	if ((at >= 0) == add) {
		(void)call_fail(c, already);
		return;
	}
	if (add)
		(void)cJSON_AddItemToArray(list_in(m, list), cJSON_CreateString(text));
	else
		cJSON_DeleteItemFromArray(list_in(m, list), at);
	(void)call_ok(c);
}

static void react(struct call *c, bool add, const char *already)
{
	const char *name = call_text(c, "name");

	if (!name[0] || strpbrk(name, ": "))
		(void)call_fail(c, "invalid_name");
	else
		mark(c, "reactions", name, add, already);
}

static void reactions_add(struct call *c)
{
	react(c, true, "already_reacted");
}

static void reactions_remove(struct call *c)
{
	react(c, false, "no_reaction");
}

static void pins_add(struct call *c)
{
	mark(c, "pinned_by", BOT_USER, true, "already_pinned");
}

static void pins_remove(struct call *c)
{
	mark(c, "pinned_by", BOT_USER, false, "no_pin");
}

static const struct method METHODS[] = {
	{ "apps.connections.open", connections_open, NULL, 50, APP_LEVEL },
	{ "auth.test", auth_test, NULL, 0, 0 },
	{ "bots.info", bots_info, "users:read", 50, FORM_ONLY },
	{ "chat.postMessage", chat_postMessage, "chat:write", 0, 0 },
	{ "chat.update", chat_update, "chat:write", 50, 0 },
	{ "chat.postEphemeral", chat_postEphemeral, "chat:write", 100, 0 },
	{ "chat.delete", chat_delete, "chat:write", 50, 0 },
	{ "chat.getPermalink", chat_getPermalink, NULL, 0, FORM_ONLY },
	{ "conversations.history", conversations_history, NULL, 50, 0 },
	{ "conversations.replies", conversations_replies, NULL, 50, FORM_ONLY },
	{ "conversations.info", conversations_info, NULL, 50, FORM_ONLY },
	{ "conversations.join", conversations_join, "channels:join", 50, 0 },
	{ "conversations.open", conversations_open, "im:write", 50, 0 },
	{ "files.getUploadURLExternal", files_getUploadURLExternal, "files:write", 100, FORM_ONLY },
	{ "files.completeUploadExternal", files_completeUploadExternal, "files:write", 100, 0 },
	{ "files.info", files_info, "files:read", 100, FORM_ONLY },
	{ "pins.add", pins_add, "pins:write", 20, 0 },
	{ "pins.remove", pins_remove, "pins:write", 20, 0 },
	{ "reactions.add", reactions_add, "reactions:write", 50, 0 },
	{ "reactions.remove", reactions_remove, "reactions:write", 50, 0 },
	{ "users.info", users_info, "users:read", 100, FORM_ONLY },
	{ "views.open", views_open, NULL, 100, 0 },
	{ "views.update", views_update, NULL, 100, 0 },
	{ "views.push", views_push, NULL, 100, 0 },
};

/* ---- tokens ---- */

/* The token of a call: from the header, or from the argument where that is allowed. NULL: none. */
static const char *token_of(struct call *c, bool app_level)
{
	const char *header =
	    evhttp_find_header(evhttp_request_get_input_headers(c->http), "Authorization");
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(c->http);
	const char *query = evhttp_uri_get_query(uri);

	if (query && (strncmp(query, "token=", 6) == 0 || strstr(query, "&token="))) {
		police("token_in_url", NULL, 0, c->name);
		return NULL;
	}
	if (header && strncasecmp(header, "Bearer ", 7) == 0)
		return header + 7;
	return app_level ? NULL : json_text(c->args, "token");
}

static bool authorised(struct call *c, const struct method *m)
{
	bool app_level = m && (m->flags & APP_LEVEL);
	const char *token = token_of(c, app_level), *error;

	if (!token || !token[0])
		return call_fail(c, "not_authed");
	c->token = strcmp(token, APP_TOKEN) == 0   ? "app"
	           : strcmp(token, BOT_TOKEN) == 0 ? "bot"
	                                           : "other";
	if (strcmp(c->token, "other") == 0)
		return call_fail(c, "invalid_auth");
	if (strcmp(c->token, app_level ? "app" : "bot") != 0)
		return call_fail(c, "not_allowed_token_type");
	error = setting(app_level ? "app_error" : "bot_error")
	            ? cJSON_GetStringValue(setting(app_level ? "app_error" : "bot_error"))
	            : NULL;
	return error ? call_fail(c, error) : true;
}

/* ---- rates ---- */

static cJSON *refused_until; /* by name, or name and channel: unix ms on the fake's clock */

static const char *rate_key(const struct call *c)
{
	return strcmp(c->name, "chat.postMessage") == 0
	           ? text_of("%s %s", c->name, call_text(c, "channel"))
	           : c->name;
}

void rate_refused(const struct call *c, int64_t seconds)
{
	if (!refused_until)
		refused_until = cJSON_CreateObject();
	json_set_int(refused_until, rate_key(c), fake_now_ms() + seconds * 1000);
}

void rate_police(const struct call *c)
{
	if (fake_now_ms() < json_int(refused_until, rate_key(c), 0))
		police("retry_after_ignored", NULL, 0, rate_key(c));
}

static bool refuse_rate(struct call *c, int64_t wait_ms)
{
	(void)call_fail(c, "ratelimited");
	c->status = 429;
	c->retry_after = (wait_ms + 999) / 1000;
	rate_refused(c, c->retry_after);
	return true;
}

bool rate_of_channel(struct call *c, const char *channel)
{
	static cJSON *next; /* by channel: when the next post is allowed */
	int64_t now = fake_now_ms(), due;

	if (!setting_true("rate_limits"))
		return false;
	if (!next)
		next = cJSON_CreateObject();
	due = json_int(next, channel, 0);
	if (now < due)
		return refuse_rate(c, due - now);
	json_set_int(next, channel, now + CHANNEL_MS);
	return false;
}

/* Counts the calls of the last minute, by method. */
static bool rate_of_method(struct call *c, const struct method *m)
{
	static cJSON *times;
	cJSON *list;

	if (!setting_true("rate_limits") || m->a_minute == 0)
		return false;
	if (!times)
		times = cJSON_CreateObject();
	list = list_in(times, m->name);
	while (list->child && (int64_t)list->child->valuedouble + TIER_MS <= fake_now_ms())
		cJSON_DeleteItemFromArray(list, 0);
	if (list->child && cJSON_GetArraySize(list) >= m->a_minute)
		return refuse_rate(c, (int64_t)list->child->valuedouble + TIER_MS - fake_now_ms());
	(void)cJSON_AddItemToArray(list, cJSON_CreateNumber((double)fake_now_ms()));
	return false;
}

/* ---- the call ---- */

static void scopes_header(struct call *c)
{
	OWNED(str) struct str scopes = { 0 };

	if (cJSON_IsFalse(setting("scopes_header")))
		return;
	if (strcmp(c->token, "app") == 0)
		str_add(&scopes, "connections:write");
	else
		scopes_text(&scopes);
	(void)evhttp_add_header(evhttp_request_get_output_headers(c->http), "x-oauth-scopes",
	                        str_text(&scopes));
}

/* A method that reads forms only ignores JSON. */
static void unsee_json(struct call *c, const struct method *m)
{
	if (!(m->flags & FORM_ONLY) || strcmp(c->body, "json") != 0)
		return;
	cJSON_Delete(c->args);
	c->args = cJSON_CreateObject();
	police("json_to_form_only", NULL, 0, m->name);
}

void web_api(struct call *c)
{
	const struct method *m = NULL;

	for (size_t i = 0; i < COUNT(METHODS) && !m; i++)
		if (strcmp(METHODS[i].name, c->name) == 0)
			m = &METHODS[i];
	if (call_failed(c) || !authorised(c, m))
		return;
	scopes_header(c);
	if (!m) {
		police("unknown_method", NULL, 0, c->name);
		(void)call_fail(c, "unknown_method");
		return;
	}
	if (!call_scope(c, m->scope) || rate_of_method(c, m))
		return;
	unsee_json(c, m);
	m->run(c);
}
