/* deliver: makes the payloads of what people do: commands, clicks, modals, messages, mentions. */
#include "fake.h"

#include <stdio.h>
#include <string.h>

/* An order: {"slash": {...}, "socket": 1, ...}; what: the inner object. */
struct order {
	const cJSON *whole, *what;
	const char *user;
	cJSON *out; /* what was made, for the answer */
	const char *wrong;
};

static const char *or_else(const cJSON *object, const char *name, const char *otherwise)
{
	return json_text(object, name) ? json_text(object, name) : otherwise;
}

/* ---- envelopes ---- */

static cJSON *envelope_new(const char *type, bool accepts, cJSON *payload)
{
	cJSON *envelope = cJSON_CreateObject();

	json_set_text(envelope, "envelope_id", world_id("6b3c1d1e-0000-4000-8000-"));
	json_set_text(envelope, "type", type);
	json_set_bool(envelope, "accepts_response_payload", accepts);
	json_set(envelope, "payload", payload);
	return envelope;
}

cJSON *event_envelope(cJSON *event)
{
	cJSON *payload = json_literal(
	    "{'token': 'fake', 'team_id': 'T01TEAM', 'context_team_id': 'T01TEAM',"
	    " 'api_app_id': 'A01APP', 'type': 'event_callback', 'is_ext_shared_channel': false,"
	    " 'authorizations': [{'enterprise_id': null, 'team_id': 'T01TEAM',"
	    "  'user_id': 'U0BOT', 'is_bot': true, 'is_enterprise_install': false}]}");

	json_set_text(payload, "event_id", world_id("Ev"));
	json_set_int(payload, "event_time", fake_now_ms() / 1000);
	json_set_text(payload, "event_context", world_id("4-"));
	json_set(payload, "event", event);
	return envelope_new("events_api", false, payload);
}

/* Sends an envelope as the order's options demand, and notes it in the answer. */
static void send_as(struct order *o, cJSON *envelope)
{
	struct how how = { .socket = (int)json_int(o->whole, "socket", 0),
		           .copies = (int)json_int(o->whole, "copies", 1),
		           .fragments = (int)json_int(o->whole, "fragments", 1) };
	cJSON *payload = member_of(envelope, "payload");
	int64_t pad = json_int(o->whole, "pad", 0);

	json_overlay(payload, member_of(o->whole, "payload"));
	if (pad > 0 && payload) {
		OWNED(char_ptr) char *text = xmalloc((size_t)pad + 1);

		memset(text, 'x', (size_t)pad);
		text[pad] = '\0';
		json_set_text(payload, "unknown_member", text);
	}
	if (member_of(o->whole, "retry_attempt")) {
		json_set_int(envelope, "retry_attempt", json_int(o->whole, "retry_attempt", 1));
		json_set_text(envelope, "retry_reason",
		              or_else(o->whole, "retry_reason", "timeout"));
	}
	if (!member_of(o->out, "envelope_ids"))
		json_set(o->out, "envelope_ids", cJSON_CreateArray());
	(void)cJSON_AddItemToArray(member_of(o->out, "envelope_ids"),
	                           cJSON_CreateString(json_str(envelope, "envelope_id")));
	if (!member_of(o->out, "envelope_id"))
		json_set_text(o->out, "envelope_id", json_str(envelope, "envelope_id"));
	json_set_int(o->out, "socket", envelope_send(envelope, &how));
}

/* ---- parts of payloads ---- */

static cJSON *person(const char *id)
{
	const cJSON *user = world_user(id);
	cJSON *p = cJSON_CreateObject();

	json_set_text(p, "id", id);
	json_set_text(p, "username", json_str(user, "name"));
	json_set_text(p, "name", json_str(user, "name"));
	json_set_text(p, "team_id", or_else(user, "team_id", TEAM));
	return p;
}

static cJSON *interaction(const struct order *o, const char *type)
{
	cJSON *p =
	    json_literal("{'team': {'id': 'T01TEAM', 'domain': 'lab'}, 'api_app_id': 'A01APP',"
	                 " 'token': 'fake', 'enterprise': null,"
	                 " 'is_enterprise_install': false}");

	json_set_text(p, "type", type);
	json_set(p, "user", person(o->user));
	return p;
}

static void add_trigger(struct order *o, cJSON *payload, const char *view)
{
	const char *id = trigger_new(o->user, view, json_int(o->whole, "old_trigger_ms", 0));

	json_set_text(payload, "trigger_id", id);
	json_set_text(o->out, "trigger_id", id);
}

static void add_response_url(struct order *o, cJSON *payload, const char *kind, const char *channel,
                             const char *ts)
{
	const char *url = response_url_new(kind, o->user, channel, ts);

	json_set_text(payload, "response_url", url);
	json_set_text(o->out, "response_url", url);
}

