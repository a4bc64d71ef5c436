/* mcp: messages, versions, tools and their arguments, without a process and without rows. */
#include "call.h"
#include "json_writer.h"
#include "mcp.h"
#include "rpc.h"
#include "suite.h"
#include "tool.h"
#include "tool_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const VERSIONS[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" };

/* ---- given, then ---- */

static int parse(const char *text, struct rpc_message *m, struct rpc_error *error)
{
	return rpc_parse(text, strlen(text), m, error);
}

/* A request with this id token keeps the token. */
static void keeps(const char *id)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;
	char text[300];

	(void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\": %s ,\"method\":\"ping\"}",
	               id);
	ck_assert_msg(parse(text, &m, &error) == 0, "%s: %s", text, error.text);
	ck_assert_int_eq(m.kind, RPC_REQUEST);
	ck_assert_str_eq(m.id, id);
	rpc_message_clear(&m);
}

/* This text is refused with code and a text that holds part. */
static void refuses(const char *text, int code, const char *part)
{
	struct rpc_message m = { 0 };
	struct rpc_error error = { .code = 0 };

	ck_assert_msg(parse(text, &m, &error) != 0, "taken: %s", text);
	ck_assert_msg(error.code == code && strstr(error.text, part), "%s\nis refused with %d %s",
	              text, error.code, error.text);
	rpc_message_clear(&m);
}

static void refuses_id(const char *id)
{
	char text[300];

	(void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
	               id);
	refuses(text, RPC_INVALID_REQUEST, "id must be a string or an integer");
}

static void nested(struct str *out, int depth)
{
	str_add(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":");
	for (int i = 1; i < depth; i++) /* the message is the first level */
		str_add(out, "{\"a\":");
	str_add(out, "1");
	for (int i = 1; i < depth; i++)
		str_add_char(out, '}');
	str_add_char(out, '}');
}

/* ---- jsonrpc ---- */

START_TEST(an_id_is_kept_byte_for_byte)
{
	static const char *const IDS[] = { "0",
		                           "\"\"",
		                           "\"1\"",
		                           "1",
		                           "-7",
		                           "1e2",
		                           "1.0",
		                           "9007199254740993",
		                           "\"a\\u0062\"",
		                           "\"\\\"id\\\":5\"",
		                           "\"\xC3\xA9\"" };

	for (size_t i = 0; i < COUNT(IDS); i++)
		keeps(IDS[i]);
}
END_TEST

START_TEST(an_id_that_is_no_string_or_integer_is_refused)
{
	refuses_id("null");
	refuses_id("1.5");
	refuses_id("{\"a\":1}");
	refuses_id("[1]");
	refuses_id("true");
	refuses_id("1e300");
}
END_TEST

START_TEST(only_the_id_of_the_message_itself_is_its_id)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;

	ck_assert_int_eq(parse("{\"params\":{\"id\":1},\"x\":\"id\",\"y\":[{\"id\":2}],\"id\":3,"
	                       "\"jsonrpc\":\"2.0\",\"method\":\"ping\"}",
	                       &m, &error),
	                 0);
	ck_assert_str_eq(m.id, "3");
	rpc_message_clear(&m);
}
END_TEST

/* A request whose id the scan did not see had kind RPC_REQUEST and no id: the front crashed. */
START_TEST(a_request_always_has_an_id_however_its_name_is_spelt)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;

	ck_assert_int_eq(
	    parse("{\"jsonrpc\":\"2.0\",\"\\u0069d\":7,\"method\":\"ping\"}", &m, &error), 0);
	ck_assert_int_eq(m.kind, RPC_REQUEST);
	ck_assert_ptr_nonnull(m.id);
	ck_assert_str_eq(m.id, "7");
	rpc_message_clear(&m);
	ck_assert_int_eq(
	    parse("{\"jsonrpc\":\"2.0\",\"\\u0069d\":7,\"id\":8,\"method\":\"ping\"}", &m, &error),
	    -1);
	ck_assert_ptr_null(m.id); /* it is there twice */
	rpc_message_clear(&m);
}
END_TEST

