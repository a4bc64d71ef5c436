/* mcp-front over HTTP: the traceparent of a call, in its row and in its result. */
#include "front_case.h"

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define OTHER "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
#define MALFORMED "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"

/* A client of revision 2026-07-28 with further members of _meta, each with its comma. */
#define MODERN_META(members, capabilities)                                                         \
	"\"_meta\":{" members "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","        \
	"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"tester\",\"version\":\"1\"},"          \
	"\"io.modelcontextprotocol/clientCapabilities\":{" capabilities "}}"
#define IN_TRACE(parent) "\"traceparent\":\"" parent "\","
#define TASKS "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}"
#define FORMS "\"elicitation\":{}"

static const char META[] = "{\"traceparent\":\"" PARENT "\"}";
static const char ITS_TRACE[] = "result._meta.traceparent";

/* The JSON-RPC message that answers a legacy call. */
static char *legacy_call(struct agent *a, const char *tool, const char *arguments, const char *meta)
{
	struct wire w;
	char *message;

	agent_begin(a, &w, tool, arguments, meta);
	message = agent_message(&w);
	wire_close(&w);
	return message;
}

/* ---- answered at once ---- */

START_TEST(a_call_that_does_not_wait_keeps_its_trace_in_both_eras)
{
	struct agent a;
	OWNED(char_ptr) char *legacy = NULL;
	OWNED(char_ptr) char *modern = NULL;

	given_front();
	a = newcomer();
	legacy = legacy_call(&a, "ping", "{}", META);
	has(legacy, ITS_TRACE, PARENT);
	has(legacy, "result.isError", "false");
	modern = modern_call(port, "", "ping", "{}", "", MODERN_META(IN_TRACE(OTHER), ""));
	has(modern, ITS_TRACE, OTHER);
	has(modern, "result.resultType", "complete");
	ck_assert_ptr_nonnull(strstr(modern, "io.modelcontextprotocol/serverInfo"));
	expect("SELECT era, traceparent FROM tool_call ORDER BY seq",
	       "legacy|" PARENT "\nmodern|" OTHER "\n");
}
END_TEST

START_TEST(a_malformed_trace_changes_nothing)
{
	struct agent a;
	OWNED(char_ptr) char *none = NULL;
	OWNED(char_ptr) char *bad = NULL;
	OWNED(char_ptr) char *modern_none = NULL;
	OWNED(char_ptr) char *modern_bad = NULL;

	given_front();
	a = newcomer();
	none = legacy_call(&a, "ping", "{}", NULL);
	a.id--; /* the same id */
	bad = legacy_call(&a, "ping", "{}", "{\"traceparent\":\"" MALFORMED "\"}");
	ck_assert_str_eq(none, bad);
	ck_assert_ptr_null(strstr(none, "_meta"));
	modern_none = modern_call(port, "", "ping", "{}", "", MODERN_META("", ""));
	modern_bad =
	    modern_call(port, "", "ping", "{}", "", MODERN_META("\"traceparent\":{\"a\":1},", ""));
	ck_assert_str_eq(modern_none, modern_bad);
	expect("SELECT count(*), count(traceparent) FROM tool_call", "4|0\n");
}
END_TEST

/* ---- waiting ---- */

START_TEST(a_legacy_call_that_waits_is_answered_in_its_trace_also_to_whoever_resumes_it)
{
	struct agent a;
	struct wire w;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *again = NULL;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", META);
	expect("SELECT state, traceparent FROM tool_call", "waiting|" PARENT "\n");
	kill_worker(front);
	wire_close(&w);
	start_front();
	a.port = port;
	wire_open(&w, port);
	agent_send(&a, &w, "GET", "Last-Event-ID: 1.0\r\n", NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "1\n");
	approve_all();
	answer = agent_message(&w);
	wire_close(&w);
	has(answer, "result.structuredContent.status", "approved");
	has(answer, ITS_TRACE, PARENT);
	expect_soon("SELECT state FROM tool_call", "done\n");

	wire_open(&w, port);
	agent_send(&a, &w, "GET", "Last-Event-ID: 1.0\r\n", NULL);
	again = agent_message(&w);
	wire_close(&w);
	ck_assert_str_eq(answer, again);
}
END_TEST

