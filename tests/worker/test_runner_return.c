/* An agent that is back after an interruption: it is told what it missed, once. The agent is
 * tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "err.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void kill_runner(int run)
{
	ck_assert_int_eq(kill(runner_of(run), SIGKILL), 0);
	run_becomes(run, "ended|interrupted|||interrupted");
}

START_TEST(an_agent_that_can_resume_goes_on_and_is_not_given_its_prompt_again)
{
	setup();
	int run = given_talk("v1", STEPS("wait", "resumable"));
	was_told("\"text\":\"mend it\"", 1);
	kill_runner(run);
	resume(run);
	was_told("\"method\":\"session/prompt\"", 2);
	was_told("\"method\":\"session/resume\",\"params\":{\"sessionId\":\"fake\"", 1);
	was_told("Continue where you left off.", 1);
	was_told("may not have arrived. Unless you have acted on it, do so now:\\nmend it", 1);
	was_told("\"text\":\"mend it\"", 1);
	expect("SELECT kind, run_seq, told_in FROM agent_input ORDER BY seq",
	       "task|1|2\nreturn|2|\n");
	kill_runner(run + 1);
	resume(run + 1);
	was_told("\"method\":\"session/prompt\"", 3);
	was_told("Continue where you left off.", 2);
	was_told("may not have arrived. Unless you have acted on it, do so now:\\nmend it", 2);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_remembers_nothing_is_told_what_is_known)
{
	setup();
	int run = given_talk("v1", STEPS("text:Done", "forgetful"));
	was_told("\"text\":\"mend it\"", 1);
	given("INSERT INTO steering (session_id, text) SELECT id, 'and the tests' FROM session;"
	      "UPDATE session SET progress_snapshot ="
	      " '[{\"label\":\"Read\",\"status\":\"done\"}]'");
	was_told("\"text\":\"and the tests\"", 1);
	kill_runner(run);
	resume(run);
	was_told("What its agent was told, in order:\\n- mend it\\n- and the tests\\n", 1);
	was_told("The plan was:\\n- Read (done)", 1);
	was_told("Its agent said last:\\nDone\\n", 1);
	was_told("session/resume", 0);
	was_told("\"text\":\"mend it\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_remembers_nothing_is_told_its_task_however_much_was_said_since)
{
	setup();
	int run = given_talk("v1", STEPS("text:Done", "forgetful"));
	was_told("\"text\":\"mend it\"", 1);
	given("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 32)"
	      " INSERT INTO steering (session_id, text) SELECT id, 'word ' || i FROM n, session"
	      " ORDER BY i");
	was_told("\"text\":\"word 32\"", 1);
	kill_runner(run);
	resume(run);
	was_told("in order:\\n- mend it\\n- [2 left out]\\n- word 3\\n- word 4\\n", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_several_interruptions_left_is_told_once_each_time)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(site_stop(&site), 0);
	start_again("v1", STEPS("wait", "resumable"));
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'too risky' FROM request");
	resume(run);
	was_told("too risky", 1);
	for (int i = 1; i <= 2; i++) {
		kill_runner(run + i);
		resume(run + i);
		was_told("\"method\":\"session/prompt\"", i + 2);
		was_told("Your work was interrupted", i + 1);
		was_told("too risky", i + 1);
	}
	expect("SELECT kind, told_in FROM agent_input ORDER BY seq",
	       "task|\nreturn|3\nreturn|4\nreturn|\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(words_beside_an_answer_survive_the_runner_and_are_told_once)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "wait", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	decide("reject", "'not this file', NULL");
	was_told("\"optionId\":\"no\"", 1);
	kill_runner(run);
	expect("SELECT kind, sent_at IS NULL FROM agent_input ORDER BY seq", "task|0\nwords|1\n");
	resume(run);
	was_told("The operator rejected \\\"Write a.c\\\" and said: not this file", 1);
	was_told("\"method\":\"session/prompt\"", 2);
	was_told("The operator has rejected it.\\nYou may have heard that already.", 1);
	was_told("not this file", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* It is told no, and gone before the words could be its next prompt. */
