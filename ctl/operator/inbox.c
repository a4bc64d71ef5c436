/* inbox: what waits for a person. */
#include "ctl.h"

#include "summary.h"
#include "visible.h"

enum { CHANGES_MAX = 5 }; /* files of a question that are named; show has them all */

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
	(void)cJSON_AddBoolToObject(o, "form", col_int(s, INBOX_LIST_FORM) != 0);
	(void)cJSON_AddBoolToObject(o, "listening", col_int(s, INBOX_LIST_LISTENING) != 0);
	return o;
}

/* "modify a.c; delete secret.key: ", or the name alone of a file that is just changed. */
static int add_changes(struct ctl *c, stmt *s, struct str *what, struct err *e)
{
	OWNED(request) struct request r = { 0 };

	if (!col_text(s, INBOX_LIST_FILE_PATH))
		return 0;
	if (request_read_files(&c->store, col_int(s, INBOX_LIST_SEQ), &r, e))
		return -1;
	if (summary_is_needed(r.files, r.file_count))
		summary_add(what, r.files, r.file_count, "; ", CHANGES_MAX);
	else
		visible_add_name(what, col_text(s, INBOX_LIST_FILE_PATH));
	str_add(what, ": ");
	return 0;
}

static int add_row(struct ctl *c, struct table *t, stmt *s, struct err *e)
{
	OWNED(str) struct str id = STR_INIT, what = STR_INIT;
	struct age age = age_of(col_text(s, INBOX_LIST_CREATED_AT));

	if (short_request_id(c, col_text(s, INBOX_LIST_ID), &id, e) || add_changes(c, s, &what, e))
		return -1;
	str_add(&what, col_text(s, INBOX_LIST_TITLE));
	table_add(t, str_text(&id));
	table_add(t, col_text(s, INBOX_LIST_KIND));
	table_add(t, age.text);
	table_add(t, col_text(s, INBOX_LIST_RISK_LEVEL));
	table_add(t, col_int(s, INBOX_LIST_LISTENING) ? "yes"
	             : col_int(s, INBOX_LIST_FORM)    ? "form"
	                                              : "no");
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
	                                "asks again. form: its client shows the question to its "
	                                "user, and asks again then.\n",
	                                0,
	                                0,
	                                0,
	                                run_inbox };
