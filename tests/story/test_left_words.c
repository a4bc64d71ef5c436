/* What the operator said to an agent that was gone by then: the next one is told, once. */
#include "agent.h"
#include "process_name.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char workspace[600];
static int port;

/* ---- given ---- */

static void given_front(void)
{
	fresh_store();
	given_front_settings(workspace);
	(void)start_worker("mcp-front");
	port = front_port();
}

static struct agent newcomer(const char *label)
{
	char query[80];

	(void)snprintf(query, sizeof(query), *label ? "?agent=%s" : "%s", label);
	return agent_hello(port, query, "2025-11-25");
}

static void ping(struct agent *a)
{
	free(agent_call(a, "ping", "{}"));
}

/* An agent that is there. */
static struct agent an_agent(const char *label)
{
	struct agent a = newcomer(label);

	ping(&a);
	return a;
}

/* Words to the session that came as the nth. */
static void steer(int nth, const char *text)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO steering (session_id, text) SELECT id, '%s' FROM session "
	               "WHERE seq = %d",
	               text, nth);
	given(sql);
}

/* Its session is silent, and somebody nudges it: with these words, or SQL's NULL. */
static void nudge(int nth, const char *text)
{
	char sql[700];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO stall (id, session_seq, last_activity_at, idle_seconds, "
	               "created_at, updated_at) SELECT 'alert', seq, last_activity_at, 300, "
	               "updated_at, updated_at FROM session WHERE seq = %1$d;"
	               "UPDATE session SET connectivity_status = 'stalled' WHERE seq = %1$d;"
	               "INSERT INTO steering (kind, session_id, text) SELECT 'nudge', id, %2$s "
	               "FROM session WHERE seq = %1$d;"
	               "UPDATE session SET connectivity_status = 'offline' WHERE seq = %1$d",
	               nth, text);
	given(sql);
	expect("SELECT status FROM stall", "dismissed\n");
}

static char *call_for_message(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	char *message = agent_message(&w);

	wire_close(&w);
	return message;
}

/* ---- then ---- */

static void is_told(struct agent *a, const char *words)
{
	OWNED(char_ptr) char *message = call_for_message(a, "ping", "{}");

	says(member(message, "result.structuredContent.operator_says.0"), words);
	has(message, "result.structuredContent.operator_says.1", "");
}

static void is_told_nothing(struct agent *a)
{
	OWNED(char_ptr) char *message = call_for_message(a, "ping", "{}");

	has(message, "result.structuredContent.operator_says", "");
}

/* ---- to whom ---- */

