/* reboot: returns what an earlier session of the workspace has left open. */
#include "tools.h"

#include "call.h"
#include "clock.h"
#include "departed.h"
#include "inherit.h"
#include "json.h"
#include "json_writer.h"
#include "peer.h"
#include "peer_user.h"
#include "request.h"
#include "result.h"
#include "sql/checkpoint.h"
#include "sql/request.h"
#include "sql/session.h"

#include <string.h>

static int add_pending(struct store *st, int64_t session, struct str *out, struct err *e)
{
	OWNED(request_left_of_session_row) struct request_left_of_session_row left = { 0 };
	int got, count = 0;

	sql_request_left_of_session(st, session, &left);
	while ((got = row_next(&left.row, e)) > 0) {
		if (count++ == 0)
			json_member_array(out, "pending_requests");
		json_object(out);
		json_member(out, "request_id", left.id);
		json_member(out, "type",
		            left.kind == REQUEST_KIND_CLEARANCE ? "approval"
		                                                : request_kind_name(left.kind));
		json_member(out, "title", left.title);
		json_member(out, "created_at", left.created_at);
		json_member(out, "state", left.left_as);
		json_object_end(out);
	}
	if (count)
		json_array_end(out);
	return got;
}

static int add_checkpoint(struct store *st, const char *session_id, struct str *out, struct err *e)
{
	OWNED(checkpoint_last_row) struct checkpoint_last_row last = { 0 };
	int got = sql_checkpoint_last(st, session_id, &last, e);

	if (got <= 0)
		return got;
	json_member_object(out, "last_checkpoint");
	json_member(out, "checkpoint_id", last.id);
	json_member_or_null(out, "label", last.label);
	json_member(out, "created_at", last.created_at);
	json_object_end(out);
	return 0;
}

static int add_progress(struct store *st, int64_t session, struct str *out, struct err *e)
{
	OWNED(session_progress_row) struct session_progress_row row = { 0 };
	int got = sql_session_progress(st, session, &row, e);

	if (row.progress_snapshot)
		json_member_raw(out, "progress_snapshot", row.progress_snapshot);
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

/* What the operator said to agents that are gone is part of the result, too. */
static int take_words(struct store *st, struct call *c, const struct peer *p, struct err *e)
{
	steering_clear(&c->steering);
	return inherit_words(st, p, e) || steering_read(st, p->session_seq, 0, &c->steering, e) ? -1
	                                                                                        : 0;
}

static int recovered(struct store *st, struct call *c, const struct peer *p,
                     const struct session_row *session, struct err *e)
{
	if (take_words(st, c, p, e))
		return -1;
	begin_result(c, "recovered", session->id);
	if (request_revive_all(st, session->seq, e) ||
	    add_pending(st, session->seq, &c->result, e) ||
	    add_checkpoint(st, session->id, &c->result, e) ||
	    add_progress(st, session->seq, &c->result, e))
		return -1;
	json_object_end(&c->result);
	return 0;
}

/* The session to recover: one that has left something open, otherwise the newest interrupted one of
 * this workspace. */
static int predecessor(struct store *st, const struct peer *p, const char *machine,
                       struct session_row *row, struct err *e)
{
	struct instant live_after = clock_instant(clock_now_ms() - REQUEST_LIVE_MS);
	const struct session_left_args args = { .workspace = p->workspace_root,
		                                .machine = machine,
		                                .uid = peer_uid_in_rows(p),
		                                .session = p->session_seq,
		                                .label = p->identity.agent,
		                                .live_after = live_after.text };
	const struct session_last_interrupted_args none = { .machine = machine,
		                                            .workspace = p->workspace_root,
		                                            .uid = peer_uid_in_rows(p),
		                                            .session = p->session_seq,
		                                            .label = p->identity.agent };
	int got = sql_session_left(st, &args, row, e);

	return got ? got : sql_session_last_interrupted(st, &none, row, e);
}

/* Whether p may recover a session that it names. */
static bool is_for(const struct peer *p, const char *machine, const struct session_row *session)
{
	return peer_may_join(p, session) && strcmp(session->machine, machine) == 0 &&
	       strcmp(session->workspace_root, p->workspace_root) == 0;
}

static void refuse(struct call *c, const char *given, bool is_connected)
{
	if (is_connected)
		result_refuse(
		    c, "session_connected",
		    "session %.80s is still connected: its agent keeps what it has asked, "
		    "and what the operator tells it; once it has ended, call reboot again",
		    given);
	else
		result_refuse(c, "session_not_found",
		              "not found: there is no session %.80s in this workspace", given);
}

static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	OWNED(session_row) struct session_row session = { 0 };
	const char *given = json_text(c->arguments, "session_id");
	const char *machine = settings->workspaces.machine;
	int got, there;

	if (departed_of_workspace(st, machine, p->workspace_root, p->seq, e))
		return -1;
	got = given ? sql_session_by_id(st, given, &session, e)
	            : predecessor(st, p, machine, &session, e);

	if (given && got > 0 && !is_for(p, machine, &session))
		got = 0;
	there = got > 0 ? inherit_of(st, p, session.seq, e) : 0;
	if (got < 0 || there < 0)
		return -1;
	if (given && (!got || there)) {
		refuse(c, given, there);
		return 0;
	}
	if (got > 0 && !there)
		return recovered(st, c, p, &session, e);
	if (take_words(st, c, p, e))
		return -1;
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
	    "with the same arguments to get their answers. Words that the operator answered "
	    "meanwhile are in operator_says.",
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
	.recovers = true,
	.run = run,
};
