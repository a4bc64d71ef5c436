#include "policy_tool.h"

#include "json.h"
#include "texts.h"
#include "tool_name.h"

#include <string.h>

enum { ARGUMENT_BYTES = 1 << 20 }; /* no more is shown to a person: hook.h refuses it */

/* Arguments of tools that change nothing about what a command or a patch does. Beside a command
 * that is relayed stands what may be answered. */
static bool is_harmless(const struct gate_host *host, const char *name)
{
	static const char *const RELAYED[] = { "options", "notes", NULL };

	static const char *const NAMES[] = { "description",
		                             "timeout",
		                             "timeout_ms",
		                             "is_background",
		                             "run_in_background",
		                             "max_output_tokens",
		                             "yield_time_ms",
		                             "initial_wait",
		                             "explanation",
		                             "max_events",
		                             "idle_timeout_ms",
		                             "delay_ms",
		                             NULL };

	return texts_name(NAMES, name) || (host->relays && texts_name(RELAYED, name));
}

/* What Copilot CLI does without it as well. Not so its shellId: what ran in that shell before may
 * have changed what a command means. */
static bool is_default(const struct gate_host *host, const cJSON *argument)
{
	return host->dialect == GATE_DIALECT_COPILOT && strcmp(argument->string, "mode") == 0 &&
	       cJSON_IsString(argument) && strcmp(argument->valuestring, "sync") == 0;
}

/* The argument by which this tool of this host says where it works. What another host calls
 * so, this one may ignore, or take for something else. */
static bool is_own_folder(const struct gate_input *in, const cJSON *argument)
{
	return in->keys && in->keys->folder && cJSON_IsString(argument) &&
	       strcmp(in->keys->folder, argument->string) == 0;
}

/* A person is shown the command alone: so here what else there is. */
static void add_argument(struct str *why, const cJSON *argument)
{
	char *value = cJSON_PrintUnformatted(argument);

	str_add(why, why->length ? ", " : "with its argument ");
	str_add_shown(why, argument->string, strlen(argument->string), ARGUMENT_BYTES);
	str_add(why, " ");
	if (value)
		str_add_shown(why, value, strlen(value), ARGUMENT_BYTES);
	cJSON_free(value);
}

/* A host's own tool that reads what an MCP server offers. Gemini CLI names the server in the URI
 * (without one, it takes that of any server), the others in an argument. */
static bool reads_ours(const struct gate_input *in)
{
	static const char OURS[] = "intercom://", QUALIFIED[] = "intercom:intercom://";
	const struct gate_tool *known = gate_host_tool(in->host, in->tool);
	const char *server = json_text(in->tool_input, "server");
	const char *uri = json_text(in->tool_input, "uri");

	if (!known || known->class != GATE_MCP || !uri)
		return false;
	if (in->host->dialect == GATE_DIALECT_GEMINI)
		return strncmp(uri, QUALIFIED, strlen(QUALIFIED)) == 0;
	return server && strcmp(server, "intercom") == 0 && strncmp(uri, OURS, strlen(OURS)) == 0;
}

/* Our own tools ask by themselves. */
static bool is_ours(const struct gate_input *in)
{
	return in->class == GATE_MCP && in->server && strcmp(in->server, "intercom") == 0 &&
	       in->server_tool && tool_name_is_ours(in->server_tool);
}

/* Of a command or a patch: a person is asked if it has arguments of which is not known what they
 * change. */
static enum policy_tool take_others(const struct gate_input *in, struct str *why)
{
	const char *patch = in->patch ? gate_input_patch_argument(in) : "command";
	enum policy_tool as = in->unplaced ? POLICY_TOOL_ASKED : POLICY_TOOL_JUDGED;
	const cJSON *one;

	cJSON_ArrayForEach (one, in->tool_input) {
		if (is_harmless(in->host, one->string) || strcmp(one->string, patch) == 0 ||
		    is_own_folder(in, one) || is_default(in->host, one) || cJSON_IsNull(one) ||
		    cJSON_IsFalse(one))
			continue;
		add_argument(why, one);
		as = POLICY_TOOL_ASKED;
	}
	return as;
}

static enum policy_tool take_command(const struct gate_input *in, struct policy_question *q,
                                     struct str *why)
{
	enum policy_tool as = take_others(in, why);

