/* mcp-front over HTTP: what clients send, right and wrong, and what of it stays in the rows. */
#include "front_case.h"
#include "process_name.h"

#include <sysexits.h>

static void given_workspaces(const char *json)
{
	char sql[1500];

	stop_worker(front);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES"
	               " ('workspace', '%s', 'file', '%s')",
	               json, clock_now().text);
	given(sql);
	start_front();
}

/* ---- who asks ---- */

START_TEST(what_one_connection_says_of_itself_is_not_said_by_another)
{
	struct agent a, b;
	char json[900], second[600], expected[1300];
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;

	given_front();
	(void)snprintf(second, sizeof(second), "%.500s/second", workspace);
	ck_assert_int_eq(mkdir(second, 0755), 0);
	(void)snprintf(json, sizeof(json),
	               "[{\"id\":\"two\",\"channel_id\":\"C2\",\"path\":\"%s\"}]", second);
	given_workspaces(json);
	a = agent_hello(port, "?workspace_id=two&agent=red%20one", "2025-11-25");
	b = newcomer();
	one = agent_call(&a, "ping", "{}");
	two = agent_call(&b, "ping", "{}");
	ck_assert_str_ne(member(one, "session_id"), member(two, "session_id"));
	(void)snprintf(expected, sizeof(expected), "%s|C2|red one\n%s||\n", second, workspace);
	expect("SELECT workspace_root, channel_id, label FROM session ORDER BY seq", expected);
}
END_TEST

START_TEST(over_http_an_agent_in_the_folder_of_a_workspace_gets_its_channel_unless_it_names_one)
{
	struct agent a, b, c;
	char json[900];

	given_front();
	(void)snprintf(json, sizeof(json),
	               "[{\"id\":\"two\",\"channel_id\":\"C2\",\"path\":\"%s/\"},"
	               "{\"id\":\"three\",\"channel_id\":\"C3\",\"path\":\"/\"}]",
	               workspace);
	given_workspaces(json);
	a = newcomer();
	b = agent_sessionless(port, "?agent=b");
	c = agent_hello(port, "?channel_id=C3&agent=c", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	free(agent_call(&b, "ping", "{}"));
	free(agent_call(&c, "ping", "{}"));
	expect("SELECT label, channel_id FROM session ORDER BY seq", "|C2\nb|C2\nc|C3\n");
}
END_TEST

START_TEST(a_url_names_channel_and_session_and_no_path)
{
	struct agent a, b;
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(str) struct str body = { 0 };
	char query[100], expected[700];

	given_front();
	a = agent_hello(port, "?channel_id=C%31&workspace=%2Fetc", "2025-11-25");
	one = agent_call(&a, "ping", "{}");
	(void)snprintf(expected, sizeof(expected), "%s|C1\n", workspace);
	expect("SELECT workspace_root, channel_id FROM session", expected);
	(void)snprintf(query, sizeof(query), "?session_id=%s", member(one, "session_id"));
	b = agent_hello(port, query, "2025-11-25");
	two = agent_call(&b, "ping", "{}");
	has(two, "session_id", member(one, "session_id"));
	b = agent_hello(port, "?session_id=no-such", "2025-11-25");
	exchange(&b,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	         "call\",\"params\":{\"name\":\"ping\"}}",
	         &body);
	says(body.bytes, "there is no session 'no-such'");
	b = agent_hello(port, "?workspace_id=nowhere", "2025-11-25");
	exchange(&b,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	         "call\",\"params\":{\"name\":\"ping\"}}",
	         &body);
	says(body.bytes, "there is no workspace 'nowhere'");
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

START_TEST(an_agent_that_we_started_goes_on_with_its_session_from_any_workspace_and_no_other_does)
{
	struct agent a, b;
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(str) struct str body = { 0 };
	char query[100], sql[500];

	given_front();
	given_workspaces("[{\"id\":\"two\",\"path\":\"/usr\"}]");
	a = newcomer();
	one = agent_call(&a, "ping", "{}");
	(void)snprintf(query, sizeof(query), "?workspace_id=two&session_id=%s",
	               member(one, "session_id"));
	b = agent_hello(port, query, "2025-11-25");
	exchange(&b,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	         "call\",\"params\":{\"name\":\"ping\"}}",
	         &body);
	says(body.bytes, "there is no session");
	given("INSERT INTO agent_run (session_seq, generation, machine, agent, protocol, state,"
	      " created_at) SELECT seq, 1, machine, 'claude', 'mcp', 'wanted', created_at"
	      " FROM session");
	(void)snprintf(sql, sizeof(sql),
	               "UPDATE agent_run SET state = 'starting', pid = %d, process_start = %llu",
	               (int)getpid(), process_name_life(getpid()).began);
	given(sql);
	b = agent_hello(port, query, "2025-11-25");
	two = agent_call(&b, "ping", "{}");
	has(two, "session_id", member(one, "session_id"));
}
END_TEST

START_TEST(a_query_that_cannot_be_read_is_400)
{
	OWNED(str) struct str body = { 0 };
	struct agent a;

	given_front();
	a = agent_sessionless(port, "?agent=%ff");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, &body), 400);
	says(body.bytes, "the query of the URL");
}
END_TEST