START_TEST(words_to_an_agent_that_was_gone_reach_the_next_one_whatever_it_calls)
{
	static const char *const FIRST[][2] = {
		{ "ping", "{}" },
		{ "broadcast", "{\"message\":\"here\"}" },
		{ "auto_check", "{\"tool_name\":\"read_file\"}" },
		{ "check_diff", "{\"request_id\":\"none\"}" },
		{ "reboot", "{}" },
		{ "check_clearance", "{}" }, /* refused: it lacks everything */
	};

	given_front();
	for (size_t i = 0; i < COUNT(FIRST); i++) {
		OWNED(char_ptr) char *first = NULL;
		struct agent a = an_agent(""), b;

		steer((int)(2 * i) + 1, "use tabs");
		b = newcomer("");
		first = call_for_message(&b, FIRST[i][0], FIRST[i][1]);
		says(member(first, "result.structuredContent.operator_says.0"),
		     "to the agent before you");
		says(member(first, "result.structuredContent.operator_says.0"), "use tabs");
		says(member(first, "result.content.1.text"), "use tabs");
		is_told_nothing(&b);
		is_told_nothing(&a);
	}
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

START_TEST(words_to_an_agent_that_was_gone_come_with_the_answer_to_the_first_question)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent b;
	struct wire w;

	given_front();
	(void)an_agent("");
	steer(1, "use tabs");
	b = newcomer("");
	agent_begin(&b, &w, "transmit", "{\"prompt_text\":\"go on?\"}", NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM inbox");
	message = agent_message(&w);
	wire_close(&w);
	says(member(message, "result.structuredContent.operator_says.0"), "use tabs");
	expect_soon("SELECT session_seq FROM steering WHERE delivered_at IS NOT NULL", "2\n");
}
END_TEST

START_TEST(words_that_come_when_the_next_agent_works_already_reach_it)
{
	struct agent b;

	given_front();
	(void)an_agent("");
	advance(2000);
	b = an_agent("");
	is_told_nothing(&b);
	steer(1, "use tabs");
	is_told(&b, "use tabs");
	is_told_nothing(&b);
}
END_TEST

START_TEST(words_to_an_agent_that_is_there_are_for_nobody_else)
{
	struct agent a, b, c;

	given_front();
	a = an_agent("");
	b = an_agent("b");
	c = an_agent("");
	advance(2000);
	ping(&a); /* it works beside the others */
	steer(1, "use tabs");
	is_told_nothing(&b);
	is_told_nothing(&c);
	is_told(&a, "use tabs");
}
END_TEST

START_TEST(words_to_an_agent_with_a_label_wait_for_one_with_the_same_label)
{
	struct agent b, again;

	given_front();
	(void)an_agent("a");
	given("UPDATE connection SET state = 'lost'; UPDATE session SET status = 'interrupted'");
	steer(1, "use tabs");
	b = newcomer("b");
	is_told_nothing(&b);
	again = newcomer("a");
	is_told(&again, "use tabs");
}
END_TEST

/* One of another user, in a system that lets other users in. */
START_TEST(words_to_the_agent_of_one_user_are_for_no_agent_of_another)
{
	struct agent b, again;

	given_front();
	(void)an_agent("");
	given("UPDATE connection SET state = 'lost';"
	      "UPDATE session SET status = 'interrupted', agent_uid = 60102");
	steer(1, "use tabs");
	b = newcomer("");
	is_told_nothing(&b);
	given("UPDATE session SET agent_uid = 60102 WHERE seq = 2");
	again = newcomer("");
	is_told_nothing(&again);
	is_told(&b, "use tabs");
}
END_TEST

START_TEST(words_to_an_agent_that_we_started_wait_for_its_session)
{
	struct agent b;

	given_front();
	(void)an_agent("a");
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " origin, protocol_mode, prompt, created_at, updated_at) SELECT 2,"
	      " '01a00000-0000-7000-8000-000000000002', machine, owner_user_id, workspace_root,"
	      " 'created', mode, 'started', 'mcp', 'mend it', created_at, created_at FROM session;"
	      "UPDATE session SET status = 'interrupted' WHERE seq = 2");
	steer(2, "use tabs");
	b = newcomer("");
	is_told_nothing(&b);
	expect("SELECT session_seq FROM steering_untold", "2\n");
}
END_TEST

START_TEST(words_wait_on_from_one_agent_that_is_gone_to_the_next)
{
	struct agent c;

	given_front();
	(void)an_agent("");
	steer(1, "use tabs");
	{
		struct agent b = newcomer("");
		OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
		struct wire w;

		agent_begin(&b, &w, "check_clearance", arguments, NULL);
		expect_soon("SELECT session_seq FROM steering", "2\n");
		wire_close(&w); /* before its answer */
		expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");
	}
	c = newcomer("");
	is_told(&c, "use tabs");
}
END_TEST

START_TEST(words_to_a_session_that_has_ended_are_told_to_nobody)
{
	struct agent b;

	given_front();
	(void)an_agent("");
	steer(1, "use tabs");
	given("INSERT INTO command (verb, session_id) SELECT 'stop', id FROM session");
	b = newcomer("");
	is_told_nothing(&b);
	expect("SELECT kind, session_seq, json_extract(detail, '$.steering') FROM event "
	       "WHERE kind = 'steering.lost'",
	       "steering.lost|1|1\n");
}
END_TEST

/* ---- nudges ---- */

START_TEST(what_an_operator_typed_into_a_nudge_reaches_the_next_agent)
{
	struct agent b;

	given_front();
	(void)an_agent("");
	nudge(1, "'skip the docs'");
	b = newcomer("");
	is_told(&b, "skip the docs");
	is_told_nothing(&b);
}
END_TEST

