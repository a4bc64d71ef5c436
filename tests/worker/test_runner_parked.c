/* An agent whose process ends while its question waits, and which the answer starts again. The
 * agent is tests/fakes/claude.sh, whose hooks are the real ones. */
#include "runner_case.h"

#include "agent.h"
#include "err.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A system with such an agent, which parks at once. more: of its environment; settings: lines of
 * the configuration. */
static void a_system(const char *more, const char *settings)
{
	OWNED(str) struct str config = { 0 };

	fresh_store();
	str_addf(&config,
	         "%s[gate]\npark_after_seconds = 0\n"
	         "[[agent]]\nname = \"parks\"\ncommand = \"%s/tests/fakes/claude.sh\"\n"
	         "args = [\"-p\"]\nenv = [\"HOOK=%s/hook\", \"DATABASE=%s\"%s]\n",
	         settings, getenv("INTERCOM_SOURCE"), getenv("INTERCOM_BUILD"), test_db(), more);
	site = site_make(config.bytes);
	site_start(&site);
}

/* Orders a session of it, whose model runs this. */
static void ordered(const char *command, const char *park)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO command (verb, argument) VALUES ('session-start',"
	         " '{\"agent\":\"parks\",\"prompt\":\"%s\"%s}')",
	         command, park);
	given(str_text(&sql));
}

static void order(const char *verb, int session)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, session_id) SELECT '%s', id FROM session"
	               " WHERE seq = %d",
	               verb, session);
	given(sql);
	expect("SELECT outcome FROM command ORDER BY seq DESC LIMIT 1", "done\n");
}

static void is_parked(int run)
{
	run_becomes(run, "ended|parked|0||parked");
	ck_assert_int_ne(kill(atoi(of_run(run, "pid")), 0), 0);
	expect("SELECT count(*) FROM request WHERE state = 'pending'", "1\n");
}

static bool is_there(const char *name)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "%s/%s", site.workspace, name);
	return access(path, F_OK) == 0;
}

static void heard(const char *text)
{
	OWNED(char_ptr) char *all = file_with_lines("heard", 1);

	says(all, text);
}

static void a_parked_agent(void)
{
	a_system("", "");
	ordered("touch done", "");
	is_parked(1);
	ck_assert(!is_there("done"));
}

/* It was started again, once, and has done what was approved, once. */
static void it_went_on(int run)
{
	run_becomes(run, "ended|exited|0||terminated");
	ck_assert(is_there("done"));
	heard("resume allowed");
	expect("SELECT decision, parks FROM gate_call WHERE moment = 'pre_tool' ORDER BY seq",
	       "defer|1\nallow|0\n");
	expect("SELECT seen FROM gate_call WHERE decision = 'allow'", "same\n");
	expect("SELECT count(*) FROM gate_amiss", "0\n");
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT count(*) FROM session", "1\n");
}

