/* Agents that come back over HTTP with a new MCP session: nothing on the wire says who they were.
 */
#include "agent.h"

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

static struct agent newcomer(const char *label)
{
	char query[80];

	(void)snprintf(query, sizeof(query), *label ? "?agent=%s" : "%s", label);
	return agent_hello(port, query, "2025-11-25");
}

static void decide(const char *label, const char *verdict)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO decision (request_id, verdict, reason) SELECT r.id, '%s', "
	               "'for %s' FROM request AS r JOIN session AS s ON s.seq = r.session_seq "
	               "WHERE coalesce(s.label, '') = '%s' AND r.state = 'pending'",
	               verdict, label, label);
	given(sql);
}

/* Asks for a clearance, and is gone before the answer. */
static void ask_and_leave(struct agent *a, const char *path)
{
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");
	struct wire w;
	char sql[200];

	agent_begin(a, &w, "check_clearance", arguments, NULL);
	(void)snprintf(sql, sizeof(sql),
	               "SELECT count(*) FROM tool_call WHERE state = 'waiting' AND rpc_id = '%d' "
	               "AND listener <> 'somebody'",
	               a->id);
	expect_soon(sql, "1\n");
	wire_close(&w);
	expect_soon(sql, "0\n");
}

static char *ask(struct agent *a, const char *path)
{
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");

	return agent_call(a, "check_clearance", arguments);
}

/* The question about a file; valid until the next call. */
static const char *id_of(const char *path)
{
	static char id[60];
	OWNED(char_ptr) char *found = NULL;
	char sql[100];

	(void)snprintf(sql, sizeof(sql), "SELECT id FROM request WHERE file_path = '%s'", path);
	found = rows(sql);
	(void)snprintf(id, sizeof(id), "%.*s", (int)strcspn(found, "\n"), found);
	return id;
}

/* ---- questions ---- */

START_TEST(an_agent_that_comes_back_between_two_looks_finds_its_question)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	struct agent a, b;

	given_front();
	(void)start_worker("watchdog"); /* ends waits */
	a = agent_hello(port, "?wait=1", "2025-11-25");
	first = ask(&a, "f");
	has(first, "status", "pending");
	b = agent_hello(port, "?wait=1", "2025-11-25");
	second = ask(&b, "f");
	has(second, "status", "pending");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_str_eq(member(first, "request_id"), member(second, "request_id"));
}
END_TEST

START_TEST(an_agent_of_another_label_between_two_looks_keeps_its_question)
{
	struct agent a, b;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1&agent=a", "2025-11-25");
	free(ask(&a, "f"));
	b = agent_hello(port, "?wait=1&agent=b", "2025-11-25");
	free(ask(&b, "f"));
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

/* ---- answers ---- */

/* Asks over HTTP, is told pending, and the operator answers. The first agent makes no more calls.
 */
static struct agent told_pending(const char *query, const char *verdict)
{
	OWNED(char_ptr) char *first = NULL;
	struct agent a;
	char label[2];

	given_front();
	(void)start_worker("watchdog"); /* ends waits */
	a = agent_hello(port, query, "2025-11-25");
	first = ask(&a, "f");
	has(first, "status", "pending");
	(void)snprintf(label, sizeof(label), "%s", strchr(query, '&') ? "a" : "");
	decide(label, verdict);
	return a;
}

START_TEST(an_agent_that_was_told_pending_comes_back_soon_and_has_its_answer)
{
	static const struct {
		const char *query, *verdict, *status;
		bool reboots;
	} CASES[] = { { "?wait=1&agent=a", "approve", "approved", false },
		      { "?wait=1&agent=a", "approve", "approved", true },
		      { "?wait=1&agent=a", "reject", "rejected", false },
		      { "?wait=1", "approve", "approved", false } };

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *answer = NULL;
		OWNED(char_ptr) char *change = NULL;
		OWNED(char_ptr) char *written = NULL;
		struct agent b;

		(void)told_pending(CASES[i].query, CASES[i].verdict);
		b = agent_hello(port, CASES[i].query, "2025-11-25");
		if (CASES[i].reboots)
			free(agent_call(&b, "reboot", "{}"));
		answer = ask(&b, "f");
		has(answer, "status", CASES[i].status);
		expect("SELECT count(*), max(session_seq) FROM request", "1|2\n");
		if (strcmp(CASES[i].verdict, "approve") == 0) {
			(void)start_worker("applier");
			change = diff_of(member(answer, "request_id"));
			written = agent_write(&b, change);
			has(written, "status", "applied");
		}
		close_store();
	}
	fresh_store();
}
END_TEST