START_TEST(what_names_something_twice_is_refused_with_its_id_if_that_is_certain)
{
	static const struct {
		const char *text, *id;
		int code;
	} CASES[] = {
		{ "\"id\":1,\"method\":\"ping\",\"method\":\"tools/list\"", "1",
		  RPC_INVALID_REQUEST },
		{ "\"id\":1,\"method\":\"ping\",\"meth\\u006fd\":\"ping\"", "1",
		  RPC_INVALID_REQUEST },
		{ "\"id\":1,\"id\":2,\"method\":\"ping\"", NULL, RPC_INVALID_REQUEST },
		{ "\"id\":1,\"method\":\"ping\",\"id\":1", NULL, RPC_INVALID_REQUEST },
		{ "\"id\":1,\"result\":{},\"result\":{}", NULL, RPC_INVALID_REQUEST },
		{ "\"method\":\"x\",\"method\":\"x\"", NULL, RPC_INVALID_REQUEST },
		{ "\"id\":1,\"method\":\"tools/"
		  "call\",\"params\":{\"name\":\"ping\",\"name\":\"a\"}",
		  "1", RPC_INVALID_PARAMS },
		{ "\"id\":1,\"method\":\"x\",\"params\":{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,"
		  "\"6\":1,\"7\":1,\"8\":1,\"9\":1,\"1\":1}",
		  "1", RPC_INVALID_PARAMS },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct rpc_message m = { 0 };
		struct rpc_error error = { 0 };
		OWNED(str) struct str text = { 0 };

		str_addf(&text, "{\"jsonrpc\":\"2.0\",%s}", CASES[i].text);
		ck_assert_int_eq(parse(text.bytes, &m, &error), -1);
		ck_assert_int_eq(error.code, CASES[i].code);
		ck_assert_msg(strstr(error.text, "names something twice") != NULL, "%s",
		              error.text);
		ck_assert_msg(CASES[i].id ? m.id && strcmp(m.id, CASES[i].id) == 0 : !m.id, "%s",
		              CASES[i].text);
		rpc_message_clear(&m);
	}
}
END_TEST

START_TEST(a_nul_in_a_string_is_noticed)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;

	ck_assert_int_eq(
	    parse("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"b\\u0000c\"}}", &m,
	          &error),
	    0);
	ck_assert(m.has_nul);
	rpc_message_clear(&m);
	ck_assert_int_eq(
	    parse("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"b\\\\u0000c\"}}", &m,
	          &error),
	    0);
	ck_assert(!m.has_nul); /* a backslash and "u0000" */
	rpc_message_clear(&m);
}
END_TEST

START_TEST(a_request_with_half_a_surrogate_pair_is_refused_with_its_id)
{
	static const struct {
		const char *text, *id;
		int code;
	} CASES[] = {
		{ "\"id\":7,\"method\":\"x\",\"params\":{\"a\":\"\\ud800bad\"}", "7",
		  RPC_INVALID_PARAMS },
		{ "\"method\":\"x\",\"params\":{\"a\":[\"\\\\\\uDC00\"]},\"id\":\"q\"", "\"q\"",
		  RPC_INVALID_PARAMS },
		{ "\"id\":7,\"method\":\"x\",\"params\":{\"a\":\"\\ud83d\\ude00\\ud83d\"}", "7",
		  RPC_INVALID_PARAMS },
		{ "\"id\":\"\\ud800\",\"method\":\"x\"", NULL, RPC_PARSE_ERROR },
		/* no request, or wrong in something else, too */
		{ "\"id\":7,\"result\":{\"a\":\"\\ud800\"}", NULL, RPC_PARSE_ERROR },
		{ "\"method\":\"x\",\"params\":{\"a\":\"\\ud800\"}", NULL, RPC_PARSE_ERROR },
		{ "\"id\":7,\"method\":\"x\",\"params\":[\"\\ud800\"", NULL, RPC_PARSE_ERROR },
		{ "\"id\":7,\"method\":\"x\",\"params\":{\"a\":\"\\u12\"}", NULL, RPC_PARSE_ERROR },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str text = { 0 };
		struct rpc_message m = { 0 };
		struct rpc_error error = { .code = 0 };

		str_addf(&text, "{\"jsonrpc\":\"2.0\",%s}", CASES[i].text);
		ck_assert_msg(parse(text.bytes, &m, &error) == -1, "%s", text.bytes);
		ck_assert_msg(error.code == CASES[i].code, "%s: %d", text.bytes, error.code);
		if (CASES[i].id)
			ck_assert_pstr_eq(m.id, CASES[i].id);
		else
			ck_assert_ptr_null(m.id);
		rpc_message_clear(&m);
	}
}
END_TEST

