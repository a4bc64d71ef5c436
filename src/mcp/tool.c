#include "tool.h"

#include "jsonrpc.h"
#include "tool_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fragments that several schemas share. */
#define ERROR_FIELDS "\"error_code\":{\"type\":\"string\"},\"error_message\":{\"type\":\"string\"}"
#define MESSAGE_FIELD                                                                              \
	"\"message\":{\"type\":\"string\",\"description\":\"what to do next, while pending\"}"

const struct tool TOOLS[TOOL_COUNT] = {
	{
	    .id = TOOL_PING,
	    .name = "ping",
	    .title = "Ping",
	    .description =
	        "Says that you are alive. Call it during long work so that the operator is not "
	        "alarmed; status_message and progress_snapshot tell the operator how far you are.",
	    .input =
	        "{\"type\":\"object\",\"properties\":{"
	        "\"status_message\":{\"type\":\"string\",\"description\":\"status for the "
	        "operator\"},"
	        "\"progress_snapshot\":{\"type\":\"array\",\"description\":\"replaces the previous "
	        "one\","
	        "\"items\":{\"type\":\"object\",\"properties\":{"
	        "\"label\":{\"type\":\"string\",\"minLength\":1},"
	        "\"status\":{\"type\":\"string\",\"enum\":[\"done\",\"in_progress\",\"pending\"]}},"
	        "\"required\":[\"label\",\"status\"]}}}}",
	    .output =
	        "{\"type\":\"object\",\"properties\":{\"acknowledged\":{\"type\":\"boolean\"},"
	        "\"session_id\":{\"type\":\"string\"},"
	        "\"stall_detection_enabled\":{\"type\":\"boolean\"},"
	        "\"pending_steering\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	        "\"description\":\"what the operator says to you; told once\"}}}",
	    .idempotent = true,
	},
	{
	    .id = TOOL_CHECK_CLEARANCE,
	    .name = "check_clearance",
	    .title = "Check clearance",
	    .description =
	        "Asks the operator to approve a change BEFORE you make it, and waits for the "
	        "answer. "
	        "The change is one file's, or a unified diff's of many (git style may also rename, "
	        "copy, delete, change modes); it is written whole or not at all. Do not touch the "
	        "file yourself: on status 'approved' call check_diff "
	        "with the request_id and the change is written for you. 'rejected' comes with a "
	        "reason. On 'pending' or after a timeout of your own, call it again with exactly "
	        "the "
	        "same arguments: it goes on waiting for the same question and never asks twice.",
	    .input = "{\"type\":\"object\",\"properties\":{"
	             "\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000,"
	             "\"description\":\"the change in one line\"},"
	             "\"description\":{\"type\":\"string\",\"description\":\"why, and what to look "
	             "at\"},"
	             "\"diff\":{\"type\":\"string\",\"description\":\"unified diff of one or many "
	             "files, or the whole new content of file_path\"},"
	             "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
	             "\"relative to the workspace; of many files, the main one\"},"
	             "\"risk_level\":{\"type\":\"string\",\"enum\":[\"low\",\"high\",\"critical\"],"
	             "\"default\":\"low\"}},"
	             "\"required\":[\"title\",\"diff\",\"file_path\"]}",
	    .output = "{\"type\":\"object\",\"properties\":{"
	              "\"status\":{\"type\":\"string\",\"enum\":[\"approved\",\"rejected\","
	              "\"timeout\",\"pending\",\"error\"]},"
	              "\"request_id\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"}"
	              "," MESSAGE_FIELD "," ERROR_FIELDS "},\"required\":[\"status\"]}",
	    .read_only = true,
	    .idempotent = true,
	    .open_world = true,
	},
	{
	    .id = TOOL_CHECK_DIFF,
	    .name = "check_diff",
	    .title = "Check diff",
	    .description =
	        "Writes an approved change to disk, once. On patch_conflict the file has changed "
	        "since you asked: read it again and ask for clearance anew, or pass force if the "
	        "operator agreed to overwrite.",
	    .input = "{\"type\":\"object\",\"properties\":{"
	             "\"request_id\":{\"type\":\"string\",\"minLength\":1,\"description\":\"from "
	             "check_clearance\"},"
	             "\"force\":{\"type\":\"boolean\",\"default\":false,\"description\":"
	             "\"overwrite although the file has changed\"}},"
	             "\"required\":[\"request_id\"]}",
	    .output =
	        "{\"type\":\"object\",\"properties\":{"
	        "\"status\":{\"type\":\"string\",\"enum\":[\"applied\",\"pending\",\"error\"]},"
	        "\"files_written\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	        "\"properties\":{"
	        "\"path\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"}},\"required\":["
	        "\"path\",\"bytes\"]}},"
	        "\"deleted\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	        "\"renamed\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
	        "\"from\":{\"type\":\"string\"},\"to\":{\"type\":\"string\"}},\"required\":["
	        "\"from\",\"to\"]}},"
	        "\"warning\":{\"type\":\"string\",\"description\":\"what force "
	        "overwrote\"}," MESSAGE_FIELD "," ERROR_FIELDS "},\"required\":[\"status\"]}",
	    .destructive = true,
	},
	{
	    .id = TOOL_AUTO_CHECK,
	    .name = "auto_check",
	    .title = "Auto check",
	    .description =
	        "Tells whether the workspace's policy allows an operation without asking the "
	        "operator. When auto_approved is false, ask. With kind terminal_command, "
	        "tool_name is the whole command line, and what the policy does not allow is asked "
	        "here: the call waits for the operator. On status 'pending' call it again with "
	        "exactly the same arguments.",
	    .input =
	        "{\"type\":\"object\",\"properties\":{"
	        "\"tool_name\":{\"type\":\"string\",\"minLength\":1,\"description\":\"tool or "
	        "command line\"},"
	        "\"context\":{\"type\":\"object\",\"properties\":{"
	        "\"file_path\":{\"type\":\"string\"},"
	        "\"risk_level\":{\"type\":\"string\",\"enum\":[\"low\",\"high\",\"critical\"]}}},"
	        "\"kind\":{\"type\":\"string\",\"enum\":[\"terminal_command\",\"file_operation\"],"
	        "\"description\":\"terminal_command: the operator is asked if the policy says "
	        "no\"}},"
	        "\"required\":[\"tool_name\"]}",
	    .output =
	        "{\"type\":\"object\",\"properties\":{\"auto_approved\":{\"type\":\"boolean\"},"
	        "\"matched_rule\":{\"type\":[\"string\",\"null\"]},"
	        "\"status\":{\"type\":\"string\",\"enum\":[\"approved\",\"rejected\",\"timeout\","
	        "\"pending\",\"error\"],\"description\":\"where the operator was asked\"},"
	        "\"request_id\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"}"
	        "," MESSAGE_FIELD "," ERROR_FIELDS "}}",
	    .read_only = true,
	    .idempotent = true,
	    .open_world = true,
	},
	{
	    .id = TOOL_TRANSMIT,
	    .name = "transmit",
	    .title = "Transmit",
	    .description =
	        "Asks the operator whether to go on, and waits. Decision 'continue': carry on; "
	        "'refine': follow the instruction; 'stop': stop working. On 'pending' call it "
	        "again "
	        "with exactly the same arguments.",
	    .input =
	        "{\"type\":\"object\",\"properties\":{"
	        "\"prompt_text\":{\"type\":\"string\",\"minLength\":1,\"description\":\"the "
	        "question\"},"
	        "\"prompt_type\":{\"type\":\"string\",\"enum\":[\"continuation\",\"clarification\","
	        "\"error_recovery\",\"resource_warning\"],\"default\":\"continuation\"},"
	        "\"elapsed_seconds\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"since "
	        "the last word from a person\"},"
	        "\"actions_taken\":{\"type\":\"integer\",\"minimum\":0}},\"required\":[\"prompt_"
	        "text\"]}",
	    .output = "{\"type\":\"object\",\"properties\":{"
	              "\"decision\":{\"type\":\"string\",\"enum\":[\"continue\",\"refine\","
	              "\"stop\",\"pending\"]},"
	              "\"instruction\":{\"type\":\"string\"},\"request_id\":{\"type\":\"string\"}"
	              "," MESSAGE_FIELD "," ERROR_FIELDS "}}",
	    .read_only = true,
	    .idempotent = true,
	    .open_world = true,
	},
	{
	    .id = TOOL_STANDBY,
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
	    .output = "{\"type\":\"object\",\"properties\":{"
	              "\"status\":{\"type\":\"string\",\"enum\":[\"resumed\",\"timeout\","
	              "\"pending\",\"error\"]},"
	              "\"instruction\":{\"type\":\"string\"},\"request_id\":{\"type\":\"string\"}"
	              "," MESSAGE_FIELD "," ERROR_FIELDS "},\"required\":[\"status\"]}",
	    .read_only = true,
	    .idempotent = true,
	    .open_world = true,
	},
	{
	    .id = TOOL_BROADCAST,
	    .name = "broadcast",
	    .title = "Broadcast",
	    .description =
	        "Tells the operator something; waits for no answer. ts: where it stands in "
	        "Slack, if that is known within 2 s.",
	    .input =
	        "{\"type\":\"object\",\"properties\":{"
	        "\"message\":{\"type\":\"string\",\"minLength\":1},"
	        "\"level\":{\"type\":\"string\",\"enum\":[\"info\",\"success\",\"warning\","
	        "\"error\"],\"default\":\"info\"},"
	        "\"thread_ts\":{\"type\":\"string\",\"description\":\"Slack thread to reply in\"}},"
	        "\"required\":[\"message\"]}",
	    .output = "{\"type\":\"object\",\"properties\":{\"posted\":{\"type\":\"boolean\"},"
	              "\"ts\":{\"type\":\"string\"}}}",
	    .open_world = true,
	},
	{
	    .id = TOOL_REBOOT,
	    .name = "reboot",
	    .title = "Reboot",
	    .description =
	        "Call it when you start: tells whether an earlier session of this workspace left "
	        "questions open, its last checkpoint and its progress. Ask the open questions "
	        "again "
	        "with the same arguments to get their answers.",
	    .input = "{\"type\":\"object\",\"properties\":{\"session_id\":{\"type\":\"string\","
	             "\"minLength\":1}}}",
	    .output =
	        "{\"type\":\"object\",\"properties\":{"
	        "\"status\":{\"type\":\"string\",\"enum\":[\"clean\",\"recovered\",\"error\"]},"
	        "\"session_id\":{\"type\":\"string\"},"
	        "\"pending_requests\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	        "\"properties\":{"
	        "\"request_id\":{\"type\":\"string\"},"
	        "\"type\":{\"type\":\"string\",\"enum\":[\"approval\",\"prompt\",\"standby\","
	        "\"permission\"]},"
	        "\"title\":{\"type\":\"string\"},\"created_at\":{\"type\":\"string\"}}}},"
	        "\"last_checkpoint\":{\"type\":\"object\"},"
	        "\"progress_snapshot\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	        "\"pending_tasks\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},"
	        "\"description\":\"what the operator left for you to do; told once\"}"
	        "," ERROR_FIELDS "},\"required\":[\"status\"]}",
	    .read_only = true,
	    .idempotent = true,
	},
	{
	    .id = TOOL_SWITCH_FREQ,
	    .name = "switch_freq",
	    .title = "Switch frequency",
	    .description =
	        "Switches where the operator is asked: remote (Slack), local (terminal) or "
	        "hybrid (both, first answer wins).",
	    .input = "{\"type\":\"object\",\"properties\":{\"mode\":{\"type\":\"string\","
	             "\"enum\":[\"remote\",\"local\",\"hybrid\"]}},\"required\":[\"mode\"]}",
	    .output =
	        "{\"type\":\"object\",\"properties\":{\"previous_mode\":{\"type\":\"string\"},"
	        "\"current_mode\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"}"
	        "," ERROR_FIELDS "}}",
	    .idempotent = true,
	},
};

