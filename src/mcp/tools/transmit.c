/* transmit: asks whether to continue. */
#include "tools.h"

#include "ask.h"
#include "json.h"
#include "json_writer.h"
#include "result.h"

#include <string.h>

const char *const PROMPT_TYPE[PROMPT_TYPES] = { "continuation", "clarification", "error_recovery",
	                                        "resource_warning" };

/* A person has to see an agent that is in trouble. */
static bool policy(const struct call *c, struct policy_question *q)
{
	q->risk_level = json_text(c->arguments, "risk_level");
	return strcmp(json_text(c->arguments, "prompt_type"), "error_recovery") != 0;
}

static int64_t timeout_ms(const char *type, const struct call_settings *settings)
{
	size_t i = 0;

	while (i < PROMPT_TYPES - 1 && strcmp(PROMPT_TYPE[i], type) != 0)
		i++;
	return settings->prompt_ms[i];
}

static void question(const struct call *c, const struct call_settings *settings, struct question *q)
{
	q->kind = REQUEST_KIND_PROMPT;
	q->body = json_text(c->arguments, "prompt_text");
	q->prompt_type = json_text(c->arguments, "prompt_type");
	q->elapsed_seconds = ask_number(c, "elapsed_seconds");
	q->actions_taken = ask_number(c, "actions_taken");
	q->timeout_ms = timeout_ms(q->prompt_type, settings);
}

static void add_decision(struct str *out, const struct request *r)
{
	json_member(out, "decision",
	            r->row.decision ? request_verdict_name(r->row.decision) : "pending");
	if (!r->row.decision)
		result_add_pending(out, r);
	else if (r->row.decision == REQUEST_VERDICT_REFINE)
		json_member(out, "instruction", r->row.instruction);
	else if (r->row.decision == REQUEST_VERDICT_STOP)
		json_member(out, "reason", r->row.reason);
}

/* Both count from the last word of a person, so they grow while it waits. */
static const char *const UNBOUND[] = { "elapsed_seconds", "actions_taken", NULL };

const struct tool TOOL_TRANSMIT = {
	.name = "transmit",
	.title = "Transmit",
	.description =
	    "Asks the operator whether to go on, and waits. Decision 'continue': carry on; "
	    "'refine': follow the instruction; 'stop': stop working. On 'pending' call it "
	    "again "
	    "with exactly the same arguments (elapsed_seconds and actions_taken may be newer).",
	.input =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"prompt_text\":{\"type\":\"string\",\"minLength\":1,\"description\":\"the "
	    "question\"},"
	    "\"prompt_type\":{\"type\":\"string\",\"enum\":[\"continuation\",\"clarification\","
	    "\"error_recovery\",\"resource_warning\"],\"default\":\"continuation\"},"
	    "\"elapsed_seconds\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":2147483647,"
	    "\"description\":\"since the last word from a person\"},"
	    "\"actions_taken\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":2147483647}},"
	    "\"required\":[\"prompt_text\"]}",
	.output =
	    TOOL_OUTPUT("\"decision\":{\"type\":\"string\",\"enum\":[\"continue\",\"refine\","
	                "\"stop\",\"pending\"]},"
	                "\"instruction\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},"
	                "\"request_id\":{\"type\":\"string\"}"
	                "," TOOL_MESSAGE_FIELD "," TOOL_ERROR_FIELDS "}}"),
	.read_only = true,
	.idempotent = true,
	.open_world = true,
	.unbound = UNBOUND,
	.policy = policy,
	.run = ask_run,
	.question = question,
	.answer = add_decision,
};
