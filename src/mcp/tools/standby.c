/* standby: waits for the next instruction. */
#include "tools.h"

#include "ask.h"
#include "json.h"
#include "json_writer.h"
#include "result.h"

#include <string.h>

static void question(const struct call *c, const struct call_settings *settings, struct question *q)
{
	int64_t own = ask_number(c, "timeout_seconds");

	q->kind = REQUEST_KIND_STANDBY;
	q->body = json_text(c->arguments, "message");
	q->timeout_ms = own > 0 ? own * 1000 : settings->wait_ms;
}

static void add_instruction(struct str *out, const struct request *r)
{
	bool stop = r->row.decision == REQUEST_VERDICT_STOP;

	if (r->row.state == REQUEST_STATE_ANSWERED) {
		json_member(out, "status", "resumed");
		json_member(out, "instruction", stop ? "stop" : r->row.instruction);
		json_member(out, "reason", stop ? r->row.reason : NULL);
	} else if (r->row.state == REQUEST_STATE_EXPIRED) {
		json_member(out, "status", "timeout");
	} else {
		json_member(out, "status", "pending");
		result_add_pending(out, r);
	}
}

const struct tool TOOL_STANDBY = {
	.name = "standby",
	.title = "Standby",
	.description =
	    "Waits until the operator gives the next instruction. Status 'resumed' may come "
	    "with "
	    "an instruction; the instruction 'stop' means stop working. On 'pending' call it "
	    "again with exactly the same arguments.",
	.input = "{\"type\":\"object\",\"properties\":{"
	         "\"message\":{\"type\":\"string\",\"default\":\"Agent is idle and awaiting "
	         "instructions.\"},"
	         "\"timeout_seconds\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":31536000,"
	         "\"default\":0,"
	         "\"description\":\"0: as configured\"}}}",
	.output = TOOL_OUTPUT(
	    "\"status\":{\"type\":\"string\",\"enum\":[\"resumed\",\"timeout\","
	    "\"pending\",\"error\"]},"
	    "\"instruction\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},"
	    "\"request_id\":{\"type\":\"string\"}"
	    "," TOOL_MESSAGE_FIELD "," TOOL_ERROR_FIELDS "},\"required\":[\"status\"]}"),
	.read_only = true,
	.idempotent = true,
	.open_world = true,
	.run = ask_run,
	.question = question,
	.answer = add_instruction,
};
