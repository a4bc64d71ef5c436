#include "payload.h"

#include "err.h"
#include "json.h"
#include "modal.h"
#include "sha256.h"
#include "texts.h"
#include "verb.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	ID_MOST = 128, /* of Slack's ids */
	KEY_HASH = 32, /* characters of a hash in a key */
	ACTION_MOST = 80,
};

/* A member two levels down. */
static const char *text_in(const cJSON *object, const char *outer, const char *name)
{
	return json_text(json_get(object, outer), name);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* ---- frames ---- */

/* The id in bytes that are not JSON: the quoted text after "envelope_id":. */
static char *find_envelope_id(const char *bytes, size_t length)
{
	static const char NAME[] = "\"envelope_id\"";
	const char *end = bytes + length;
	const char *at = memmem(bytes, length, NAME, sizeof(NAME) - 1);
	const char *from;

	if (!at)
		return NULL;
	at += sizeof(NAME) - 1;
	while (at < end && (isspace((unsigned char)*at) || *at == ':'))
		at++;
	if (at == end || *at != '"')
		return NULL;
	from = ++at;
	while (at < end && at - from < ID_MOST && (isalnum((unsigned char)*at) || *at == '-'))
		at++;
	return at < end && *at == '"' && at > from ? strndup(from, (size_t)(at - from)) : NULL;
}

static int small_number(const cJSON *value)
{
	return cJSON_IsNumber(value) && value->valuedouble > 0 && value->valuedouble < 1e8
	           ? (int)value->valuedouble
	           : 0;
}

static void read_root(struct slack_frame *f)
{
	const char *id = json_text(f->root, "envelope_id");

	f->type = json_some_text(f->root, "type");
	f->reason = json_some_text(f->root, "reason");
	f->payload = json_get(f->root, "payload");
	if (id && *id && strlen(id) <= ID_MOST)
		f->envelope_id = xstrdup(id);
	if (f->envelope_id) {
		f->kind = SLACK_FRAME_ENVELOPE;
		f->accepts_payload = cJSON_IsTrue(json_get(f->root, "accepts_response_payload"));
	} else if (strcmp(f->type, "hello") == 0) {
		f->kind = SLACK_FRAME_HELLO;
		f->connections = small_number(json_get(f->root, "num_connections"));
	} else if (strcmp(f->type, "disconnect") == 0) {
		f->kind = SLACK_FRAME_DISCONNECT;
	}
}

void slack_frame_read(struct slack_frame *f, const char *bytes, size_t length)
{
	*f = (struct slack_frame){ .kind = SLACK_FRAME_OTHER, .type = "", .reason = "" };
	f->root = json_read_strictly(bytes, length, "the frame", NULL);
	if (cJSON_IsObject(f->root)) {
		read_root(f);
		return;
	}
	cJSON_Delete(f->root);
	f->root = NULL;
	f->envelope_id = find_envelope_id(bytes, length);
}

void slack_frame_clear(struct slack_frame *f)
{
	cJSON_Delete(f->root);
	free(f->envelope_id);
	*f = (struct slack_frame){ 0 };
}

/* ---- texts ---- */

/* Slack's entities: messages contain & < > in this form, other texts may. */
static const struct {
	const char *entity;
	char is;
} ENTITIES[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' } };

/* Appends one byte or entity at text; returns its length. */
static size_t add_plain(struct str *out, const char *text)
{
	for (size_t i = 0; i < COUNT(ENTITIES); i++) {
		size_t n = strlen(ENTITIES[i].entity);

		if (strncmp(text, ENTITIES[i].entity, n) == 0) {
			str_add_char(out, ENTITIES[i].is);
			return n;
		}
	}
	str_add_char(out, *text);
	return 1;
}

static void add_part(struct str *out, const char *text, size_t length)
{
	OWNED(str) struct str part = { 0 };

	str_add_bytes(&part, text, length);
	for (const char *at = str_text(&part); *at;)
		at += add_plain(out, at);
}

/* The next digit of a number as people write it, behind its signs; '\0' at its end, and for what
 * stands in no number. */
static char next_digit(const char **at, const char *end, bool *ret_is_number)
{
	while (*at < end && strchr("+-./() ", **at))
		++*at;
	if (*at == end)
		return '\0';
	*ret_is_number = isdigit((unsigned char)**at) != 0;
	return *ret_is_number ? *(*at)++ : '\0';
}

/* tel:5551234 of 555-1234. */
static bool is_same_number(const char *target, size_t length, const char *label,
                           size_t label_length)
{
	static const char SCHEME[] = "tel:";
	const char *target_end = target + length, *label_end = label + label_length;
	bool is_number = true;
	char digit;

	if (length < sizeof(SCHEME) || strncmp(target, SCHEME, sizeof(SCHEME) - 1) != 0)
		return false;
	target += sizeof(SCHEME) - 1;
	do {
		digit = next_digit(&target, target_end, &is_number);
		if (!is_number || next_digit(&label, label_end, &is_number) != digit || !is_number)
			return false;
	} while (digit);
	return true;
}

/* Whether Slack made a link of what a person typed: README.md, x.org, a@b.c, a number. */
static bool is_automatic(const char *target, size_t length, const char *label, size_t label_length)
{
	static const char *const SCHEMES[] = { "", "http://", "https://", "mailto:" };

	if (is_same_number(target, length, label, label_length))
		return true;
	for (size_t i = 0; i < COUNT(SCHEMES); i++) {
		size_t scheme = strlen(SCHEMES[i]), rest = scheme + label_length;

		if (length < rest || memcmp(target, SCHEMES[i], scheme) != 0 ||
		    memcmp(target + scheme, label, label_length) != 0)
			continue;
		if (length == rest || (length == rest + 1 && target[rest] == '/'))
			return true;
	}
	return false;
}

/* <@U1|op>, <#C1|agents>, <!channel>, <!subteam^S1|@team>, <https://x|label>: with the sign that
 * people see, and with the label if there is one. A link that a person made is shown with both: a
 * label can lie. */
static void add_markup(struct str *out, const char *inside, size_t length)
{
	const char *bar = memchr(inside, '|', length);
	size_t target = bar ? (size_t)(bar - inside) : length;
	const char *label = bar ? bar + 1 : NULL;
	size_t label_length = bar ? length - target - 1 : 0;
	char sign = inside[0];

	if (sign == '@' || sign == '#') {
		str_add_char(out, sign);
		add_part(out, label ? label : inside + 1, label ? label_length : target - 1);
	} else if (sign == '!') {
		if (!label)
			str_add_char(out, '@');
		add_part(out, label ? label : inside + 1, label ? label_length : target - 1);
	} else if (!label_length) {
		add_part(out, inside, target);
	} else {
		add_part(out, label, label_length);
		if (is_automatic(inside, target, label, label_length))
			return;
		str_add(out, " (");
		add_part(out, inside, target);
		str_add_char(out, ')');
	}
}

/* A mention of ourselves at the start: "<@U0BOT>" or "<@U0BOT|intercom>,". */
static const char *skip_mention(const char *text, const char *bot_user)
{
	size_t n = bot_user ? strlen(bot_user) : 0;
	const char *end;

	text = verb_skip_blanks(text);
	if (!n || strncmp(text, "<@", 2) != 0 || strncmp(text + 2, bot_user, n) != 0 ||
	    (text[2 + n] != '>' && text[2 + n] != '|'))
		return text;
	end = strchr(text + 2, '>');
	if (!end)
		return text;
	text = verb_skip_blanks(end + 1);
	return *text == ',' || *text == ':' ? verb_skip_blanks(text + 1) : text;
}

void slack_text_plain(struct str *out, const char *text, const char *bot_user)
{
	OWNED(str) struct str all = { 0 };
	const char *at = skip_mention(text, bot_user);
	size_t length;

	while (*at) {
		const char *end = *at == '<' ? strpbrk(at + 1, "<>\n") : NULL;

		if (end && *end == '>' && end > at + 1) {
			add_markup(&all, at + 1, (size_t)(end - at - 1));
			at = end + 1;
		} else {
			at += add_plain(&all, at);
		}
	}
	at = verb_skip_blanks(str_text(&all));
	length = strlen(at);
	while (length && isspace((unsigned char)at[length - 1]))
		length--;
	str_add_bytes(out, at, length);
}

static char *plain(const char *text, const char *bot_user)
{
	OWNED(str) struct str out = { 0 };

	if (!text)
		return NULL;
	slack_text_plain(&out, text, bot_user);
	return str_take(&out);
}

/* As typed, in a form or a command. */
static char *typed_text(const char *text)
{
	OWNED(str) struct str out = { 0 };

	if (!text)
		return NULL;
	while (*text)
		text += add_plain(&out, text);
	return str_take(&out);
}

/* ---- common members ---- */

static int unknown(struct slack_intent *a, const char *problem)
{
	a->meaning = INTENT_UNKNOWN;
	xreplace(&a->problem, problem);
	return 0;
}

static void set_action(struct slack_intent *a, const char *what, const char *of)
{
	OWNED(str) struct str text = { 0 };

	str_add(&text, what);
	if (of && *of) {
		str_add_char(&text, ' ');
		str_add_shown(&text, of, strlen(of), ACTION_MOST);
	}
	free(a->action);
	a->action = str_take(&text);
}

/* A key may be stored, a trigger may not: it is a credential for 3 s. */
static char *hash_key(const char *prefix, const char *secret)
{
	OWNED(str) struct str key = { 0 };

	if (!secret || !*secret)
		return NULL;
	str_addf(&key, "%s:%.*s", prefix, KEY_HASH, sha256_of(secret, strlen(secret)).text);
	return str_take(&key);
}

static char *join_key(const char *a, const char *b)
{
	OWNED(str) struct str key = { 0 };

	if (!a || !b)
		return NULL;
	str_addf(&key, "%s:%s", a, b);
	return str_take(&key);
}

/* ---- interactive ---- */

/* The meaning of each button. */
static const struct button {
	const char *action_id;
	enum slack_meaning meaning;
	const char *verdict; /* or the form, for INTENT_OPEN */
} BUTTONS[] = {
	{ "approve_accept", INTENT_DECIDE, "approve" },
	{ "approve_reject", INTENT_OPEN, "reject" },
	{ "approve_file", INTENT_ORDER, "file" },
	{ "approve_edit", INTENT_OPEN, "edit" },
	{ "approve_option_", INTENT_DECIDE, "choose" }, /* and the option's number */
	{ "write_undo", INTENT_ORDER, "undo" },
	{ "tell_approve", INTENT_ASKED, "approve" },
	{ "tell_reject", INTENT_ASKED, "reject" },
	{ "restore_proceed", INTENT_DECIDE, "approve" },
	{ "restore_cancel", INTENT_DECIDE, "reject" },
	{ "prompt_continue", INTENT_DECIDE, "continue" },
	{ "prompt_refine", INTENT_OPEN, "refine" },
	{ "prompt_stop", INTENT_DECIDE, "stop" },
	{ "wait_resume", INTENT_DECIDE, "resume" },
	{ "wait_resume_instruct", INTENT_OPEN, "resume" },
	{ "wait_stop", INTENT_DECIDE, "stop" },
	{ "stall_nudge", INTENT_NUDGE, "nudge" },
	{ "stall_nudge_instruct", INTENT_OPEN, "nudge" },
	{ "stall_stop", INTENT_NUDGE, "stop" },
	{ "mode_remote", INTENT_MODE, "remote" },
	{ "mode_hybrid", INTENT_MODE, "hybrid" },
	{ "mode_local", INTENT_MODE, "local" },
	{ "alias_stop", INTENT_ORDER, "run-stop" },
	{ "turn_resume", INTENT_TURN, "resume" },
	{ "turn_instruct", INTENT_TURN, "instruct" },
	{ "turn_stop", INTENT_TURN, "stop" },
	{ "session_clear", INTENT_SESSION, "session-stop" },
	{ "session_resume", INTENT_SESSION, "session-resume" },
	{ "session_restart", INTENT_SESSION, "session-restart" },
};

static const struct button *find_button(const char *action_id)
{
	for (size_t i = 0; i < COUNT(BUTTONS); i++) {
		size_t n = strlen(BUTTONS[i].action_id);

		if (BUTTONS[i].action_id[n - 1] == '_'
		        ? strncmp(BUTTONS[i].action_id, action_id, n) == 0
		        : strcmp(BUTTONS[i].action_id, action_id) == 0)
			return &BUTTONS[i];
	}
	return NULL;
}

/* The number in the id of a button that is one of many; NULL: it is not. */
static char *number_in(const struct button *b, const char *action_id)
{
	size_t n = strlen(b->action_id);

	return b->action_id[n - 1] == '_' ? xstrdup(action_id + n) : NULL;
}

static bool names_session(const struct button *b)
{
	return strncmp(b->action_id, "stall_", 6) == 0 || b->meaning == INTENT_MODE ||
	       b->meaning == INTENT_SESSION;
}

/* The id in the value of a button: all of it, or what follows its word ("session-clear:<id>"). */
static const char *id_in(const char *value)
{
	const char *colon = strchr(value, ':');

	return colon ? colon + 1 : value;
}

static void read_user(struct slack_intent *a, const cJSON *payload)
{
	const char *team = text_in(payload, "user", "team_id");

	a->user = xstrdup_if(text_in(payload, "user", "id"));
	/* In shared channels people of other teams can press buttons, too: their team counts. */
	a->team = xstrdup_if(team ? team : text_in(payload, "team", "id"));
}

static void click_key(struct slack_intent *a, const cJSON *payload, const cJSON *action)
{
	const char *place = text_in(payload, "container", "message_ts");
	const char *at = json_text(action, "action_ts");
	OWNED(str) struct str key = { 0 };

	if (!place)
		place = text_in(payload, "container", "view_id");
	if (!place)
		place = text_in(payload, "view", "id");
	if (!at)
		return;
	str_addf(&key, "click:%s:%s:%s:%s", or_empty(a->user), or_empty(place),
	         json_some_text(action, "action_id"), at);
	a->event_key = str_take(&key);
}

static int read_click(struct slack_intent *a, const cJSON *payload)
{
	const cJSON *actions = json_get(payload, "actions"), *action, *of_ours = NULL;
	const struct button *b = NULL;

	a->channel = xstrdup_if(text_in(payload, "channel", "id"));
	if (!a->channel)
		a->channel = xstrdup_if(text_in(payload, "container", "channel_id"));
	a->message_ts = xstrdup_if(text_in(payload, "container", "message_ts"));
	a->thread_ts = xstrdup_if(text_in(payload, "container", "thread_ts"));
	if (!a->thread_ts)
		a->thread_ts = xstrdup_if(text_in(payload, "message", "thread_ts"));
	a->trigger_id = xstrdup_if(json_text(payload, "trigger_id"));
	a->response_url = xstrdup_if(json_text(payload, "response_url"));
	cJSON_ArrayForEach (action, actions) {
		const char *id = json_text(action, "action_id");

		if (!of_ours)
			of_ours = action;
		b = id ? find_button(id) : NULL;
		if (b) {
			of_ours = action;
			break;
		}
	}
	click_key(a, payload, of_ours);
	set_action(a, json_some_text(of_ours, "action_id"), json_text(of_ours, "value"));
	if (!b) /* a button with a link, or of an older version: nothing to do */
		return of_ours ? 0 : unknown(a, "a click without a button");
	if (!json_text(of_ours, "value"))
		return unknown(a, "a button without its value");
	if (strlen(json_text(of_ours, "value")) > ID_MOST)
		return unknown(a, "the value of a button is no id");
	a->meaning = b->meaning;
	if (b->meaning == INTENT_OPEN)
		a->view = xstrdup(b->verdict);
	else
		a->verdict = xstrdup_if(b->verdict);
	if (names_session(b))
		a->session = xstrdup(id_in(json_text(of_ours, "value")));
	else
		a->request = xstrdup(json_text(of_ours, "value"));
	a->text = number_in(b, json_text(of_ours, "action_id"));
	return 0;
}

/* The meaning of each form; the callback_id may end in ":<id>", otherwise the id is
 * private_metadata. */
static const struct form {
	const char *callback, *verdict;
	bool needs_text;
	enum slack_meaning
	    meaning; /* NOTHING, FORM, EDIT: a decision on a request; else it is about a session */
} FORMS[] = {
	{ "approval_reject", "reject", false, INTENT_NOTHING },
	{ "approval_edit", "approve", true, INTENT_EDIT },
	{ "prompt_refine", "refine", true, INTENT_NOTHING },
	{ "prompt_form", "refine", false, INTENT_FORM },
	{ "wait_instruct", "resume", true, INTENT_NOTHING },
	{ "stall_nudge", "nudge", true, INTENT_NUDGE },
	{ "turn_instruct", "instruct", true, INTENT_TURN },
};

/* The form of a callback_id; *ret_id gets its id, if it has one. */
static const struct form *find_form(const char *callback, const char **ret_id)
{
	for (size_t i = 0; i < COUNT(FORMS); i++) {
		size_t n = strlen(FORMS[i].callback);

		*ret_id = NULL;
		if (strncmp(callback, FORMS[i].callback, n) != 0)
			continue;
		if (callback[n] == '\0')
			return &FORMS[i];
		if (callback[n] != ':')
			continue;
		*ret_id = callback + n + 1;
		return &FORMS[i];
	}
	return NULL;
}

/* The first text of view.state.values[block][action].value, and its block. */
static const char *typed(const cJSON *view, const char **ret_block)
{
	const cJSON *block, *input;

	cJSON_ArrayForEach (block, json_get(json_get(view, "state"), "values")) {
		cJSON_ArrayForEach (input, block) {
			if (!*ret_block)
				*ret_block = block->string;
			if (json_text(input, "value")) {
				*ret_block = block->string;
				return json_text(input, "value");
			}
		}
	}
	return NULL;
}

/* The number of a choice, which is the value of its option. */
static cJSON *chosen(const cJSON *option)
{
	const char *value = json_text(option, "value");

	return value ? cJSON_CreateNumber((double)strtol(value, NULL, 10)) : NULL;
}

/* What a person entered in one input, as for words.form; NULL: nothing. */
static cJSON *entered(const cJSON *input)
{
	const cJSON *many = json_get(input, "selected_options"), *option;
	const char *date = json_text(input, "selected_date"), *value = json_text(input, "value");
	OWNED(char_ptr) char *text = NULL;
	cJSON *all;

	if (json_get(input, "selected_option"))
		return chosen(json_get(input, "selected_option"));
	if (!many) {
		text = typed_text(date ? date : value);
		return text ? cJSON_CreateString(text) : NULL;
	}
	all = cJSON_CreateArray();
	cJSON_ArrayForEach (option, many)
		(void)cJSON_AddItemToArray(all, chosen(option));
	return all;
}

/* {"0": "a text", "1": 2}: of the blocks "field_0", "field_1". */
static char *fields_of(const cJSON *view)
{
	static const char PREFIX[] = SLACK_FIELD;
	OWNED(cJSON_ptr) cJSON *all = cJSON_CreateObject();
	const cJSON *block;
	char *text, *copied;

	cJSON_ArrayForEach (block, json_get(json_get(view, "state"), "values")) {
		cJSON *one = block->child ? entered(block->child) : NULL;

		if (one && block->string && strncmp(block->string, PREFIX, sizeof(PREFIX) - 1) == 0)
			(void)cJSON_AddItemToObject(all, block->string + sizeof(PREFIX) - 1, one);
		else
			cJSON_Delete(one);
	}
	text = cJSON_PrintUnformatted(all);
	copied = xstrdup(text);
	cJSON_free(text);
	return copied;
}

static int read_submission(struct slack_intent *a, const cJSON *payload)
{
	const cJSON *view = json_get(payload, "view");
	const char *callback = json_some_text(view, "callback_id");
	const char *metadata = json_text(view, "private_metadata"), *id = NULL, *block = NULL;
	const struct form *form = find_form(callback, &id);
	const char *text = typed(view, &block);

	a->event_key = hash_key("submit", json_text(payload, "trigger_id"));
	set_action(a, "submit", callback);
	if (!form)
		return unknown(a, "a form that is none of ours");
	if (!id || !*id)
		id = metadata;
	if (!id || !*id || strlen(id) > ID_MOST)
		return unknown(a, "a form that does not say what it is about");
	a->verdict = xstrdup(form->verdict);
	if (form->meaning && form->meaning != INTENT_FORM && form->meaning != INTENT_EDIT)
		a->session = xstrdup(id);
	else
		a->request = xstrdup(id);
	/* A command is run as it was written: what looks like an entity is none. */
	a->text = form->meaning == INTENT_FORM   ? fields_of(view)
	          : form->meaning == INTENT_EDIT ? xstrdup_if(text)
	                                         : typed_text(text);
	a->meaning = form->meaning ? form->meaning : INTENT_DECIDE;
	if (form->needs_text && !*verb_skip_blanks(or_empty(a->text)))
		a->meaning = INTENT_EMPTY;
	a->field = xstrdup_if(block);
	return 0;
}

static int read_interactive(struct slack_intent *a, const cJSON *payload)
{
	const char *type = json_some_text(payload, "type");

	a->kind = xstrdup(type);
	read_user(a, payload);
	if (strcmp(type, "block_actions") == 0)
		return read_click(a, payload);
	if (strcmp(type, "view_submission") == 0)
		return read_submission(a, payload);
	if (strcmp(type, "view_closed") == 0) {
		const char *of = text_in(payload, "view", "private_metadata");

		a->event_key = join_key("closed", text_in(payload, "view", "id"));
		set_action(a, "close", text_in(payload, "view", "callback_id"));
		if (of && *of && strlen(of) <= ID_MOST) {
			a->request = xstrdup(of);
			a->meaning = INTENT_CLOSE;
		}
		return 0;
	}
	set_action(a, type, NULL);
	return *type ? 0 : unknown(a, "an interaction that does not say its type");
}

/* ---- slash commands ---- */

static int read_command(struct slack_intent *a, const cJSON *payload)
{
	const char *text = json_text(payload, "text");

	a->kind = xstrdup("command");
	a->user = xstrdup_if(json_text(payload, "user_id"));
	a->team = xstrdup_if(json_text(payload, "team_id"));
	a->channel = xstrdup_if(json_text(payload, "channel_id"));
	a->trigger_id = xstrdup_if(json_text(payload, "trigger_id"));
	a->response_url = xstrdup_if(json_text(payload, "response_url"));
	a->event_key = hash_key("command", a->trigger_id);
	a->text = typed_text(or_empty(text));
	set_action(a, json_some_text(payload, "command"), a->text);
	a->meaning = INTENT_COMMAND;
	return 0;
}

/* ---- events ---- */

static const char *bot_of(const cJSON *payload, const char *bot_user)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, json_get(payload, "authorizations")) {
		const char *user = json_text(one, "user_id");

		if (user && cJSON_IsTrue(json_get(one, "is_bot")))
			return user;
	}
	return bot_user;
}