START_TEST(a_nudge_without_words_dies_with_its_silence)
{
	struct agent b;

	given_front();
	(void)an_agent("");
	nudge(1, "NULL");
	b = newcomer("");
	is_told_nothing(&b);
}
END_TEST

/* ---- reboot that names a session ---- */

/* That of the session that came as the nth. */
static char *reboot_of(struct agent *a, int nth)
{
	OWNED(str) struct str arguments = { 0 };
	char sql[80];

	(void)snprintf(sql, sizeof(sql), "SELECT id FROM session WHERE seq = %d", nth);
	OWNED(char_ptr) char *id = rows(sql);

	str_addf(&arguments, "{\"session_id\":\"%.*s\"}", (int)strcspn(id, "\n"), id);
	return call_for_message(a, "reboot", arguments.bytes);
}

static void is_told_that_it_is_connected(struct agent *a, int nth)
{
	OWNED(char_ptr) char *told = reboot_of(a, nth);

	has(told, "result.structuredContent.error_code", "session_connected");
	says(member(told, "result.structuredContent.error_message"), "is still connected");
	has(told, "result.structuredContent.pending_requests", "");
	has(told, "result.structuredContent.operator_says", "");
}

START_TEST(reboot_leaves_an_agent_that_is_there_its_words)
{
	static const char *const LABELS[][2] = { { "", "" }, { "a", "b" }, { "", "b" } };

	for (size_t i = 0; i < COUNT(LABELS); i++) {
		struct agent a, b;

		given_front();
		a = an_agent(LABELS[i][0]);
		b = an_agent(LABELS[i][1]);
		advance(2000);
		ping(&a);
		steer(1, "use tabs");
		is_told_that_it_is_connected(&b, 1);
		is_told(&a, "use tabs");
	}
}
END_TEST

START_TEST(reboot_leaves_an_agent_that_waits_its_question_and_its_words)
{
	OWNED(char_ptr) char *answered = NULL;
	struct agent a, b;
	struct wire w;

	given_front();
	a = an_agent("a");
	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"go on?\"}", NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "1\n");
	steer(1, "use tabs");
	b = an_agent("b");
	is_told_that_it_is_connected(&b, 1);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM inbox");
	answered = agent_message(&w);
	wire_close(&w);
	says(member(answered, "result.structuredContent.operator_says.0"), "use tabs");
}
END_TEST

START_TEST(reboot_of_a_session_whose_agent_is_gone_tells_its_words)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent b;

	given_front();
	(void)an_agent("a");
	steer(1, "use tabs");
	b = an_agent("b");
	told = reboot_of(&b, 1);
	has(told, "result.structuredContent.status", "recovered");
	says(member(told, "result.structuredContent.operator_says.0"), "use tabs");
}
END_TEST

START_TEST(reboot_does_not_find_the_session_of_another_workspace)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent b;

	given_front();
	b = an_agent("");
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode, "
	      "created_at, updated_at) SELECT 'elsewhere', machine, owner_user_id, '/elsewhere', "
	      "'active', mode, created_at, updated_at FROM session;"
	      "UPDATE session SET status = 'interrupted' WHERE id = 'elsewhere'");
	told = reboot_of(&b, 2);
	has(told, "result.structuredContent.error_code", "session_not_found");
	says(member(told, "result.structuredContent.error_message"), "in this workspace");
}
END_TEST

/* ---- agents of two processes ---- */

/* From here on the first agent is that of another process, which runs. */
static pid_t given_that_the_first_runs_elsewhere(void)
{
	char name[PROCESS_NAME_BYTES], sql[300];
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)execlp("sleep", "sleep", "1000", NULL);
		_exit(127);
	}
	ck_assert(process_name_of(pid, name));
	(void)snprintf(
	    sql, sizeof(sql),
	    "UPDATE connection SET process = '%1$s', host_process = '%1$s' WHERE seq = 1", name);
	given(sql);
	return pid;
}