START_TEST(an_approval_that_was_written_is_asked_about_again)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *change = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *again = NULL;
	struct agent b, c;

	(void)told_pending("?wait=1&agent=a", "approve");
	(void)start_worker("applier");
	b = agent_hello(port, "?wait=1&agent=a", "2025-11-25");
	answer = ask(&b, "f");
	change = diff_of(member(answer, "request_id"));
	written = agent_write(&b, change);
	has(written, "status", "applied");
	ck_assert_int_eq(unlink(below(workspace, "f")), 0);
	c = agent_hello(port, "?wait=1&agent=a", "2025-11-25");
	again = ask(&c, "f");
	has(again, "status", "pending");
	expect("SELECT state FROM request ORDER BY seq", "consumed\npending\n");
}
END_TEST

START_TEST(the_approval_of_an_agent_that_may_be_there_is_nobody_elses)
{
	OWNED(char_ptr) char *labelled = NULL;
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *another = NULL;
	struct agent a, b, c;

	a = told_pending("?wait=1&agent=a", "approve");
	b = agent_hello(port, "?wait=1&agent=b", "2025-11-25");
	labelled = ask(&b, "f");
	has(labelled, "status", "pending");
	expect("SELECT count(*) FROM request", "2\n");
	close_store();

	a = told_pending("?wait=1", "approve");
	told = ask(&a, "f");
	has(told, "status", "approved"); /* and is about to write it */
	c = agent_hello(port, "?wait=1", "2025-11-25");
	another = ask(&c, "f");
	has(another, "status", "pending");
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

START_TEST(an_agent_that_comes_back_finds_its_answer_at_once)
{
	static const char *const VERDICTS[][2] = { { "approve", "approved" },
		                                   { "reject", "rejected" } };

	for (size_t i = 0; i < COUNT(VERDICTS); i++) {
		OWNED(char_ptr) char *answer = NULL;
		struct agent a, b;

		given_front();
		a = newcomer("");
		ask_and_leave(&a, "f");
		decide("", VERDICTS[i][0]);
		b = newcomer("");
		answer = ask(&b, "f");
		has(answer, "status", VERDICTS[i][1]);
		expect("SELECT count(*) FROM request", "1\n");
		close_store();
	}
	fresh_store();
}
END_TEST

/* Of an approval that was given while its agent was away, and then this. */
static void is_not_taken_over(const char *then)
{
	OWNED(char_ptr) char *answer = NULL;
	struct agent a, b;

	given_front();
	(void)start_worker("watchdog"); /* ends waits */
	a = newcomer("");
	ask_and_leave(&a, "f");
	decide("", "approve");
	given(then);
	b = agent_hello(port, "?wait=1", "2025-11-25");
	answer = ask(&b, "f");
	has(answer, "status", "pending");
	expect("SELECT session_seq, state FROM request ORDER BY seq", "1|approved\n2|pending\n");
}

/* Those of several users may work in one folder (mcp.allow_uids). */
START_TEST(an_approval_of_another_users_agent_is_not_taken_over)
{
	is_not_taken_over("UPDATE session SET agent_uid = 65534, agent_user = 'nobody'");
}
END_TEST

START_TEST(an_approval_of_a_session_that_an_operator_has_ended_is_not_taken_over)
{
	OWNED(char_ptr) char *id = NULL;
	OWNED(str) struct str said = { 0 };

	is_not_taken_over("INSERT INTO command (verb, session_id) SELECT 'stop', id FROM session");
	expect("SELECT status FROM session WHERE seq = 1", "terminated\n");
	id = rows("SELECT id FROM request WHERE seq = 1");
	ck_assert_int_eq(ctl(&said, "show %.36s --text", id), 0);
	says(said.bytes, "not done  its session ended before it was written");
}
END_TEST

START_TEST(of_two_that_left_the_one_with_the_same_label_has_its_own_answer)
{
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	struct agent a, b, again;

	given_front();
	a = newcomer("a");
	b = newcomer("b");
	ask_and_leave(&a, "f");
	/* not the same question twice: that of a is open, and b would take it over */
	given("UPDATE tool_call SET listener = 'somebody' WHERE state = 'waiting'");
	ask_and_leave(&b, "f");
	given("UPDATE tool_call SET listener = NULL WHERE state = 'waiting'");
	expect("SELECT count(*) FROM request", "2\n");
	decide("a", "reject");
	decide("b", "reject");
	again = newcomer("a");
	one = ask(&again, "f");
	has(one, "reason", "for a");
	again = newcomer("b");
	two = ask(&again, "f");
	has(two, "reason", "for b");
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

START_TEST(who_has_no_label_takes_no_answer_of_two)
{
	struct agent a, b, c;
	struct wire w;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");

	given_front();
	a = newcomer("a");
	b = newcomer("b");
	ask_and_leave(&a, "f");
	given("UPDATE tool_call SET listener = 'somebody' WHERE state = 'waiting'");
	ask_and_leave(&b, "f");
	given("UPDATE tool_call SET listener = NULL WHERE state = 'waiting'");
	decide("a", "approve");
	decide("b", "reject");
	c = newcomer("");
	agent_begin(&c, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM request", "3\n");
	wire_close(&w);
}
END_TEST

/* ---- a stop ---- */

/* The result on a stream whose head has been read. */
static char *rest_of_stream(struct wire *w)
{
	struct event e = { 0 };
	char *result;

	ck_assert(wire_event(w, &e));
	result = tool_result(e.data.bytes);
	event_clear(&e);
	wire_close(w);
	return result;
}

START_TEST(who_waits_over_http_is_told_pending_when_the_system_stops)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer("");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	stop_worker(front);
	first = agent_end(&w);
	has(first, "status", "pending");
	expect("SELECT state, told_answer FROM tool_call", "done|0\n");
	expect("SELECT state FROM request", "pending\n");

	front = start_worker("mcp-front");
	a.port = front_port();
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	decide("", "approve");
	second = agent_end(&w);
	has(second, "status", "approved");
	has(second, "request_id", member(first, "request_id"));
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(who_waits_over_http_in_a_paused_session_is_told_so_when_the_system_stops)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer("");
	free(agent_call(&a, "ping", "{}"));
	given("INSERT INTO command (verb, session_id) SELECT 'pause', id FROM session");
	agent_begin(&a, &w, "ping", "{}", NULL);
	ck_assert_int_eq(wire_head(&w), 200); /* a stream: it waits */
	stop_worker(front);
	told = rest_of_stream(&w);
	has(told, "error_code", "session_paused");
}
END_TEST

/* ---- reboot ---- */

/* The whole message: what the operator said stands beside the result. */
static char *reboot(struct agent *a)
{
	struct wire w;

	agent_begin(a, &w, "reboot", "{}", NULL);
	char *message = agent_message(&w);

	wire_close(&w);
	return message;
}

START_TEST(reboot_lists_at_once_what_nobody_listens_for)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a, idle, b;

	given_front();
	a = newcomer("");
	ask_and_leave(&a, "f");
	ask_and_leave(&a, "g");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request "
	      "WHERE file_path = 'g'");
	idle = newcomer("");
	free(agent_call(&idle, "ping", "{}")); /* a newer session, which has left nothing */
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode, "
	      "created_at,"
	      " updated_at) SELECT 'old', machine, owner_user_id, workspace_root, 'active', mode,"
	      " created_at, updated_at FROM session LIMIT 1;"
	      "UPDATE session SET status = 'interrupted' WHERE id = 'old'");
	b = newcomer("");
	told = agent_call(&b, "reboot", "{}");
	has(told, "status", "recovered");
	has(told, "pending_requests.0.request_id", id_of("f"));
	has(told, "pending_requests.0.state", "open");
	has(told, "pending_requests.1.request_id", id_of("g"));
	has(told, "pending_requests.1.state", "approved");
	has(told, "pending_requests.2", "");
}
END_TEST