/* Whether text names the bot. */
static bool mentions(const char *text, const char *bot)
{
	const char *at = text;
	size_t n = bot ? strlen(bot) : 0;

	while (n && (at = strstr(at, "<@")) != NULL) {
		at += 2;
		if (strncmp(at, bot, n) == 0 && (at[n] == '>' || at[n] == '|'))
			return true;
	}
	return false;
}

/* Messages of programs, above all our own, and events that are not a new message of a person. */
static bool is_noise(const cJSON *event)
{
	static const char *const PERSONS[] = { "file_share", "thread_broadcast", "me_message",
		                               NULL };
	const char *subtype = json_text(event, "subtype");

	return json_text(event, "bot_id") || json_text(event, "app_id") ||
	       !json_text(event, "user") || (subtype && !texts_name(PERSONS, subtype)) ||
	       !json_text(event, "ts") || !json_text(event, "channel");
}

static bool has_files(const cJSON *event)
{
	return cJSON_GetArraySize(json_get(event, "files")) > 0 ||
	       strcmp(json_some_text(event, "subtype"), "file_share") == 0;
}

static const char *team_of(const cJSON *payload, const cJSON *event)
{
	static const char *const NAMES[] = { "user_team", "team" };

	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (json_text(event, NAMES[i]))
			return json_text(event, NAMES[i]);
	return json_text(payload, "team_id");
}