START_TEST(a_modern_call_that_waits_is_answered_in_its_trace)
{
	OWNED(str) struct str headers = { 0 };
	OWNED(str) struct str members = { 0 };
	OWNED(str) struct str json = { 0 };
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = agent_sessionless(port, "");
	str_addf(&members, "\"name\":\"check_clearance\",\"arguments\":%s", arguments);
	modern_headers(&headers, "tools/call", "check_clearance");
	modern_compose(&json, "tools/call", members.bytes, MODERN_META(IN_TRACE(PARENT), ""));
	wire_open(&w, port);
	agent_send(&a, &w, "POST", headers.bytes, json.bytes);
	expect_soon("SELECT state, traceparent FROM tool_call", "waiting|" PARENT "\n");
	approve_all();
	answer = agent_message(&w);
	wire_close(&w);
	has(answer, "result.structuredContent.status", "approved");
	has(answer, ITS_TRACE, PARENT);
}
END_TEST

START_TEST(a_task_and_its_result_are_in_the_trace_of_their_call)
{
	static const char CLIENT[] = MODERN_META(IN_TRACE(PARENT), TASKS);
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *made = NULL;
	OWNED(char_ptr) char *ended = NULL;
	char members[200], id[64];

	given_front();
	made = modern_call(port, "?tasks=1", "check_clearance", arguments, "", CLIENT);
	has(made, "result.resultType", "task");
	has(made, ITS_TRACE, PARENT);
	expect("SELECT state, traceparent FROM tool_call", "waiting|" PARENT "\n");
	approve_all();
	(void)snprintf(id, sizeof(id), "%.63s", member(made, "result.taskId"));
	(void)snprintf(members, sizeof(members), "\"taskId\":\"%s\"", id);
	ended = modern_request(port, "", "tasks/get", id, members,
	                       MODERN_META(IN_TRACE(OTHER), TASKS), NULL);
	has(ended, "result.status", "completed");
	has(ended, "result.result._meta.traceparent", PARENT);
	has(ended, ITS_TRACE, "");
}
END_TEST

START_TEST(a_form_is_in_the_trace_of_the_call_that_gets_it)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *asked = NULL;

	given_front();
	given("INSERT INTO setting (name, value, source, updated_at)"
	      " VALUES ('mcp.elicitation', 'true', 'file', '2026-01-01T09:00:00.000Z')");
	kill_worker(front);
	start_front();
	asked = modern_call(port, "", "check_clearance", arguments, "",
	                    MODERN_META(IN_TRACE(PARENT), FORMS));
	has(asked, "result.resultType", "input_required");
	has(asked, ITS_TRACE, PARENT);
	expect("SELECT state, traceparent FROM tool_call", "done|" PARENT "\n");
}
END_TEST

/* ---- the question ---- */

START_TEST(a_question_that_is_asked_again_in_another_trace_is_the_same_question)
{
	struct agent a;
	struct wire first, second;

	given_front();
	a = newcomer();
	ask(&a, &first, "f", META);
	expect("SELECT kind, traceparent FROM timeline WHERE kind = 'request.asked'",
	       "request.asked|" PARENT "\n");
	ask(&a, &second, "f", "{\"traceparent\":\"" OTHER "\"}");
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT traceparent FROM tool_call ORDER BY seq", PARENT "\n" OTHER "\n");
	expect("SELECT kind, traceparent FROM timeline WHERE kind = 'request.asked'",
	       "request.asked|" OTHER "\n");
	wire_close(&first);
	wire_close(&second);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_trace");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, a_call_that_does_not_wait_keeps_its_trace_in_both_eras);
	tcase_add_test(c, a_malformed_trace_changes_nothing);
	tcase_add_test(
	    c, a_legacy_call_that_waits_is_answered_in_its_trace_also_to_whoever_resumes_it);
	tcase_add_test(c, a_modern_call_that_waits_is_answered_in_its_trace);
	tcase_add_test(c, a_task_and_its_result_are_in_the_trace_of_their_call);
	tcase_add_test(c, a_form_is_in_the_trace_of_the_call_that_gets_it);
	tcase_add_test(c, a_question_that_is_asked_again_in_another_trace_is_the_same_question);
	suite_add_tcase(s, c);
	return run_suite(s);
}
