/* mcp-front over HTTP: what clients send, right and wrong, and what of it stays in the rows. */
#include "front_case.h"

/* The call that was begun ends with a yes. */
static void is_told_approved(struct wire *w)
{
	OWNED(char_ptr) char *result = agent_end(w);

	has(result, "status", "approved");
}

/* ---- waiting ---- */

START_TEST(a_waiting_call_begins_with_an_id_and_tells_of_its_progress)
{
	struct agent a;
	struct wire w;
	struct event e = { .id = "" };
	int last = -1;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", "{\"progressToken\":\"p\"}");
	ck_assert_int_eq(wire_head(&w), 200);
	ck_assert_str_eq(wire_header(&w, "Content-Type"), "text/event-stream");
	ck_assert(wire_event(&w, &e));
	ck_assert_str_ne(e.id, "");
	ck_assert_str_eq(str_text(&e.data), "");
	for (int i = 0; i < 3; i++) {
		ck_assert(wire_event(&w, &e));
		has(str_text(&e.data), "method", "notifications/progress");
		has(str_text(&e.data), "params.progressToken", "p");
		ck_assert_int_gt(atoi(member(str_text(&e.data), "params.progress")), last);
		last = atoi(member(str_text(&e.data), "params.progress"));
		ck_assert_str_ne(e.id, "");
	}
	approve_all();
	ck_assert(wire_event(&w, &e));
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	ck_assert(!wire_event(&w, &e));
	event_clear(&e);
	wire_close(&w);
	expect_soon("SELECT state, is_error FROM tool_call", "done|0\n");
}
END_TEST

/* Comes back by GET; the stream is open behind its first event, or ends with the answer. */
static void resume(const struct agent *a, struct wire *w, const char *event_id)
{
	char header[120];

	(void)snprintf(header, sizeof(header), "Last-Event-ID: %s\r\n", event_id);
	wire_open(w, a->port);
	agent_send(a, w, "GET", header, NULL);
	ck_assert_int_eq(wire_head(w), 200);
}