/* A person has changed the text of what they wrote in a thread, or deleted it. A link's preview
 * changes a message, too, but not its text. */
static bool read_afterwards(struct slack_intent *a, const cJSON *payload, const cJSON *event)
{
	static const char *const PROGRAMS[] = { "bot_id", "app_id" };
	const cJSON *before = json_get(event, "previous_message"), *message;
	const char *subtype = json_some_text(event, "subtype"), *was, *text, *thread;
	bool deleted = strcmp(subtype, "message_deleted") == 0;

	message = deleted ? before : json_get(event, "message");
	was = json_text(before, "text");
	text = deleted ? "" : json_text(message, "text");
	thread = json_text(message, "thread_ts");
	if ((!deleted && strcmp(subtype, "message_changed") != 0) || !was || !text ||
	    strcmp(was, text) == 0 || !thread || !json_text(message, "user"))
		return false;
	for (size_t i = 0; i < COUNT(PROGRAMS); i++)
		if (json_text(message, PROGRAMS[i]))
			return false;
	a->user = xstrdup(json_text(message, "user"));
	a->team = xstrdup_if(team_of(payload, message));
	a->channel = xstrdup_if(json_text(event, "channel"));
	a->thread_ts = xstrdup(thread);
	a->meaning = deleted ? INTENT_DELETED : INTENT_EDITED;
	set_action(a, deleted ? "deleted" : "edited", NULL);
	return true;
}