static void ends(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(of_two_running_agents_with_one_name_each_has_its_own_words)
{
	struct agent b;
	pid_t pid;

	given_front();
	(void)an_agent("a");
	pid = given_that_the_first_runs_elsewhere();
	steer(1, "use tabs");
	b = newcomer("a");
	is_told_nothing(&b);
	is_told_that_it_is_connected(&b, 1);
	ends(pid);
	is_told(&b, "use tabs");
}
END_TEST

START_TEST(a_session_whose_agent_is_there_is_not_continued_by_another_program)
{
	OWNED(char_ptr) char *refused = NULL;
	OWNED(char_ptr) char *id = NULL;
	char query[100];
	struct agent b;
	pid_t pid;

	given_front();
	(void)an_agent("");
	id = rows("SELECT id FROM session");
	pid = given_that_the_first_runs_elsewhere();
	steer(1, "use tabs");
	(void)snprintf(query, sizeof(query), "?session_id=%.36s", id);
	b = agent_hello(port, query, "2025-11-25");
	refused = call_for_message(&b, "ping", "{}");
	says(member(refused, "error.message"), "is still connected");
	ends(pid);
	is_told(&b, "use tabs");
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

/* ---- answers ---- */

static void answer(const char *verdict, const char *instruction)
{
	char sql[300];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO decision (request_id, verdict, instruction) SELECT id, '%s', %s "
	    "FROM inbox",
	    verdict, instruction);
	given(sql);
	expect("SELECT count(*) FROM inbox", "0\n");
}

static void asks_and_hangs_up(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "1\n");
	wire_close(&w);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");
}

/* An agent that was answered with these words after it was gone. */
static void answered_too_late(const char *label, const char *tool, const char *arguments,
                              const char *verdict)
{
	struct agent a = newcomer(label);

	asks_and_hangs_up(&a, tool, arguments);
	answer(verdict, "'fix the tests'");
}

START_TEST(reboot_leaves_an_agent_that_is_there_an_answer_that_it_was_not_told)
{
	OWNED(char_ptr) char *again = NULL;
	struct agent a, b;

	given_front();
	a = newcomer("a");
	asks_and_hangs_up(&a, "transmit", "{\"prompt_text\":\"how?\"}");
	b = an_agent("b");
	advance(2000);
	ping(&a);
	answer("refine", "'fix the tests'");
	is_told_that_it_is_connected(&b, 1);
	again = call_for_message(&a, "transmit", "{\"prompt_text\":\"how?\"}");
	has(again, "result.structuredContent.instruction", "fix the tests");
	has(again, "result.structuredContent.operator_says", "");
}
END_TEST

/* Its call waits until the operator goes on. */
static char *waits_for_message(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	answer(strcmp(tool, "transmit") ? "resume" : "continue", "NULL");
	char *message = agent_message(&w);

	wire_close(&w);
	return message;
}

static const struct {
	const char *label, *tool, *first, *second, *verdict;
} ANSWERS[] = {
	{ "a", "standby", "{\"message\":\"first\"}", "{\"message\":\"second\"}", "resume" },
	{ "", "standby", "{\"message\":\"first\"}", "{\"message\":\"second\"}", "resume" },
	{ "a", "transmit", "{\"prompt_text\":\"first\"}", "{\"prompt_text\":\"second\"}",
	  "refine" },
};

START_TEST(reboot_brings_the_words_of_an_answer_that_came_too_late_once)
{
	for (size_t i = 0; i < COUNT(ANSWERS); i++) {
		OWNED(char_ptr) char *told = NULL;
		OWNED(char_ptr) char *after = NULL;
		OWNED(char_ptr) char *second = NULL;
		struct agent b;

		given_front();
		answered_too_late(ANSWERS[i].label, ANSWERS[i].tool, ANSWERS[i].first,
		                  ANSWERS[i].verdict);
		b = newcomer(ANSWERS[i].label);
		told = call_for_message(&b, "reboot", "{}");
		has(told, "result.structuredContent.status", "recovered");
		has(told, "result.structuredContent.pending_requests", "");
		says(member(told, "result.structuredContent.operator_says.0"),
		     "Answer to “first”: fix the tests");
		after = call_for_message(&b, "reboot", "{}");
		has(after, "result.structuredContent.operator_says", "");
		second = waits_for_message(&b, ANSWERS[i].tool, ANSWERS[i].second);
		has(second, "result.structuredContent.operator_says", "");
		close_store();
	}
	fresh_store();
}
END_TEST

