/* list: the sessions. */
#include "ctl.h"

#include <stdio.h>

static cJSON *session_json(stmt *s)
{
	cJSON *o = cJSON_CreateObject();

	json_text(o, "session_id", col_text(s, SESSION_LIST_ID));
	json_text(o, "status", col_text(s, SESSION_LIST_STATUS));
	json_text(o, "mode", col_text(s, SESSION_LIST_MODE));
	json_text(o, "workspace_root", col_text(s, SESSION_LIST_WORKSPACE_ROOT));
	json_text(o, "last_tool", col_text(s, SESSION_LIST_LAST_TOOL));
	json_text(o, "updated_at", col_text(s, SESSION_LIST_UPDATED_AT));
	return o;
}

static int print_json(struct ctl *c, struct err *e)
{
	stmt *s = store_stmt(&c->store, SQL_SESSION_LIST);
	cJSON *o = cJSON_CreateObject();
	cJSON *sessions = cJSON_AddArrayToObject(o, "sessions");
	int got;

	while ((got = stmt_row(s, e)) > 0)
		(void)cJSON_AddItemToArray(sessions, session_json(s));
	stmt_reset(s);
	if (got == 0)
		json_print(c, o);
	else
		cJSON_Delete(o);
	return got;
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

static int print_text(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "ID",  "STATUS",    "MODE",   "AGENT",
		                                "AGE", "LAST TOOL", "CLIENT", "WORKSPACE" };
	OWNED(table) struct table t;
	stmt *s = store_stmt(&c->store, SQL_SESSION_LIST);
	int got;

	table_begin(&t, HEADINGS, COUNT(HEADINGS));
	while ((got = stmt_row(s, e)) > 0)
		if (add_row(c, &t, s, e)) {
			got = -1;
			break;
		}
	stmt_reset(s);
	if (got == 0 && t.count == t.columns)
		(void)puts("no sessions");
	else if (got == 0)
		table_print(c, &t);
	return got;
}

static int run_list(struct ctl *c, struct err *e)
{
	return c->json ? print_json(c, e) : print_text(c, e);
}

const struct command_spec cmd_list = {
	"list", "", "the sessions of agents", NULL, 0, 0, 0, run_list
};
