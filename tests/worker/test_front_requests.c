/* mcp-front over HTTP: what clients send, right and wrong, and what of it stays in the rows. */
#include "front_case.h"

/* body: what the answer is, may be NULL. */
static void posts(const struct agent *a, int status, const char *json, struct str *body)
{
	ck_assert_int_eq(agent_exchange(a, "POST", "", json, body), status);
}

/* ---- sessions ---- */

START_TEST(each_revision_is_echoed_and_an_unknown_one_gets_our_newest)
{
	static const char *const ECHOED[] = { "2024-11-05", "2025-03-26", "2025-06-18",
		                              "2025-11-25" };
	static const char *const UNKNOWN[] = { "2026-07-28", "1.0", "" };

	given_front();
	for (size_t i = 0; i < COUNT(ECHOED); i++)
		ck_assert_str_eq(agent_hello(port, "", ECHOED[i]).version, ECHOED[i]);
	for (size_t i = 0; i < COUNT(UNKNOWN); i++)
		ck_assert_str_eq(agent_hello(port, "", UNKNOWN[i]).version, "2025-11-25");
	expect("SELECT count(DISTINCT key), min(length(key)) >= 32 FROM connection", "7|1\n");
}
END_TEST

START_TEST(a_session_that_is_unknown_or_ended_is_404)
{
	OWNED(str) struct str body = { 0 };
	struct agent a, stranger;

	given_front();
	a = newcomer();
	stranger = a;
	stranger.session[0] ^= 1;

	posts(&stranger, 404, PING, &body);
	says(body.bytes, "initialize");
	ck_assert_int_eq(agent_exchange(&stranger, "DELETE", "", NULL, NULL), 404);
	ck_assert_int_eq(agent_exchange(&stranger, "GET", "Last-Event-ID: 1.0\r\n", NULL, NULL),
	                 404);

	posts(&a, 200, PING, NULL);
	ck_assert_int_eq(agent_exchange(&a, "DELETE", "", NULL, NULL), 204);
	posts(&a, 404, PING, NULL);
	ck_assert_int_eq(agent_exchange(&a, "DELETE", "", NULL, NULL), 404);
	expect("SELECT state FROM connection", "closed\n");
}
END_TEST