/* An answer alone, or with an id: whoever writes so means a question, not the people here. */
static bool is_stray(const struct verb_line *l)
{
	size_t n = verb_id_length(l->rest);

	return l->verb && l->verb->row == VERB_DECISION && strcmp(l->word, l->verb->word) == 0 &&
	       strcmp(l->word, "yes") != 0 && strcmp(l->word, "no") != 0 &&
	       !*verb_skip_blanks(l->rest + n);
}

static void read_place(struct slack_intent *a, bool named, bool below_us)
{
	const struct verb_line l = verb_read(a->text);
	bool strays = is_stray(&l), steers = l.verb && strcmp(l.verb->word, "steer") == 0;

	if (a->thread_ts)
		a->meaning = INTENT_REPLY;
	else if (named)
		a->meaning = INTENT_MENTION;
	else if (strays)
		a->meaning = INTENT_STRAY;
	if (strays || (a->thread_ts && steers))
		a->verdict = xstrdup(l.verb->word);
	a->below_us = below_us && l.verb && (steers || l.verb->row == VERB_DECISION);
}

static int read_event(struct slack_intent *a, const cJSON *payload, const char *bot_user)
{
	static const char *const MESSAGES[] = { "message", "app_mention", NULL };
	const cJSON *event = json_get(payload, "event");
	const char *type = json_text(event, "type"), *thread, *text;
	const char *bot = bot_of(payload, bot_user);
	bool named;

	a->kind = xstrdup(or_empty(type));
	a->event_key = join_key("event", json_text(payload, "event_id"));
	set_action(a, or_empty(type), NULL);
	if (!type)
		return unknown(a, "an event that does not say its type");
	if (!texts_name(MESSAGES, type) || read_afterwards(a, payload, event) || is_noise(event))
		return 0;
	thread = json_text(event, "thread_ts");
	text = json_some_text(event, "text");
	a->user = xstrdup_if(json_text(event, "user"));
	a->team = xstrdup_if(team_of(payload, event));
	a->channel = xstrdup_if(json_text(event, "channel"));
	a->message_ts = xstrdup_if(json_text(event, "ts"));
	a->thread_ts = thread && strcmp(thread, a->message_ts) != 0 ? xstrdup(thread) : NULL;
	a->message_key = join_key(a->channel, a->message_ts);
	a->client_key = xstrdup_if(json_text(event, "client_msg_id"));
	a->text = plain(text, bot);
	named = strcmp(type, "app_mention") == 0 || mentions(text, bot) ||
	        json_some_text(event, "channel_type")[0] == 'i'; /* im: only we are there */
	set_action(a, a->thread_ts ? "reply" : named ? "mention" : "message", NULL);
	a->mentioned = named;
	a->has_files = has_files(event);
	a->is_me = strcmp(json_some_text(event, "subtype"), "me_message") == 0;
	read_place(a, named,
	           a->thread_ts && bot &&
	               strcmp(json_some_text(event, "parent_user_id"), bot) == 0);
	return 0;
}