START_TEST(a_query_with_a_value_that_means_nothing_is_400)
{
	static const struct {
		const char *query, *why;
	} CASES[] = {
		{ "?wait=abc", "wait in the URL" },     { "?wait=-1", "wait in the URL" },
		{ "?wait=nan", "wait in the URL" },     { "?wait=1e3", "wait in the URL" },
		{ "?wait=2s", "wait in the URL" },      { "?wait=999999999", "wait in the URL" },
		{ "?tasks=maybe", "tasks in the URL" }, { "?stall=maybe", "stall in the URL" }
	};
	static const char *const FIT[] = { "?wait=3600&tasks=1&stall=off", "?tasks=true&stall=on",
		                           "?wait=&tasks=&stall=", "?wait=0&tasks=0",
		                           "?tasks=false" };

	given_front();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct agent a = agent_sessionless(port, CASES[i].query);
		OWNED(str) struct str body = { 0 };

		ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, &body), 400);
		says(body.bytes, CASES[i].why);
	}
	for (size_t i = 0; i < COUNT(FIT); i++) {
		struct agent a = agent_sessionless(port, FIT[i]);

		ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
	}
}
END_TEST

START_TEST(callers_without_a_session_are_kept_apart_by_what_they_say)
{
	struct agent plain, red;
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(char_ptr) char *three = NULL;

	given_front();
	plain = agent_sessionless(port, "");
	red = agent_sessionless(port, "?agent=red");
	one = agent_call(&plain, "ping", "{}");
	two = agent_call(&plain, "ping", "{}");
	three = agent_call(&red, "ping", "{}");
	has(two, "session_id", member(one, "session_id"));
	ck_assert_str_ne(member(three, "session_id"), member(one, "session_id"));
	expect("SELECT count(*) FROM connection WHERE transport = 'stateless'", "2\n");
}
END_TEST

/* Told 'pending', an agent may do something else before it asks again: the answer is still its own.
 */