START_TEST(a_stream_is_resumed_on_another_front)
{
	struct agent a;
	struct wire w;
	struct event e = { .id = "" };
	int last = -1;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", "{\"progressToken\":7}");
	(void)wire_head(&w);
	for (int i = 0; i < 3; i++) /* the first id, and two of progress */
		ck_assert(wire_event(&w, &e));
	last = atoi(member(str_text(&e.data), "params.progress"));
	kill_worker(front);
	wire_close(&w);
	start_front();
	a.port = port;
	expect("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");

	resume(&a, &w, e.id);
	ck_assert(wire_event(&w, &e));
	do
		ck_assert(wire_event(&w, &e));
	while (!str_text(&e.data)[0]);
	has(str_text(&e.data), "params.progressToken", "7");
	ck_assert_msg(atoi(member(str_text(&e.data), "params.progress")) > last,
	              "after %d comes %s: progress must not go back", last,
	              member(str_text(&e.data), "params.progress"));
	approve_all();
	while (wire_event(&w, &e))
		continue;
	has(str_text(&e.data), "id", "1");
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	wire_close(&w);

	/* The answer is told again to who lost it. */
	resume(&a, &w, "1.0");
	while (wire_event(&w, &e))
		continue;
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	wire_close(&w);
	event_clear(&e);
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(a_result_goes_to_the_stream_that_was_resumed_last)
{
	struct agent a;
	struct wire lost, w;
	struct event e = { .id = "" };

	given_front();
	a = newcomer();
	ask(&a, &lost, "f", NULL);
	(void)wire_head(&lost);
	ck_assert(wire_event(&lost, &e));
	resume(&a, &w, e.id);
	while (wire_event(&lost, &e)) /* it ends, although nobody hung up */
		ck_assert_ptr_null(strstr(str_text(&e.data), "result"));
	wire_close(&lost);
	expect("SELECT state FROM tool_call", "waiting\n");
	approve_all();
	while (wire_event(&w, &e))
		continue;
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	wire_close(&w);
	event_clear(&e);
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(a_stream_belongs_to_its_session)
{
	struct agent a, b, nobody;
	struct wire w;

	given_front();
	a = newcomer();
	b = newcomer();
	nobody = agent_sessionless(port, "");
	ask(&a, &w, "f", NULL);
	ck_assert_int_ne(agent_exchange(&nobody, "GET", "Last-Event-ID: 1.0\r\n", NULL, NULL), 500);
	{
		OWNED(str) struct str body = { 0 };

		ck_assert_int_eq(agent_exchange(&b, "GET", "Last-Event-ID: 1.0\r\n", NULL, &body),
		                 405);
		says(body.bytes, "there is no stream with this Last-Event-ID");
		(void)agent_exchange(&nobody, "GET", "Last-Event-ID: 1.0\r\n", NULL, &body);
		says(body.bytes, "there is no stream with this Last-Event-ID");
	}
	wire_close(&w);
}
END_TEST

/* As a client does that keeps its connections open for its next session. */
START_TEST(the_end_of_a_session_ends_its_streams_and_another_session_takes_its_question)
{
	struct agent a, b, other;
	struct wire old, w, kept;
	struct event e = { .id = "" };

	given_front();
	other = newcomer();
	ask(&other, &kept, "g", NULL);
	a = newcomer();
	ask(&a, &old, "f", NULL);
	(void)wire_head(&old);
	ck_assert_int_eq(agent_exchange(&a, "DELETE", "", NULL, NULL), 204);
	while (wire_event(&old, &e))
		ck_assert_ptr_null(strstr(str_text(&e.data), "result"));
	wire_close(&old);
	event_clear(&e);
	expect_soon("SELECT listener IS NULL, state FROM tool_call ORDER BY seq",
	            "0|waiting\n1|waiting\n");

	b = newcomer();
	ask(&b, &w, "f", NULL);
	approve_all();
	is_told_approved(&w);
	is_told_approved(&kept);
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

START_TEST(cancelling_ends_the_wait_and_not_the_question)
{
	struct agent a;
	struct wire w;
	struct event e = { .id = "" };

	given_front();
	a = newcomer();
	ask(&a, &w, "f", NULL);
	(void)wire_head(&w);
	ck_assert(wire_event(&w, &e));
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	                   "\"params\":{\"requestId\":1}}",
	                   NULL),
	    202);
	ck_assert_msg(!wire_event(&w, &e), "an answer comes: %s", str_text(&e.data));
	wire_close(&w);
	expect("SELECT state FROM tool_call", "cancelled\n");
	expect("SELECT state FROM request", "pending\n");

	ask(&a, &w, "f", NULL);
	approve_all();
	is_told_approved(&w);
	event_clear(&e);
	expect("SELECT count(*) FROM request", "1\n");
	expect_soon("SELECT group_concat(state) FROM tool_call", "cancelled,done\n");
}
END_TEST

START_TEST(another_session_cannot_cancel)
{
	struct agent a, b;
	struct wire w;

	given_front();
	a = newcomer();
	b = newcomer();
	ask(&a, &w, "f", NULL);
	ck_assert_int_eq(
	    agent_exchange(&b, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	                   "\"params\":{\"requestId\":1}}",
	                   NULL),
	    202);
	expect("SELECT state FROM tool_call", "waiting\n");
	approve_all();
	is_told_approved(&w);
}
END_TEST

START_TEST(a_client_that_vanishes_leaves_its_question)
{
	struct agent a;
	struct wire w;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *result = NULL;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", NULL);
	expect("SELECT listener IS NOT NULL FROM tool_call", "1\n");
	wire_break(&w);
	expect_soon("SELECT listener IS NULL, state FROM tool_call", "1|waiting\n");
	expect("SELECT state FROM request", "pending\n");
	ask(&a, &w, "f", NULL);
	wire_close(&w); /* orderly */
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");
	approve_all();
	result = agent_call(&a, "check_clearance", arguments);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

/* evhttp leaves requests to us whose client it has seen hang up: they leaked. The asan preset
 * tells, at the end of the front. */
START_TEST(many_clients_that_vanish_leave_nothing_behind)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	struct agent a;

	given_front();
	a = newcomer();
	for (int i = 0; i < 60; i++) {
		struct wire w;

		agent_begin(&a, &w, "check_clearance", arguments, NULL);
		if (i % 3 == 0)
			(void)wire_head(&w);
		if (i % 2 == 0)
			wire_break(&w);
		else
			wire_close(&w);
	}
	/* who is gone before being looked at is refused: the kernel does not say whose socket it
	 * was */
	expect_soon("SELECT count(*) >= 20, count(listener) FROM tool_call", "1|0\n");
	expect("SELECT count(*) FROM request", "1\n");
	stop_worker(front);
}
END_TEST

START_TEST(the_end_of_a_wait_says_pending_and_the_question_goes_on)
{
	struct agent a;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *third = NULL;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1", "2025-11-25");
	first = agent_call(&a, "check_clearance", arguments);
	has(first, "status", "pending");
	says(first, "exactly the same arguments");
	second = agent_call(&a, "check_clearance", arguments);
	has(second, "status", "pending");
	has(second, "request_id", member(first, "request_id"));
	approve_all();
	third = agent_call(&a, "check_clearance", arguments);
	has(third, "status", "approved");
	has(third, "request_id", member(first, "request_id"));
}
END_TEST

START_TEST(all_who_wait_for_one_question_are_told)
{
	struct agent a;
	struct wire first, second;

	given_front();
	a = newcomer();
	ask(&a, &first, "f", NULL);
	ask(&a, &second, "f", NULL);
	approve_all();
	is_told_approved(&first);
	is_told_approved(&second);
	expect("SELECT count(*) FROM request", "1\n");
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'done'", "2\n");
}
END_TEST

START_TEST(of_two_calls_answered_at_once_one_carries_the_operators_words)
{
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *other = NULL;
	struct agent a;
	struct wire first, second;

	given_front();
	a = newcomer();
	ask(&a, &first, "f", NULL);
	ask(&a, &second, "g", NULL);
	given("INSERT INTO steering (session_id, text) SELECT id, 'mind the gap' FROM session");
	approve_all();
	one = agent_message(&first);
	other = agent_message(&second);
	wire_close(&first);
	wire_close(&second);
	has(one, "result.structuredContent.status", "approved");
	has(other, "result.structuredContent.status", "approved");
	ck_assert_msg((strstr(one, "mind the gap") != NULL) !=
	                  (strstr(other, "mind the gap") != NULL),
	              "%s\n%s", one, other);
	expect_soon("SELECT count(*) FROM steering WHERE delivered_at IS NOT NULL", "1\n");
}
END_TEST

START_TEST(two_calls_with_one_id_are_both_answered)
{
	struct agent a;
	struct wire first, second;

	given_front();
	a = newcomer();
	ask(&a, &first, "f", NULL);
	a.id--;
	{
		OWNED(char_ptr) char *arguments = proposal("g", "hello\n");

		agent_begin(&a, &second, "check_clearance", arguments, NULL);
	}
	expect_soon(
	    "SELECT count(*), count(DISTINCT rpc_id) FROM tool_call WHERE state = 'waiting'",
	    "2|1\n");
	approve_all();
	is_told_approved(&first);
	is_told_approved(&second);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'done'", "2\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_waiting");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, a_waiting_call_begins_with_an_id_and_tells_of_its_progress);
	tcase_add_test(c, a_stream_is_resumed_on_another_front);
	tcase_add_test(c, a_result_goes_to_the_stream_that_was_resumed_last);
	tcase_add_test(c, a_stream_belongs_to_its_session);
	tcase_add_test(
	    c, the_end_of_a_session_ends_its_streams_and_another_session_takes_its_question);
	tcase_add_test(c, cancelling_ends_the_wait_and_not_the_question);
	tcase_add_test(c, another_session_cannot_cancel);
	tcase_add_test(c, a_client_that_vanishes_leaves_its_question);
	tcase_add_test(c, many_clients_that_vanish_leave_nothing_behind);
	tcase_add_test(c, the_end_of_a_wait_says_pending_and_the_question_goes_on);
	tcase_add_test(c, all_who_wait_for_one_question_are_told);
	tcase_add_test(c, of_two_calls_answered_at_once_one_carries_the_operators_words);
	tcase_add_test(c, two_calls_with_one_id_are_both_answered);
	suite_add_tcase(s, c);
	return run_suite(s);
}
