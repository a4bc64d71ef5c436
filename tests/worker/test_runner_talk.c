/* The runner talks to an agent by its stdin and stdout: what it says becomes rows, and what it is
 * told rests on rows. The agent is tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "agent.h"
#include "err.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	GRACE_MS = 61000, /* after a start nothing expires for a minute */
	STUCK_MS = 31000, /* what is not read for so long */
};

START_TEST(the_prompt_of_a_run_is_the_first_prompt_of_its_agent)
{
	for (int version = 1; version <= 2; version++) {
		setup();
		int run = given_talk(version == 1 ? "v1" : "v2", STEPS("text:Done: %p"));
		run_becomes(run, "running||||active");
		was_told("\"method\":\"session/prompt\"", 1);
		was_told("\"text\":\"mend it\"", 1);
		expect_soon("SELECT peer_session, last_activity_at IS NOT NULL, idle_since IS NULL"
		            " FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq",
		            "fake|1|1\n");
		want_stop(run, "enough");
		run_becomes(run, "ended|stopped|0||terminated");
		processes_become(run, 0);
		ck_assert_int_eq(site_stop(&site), 0);
	}
}
END_TEST

START_TEST(a_question_is_a_request_with_its_diff_and_its_answer_is_told_once)
{
	for (int version = 1; version <= 2; version++) {
		setup();
		(void)given_talk(version == 1 ? "v1" : "v2", STEPS("ask:docs/notes.md"));
		expect_soon("SELECT kind, state, title, file_path, risk_level, body, description"
		            " FROM request",
		            "permission|pending|Write docs/notes.md|docs/notes.md|high|"
		            "--- /dev/null\n+++ b/docs/notes.md\n@@ -0,0 +1 @@\n+hi\n|"
		            "File: docs/notes.md (high risk)\n");
		decide("approve", "NULL, NULL");
		was_told("\"optionId\":\"yes\"", 1);
		expect_soon("SELECT r.state, r.delivered_at IS NOT NULL, q.answered_at IS NOT NULL,"
		            " q.withdrawn_at, q.rpc_id FROM request AS r"
		            " JOIN agent_question AS q ON q.request_seq = r.seq",
		            "approved|1|1||0\n");
		given("INSERT INTO steering (session_id, text) SELECT id, 'and now the tests'"
		      " FROM session");
		was_told("and now the tests", 1);
		was_told("optionId", 1);
		ck_assert_int_eq(site_stop(&site), 0);
	}
}
END_TEST