START_TEST(reboot_brings_an_answer_and_the_words_after_it_in_the_order_in_which_they_were_said)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent b;

	given_front();
	answered_too_late("a", "transmit", "{\"prompt_text\":\"first\"}", "refine");
	given("INSERT INTO steering (session_id, text, created_at) SELECT s.id, w.value,"
	      " strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+' || (w.key + 1) || ' seconds')"
	      " FROM session AS s, json_each('[\"then use tabs\", \"and hurry\"]') AS w");
	b = newcomer("a");
	told = call_for_message(&b, "reboot", "{}");
	says(member(told, "result.structuredContent.operator_says.0"),
	     "Answer to “first”: fix the tests");
	says(member(told, "result.structuredContent.operator_says.1"), "then use tabs");
	says(member(told, "result.structuredContent.operator_says.2"), "and hurry");
	is_told_nothing(&b);
}
END_TEST

START_TEST(who_asks_in_other_words_gets_those_of_an_answer_that_came_too_late)
{
	for (size_t i = 0; i < COUNT(ANSWERS); i++) {
		OWNED(char_ptr) char *second = NULL;
		struct agent b;

		given_front();
		answered_too_late(ANSWERS[i].label, ANSWERS[i].tool, ANSWERS[i].first,
		                  ANSWERS[i].verdict);
		b = newcomer(ANSWERS[i].label);
		ping(&b);
		second = waits_for_message(&b, ANSWERS[i].tool, ANSWERS[i].second);
		says(member(second, "result.structuredContent.operator_says.0"),
		     "Answer to “first”: fix the tests");
		has(second, "result.structuredContent.operator_says.1", "");
		is_told_nothing(&b);
		close_store();
	}
	fresh_store();
}
END_TEST

START_TEST(who_asks_the_same_has_its_answer_and_nothing_else)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent b;

	given_front();
	answered_too_late("a", "standby", "{\"message\":\"first\"}", "resume");
	b = newcomer("a");
	message = call_for_message(&b, "standby", "{\"message\":\"first\"}");
	has(message, "result.structuredContent.instruction", "fix the tests");
	has(message, "result.structuredContent.operator_says", "");
	expect("SELECT count(*) FROM steering", "0\n");
}
END_TEST

START_TEST(the_answer_of_an_agent_with_another_label_stays_its_own)
{
	OWNED(char_ptr) char *other = NULL;
	OWNED(char_ptr) char *message = NULL;
	struct agent b, again;

	given_front();
	answered_too_late("a", "standby", "{\"message\":\"first\"}", "resume");
	b = newcomer("b");
	other = waits_for_message(&b, "standby", "{\"message\":\"second\"}");
	has(other, "result.structuredContent.operator_says", "");
	again = newcomer("a");
	message = call_for_message(&again, "standby", "{\"message\":\"first\"}");
	has(message, "result.structuredContent.instruction", "fix the tests");
}
END_TEST

START_TEST(the_answer_to_the_agent_of_one_user_is_for_no_agent_of_another)
{
	OWNED(char_ptr) char *other = NULL;
	OWNED(char_ptr) char *message = NULL;
	struct agent b;

	given_front();
	answered_too_late("a", "standby", "{\"message\":\"first\"}", "resume");
	given("UPDATE session SET agent_uid = 60102");
	b = newcomer("a");
	other = waits_for_message(&b, "standby", "{\"message\":\"second\"}");
	has(other, "result.structuredContent.operator_says", "");
	expect("SELECT count(*) FROM answer_untold", "1\n");
	given("UPDATE session SET agent_uid = 60102");
	message = waits_for_message(&b, "standby", "{\"message\":\"third\"}");
	says(member(message, "result.structuredContent.operator_says.0"),
	     "Answer to “first”: fix the tests");
}
END_TEST

