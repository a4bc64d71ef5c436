/* The tools. Their names and what they do are the suite's. */
#include "fixture.h"
#include "json_writer.h"

#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MS = 50, AWAY_MS = 100 };

/* ---- calls with a stream ---- */

static void notify_log(struct run *r, const char *text)
{
	OWNED(str) struct str message = { 0 };

	if (!r->logs)
		return;
	str_add(&message, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
	                  "\"level\":\"info\",\"logger\":\"fixture\",\"data\":");
	json_quote(&message, text);
	str_add(&message, "}}");
	run_notify(r, &message);
}

static void log_step(struct run *r)
{
	static const char *const TEXTS[] = { "Tool execution started", "Tool processing data",
		                             "Tool execution completed" };

	notify_log(r, TEXTS[r->step]);
	if (r->step + 1 < (int)COUNT(TEXTS))
		run_after(r, STEP_MS, log_step);
	else
		run_finish(r, "The tool has written its log.", false);
}

static void with_logging(const struct ask *a)
{
	struct run *r = run_start(a);

	if (r)
		log_step(r);
}

static void progress_step(struct run *r)
{
	OWNED(str) struct str message = { 0 };

	if (r->progress_token) {
		mcp_progress(&message, r->progress_token, r->step * 50, "halves of the work");
		run_notify(r, &message);
	}
	if (r->step < 2)
		run_after(r, STEP_MS, progress_step);
	else
		run_finish(r, "The tool has come to its end.", false);
}

static void with_progress(const struct ask *a)
{
	struct run *r = run_start(a);

	if (r)
		progress_step(r);
}

static void evaluate_logging(const struct ask *a)
{
	struct run *r = run_start(a);

	if (!r)
		return;
	notify_log(r, "Logging is on");
	run_finish(r, "Logging evaluated", false);
}

/* A stream that asks for input with its result, not with a request of its own. */
static void streaming_elicitation(const struct ask *a)
{
	OWNED(str) struct str text = { 0 };
	OWNED(str) struct str result = { 0 };

	if (!ask_can(a, "elicitation")) {
		ask_refuse_incapable(a, "elicitation");
		return;
	}
	a->sink->by->wait(a->sink, NULL);
	if (a->sink->gone || !input_take(a, "test_input_required_result_elicitation", &text))
		return;
	str_add_char(&result, '{');
	text_content(&result, text.bytes, false);
	ask_answer(a, &result, MCP_NOT_CACHEABLE);
}

static void after_reconnection(struct run *r)
{
	run_finish(r, "The client has come back for this.", false);
}

static void reconnection(const struct ask *a)
{
	struct run *r = run_start(a);

	if (!r)
		return;
	run_after(r, AWAY_MS, after_reconnection);
	run_cut(r);
}

/* ---- requests to the client (legacy) ---- */

static void refuse_call(const struct ask *a, const char *text)
{
	OWNED(str) struct str result = { 0 };

	str_add_char(&result, '{');
	text_content(&result, text, true);
	ask_answer(a, &result, MCP_NOT_CACHEABLE);
}

static void sampled(struct run *r, const cJSON *answer)
{
	const char *said = json_text(cJSON_GetObjectItemCaseSensitive(answer, "content"), "text");
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "LLM response: %s", said ? said : "none");
	run_finish(r, text.bytes, !said);
}

static void sampling(const struct ask *a)
{
	const char *prompt = ask_argument(a, "prompt");
	OWNED(str) struct str params = { 0 };
	struct run *r;

	if (!prompt || !ask_can(a, "sampling")) {
		refuse_call(a, prompt ? "the client cannot sample" : "prompt is missing");
		return;
	}
	str_add(&params,
	        "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
	json_quote(&params, prompt);
	str_add(&params, "}}],\"maxTokens\":100}");
	r = run_start(a);
	if (r)
		run_request(r, "sampling/createMessage", params.bytes, sampled);
}

static void elicited(struct run *r, const cJSON *answer)
{
	const char *action = json_text(answer, "action");
	const cJSON *content = cJSON_GetObjectItemCaseSensitive(answer, "content");
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "User response: action=%s, content=", action ? action : "none");
	if (cJSON_IsObject(content))
		json_canonical(&text, content);
	else
		str_add(&text, "{}");
	run_finish(r, text.bytes, !action);
}

static void elicit(const struct ask *a, const char *message, const char *schema)
{
	OWNED(str) struct str params = { 0 };
	struct run *r;

	if (!ask_can(a, "elicitation")) {
		refuse_call(a, "the client cannot ask its user");
		return;
	}
	str_add(&params, "{\"message\":");
	json_quote(&params, message);
	str_add(&params, ",\"requestedSchema\":");
	str_add(&params, schema);
	str_add_char(&params, '}');
	r = run_start(a);
	if (r)
		run_request(r, "elicitation/create", params.bytes, elicited);
}

static void elicitation(const struct ask *a)
{
	const char *message = ask_argument(a, "message");

	if (!message)
		refuse_call(a, "message is missing");
	else
		elicit(a, message,
		       "{\"type\":\"object\",\"properties\":{"
		       "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
		       "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
		       "\"required\":[\"username\",\"email\"]}");
}