START_TEST(words_beside_an_answer_are_reported_if_the_session_ends_before_the_turn)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "exit:9"));
	expect_soon("SELECT state FROM request", "pending\n");
	given("INSERT INTO steering (session_id, text) SELECT id, 'use tabs' FROM session");
	decide("reject", "'not this file', NULL");
	run_becomes(run, "ended|exited|9||terminated");
	expect("SELECT t.text FROM event AS e JOIN words_untold AS t"
	       " ON t.seq = json_extract(e.detail, '$.input') WHERE e.kind = 'steering.lost'",
	       "not this file\n");
	expect("SELECT count(*) FROM event WHERE kind = 'steering.lost'", "2\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

static void end_session(void)
{
	given("INSERT OR IGNORE INTO operator (id, kind, user_id, created_at)"
	      " SELECT owner_user_id, 'local', 'tester', created_at FROM session;"
	      "INSERT INTO command (verb, session_id, argument, operator_id)"
	      " SELECT 'stop', id, 'enough', owner_user_id FROM session");
	expect("SELECT outcome, why FROM command", "done|\n");
}

/* The order that ends its session answers what is open itself: that is for nobody. */
START_TEST(the_reason_of_a_rejection_that_no_run_was_told_is_reported_when_the_session_ends)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	kill_runner(run);
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, prompt_type, "
	      "created_at, updated_at) SELECT 'open', session_seq, 'prompt', 'pending', "
	      "printf('%064d', 9), 'on?', 'continuation', created_at, updated_at FROM request");
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'not this file' FROM request WHERE kind = 'permission'");
	end_session();
	expect("SELECT a.text FROM event AS e JOIN answer_lost AS a"
	       " ON a.seq = json_extract(e.detail, '$.request') WHERE e.kind = 'steering.lost'",
	       "not this file\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_question_can_be_answered_while_its_agent_is_away)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	kill_runner(run);
	expect("SELECT state, remaining_ms > 3500000, deadline_at FROM request",
	       "interrupted|1|\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	expect("SELECT state, delivered_at FROM request", "approved|\n");
	resume(run);
	was_told("Before that you asked: \\\"Write a.c\\\". The operator has approved it.", 1);
	/* It asks the same again, and gets the answer that is there already. */
	was_told("\"optionId\":\"yes\"", 1);
	expect("SELECT count(*) FROM request", "1\n");
	expect_soon("SELECT run_seq, answered_at IS NOT NULL, why FROM agent_question ORDER BY seq",
	            "1|0|asked again\n2|1|\n");
	/* Once: what it asks after that is a new question. */
	given("INSERT INTO steering (session_id, text) SELECT id, 'again' FROM session");
	expect_soon("SELECT state FROM request ORDER BY seq", "approved\npending\n");
	was_told("\"optionId\":\"yes\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(the_reason_of_a_rejection_that_came_while_its_agent_was_away_is_told_once)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	kill_runner(run);
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'not this file' FROM request");
	resume(run);
	was_told("not this file", 1);
	was_told("\"optionId\":\"no\"", 1);
	/* A turn that follows would be behind it. */
	given("INSERT INTO steering (session_id, text) SELECT id, 'and now' FROM session");
	was_told("and now", 1);
	was_told("not this file", 1);
	expect("SELECT count(*) FROM agent_input WHERE kind = 'words'", "0\n");
	end_session();
	expect("SELECT count(*) FROM event WHERE kind = 'steering.lost'", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(the_words_of_an_approval_that_came_while_its_agent_was_away_are_told_once)
{
	static const struct {
		const char *speaks, *yes;
	} cases[] = { { "v1", "\"optionId\":\"yes\"" }, { "stream", "\"status\":\"approved\"" } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		setup();
		int run = given_talk(cases[i].speaks, STEPS("ask:a.c", "resumable"));
		expect_soon("SELECT state FROM request", "pending\n");
		kill_runner(run);
		given("INSERT INTO decision (request_id, verdict, instruction)"
		      " SELECT id, 'approve', 'greet Eve' FROM request");
		resume(run);
		was_told("The operator has approved it, and said: greet Eve", 1);
		was_told(cases[i].yes, 1);
		given("INSERT INTO steering (session_id, text) SELECT id, 'and now' FROM session");
		was_told("and now", 1);
		was_told("greet Eve", 1);
		ck_assert_int_eq(site_stop(&site), 0);
	}
}
END_TEST

START_TEST(the_words_of_an_answer_to_a_call_are_told_in_the_return_once)
{
	setup();
	int run = given_talk("v1", STEPS("wait", "resumable"));
	was_told("\"text\":\"mend it\"", 1);
	kill_runner(run);
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, prompt_type, "
	      "created_at, updated_at) SELECT 'called', seq, 'prompt', 'pending', "
	      "printf('%064d', 9), 'Go on?', 'continuation', created_at, updated_at FROM session;"
	      "INSERT INTO decision (request_id, verdict, instruction)"
	      " VALUES ('called', 'refine', 'tests first')");
	resume(run);
	was_told("you asked: \\\"Go on?\\\". The operator has answered: refine, and said: tests "
	         "first",
	         1);
	end_session();
	expect("SELECT count(*) FROM event WHERE kind = 'steering.lost'", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

#define RUNS(input)                                                                                \
	"permit:{\"toolCallId\":\"c\",\"kind\":\"execute\",\"title\":\"git\",\"rawInput\":{"       \
	"\"command\":\"git\",\"args\":[" input "]}}"

START_TEST(an_approval_is_not_for_another_command_that_is_asked_later)
{
	setup();
	int run = given_talk("v1", STEPS(RUNS("\"status\""), "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(site_stop(&site), 0);
	start_again("v1", STEPS(RUNS("\"push\",\"--force\""), "resumable"));
	run_becomes(run, "ended|interrupted|0||interrupted");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	resume(run);
	expect_soon("SELECT state, body FROM request ORDER BY seq",
	            "approved|git status\npending|git push --force\n");
	was_told("\"optionId\":\"yes\"", 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_question_that_is_open_is_told_as_open_and_asked_once)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	kill_runner(run);
	resume(run);
	was_told("The operator has not decided it yet.", 1);
	expect_soon("SELECT r.state, q.run_seq FROM request AS r JOIN agent_question AS q"
	            " ON q.request_seq = r.seq WHERE q.withdrawn_at IS NULL",
	            "pending|2\n");
	decide("approve", "NULL, NULL");
	was_told("\"optionId\":\"yes\"", 1);
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_decision_that_comes_after_the_return_is_told_once)
{
	setup();
	int run = given_talk("v1", STEPS("ask-once:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	kill_runner(run);
	resume(run);
	was_told("The operator has not decided it yet.", 1);
	expect_soon("SELECT count(*) FROM agent_input WHERE ended_at IS NOT NULL", "1\n");
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'too risky' FROM request");
	was_told("The operator has rejected it, and said: too risky", 1);
	was_told("optionId", 0);
	expect_soon("SELECT kind, ended_at IS NOT NULL FROM agent_input ORDER BY seq",
	            "task|0\nreturn|1\ndecision|1\n");
	kill_runner(run + 1);
	resume(run + 1);
	was_told("session/resume", 2);
	expect_soon("SELECT count(*) FROM agent_input WHERE ended_at IS NOT NULL", "3\n");
	was_told("too risky", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_stop_of_the_system_leaves_questions_that_can_be_answered)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(site_stop(&site), 0);
	run_becomes(run, "ended|interrupted|0||interrupted");
	expect("SELECT r.state, q.withdrawn_at FROM request AS r JOIN agent_question AS q"
	       " ON q.request_seq = r.seq",
	       "interrupted|\n");
	start_again("v1", STEPS("ask:a.c", "resumable"));
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	resume(run);
	was_told("\"optionId\":\"yes\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_sigterm_to_every_process_is_a_stop_of_the_system_in_any_order)
{
	setup();
	for (int runner_first = 0; runner_first <= 1; runner_first++) {
		int run = given_run("sleep 1000");

		run_becomes(run, "running||||active");
		pid_t agent = (pid_t)atoi(of_run(run, "pid")), runner = runner_of(run);

		ck_assert_int_eq(kill(runner_first ? runner : agent, SIGTERM), 0);
		ck_assert_int_eq(kill(runner_first ? agent : runner, SIGTERM), 0);
		run_becomes(run, "ended|interrupted||15|interrupted");
		ck_assert_str_eq(of_run(run, "why"), "the system stopped");
	}
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_everything_was_killed_in_can_be_answered_and_goes_on)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	site_kill(&site);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	start_again("v1", STEPS("ask:a.c", "resumable"));
	run_becomes(run, "ended|interrupted|||interrupted");
	resume(run);
	was_told("\"optionId\":\"yes\"", 1);
	was_told("\"text\":\"mend it\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(after_a_reboot_another_process_with_the_same_number_is_left_alone)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c", "resumable"));
	expect_soon("SELECT state FROM request", "pending\n");
	site_kill(&site);
	pid_t other = fork();
	if (other == 0) {
		(void)setsid();
		for (;;)
			(void)pause();
	}
	char sql[400];
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root,"
	               " status, mode, origin, protocol_mode, created_at, updated_at)"
	               " SELECT 2, 'other', machine, owner_user_id, workspace_root, 'created',"
	               " mode, origin, protocol_mode, created_at, updated_at FROM session;");
	given(sql);
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol, state,"
	    " created_at) SELECT 2, 2, 1, machine, agent, protocol, 'wanted', created_at"
	    " FROM agent_run;"
	    "UPDATE agent_run SET state = 'starting', pid = %d, process_start = 12 WHERE seq = 2;"
	    "UPDATE agent_run SET state = 'running', started_at = created_at WHERE seq = 2",
	    (int)other);
	given(sql);
	site_start(&site);
	run_becomes(2, "ended|interrupted|||interrupted");
	run_becomes(run, "ended|interrupted|||interrupted");
	ck_assert_int_eq(kill(other, 0), 0);
	(void)kill(other, SIGKILL);
	ck_assert_int_eq(end_of(other), 128 + SIGKILL);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_return");
	TCase *c = store_case(s, "return", 60);

	tcase_add_test(c, an_agent_that_can_resume_goes_on_and_is_not_given_its_prompt_again);
	tcase_add_test(c, an_agent_that_remembers_nothing_is_told_what_is_known);
	tcase_add_test(
	    c, an_agent_that_remembers_nothing_is_told_its_task_however_much_was_said_since);
	tcase_add_test(c, what_several_interruptions_left_is_told_once_each_time);
	tcase_add_test(c, words_beside_an_answer_survive_the_runner_and_are_told_once);
	tcase_add_test(c, words_beside_an_answer_are_reported_if_the_session_ends_before_the_turn);
	tcase_add_test(
	    c, the_reason_of_a_rejection_that_no_run_was_told_is_reported_when_the_session_ends);
	tcase_add_test(c, a_question_can_be_answered_while_its_agent_is_away);
	tcase_add_test(c,
	               the_reason_of_a_rejection_that_came_while_its_agent_was_away_is_told_once);
	tcase_add_test(c,
	               the_words_of_an_approval_that_came_while_its_agent_was_away_are_told_once);
	tcase_add_test(c, the_words_of_an_answer_to_a_call_are_told_in_the_return_once);
	tcase_add_test(c, an_approval_is_not_for_another_command_that_is_asked_later);
	tcase_add_test(c, a_question_that_is_open_is_told_as_open_and_asked_once);
	tcase_add_test(c, a_decision_that_comes_after_the_return_is_told_once);
	tcase_add_test(c, a_stop_of_the_system_leaves_questions_that_can_be_answered);
	tcase_add_test(c, a_sigterm_to_every_process_is_a_stop_of_the_system_in_any_order);
	tcase_add_test(c, what_everything_was_killed_in_can_be_answered_and_goes_on);
	tcase_add_test(c, after_a_reboot_another_process_with_the_same_number_is_left_alone);
	return run_suite(s);
}
