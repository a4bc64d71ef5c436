/* Orders of an operator, carried out by runners in a whole system: start, stop, restart, resume. */
#include "runner_case.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tells whose session it is, and works on. */
static const char WORKER[] = "echo $INTERCOM_SESSION_ID >> told; while :; do sleep 0.05; done";

static void start(const char *script)
{
	ck_assert_int_eq(ctl(NULL, "session start --agent shell '%s'", script), 0);
}

/* The newest session. */
static int order(const char *word)
{
	return ctl(NULL,
	           "session %s $(sqlite3 '%s' 'SELECT id FROM session ORDER BY seq DESC LIMIT 1')",
	           word, test_db());
}

static void told_are(const char *sessions)
{
	OWNED(char_ptr) char *expected = rows(sessions);
	int lines = 0;

	for (const char *c = expected; *c; c++)
		lines += *c == '\n';
	OWNED(char_ptr) char *told = file_with_lines("told", lines);
	ck_assert_str_eq(told, expected);
}

START_TEST(an_agent_works_in_the_session_that_was_ordered_until_that_is_cleared)
{
	setup();
	start(WORKER);
	run_becomes(1, "running||||active");
	told_are("SELECT id FROM session");
	ck_assert_int_eq(order("clear"), 0);
	run_becomes(1, "ended|stopped||15|terminated");
	ck_assert_int_eq(order("clear"), 1); /* it has ended */
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_restart_ends_one_agent_and_starts_another_with_the_same_prompt)
{
	setup();
	start(WORKER);
	run_becomes(1, "running||||active");
	told_are("SELECT id FROM session");
	ck_assert_int_eq(order("restart"), 0);
	run_becomes(1, "ended|stopped||15|terminated");
	run_becomes(2, "running||||active");
	told_are("SELECT id FROM session ORDER BY seq");
	expect("SELECT count(DISTINCT prompt) FROM agent_run", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_session_that_lost_its_agent_is_resumed_with_another_process)
{
	setup();
	start(WORKER);
	run_becomes(1, "running||||active");
	told_are("SELECT id FROM session");
	(void)kill(runner_of(1), SIGKILL);
	run_becomes(1, "ended|interrupted|||interrupted");
	ck_assert_int_eq(order("resume"), 0);
	run_becomes(2, "running||||active");
	told_are("SELECT s.id FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq");
	expect("SELECT count(*) FROM session", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_session_is_resumed_after_the_system_was_stopped)
{
	setup();
	start(WORKER);
	run_becomes(1, "running||||active");
	told_are("SELECT id FROM session");
	ck_assert_int_eq(site_stop(&site), 0);
	run_becomes(1, "ended|interrupted||15|interrupted");
	site_start(&site);
	ck_assert_int_eq(order("resume"), 0);
	run_becomes(2, "running||||active");
	ck_assert_int_eq(order("clear"), 0);
	run_becomes(2, "ended|stopped||15|terminated");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_cannot_be_started_ends_its_session_and_leaves_its_place)
{
	setup();
	given("UPDATE agent SET command = '/nowhere/agent' WHERE name = 'shell';"
	      "UPDATE setting SET value = '1' WHERE name = 'max_concurrent_sessions'");
	for (int run = 1; run <= 3; run++) {
		start("exit 0");
		run_becomes(run, "ended|failed|||terminated");
		ck_assert_ptr_nonnull(strstr(of_run(run, "why"), "/nowhere/agent"));
	}
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_session_that_is_cleared_at_once_leaves_no_agent)
{
	setup();
	for (int run = 1; run <= 5; run++) {
		start(WORKER);
		ck_assert_int_eq(order("clear"), 0);
	}
	expect_soon("SELECT state, outcome, count(*) FROM agent_run GROUP BY 1, 2",
	            "ended|stopped|5\n");
	expect("SELECT DISTINCT status FROM session", "terminated\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_orders");
	TCase *c = store_case(s, "orders", 120);

	tcase_add_test(c, an_agent_works_in_the_session_that_was_ordered_until_that_is_cleared);
	tcase_add_test(c, a_restart_ends_one_agent_and_starts_another_with_the_same_prompt);
	tcase_add_test(c, a_session_that_lost_its_agent_is_resumed_with_another_process);
	tcase_add_test(c, a_session_is_resumed_after_the_system_was_stopped);
	tcase_add_test(c, an_agent_that_cannot_be_started_ends_its_session_and_leaves_its_place);
	tcase_add_test(c, a_session_that_is_cleared_at_once_leaves_no_agent);
	return run_suite(s);
}