static cJSON *number_of(const cJSON *number)
{
	cJSON *option = cJSON_CreateObject();

	json_set(option, "value", cJSON_Duplicate(number, true));
	return option;
}

/* As typed; an object tells what was chosen: {"option": "2"}, {"options": ["1", "3"]}, {"date":
 * "2026-02-08"}. */
static cJSON *input_of(const cJSON *given)
{
	const cJSON *option = member_of(given, "option"), *options = member_of(given, "options");
	const cJSON *date = member_of(given, "date"), *one;
	cJSON *value, *all;

	if (option) {
		value = json_literal("{'type': 'static_select'}");
		json_set(value, "selected_option", number_of(option));
	} else if (options) {
		value = json_literal("{'type': 'multi_static_select'}");
		all = cJSON_CreateArray();
		cJSON_ArrayForEach (one, options)
			(void)cJSON_AddItemToArray(all, number_of(one));
		json_set(value, "selected_options", all);
	} else if (date) {
		value = json_literal("{'type': 'datepicker'}");
		json_set(value, "selected_date", cJSON_Duplicate(date, true));
	} else {
		value = json_literal("{'type': 'plain_text_input'}");
		json_set(value, "value", cJSON_Duplicate(given, true));
	}
	return value;
}

/* {"block":{"action":"text"}} as the values of inputs. */
static cJSON *state_of(const cJSON *texts)
{
	cJSON *values = cJSON_CreateObject(), *state = cJSON_CreateObject();
	const cJSON *block, *action;

	cJSON_ArrayForEach (block, texts) {
		cJSON *actions = cJSON_CreateObject();

		cJSON_ArrayForEach (action, block)
			json_set(actions, action->string, input_of(action));
		json_set(values, block->string, actions);
	}
	json_set(state, "values", values);
	return state;
}

static cJSON *shown_view(const cJSON *view)
{
	cJSON *shown = cJSON_Duplicate(view, true);

	cJSON_DeleteItemFromObject(shown, "open");
	cJSON_DeleteItemFromObject(shown, "errors");
	return shown;
}

/* ---- commands ---- */

static void slash(struct order *o)
{
	const char *channel = or_else(o->what, "channel", "C01AGENTS");
	cJSON *p = json_literal("{'token': 'fake', 'team_id': 'T01TEAM', 'team_domain': 'lab',"
	                        " 'api_app_id': 'A01APP', 'is_enterprise_install': 'false'}");

	json_set_text(p, "channel_id", channel);
	json_set_text(p, "channel_name", json_str(world_channel(channel), "name"));
	json_set_text(p, "user_id", o->user);
	json_set_text(p, "user_name", json_str(world_user(o->user), "name"));
	json_set_text(p, "command", or_else(o->what, "command", "/intercom"));
	json_set_text(p, "text", json_str(o->what, "text"));
	add_response_url(o, p, "commands", channel, NULL);
	add_trigger(o, p, NULL);
	send_as(o, envelope_new("slash_commands", true, p));
}

/* ---- clicks ---- */

static const cJSON *element_in(const cJSON *item, const char *action_id)
{
	const cJSON *child, *found;

	if (json_is(item, "action_id", action_id))
		return item;
	cJSON_ArrayForEach (child, item) {
		found = element_in(child, action_id);
		if (found)
			return found;
	}
	return NULL;
}

/* The element that is pressed and its block; NULL if there is none. */
static const cJSON *element_of(const cJSON *blocks, const cJSON *what, const cJSON **block)
{
	const char *id = json_text(what, "block_id");
	const cJSON *one;

	cJSON_ArrayForEach (one, blocks) {
		const cJSON *found = id && !json_is(one, "block_id", id)
		                         ? NULL
		                         : element_in(one, json_str(what, "action_id"));

		*block = one;
		if (found)
			return found;
	}
	return NULL;
}

static const cJSON *option_of(const cJSON *item, const char *value)
{
	const cJSON *child, *found;

	if (json_is(item, "value", value) && member_of(item, "text") &&
	    !member_of(item, "action_id"))
		return item;
	cJSON_ArrayForEach (child, item) {
		found = option_of(child, value);
		if (found)
			return found;
	}
	return NULL;
}