START_TEST(reboot_lists_an_answer_that_nobody_was_told)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *after = NULL;
	struct agent a, b;

	given_front();
	a = newcomer("");
	ask_and_leave(&a, "f");
	decide("", "reject");
	b = newcomer("");
	told = agent_call(&b, "reboot", "{}");
	has(told, "status", "recovered");
	has(told, "pending_requests.0.state", "answered");
	answer = ask(&b, "f");
	has(answer, "status", "rejected");
	after = agent_call(&b, "reboot", "{}");
	has(after, "pending_requests", "");
}
END_TEST

START_TEST(reboot_names_the_session_of_the_same_label)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *change = NULL;
	struct agent a, b, again;
	struct wire w;

	given_front();
	(void)start_worker("applier");
	a = newcomer("a");
	{
		OWNED(char_ptr) char *arguments = proposal("f", "hello\n");

		agent_begin(&a, &w, "check_clearance", arguments, NULL);
		expect_soon("SELECT count(*) FROM request", "1\n");
		decide("a", "approve");
		answer = agent_end(&w);
		has(answer, "status", "approved"); /* told, and not written */
	}
	b = newcomer("b");
	ask_and_leave(&b, "g");
	again = newcomer("a");
	told = agent_call(&again, "reboot", "{}");
	has(told, "pending_requests.0.request_id", id_of("f"));
	has(told, "pending_requests.0.state", "approved");
	has(told, "pending_requests.1", "");
	change = diff_of(member(told, "pending_requests.0.request_id"));
	applied = agent_write(&again, change);
	has(applied, "status", "applied");
}
END_TEST

