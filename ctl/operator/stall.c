/* stall: which agents are silent, and whether it is noticed. nudge: tells a silent one to go on. */
#include "ctl.h"

#include "decision.h"
#include "stall.h"

#include <stdio.h>
#include <string.h>

/* ---- nudge ---- */

static int run_nudge(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *session = NULL;
	OWNED(char_ptr) char *text = c->argc > 1 ? join_arguments(c, 1) : NULL;
	struct err why = ERR_INIT;
	int64_t seq;

	if (find_session(c, c->argv[0], &session, e) || store_begin(&c->store, e))
		return -1;
	if (stall_nudge(&c->store, session, text, NULL, "ctl", &seq, &why) == 0)
		(void)saying_check(&c->store, seq, &why);
	if (end_saying(c, &why, e))
		return -1;
	if (!c->json)
		(void)puts("nudged; the agent is told with the result of its next call");
	return 0;
}

/* ---- stall ---- */

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

static int switch_it(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *session = NULL;
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;

	if (find_session(c, c->argv[1], &session, e))
		return -1;
	const struct command order = {
		.verb = "stall", .session_id = session, .argument = c->argv[0], .source = "ctl"
	};
	if (give_order(c, &order, &result, e))
		return -1;
	if (c->json)
		json_print(c, cJSON_Parse(result.reply ? result.reply : ""));
	else
		(void)printf("session %.13s: its silence is %s\n", session,
		             strcmp(c->argv[0], "on") == 0 ? "noticed" : "not noticed");
	return 0;
}

static int run_stall(struct ctl *c, struct err *e)
{
	if (c->argc == 1)
		return err_set(e, ERR_INPUT, "stall %.40s needs a session", c->argv[0]);
	if (c->argc == 2)
		return switch_it(c, e);
	return list_alerts(c, e);
}

const struct command_spec cmd_stall = {
	"stall",
	"[on|off SESSION]",
	"which agents are silent; whether that is noticed",
	"Without arguments, lists the open alerts. off: a session's silence raises none.\n"
	"Nudge a silent agent with `nudge`, end it with `session stop`.\n",
	0,
	2,
	0,
	run_stall
};

const struct command_spec cmd_nudge = {
	"nudge",
	"SESSION [TEXT...]",
	"tell a silent agent to go on",
	"Without a text, stall.default_nudge_message of the configuration. An agent on MCP cannot\n"
	"be woken from outside: it reads this with the result of its next call.\n",
	1,
	-1,
	0,
	run_nudge
};