const struct tool *tool_find(const char *name)
{
	const char *real = tool_name(name);

	for (int i = 0; i < TOOL_COUNT; i++)
		if (strcmp(TOOLS[i].name, real) == 0)
			return &TOOLS[i];
	return NULL;
}

static void flag(struct str *out, const char *name, bool value)
{
	str_addf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

void tool_describe(struct str *out, const struct tool *tool, bool with_output)
{
	str_addf(out, "{\"name\":\"%s\"", tool->name);
	if (with_output)
		str_addf(out, ",\"title\":\"%s\"", tool->title);
	str_add(out, ",\"description\":");
	json_quote(out, tool->description);
	str_addf(out, ",\"inputSchema\":%s", tool->input);
	if (with_output)
		str_addf(out, ",\"outputSchema\":%s", tool->output);
	str_addf(out, ",\"annotations\":{\"title\":\"%s\"", tool->title);
	flag(out, "readOnlyHint", tool->read_only);
	flag(out, "destructiveHint", tool->destructive);
	flag(out, "idempotentHint", tool->idempotent);
	flag(out, "openWorldHint", tool->open_world);
	str_add(out, "}}");
}

/* ---- the check of arguments: as much of JSON Schema as the schemas above use ---- */

/* The input schemas, parsed on first use and kept: they are constants. */
static const cJSON *input_schema(const struct tool *tool)
{
	static cJSON *parsed[TOOL_COUNT];

	if (!parsed[tool->id])
		parsed[tool->id] = cJSON_Parse(tool->input);
	return parsed[tool->id];
}

static bool has_type(const cJSON *value, const char *type)
{
	if (strcmp(type, "string") == 0)
		return cJSON_IsString(value);
	if (strcmp(type, "integer") == 0)
		return cJSON_IsNumber(value) && floor(value->valuedouble) == value->valuedouble;
	if (strcmp(type, "boolean") == 0)
		return cJSON_IsBool(value);
	if (strcmp(type, "array") == 0)
		return cJSON_IsArray(value);
	return cJSON_IsObject(value);
}

static const char *type_of(const cJSON *value)
{
	if (cJSON_IsString(value))
		return "a string";
	if (cJSON_IsNumber(value))
		return "a number";
	if (cJSON_IsBool(value))
		return "a boolean";
	if (cJSON_IsArray(value))
		return "an array";
	return cJSON_IsNull(value) ? "null" : "an object";
}

static int check_enum(const cJSON *value, const cJSON *allowed, const char *at, struct err *e)
{
	OWNED(str) struct str list = STR_INIT;
	const cJSON *one;

	cJSON_ArrayForEach (one, allowed) {
		if (strcmp(one->valuestring, value->valuestring) == 0)
			return 0;
		str_addf(&list, "%s%s", list.length ? ", " : "", one->valuestring);
	}
	return err_set(e, ERR_INPUT, "'%s' is '%.60s'; it must be one of %s", at,
	               value->valuestring, list.bytes);
}

static int check_bounds(const cJSON *value, const cJSON *schema, const char *at, struct err *e)
{
	const cJSON *minimum = cJSON_GetObjectItemCaseSensitive(schema, "minimum");
	const cJSON *maximum = cJSON_GetObjectItemCaseSensitive(schema, "maximum");
	const cJSON *shortest = cJSON_GetObjectItemCaseSensitive(schema, "minLength");
	const cJSON *longest = cJSON_GetObjectItemCaseSensitive(schema, "maxLength");

	if (minimum && value->valuedouble < minimum->valuedouble)
		return err_set(e, ERR_INPUT, "'%s' must not be less than %d", at,
		               minimum->valueint);
	if (maximum && value->valuedouble > maximum->valuedouble)
		return err_set(e, ERR_INPUT, "'%s' must not be more than %d", at,
		               maximum->valueint);
	if (shortest && strlen(value->valuestring) < (size_t)shortest->valueint)
		return err_set(e, ERR_INPUT, "'%s' must not be empty", at);
	if (longest && strlen(value->valuestring) > (size_t)longest->valueint)
		return err_set(e, ERR_INPUT, "'%s' must not be longer than %d bytes", at,
		               longest->valueint);
	return 0;
}

static int check_value(const cJSON *value, const cJSON *schema, const char *at, struct err *e);

static bool is_required(const cJSON *schema, const char *name)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, cJSON_GetObjectItemCaseSensitive(schema, "required"))
		if (strcmp(one->valuestring, name) == 0)
			return true;
	return false;
}