	if (in->hides_patch) {
		str_add(why, why->length ? "; " : "");
		str_add(why, "what the patch in it makes of files is not computed");
		as = POLICY_TOOL_ASKED;
	}
	if (in->unplaced) {
		str_addf(why, "%swhere it runs is not certain: %s", why->length ? "; " : "",
		         in->unplaced);
		as = POLICY_TOOL_ASKED;
	}
	q->tool = in->command;
	q->is_command = true;
	return in->command ? as : POLICY_TOOL_ASKED;
}

/* No rule of a policy is about leaving a sandbox. What the agent says of it is quoted, so that it
 * does not read as ours. */
static enum policy_tool take_escalation(const struct gate_input *in, struct str *why)
{
	const cJSON *words = json_get(in->tool_input, "description");
	char *quoted = cJSON_IsString(words) ? cJSON_PrintUnformatted(words) : NULL;

	str_addf(why, "%sif this is approved, %s may run it outside of its sandbox",
	         why->length ? "; " : "", in->host->title);
	if (quoted) {
		str_add(why, ", in the agent's words: ");
		str_add_shown(why, quoted, strlen(quoted), ARGUMENT_BYTES);
	}
	cJSON_free(quoted);
	return POLICY_TOOL_ASKED;
}

/* Of a tool that reads, in a policy's hands. */
static enum policy_tool take_read(const struct gate_input *in, struct str *why)
{
	if (!in->unplaced)
		return in->known_count ? POLICY_TOOL_JUDGED : POLICY_TOOL_ALLOWED;
	str_add(why, in->unplaced);
	return POLICY_TOOL_ASKED;
}

/* Of a tool that is not known, a rule for its name lets through no command, and no file of which it
 * is not certain which one it is. */
static enum policy_tool take_unknown(const struct gate_input *in, struct str *why)
{
	const cJSON *command = json_get(in->tool_input, "command");

	if (in->form == GATE_FORM_SKILL)
		str_add(why,
		        "what it loads may run commands at once (its lines with !`...`), and no "
		        "hook is told of these: read it first, in .claude/skills, .claude/commands "
		        "or a plugin");
	else if (in->unplaced)
		str_add(why, in->unplaced);
	else if (command && !cJSON_IsNull(command))
		str_add(why, "it has a command, and what this tool does is not known");
	else
		return POLICY_TOOL_JUDGED;
	return POLICY_TOOL_ASKED;
}

/* Of a tool of an MCP server. The host has told of a server without a name. */
static enum policy_tool take_served(const struct gate_input *in, struct str *why)
{
	if (is_ours(in) || reads_ours(in))
		return POLICY_TOOL_ALLOWED;
	if (!in->is_bare)
		return POLICY_TOOL_JUDGED;
	str_add(why, "the host does not say which server the tool belongs to, so a rule for its "
	             "name would allow it on all of them");
	return POLICY_TOOL_ASKED;
}

static enum policy_tool take(const struct gate_input *in, bool reads_by_policy,
                             struct policy_question *q, struct str *why)
{
	q->tool = in->tool;
	switch (in->class) {
	case GATE_READ:
		q->reads = true;
		return reads_by_policy ? take_read(in, why) : POLICY_TOOL_ALLOWED;
	case GATE_EDIT:
		q->tool = "check_clearance";
		if (in->patch)
			return take_others(in, why);
		return in->unplaced ? POLICY_TOOL_ASKED : POLICY_TOOL_JUDGED;
	case GATE_EXECUTE:
		return take_command(in, q, why);
	case GATE_QUESTION:
	case GATE_PLAN:
		return POLICY_TOOL_ASKED;
	case GATE_MCP:
		return take_served(in, why);
	case GATE_OTHER:
		q->names_only = true;
		return take_unknown(in, why);
	case GATE_NETWORK:
	case GATE_AGENT:
	case GATE_CLASSES:
		break;
	}
	return POLICY_TOOL_JUDGED;
}

enum policy_tool policy_tool_take(const struct gate_input *in, bool reads_by_policy,
                                  struct policy_question *q, struct str *why)
{
	enum policy_tool as = take(in, reads_by_policy, q, why);

	return gate_input_escalates(in) ? take_escalation(in, why) : as;
}