START_TEST(a_request_that_is_not_parsed_is_refused_with_its_id)
{
	enum { LEVELS = 80 };
	static const struct {
		const char *before, *after, *id;
	} CASES[] = {
		{ "\"id\":7,\"method\":\"x\",\"params\":{\"a\":", "}", "7" },
		{ "\"method\":\"x\",\"params\":{\"a\":", "},\"id\":\"q\"", "\"q\"" },
		/* no request, or of which one is not certain */
		{ "\"id\":7,\"result\":{\"a\":", "}", NULL },
		{ "\"method\":\"x\",\"params\":{\"id\":7,\"a\":", "}", NULL },
		{ "\"id\":7,\"method\":\"x\",\"params\":{\"a\":", "},\"id\":8", NULL },
		{ "\"id\":7x,\"method\":\"x\",\"params\":{\"a\":", "}", NULL },
		{ "\"id\":\"\xff\",\"method\":\"x\",\"params\":{\"a\":", "}", NULL },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str text = { 0 };
		struct rpc_message m = { 0 };
		struct rpc_error error = { .code = 0 };

		str_addf(&text, "{\"jsonrpc\":\"2.0\",%s", CASES[i].before);
		for (int n = 0; n < LEVELS; n++)
			str_add_char(&text, '[');
		for (int n = 0; n < LEVELS; n++)
			str_add_char(&text, ']');
		str_addf(&text, "%s}", CASES[i].after);
		ck_assert_int_eq(parse(text.bytes, &m, &error), -1);
		ck_assert_int_eq(error.code, RPC_PARSE_ERROR);
		ck_assert_pstr_eq(m.id, CASES[i].id);
		rpc_message_clear(&m);
	}
}
END_TEST

START_TEST(a_nul_byte_is_refused)
{
	static const char TEXT[] = "{\"jsonrpc\":\"2.0\",\"method\":\"a\0b\"}";
	struct rpc_message m = { 0 };
	struct rpc_error error;

	ck_assert_int_eq(rpc_parse(TEXT, sizeof(TEXT) - 1, &m, &error), -1);
	ck_assert_int_eq(error.code, RPC_PARSE_ERROR);
	rpc_message_clear(&m);
}
END_TEST

START_TEST(sixty_four_levels_are_taken_and_sixty_five_are_not)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;
	OWNED(str) struct str fits = { 0 };
	OWNED(str) struct str deep = { 0 };

	nested(&fits, 64);
	ck_assert_msg(rpc_parse(fits.bytes, fits.length, &m, &error) == 0, "%s", error.text);
	rpc_message_clear(&m);
	nested(&deep, 65);
	refuses(deep.bytes, RPC_PARSE_ERROR, "64 levels");
}
END_TEST

START_TEST(brackets_in_strings_are_no_nesting)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;
	OWNED(str) struct str text = { 0 };

	str_add(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
	for (int i = 0; i < 100; i++)
		str_add(&text, "[{\\\"");
	str_add(&text, "\"}");
	ck_assert_msg(rpc_parse(text.bytes, text.length, &m, &error) == 0, "%s", error.text);
	rpc_message_clear(&m);
}
END_TEST

START_TEST(what_is_no_json_is_a_parse_error)
{
	refuses("", RPC_PARSE_ERROR, "not valid JSON");
	refuses("{\"j\\", RPC_PARSE_ERROR, "not valid JSON");
	refuses("{\"jsonrpc\":\"2.0\",\"id\"\x0e:0,\"method\":\"ping\"}", RPC_PARSE_ERROR,
	        "control character");
	refuses("{\"jsonrpc\":\"2.0\",\"id\":\"a\nb\",\"method\":\"ping\"}", RPC_PARSE_ERROR,
	        "control character"); /* an id that would come back as two lines */
	refuses("{", RPC_PARSE_ERROR, "not valid JSON");
	refuses("{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"x\"}", RPC_PARSE_ERROR,
	        "not valid JSON");
	refuses("{\"jsonrpc\":\"2.0\",\"id\":-007,\"method\":\"x\"}", RPC_PARSE_ERROR,
	        "not valid JSON");
	refuses("{\"jsonrpc\":\"2.0\",\"method\":\"x\"} x", RPC_PARSE_ERROR, "not valid JSON");
	refuses("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}{}", RPC_PARSE_ERROR, "not valid JSON");
	refuses("{\"a\":\"\\ud800\"}", RPC_PARSE_ERROR, "not valid JSON");
	refuses("{\"a\":\"\xC3\x28\"}", RPC_PARSE_ERROR, "UTF-8");
	refuses("{\"a\":\"\xED\xA0\x80\"}", RPC_PARSE_ERROR, "UTF-8");
	refuses("{\"a\":\"\xC0\xAF\"}", RPC_PARSE_ERROR, "UTF-8");
}
END_TEST