static void elicitation_defaults(const struct ask *a)
{
	elicit(a, "Please review the defaults",
	       "{\"type\":\"object\",\"properties\":{"
	       "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
	       "\"age\":{\"type\":\"integer\",\"default\":30},"
	       "\"score\":{\"type\":\"number\",\"default\":95.5},"
	       "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
	       "\"default\":\"active\"},"
	       "\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}");
}

static void elicitation_enums(const struct ask *a)
{
	elicit(a, "Please select",
	       "{\"type\":\"object\",\"properties\":{"
	       "\"untitledSingle\":{\"type\":\"string\","
	       "\"enum\":[\"option1\",\"option2\",\"option3\"]},"
	       "\"titledSingle\":{\"type\":\"string\",\"oneOf\":["
	       "{\"const\":\"value1\",\"title\":\"First Option\"},"
	       "{\"const\":\"value2\",\"title\":\"Second Option\"},"
	       "{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
	       "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
	       "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
	       "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
	       "\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
	       "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
	       "{\"const\":\"value1\",\"title\":\"First Choice\"},"
	       "{\"const\":\"value2\",\"title\":\"Second Choice\"},"
	       "{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}},\"required\":[]}");
}

/* ---- plain calls ---- */

static void answer_text(const struct ask *a, const char *text)
{
	OWNED(str) struct str result = { 0 };

	str_add_char(&result, '{');
	text_content(&result, text, false);
	ask_answer(a, &result, MCP_NOT_CACHEABLE);
}

static void missing_capability(const struct ask *a)
{
	if (ask_can(a, "sampling"))
		answer_text(a, "The client can sample.");
	else
		ask_refuse_incapable(a, "sampling");
}

static void change_tools(const struct ask *a)
{
	listeners_tell("tools");
	answer_text(a, "Those who listen for tools have been told.");
}

static void change_prompts(const struct ask *a)
{
	listeners_tell("prompts");
	answer_text(a, "Those who listen for prompts have been told.");
}

/* An argument that a header repeats (x-mcp-header): both or neither, and the same. */
static void with_header(const struct ask *a)
{
	const char *argument = ask_argument(a, "region");
	const char *header =
	    evhttp_find_header(evhttp_request_get_input_headers(a->sink->http), "Mcp-Param-Region");
	OWNED(char_ptr) char *said = header ? mcp_header_text(header) : NULL;

	if (!argument != !header || (header && (!said || strcmp(said, argument) != 0)))
		ask_refuse(a, MCP_HEADER_MISMATCH,
		           "the header Mcp-Param-Region does not say what the body says", NULL);
	else
		answer_text(a, argument ? argument : "no region");
}

static void greet(const struct ask *a)
{
	const char *name = ask_argument(a, "name");
	OWNED(str) struct str text = { 0 };

	if (!name) {
		ask_refuse(a, RPC_INVALID_PARAMS, "name is missing", NULL);
		return;
	}
	str_addf(&text, "Hello, %s!", name);
	answer_text(a, text.bytes);
}

static void with_schema(const struct ask *a)
{
	answer_text(a, "The schema of this tool is what matters.");
}

/* ---- the table ---- */

#define RESOURCE(uri, type, text)                                                                  \
	"{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri "\",\"mimeType\":\"" type            \
	"\",\"text\":\"" text "\"}}"
#define IMAGE "{\"type\":\"image\",\"data\":\"" FIXTURE_PNG "\",\"mimeType\":\"image/png\"}"
#define ONE_TEXT(name)                                                                             \
	"{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":\"string\"}},"                \
	"\"required\":[\"" name "\"]}"

static const char HEADER_SCHEMA[] = "{\"type\":\"object\",\"properties\":{\"region\":{"
                                    "\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}";

static const char WORK_SCHEMA[] =
    "{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":\"number\",\"minimum\":0},"
    "\"label\":{\"type\":\"string\"}},\"required\":[\"seconds\",\"label\"]}";

