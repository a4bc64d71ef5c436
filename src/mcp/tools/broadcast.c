/* broadcast: tells the operator something. */
#include "tools.h"

#include "broadcast.h"
#include "call.h"
#include "json_writer.h"
#include "peer.h"
#include "sql/broadcast_wait.h"
#include "sql/slack_outbox.h"

/* ts: Slack's timestamp of the message, or NULL. reason: why it is not posted, or NULL. */
static void add_result(struct str *out, const char *ts, const char *reason)
{
	json_object(out);
	json_member_bool(out, "posted", !reason);
	json_member(out, "ts", ts);
	json_member(out, "reason", reason);
	json_object_end(out);
}

int broadcast_said(struct store *st, int64_t call_seq, bool late, struct str *result, struct err *e)
{
	OWNED(broadcast_wait_read_row) struct broadcast_wait_read_row row = { 0 };
	OWNED(str) struct str why = { 0 };

	if (sql_broadcast_wait_read(st, call_seq, &row, e) < 0)
		return -1;
	if (!row.ts && !row.refused && !late)
		return 0;
	if (row.refused)
		str_addf(&why, "Slack refused it: %s", row.why ? row.why : "no reason is known");
	add_result(result, row.ts, row.refused ? str_text(&why) : NULL);
	return 1;
}

int broadcast_finish(struct store *st, int64_t call_seq, const char *result, struct err *e)
{
	return err_if(sql_broadcast_wait_delete(st, call_seq, e) ||
	              sql_tool_call_said(st, result, call_seq, e));
}

/* The rules queue the message when the call is recorded; its place in Slack is known later. */
static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	int got = sql_slack_is_heard(st, p->session_seq, e);

	(void)settings;
	c->is_said = got > 0;
	if (got >= 0)
		add_result(&c->result, NULL,
		           got > 0 ? NULL
		                   : "this session's messages do not go to Slack: it is in mode "
		                     "local, or Slack is not set up");
	return got < 0 ? -1 : 0;
}

const struct tool TOOL_BROADCAST = {
	.name = "broadcast",
	.title = "Broadcast",
	.description = "Tells the operator something; waits for no answer. Of more than 6000 "
	               "characters Slack shows only the beginning: split them. ts: where it stands "
	               "in Slack, if that is known within 2 s.",
	.input =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"message\":{\"type\":\"string\",\"minLength\":1},"
	    "\"level\":{\"type\":\"string\",\"enum\":[\"info\",\"success\",\"warning\","
	    "\"error\"],\"default\":\"info\"},"
	    "\"thread_ts\":{\"type\":\"string\",\"description\":\"Slack thread to reply in; if it "
	    "is gone, it is said in the session's\"}},"
	    "\"required\":[\"message\"]}",
	.output = TOOL_OUTPUT("\"posted\":{\"type\":\"boolean\"},"
	                      "\"ts\":{\"type\":\"string\"},\"reason\":{\"type\":"
	                      "\"string\",\"description\":\"why it is not posted\"}}}"),
	.open_world = true,
	.run = run,
};
