/* mcp-front with many big answers that are due at once for one reader: a batch, or an event stream
 * of revision 2024-11-05. */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

static int port;

static void given_front(void)
{
	char workspace[600];

	fresh_store();
	given_front_settings(workspace);
	(void)start_worker("mcp-front");
	port = front_port();
}

/* As many as a batch may have; together more than a reader of answers may leave unread, beside the
 * 4 MiB that the kernel keeps for it. */
enum { BIG_ANSWERS = 100 };
static const char ANSWER_ALL_AT_LENGTH[] =
    "INSERT INTO decision (request_id, verdict, instruction) SELECT id, 'refine', "
    "'as for ' || body || printf(' %060000d', 0) FROM request WHERE state = 'pending'";

static void has_big_answer(const char *message, bool *seen)
{
	int id = atoi(member(message, "id"));
	char expected[60];

	ck_assert(id >= 1 && id <= BIG_ANSWERS && !seen[id]);
	(void)snprintf(expected, sizeof(expected), "as for question %d 0000", id);
	says(member(message, "result.content.0.text"), expected);
	seen[id] = true;
}

static void ask_in(struct str *json, int id)
{
	str_addf(json,
	         "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"transmit\",\"arguments\":{\"prompt_text\":\"question %d\"}}}",
	         id, id);
}

/* Opens a stream of revision 2024-11-05; its address for messages goes to address. */
static void open_stream(struct wire *w, char address[200])
{
	struct event e = { .id = "" };

	wire_open(w, port);
	wire_send(w, "GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n");
	ck_assert_int_eq(wire_head(w), 200);
	ck_assert(wire_event(w, &e));
	(void)snprintf(address, 200, "%s", str_text(&e.data));
	event_clear(&e);
}

static int post_to(const char *address, const char *json)
{
	OWNED(str) struct str text = { 0 };
	struct wire w;
	int status;

	str_addf(&text, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
	         address);
	str_addf(&text, "Content-Length: %zu\r\n\r\n%s", strlen(json), json);
	wire_open(&w, port);
	wire_send(&w, text.bytes);
	status = wire_answer(&w);
	wire_close(&w);
	return status;
}

static void calls_become(const char *state)
{
	char sql[80];

	(void)snprintf(sql, sizeof(sql), "SELECT count(*) - %d FROM tool_call WHERE state = '%s'",
	               BIG_ANSWERS, state);
	expect_soon(sql, "0\n");
}

/* A stream on which all was asked, and is answered. */
static void given_answered_stream(struct wire *stream, char address[200])
{
	given_front();
	open_stream(stream, address);
	for (int i = 1; i <= BIG_ANSWERS; i++) {
		OWNED(str) struct str json = { 0 };

		ask_in(&json, i);
		ck_assert_int_eq(post_to(address, json.bytes), 202);
	}
	calls_become("waiting");
	given(ANSWER_ALL_AT_LENGTH);
}

static void are_told_once_each(struct wire *w)
{
	bool seen[BIG_ANSWERS + 1] = { false };
	struct event e = { .id = "" };

	for (int i = 0; i < BIG_ANSWERS;) {
		ck_assert_msg(wire_event(w, &e), "the stream ends after %d answers", i);
		if (strstr(str_text(&e.data), "\"id\"")) {
			has_big_answer(e.data.bytes, seen);
			i++;
		}
	}
	event_clear(&e);
}

START_TEST(answers_to_all_that_an_event_stream_asked_may_come_at_once)
{
	struct wire stream;
	char address[200];

	given_answered_stream(&stream, address);
	are_told_once_each(&stream);
	calls_become("done");
	wire_close(&stream);
}
END_TEST

START_TEST(a_stream_whose_answers_are_not_read_takes_no_more_and_keeps_what_it_has)
{
	struct wire stream;
	char address[200];

	given_answered_stream(&stream, address);
	calls_become("done");
	ck_assert_int_eq(post_to(address, PING), 503);
	are_told_once_each(&stream);
	ck_assert_int_eq(post_to(address, PING), 202);
	wire_close(&stream);
}
END_TEST

START_TEST(what_a_stream_was_told_and_did_not_read_is_not_told)
{
	struct wire stream;
	char address[200];

	given_answered_stream(&stream, address);
	calls_become("done");
	expect("SELECT count(*) FROM tool_call WHERE NOT told_answer", "0\n");
	wire_break(&stream);
	expect_soon("SELECT count(*) > 0 FROM tool_call WHERE NOT told_answer", "1\n");
}
END_TEST

START_TEST(answers_to_all_of_a_batch_may_come_at_once)
{
	OWNED(str) struct str json = { 0 };
	bool seen[BIG_ANSWERS + 1] = { false };
	struct event e = { .id = "" };
	struct agent a;
	struct wire w;

	given_front();
	a = agent_hello(port, "", "2025-03-26");
	for (int i = 1; i <= BIG_ANSWERS; i++) {
		str_add(&json, i == 1 ? "[" : ",");
		ask_in(&json, i);
	}
	str_add(&json, "]");
	wire_open(&w, port);
	agent_send(&a, &w, "POST", "", json.bytes);
	calls_become("waiting");
	given(ANSWER_ALL_AT_LENGTH);
	ck_assert_int_eq(wire_head(&w), 200);
	for (int i = 0; wire_event(&w, &e);) {
		if (strstr(str_text(&e.data), "\"result\"")) {
			has_big_answer(e.data.bytes, seen);
			i++;
		}
		ck_assert_int_le(i, BIG_ANSWERS);
	}
	for (int i = 1; i <= BIG_ANSWERS; i++)
		ck_assert_msg(seen[i], "%d is not answered", i);
	event_clear(&e);
	wire_close(&w);
}
END_TEST

/* With a caller that takes only a little of it, and then breaks the connection. */
START_TEST(what_has_left_for_a_caller_and_did_not_arrive_is_not_told)
{
	const int little = 4096;
	struct agent a;
	struct wire w;

	given_front();
	a = agent_hello(port, "", "2025-11-25");
	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"question 1\"}", NULL);
	ck_assert_int_eq(setsockopt(w.fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), 0);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	given(ANSWER_ALL_AT_LENGTH);
	expect_soon("SELECT told_answer FROM tool_call WHERE state = 'done'", "1\n");
	wire_break(&w);
	expect_soon("SELECT told_answer FROM tool_call WHERE tool = 'transmit'", "0\n");
	has(agent_call(&a, "transmit", "{\"prompt_text\":\"question 1\"}"), "decision", "refine");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_at_once");
	TCase *c = tcase_create("front_at_once");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_add_test(c, answers_to_all_that_an_event_stream_asked_may_come_at_once);
	tcase_add_test(c, a_stream_whose_answers_are_not_read_takes_no_more_and_keeps_what_it_has);
	tcase_add_test(c, what_a_stream_was_told_and_did_not_read_is_not_told);
	tcase_add_test(c, answers_to_all_of_a_batch_may_come_at_once);
	tcase_add_test(c, what_has_left_for_a_caller_and_did_not_arrive_is_not_told);
	suite_add_tcase(s, c);
	return run_suite(s);
}
