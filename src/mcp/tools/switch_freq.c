/* switch_freq: switches where the operator is asked. */
#include "tools.h"

#include "call.h"
#include "command.h"
#include "peer.h"
#include "result.h"

static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	const struct command order = { .verb = "mode",
		                       .session_id = p->session_id,
		                       .argument = json_text(c->arguments, "mode"),
		                       .source = "agent" };
	OWNED(command_result) struct command_result result = { 0 };

	(void)settings;
	if (command_insert(st, &order, &result, e))
		return -1;
	if (result.is.reply)
		str_add(&c->result, result.is.reply);
	else
		result_refuse(c, "mode_refused", "%s", result.is.why);
	return 0;
}

const struct tool TOOL_SWITCH_FREQ = {
	.name = "switch_freq",
	.title = "Switch frequency",
	.description = "Switches where the operator is asked: remote (Slack), local (terminal) or "
	               "hybrid (both, first answer wins).",
	.input = "{\"type\":\"object\",\"properties\":{\"mode\":{\"type\":\"string\","
	         "\"enum\":[\"remote\",\"local\",\"hybrid\"]}},\"required\":[\"mode\"]}",
	.output =
	    TOOL_OUTPUT("\"previous_mode\":{\"type\":\"string\"},"
	                "\"current_mode\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"}"
	                "," TOOL_ERROR_FIELDS "}}"),
	.idempotent = true,
	.run = run,
};
