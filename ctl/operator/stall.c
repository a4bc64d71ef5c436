/* stall: which agents are silent, and whether it is noticed. */
#include "ctl.h"

#include <stdio.h>

static cJSON *alert_json(stmt *s)
{
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "alert_id", col_text(s, STALL_LIST_ID));
	json_add_text(o, "session_id", col_text(s, STALL_LIST_SESSION_ID));
	json_add_text(o, "status", col_text(s, STALL_LIST_STATUS));
	json_add_text(o, "last_tool", col_text(s, STALL_LIST_LAST_TOOL));
	json_add_text(o, "last_activity_at", col_text(s, STALL_LIST_LAST_ACTIVITY_AT));
	(void)cJSON_AddNumberToObject(o, "idle_seconds",
	                              (double)col_int(s, STALL_LIST_IDLE_SECONDS));
	(void)cJSON_AddNumberToObject(o, "nudge_count", (double)col_int(s, STALL_LIST_NUDGE_COUNT));
	json_add_text(o, "prompt", col_text(s, STALL_LIST_PROMPT));
	if (col_text(s, STALL_LIST_PROGRESS_SNAPSHOT))
		json_raw(o, "progress_snapshot", col_text(s, STALL_LIST_PROGRESS_SNAPSHOT));
	json_add_text(o, "workspace_root", col_text(s, STALL_LIST_WORKSPACE_ROOT));
	json_add_text(o, "created_at", col_text(s, STALL_LIST_CREATED_AT));
	return o;
}

static int add_row(struct ctl *c, struct table *t, stmt *s, struct err *e)
{
	OWNED(str) struct str id = STR_INIT;
	struct age idle = age_of(col_text(s, STALL_LIST_LAST_ACTIVITY_AT));
	char nudges[24];

	if (short_session_id(c, col_text(s, STALL_LIST_SESSION_ID), &id, e))
		return -1;
	(void)snprintf(nudges, sizeof(nudges), "%lld",
	               (long long)col_int(s, STALL_LIST_NUDGE_COUNT));
	table_add(t, str_text(&id));
	table_add(t, idle.text);
	table_add(t, col_text(s, STALL_LIST_LAST_TOOL));
	table_add(t, nudges);
	table_add(t, col_text(s, STALL_LIST_STATUS));
	table_add(t, col_text(s, STALL_LIST_CLIENT_NAME));
	table_add(t, col_text(s, STALL_LIST_WORKSPACE_ROOT));
	return 0;
}

static int list_alerts(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "SESSION", "SILENT", "LAST TOOL", "NUDGES",
		                                "ALERT",   "CLIENT", "WORKSPACE" };
	static const struct listing ALERTS = { "alerts",        "no agent is silent", HEADINGS,
		                               COUNT(HEADINGS), alert_json,           add_row };

	return print_listing(c, store_stmt(&c->store, SQL_STALL_LIST), &ALERTS, e);
}

static int run_stall(struct ctl *c, struct err *e)
{
	if (c->argc == 1)
		return err_set(e, ERR_INPUT, "stall %.40s needs a session", c->argv[0]);
	if (c->argc == 2)
		return say_stall(c, e);
	return list_alerts(c, e);
}

const struct command_spec cmd_stall = {
	"stall",
	"[on|off SESSION]",
	"which agents are silent; stall detection on or off",
	"Without arguments, lists the open alerts. off: a session's silence raises none.\n"
	"Nudge a silent agent with `nudge`, end it with `session stop`.\n",
	0,
	2,
	0,
	run_stall
};