static cJSON *action_of(struct order *o, const cJSON *block, const cJSON *element)
{
	static const char *const SAME[] = { "type", "action_id", "text", "value", "style" };
	cJSON *action = cJSON_CreateObject();
	const cJSON *option = option_of(element, json_str(o->what, "option"));

	for (size_t i = 0; i < COUNT(SAME); i++)
		if (member_of(element, SAME[i]))
			json_set(action, SAME[i],
			         cJSON_Duplicate(member_of(element, SAME[i]), true));
	json_set_text(action, "block_id", json_str(block, "block_id"));
	json_set_text(action, "action_ts", world_ts());
	if (option)
		json_set(action, "selected_option", cJSON_Duplicate(option, true));
	else if (json_text(o->what, "option"))
		o->wrong = "option: not among the element's";
	if (json_text(o->what, "value"))
		json_set_text(action, "value", json_str(o->what, "value"));
	return action;
}

static const cJSON *message_clicked(const struct order *o)
{
	const cJSON *m, *found = NULL;

	cJSON_ArrayForEach (m, world_messages()) {
		if (json_is(m, "channel", json_str(o->what, "channel")) &&
		    json_is(m, "ts", json_str(o->what, "ts")) && !json_true(m, "deleted"))
			found = m;
	}
	return found;
}

static void in_message(struct order *o, cJSON *p, const cJSON *m)
{
	const char *channel = json_str(m, "channel"), *ts = json_str(m, "ts");
	bool ephemeral = json_text(m, "ephemeral_for") != NULL;
	cJSON *container = json_literal("{'type': 'message'}"), *c = cJSON_CreateObject();

	json_set_text(container, "message_ts", ts);
	json_set_text(container, "channel_id", channel);
	json_set_bool(container, "is_ephemeral", ephemeral);
	if (json_text(m, "thread_ts"))
		json_set_text(container, "thread_ts", json_str(m, "thread_ts"));
	json_set(p, "container", container);
	json_set_text(c, "id", channel);
	json_set_text(c, "name", json_str(world_channel(channel), "name"));
	json_set(p, "channel", c);
	if (!ephemeral)
		json_set(p, "message", world_shown(m, true));
	add_response_url(o, p, "actions", channel, ts);
}

static void in_view(cJSON *p, const cJSON *view)
{
	cJSON *container = json_literal("{'type': 'view'}");

	json_set_text(container, "view_id", json_str(view, "id"));
	json_set(p, "container", container);
	json_set(p, "view", shown_view(view));
}

static void click(struct order *o)
{
	const cJSON *view = view_find(json_str(o->what, "view_id")), *m = message_clicked(o);
	const cJSON *block = NULL, *element;
	cJSON *p, *actions;

	if (!view && !m) {
		o->wrong = "no such message (channel, ts) or open view (view_id)";
		return;
	}
	element = element_of(member_of(view ? view : m, "blocks"), o->what, &block);
	if (!element) {
		o->wrong = "action_id: not in its blocks";
		return;
	}
	p = interaction(o, "block_actions");
	if (view)
		in_view(p, view);
	else
		in_message(o, p, m);
	add_trigger(o, p, view ? json_str(view, "id") : NULL);
	json_set(p, "state", state_of(member_of(o->what, "state")));
	actions = cJSON_CreateArray();
	(void)cJSON_AddItemToArray(actions, action_of(o, block, element));
	json_set(p, "actions", actions);
	if (o->wrong)
		cJSON_Delete(p);
	else
		send_as(o, envelope_new("interactive", true, p));
}

/* ---- modals ---- */

static cJSON *view_of(struct order *o)
{
	cJSON *view =
	    json_text(o->what, "view_id") ? view_find(json_str(o->what, "view_id")) : view_latest();

	if (!view)
		o->wrong = "no such view is open";
	else
		json_set_text(o->out, "view_id", json_str(view, "id"));
	return view;
}

static void submit(struct order *o)
{
	cJSON *view = view_of(o), *p;

	if (!view)
		return;
	cJSON_DeleteItemFromObject(view, "errors");
	json_set(view, "state", state_of(member_of(o->what, "values")));
	p = interaction(o, "view_submission");
	json_set(p, "view", shown_view(view));
	json_set(p, "response_urls", cJSON_CreateArray());
	add_trigger(o, p, json_str(view, "id"));
	send_as(o, envelope_new("interactive", true, p));
}

static void close_view(struct order *o)
{
	cJSON *view = view_of(o), *p;

	if (!view)
		return;
	json_set_bool(view, "open", false);
	if (!json_true(view, "notify_on_close"))
		return;
	p = interaction(o, "view_closed");
	json_set(p, "view", shown_view(view));
	json_set_bool(p, "is_cleared", json_true(o->what, "is_cleared"));
	send_as(o, envelope_new("interactive", true, p));
}

/* ---- messages ---- */

static const char *channel_type(const cJSON *channel)
{
	return json_true(channel, "is_im")        ? "im"
	       : json_true(channel, "is_private") ? "group"
	                                          : "channel";
}

/* A message as Slack stores it: typed & < > become entities; mentions, links and existing entities
 * stay. Forms and commands are not escaped. */
