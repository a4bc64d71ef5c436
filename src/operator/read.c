/* What is running, what is waiting, and what can be said. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "seen.h"
#include "setting.h"
#include "sql/operator.h"
#include "sql/request.h"
#include "sql/session.h"
#include "texts.h"
#include "usage.h"

#include <string.h>

enum {
	ROWS_MOST = 1000, /* of a listing in JSON */
	LISTED = 20, /* sessions or questions, in words */
	TEXT_MOST = 3700, /* characters of a list, in words: what Slack takes, less its last line */
	DATE_MORE = 47, /* what an instant has more in the reader's time */
	TOOL_SHOWN = 80, /* bytes of a tool's name, which agents choose */
	PROMPT_SHOWN = 80,
};

/* ---- listings ---- */

/* Adds a row to a listing; false: the listing is full. */
static bool add_row(struct desk *d, cJSON *list, cJSON *one)
{
	if (cJSON_GetArraySize(list) < ROWS_MOST) {
		(void)cJSON_AddItemToArray(list, one);
		return true;
	}
	cJSON_Delete(one);
	(void)cJSON_AddBoolToObject(d->out->json, "more", 1);
	return false;
}

static int list_json(struct desk *d, struct err *e)
{
	OWNED(session_list_row) struct session_list_row s = { 0 };
	cJSON *sessions = cJSON_AddArrayToObject(d->out->json, "sessions");
	bool room = true;
	int got;

	sql_session_list(d->st, &s);
	while ((got = row_next(&s.row, e)) > 0 && room) {
		cJSON *one = cJSON_CreateObject();

		json_put_text(one, "session_id", s.id);
		json_put_text(one, "status", session_status_name(s.status));
		json_put_text(one, "mode", session_mode_name(s.mode));
		json_put_text(one, "workspace_root", s.workspace_root);
		json_put_text(one, "last_tool", s.last_tool);
		json_put_text(one, "updated_at", s.updated_at);
		json_put_text(one, "last_activity_at", s.last_activity_at);
		json_put_text(one, "owner", s.owner_user_id);
		json_put_given(one, "user", s.agent_user);
		json_put_text(one, "agent", s.client_name);
		json_put_given(one, "label", s.label);
		json_put_text(one, "prompt", s.prompt);
		json_put_given(one, "parked_with", s.parked_with);
		json_put_given(one, "paused_why", s.paused_why);
		usage_put(one, &USAGE_OF(&s));
		room = add_row(d, sessions, one);
	}
	return got < 0 ? -1 : 0;
}

static int add_shown(struct desk *d, cJSON *one, int64_t seq, struct err *e)
{
	OWNED(request) struct request r = { 0 };

	if (request_read(d->st, seq, &r, e) < 0)
		return -1;
	seen_add_members(one, &r);
	return 0;
}

/* A list in words. */
struct lines {
	struct str *text;
	int count, more; /* lines that are there, and that did not fit */
};

/* Adds a line of so many instants, unless the list is full. */
static void add_line(struct lines *l, const char *line, size_t instants)
{
	if (l->more || l->count == LISTED ||
	    l->text->length + strlen(line) + (l->count + 1) * instants * DATE_MORE > TEXT_MOST) {
		l->more++;
		return;
	}
	str_add(l->text, line);
	l->count++;
}

static void describe_question(struct str *line, const struct inbox_list_row *q)
{
	str_addf(line, "%.*s  %s", FIND_SHORT, q->id, request_kind_name(q->kind));
	if (q->risk_level && q->risk_level != REQUEST_RISK_LEVEL_LOW)
		str_addf(line, ", %s risk", request_risk_level_name(q->risk_level));
	str_add(line, ": ");
	str_add_shown(line, q->title, strlen(q->title), 100);
	str_add(line, "  of ");
	find_add_whose(line, q->agent_user, q->client_name, q->label, q->workspace_root);
	str_add(line, q->listening ? "\n" : " (not listening)\n");
}

