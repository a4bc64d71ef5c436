/* reboot: what an earlier session of the workspace has left open. */
#include "tools.h"

#include "call.h"
#include "clock.h"
#include "departed.h"
#include "json_writer.h"
#include "peer.h"
#include "request.h"
#include "result.h"

#include <stdio.h>
#include <string.h>

static int add_pending(struct store *st, int64_t session, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_LEFT_OF_SESSION);
	int got, count = 0;

	bind_int(s, ":session", session);
	while ((got = stmt_row(s, e)) > 0) {
		const char *kind = col_text(s, REQUEST_LEFT_OF_SESSION_KIND);

		if (count++ == 0)
			json_member_array(out, "pending_requests");
		json_object(out);
		json_member(out, "request_id", col_text(s, REQUEST_LEFT_OF_SESSION_ID));
		json_member(out, "type", strcmp(kind, "clearance") == 0 ? "approval" : kind);
		json_member(out, "title", col_text(s, REQUEST_LEFT_OF_SESSION_TITLE));
		json_member(out, "created_at", col_text(s, REQUEST_LEFT_OF_SESSION_CREATED_AT));
		json_member(out, "state", col_text(s, REQUEST_LEFT_OF_SESSION_LEFT_AS));
		json_object_end(out);
	}
	stmt_reset(s);
	if (count)
		json_array_end(out);
	return got;
}

static int add_checkpoint(struct store *st, const char *session_id, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_CHECKPOINT_LAST);
	int got;

	bind_text(s, ":session_id", session_id);
	got = stmt_row(s, e);
	if (got > 0) {
		json_member_object(out, "last_checkpoint");
		json_member(out, "checkpoint_id", col_text(s, CHECKPOINT_LAST_ID));
		if (col_text(s, CHECKPOINT_LAST_LABEL))
			json_member(out, "label", col_text(s, CHECKPOINT_LAST_LABEL));
		else
			json_member_null(out, "label");
		json_member(out, "created_at", col_text(s, CHECKPOINT_LAST_CREATED_AT));
		json_object_end(out);
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static int add_progress(struct store *st, int64_t session, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SESSION_PROGRESS);
	int got;

	bind_int(s, ":seq", session);
	got = stmt_row(s, e);
	if (got > 0 && col_text(s, SESSION_PROGRESS_PROGRESS_SNAPSHOT))
		json_member_raw(out, "progress_snapshot",
		                col_text(s, SESSION_PROGRESS_PROGRESS_SNAPSHOT));
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static void begin_result(struct call *c, const char *status, const char *session_id)
{
	json_object(&c->result);
	json_member(&c->result, "status", status);
	json_member(&c->result, "session_id", session_id);
	if (c->steering.tasks.length)
		json_member_raw(&c->result, "pending_tasks", c->steering.tasks.bytes);
}

static int recovered(struct store *st, struct call *c, int64_t session, const char *id,
                     struct err *e)
{
	begin_result(c, "recovered", id);
	if (request_revive_all(st, session, e) || add_pending(st, session, &c->result, e) ||
	    add_checkpoint(st, id, &c->result, e) || add_progress(st, session, &c->result, e))
		return -1;
	json_object_end(&c->result);
	return 0;
}

/* The session to recover: the one named, else one that has left something, else the newest of this
 * workspace that was interrupted. */
static stmt *predecessors(struct store *st, const struct peer *p,
                          const struct call_settings *settings, enum sql which,
                          const struct instant *live_after)
{
	stmt *s = store_stmt(st, which);

	bind_text(s, ":host", settings->workspaces.machine);
	bind_text(s, ":workspace", p->workspace_root);
	bind_text(s, ":label", p->identity.agent);
	if (which == SQL_SESSION_LEFT) {
		bind_int(s, ":session", p->session_seq);
		bind_text(s, ":live_after", live_after->text);
	}
	return s;
}

static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	static const enum sql WAYS[] = { SQL_SESSION_LEFT, SQL_SESSION_LAST_INTERRUPTED };
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	const char *given = json_text(c->arguments, "session_id");
	int64_t session = 0;
	char id[40] = "";
	int got = 0;

	if (departed_of_workspace(st, settings->workspaces.machine, p->workspace_root, e))
		return -1;
	for (size_t i = 0; i < COUNT(WAYS) && got == 0; i++) {
		stmt *s = given ? store_stmt(st, SQL_SESSION_BY_ID)
		                : predecessors(st, p, settings, WAYS[i], &live_after);

		if (given)
			bind_text(s, ":id", given);
		got = stmt_row(s, e);
		if (got > 0) {
			session = col_int(s, 0); /* seq, then id, in all three */
			(void)snprintf(id, sizeof(id), "%s", col_text(s, 1));
		}
		stmt_reset(s);
	}
	if (got < 0)
		return -1;
	if (session)
		return recovered(st, c, session, id, e);
	if (given) {
		result_refuse(c, "session_not_found", "not found: there is no session %.80s",
		              given);
		return 0;
	}
	begin_result(c, "clean", NULL);
	json_object_end(&c->result);
	return 0;
}

const struct tool TOOL_REBOOT = {
	.name = "reboot",
	.title = "Reboot",
	.description =
	    "Call it when you start: tells whether an earlier session of this workspace left "
	    "questions open, its last checkpoint and its progress. Ask the open questions "
	    "again "
	    "with the same arguments to get their answers.",
	.input = "{\"type\":\"object\",\"properties\":{\"session_id\":{\"type\":\"string\","
	         "\"minLength\":1}}}",
	.output = TOOL_OUTPUT(
	    "\"status\":{\"type\":\"string\",\"enum\":[\"clean\",\"recovered\",\"error\"]},"
	    "\"session_id\":{\"type\":\"string\"},"
	    "\"pending_requests\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	    "\"properties\":{"
	    "\"request_id\":{\"type\":\"string\"},"
	    "\"type\":{\"type\":\"string\",\"enum\":[\"approval\",\"prompt\",\"standby\","
	    "\"permission\"]},"
	    "\"title\":{\"type\":\"string\"},\"created_at\":{\"type\":\"string\"},"
	    "\"state\":{\"type\":\"string\",\"enum\":[\"open\",\"answered\",\"approved\"],"
	    "\"description\":\"open, answered: ask again with the same arguments; approved: call "
	    "check_diff\"}}}},"
	    "\"last_checkpoint\":{\"type\":\"object\"},"
	    "\"progress_snapshot\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	    "\"pending_tasks\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},"
	    "\"description\":\"what the operator left for you to do; told once\"}"
	    "," TOOL_ERROR_FIELDS "},\"required\":[\"status\"]}"),
	.read_only = true,
	.idempotent = true,
	.run = run,
};