START_TEST(json_that_is_no_message_is_an_invalid_request)
{
	refuses("7", RPC_INVALID_REQUEST, "object");
	refuses("\"ping\"", RPC_INVALID_REQUEST, "object");
	refuses("{\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST, "jsonrpc");
	refuses("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST, "jsonrpc");
	refuses("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST,
	        "jsonrpc");
	refuses("{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID_REQUEST, "method is missing");
	refuses("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", RPC_INVALID_REQUEST, "method");
	refuses("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[1]}",
	        RPC_INVALID_PARAMS, "params must be an object");
}
END_TEST

START_TEST(an_error_still_tells_whose_it_is)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;

	ck_assert_int_ne(
	    parse("{\"jsonrpc\":\"1.0\",\"id\":\"q\",\"method\":\"ping\"}", &m, &error), 0);
	ck_assert_str_eq(m.id, "\"q\"");
	rpc_message_clear(&m);
}
END_TEST

START_TEST(notifications_and_responses_are_told_apart)
{
	struct rpc_message m = { 0 };
	struct rpc_error error;

	ck_assert_int_eq(parse(" \r\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\r\n ", &m, &error), 0);
	ck_assert_int_eq(m.kind, RPC_NOTIFICATION);
	ck_assert_ptr_null(m.id);
	rpc_message_clear(&m);
	ck_assert_int_eq(parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", &m, &error), 0);
	ck_assert_int_eq(m.kind, RPC_RESPONSE);
	rpc_message_clear(&m);
	ck_assert_int_eq(parse("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1}}", &m, &error), 0);
	ck_assert_int_eq(m.kind, RPC_RESPONSE);
	rpc_message_clear(&m);
}
END_TEST

START_TEST(the_items_of_a_batch_are_messages)
{
	struct rpc_message batch = { 0 }, m = { 0 };
	struct rpc_error error;

	ck_assert_int_eq(parse("[{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"ping\"},7,[],"
	                       "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]",
	                       &batch, &error),
	                 0);
	ck_assert_int_eq(batch.kind, RPC_BATCH);
	ck_assert_int_eq(rpc_batch_item(&batch, 0, &m, &error), 0);
	ck_assert_str_eq(m.id, "\"1\"");
	rpc_message_clear(&m);
	ck_assert_int_eq(rpc_batch_item(&batch, 1, &m, &error), -1);
	rpc_message_clear(&m);
	ck_assert_int_eq(rpc_batch_item(&batch, 2, &m, &error), -1);
	rpc_message_clear(&m);
	ck_assert_int_eq(rpc_batch_item(&batch, 3, &m, &error), 0);
	ck_assert_int_eq(m.kind, RPC_NOTIFICATION);
	rpc_message_clear(&m);
	rpc_message_clear(&batch);
}
END_TEST

START_TEST(answers_carry_the_id_as_it_came)
{
	OWNED(str) struct str out = { 0 };

	rpc_result(&out, "1e2", "{}");
	ck_assert_str_eq(out.bytes, "{\"jsonrpc\":\"2.0\",\"id\":1e2,\"result\":{}}");
	str_reset(&out);
	rpc_failure(&out, NULL, -32700, "a \"b\"\n", NULL);
	ck_assert_str_eq(out.bytes, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,"
	                            "\"message\":\"a \\\"b\\\"\\n\"}}");
	str_reset(&out);
	rpc_failure(&out, "\"\"", -1, "x", "{\"y\":1}");
	ck_assert_str_eq(out.bytes, "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-1,"
	                            "\"message\":\"x\",\"data\":{\"y\":1}}}");
}
END_TEST

START_TEST(quoting_replaces_what_is_no_utf8)
{
	static const struct {
		const char *text, *json;
	} CASES[] = {
		{ "", "\"\"" },
		{ "a\"b\\c\n\t\r\x01", "\"a\\\"b\\\\c\\n\\t\\u000d\\u0001\"" },
		{ "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
		  "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"" },
		{ "\xFF", "\"\xEF\xBF\xBD\"" },
		{ "a\xC3", "\"a\xEF\xBF\xBD\"" },
		{ "\xC3(", "\"\xEF\xBF\xBD(\"" },
		{ "\xF0\x9F\x98", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str out = { 0 };

		json_quote(&out, CASES[i].text);
		ck_assert_str_eq(out.bytes, CASES[i].json);
		ck_assert(utf8_valid(out.bytes, out.length));
	}
}
END_TEST

static void canonical(const char *json, const char *expected)
{
	OWNED(cJSON_ptr) cJSON *value = cJSON_Parse(json);
	OWNED(str) struct str out = { 0 };

	ck_assert_msg(value != NULL, "%s", json);
	json_canonical(&out, value);
	ck_assert_str_eq(str_text(&out), expected);
}

START_TEST(equal_values_have_one_canonical_text)
{
	canonical("{\"b\":1,\"a\":[1, 2,{\"d\":null,\"c\":true}]}",
	          "{\"a\":[1,2,{\"c\":true,\"d\":null}],\"b\":1}");
	canonical("{ }", "{}");
	canonical("[ ]", "[]");
	canonical("\"\\u0061\\/\"", "\"a/\"");
	canonical("1e2", "100");
	canonical("{\"\\u00e9\":1,\"z\":2}", "{\"z\":2,\"\xC3\xA9\":1}");
}
END_TEST

/* ---- mcp ---- */

START_TEST(a_known_revision_is_echoed_and_an_unknown_one_becomes_our_newest)
{
	for (size_t i = 0; i < COUNT(VERSIONS); i++) {
		ck_assert_str_eq(mcp_negotiate(VERSIONS[i]), VERSIONS[i]);
		ck_assert(mcp_version_known(VERSIONS[i]));
	}
	ck_assert_str_eq(mcp_negotiate("1999-01-01"), "2025-11-25");
	ck_assert_str_eq(mcp_negotiate(NULL), "2025-11-25");
	ck_assert_str_eq(mcp_negotiate(""), "2025-11-25");
	ck_assert(!mcp_version_known("2026-07-28"));
	ck_assert(!mcp_version_known("2025-11-2"));
}
END_TEST

START_TEST(each_revision_lists_nine_tools_in_its_shape)
{
	for (size_t v = 0; v < COUNT(VERSIONS); v++) {
		OWNED(str) struct str out = { 0 };
		OWNED(cJSON_ptr) cJSON *list = NULL;
		const cJSON *tools, *tool;
		bool rich = strcmp(VERSIONS[v], "2025-06-18") >= 0;

		mcp_tools_list(&out, VERSIONS[v]);
		list = cJSON_Parse(out.bytes);
		tools = cJSON_GetObjectItemCaseSensitive(list, "tools");
		ck_assert_int_eq(cJSON_GetArraySize(tools), 9);
		cJSON_ArrayForEach (tool, tools) {
			const cJSON *input = cJSON_GetObjectItemCaseSensitive(tool, "inputSchema");
			const cJSON *output =
			    cJSON_GetObjectItemCaseSensitive(tool, "outputSchema");

			ck_assert_ptr_nonnull(json_text(tool, "name"));
			ck_assert_ptr_nonnull(json_text(tool, "description"));
			ck_assert_str_eq(json_text(input, "type"), "object");
			ck_assert_int_eq(output != NULL, rich);
			ck_assert_int_eq(cJSON_HasObjectItem(tool, "title"), rich);
			if (rich)
				ck_assert_str_eq(json_text(output, "type"), "object");
		}
	}
}
END_TEST

static bool is_call(const char *tool, const char *argument)
{
	OWNED(cJSON_ptr) cJSON *arguments = cJSON_CreateObject();
	char title[80];

	(void)snprintf(title, sizeof(title), "mcp__intercom__%s", tool);
	(void)cJSON_AddNullToObject(arguments, argument);
	return tool_name_is_call(title, arguments);
}

START_TEST(a_call_of_our_tool_has_no_argument_but_those_of_that_tool)
{
	OWNED(str) struct str out = { 0 };
	OWNED(cJSON_ptr) cJSON *list = NULL;
	const cJSON *tools, *tool, *other, *argument;

	mcp_tools_list(&out, "2025-11-25");
	list = cJSON_Parse(out.bytes);
	tools = json_get(list, "tools");
	cJSON_ArrayForEach (tool, tools)
		cJSON_ArrayForEach (other, tools)
			cJSON_ArrayForEach (
			    argument, json_get(json_get(other, "inputSchema"), "properties")) {
				const cJSON *own =
				    json_get(json_get(json_get(tool, "inputSchema"), "properties"),
				             argument->string);

				ck_assert_msg(is_call(json_text(tool, "name"), argument->string) ==
				                  (own != NULL),
				              "%s of %s", argument->string,
				              json_text(tool, "name"));
			}
	ck_assert(!is_call("ping", "command"));
}
END_TEST

START_TEST(the_old_names_of_tools_are_known_and_not_listed)
{
	OWNED(str) struct str out = { 0 };

	mcp_tools_list(&out, "2025-11-25");
	ck_assert_ptr_eq(tool_find("ask_approval"), tool_find("check_clearance"));
	ck_assert_ptr_eq(tool_find("heartbeat"), tool_find("ping"));
	ck_assert_ptr_null(strstr(out.bytes, "\"ask_approval\""));
	ck_assert_ptr_null(tool_find(""));
	ck_assert_ptr_null(tool_find("Ping"));
}
END_TEST

static const struct mcp_said NOTHING_SAID = { .text = "", .list = "" };

START_TEST(a_result_is_structured_where_the_revision_knows_that)
{
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str new = { 0 };

	mcp_tool_result(&old, "2025-03-26", "{\"a\":1}", NOTHING_SAID, false, NULL);
	ck_assert_str_eq(
	    old.bytes,
	    "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],\"isError\":false}");
	mcp_tool_result(&new, "2025-06-18", "{\"a\":1}", NOTHING_SAID, true, NULL);
	ck_assert_str_eq(new.bytes, "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],"
	                            "\"structuredContent\":{\"a\":1},\"isError\":true}");
}
END_TEST

START_TEST(events_and_progress_have_their_shape)
{
	OWNED(str) struct str out = { 0 };

	mcp_sse_event(&out, "7.0", "");
	ck_assert_str_eq(out.bytes, "id: 7.0\ndata: \n\n");
	str_reset(&out);
	mcp_sse_event(&out, NULL, "{}");
	ck_assert_str_eq(out.bytes, "data: {}\n\n");
	str_reset(&out);
	mcp_progress(&out, "0", 15, "w\"");
	ck_assert_str_eq(out.bytes,
	                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
	                 "\"progressToken\":0,\"progress\":15,\"message\":\"w\\\"\"}}");
}
END_TEST

/* ---- arguments ---- */

static void check_refuses(const char *tool, const char *arguments, const char *text)
{
	OWNED(cJSON_ptr) cJSON *value = cJSON_Parse(arguments);
	struct err e = { 0 };

	ck_assert_msg(tool_check(tool_find(tool), value, &e) == -1, "taken: %s %s", tool,
	              arguments);
	ck_assert_str_eq(e.text, text);
}

static void check_takes(const char *tool, const char *arguments)
{
	OWNED(cJSON_ptr) cJSON *value = cJSON_Parse(arguments);
	struct err e = { 0 };

	ck_assert_msg(tool_check(tool_find(tool), value, &e) == 0, "%s: %s", arguments, e.text);
}

START_TEST(wrong_arguments_are_named)
{
	check_refuses("check_diff", "{}",
	              "invalid arguments for check_diff: 'request_id' is missing (string)");
	check_refuses(
	    "check_diff", "{\"request_id\":7}",
	    "invalid arguments for check_diff: 'request_id' must be of type string, not a number");
	check_refuses("check_diff", "{\"request_id\":\"\"}",
	              "invalid arguments for check_diff: 'request_id' must not be empty");
	check_refuses(
	    "check_diff", "{\"request_id\":\"x\",\"force\":\"yes\"}",
	    "invalid arguments for check_diff: 'force' must be of type boolean, not a string");
	check_refuses("standby", "{\"timeout_seconds\":-1}",
	              "invalid arguments for standby: 'timeout_seconds' must not be less than 0");
	check_refuses("standby", "{\"timeout_seconds\":1.5}",
	              "invalid arguments for standby: 'timeout_seconds' must be of type integer, "
	              "not a number");
	check_refuses("auto_check", "{\"tool_name\":\"x\",\"context\":{\"file_path\":[]}}",
	              "invalid arguments for auto_check: 'context.file_path' must be of type "
	              "string, not an array");
}
END_TEST

/* As in JSON Schema, and so as clients check it. */
START_TEST(a_text_is_as_long_as_it_has_characters)
{
	OWNED(str) struct str title = { 0 }, fits = { 0 }, longer = { 0 };

	for (int i = 0; i < 1000; i++)
		str_add(&title, "ж");
	str_addf(&fits, "{\"diff\":\"d\",\"file_path\":\"f\",\"title\":\"%s\"}", title.bytes);
	check_takes("check_clearance", fits.bytes);
	str_addf(&longer, "{\"diff\":\"d\",\"file_path\":\"f\",\"title\":\"%sx\"}", title.bytes);
	check_refuses("check_clearance", longer.bytes,
	              "invalid arguments for check_clearance: 'title' must not be longer than 1000 "
	              "characters");
}
END_TEST

START_TEST(the_place_of_a_wrong_item_is_named)
{
	struct err e = { 0 };
	OWNED(cJSON_ptr)
	cJSON *value = cJSON_Parse("{\"progress_snapshot\":[{\"label\":\"a\",\"status\":\"done\"},"
	                           "{\"label\":\"\",\"status\":\"done\"}]}");

	ck_assert_int_eq(tool_check(tool_find("ping"), value, &e), -1);
	ck_assert_msg(strstr(e.text, "'progress_snapshot[1].label' must not be empty"), "%s",
	              e.text);
	e = (struct err){ 0 };
	cJSON_Delete(value);
	value = cJSON_Parse("{\"progress_snapshot\":[{\"label\":\"a\",\"status\":\"finished\"}]}");
	ck_assert_int_eq(tool_check(tool_find("ping"), value, &e), -1);
	ck_assert_msg(strstr(e.text, "progress_snapshot[0].status") &&
	                  strstr(e.text, "in_progress"),
	              "%s", e.text);
}
END_TEST

START_TEST(what_is_optional_may_be_missing_or_null)
{
	check_takes("ping", "{}");
	check_takes("ping", "null");
	check_takes("ping", "{\"status_message\":null,\"unknown\":[1]}");
	check_takes("transmit", "{\"prompt_text\":\"x\",\"elapsed_seconds\":null}");
}
END_TEST

START_TEST(defaults_are_filled_in_and_nulls_dropped)
{
	OWNED(cJSON_ptr)
	cJSON *given = cJSON_Parse("{\"title\":\"t\",\"title\":\"u\",\"description\":null,\"diff\":"
	                           "\"d\",\"file_path\":\"f\"}");
	OWNED(cJSON_ptr) cJSON *filled = tool_arguments(tool_find("check_clearance"), given);
	OWNED(str) struct str out = { 0 };

	json_canonical(&out, filled);
	ck_assert_str_eq(
	    out.bytes,
	    "{\"diff\":\"d\",\"file_path\":\"f\",\"risk_level\":\"low\",\"title\":\"t\"}");
}
END_TEST

START_TEST(a_call_with_a_nul_is_refused_as_a_result)
{
	OWNED(cJSON_ptr)
	cJSON *params = cJSON_Parse("{\"name\":\"broadcast\",\"arguments\":{\"message\":\"x\"}}");
	struct call c = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(call_open(&c, params, "1", true, &e), 0);
	ck_assert(c.is_error);
	ck_assert_msg(strstr(c.result.bytes, "NUL"), "%s", c.result.bytes);
	call_clear(&c);
}
END_TEST

START_TEST(a_call_of_no_tool_is_an_error)
{
	static const char *const PARAMS[] = { "{}",
		                              "null",
		                              "{\"name\":7}",
		                              "{\"name\":\"no_such\"}",
		                              "{\"name\":\"ping\",\"arguments\":[]}",
		                              "{\"name\":\"ping\",\"arguments\":\"x\"}" };

	for (size_t i = 0; i < COUNT(PARAMS); i++) {
		OWNED(cJSON_ptr) cJSON *params = cJSON_Parse(PARAMS[i]);
		struct call c = { 0 };
		struct err e = { 0 };

		ck_assert_msg(call_open(&c, params, "1", false, &e) == -1, "%s", PARAMS[i]);
		ck_assert_str_ne(e.text, "");
		call_clear(&c);
	}
}
END_TEST

START_TEST(a_progress_token_may_be_0_and_meta_anything)
{
	static const struct {
		const char *meta, *token;
	} CASES[] = { { "{\"progressToken\":0}", "0" },
		      { "{\"progressToken\":\"\"}", "\"\"" },
		      { "{\"progressToken\":null}", NULL },
		      { "{\"progressToken\":{}}", NULL },
		      { "7", NULL },
		      { "[]", NULL } };

	for (size_t i = 0; i < COUNT(CASES); i++) {
		char text[200];
		struct call c = { 0 };
		struct err e = { 0 };
		OWNED(cJSON_ptr) cJSON *params = NULL;

		(void)snprintf(text, sizeof(text), "{\"name\":\"ping\",\"_meta\":%s}",
		               CASES[i].meta);
		params = cJSON_Parse(text);
		ck_assert_int_eq(call_open(&c, params, "1", false, &e), 0);
		if (CASES[i].token)
			ck_assert_str_eq(c.progress_token, CASES[i].token);
		else
			ck_assert_ptr_null(c.progress_token);
		call_clear(&c);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mcp");
	TCase *c = tcase_create("mcp");

	tcase_add_test(c, an_id_is_kept_byte_for_byte);
	tcase_add_test(c, an_id_that_is_no_string_or_integer_is_refused);
	tcase_add_test(c, only_the_id_of_the_message_itself_is_its_id);
	tcase_add_test(c, a_request_always_has_an_id_however_its_name_is_spelt);
	tcase_add_test(c, what_names_something_twice_is_refused_with_its_id_if_that_is_certain);
	tcase_add_test(c, a_nul_in_a_string_is_noticed);
	tcase_add_test(c, a_request_with_half_a_surrogate_pair_is_refused_with_its_id);
	tcase_add_test(c, a_request_that_is_not_parsed_is_refused_with_its_id);
	tcase_add_test(c, a_nul_byte_is_refused);
	tcase_add_test(c, sixty_four_levels_are_taken_and_sixty_five_are_not);
	tcase_add_test(c, brackets_in_strings_are_no_nesting);
	tcase_add_test(c, what_is_no_json_is_a_parse_error);
	tcase_add_test(c, json_that_is_no_message_is_an_invalid_request);
	tcase_add_test(c, an_error_still_tells_whose_it_is);
	tcase_add_test(c, notifications_and_responses_are_told_apart);
	tcase_add_test(c, the_items_of_a_batch_are_messages);
	tcase_add_test(c, answers_carry_the_id_as_it_came);
	tcase_add_test(c, quoting_replaces_what_is_no_utf8);
	tcase_add_test(c, equal_values_have_one_canonical_text);
	tcase_add_test(c, a_known_revision_is_echoed_and_an_unknown_one_becomes_our_newest);
	tcase_add_test(c, each_revision_lists_nine_tools_in_its_shape);
	tcase_add_test(c, a_call_of_our_tool_has_no_argument_but_those_of_that_tool);
	tcase_add_test(c, the_old_names_of_tools_are_known_and_not_listed);
	tcase_add_test(c, a_result_is_structured_where_the_revision_knows_that);
	tcase_add_test(c, events_and_progress_have_their_shape);
	tcase_add_test(c, wrong_arguments_are_named);
	tcase_add_test(c, a_text_is_as_long_as_it_has_characters);
	tcase_add_test(c, the_place_of_a_wrong_item_is_named);
	tcase_add_test(c, what_is_optional_may_be_missing_or_null);
	tcase_add_test(c, defaults_are_filled_in_and_nulls_dropped);
	tcase_add_test(c, a_call_with_a_nul_is_refused_as_a_result);
	tcase_add_test(c, a_call_of_no_tool_is_an_error);
	tcase_add_test(c, a_progress_token_may_be_0_and_meta_anything);
	suite_add_tcase(s, c);
	return run_suite(s);
}