/* In words first those whose agents listen; the others wait in later. */
static void add_question(struct lines *l, struct texts *later, const struct inbox_list_row *q)
{
	OWNED(str) struct str line = { 0 };

	describe_question(&line, q);
	if (q->listening)
		add_line(l, line.bytes, 0);
	else
		texts_add(later, line.bytes);
}

static cJSON *question_json(const struct inbox_list_row *q)
{
	cJSON *one = cJSON_CreateObject();

	json_put_text(one, "request_id", q->id);
	json_put_text(one, "kind", request_kind_name(q->kind));
	json_put_text(one, "title", q->title);
	json_put_text(one, "file_path", q->file_path);
	json_put_text(one, "risk_level", request_risk_level_name(q->risk_level));
	json_put_text(one, "session_id", q->session_id);
	json_put_text(one, "workspace_root", q->workspace_root);
	json_put_given(one, "user", q->agent_user);
	json_put_given(one, "label", q->label);
	json_put_text(one, "state", request_state_name(q->state));
	json_put_text(one, "created_at", q->created_at);
	json_put_text(one, "deadline_at", q->deadline_at);
	return one;
}

static void end_inbox(struct lines *l, const struct texts *later)
{
	for (size_t i = 0; i < later->count; i++)
		add_line(l, later->items[i], 0);
	if (l->more)
		str_addf(l->text, "... and %d more; `agent-intercom-ctl inbox` lists all", l->more);
	else if (l->count == 0)
		str_add(l->text, "nothing waits");
}

static int inbox(struct desk *d, struct err *e)
{
	OWNED(inbox_list_row) struct inbox_list_row q = { 0 };
	OWNED(texts) struct texts later = { 0 };
	cJSON *questions = cJSON_AddArrayToObject(d->out->json, "questions");
	struct lines l = { .text = &d->out->text };
	bool room = true;
	int got;

	sql_inbox_list(d->st, 0, &q);
	while ((got = row_next(&q.row, e)) > 0) {
		cJSON *one = room ? question_json(&q) : NULL;

		add_question(&l, &later, &q);
		room = room && add_row(d, questions, one);
		if (room && add_shown(d, one, q.seq, e))
			return -1;
	}
	end_inbox(&l, &later);
	return got < 0 ? -1 : 0;
}

static const char *sign_of(enum session_status status)
{
	switch (status) {
	case SESSION_STATUS_INTERRUPTED:
	case SESSION_STATUS_TERMINATED:
		return "🔴";
	case SESSION_STATUS_PAUSED:
	case SESSION_STATUS_PARKED:
		return "⏸️";
	case SESSION_STATUS_CREATED:
	case SESSION_STATUS_ACTIVE:
	case SESSION_STATUS_NONE:
		break;
	}
	return "🟢";
}

static void add_times(struct str *out, const struct operator_session_row *s)
{
	str_addf(out, "  started %s", s->created_at);
	if (s->last_tool) {
		str_add(out, "  last: ");
		str_add_shown(out, s->last_tool, strlen(s->last_tool), TOOL_SHOWN);
	} else if (s->last_activity_at) {
		str_add(out, "  last activity");
	}
	if (s->last_activity_at)
		str_addf(out, " at %s", s->last_activity_at);
}

static void add_session(struct str *out, const struct operator_session_row *s)
{
	str_addf(out, "%s %.*s  %s, %s", sign_of(s->status), FIND_SHORT, s->id,
	         session_status_name(s->status), session_mode_name(s->mode));
	if (s->connectivity_status != SESSION_CONNECTIVITY_STATUS_ONLINE)
		str_addf(out, ", %s", session_connectivity_status_name(s->connectivity_status));
	if (s->agent_user)
		str_addf(out, "  user %s", s->agent_user);
	if (s->client_name) {
		str_add(out, "  ");
		find_add_agent(out, s->client_name, s->label);
	}
	str_add(out, "  ");
	str_add_shown(out, s->workspace_root, strlen(s->workspace_root), 100);
	add_times(out, s);
	if (s->owner_user_id)
		str_addf(out, "  of %s", s->owner_user_id);
	if (s->total_tokens || s->cost_micros || s->context_size) {
		str_add(out, "  used: ");
		usage_add(out, &USAGE_OF(s));
	}
	if (s->parked_with)
		str_addf(out, "  parked with question %.*s%s", FIND_SHORT, s->parked_with,
		         s->parked_open ? "" : ", which is answered: it goes on when limits allow");
	if (s->questions)
		str_addf(out, "  %lld waiting for you", (long long)s->questions);
	if (s->prompt) {
		str_add(out, "  “");
		str_add_shown(out, s->prompt, strlen(s->prompt), PROMPT_SHOWN);
		str_add(out, "”");
	}
	str_add_char(out, '\n');
}

