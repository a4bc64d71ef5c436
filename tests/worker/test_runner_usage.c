/* What agents say that they use: rows, what operators see of them, and budgets. The agent is
 * tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "agent.h"
#include "err.h"

#include <stdlib.h>
#include <string.h>

static const char USED[] =
    "SELECT total_tokens, input_tokens, output_tokens, cost_micros, currency,"
    " context_used, context_size FROM agent_usage";

static void lists(const char *flag, const char *text)
{
	OWNED(str) struct str said = { 0 };
	char program[PROGRAM_BYTES];

	test_program("agent-intercom-ctl", program);
	ck_assert_int_eq(shell(&said, "%s --config %s list %s", program, site.config, flag), 0);
	says(str_text(&said), text);
}

START_TEST(what_an_agent_uses_is_shown_with_its_session)
{
	setup();
	(void)given_talk("v1", STEPS("usage:420", "tokens:5000"));
	expect_soon(USED, "5000|1|2|4200000|USD|420|1000\n");
	lists("--text", "5.0k tokens, 4.20 USD, context 42 %");
	lists("--json", "\"total_tokens\":5000");
	lists("--json", "\"cost\":4.2");
	/* It says its cost of the session, and counts no fewer tokens than before. */
	given("INSERT INTO steering (session_id, text) SELECT id, 'more' FROM session");
	was_told("\"text\":\"more\"", 1);
	expect_soon("SELECT count(*) FROM agent_input WHERE ended_at IS NOT NULL", "2\n");
	expect(USED, "5000|1|2|4200000|USD|420|1000\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(of_an_agent_that_says_nothing_nothing_is_known)
{
	setup();
	(void)given_talk("v1", STEPS("text:Done"));
	expect_soon("SELECT count(*) FROM agent_input WHERE ended_at IS NOT NULL", "1\n");
	expect("SELECT count(*) FROM agent_usage", "0\n");
	lists("--json", "\"usage\":null");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_context_that_is_nearly_full_is_told_once)
{
	setup();
	(void)given_talk("v1", STEPS("usage:899", "usage:900", "usage:950"));
	expect_soon("SELECT text FROM agent_line WHERE kind = 'note'",
	            "The agent's context is 90 % full: 900 of 1000 tokens.\n");
	given("INSERT INTO steering (session_id, text) SELECT id, 'more' FROM session");
	expect_soon("SELECT count(*) FROM agent_input WHERE ended_at IS NOT NULL", "2\n");
	expect("SELECT count(*) FROM agent_line WHERE kind = 'note'", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_budget_that_is_used_up_pauses_the_session_until_it_is_resumed)
{
	static const char *const BUDGETS[][3] = {
		{ "budget.session", "5.00 USD",
		  "The budget of this session (5.00 USD) is used up: 6.00 USD" },
		{ "budget.day", "4 USD", "The budget of the day (4 USD) is used up: 6.00 USD" },
		{ "budget.session", "4000 tokens",
		  "The budget of this session (4000 tokens) is used up: 5000 tokens" },
	};

	for (size_t i = 0; i < COUNT(BUDGETS); i++) {
		OWNED(str) struct str sql = { 0 };
		OWNED(str) struct str said = { 0 };

		setup();
		str_addf(&sql, "UPDATE setting SET value = '%s' WHERE name = '%s'", BUDGETS[i][1],
		         BUDGETS[i][0]);
		given(sql.bytes);
		(void)given_talk("v1", STEPS("usage:600", "tokens:5000"));
		expect_soon("SELECT status FROM session", "paused\n");
		str_addf(&said,
		         "%s. The session is paused; `session-resume` goes on until as much"
		         " is used again.\n",
		         BUDGETS[i][2]);
		expect_soon("SELECT text FROM agent_line WHERE kind = 'note'", said.bytes);
		expect("SELECT verb, source, outcome FROM command", "pause|budget|done\n");
		run_becomes(1, "running||||paused");
		given("INSERT INTO steering (session_id, text) SELECT id, 'more' FROM session");
		given("INSERT INTO command (verb, session_id, operator_id)"
		      " SELECT 'resume', id, owner_user_id FROM session");
		expect("SELECT verb, outcome, why FROM command WHERE seq = 2", "resume|done|\n");
		was_told("\"text\":\"more\"", 1);
		expect_soon("SELECT count(*) FROM agent_input WHERE ended_at IS NOT NULL", "2\n");
		str_reset(&said);
		ck_assert_int_eq(ctl(&said, "session start --agent fake x"),
		                 strcmp(BUDGETS[i][0], "budget.day") == 0);
		if (strcmp(BUDGETS[i][0], "budget.day") == 0)
			says(said.bytes, "the budget of the day (4 USD) is used up: 6.00 USD. "
			                 "Tomorrow, or with a higher budget.day in the "
			                 "configuration, a session can be started");
		run_becomes(1, "running||||active");
		ck_assert_int_eq(site_stop(&site), 0);
	}
}
END_TEST

START_TEST(the_budget_of_a_day_pauses_the_sessions_that_used_nothing_too)
{
	setup();
	given("UPDATE setting SET value = '4 USD' WHERE name = 'budget.day'");
	(void)given_talk("v1", STEPS("ask:a.c", "usage:600"));
	expect_soon("SELECT state FROM request", "pending\n");
	(void)given_run("sleep 1000");
	run_becomes(2, "running||||active");
	decide("approve", "NULL, NULL");
	run_becomes(1, "running||||paused");
	run_becomes(2, "running||||paused");
	expect("SELECT run_seq, kind, substr(text, 1, 52) FROM agent_line WHERE kind = 'note'",
	       "1|note|The budget of the day (4 USD) is used up: 6.00 USD. \n"
	       "2|note|The budget of the day (4 USD) is used up: 6.00 USD. \n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_session_that_has_not_begun_waits_when_the_budget_of_the_day_is_used_up)
{
	setup();
	(void)given_run("sleep 1000");
	run_becomes(1, "running||||active");
	given("UPDATE setting SET value = '5 tokens' WHERE name = 'budget.day';"
	      "INSERT INTO agent_usage (run_seq, day, total_tokens, updated_at)"
	      " VALUES (1, date('now', 'localtime'), 1, '2026-01-01T00:00:00.000Z')");
	given(
	    "BEGIN IMMEDIATE;"
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " origin, created_at, updated_at) SELECT 2, 'ahead-' || id, machine, owner_user_id,"
	    " workspace_root, 'created', mode, origin, created_at, updated_at FROM session;"
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol, state,"
	    " created_at, prompt) SELECT 2, 2, 1, machine, agent, protocol, 'wanted', created_at,"
	    " prompt FROM agent_run;"
	    "UPDATE agent_usage SET total_tokens = 9;"
	    "COMMIT");
	expect("SELECT group_concat(status) FROM session", "paused,paused\n");
	expect("SELECT text FROM agent_line WHERE run_seq = 2",
	       "The budget of the day (5 tokens) is used up: 9 tokens. The session has not begun; "
	       "`session-resume` begins it all the same.\n");
	kill_and_await("watchdog"); /* the supervisor has looked at rows since */
	expect("SELECT state FROM agent_run WHERE seq = 2", "wanted\n");
	given("INSERT INTO command (verb, session_id, operator_id)"
	      " SELECT 'resume', id, owner_user_id FROM session WHERE seq = 2");
	expect("SELECT outcome, why FROM command WHERE verb = 'resume'", "done|\n");
	run_becomes(2, "running||||active");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_usage");
	TCase *c = store_case(s, "usage", 60);

	tcase_add_test(c, what_an_agent_uses_is_shown_with_its_session);
	tcase_add_test(c, of_an_agent_that_says_nothing_nothing_is_known);
	tcase_add_test(c, a_context_that_is_nearly_full_is_told_once);
	tcase_add_test(c, a_budget_that_is_used_up_pauses_the_session_until_it_is_resumed);
	tcase_add_test(c, the_budget_of_a_day_pauses_the_sessions_that_used_nothing_too);
	tcase_add_test(c, a_session_that_has_not_begun_waits_when_the_budget_of_the_day_is_used_up);
	return run_suite(s);
}