static void add_escaped(struct str *out, const char *text)
{
	static const char *const MARKUP[] = { "<@", "<#", "<!", "<http", "&amp;", "&lt;", "&gt;" };

	while (*text) {
		const char *end = *text == '<' ? strchr(text, '>') : strchr(text, ';');
		bool markup = false;

		for (size_t i = 0; end && i < COUNT(MARKUP); i++)
			markup |= strncmp(text, MARKUP[i], strlen(MARKUP[i])) == 0;
		if (markup) {
			str_add_bytes(out, text, (size_t)(end - text) + 1);
			text = end + 1;
			continue;
		}
		if (*text == '&')
			str_add(out, "&amp;");
		else if (*text == '<')
			str_add(out, "&lt;");
		else if (*text == '>')
			str_add(out, "&gt;");
		else
			str_add_char(out, *text);
		text++;
	}
}

/* Stores a message that a person wrote; returns the event for it. */
static cJSON *written(struct order *o, const char *text)
{
	const char *channel = or_else(o->what, "channel", "C01AGENTS");
	OWNED(str) struct str escaped = { 0 };
	cJSON *m, *event;

	add_escaped(&escaped, text);
	m = world_post(channel, o->user, str_text(&escaped), json_text(o->what, "thread_ts"));

	json_set_text(m, "team", or_else(world_user(o->user), "team_id", TEAM));
	if (json_text(o->what, "subtype"))
		json_set_text(m, "subtype", json_str(o->what, "subtype"));
	event = world_shown(m, true);
	json_set_text(event, "channel", channel);
	json_set_text(event, "channel_type", channel_type(world_channel(channel)));
	json_set_text(event, "event_ts", json_str(m, "ts"));
	json_set_text(event, "client_msg_id", world_id("0d2f-"));
	json_overlay(event, member_of(o->what, "event"));
	json_set_text(o->out, "ts", json_str(m, "ts"));
	return event;
}

static void message(struct order *o)
{
	send_as(o, event_envelope(written(o, json_str(o->what, "text"))));
}

/* A mention is two events with the same channel and ts. */
static void mention(struct order *o)
{
	const char *text = json_str(o->what, "text"), *only = json_str(o->what, "only");
	bool named = strstr(text, "<@" BOT_USER) != NULL, swapped = json_true(o->what, "swapped");
	OWNED(str) struct str full = { 0 };
	cJSON *event, *twin;

	str_addf(&full, "%s%s", named ? "" : "<@" BOT_USER "> ", text);
	event = written(o, str_text(&full));
	twin = cJSON_Duplicate(event, true);
	json_set_text(twin, "type", "app_mention");
	cJSON_DeleteItemFromObject(twin, "channel_type");
	for (int turn = 0; turn < 2; turn++) {
		bool mentioned = (turn == 1) != swapped;
		cJSON **one = mentioned ? &twin : &event;

		if (!only[0] || strcmp(only, mentioned ? "app_mention" : "message") == 0)
			send_as(o, event_envelope(cJSON_Duplicate(*one, true)));
	}
	cJSON_Delete(event);
	cJSON_Delete(twin);
}

static void event(struct order *o)
{
	send_as(o, event_envelope(cJSON_Duplicate(o->what, true)));
}

/* ---- payloads given by the test ---- */

static void envelope(struct order *o)
{
	cJSON *whole = cJSON_Duplicate(o->what, true);

	if (!cJSON_GetObjectItem(whole, "envelope_id"))
		json_set_text(whole, "envelope_id", world_id("6b3c1d1e-0000-4000-8000-"));
	send_as(o, whole);
}

static void raw(struct order *o)
{
	struct how how = { .socket = (int)json_int(o->whole, "socket", 0),
		           .fragments = (int)json_int(o->whole, "fragments", 1) };

	if (cJSON_IsString(o->what))
		envelope_raw(o->what->valuestring, &how);
	else
		o->wrong = "raw: a text";
}

const char *deliver(const cJSON *whole, cJSON *out)
{
	static const struct {
		const char *name;
		void (*run)(struct order *o);
	} KINDS[] = { { "slash", slash },     { "click", click },           { "submit", submit },
		      { "message", message }, { "close_view", close_view }, { "mention", mention },
		      { "event", event },     { "envelope", envelope },     { "raw", raw } };

	for (size_t i = 0; i < COUNT(KINDS); i++) {
		struct order o = { .whole = whole,
			           .what = member_of(whole, KINDS[i].name),
			           .out = out };

		if (!o.what)
			continue;
		o.user = or_else(o.what, "user", "U01OP");
		KINDS[i].run(&o);
		return o.wrong;
	}
	return "one of slash, click, submit, close_view, message, mention, event, envelope, raw";
}
