/* auto_check: asks the workspace's policy and, about a command, the operator, too. */
#include "texts.h"
#include "tools.h"

#include "ask.h"
#include "gate_path.h"
#include "hand.h"
#include "json.h"
#include "json_writer.h"
#include "policy.h"
#include "result.h"

#include <string.h>

enum { COMMAND_BYTES_MAX = 1 << 20 }; /* a longer one is not shown, so nobody can approve it */

static const cJSON *context(const struct call *c)
{
	return json_get(c->arguments, "context");
}

/* Whether it is about a command line, about which the operator is asked if necessary. */
static bool is_command(const struct call *c)
{
	return json_says(c->arguments, "kind", "terminal_command");
}

/* Whether it is about reading: only tools that are known to read count. */
static bool is_reading(const char *tool)
{
	static const char *const READERS[] = { "read",       "read_file",  "show-file", "show_file",
		                               "list-files", "list_files", NULL };

	return texts_name(READERS, tool);
}

static void look(struct call *c, const struct call_settings *settings, struct hand_ask *ask)
{
	(void)settings;
	if (strlen(json_text(c->arguments, "tool_name")) > COMMAND_BYTES_MAX) {
		result_refuse(
		    c, "too_large",
		    "the command has more than %d bytes: nobody would see it whole; write "
		    "it into a file and ask for that",
		    (int)COMMAND_BYTES_MAX);
	} else if (json_text(context(c), "file_path")) {
		c->named = json_text(context(c), "file_path");
		ask->named = &c->named;
		ask->named_count = 1;
	}
}

/* The file in the context, and the one that it stands for; or it is outside this workspace. */
static void seen(struct call *c, struct hand_found *found)
{
	c->names = found->names;
	c->name_count = found->name_count;
	found->names = NULL;
	found->name_count = 0;
}

static bool policy(const struct call *c, struct policy_question *q)
{
	q->tool = json_text(c->arguments, "tool_name");
	q->risk_level = json_text(context(c), "risk_level");
	q->reads = is_reading(q->tool);
	q->is_command = is_command(c);
	q->may_be_command = policy_may_be_command(q->tool, c->name_count);
	return !c->name_count ||
	       (!c->names[0].is_other && !c->names[0].is_vast && (q->reads || !c->names[0].links) &&
	        !gate_path_doubt_any(c->named, q->reads));
}

static void question(const struct call *c, const struct call_settings *settings, struct question *q)
{
	const char *risk = json_text(context(c), "risk_level");

	q->kind = REQUEST_KIND_PERMISSION;
	q->body = json_text(c->arguments, "tool_name");
	q->description = str_text(&c->policy.why);
	q->risk_level = risk ? risk : "low";
	q->timeout_ms = settings->approval_ms;
}

static void add_verdict(struct str *out, bool approved, const char *rule)
{
	json_member_bool(out, "auto_approved", approved);
	if (approved)
		json_member(out, "matched_rule", rule);
	else
		json_member_null(out, "matched_rule");
}

/* The operator decides about a command that the policy does not allow. */
static int run(struct store *st, struct call *c, const struct peer *p,
               const struct call_settings *settings, struct err *e)
{
	bool approved = c->policy.allowed;

	if (!approved && is_command(c))
		return ask_run(st, c, p, settings, e);
	json_object(&c->result);
	add_verdict(&c->result, approved, str_text(&c->policy.rule));
	if (!approved && c->policy.why.length)
		json_member(&c->result, "reason", str_text(&c->policy.why));
	json_object_end(&c->result);
	return approved ? policy_gate_note(st, &c->policy, p->session_seq, 0,
	                                   json_text(c->arguments, "tool_name"), e)
	                : 0;
}

static void add_answer(struct str *out, const struct request *r)
{
	add_verdict(out, r->row.state == REQUEST_STATE_APPROVED, "operator:approved");
	result_add_verdict(out, r);
}

const struct tool TOOL_AUTO_CHECK = {
	.name = "auto_check",
	.title = "Auto check",
	.description =
	    "Tells whether the workspace's policy allows an operation without asking the "
	    "operator. When auto_approved is false, ask. With kind terminal_command, "
	    "tool_name is the whole command line, and what the policy does not allow is asked "
	    "here: the call waits for the operator. On status 'pending' call it again with "
	    "exactly the same arguments.",
	.input = "{\"type\":\"object\",\"properties\":{"
	         "\"tool_name\":{\"type\":\"string\",\"minLength\":1,\"description\":\"tool or "
	         "command line\"},"
	         "\"context\":{\"type\":\"object\",\"properties\":{"
	         "\"file_path\":{\"type\":\"string\"},"
	         "\"risk_level\":{\"type\":\"string\",\"enum\":[\"low\",\"high\",\"critical\"]}}},"
	         "\"kind\":{\"type\":\"string\",\"enum\":[\"terminal_command\",\"file_operation\"],"
	         "\"description\":\"terminal_command: the operator is asked if the policy says "
	         "no\"}},"
	         "\"required\":[\"tool_name\"]}",
	.output = TOOL_OUTPUT(
	    "\"auto_approved\":{\"type\":\"boolean\"},"
	    "\"matched_rule\":{\"type\":[\"string\",\"null\"]},"
	    "\"status\":{\"type\":\"string\",\"enum\":[\"approved\",\"rejected\",\"timeout\","
	    "\"pending\",\"error\"],\"description\":\"where the operator was asked\"},"
	    "\"request_id\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},"
	    "\"note\":{\"type\":\"string\",\"description\":\"what the operator says with an "
	    "approval\"}"
	    "," TOOL_MESSAGE_FIELD "," TOOL_ERROR_FIELDS "}}"),
	.read_only = true,
	.idempotent = true,
	.open_world = true,
	.look = look,
	.seen = seen,
	.policy = policy,
	.run = run,
	.question = question,
	.answer = add_answer,
};
