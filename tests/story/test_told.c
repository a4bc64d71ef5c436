/* What agents are told beside the answers to their questions: every word once, however a call
 * ends. */
#include "agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char workspace[600];
static pid_t front;
static int port;

/* ---- given ---- */

static void given_front(void)
{
	fresh_store();
	given_front_settings(workspace);
	front = start_worker("mcp-front");
	port = front_port();
}

static struct agent newcomer(void)
{
	return agent_hello(port, "", "2025-11-25");
}

static void steer(const char *text)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO steering (session_id, text) SELECT id, '%s' FROM session "
	               "WHERE status <> 'terminated' ORDER BY seq DESC LIMIT 1",
	               text);
	given(sql);
}

static char *call_for_message(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	char *message = agent_message(&w);

	wire_close(&w);
	return message;
}

/* ---- where hosts look: some show the structured result and nothing else ---- */

START_TEST(the_operators_words_are_in_the_structured_result_of_every_tool)
{
	static const struct {
		const char *tool, *arguments;
	} CALLS[] = {
		{ "ping", "{}" },
		{ "auto_check", "{\"tool_name\":\"read_file\"}" },
		{ "broadcast", "{\"message\":\"here\"}" },
		{ "reboot", "{}" },
		{ "switch_freq", "{\"mode\":\"local\"}" },
		{ "check_diff", "{\"request_id\":\"none\"}" },
		{ "check_clearance", "{}" }, /* refused: it lacks everything */
		{ "transmit", "{}" },
		{ "standby", "{\"timeout_seconds\":-1}" },
	};
	struct agent a;

	given_front();
	a = newcomer();
	free(agent_call(&a, "ping", "{}"));
	for (size_t i = 0; i < COUNT(CALLS); i++) {
		OWNED(char_ptr) char *message = NULL;

		steer(CALLS[i].tool);
		message = call_for_message(&a, CALLS[i].tool, CALLS[i].arguments);
		says(member(message, "result.structuredContent.operator_says.0"), "operator says");
		says(member(message, "result.structuredContent.operator_says.0"), CALLS[i].tool);
		has(message, "result.structuredContent.operator_says.1", "");
		has(message, "result.content.1.text",
		    member(message, "result.structuredContent.operator_says.0"));
	}
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

START_TEST(the_operators_words_are_in_the_structured_answer_to_a_question)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"go on?\"}", NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	steer("mind the gap");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM inbox");
	message = agent_message(&w);
	wire_close(&w);
	has(message, "result.structuredContent.decision", "continue");
	says(member(message, "result.structuredContent.operator_says.0"), "mind the gap");
	says(member(message, "result.content.1.text"), "mind the gap");
}
END_TEST

START_TEST(every_output_schema_names_the_operators_words)
{
	OWNED(str) struct str body = { 0 };
	char path[80];
	struct agent a;

	given_front();
	a = newcomer();
	ck_assert_int_eq(agent_exchange(&a, "POST", "",
	                                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
	                                &body),
	                 200);
	for (int i = 0; i < 9; i++) {
		(void)snprintf(path, sizeof(path),
		               "result.tools.%d.outputSchema.properties.operator_says.type", i);
		has(body.bytes, path, "array");
	}
}
END_TEST

/* ---- tasks ---- */