static int check_members(const cJSON *object, const cJSON *schema, const char *at, struct err *e)
{
	const cJSON *property;

	cJSON_ArrayForEach (property, cJSON_GetObjectItemCaseSensitive(schema, "properties")) {
		OWNED(str) struct str name = STR_INIT;
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, property->string);

		str_addf(&name, "%s%s%s", at, *at ? "." : "", property->string);
		if (!value || cJSON_IsNull(value)) {
			if (is_required(schema, property->string))
				return err_set(e, ERR_INPUT, "'%s' is missing (%s)", name.bytes,
				               json_text(property, "type"));
			continue;
		}
		if (check_value(value, property, name.bytes, e))
			return -1;
	}
	return 0;
}

static int check_value(const cJSON *value, const cJSON *schema, const char *at, struct err *e)
{
	const char *type = json_text(schema, "type");
	const cJSON *allowed = cJSON_GetObjectItemCaseSensitive(schema, "enum");
	const cJSON *items = cJSON_GetObjectItemCaseSensitive(schema, "items");
	const cJSON *item;
	int index = 0;

	if (!has_type(value, type))
		return err_set(e, ERR_INPUT, "'%s' must be of type %s, not %s", at, type,
		               type_of(value));
	if (allowed && check_enum(value, allowed, at, e))
		return -1;
	if (check_bounds(value, schema, at, e))
		return -1;
	if (cJSON_IsObject(value))
		return check_members(value, schema, at, e);
	if (!cJSON_IsArray(value) || !items)
		return 0;
	cJSON_ArrayForEach (item, value) {
		OWNED(str) struct str name = STR_INIT;

		str_addf(&name, "%s[%d]", at, index++);
		if (check_value(item, items, name.bytes, e))
			return -1;
	}
	return 0;
}

int tool_check(const struct tool *tool, const cJSON *arguments, struct err *e)
{
	if (arguments && check_members(arguments, input_schema(tool), "", e))
		return err_prefix(e, "invalid arguments for %s", tool->name);
	if (!arguments) {
		OWNED(cJSON_ptr) cJSON *none = cJSON_CreateObject();

		if (check_members(none, input_schema(tool), "", e))
			return err_prefix(e, "invalid arguments for %s", tool->name);
	}
	return 0;
}

cJSON *tool_arguments(const struct tool *tool, const cJSON *arguments)
{
	cJSON *filled = cJSON_CreateObject();
	const cJSON *property;

	cJSON_ArrayForEach (property,
	                    cJSON_GetObjectItemCaseSensitive(input_schema(tool), "properties")) {
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(arguments, property->string);

		if (!value || cJSON_IsNull(value))
			value = cJSON_GetObjectItemCaseSensitive(property, "default");
		if (value)
			cJSON_AddItemToObject(filled, property->string,
			                      cJSON_Duplicate(value, true));
	}
	return filled;
}