START_TEST(a_session_outlives_its_front)
{
	struct agent a;
	OWNED(char_ptr) char *before = NULL;
	OWNED(char_ptr) char *after = NULL;

	given_front();
	a = newcomer();
	before = agent_call(&a, "ping", "{}");
	kill_worker(front);
	start_front();
	a.port = port;
	after = agent_call(&a, "ping", "{}");
	ck_assert_str_eq(before, after);
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

START_TEST(what_needs_no_answer_is_202)
{
	struct agent a;
	OWNED(str) struct str body = { 0 };

	given_front();
	a = newcomer();
	posts(&a, 202, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/whatever\"}", &body);
	ck_assert_str_eq(str_text(&body), "");
	posts(&a, 202, "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", NULL);
	posts(&a, 202,
	      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	      "\"params\":{\"requestId\":99}}",
	      NULL);
}
END_TEST

START_TEST(only_post_delete_and_resuming_get_are_served)
{
	struct agent a;

	given_front();
	a = newcomer();
	ck_assert_int_eq(agent_exchange(&a, "GET", "", NULL, NULL), 405);
	ck_assert_int_eq(agent_exchange(&a, "PUT", "", PING, NULL), 405);
	ck_assert_int_eq(agent_exchange(&a, "GET", "Last-Event-ID: 77.0\r\n", NULL, NULL), 405);
	ck_assert_int_eq(agent_exchange(&a, "GET", "Last-Event-ID: x\r\n", NULL, NULL), 405);
	ck_assert_int_eq(agent_exchange(&a, "GET", "Last-Event-ID: \r\n", NULL, NULL), 405);
	ck_assert_int_eq(raw("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", NULL), 200);
	ck_assert_int_eq(raw("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", NULL), 404);
}
END_TEST

START_TEST(a_revision_that_nobody_speaks_is_400)
{
	struct agent a;
	OWNED(str) struct str body = { 0 };

	given_front();
	a = newcomer();
	(void)snprintf(a.version, sizeof(a.version), "2199-01-01");
	posts(&a, 400, PING, &body);
	says(body.bytes, "MCP-Protocol-Version");
	a.version[0] = '\0';
	posts(&a, 200, PING, NULL);
}
END_TEST

/* ---- bodies ---- */

START_TEST(what_is_no_json_rpc_is_400_with_its_code)
{
	struct agent a;
	OWNED(str) struct str body = { 0 };

	given_front();
	a = newcomer();
	posts(&a, 400, "{\"jsonrpc\"", &body);
	has(body.bytes, "error.code", "-32700");
	posts(&a, 400, "", &body);
	has(body.bytes, "error.code", "-32700");
	posts(&a, 400, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", &body);
	has(body.bytes, "error.code", "-32600");
	posts(&a, 400, "{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"ping\"}", &body);
	has(body.bytes, "id", "5");
	posts(&a, 400, "[]", &body);
	ck_assert_int_eq(ping_with("Host: localhost\r\nContent-Type: text/plain\r\n"), 415);
}
END_TEST

START_TEST(a_body_over_4_mib_is_413_with_a_reason)
{
	struct agent a;
	OWNED(str) struct str big = { 0 };
	OWNED(str) struct str body = { 0 };

	given_front();
	a = newcomer();
	str_add(&big, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"");
	while (big.length < 5 * MIB)
		str_add(&big, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	str_add(&big, "\"}}");
	posts(&a, 413, big.bytes, &body);
	says(member(body.bytes, "error.message"), "4 MiB");
	posts(&a, 200, PING, NULL);
}
END_TEST

START_TEST(a_body_nested_too_deep_is_400)
{
	struct agent a;
	OWNED(str) struct str deep = { 0 };
	OWNED(str) struct str body = { 0 };

	given_front();
	a = newcomer();
	for (int i = 0; i < 100000; i++)
		str_add_char(&deep, '[');
	posts(&a, 400, deep.bytes, &body);
	says(body.bytes, "64 levels");
}
END_TEST

/* The front took a request whose id is spelt with an escape for one that has an id it knows. */
START_TEST(an_id_whose_name_is_escaped_kills_nobody)
{
	struct agent a;
	OWNED(str) struct str body = { 0 };

	given_front();
	a = newcomer();
	posts(&a, 200,
	      "{\"jsonrpc\":\"2.0\",\"\\u0069d\":\"x\",\"method\":\"tools/call\","
	      "\"params\":{\"name\":\"ping\"}}",
	      &body);
	has(body.bytes, "id", "x");
	ck_assert_int_eq(kill(front, 0), 0);
}
END_TEST

START_TEST(a_batch_is_answered_in_the_one_revision_that_has_it)
{
	static const char BATCH[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
	                            "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"no/such\"},"
	                            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]";
	struct agent a, b;
	struct wire w;
	struct event e = { .id = "" };
	int count = 0;

	given_front();
	a = newcomer();
	posts(&a, 400, BATCH, NULL);
	b = agent_hello(port, "", "2025-03-26");
	wire_open(&w, port);
	agent_send(&b, &w, "POST", "", BATCH);
	ck_assert_int_eq(wire_head(&w), 200);
	while (wire_event(&w, &e))
		count++;
	ck_assert_int_eq(count, 2);
	event_clear(&e);
	wire_close(&w);
	posts(&b, 202, "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]", NULL);
}
END_TEST

/* Whatever else it requires in _meta. */
START_TEST(who_speaks_a_later_revision_is_told_which_we_know)
{
	struct agent a;
	OWNED(str) struct str b = { 0 };

	given_front();
	a = agent_sessionless(port, "");
	ck_assert_int_eq(
	    agent_exchange(
	        &a, "POST", "MCP-Protocol-Version: 2099-01-01\r\nMcp-Method: ping\r\n",
	        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{"
	        "\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\"}}}",
	        &b),
	    400);
	has(b.bytes, "error.data.supported", "[\"2026-07-28\"]");
	has(b.bytes, "error.data.requested", "2099-01-01");
}
END_TEST

START_TEST(wrong_calls_are_told_what_is_wrong)
{
	static const char *const TOO_MUCH[] = { "2147483648", "9007199254740991",
		                                "9007199254740993",
		                                "1000000000000000000000000000000" };
	struct agent a;
	OWNED(str) struct str b = { 0 };

	given_front();
	a = newcomer();
	exchange(&a, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", &b);
	has(b.bytes, "error.code", "-32601");
	says(b.bytes, "no/such");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"tools/"
	         "call\",\"params\":{\"name\":\"nope\"}}",
	         &b);
	has(b.bytes, "error.code", "-32602");
	says(b.bytes, "\"id\":\"\"");
	says(b.bytes, "unknown tool: nope");
	exchange(&a, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/call\"}", &b);
	has(b.bytes, "error.code", "-32602");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"check_diff\",\"arguments\":{\"request_id\":5}}}",
	         &b);
	has(b.bytes, "id", "0");
	has(b.bytes, "result.isError", "true");
	has(b.bytes, "result.structuredContent.error_code", "invalid_arguments");
	says(b.bytes, "'request_id' must be of type string");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"broadcast\",\"arguments\":{\"message\":\"a\\u0000b\"}}}",
	         &b);
	has(b.bytes, "result.isError", "true");
	says(b.bytes, "NUL");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"broadcast\",\"arguments\":{\"message\":\"a\",\"message\":\"b\"}}}",
	         &b);
	has(b.bytes, "result.isError", "true");
	says(b.bytes, "invalid arguments for broadcast: they name 'message' twice");
	for (size_t i = 0; i < COUNT(TOO_MUCH); i++) {
		char call[300];

		(void)snprintf(call, sizeof(call),
		               "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
		               "{\"name\":\"transmit\",\"arguments\":{\"prompt_text\":\"go on?\","
		               "\"actions_taken\":%s}}}",
		               TOO_MUCH[i]);
		exchange(&a, call, &b);
		has(b.bytes, "result.isError", "true");
		says(b.bytes, "'actions_taken' must not be more than 2147483647");
	}
	exchange(&a, PING, &b);
	has(b.bytes, "result", "{}");
	exchange(
	    &a,
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"\"}}",
	    &b);
	has(b.bytes, "result.tools.8.name", "switch_freq");
}
END_TEST

START_TEST(no_name_is_taken_for_what_it_is_up_to_a_nul)
{
	static const char *const WRONG[] = {
		"\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\\u0000x\"",
		"\"jsonrpc\\u0000\":\"2.0\",\"id\":1,\"method\":\"ping\"",
		"\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-06-18\\u0000\"}",
	};
	struct agent a;
	OWNED(str) struct str b = { 0 };

	given_front();
	a = newcomer();
	for (size_t i = 0; i < COUNT(WRONG); i++) {
		OWNED(str) struct str text = { 0 };

		str_addf(&text, "{%s}", WRONG[i]);
		exchange(&a, text.bytes, &b);
		has(b.bytes, "id", "1");
		has(b.bytes, "error.code", "-32602");
		says(b.bytes, "NUL");
	}
}
END_TEST

START_TEST(a_relay_whose_greeting_readers_may_understand_differently_is_cut)
{
	static const char *const GREETINGS[] = {
		"{\"agent-intercom\":1,\"workspace\":\"/a\",\"workspace\":\"/b\"}",
		"{\"agent-intercom\":1,\"workspace\":\"/a\\u0000b\"}",
		"{\"agent-intercom\":1} {}",
		"{\"agent-intercom\":1,\"agent\":\"\xff\"}",
	};

	given_front();
	for (size_t i = 0; i < COUNT(GREETINGS); i++) {
		struct relay r = { .in = front_socket() };
		char byte;

		relay_send(&r, GREETINGS[i]);
		ck_assert_msg(read(r.in, &byte, 1) == 0, "taken: %s", GREETINGS[i]);
		(void)close(r.in);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_requests");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, each_revision_is_echoed_and_an_unknown_one_gets_our_newest);
	tcase_add_test(c, a_session_that_is_unknown_or_ended_is_404);
	tcase_add_test(c, a_session_outlives_its_front);
	tcase_add_test(c, what_needs_no_answer_is_202);
	tcase_add_test(c, only_post_delete_and_resuming_get_are_served);
	tcase_add_test(c, a_revision_that_nobody_speaks_is_400);
	tcase_add_test(c, what_is_no_json_rpc_is_400_with_its_code);
	tcase_add_test(c, a_body_over_4_mib_is_413_with_a_reason);
	tcase_add_test(c, a_body_nested_too_deep_is_400);
	tcase_add_test(c, an_id_whose_name_is_escaped_kills_nobody);
	tcase_add_test(c, a_batch_is_answered_in_the_one_revision_that_has_it);
	tcase_add_test(c, who_speaks_a_later_revision_is_told_which_we_know);
	tcase_add_test(c, wrong_calls_are_told_what_is_wrong);
	tcase_add_test(c, a_relay_whose_greeting_readers_may_understand_differently_is_cut);
	tcase_add_test(c, no_name_is_taken_for_what_it_is_up_to_a_nul);
	suite_add_tcase(s, c);
	return run_suite(s);
}