static const char SCHEMA_2020_12[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{"
    "\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
    "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
    "\"required\":[\"contactMethod\"]},"
    "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
    "\"additionalProperties\":false}";

/* Each has content, which is always the same, or a function. */
static const struct fixture_tool {
	const char *name;
	int eras;
	const char *content; /* JSON, what stands between the brackets */
	void (*call)(const struct ask *a);
	const char *schema; /* NULL: it takes no arguments */
} FIXTURES[] = {
	/* The first is called without arguments by the suite. */
	{ "test_simple_text", ERA_BOTH,
	  "{\"type\":\"text\",\"text\":\"This is a simple text response for testing.\"}", NULL,
	  NULL },
	{ "test_image_content", ERA_BOTH, IMAGE, NULL, NULL },
	{ "test_audio_content", ERA_BOTH,
	  "{\"type\":\"audio\",\"data\":\"" FIXTURE_WAV "\",\"mimeType\":\"audio/wav\"}", NULL,
	  NULL },
	{ "test_embedded_resource", ERA_BOTH,
	  RESOURCE("test://embedded-resource", "text/plain",
	           "This is an embedded resource content."),
	  NULL, NULL },
	{ "test_multiple_content_types", ERA_BOTH,
	  "{\"type\":\"text\",\"text\":\"Multiple content types test:\"}," IMAGE
	  "," RESOURCE("test://mixed-content-resource", "application/json",
	               "{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}"),
	  NULL, NULL },
	{ "test_error_handling", ERA_BOTH,
	  "{\"type\":\"text\",\"text\":\"This tool intentionally returns an error for testing\"}",
	  NULL, NULL },
	{ "test_tool_with_logging", ERA_BOTH, NULL, with_logging, NULL },
	{ "test_tool_with_progress", ERA_BOTH, NULL, with_progress, NULL },
	{ "json_schema_2020_12_tool", ERA_BOTH, NULL, with_schema, SCHEMA_2020_12 },
	{ "test_sampling", ERA_LEGACY, NULL, sampling, ONE_TEXT("prompt") },
	{ "test_elicitation", ERA_LEGACY, NULL, elicitation, ONE_TEXT("message") },
	{ "test_elicitation_sep1034_defaults", ERA_LEGACY, NULL, elicitation_defaults, NULL },
	{ "test_elicitation_sep1330_enums", ERA_LEGACY, NULL, elicitation_enums, NULL },
	{ "test_reconnection", ERA_LEGACY, NULL, reconnection, NULL },
	{ "test_missing_capability", ERA_MODERN, NULL, missing_capability, NULL },
	{ "test_streaming_elicitation", ERA_MODERN, NULL, streaming_elicitation, NULL },
	{ "test_logging_tool", ERA_MODERN, NULL, evaluate_logging, NULL },
	{ "test_trigger_tool_change", ERA_MODERN, NULL, change_tools, NULL },
	{ "test_trigger_prompt_change", ERA_MODERN, NULL, change_prompts, NULL },
	{ "test_x_mcp_header", ERA_MODERN, NULL, with_header, HEADER_SCHEMA },
	{ "greet", ERA_MODERN, NULL, greet, ONE_TEXT("name") },
	{ "slow_compute", ERA_MODERN, NULL, tasks_call, WORK_SCHEMA },
	{ "failing_job", ERA_MODERN, NULL, tasks_call, NULL },
	{ "protocol_error_job", ERA_MODERN, NULL, tasks_call, NULL },
	{ "confirm_delete", ERA_MODERN, NULL, tasks_call, ONE_TEXT("filename") },
	{ "multi_input", ERA_MODERN, NULL, tasks_call, NULL },
	{ "test_tool_with_task", ERA_MODERN, NULL, tasks_call, NULL },
};

static void describe(struct str *out, const char *name, const char *schema)
{
	str_addf(out,
	         "%s{\"name\":\"%s\",\"description\":\"A fixture of the conformance suite\","
	         "\"inputSchema\":",
	         out->bytes[out->length - 1] == '}' ? "," : "", name);
	str_add(out, schema ? schema : "{\"type\":\"object\",\"properties\":{}}");
	str_add_char(out, '}');
}

void tools_list(const struct ask *a)
{
	OWNED(str) struct str result = { 0 };

	str_add(&result, "{\"tools\":[");
	for (size_t i = 0; i < COUNT(FIXTURES); i++)
		if (FIXTURES[i].eras & (a->modern ? ERA_MODERN : ERA_LEGACY))
			describe(&result, FIXTURES[i].name, FIXTURES[i].schema);
	for (int i = 0; a->modern && input_tool(i); i++)
		describe(&result, input_tool(i), NULL);
	str_add_char(&result, ']');
	ask_answer(a, &result, MCP_CACHE_PUBLIC);
}

static const struct fixture_tool *find(const struct ask *a, const char *name)
{
	for (size_t i = 0; i < COUNT(FIXTURES); i++)
		if (strcmp(FIXTURES[i].name, name) == 0 &&
		    (FIXTURES[i].eras & (a->modern ? ERA_MODERN : ERA_LEGACY)))
			return &FIXTURES[i];
	return NULL;
}

static bool is_input_tool(const char *name)
{
	for (int i = 0; input_tool(i); i++)
		if (strcmp(input_tool(i), name) == 0)
			return true;
	return false;
}

void tools_call(const struct ask *a)
{
	const char *name = json_text(a->params, "name");
	const struct fixture_tool *t = name ? find(a, name) : NULL;
	OWNED(str) struct str result = { 0 };
	OWNED(str) struct str text = { 0 };

	if (t && t->call) {
		t->call(a);
	} else if (t) {
		str_addf(&result, "{\"content\":[%s],\"isError\":%s", t->content,
		         strcmp(name, "test_error_handling") == 0 ? "true" : "false");
		ask_answer(a, &result, MCP_NOT_CACHEABLE);
	} else if (a->modern && name && is_input_tool(name)) {
		if (input_take(a, name, &text))
			answer_text(a, text.bytes);
	} else {
		ask_refuse(a, RPC_INVALID_PARAMS, "there is no such tool", NULL);
	}
}