START_TEST(the_words_of_an_answer_survive_a_result_that_did_not_arrive)
{
	struct agent b;
	struct wire w;

	given_front();
	answered_too_late("a", "standby", "{\"message\":\"first\"}", "resume");
	b = newcomer("a");
	agent_begin(&b, &w, "standby", "{\"message\":\"second\"}", NULL);
	expect_soon("SELECT count(*) FROM steering", "1\n");
	wire_close(&w);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");
	b = newcomer("a");
	is_told(&b, "Answer to “first”: fix the tests");
	is_told_nothing(&b);
}
END_TEST

START_TEST(an_answer_that_its_agent_is_never_told_is_reported_in_the_thread)
{
	given_front();
	given("INSERT INTO setting (name, value, source, updated_at) SELECT v.n, v.v, 'file', "
	      "updated_at "
	      "FROM setting, (SELECT 'slack.configured' AS n, 'true' AS v UNION ALL "
	      "SELECT 'slack.channel_id', 'C1' UNION ALL SELECT 'mode', 'hybrid') AS v WHERE name "
	      "= 'default_workspace_root' "
	      "ON CONFLICT DO UPDATE SET value = excluded.value");
	answered_too_late("a", "standby", "{\"message\":\"first\"}", "resume");
	given("INSERT INTO command (verb, session_id) SELECT 'stop', id FROM session");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'reply' AND text = 'The session "
	       "ended before its agent was "
	       "told: “fix the tests”'",
	       "1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("left words");
	TCase *c = store_case(s, "left words", 60);

	tcase_add_test(c, words_to_an_agent_that_was_gone_reach_the_next_one_whatever_it_calls);
	tcase_add_test(c,
	               words_to_an_agent_that_was_gone_come_with_the_answer_to_the_first_question);
	tcase_add_test(c, words_that_come_when_the_next_agent_works_already_reach_it);
	tcase_add_test(c, words_to_an_agent_that_is_there_are_for_nobody_else);
	tcase_add_test(c, reboot_leaves_an_agent_that_is_there_its_words);
	tcase_add_test(c, reboot_leaves_an_agent_that_waits_its_question_and_its_words);
	tcase_add_test(c, reboot_leaves_an_agent_that_is_there_an_answer_that_it_was_not_told);
	tcase_add_test(c, reboot_of_a_session_whose_agent_is_gone_tells_its_words);
	tcase_add_test(c, reboot_does_not_find_the_session_of_another_workspace);
	tcase_add_test(c, of_two_running_agents_with_one_name_each_has_its_own_words);
	tcase_add_test(c, a_session_whose_agent_is_there_is_not_continued_by_another_program);
	tcase_add_test(c, words_to_an_agent_with_a_label_wait_for_one_with_the_same_label);
	tcase_add_test(c, words_to_the_agent_of_one_user_are_for_no_agent_of_another);
	tcase_add_test(c, words_to_an_agent_that_we_started_wait_for_its_session);
	tcase_add_test(c, words_wait_on_from_one_agent_that_is_gone_to_the_next);
	tcase_add_test(c, words_to_a_session_that_has_ended_are_told_to_nobody);
	tcase_add_test(c, what_an_operator_typed_into_a_nudge_reaches_the_next_agent);
	tcase_add_test(c, a_nudge_without_words_dies_with_its_silence);
	tcase_add_test(c, reboot_brings_the_words_of_an_answer_that_came_too_late_once);
	tcase_add_test(
	    c, reboot_brings_an_answer_and_the_words_after_it_in_the_order_in_which_they_were_said);
	tcase_add_test(c, who_asks_in_other_words_gets_those_of_an_answer_that_came_too_late);
	tcase_add_test(c, who_asks_the_same_has_its_answer_and_nothing_else);
	tcase_add_test(c, the_answer_of_an_agent_with_another_label_stays_its_own);
	tcase_add_test(c, the_answer_to_the_agent_of_one_user_is_for_no_agent_of_another);
	tcase_add_test(c, the_words_of_an_answer_survive_a_result_that_did_not_arrive);
	tcase_add_test(c, an_answer_that_its_agent_is_never_told_is_reported_in_the_thread);
	return run_suite(s);
}
