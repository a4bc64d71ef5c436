/* views: modals, the triggers that open them, and what an ack does to them. */
#include "fake.h"

#include <string.h>

enum { TRIGGER_MS = 3000, STACK = 3, VIEW_BYTES = 250 * 1024 };

static cJSON *views, *triggers;

cJSON *views_all(void)
{
	return json_list(&views);
}

static cJSON *view_by(const char *member, const char *value)
{
	cJSON *view;

	cJSON_ArrayForEach (view, views_all()) {
		if (value[0] && json_is(view, member, value) && json_true(view, "open"))
			return view;
	}
	return NULL;
}

cJSON *view_find(const char *id)
{
	return view_by("id", id);
}

cJSON *view_latest(void)
{
	cJSON *view, *latest = NULL;

	cJSON_ArrayForEach (view, views_all()) {
		if (json_true(view, "open"))
			latest = view;
	}
	return latest;
}

/* ---- triggers ---- */

const char *trigger_new(const char *user, const char *view, int64_t age_ms)
{
	const char *id = text_of("%lld.738474920.%s", (long long)fake_now_ms(), world_id("t"));
	cJSON *trigger = cJSON_CreateObject();

	if (!triggers)
		triggers = cJSON_CreateObject();
	json_set_int(trigger, "made_ms", fake_now_ms() - age_ms);
	json_set_text(trigger, "user", user);
	json_set_text(trigger, "view", view);
	json_set(triggers, id, trigger);
	return id;
}

/* The trigger of a call, if it is still usable; else sets the error. */
static cJSON *trigger_of(struct call *c)
{
	const char *id = call_need(c, "trigger_id");
	cJSON *trigger = id ? member_of(triggers, id) : NULL;

	if (!id)
		return NULL;
	if (!trigger)
		(void)call_fail(c, "invalid_trigger_id");
	else if (json_true(trigger, "used"))
		(void)call_fail(c, "exchanged_trigger_id");
	else if (json_int(trigger, "made_ms", 0) + TRIGGER_MS < fake_now_ms())
		(void)call_fail(c, "expired_trigger_id");
	return call_failed(c) ? NULL : trigger;
}

/* ---- views ---- */

static const char *view_wrong(const cJSON *view, const cJSON *same, struct str *place)
{
	OWNED(char_ptr) char *text = cJSON_PrintUnformatted(view);
	const cJSON *other = view_by("external_id", json_str(view, "external_id"));

	if (view_check(view, place) != 0)
		return "invalid_arguments";
	if (strlen(text) > VIEW_BYTES)
		return "view_too_large";
	return other && other != same ? "duplicate_external_id" : NULL;
}

static bool view_fits(struct call *c, const cJSON *same)
{
	const cJSON *view = member_of(c->args, "view");
	OWNED(str) struct str place = { 0 };
	const char *wrong;

	if (!view) {
		(void)call_need(c, "view");
		return false;
	}
	wrong = view_wrong(view, same, &place);
	if (wrong && place.length)
		return call_fail_at(c, wrong, &place);
	return wrong ? call_fail(c, wrong) : true;
}

/* Puts the submitted content into a view and gives it a new hash. */
static void view_fill(cJSON *view, const cJSON *sent)
{
	static const char *const SENT[] = {
		"type",           "title",          "submit",           "close",
		"blocks",         "callback_id",    "private_metadata", "external_id",
		"clear_on_close", "notify_on_close"
	};
	OWNED(cJSON_ptr)
	cJSON *plain = json_literal("{'submit': null, 'close': null, 'callback_id': '',"
	                            " 'private_metadata': '', 'external_id': '',"
	                            " 'clear_on_close': false, 'notify_on_close': false}");

	for (size_t i = 0; i < COUNT(SENT); i++)
		cJSON_DeleteItemFromObject(view, SENT[i]);
	json_overlay(view, plain);
	json_overlay(view, sent);
	json_set(view, "state", json_literal("{'values': {}}"));
	json_set_text(view, "hash",
	              text_of("%lld.%s", (long long)(fake_now_ms() / 1000), world_id("h")));
}

static int depth(const cJSON *view)
{
	int n = 1;

	while (json_text(view, "previous_view_id") &&
	       (view = view_find(json_str(view, "previous_view_id"))))
		n++;
	return n;
}