START_TEST(what_the_operator_says_beside_a_no_is_the_next_prompt)
{
	setup();
	(void)given_talk("v1", STEPS("ask:a.c"));
	expect_soon("SELECT state FROM request", "pending\n");
	decide("reject", "'not this file', NULL");
	was_told("\"optionId\":\"no\"", 1);
	was_told("The operator rejected \\\"Write a.c\\\" and said: not this file", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Its words follow the turn, as no answer of ACP has a place for them; those of acp-stream go with
 * it. */
START_TEST(what_the_operator_says_beside_a_yes_is_told_once)
{
	for (int i = 0; i < 2; i++) {
		OWNED(str) struct str said = { 0 };
		bool stream = i == 1;

		setup();
		(void)given_talk(stream ? "stream" : "v1", STEPS("ask:a.c"));
		expect_soon("SELECT state FROM request", "pending\n");
		OWNED(char_ptr) char *id = rows("SELECT id FROM request");
		ck_assert_int_eq(ctl(&said, "approve %.36s --note 'water the plants' --text", id),
		                 0);
		says(said.bytes, ". The agent gets your words when its turn ends, at the latest\n");
		was_told(stream
		             ? "\"status\":\"approved\",\"reason\":\"water the plants\""
		             : "The operator approved \\\"Write a.c\\\" and said: water the plants",
		         1);
		given("INSERT INTO steering (session_id, text) SELECT id, 'and now the tests'"
		      " FROM session");
		expect_soon("SELECT count(*) FROM request WHERE state = 'pending'",
		            stream ? "0\n" : "1\n");
		if (!stream)
			decide("approve", "NULL, NULL");
		was_told("and now the tests", 1);
		was_told("water the plants", 1);
		ck_assert_int_eq(site_stop(&site), 0);
	}
}
END_TEST

START_TEST(a_question_that_nobody_answers_in_time_is_a_no)
{
	setup();
	(void)given_talk("v1", STEPS("ask:a.c"));
	expect_soon("SELECT state FROM request", "pending\n");
	given("UPDATE request SET deadline_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
	advance(GRACE_MS);
	was_told("\"optionId\":\"no\"", 1);
	expect_soon("SELECT state FROM request WHERE seq = 1", "expired\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_the_operator_says_is_told_in_order_one_turn_at_a_time)
{
	setup();
	(void)given_talk("v1", STEPS("ask:a.c"));
	expect_soon("SELECT state FROM request", "pending\n");
	given("INSERT INTO steering (session_id, text) SELECT id, 'one' FROM session;"
	      "INSERT INTO steering (session_id, text) SELECT id, 'two' FROM session");
	decide("approve", "NULL, NULL");
	was_told("\"text\":\"one\"", 1);
	expect_soon("SELECT count(*), sum(state = 'pending') FROM request", "2|1\n");
	expect("SELECT text, run_seq, delivered_at IS NOT NULL FROM steering ORDER BY seq",
	       "one|1|1\ntwo||0\n");
	decide("approve", "NULL, NULL");
	was_told("\"text\":\"two\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_nudge_ends_a_turn_that_hangs_and_is_the_next_prompt)
{
	setup();
	(void)given_talk("v1", STEPS("wait"));
	was_told("mend it", 1);
	given("INSERT INTO steering (kind, session_id, text) SELECT 'nudge', id, 'wake up'"
	      " FROM session");
	was_told("session/cancel", 1);
	was_told("wake up", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_nudge_behind_other_words_ends_the_turn_that_hangs_and_no_later_one)
{
	setup();
	(void)given_talk("v1", STEPS("wait"));
	was_told("mend it", 1);
	given("INSERT INTO steering (kind, session_id, text) SELECT k.value, session.id, k.value "
	      "|| ' it'"
	      " FROM session, json_each('[\"steer\",\"nudge\"]') AS k ORDER BY k.key");
	was_told("session/cancel", 1);
	was_told("steer it", 1);
	expect("SELECT kind FROM steering WHERE delivered_at IS NULL", "nudge\n");
	was_told("session/cancel", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The id of its question; said: by ctl, of the answer. */
static char *approved_while_paused(struct str *said)
{
	char *id;

	setup();
	(void)given_talk("v1", STEPS("ask:a.c"));
	expect_soon("SELECT state FROM request", "pending\n");
	id = rows("SELECT id FROM request");
	given("UPDATE session SET status = 'paused'");
	ck_assert_int_eq(ctl(said, "approve %.36s --text", id), 0);
	return id;
}

START_TEST(what_is_answered_while_a_session_is_paused_is_told_once_it_is_resumed)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = approved_while_paused(&said);

	says(said.bytes, "Its session is paused: the agent gets it after `session-resume`.\n");
	advance(1000); /* its runner has looked */
	expect("SELECT state, delivered_at FROM request", "approved|\n");
	was_told("optionId", 0);
	given("UPDATE session SET status = 'active'");
	was_told("\"optionId\":\"yes\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(of_an_answer_that_its_agent_did_not_get_it_is_said_that_it_did_not)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = approved_while_paused(&said);

	OWNED(char_ptr) char *pid = rows("SELECT pid FROM agent_run");
	ck_assert_int_eq(kill((pid_t)strtol(pid, NULL, 10), SIGKILL), 0);
	expect_soon("SELECT status FROM session", "terminated\n");
	expect("SELECT state FROM request", "approved\n");
	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "show %.36s --text", id), 0);
	says(said.bytes, "not done  its agent was not told: ");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_stop_withdraws_what_waits)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c"));
	expect_soon("SELECT state FROM request", "pending\n");
	want_stop(run, "stopped by the operator");
	was_told("session/cancel", 1);
	was_told("\"outcome\":\"cancelled\"", 1);
	run_becomes(run, "ended|stopped|0||terminated");
	expect_soon("SELECT r.state, q.why FROM request AS r JOIN agent_question AS q"
	            " ON q.request_seq = r.seq",
	            "expired|stopped by the operator\n");
	processes_become(run, 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_dies_leaves_no_open_question)
{
	setup();
	int run = given_talk("v1", STEPS("ask:a.c"));
	expect_soon("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(kill(atoi(of_run(run, "pid")), SIGKILL), 0);
	run_becomes(run, "ended|exited||9|terminated");
	expect_soon("SELECT r.state, q.why FROM request AS r JOIN agent_question AS q"
	            " ON q.request_seq = r.seq",
	            "expired|the agent is gone\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_needs_a_login_says_so)
{
	setup();
	int run = given_talk("v1", STEPS("login"));
	run_becomes(run, "ended|failed|0||terminated");
	ck_assert_str_eq(of_run(run, "why"),
	                 "the agent needs a login on this machine: Authentication required; it "
	                 "offers Log in (oauth)");
	processes_become(run, 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_program_that_is_no_agent_is_found_out)
{
	setup();
	int run = given_talk("v1", STEPS("junk:200", "silent"));
	run_becomes(run, "running||||active");
	want_stop(run, "enough");
	run_becomes(run, "ended|stopped|0||terminated");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_reads_nothing_is_given_up)
{
	setup();
	int run = given_talk("stream", STEPS("deaf"));
	run_becomes(run, "running||||active");
	given("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)"
	      " INSERT INTO steering (session_id, text)"
	      " SELECT id, printf('%.*c', 65000, 'x') FROM n, session");
	expect_soon("SELECT count(*) FROM steering WHERE delivered_at IS NOT NULL", "80\n");
	advance(STUCK_MS);
	run_becomes(run, "ended|interrupted||15|interrupted");
	ck_assert_str_eq(of_run(run, "why"), "the agent does not read its stdin");
	processes_become(run, 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_dropped_and_the_next_one_is_heard)
{
	setup();
	(void)given_talk("v1", STEPS("stdout:34603008", "junk:3", "ask:a.c"));
	expect_soon("SELECT title, state FROM request", "Write a.c|pending\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_of_acp_stream_asks_and_is_told)
{
	setup();
	int run = given_talk("stream", STEPS("ask:a.c", "proceed"));
	was_told("{\"method\":\"prompt/send\",\"params\":{\"text\":\"mend it\"}}\n", 1);
	expect_soon("SELECT kind, state, title, file_path, risk_level FROM request",
	            "permission|pending|Write a.c|a.c|low\n");
	decide("reject", "'not now', NULL");
	was_told(
	    "{\"method\":\"clearance/response\",\"id\":\"q0\",\"params\":{\"status\":\"rejected\","
	    "\"reason\":\"not now\"}}\n",
	    1);
	expect_soon("SELECT kind, state, title, prompt_type FROM request WHERE seq = 2",
	            "prompt|pending|Go on?|continuation\n");
	decide("refine", "NULL, 'smaller steps'");
	was_told(
	    "{\"method\":\"prompt/response\",\"id\":\"q1\",\"params\":{\"decision\":\"refine\","
	    "\"instruction\":\"smaller steps\"}}\n",
	    1);
	given(
	    "INSERT INTO steering (session_id, text) SELECT id, 'more' FROM session;"
	    "INSERT INTO steering (kind, session_id, text) SELECT 'nudge', id, 'go' FROM session");
	was_told("{\"method\":\"prompt/send\",\"params\":{\"text\":\"more\"}}\n", 1);
	was_told("{\"method\":\"nudge\",\"params\":{\"message\":\"go\"}}\n", 1);
	want_stop(run, "enough");
	was_told("{\"method\":\"session/interrupt\",\"params\":{\"reason\":\"enough\"}}\n", 1);
	run_becomes(run, "ended|stopped|0||terminated");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_talk");
	TCase *c = store_case(s, "talk", 60);

	tcase_add_test(c, the_prompt_of_a_run_is_the_first_prompt_of_its_agent);
	tcase_add_test(c, a_question_is_a_request_with_its_diff_and_its_answer_is_told_once);
	tcase_add_test(c, what_the_operator_says_beside_a_no_is_the_next_prompt);
	tcase_add_test(c, what_the_operator_says_beside_a_yes_is_told_once);
	tcase_add_test(c, a_question_that_nobody_answers_in_time_is_a_no);
	tcase_add_test(c, what_the_operator_says_is_told_in_order_one_turn_at_a_time);
	tcase_add_test(c, a_nudge_ends_a_turn_that_hangs_and_is_the_next_prompt);
	tcase_add_test(c, a_nudge_behind_other_words_ends_the_turn_that_hangs_and_no_later_one);
	tcase_add_test(c, what_is_answered_while_a_session_is_paused_is_told_once_it_is_resumed);
	tcase_add_test(c, of_an_answer_that_its_agent_did_not_get_it_is_said_that_it_did_not);
	tcase_add_test(c, a_stop_withdraws_what_waits);
	tcase_add_test(c, an_agent_that_dies_leaves_no_open_question);
	tcase_add_test(c, an_agent_that_needs_a_login_says_so);
	tcase_add_test(c, a_program_that_is_no_agent_is_found_out);
	tcase_add_test(c, an_agent_that_reads_nothing_is_given_up);
	tcase_add_test(c, a_line_that_is_too_long_is_dropped_and_the_next_one_is_heard);
	tcase_add_test(c, an_agent_of_acp_stream_asks_and_is_told);
	return run_suite(s);
}