START_TEST(a_task_reaches_the_next_agent_whatever_its_first_call_is)
{
	static const char *const FIRST[][2] = {
		{ "ping", "{}" },
		{ "reboot", "{}" },
		{ "broadcast", "{\"message\":\"here\"}" },
	};

	given_front();
	for (size_t i = 0; i < COUNT(FIRST); i++) {
		OWNED(char_ptr) char *first = NULL;
		OWNED(char_ptr) char *second = NULL;
		struct agent a;

		given("INSERT INTO steering (kind, text) VALUES ('task', 'write the docs')");
		a = newcomer();
		first = call_for_message(&a, FIRST[i][0], FIRST[i][1]);
		says(member(first, "result.structuredContent.operator_says.0"), "write the docs");
		says(member(first, "result.content.1.text"), "write the docs");
		second = call_for_message(&a, "ping", "{}");
		has(second, "result.structuredContent.operator_says", "");
		has(second, "result.content.1.text", "");
	}
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

/* ---- results that do not arrive ---- */

/* Sends a ping as the second request of a connection, and has hung up before the front looks. */
static void ping_and_leave(struct agent *a)
{
	static const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":\"left\",\"method\":\"tools/call\","
	                           "\"params\":{\"name\":\"ping\"}}";
	struct wire w;

	wire_open(&w, port);
	agent_send(a, &w, "POST", "", "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}");
	ck_assert_int_eq(wire_answer(&w), 200);
	halt_worker(front);
	agent_send(a, &w, "POST", "", PING);
	wire_close(&w);
	(void)kill(front, SIGCONT);
}

START_TEST(what_goes_to_a_caller_that_has_closed_is_not_told)
{
	char expected[20];
	struct agent a;

	given_front();
	a = newcomer();
	free(agent_call(&a, "ping", "{}"));
	for (int i = 1; i <= 6; i++) {
		OWNED(char_ptr) char *message = NULL;

		steer("mind the gap");
		ping_and_leave(&a);
		(void)snprintf(expected, sizeof(expected), "%d\n", i);
		expect_soon("SELECT count(*) FROM tool_call WHERE rpc_id = '\"left\"'", expected);
		expect_soon("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "1\n");
		message = call_for_message(&a, "ping", "{}");
		says(member(message, "result.structuredContent.operator_says.0"), "mind the gap");
	}
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

static const char QUESTION[] = "{\"prompt_text\":\"go on?\"}";

/* Asks QUESTION over w, and waits until the operator could answer. */
static struct agent given_asker(struct wire *w)
{
	struct agent a;

	given_front();
	a = newcomer();
	agent_begin(&a, w, "transmit", QUESTION, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	return a;
}

START_TEST(an_answer_that_finds_its_caller_gone_is_told_when_it_asks_again)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	a = given_asker(&w);
	halt_worker(front);
	steer("mind the gap");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM inbox");
	wire_close(&w);
	(void)kill(front, SIGCONT);
	expect_soon("SELECT listener IS NULL FROM tool_call", "1\n");
	message = call_for_message(&a, "transmit", QUESTION);
	has(message, "result.structuredContent.decision", "continue");
	says(member(message, "result.structuredContent.operator_says.0"), "mind the gap");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

/* notifications/cancelled for the newest call, whose result has gone out. */
static void cancel_last(struct agent *a)
{
	char cancel[120];

	(void)snprintf(cancel, sizeof(cancel),
	               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	               "\"params\":{\"requestId\":%d}}",
	               a->id);
	ck_assert_int_eq(agent_exchange(a, "POST", "", cancel, NULL), 202);
}

START_TEST(a_result_that_crosses_with_its_cancellation_is_taken_back_whole)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	given("INSERT INTO steering (kind, text) VALUES ('task', 'write the docs')");
	agent_begin(&a, &w, "transmit", QUESTION, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	steer("mind the gap");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM inbox");
	first = agent_message(&w);
	wire_close(&w);
	says(first, "mind the gap");
	cancel_last(&a);
	expect_soon("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "2\n");
	second = call_for_message(&a, "transmit", QUESTION);
	has(second, "result.structuredContent.decision", "continue");
	says(member(second, "result.structuredContent.operator_says.0"), "write the docs");
	says(member(second, "result.structuredContent.operator_says.1"), "mind the gap");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

/* opencode 1.18 cancels every call after its result. */
START_TEST(a_client_that_cancels_whatever_it_has_got_is_believed_once)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *third = NULL;
	struct agent a;

	given_front();
	a = newcomer();
	free(call_for_message(&a, "ping", "{}"));
	steer("mind the gap");
	first = call_for_message(&a, "ping", "{}");
	says(member(first, "result.structuredContent.operator_says.0"), "mind the gap");
	cancel_last(&a);
	expect_soon("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "1\n");

	second = call_for_message(&a, "ping", "{}");
	says(member(second, "result.structuredContent.operator_says.0"), "mind the gap");
	cancel_last(&a);
	expect_soon("SELECT count(*) FROM tool_call WHERE taken_back = 1", "2\n");

	third = call_for_message(&a, "ping", "{}");
	has(third, "result.structuredContent.operator_says", "");
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

START_TEST(an_agent_that_has_written_what_was_approved_is_not_told_the_words_again)
{
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *written = NULL;
	char arguments[80];
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	agent_begin(&a, &w, "check_clearance",
	            "{\"title\":\"t\",\"description\":\"d\",\"diff\":\"hello\\n\","
	            "\"file_path\":\"hello.txt\"}",
	            NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	steer("mind the gap");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM inbox");
	asked = agent_message(&w);
	wire_close(&w);
	says(member(asked, "result.structuredContent.operator_says.0"), "mind the gap");
	cancel_last(&a);
	expect_soon("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "1\n");

	(void)snprintf(arguments, sizeof(arguments), "{\"request_id\":\"%s\"}",
	               member(asked, "result.structuredContent.request_id"));
	(void)start_worker("applier");
	written = call_for_message(&a, "check_diff", arguments);
	has(written, "result.structuredContent.status", "applied");
	has(written, "result.structuredContent.operator_says", "");
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

/* ---- what happened to what it wrote ---- */

/* An agent whose call check_diff waits for an applier; *ret_check: its arguments. */
static struct agent given_writer(struct wire *w, char **ret_check)
{
	OWNED(char_ptr) char *asked = NULL;
	struct agent a;

	given_front();
	(void)start_worker("watchdog"); /* ends waits */
	a = newcomer();
	agent_begin(&a, w, "check_clearance",
	            "{\"title\":\"Say hello\",\"description\":\"d\",\"diff\":\"hello\\n\","
	            "\"file_path\":\"hello.txt\"}",
	            NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM inbox");
	asked = agent_end(w);
	*ret_check = diff_of(member(asked, "request_id"));
	agent_begin(&a, w, "check_diff", *ret_check, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	return a;
}

/* It asks again, and then once more. */
static void is_told_applied_once(struct agent *a, const char *check)
{
	OWNED(char_ptr) char *written = agent_write(a, check);
	OWNED(char_ptr) char *again = agent_call(a, "check_diff", check);

	has(written, "status", "applied");
	has(written, "files_written.0.path", "hello.txt");
	has(again, "error_code", "already_consumed");
	expect("SELECT count(*) FROM apply", "1\n");
}

START_TEST(an_agent_that_was_told_to_call_again_is_told_of_its_write_as_one_that_was_done)
{
	OWNED(char_ptr) char *waits = NULL;
	OWNED(char_ptr) char *check = NULL;
	struct agent a;
	struct wire w;

	a = given_writer(&w, &check);
	advance(60 * 60000);
	waits = agent_end(&w);
	has(waits, "status", "pending");
	(void)start_worker("applier");
	expect_soon("SELECT state FROM apply", "applied\n");
	/* both in one millisecond */
	given("UPDATE apply SET updated_at = (SELECT answered_at FROM tool_call WHERE apply_seq ="
	      " apply.seq)");
	is_told_applied_once(&a, check);
}
END_TEST

START_TEST(an_agent_that_was_not_told_the_result_of_its_write_is_told_when_it_calls_again)
{
	OWNED(char_ptr) char *check = NULL;
	struct agent a;
	struct wire w;

	a = given_writer(&w, &check);
	kill_worker(front);
	wire_close(&w);
	(void)start_worker("applier");
	expect_soon("SELECT state FROM apply", "applied\n");
	front = start_worker("mcp-front");
	a.port = front_port();
	is_told_applied_once(&a, check);
}
END_TEST

/* Its host may take an error for a write that has failed, and try something else. */
START_TEST(
    an_agent_that_was_cut_off_while_its_change_was_written_is_told_of_it_as_one_that_was_done)
{
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *check = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	agent_begin(&a, &w, "check_clearance",
	            "{\"title\":\"Say hello\",\"description\":\"d\",\"diff\":\"hello\\n\","
	            "\"file_path\":\"hello.txt\"}",
	            NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM inbox");
	asked = agent_end(&w);
	check = diff_of(member(asked, "request_id"));
	agent_begin(&a, &w, "check_diff", check, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	wire_close(&w);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");
	(void)start_worker("applier");
	expect_soon("SELECT state FROM apply", "applied\n");
	written = agent_write(&a, check);
	has(written, "status", "applied");
	has(written, "files_written.0.path", "hello.txt");
	again = agent_call(&a, "check_diff", check);
	has(again, "error_code", "already_consumed");
	expect("SELECT count(*) FROM apply", "1\n");
}
END_TEST

START_TEST(an_agent_is_told_once_that_what_it_wrote_was_undone)
{
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *then = NULL;
	OWNED(char_ptr) char *check = NULL;
	char sql[200];
	struct agent a;
	struct wire w;

	given_front();
	(void)start_worker("applier");
	a = newcomer();
	agent_begin(&a, &w, "check_clearance",
	            "{\"title\":\"Say hello\",\"description\":\"d\",\"diff\":\"hello\\n\","
	            "\"file_path\":\"hello.txt\"}",
	            NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM inbox");
	asked = agent_end(&w);
	check = diff_of(member(asked, "request_id"));
	written = agent_write(&a, check);
	has(written, "status", "applied");
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, argument) VALUES ('undo', '%s')",
	               member(asked, "request_id"));
	given(sql);
	expect_soon("SELECT outcome FROM command", "done\n");

	told = call_for_message(&a, "ping", "{}");
	says(member(told, "result.structuredContent.operator_says.0"),
	     "the operator has undone the change ");
	says(member(told, "result.structuredContent.operator_says.0"),
	     "(Say hello); what was there before is back: hello.txt");
	has(told, "result.structuredContent.operator_says.1", "");
	has(told, "result.content.1.text",
	    member(told, "result.structuredContent.operator_says.0"));
	then = call_for_message(&a, "ping", "{}");
	has(then, "result.structuredContent.operator_says", "");
}
END_TEST

START_TEST(an_answer_that_was_cancelled_late_is_not_given_to_a_later_question)
{
	OWNED(char_ptr) char *first = NULL;
	struct agent a;
	struct wire w;

	a = given_asker(&w);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM inbox");
	first = agent_message(&w);
	wire_close(&w);
	has(first, "result.structuredContent.decision", "continue");
	cancel_last(&a);
	expect_soon("SELECT count(*) FROM request WHERE delivered_at IS NULL", "1\n");
	free(call_for_message(&a, "ping", "{}")); /* it went on, so it knows */

	agent_begin(&a, &w, "transmit", QUESTION, NULL);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	expect("SELECT count(*) FROM request", "2\n");
	wire_close(&w);
}
END_TEST

START_TEST(words_of_an_answer_that_was_cancelled_late_go_with_the_next_call)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *then = NULL;
	OWNED(char_ptr) char *last = NULL;
	struct agent a;
	struct wire w;

	a = given_asker(&w);
	given("INSERT INTO decision (request_id, verdict, instruction)"
	      " SELECT id, 'refine', 'use tabs' FROM inbox");
	first = agent_message(&w);
	wire_close(&w);
	says(first, "use tabs");
	cancel_last(&a);
	expect_soon("SELECT count(*) FROM request WHERE delivered_at IS NULL", "1\n");
	then = call_for_message(&a, "ping", "{}");
	says(member(then, "result.structuredContent.operator_says.0"), "use tabs");
	last = call_for_message(&a, "ping", "{}");
	has(last, "result.structuredContent.operator_says", "");
}
END_TEST

/* How a caller stops waiting for an answer. */
enum left { LEFT_CANCELLED, LEFT_HUNG_UP, LEFT_TOLD_PENDING, LEFT_WAYS };

/* An agent that is told 'pending' after a second, where it is to wait for that. */
static struct agent given_leaver(enum left how)
{
	given_front();
	if (how != LEFT_TOLD_PENDING)
		return newcomer();
	(void)start_worker("watchdog"); /* ends waits */
	return agent_hello(port, "?wait=1", "2025-11-25");
}

/* It asks, no longer waits, and is answered then. */
static void answered_late(struct agent *a, enum left how, const char *tool, const char *arguments,
                          const char *answer)
{
	char sql[300];
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	if (how == LEFT_CANCELLED)
		cancel_last(a);
	if (how == LEFT_TOLD_PENDING)
		free(agent_message(&w));
	wire_close(&w);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting' AND listener IS NOT "
	            "NULL",
	            "0\n");
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO decision (created_at, request_id, verdict, instruction, reason)"
	               " SELECT (SELECT max(created_at) FROM tool_call), id, %s FROM inbox",
	               answer); /* by the clock of the front, which is ahead after advance */
	given(sql);
	expect("SELECT count(*) FROM inbox", "0\n");
}

/* Whoever no longer waits may have run out of patience and ask the same again; then it is the
 * answer. */
START_TEST(words_for_who_no_longer_waits_go_with_another_call_if_it_does_not_ask_again)
{
	static const struct {
		const char *tool, *arguments, *answer, *words;
	} ASKED[] = {
		{ "transmit", QUESTION, "'refine', 'use tabs', NULL", "\xe2\x80\x9d: use tabs" },
		{ "standby", "{\"message\":\"go on?\"}", "'resume', 'in docs', NULL",
		  "\xe2\x80\x9d: in docs" },
		{ "transmit", "{\"prompt_text\":\"enough?\"}", "'stop', NULL, NULL",
		  "\xe2\x80\x9d: stop" },
		{ "check_clearance",
		  "{\"title\":\"t\",\"file_path\":\"a.txt\",\"diff\":\"new\\n\"}",
		  "'reject', NULL, 'not that file'", "\xe2\x80\x9d: rejected: not that file" },
	};
	enum left how = (enum left)_i;
	struct agent a = given_leaver(how);

	for (size_t i = 0; i < COUNT(ASKED); i++) {
		OWNED(char_ptr) char *soon = NULL;
		OWNED(char_ptr) char *late = NULL;
		OWNED(char_ptr) char *last = NULL;

		answered_late(&a, how, ASKED[i].tool, ASKED[i].arguments, ASKED[i].answer);
		soon = call_for_message(&a, "ping", "{}");
		has(soon, "result.structuredContent.operator_says", "");
		advance(31000);
		late = call_for_message(&a, "ping", "{}");
		says(member(late, "result.structuredContent.operator_says.0"), ASKED[i].words);
		last = call_for_message(&a, "ping", "{}");
		has(last, "result.structuredContent.operator_says", "");
		expect("SELECT count(*) FROM request WHERE delivered_at IS NULL", "0\n");
	}
}
END_TEST

START_TEST(who_asks_again_after_the_words_went_with_another_call_still_gets_the_answer_once)
{
	OWNED(char_ptr) char *words = NULL;
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *third = NULL;
	struct agent a = given_leaver(LEFT_TOLD_PENDING);

	answered_late(&a, LEFT_TOLD_PENDING, "transmit", QUESTION, "'refine', 'use tabs', NULL");
	advance(31000);
	words = call_for_message(&a, "ping", "{}");
	says(member(words, "result.structuredContent.operator_says.0"), "use tabs");
	advance(60000);
	again = call_for_message(&a, "transmit", QUESTION);
	has(again, "result.structuredContent.instruction", "use tabs");
	has(again, "result.structuredContent.operator_says", "");
	expect("SELECT count(*) FROM request", "1\n");
	third = call_for_message(&a, "transmit", QUESTION);
	has(third, "result.structuredContent.decision", "pending");
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

START_TEST(an_instruction_that_went_with_another_call_does_not_end_the_next_standby)
{
	static const char IDLE[] = "{\"message\":\"what next?\"}";
	OWNED(char_ptr) char *words = NULL;
	OWNED(char_ptr) char *again = NULL;
	struct agent a = given_leaver(LEFT_TOLD_PENDING);

	answered_late(&a, LEFT_TOLD_PENDING, "standby", IDLE, "'resume', 'in docs', NULL");
	advance(31000);
	words = call_for_message(&a, "ping", "{}");
	says(member(words, "result.structuredContent.operator_says.0"), "in docs");
	again = call_for_message(&a, "standby", IDLE);
	has(again, "result.structuredContent.status", "pending");
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("told");
	TCase *c = store_case(s, "told", 60);

	tcase_add_test(c, the_operators_words_are_in_the_structured_result_of_every_tool);
	tcase_add_test(c, the_operators_words_are_in_the_structured_answer_to_a_question);
	tcase_add_test(c, every_output_schema_names_the_operators_words);
	tcase_add_test(c, a_task_reaches_the_next_agent_whatever_its_first_call_is);
	tcase_add_test(c, what_goes_to_a_caller_that_has_closed_is_not_told);
	tcase_add_test(c, an_answer_that_finds_its_caller_gone_is_told_when_it_asks_again);
	tcase_add_test(c, a_result_that_crosses_with_its_cancellation_is_taken_back_whole);
	tcase_add_test(c, a_client_that_cancels_whatever_it_has_got_is_believed_once);
	tcase_add_test(c, an_agent_that_has_written_what_was_approved_is_not_told_the_words_again);
	tcase_add_test(
	    c, an_agent_that_was_told_to_call_again_is_told_of_its_write_as_one_that_was_done);
	tcase_add_test(
	    c,
	    an_agent_that_was_cut_off_while_its_change_was_written_is_told_of_it_as_one_that_was_done);
	tcase_add_test(
	    c, an_agent_that_was_not_told_the_result_of_its_write_is_told_when_it_calls_again);
	tcase_add_test(c, an_agent_is_told_once_that_what_it_wrote_was_undone);
	tcase_add_test(c, words_of_an_answer_that_was_cancelled_late_go_with_the_next_call);
	tcase_add_test(c, an_answer_that_was_cancelled_late_is_not_given_to_a_later_question);
	tcase_add_loop_test(
	    c, words_for_who_no_longer_waits_go_with_another_call_if_it_does_not_ask_again, 0,
	    LEFT_WAYS);
	tcase_add_test(
	    c, who_asks_again_after_the_words_went_with_another_call_still_gets_the_answer_once);
	tcase_add_test(c, an_instruction_that_went_with_another_call_does_not_end_the_next_standby);
	return run_suite(s);
}