START_TEST(reboot_tells_once_what_the_operator_said_to_an_agent_that_was_gone)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *other = NULL;
	OWNED(char_ptr) char *after = NULL;
	struct agent a, stranger, again;

	given_front();
	a = newcomer("a");
	free(agent_call(&a, "ping", "{}"));
	given("INSERT INTO steering (session_id, text) SELECT id, 'use tabs' FROM session");
	stranger = newcomer("b");
	other = reboot(&stranger);
	has(other, "result.structuredContent.status", "clean");
	has(other, "result.structuredContent.operator_says", "");
	again = newcomer("a");
	told = reboot(&again);
	has(told, "result.structuredContent.status", "recovered");
	says(member(told, "result.structuredContent.operator_says.0"), "use tabs");
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NOT NULL", "1\n");
	after = reboot(&again);
	has(after, "result.structuredContent.operator_says", "");
}
END_TEST

START_TEST(reboot_of_who_left_nothing_is_clean)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a, b;
	struct wire w;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");

	given_front();
	a = newcomer("");
	agent_begin(&a, &w, "check_clearance", arguments, NULL); /* it listens: it is there */
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "1\n");
	b = newcomer("");
	told = agent_call(&b, "reboot", "{}");
	has(told, "status", "clean");
	wire_close(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("return");
	TCase *c = store_case(s, "return", 60);

	tcase_add_test(c, an_agent_that_comes_back_between_two_looks_finds_its_question);
	tcase_add_test(c, an_agent_of_another_label_between_two_looks_keeps_its_question);
	tcase_add_test(c, an_agent_that_comes_back_finds_its_answer_at_once);
	tcase_add_test(c, an_agent_that_was_told_pending_comes_back_soon_and_has_its_answer);
	tcase_add_test(c, an_approval_that_was_written_is_asked_about_again);
	tcase_add_test(c, the_approval_of_an_agent_that_may_be_there_is_nobody_elses);
	tcase_add_test(c, an_approval_of_another_users_agent_is_not_taken_over);
	tcase_add_test(c, an_approval_of_a_session_that_an_operator_has_ended_is_not_taken_over);
	tcase_add_test(c, of_two_that_left_the_one_with_the_same_label_has_its_own_answer);
	tcase_add_test(c, who_has_no_label_takes_no_answer_of_two);
	tcase_add_test(c, who_waits_over_http_is_told_pending_when_the_system_stops);
	tcase_add_test(c, who_waits_over_http_in_a_paused_session_is_told_so_when_the_system_stops);
	tcase_add_test(c, reboot_lists_at_once_what_nobody_listens_for);
	tcase_add_test(c, reboot_lists_an_answer_that_nobody_was_told);
	tcase_add_test(c, reboot_names_the_session_of_the_same_label);
	tcase_add_test(c, reboot_tells_once_what_the_operator_said_to_an_agent_that_was_gone);
	tcase_add_test(c, reboot_of_who_left_nothing_is_clean);
	return run_suite(s);
}
