/* list: the sessions. */
#include "ctl.h"

static cJSON *session_json(stmt *s)
{
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "session_id", col_text(s, SESSION_LIST_ID));
	json_add_text(o, "status", col_text(s, SESSION_LIST_STATUS));
	json_add_text(o, "mode", col_text(s, SESSION_LIST_MODE));
	json_add_text(o, "workspace_root", col_text(s, SESSION_LIST_WORKSPACE_ROOT));
	json_add_text(o, "last_tool", col_text(s, SESSION_LIST_LAST_TOOL));
	json_add_text(o, "updated_at", col_text(s, SESSION_LIST_UPDATED_AT));
	return o;
}

static int add_row(struct ctl *c, struct table *t, stmt *s, struct err *e)
{
	OWNED(str) struct str id = STR_INIT;
	struct age age = age_of(col_text(s, SESSION_LIST_UPDATED_AT));

	if (short_session_id(c, col_text(s, SESSION_LIST_ID), &id, e))
		return -1;
	table_add(t, str_text(&id));
	table_add(t, col_text(s, SESSION_LIST_STATUS));
	table_add(t, col_text(s, SESSION_LIST_MODE));
	table_add(t, col_text(s, SESSION_LIST_CONNECTIVITY_STATUS));
	table_add(t, age.text);
	table_add(t, col_text(s, SESSION_LIST_LAST_TOOL));
	table_add(t, col_text(s, SESSION_LIST_CLIENT_NAME));
	table_add(t, col_text(s, SESSION_LIST_WORKSPACE_ROOT));
	return 0;
}

static int run_list(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "ID",  "STATUS",    "MODE",   "AGENT",
		                                "AGE", "LAST TOOL", "CLIENT", "WORKSPACE" };
	static const struct listing SESSIONS = { "sessions",      "no sessions", HEADINGS,
		                                 COUNT(HEADINGS), session_json,  add_row };

	return print_listing(c, store_stmt(&c->store, SQL_SESSION_LIST), &SESSIONS, e);
}

const struct command_spec cmd_list = {
	"list", "", "the agents' sessions", NULL, 0, 0, 0, run_list
};
