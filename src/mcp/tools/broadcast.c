/* broadcast: tells the operator something. */
#include "tools.h"

#include "broadcast.h"
#include "call.h"
#include "json_writer.h"
#include "peer.h"

void broadcast_result(struct str *out, bool posted, const char *ts)
{
	json_object(out);
	json_member_bool(out, "posted", posted);
	json_member(out, "ts", ts);
	json_object_end(out);
}

int broadcast_said(struct store *st, int64_t call_seq, bool late, struct str *result, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SAID_WAIT_READ);
	const char *ts = NULL;
	bool refused = false;
	int got, known;

	bind_int(s, ":call", call_seq);
	got = stmt_row(s, e);
	if (got > 0) {
		ts = col_text(s, SAID_WAIT_READ_TS);
		refused = col_int(s, SAID_WAIT_READ_REFUSED) != 0;
	}
	known = got >= 0 && (ts || refused || late);
	if (known)
		broadcast_result(result, !refused, ts);
	stmt_reset(s);
	return got < 0 ? -1 : known;
}

int broadcast_finish(struct store *st, int64_t call_seq, const char *result, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SAID_WAIT_DELETE);

	bind_int(s, ":call", call_seq);
	if (stmt_run(s, e) < 0)
		return -1;
	s = store_stmt(st, SQL_TOOL_CALL_SAID);
	bind_int(s, ":seq", call_seq);
	bind_text(s, ":result", result);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* The rules queue it when the call is written down; where it stands in Slack is known later. */
static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_IS_HEARD);
	int got;

	(void)settings;
	bind_int(s, ":session", p->session_seq);
	got = stmt_row(s, e);
	stmt_reset(s);
	c->is_said = got > 0;
	if (got >= 0)
		broadcast_result(&c->result, got > 0, NULL);
	return got < 0 ? -1 : 0;
}

const struct tool TOOL_BROADCAST = {
	.name = "broadcast",
	.title = "Broadcast",
	.description = "Tells the operator something; waits for no answer. ts: where it stands in "
	               "Slack, if that is known within 2 s.",
	.input =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"message\":{\"type\":\"string\",\"minLength\":1},"
	    "\"level\":{\"type\":\"string\",\"enum\":[\"info\",\"success\",\"warning\","
	    "\"error\"],\"default\":\"info\"},"
	    "\"thread_ts\":{\"type\":\"string\",\"description\":\"Slack thread to reply in\"}},"
	    "\"required\":[\"message\"]}",
	.output = TOOL_OUTPUT("\"posted\":{\"type\":\"boolean\"},"
	                      "\"ts\":{\"type\":\"string\"}}}"),
	.open_world = true,
	.run = run,
};