START_TEST(an_agent_is_parked_approved_and_goes_on)
{
	a_parked_agent();
	expect("SELECT request_id = (SELECT id FROM request), is_open FROM parked_session",
	       "1|1\n");
	decide("approve", "NULL, NULL");
	it_went_on(2);
	expect("SELECT generation, prompt, resumes_seq = (SELECT parked_seq FROM agent_run"
	       " WHERE generation = 1) FROM agent_run WHERE generation = 2",
	       "2||1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_rejection_is_told_to_the_agent_that_went_on)
{
	a_parked_agent();
	decide("reject", "'not this one', NULL");
	run_becomes(2, "ended|exited|0||terminated");
	heard("not this one");
	ck_assert(!is_there("done"));
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_question_that_expires_resumes_its_agent_to_be_told_so)
{
	a_parked_agent();
	given("UPDATE request SET deadline_at = '2026-01-01T00:00:00.000Z';"
	      "INSERT INTO decision (request_id, verdict, operator_id, source)"
	      " SELECT id, 'timeout', 'system:clock', 'timeout' FROM request");
	run_becomes(2, "ended|exited|0||terminated");
	heard("in time");
	expect("SELECT state FROM request", "expired\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_is_parked_outlives_a_kill_of_everything)
{
	a_parked_agent();
	site_kill(&site);
	decide("approve", "NULL, NULL");
	ck_assert(!is_there("done"));
	site_start(&site);
	it_went_on(2);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_is_parked_outlives_a_stop_and_its_question_stays_open)
{
	a_parked_agent();
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT r.state, s.status FROM request AS r JOIN session AS s"
	       " ON s.seq = r.session_seq",
	       "pending|parked\n");
	site_start(&site);
	decide("approve", "NULL, NULL");
	it_went_on(2);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_stop_of_a_parked_session_starts_nothing)
{
	a_parked_agent();
	order("stop", 1);
	expect("SELECT status FROM session", "terminated\n");
	expect("SELECT state FROM request", "rejected\n");
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT count(*) FROM agent_run", "1\n");
}
END_TEST

START_TEST(a_paused_session_goes_on_when_it_is_resumed)
{
	a_parked_agent();
	order("pause", 1);
	decide("approve", "NULL, NULL");
	order("resume", 1);
	it_went_on(2);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_parked_session_leaves_its_place_to_another_and_waits_for_one)
{
	a_system("", "max_concurrent_sessions = 1\n");
	ordered("touch done", "");
	is_parked(1);
	ordered("sleep 1000", ", \"park\": \"never\"");
	expect("SELECT outcome FROM command ORDER BY seq DESC LIMIT 1", "done\n");
	expect_soon("SELECT count(*) FROM request WHERE state = 'pending' AND session_seq = 2",
	            "1\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request"
	      " WHERE session_seq = 1");
	ordered("true", "");
	expect("SELECT outcome FROM command ORDER BY seq DESC LIMIT 1", "refused\n");
	expect("SELECT count(*), max(status) FROM agent_run AS r JOIN session AS s"
	       " ON s.seq = r.session_seq WHERE session_seq = 1",
	       "1|parked\n");
	expect_soon("SELECT text FROM agent_line WHERE run_seq = 1 AND kind = 'note'",
	            "The question is answered. The agent goes on as soon as another session ends: "
	            "1 run already (max_concurrent_sessions).\n");
	order("stop", 2);
	run_becomes(3, "ended|exited|0||terminated");
	ck_assert(is_there("done"));
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_session_waits_while_the_budget_of_the_day_is_used_up)
{
	a_system("", "[budget]\nday = \"5 tokens\"\n");
	ordered("touch done", "");
	is_parked(1);
	given("INSERT INTO agent_usage (run_seq, day, total_tokens, updated_at)"
	      " VALUES (1, date('now', 'localtime'), 6, '2026-01-01T00:00:00.000Z')");
	decide("approve", "NULL, NULL");
	expect_soon("SELECT text, detail FROM agent_line WHERE run_seq = 1 AND kind = 'note'",
	            "The question is answered. The budget of the day (5 tokens) is used up: the "
	            "agent goes on tomorrow, or with `session-resume` now.|"
	            "{\"waits\":true,\"paused\":true}\n");
	kill_and_await("watchdog"); /* the supervisor has looked at rows since */
	expect("SELECT count(*) FROM agent_run", "1\n");
	expect("SELECT count(*) FROM agent_line WHERE kind = 'note'", "1\n");
	order("resume", 1); /* its operator says so */
	it_went_on(2);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_cannot_go_on_is_interrupted_and_begins_again_with_the_answer)
{
	OWNED(char_ptr) char *why = NULL;
	char path[200];

	a_parked_agent();
	(void)snprintf(path, sizeof(path), "rm %s/deferred-*", site.workspace);
	ck_assert_int_eq(system(path), 0); /* NOLINT(cert-env33-c): a pattern of ours */
	decide("approve", "NULL, NULL");
	run_becomes(2, "ended|interrupted|1||interrupted");
	says(of_run(2, "why"), "ended without it");
	says(of_run(2, "stderr_tail"), "No deferred tool marker");
	order("resume", 1);
	run_becomes(3, "ended|exited|0||terminated");
	ck_assert(is_there("done"));
	heard("startup allowed");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* It was told to end, but waits as it would without the setting, and asks nothing anew. */
static void it_waits_in_its_process(void)
{
	ordered("touch done", "");
	expect_soon("SELECT g.decision, g.parks, t.state FROM gate_call AS g JOIN tool_call AS t"
	            " ON t.seq = g.call_seq WHERE g.request_seq IS NOT NULL ORDER BY g.seq",
	            "defer|1|done\nopen|0|waiting\n");
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT status FROM session", "active\n");
	decide("approve", "NULL, NULL");
	run_becomes(1, "ended|exited|0||terminated");
	ck_assert(is_there("done"));
	ck_assert_int_eq(site_stop(&site), 0);
}

START_TEST(one_of_several_calls_is_not_deferred)
{
	a_system(", \"CALLS=2\"", "");
	it_waits_in_its_process();
}
END_TEST

START_TEST(a_version_that_is_not_known_is_not_told_to_end)
{
	a_system(", \"VERSION=2.1.88\"", "");
	it_waits_in_its_process();
}
END_TEST

START_TEST(an_agent_may_be_parked_more_than_once_after_a_while)
{
	a_system("", "");
	ordered("touch done", ", \"park\": 1");
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	is_parked(1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_parked");
	TCase *c = store_case(s, "runner_parked", 60);

	tcase_add_test(c, an_agent_is_parked_approved_and_goes_on);
	tcase_add_test(c, a_rejection_is_told_to_the_agent_that_went_on);
	tcase_add_test(c, a_question_that_expires_resumes_its_agent_to_be_told_so);
	tcase_add_test(c, what_is_parked_outlives_a_kill_of_everything);
	tcase_add_test(c, what_is_parked_outlives_a_stop_and_its_question_stays_open);
	tcase_add_test(c, a_stop_of_a_parked_session_starts_nothing);
	tcase_add_test(c, a_paused_session_goes_on_when_it_is_resumed);
	tcase_add_test(c, a_parked_session_leaves_its_place_to_another_and_waits_for_one);
	tcase_add_test(c, a_session_waits_while_the_budget_of_the_day_is_used_up);
	tcase_add_test(c,
	               an_agent_that_cannot_go_on_is_interrupted_and_begins_again_with_the_answer);
	tcase_add_test(c, one_of_several_calls_is_not_deferred);
	tcase_add_test(c, a_version_that_is_not_known_is_not_told_to_end);
	tcase_add_test(c, an_agent_may_be_parked_more_than_once_after_a_while);
	return run_suite(s);
}