START_TEST(an_answer_that_came_after_pending_waits_for_its_agent)
{
	static const char QUESTION[] = "{\"prompt_text\":\"go on?\"}";
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *other = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *third = NULL;
	struct agent a;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1", "2025-11-25");
	first = agent_call(&a, "transmit", QUESTION);
	has(first, "decision", "pending");
	given("INSERT INTO decision (request_id, verdict, instruction) "
	      "SELECT id, 'refine', 'do X instead' FROM inbox");
	other = agent_call(&a, "ping", "{}");
	second = agent_call(&a, "transmit", QUESTION);
	has(second, "decision", "refine");
	has(second, "instruction", "do X instead");
	expect("SELECT count(*) FROM request", "1\n");
	third = agent_call(&a, "transmit", QUESTION); /* told: the same words are a new question */
	has(third, "decision", "pending");
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

START_TEST(a_prompt_that_is_asked_again_with_newer_counts_is_the_same_question)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *other = NULL;
	struct agent a;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1", "2025-11-25");
	first =
	    agent_call(&a, "transmit",
	               "{\"prompt_text\":\"go on?\",\"elapsed_seconds\":10,\"actions_taken\":1}");
	second =
	    agent_call(&a, "transmit",
	               "{\"prompt_text\":\"go on?\",\"elapsed_seconds\":250,\"actions_taken\":2}");
	has(second, "request_id", member(first, "request_id"));
	other = agent_call(&a, "transmit",
	                   "{\"prompt_text\":\"go on?\",\"prompt_type\":\"clarification\"}");
	has(other, "decision", "pending");
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

/* Between two looks of an agent over HTTP nobody listens; it is no orphan for that. */
START_TEST(two_http_agents_that_ask_the_same_words_keep_their_own_questions)
{
	static const char QUESTION[] = "{\"prompt_text\":\"Continue?\"}";
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(char_ptr) char *again = NULL;
	struct agent a, b;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1", "2025-11-25");
	b = agent_hello(port, "?wait=1", "2025-11-25");
	one = agent_call(&a, "transmit", QUESTION);
	two = agent_call(&b, "transmit", QUESTION);
	has(two, "decision", "pending");
	again = agent_call(&a, "transmit", QUESTION);
	has(again, "request_id", member(one, "request_id"));
	expect("SELECT count(*), count(DISTINCT session_seq) FROM request", "2|2\n");
}
END_TEST

START_TEST(a_stateless_caller_gets_a_new_session_when_its_old_one_was_terminated)
{
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	struct agent a;

	given_front();
	a = agent_sessionless(port, "");
	one = agent_call(&a, "ping", "{}");
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at");
	two = agent_call(&a, "ping", "{}");
	has(two, "acknowledged", "true");
	ck_assert_str_ne(member(two, "session_id"), member(one, "session_id"));
}
END_TEST

/* What is not looked up by name costs a look for each pair: such a message held everybody up. */
START_TEST(a_message_with_very_many_members_or_a_very_long_batch_holds_nobody_up)
{
	OWNED(str) struct str arguments = { 0 };
	OWNED(char_ptr) char *result = NULL;
	struct agent a;

	given_front();
	a = newcomer();
	str_add(&arguments, "{\"status_message\":\"here\"");
	for (int i = 0; i < 80000; i++)
		str_addf(&arguments, ",\"m%d\":1", i);
	str_add_char(&arguments, '}');
	result = agent_call(&a, "ping", arguments.bytes);
	has(result, "acknowledged", "true");
	expect("SELECT arguments FROM tool_call", "{\"status_message\":\"here\"}\n");
}
END_TEST

/* Two first calls of one caller in one turn of the loop: each wrote the caller's rows. */
static void two_at_once(struct agent *a)
{
	enum { CALLS = 12 };
	struct wire w[CALLS];

	(void)kill(front, SIGSTOP); /* so that all come in together */
	for (int i = 0; i < CALLS; i++)
		agent_begin(a, &w[i], "ping", "{}", NULL);
	(void)kill(front, SIGCONT);
	for (int i = 0; i < CALLS; i++) {
		OWNED(char_ptr) char *result = agent_end(&w[i]);

		has(result, "acknowledged", "true");
	}
	expect("SELECT count(*), count(DISTINCT session_seq), count(DISTINCT connection_seq) FROM "
	       "tool_call",
	       "12|1|1\n");
	expect("SELECT count(*) FROM session", "1\n");
}

START_TEST(the_first_calls_of_a_session_may_come_together)
{
	struct agent a;

	given_front();
	a = newcomer();
	two_at_once(&a);
}
END_TEST

START_TEST(the_first_calls_of_a_caller_without_a_session_may_come_together)
{
	struct agent a;

	given_front();
	a = agent_sessionless(port, "?agent=blue");
	two_at_once(&a);
}
END_TEST

/* ---- the process that looks for callers ---- */

static pid_t searcher(void)
{
	OWNED(str) struct str said = { 0 };

	(void)shell(&said,
	            "for p in $(cat /proc/%d/task/%d/children); do "
	            "grep -qx mcp-front-peer /proc/$p/comm && echo $p; done; :",
	            (int)front, (int)front);
	return (pid_t)strtol(str_text(&said), NULL, 10);
}

static void front_makes_way(void)
{
	siginfo_t how = { 0 };

	ck_assert_int_eq(waitid(P_PID, (id_t)front, &how, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(how.si_status, EX_TEMPFAIL);
	kill_worker(front); /* the harness still counts on it */
}

/* The front refuses whom it cannot know, and ends; the next one knows. */
static void cannot_look(int signal)
{
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(str) struct str body = { 0 };
	pid_t peer;
	struct wire w;
	struct agent a;

	given_front();
	a = agent_sessionless(port, "");
	one = agent_call(&a, "ping", "{}");
	peer = searcher();
	ck_assert_int_gt(peer, 1);
	(void)kill(front, SIGSTOP); /* so that the request and the loss come in together */
	(void)kill(peer, signal);
	agent_begin(&a, &w, "ping", "{}", NULL);
	(void)kill(front, SIGCONT);
	ck_assert_int_eq(wire_answer(&w), 503);
	says(w.body.bytes, "send it again");
	wire_close(&w);
	front_makes_way();
	(void)kill(peer, SIGCONT); /* a fenced front may not end one that is stopped */
	ck_assert_int_eq(
	    shell(NULL, "while kill -0 %d 2>/dev/null; do sleep 0.05; done", (int)peer), 0);
	expect("SELECT count(*) FROM connection", "1\n");
	start_front();
	a = agent_sessionless(port, "");
	two = agent_call(&a, "ping", "{}");
	has(two, "session_id", member(one, "session_id"));
}

START_TEST(a_caller_is_taken_for_no_other_once_the_process_that_looks_for_callers_is_killed)
{
	cannot_look(SIGKILL);
}
END_TEST

START_TEST(a_process_that_looks_for_callers_and_hangs_holds_nobody_up_for_long)
{
	cannot_look(SIGSTOP);
}
END_TEST

START_TEST(a_front_whose_process_that_looks_for_callers_is_killed_makes_way_at_once)
{
	given_front();
	(void)kill(searcher(), SIGKILL);
	front_makes_way();
}
END_TEST

/* ---- a call that comes in with the end ---- */

/* An agent on stdio, by a socket of ours, that has a session. */
static struct relay given_socket(void)
{
	struct relay r = { .in = front_socket() };

	r.out = fcntl(r.in, F_DUPFD_CLOEXEC, 0);
	relay_send(&r, "{\"agent-intercom\":1}");
	free(relay_line(&r));
	relay_hello(&r);
	free(relay_call(&r, "ping", "{}"));
	return r;
}

/* What is sent until it goes on comes in together, in that order. */
static void halt_front(void)
{
	siginfo_t how;

	(void)kill(front, SIGSTOP);
	ck_assert_int_eq(waitid(P_PID, (id_t)front, &how, WSTOPPED), 0);
}

static void close_socket(struct relay *r)
{
	(void)close(r->in);
	(void)close(r->out);
	relay_clear(r);
}

/* The relay repeats the call. */
START_TEST(a_front_that_stops_leaves_what_comes_in_meanwhile_to_the_next)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	struct relay r;

	given_front();
	r = given_socket();
	(void)newcomer(); /* what was sent before is done with */
	halt_front();
	(void)kill(front, SIGTERM);
	relay_begin(&r, "check_clearance", arguments);
	(void)kill(front, SIGCONT);
	stop_worker(front);
	expect("SELECT tool FROM tool_call", "ping\n");
	close_socket(&r);
}
END_TEST

/* It was cut short, died, and the words stayed marked as delivered. */
START_TEST(a_front_that_is_to_stop_twice_has_told_its_callers_what_it_notes)
{
	OWNED(char_ptr) char *arguments = proposal("g", "hello\n");
	OWNED(char_ptr) char *message = NULL;
	struct relay r;
	struct wire w;
	struct agent a;

	given_front();
	r = given_socket();
	a = newcomer();
	ask(&a, &w, "f", NULL);
	given("INSERT INTO steering (session_id, text) SELECT id, 'mind the gap' FROM session"
	      " ORDER BY seq DESC LIMIT 1");
	halt_front();
	(void)kill(searcher(), SIGKILL);
	(void)kill(front, SIGTERM);
	relay_begin(&r, "check_clearance", arguments);
	(void)kill(front, SIGCONT);
	message = agent_message(&w);
	has(message, "result.structuredContent.status", "pending");
	says(message, "mind the gap");
	wire_close(&w);
	front_makes_way();
	expect("SELECT delivered_at IS NOT NULL FROM steering", "1\n");
	close_socket(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_callers");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, what_one_connection_says_of_itself_is_not_said_by_another);
	tcase_add_test(
	    c,
	    over_http_an_agent_in_the_folder_of_a_workspace_gets_its_channel_unless_it_names_one);
	tcase_add_test(c, a_url_names_channel_and_session_and_no_path);
	tcase_add_test(
	    c,
	    an_agent_that_we_started_goes_on_with_its_session_from_any_workspace_and_no_other_does);
	tcase_add_test(c, a_query_that_cannot_be_read_is_400);
	tcase_add_test(c, a_query_with_a_value_that_means_nothing_is_400);
	tcase_add_test(c, callers_without_a_session_are_kept_apart_by_what_they_say);
	tcase_add_test(c, an_answer_that_came_after_pending_waits_for_its_agent);
	tcase_add_test(c, a_prompt_that_is_asked_again_with_newer_counts_is_the_same_question);
	tcase_add_test(c, two_http_agents_that_ask_the_same_words_keep_their_own_questions);
	tcase_add_test(c, a_stateless_caller_gets_a_new_session_when_its_old_one_was_terminated);
	tcase_add_test(c, a_message_with_very_many_members_or_a_very_long_batch_holds_nobody_up);
	tcase_add_test(c, the_first_calls_of_a_session_may_come_together);
	tcase_add_test(c, the_first_calls_of_a_caller_without_a_session_may_come_together);
	tcase_add_test(
	    c, a_caller_is_taken_for_no_other_once_the_process_that_looks_for_callers_is_killed);
	tcase_add_test(c, a_process_that_looks_for_callers_and_hangs_holds_nobody_up_for_long);
	tcase_add_test(c, a_front_whose_process_that_looks_for_callers_is_killed_makes_way_at_once);
	tcase_add_test(c, a_front_that_stops_leaves_what_comes_in_meanwhile_to_the_next);
	tcase_add_test(c, a_front_that_is_to_stop_twice_has_told_its_callers_what_it_notes);
	suite_add_tcase(s, c);
	return run_suite(s);
}
