/* What runs, what waits, and what can be said. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "setting.h"

#include <string.h>

enum {
	ROWS_MOST = 1000, /* of a listing in JSON */
	LISTED = 20, /* sessions in words */
	TEXT_MOST = 3800, /* characters of them */
};

/* ---- listings ---- */

static void add_member(cJSON *object, const char *name, const char *text)
{
	if (text)
		(void)cJSON_AddStringToObject(object, name, text);
	else
		(void)cJSON_AddNullToObject(object, name);
}

/* Adds a row to a listing; false: it is full. */
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
	stmt *s = store_stmt(d->st, SQL_SESSION_LIST);
	cJSON *sessions = cJSON_AddArrayToObject(d->out->json, "sessions");
	bool room = true;
	int got;

	while ((got = stmt_row(s, e)) > 0 && room) {
		cJSON *one = cJSON_CreateObject();

		add_member(one, "session_id", col_text(s, SESSION_LIST_ID));
		add_member(one, "status", col_text(s, SESSION_LIST_STATUS));
		add_member(one, "mode", col_text(s, SESSION_LIST_MODE));
		add_member(one, "workspace_root", col_text(s, SESSION_LIST_WORKSPACE_ROOT));
		add_member(one, "last_tool", col_text(s, SESSION_LIST_LAST_TOOL));
		add_member(one, "updated_at", col_text(s, SESSION_LIST_UPDATED_AT));
		room = add_row(d, sessions, one);
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static int inbox(struct desk *d, struct err *e)
{
	stmt *s = store_stmt(d->st, SQL_INBOX_LIST);
	cJSON *questions = cJSON_AddArrayToObject(d->out->json, "questions");
	bool room = true;
	int got, count = 0;

	bind_int(s, ":after", 0);
	while ((got = stmt_row(s, e)) > 0 && room) {
		cJSON *one = cJSON_CreateObject();
		const char *title = col_text(s, INBOX_LIST_TITLE);

		add_member(one, "request_id", col_text(s, INBOX_LIST_ID));
		add_member(one, "kind", col_text(s, INBOX_LIST_KIND));
		add_member(one, "title", title);
		add_member(one, "file_path", col_text(s, INBOX_LIST_FILE_PATH));
		add_member(one, "risk_level", col_text(s, INBOX_LIST_RISK_LEVEL));
		add_member(one, "session_id", col_text(s, INBOX_LIST_SESSION_ID));
		add_member(one, "workspace_root", col_text(s, INBOX_LIST_WORKSPACE_ROOT));
		add_member(one, "state", col_text(s, INBOX_LIST_STATE));
		add_member(one, "created_at", col_text(s, INBOX_LIST_CREATED_AT));
		add_member(one, "deadline_at", col_text(s, INBOX_LIST_DEADLINE_AT));
		room = add_row(d, questions, one);
		if (count++ >= LISTED)
			continue;
		str_addf(&d->out->text, "%.*s  ", FIND_SHORT, col_text(s, INBOX_LIST_ID));
		str_add_shown(&d->out->text, title, strlen(title), 100);
		str_add_char(&d->out->text, '\n');
	}
	stmt_reset(s);
	if (count == 0)
		str_add(&d->out->text, "nothing waits");
	return got < 0 ? -1 : 0;
}

static void add_session(struct str *out, stmt *s)
{
	const char *tool = col_text(s, OPERATOR_SESSIONS_LAST_TOOL);
	const char *client = col_text(s, OPERATOR_SESSIONS_CLIENT_NAME);
	const char *at = col_text(s, OPERATOR_SESSIONS_LAST_ACTIVITY_AT);
	const char *root = col_text(s, OPERATOR_SESSIONS_WORKSPACE_ROOT);
	long long questions = col_int(s, OPERATOR_SESSIONS_QUESTIONS);

	str_addf(out, "%.*s  %s, %s", FIND_SHORT, col_text(s, OPERATOR_SESSIONS_ID),
	         col_text(s, OPERATOR_SESSIONS_STATUS), col_text(s, OPERATOR_SESSIONS_MODE));
	if (strcmp(col_text(s, OPERATOR_SESSIONS_CONNECTIVITY_STATUS), "online") != 0)
		str_addf(out, ", %s", col_text(s, OPERATOR_SESSIONS_CONNECTIVITY_STATUS));
	if (client) {
		str_add(out, "  ");
		str_add_shown(out, client, strlen(client), 40);
	}
	str_add(out, "  ");
	str_add_shown(out, root, strlen(root), 100);
	if (tool)
		str_addf(out, "  last: %s", tool);
	if (at)
		str_addf(out, " at %.16sZ", at);
	if (questions)
		str_addf(out, "  %lld waiting for you", questions);
	str_add_char(out, '\n');
}

static int list_text(struct desk *d, struct err *e)
{
	struct str *text = &d->out->text;
	stmt *s = store_stmt(d->st, SQL_OPERATOR_SESSIONS);
	int got, count = 0;

	bind_text(s, ":channel", NULL);
	bind_int(s, ":limit", LISTED + 1);
	while ((got = stmt_row(s, e)) > 0) {
		if (count++ == LISTED || text->length > TEXT_MOST) {
			str_add(text, "... and more; see `agent-intercom-ctl list`\n");
			got = 0;
			break;
		}
		add_session(text, s);
	}
	stmt_reset(s);
	if (count == 0)
		str_add(text, "no session is live");
	return got < 0 ? -1 : 0;
}

/* ---- help ---- */

/* The aliases of [commands]. */
static void add_custom(struct desk *d, struct str *out)
{
	OWNED(str) struct str commands = STR_INIT;
	OWNED(cJSON_ptr) cJSON *map = NULL;
	const cJSON *one;

	if (setting_get(d->st, "commands", &commands, NULL) <= 0)
		return;
	map = cJSON_Parse(str_text(&commands));
	if (!cJSON_IsObject(map) || !map->child)
		return;
	str_addf(out, "%s*Custom commands* (configured; this version does not run them yet)\n",
	         out->length ? "\n" : "");
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
	if (category && strcmp(category, "checkpoint") == 0) {
		str_add(out, "this version has no checkpoints");
		return 0;
	}
	if (category && strcmp(category, "custom") == 0) {
		add_custom(d, out);
		if (!out->length)
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
	d->out->json = cJSON_CreateObject();
	if (strcmp(word, "inbox") == 0)
		return inbox(d, e);
	return list_json(d, e) || list_text(d, e) ? -1 : 0;
}