/* previous: the view below it, NULL for the first. */
static cJSON *view_new(const cJSON *sent, const cJSON *previous)
{
	cJSON *view = cJSON_CreateObject();
	const char *id = world_id("V");

	json_set_text(view, "id", id);
	json_set_text(view, "team_id", TEAM);
	json_set_text(view, "app_id", APP);
	json_set_text(view, "app_installed_team_id", TEAM);
	json_set_text(view, "bot_id", BOT);
	view_fill(view, sent);
	json_set_text(view, "previous_view_id", previous ? json_str(previous, "id") : NULL);
	json_set_text(view, "root_view_id", previous ? json_str(previous, "root_view_id") : id);
	json_set_bool(view, "open", true);
	(void)cJSON_AddItemToArray(views_all(), view);
	return view;
}

static void answer_view(struct call *c, const cJSON *view)
{
	cJSON *shown = cJSON_Duplicate(view, true);

	cJSON_DeleteItemFromObject(shown, "open");
	json_set(call_ok(c), "view", shown);
}

/* Only a view that opens uses up the trigger. */
void views_open(struct call *c)
{
	cJSON *trigger = trigger_of(c);

	if (!trigger || !view_fits(c, NULL))
		return;
	json_set_bool(trigger, "used", true);
	answer_view(c, view_new(member_of(c->args, "view"), NULL));
}

void views_push(struct call *c)
{
	cJSON *trigger = trigger_of(c), *under;

	if (!trigger || !view_fits(c, NULL))
		return;
	under = view_find(json_str(trigger, "view"));
	if (!under)
		(void)call_fail(c, "invalid_trigger_id");
	else if (depth(under) >= STACK)
		(void)call_fail(c, "push_limit_reached");
	if (call_failed(c))
		return;
	json_set_bool(trigger, "used", true);
	answer_view(c, view_new(member_of(c->args, "view"), under));
}

void views_update(struct call *c)
{
	cJSON *view = view_find(call_text(c, "view_id"));
	const char *hash = call_text(c, "hash");

	if (!view)
		view = view_by("external_id", call_text(c, "external_id"));
	if (!view)
		(void)call_fail(c, "not_found");
	else if (hash[0] && !json_is(view, "hash", hash))
		(void)call_fail(c, "hash_conflict");
	if (call_failed(c) || !view_fits(c, view))
		return;
	view_fill(view, member_of(c->args, "view"));
	answer_view(c, view);
}

/* ---- acks ---- */

static bool is_input(const cJSON *view, const char *block_id)
{
	const cJSON *block;

	cJSON_ArrayForEach (block, member_of(view, "blocks")) {
		if (json_is(block, "type", "input") && json_is(block, "block_id", block_id))
			return true;
	}
	return false;
}

static void close_stack(const cJSON *view)
{
	cJSON *other;

	cJSON_ArrayForEach (other, views_all()) {
		if (json_is(other, "root_view_id", json_str(view, "root_view_id")))
			json_set_bool(other, "open", false);
	}
}

/* Shows the errors; a key that is not an input block invalidates the whole answer. */
static void show_errors(cJSON *view, const cJSON *errors, const char *envelope_id, int socket)
{
	const cJSON *error;

	if (!cJSON_IsObject(errors) || !errors->child)
		police("ack_errors_keys", envelope_id, socket, "errors is no object with members");
	cJSON_ArrayForEach (error, errors) {
		if (!is_input(view, error->string))
			police("ack_errors_keys", envelope_id, socket, error->string);
	}
	json_set(view, "errors", cJSON_Duplicate(errors, true));
}

static bool ack_view_fits(const cJSON *sent, const cJSON *same, const char *envelope_id, int socket)
{
	OWNED(str) struct str place = { 0 };
	const char *wrong = sent ? view_wrong(sent, same, &place) : "no view";

	if (wrong)
		police("ack_view", envelope_id, socket,
		       text_of("%s %.200s", wrong, str_text(&place)));
	return !wrong;
}

void view_acked(cJSON *view, const cJSON *payload, const char *envelope_id, int socket)
{
	const char *action = json_str(payload, "response_action");
	const cJSON *sent = member_of(payload, "view");

	if (strcmp(action, "errors") == 0) {
		show_errors(view, member_of(payload, "errors"), envelope_id, socket);
	} else if (strcmp(action, "update") == 0) {
		if (ack_view_fits(sent, view, envelope_id, socket))
			view_fill(view, sent);
	} else if (strcmp(action, "push") == 0) {
		if (ack_view_fits(sent, NULL, envelope_id, socket))
			(void)view_new(sent, view);
	} else if (strcmp(action, "clear") == 0) {
		close_stack(view);
	} else {
		json_set_bool(view, "open", false);
		if (action[0])
			police("ack_view", envelope_id, socket,
			       text_of("response_action %.100s", action));
	}
}