/* Those that their agents left are only counted. */
static int list_text(struct desk *d, struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row s = { 0 };
	struct lines l = { .text = &d->out->text };
	int got, left = 0;

	sql_operator_sessions(d->st, NULL, ROWS_MOST, &s);
	while ((got = row_next(&s.row, e)) > 0) {
		OWNED(str) struct str line = { 0 };

		left += s.is_left;
		if (s.is_left)
			continue;
		add_session(&line, &s);
		add_line(&l, str_text(&line), 2);
	}
	if (l.count == 0)
		str_add(l.text, left ? "no agent is at work\n" : "no session is live");
	if (l.more)
		str_addf(l.text, "... and %d more", l.more);
	if (left)
		str_addf(l.text, "%s%s%d that %s left", l.more ? ", and " : "... and ",
		         l.count + l.more + left == ROWS_MOST ? "at least " : "", left,
		         left == 1 ? "its agent" : "their agents");
	if (l.more || left)
		str_add(l.text, "; `agent-intercom-ctl list` shows them\n");
	return got < 0 ? -1 : 0;
}

/* ---- help ---- */

/* Adds the aliases of [commands]. */
static void add_custom(struct desk *d, struct str *out)
{
	OWNED(cJSON_ptr) cJSON *map = NULL;
	const cJSON *one;

	(void)setting_json(d->st, "commands", &map, NULL);
	if (!cJSON_IsObject(map) || !map->child)
		return;
	str_addf(out, "%s*Custom commands*\n", out->length ? "\n" : "");
	cJSON_ArrayForEach (one, map)
		str_addf(out, "`%s` — %s\n", one->string,
		         cJSON_IsString(one) ? one->valuestring : "");
}

static int help(struct desk *d)
{
	static const char *const NAMES[][2] = { { "sessions", "session" },
		                                { "checkpoints", "checkpoint" } };
	const char *category = d->w->line ? verb_skip_blanks(d->w->line) : d->w->text;
	struct str *out = &d->out->text;

	for (size_t i = 0; category && i < COUNT(NAMES); i++)
		if (strcmp(category, NAMES[i][0]) == 0)
			category = NAMES[i][1];
	if (category && strcmp(category, "custom") == 0) {
		size_t verbs = verb_help(out, category) ? out->length : 0;

		add_custom(d, out);
		if (out->length == verbs)
			str_add(out, "no custom commands are configured");
		return 0;
	}
	if (!verb_help(out, category))
		return desk_tell(d, SAID_UNCLEAR,
		                 "there is no help on '%.40s'; categories: answers, session, "
		                 "checkpoint, files, custom",
		                 category);
	if (category && *category)
		return 0;
	add_custom(d, out);
	str_add(out,
	        "\nIn a session's thread these words work without /intercom, and anything else is "
	        "told to the agent. Ids may be shortened: 4 characters are enough where only one "
	        "begins so. `help <category>`: answers, session, checkpoint, files, custom.");
	return 0;
}

int desk_read(struct desk *d, struct err *e)
{
	const char *word = d->w->verb->word;

	d->out->outcome = SAID_DONE;
	if (strcmp(word, "help") == 0)
		return help(d);
	if (strcmp(word, "session-checkpoints") == 0)
		return desk_list_checkpoints(d, e);
	d->out->json = cJSON_CreateObject();
	if (strcmp(word, "inbox") == 0)
		return inbox(d, e);
	if (strcmp(word, "runs") == 0)
		return desk_runs(d, e);
	return list_json(d, e) || list_text(d, e) ? -1 : 0;
}
