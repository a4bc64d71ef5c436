/* stall: which agents are silent, and whether stall detection is on. */
#include "ctl.h"

#include "json.h"
#include "sql/stall.h"

#include <stdio.h>

static cJSON *alert_json(const void *row)
{
	const struct stall_list_row *a = row;
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "alert_id", a->id);
	json_add_text(o, "session_id", a->session_id);
	json_add_text(o, "status", stall_status_name(a->status));
	json_add_text(o, "cause", a->cause);
	json_add_text(o, "last_tool", a->last_tool);
	json_add_text(o, "last_activity_at", a->last_activity_at);
	(void)cJSON_AddNumberToObject(o, "idle_seconds", (double)a->idle_seconds);
	(void)cJSON_AddNumberToObject(o, "nudge_count", (double)a->nudge_count);
	json_add_text(o, "prompt", a->prompt);
	if (a->progress_snapshot)
		json_raw(o, "progress_snapshot", a->progress_snapshot);
	json_add_given(o, "label", a->label);
	json_add_given(o, "user", a->agent_user);
	json_add_text(o, "workspace_root", a->workspace_root);
	json_add_text(o, "created_at", a->created_at);
	return o;
}

static int add_row(struct ctl *c, struct table *t, const void *row, struct err *e)
{
	const struct stall_list_row *a = row;
	OWNED(str) struct str id = { 0 };
	struct age idle = age_of(a->last_activity_at);
	char nudges[24];

	if (add_short_id(c, a->session_id, &id, e))
		return -1;
	(void)snprintf(nudges, sizeof(nudges), "%lld", (long long)a->nudge_count);
	table_add(t, str_text(&id));
	table_add(t, idle.text);
	table_add(t, a->last_tool);
	table_add(t, nudges);
	table_add(t, stall_status_name(a->status));
	table_add(t, a->agent_user);
	table_add(t, a->client_name);
	table_add(t, a->label);
	table_add(t, a->workspace_root);
	return 0;
}

static int list_alerts(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "SESSION", "SILENT", "LAST TOOL",
		                                "NUDGES",  "ALERT",  "USER",
		                                "CLIENT",  "LABEL",  "WORKSPACE" };
	static const struct listing ALERTS = {
		"alerts", "no agent is silent", HEADINGS, COUNT(HEADINGS), alert_json, add_row, NULL
	};
	OWNED(stall_list_row) struct stall_list_row a = { 0 };

	sql_stall_list(&c->store, &a);
	return print_listing(c, &a.row, &ALERTS, e);
}

static int run_stall(struct ctl *c, struct err *e)
{
	if (c->argc == 0)
		return list_alerts(c, e);
	if (c->argc == 1)
		return err_set(e, ERR_INPUT, "stall %.40s needs a session", c->argv[0]);
	const struct words w = { .verb = verb_find("stall"), .id = c->argv[1], .text = c->argv[0] };
	return ctl_say_and_print(c, &w, e);
}

const struct command_spec cmd_stall = {
	"stall",
	HELP("[on|off SESSION]", "which agents are silent; stall detection on or off",
	     "Without arguments, lists the open alerts. off: a session's silence raises none.\n"
	     "Nudge a silent agent with `nudge`, end it with `session stop`.\n"),
	ARGUMENTS(0, 2, 0), .run = run_stall
};
