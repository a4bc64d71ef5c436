/* inbox: what waits for a person. */
#include "ctl.h"

static cJSON *row_json(stmt *s)
{
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "id", col_text(s, INBOX_LIST_ID));
	json_add_text(o, "kind", col_text(s, INBOX_LIST_KIND));
	json_add_text(o, "state", col_text(s, INBOX_LIST_STATE));
	json_add_text(o, "title", col_text(s, INBOX_LIST_TITLE));
	json_add_text(o, "file_path", col_text(s, INBOX_LIST_FILE_PATH));
	json_add_text(o, "risk_level", col_text(s, INBOX_LIST_RISK_LEVEL));
	json_add_text(o, "session_id", col_text(s, INBOX_LIST_SESSION_ID));
	json_add_text(o, "workspace_root", col_text(s, INBOX_LIST_WORKSPACE_ROOT));
	json_add_text(o, "client_name", col_text(s, INBOX_LIST_CLIENT_NAME));
	json_add_text(o, "created_at", col_text(s, INBOX_LIST_CREATED_AT));
	json_add_text(o, "deadline_at", col_text(s, INBOX_LIST_DEADLINE_AT));
	(void)cJSON_AddBoolToObject(o, "listening", col_int(s, INBOX_LIST_LISTENING) != 0);
	return o;
}

static int add_row(struct ctl *c, struct table *t, stmt *s, struct err *e)
{
	OWNED(str) struct str id = STR_INIT, what = STR_INIT;
	const char *file = col_text(s, INBOX_LIST_FILE_PATH);
	struct age age = age_of(col_text(s, INBOX_LIST_CREATED_AT));

	if (short_request_id(c, col_text(s, INBOX_LIST_ID), &id, e))
		return -1;
	str_addf(&what, "%s%s%s", file ? file : "", file ? ": " : "",
	         col_text(s, INBOX_LIST_TITLE));
	table_add(t, str_text(&id));
	table_add(t, col_text(s, INBOX_LIST_KIND));
	table_add(t, age.text);
	table_add(t, col_text(s, INBOX_LIST_RISK_LEVEL));
	table_add(t, col_int(s, INBOX_LIST_LISTENING) ? "yes" : "no");
	table_add(t, str_text(&what));
	return 0;
}

static int run_inbox(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "ID", "KIND", "AGE", "RISK", "LISTENING", "WHAT" };
	static const struct listing INBOX = { "inbox",  "nothing waits for you",
		                              HEADINGS, COUNT(HEADINGS),
		                              row_json, add_row };
	stmt *s = store_stmt(&c->store, SQL_INBOX_LIST);

	bind_int(s, ":after", 0);
	return print_listing(c, s, &INBOX, e);
}

const struct command_spec cmd_inbox = { "inbox",
	                                "",
	                                "what waits for you",
	                                "LISTENING tells whether the agent waits at this moment; "
	                                "if not, it gets the answer when it\n"
	                                "asks again.\n",
	                                0,
	                                0,
	                                0,
	                                run_inbox };
