/* inbox: what waits for a person. */
#include "ctl.h"
#include "via_desk.h"

#include "json.h"
#include "seen.h"
#include "summary.h"
#include "visible.h"

#include "sql/request.h"

#include <stdio.h>

enum { CHANGES_MAX = 5 }; /* files named per question; show lists them all */

static cJSON *row_json(const void *row)
{
	const struct inbox_list_row *q = row;
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "id", q->id);
	json_add_text(o, "kind", request_kind_name(q->kind));
	json_add_text(o, "state", request_state_name(q->state));
	json_add_text(o, "title", q->title);
	json_add_text(o, "file_path", q->file_path);
	json_add_text(o, "risk_level", request_risk_level_name(q->risk_level));
	json_add_text(o, "session_id", q->session_id);
	json_add_text(o, "workspace_root", q->workspace_root);
	json_add_text(o, "client_name", q->client_name);
	json_add_given(o, "user", q->agent_user);
	json_add_given(o, "label", q->label);
	json_add_text(o, "created_at", q->created_at);
	json_add_text(o, "deadline_at", q->deadline_at);
	(void)cJSON_AddBoolToObject(o, "form", q->form);
	(void)cJSON_AddBoolToObject(o, "listening", q->listening);
	return o;
}

/* "modify a.c; delete secret.key: ", or only the name if a single file is just modified. */
static int add_changes(struct ctl *c, const struct inbox_list_row *q, struct str *what,
                       struct err *e)
{
	OWNED(request) struct request r = { 0 };

	if (!q->file_path)
		return 0;
	if (request_read_files(&c->store, q->seq, &r, e))
		return -1;
	if (summary_is_needed(r.files, r.file_count))
		summary_add(what, r.files, r.file_count, "; ", CHANGES_MAX);
	else
		visible_add_name(what, q->file_path);
	str_add(what, ": ");
	return 0;
}

static int add_row(struct ctl *c, struct table *t, const void *row, struct err *e)
{
	const struct inbox_list_row *q = row;
	OWNED(str) struct str id = { 0 }, what = { 0 };
	struct age age = age_of(q->created_at);

	if (add_short_id(c, q->id, &id, e) || add_changes(c, q, &what, e))
		return -1;
	str_add(&what, q->title);
	table_add(t, str_text(&id));
	table_add(t, request_kind_name(q->kind));
	table_add(t, age.text);
	table_add(t, request_risk_level_name(q->risk_level));
	table_add(t, q->agent_user);
	table_add(t, q->label);
	table_add(t, q->listening ? "yes" : q->form ? "form" : "no");
	table_add(t, str_text(&what));
	return 0;
}

static int more(struct ctl *c, const void *row, cJSON *json, struct err *e)
{
	const struct inbox_list_row *q = row;
	OWNED(request) struct request r = { 0 };

	if (request_read(&c->store, q->seq, &r, e) < 0)
		return -1;
	seen_add_members(json, &r);
	return 0;
}

/* Prints commands below the table, where they are not cut to the width of a terminal. */
static int print_command(struct ctl *c, int64_t seq, const char *id, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(str) struct str text = { 0 }, short_id = { 0 };

	if (request_read(&c->store, seq, &r, e) < 0 || add_short_id(c, id, &short_id, e))
		return -1;
	if (request_is_change(&r) ||
	    (r.row.kind != REQUEST_KIND_PERMISSION && r.row.kind != REQUEST_KIND_TRUST))
		return 0;
	seen_add(&text, &r);
	(void)printf("\n%s\n", str_text(&short_id));
	print_block(c, str_text(&text), text.length, false);
	if (!seen_is_whole(&r))
		(void)printf("read all of it before you approve: show %s\n", str_text(&short_id));
	return 0;
}

static int print_commands(struct ctl *c, struct err *e)
{
	OWNED(inbox_list_row) struct inbox_list_row q = { 0 };
	int got;

	sql_inbox_list(&c->store, 0, &q);
	while ((got = row_next(&q.row, e)) > 0)
		if (print_command(c, q.seq, q.id, e))
			return -1;
	return got;
}

static int run_inbox(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "ID",   "KIND",  "AGE",       "RISK",
		                                "USER", "LABEL", "LISTENING", "WHAT" };
	static const struct listing INBOX = {
		"inbox", "nothing waits for you", HEADINGS, COUNT(HEADINGS), row_json, add_row, more
	};
	OWNED(inbox_list_row) struct inbox_list_row q = { 0 };

	sql_inbox_list(&c->store, 0, &q);
	if (print_listing(c, &q.row, &INBOX, e))
		return -1;
	via_desk_tell_of_it(c, "inbox");
	return c->json ? 0 : print_commands(c, e);
}

const struct command_spec cmd_inbox = {
	"inbox",
	HELP("", "what waits for you",
	     "LISTENING tells whether the agent waits at this moment; if not, it gets the answer "
	     "when it\n"
	     "asks again. form: its client shows the question to its user, and asks again then.\n"),
	ARGUMENTS(0, 0, 0), .run = run_inbox
};