/* ---- all of it ---- */

void slack_intent_read(struct slack_intent *a, const struct slack_frame *f, const char *bot_user)
{
	if (!f->root || !cJSON_IsObject(f->payload)) {
		(void)unknown(a,
		              f->root ? "an envelope without payload" : "a frame that is no JSON");
		return;
	}
	if (strcmp(f->type, "slash_commands") == 0)
		(void)read_command(a, f->payload);
	else if (strcmp(f->type, "interactive") == 0)
		(void)read_interactive(a, f->payload);
	else if (strcmp(f->type, "events_api") == 0)
		(void)read_event(a, f->payload, bot_user);
	else
		(void)unknown(a, "an envelope of a type that is not known");
}

void slack_intent_clear(struct slack_intent *a)
{
	char *const owned[] = { a->kind,       a->team,       a->user,         a->channel,
		                a->thread_ts,  a->message_ts, a->event_key,    a->message_key,
		                a->client_key, a->trigger_id, a->response_url, a->verdict,
		                a->request,    a->session,    a->view,         a->field,
		                a->text,       a->action,     a->problem };

	for (size_t i = 0; i < COUNT(owned); i++)
		free(owned[i]);
	*a = (struct slack_intent){ 0 };
}

void slack_payload_strip(cJSON *payload)
{
	static const char *const SECRETS[] = { "token",         "trigger_id", "response_url",
		                               "response_urls", "message",    "authorizations" };
	cJSON *view = cJSON_GetObjectItemCaseSensitive(payload, "view");

	for (size_t i = 0; i < COUNT(SECRETS); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(payload, SECRETS[i]);
	cJSON_DeleteItemFromObjectCaseSensitive(view, "blocks"); /* we made them */
}
