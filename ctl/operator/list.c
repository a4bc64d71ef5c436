/* list: the sessions. */
#include "ctl.h"

#include "json.h"
#include "process_name.h"
#include "sql/session.h"
#include "usage.h"

static cJSON *session_json(const void *row)
{
	const struct session_list_row *s = row;
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "session_id", s->id);
	json_add_text(o, "status", session_status_name(s->status));
	json_add_given(o, "paused_why", s->paused_why);
	json_add_given(o, "parked_with", s->parked_with);
	json_add_text(o, "mode", session_mode_name(s->mode));
	json_add_text(o, "workspace_root", s->workspace_root);
	json_add_text(o, "last_tool", s->last_tool);
	json_add_text(o, "updated_at", s->updated_at);
	json_add_text(o, "last_activity_at", s->last_activity_at);
	json_add_text(o, "owner", s->owner_user_id);
	json_add_given(o, "user", s->agent_user);
	json_add_text(o, "agent", s->client_name);
	json_add_given(o, "label", s->label);
	json_add_text(o, "prompt", s->prompt);
	usage_put(o, &USAGE_OF(s));
	return o;
}

/* Nobody is connected between two hooks: then it is there if the process of its host is. */
static const char *agent_word(const struct session_list_row *s)
{
	if (s->connectivity_status != SESSION_CONNECTIVITY_STATUS_ONLINE || !s->only_hooks)
		return session_connectivity_status_name(s->connectivity_status);
	if (!s->hook_process)
		return "unknown";
	return process_name_runs(s->hook_process) ? "online" : "gone";
}

static int add_row(struct ctl *c, struct table *t, const void *row, struct err *e)
{
	const struct session_list_row *s = row;
	OWNED(str) struct str id = { 0 }, usage = { 0 };
	struct age age = age_of(s->last_activity_at ? s->last_activity_at : s->created_at);

	if (add_short_id(c, s->id, &id, e))
		return -1;
	table_add(t, str_text(&id));
	table_add(t, session_status_name(s->status));
	table_add(t, session_mode_name(s->mode));
	table_add(t, agent_word(s));
	table_add(t, age.text);
	table_add(t, s->last_tool);
	table_add(t, s->agent_user);
	table_add(t, s->client_name);
	table_add(t, s->label);
	table_add(t, s->owner_user_id);
	usage_add(&usage, &USAGE_OF(s));
	if (s->paused_why)
		str_addf(&usage, "%s%s", usage.length ? ". " : "", s->paused_why);
	table_add(t, usage.length ? usage.bytes : NULL);
	table_add(t, s->workspace_root);
	table_add(t, s->prompt);
	return 0;
}

static int run_list(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "ID",    "STATUS",    "MODE", "AGENT",
		                                "IDLE",  "LAST TOOL", "USER", "CLIENT",
		                                "LABEL", "OWNER",     "USED", "WORKSPACE",
		                                "PROMPT" };
	static const struct listing SESSIONS = {
		"sessions", "no sessions", HEADINGS, COUNT(HEADINGS), session_json, add_row, NULL
	};
	OWNED(session_list_row) struct session_list_row s = { 0 };

	sql_session_list(&c->store, &s);
	return print_listing(c, &s.row, &SESSIONS, e);
}

const struct command_spec cmd_list = { "list", HELP("", "the agents' sessions", NULL),
	                               ARGUMENTS(0, 0, 0), .run = run_list };
