/* Whole stories with Slack: a real agent asks over MCP, somebody answers in the (fake) Slack, and
 * the agent goes on. The whole system runs: supervisor, front, applier, listener, poster. */
#include "slack_story_case.h"

/* ---- who is first ---- */

enum { ROUNDS = 30 };

/* Who answers at the terminal. */
static char *terminal(void)
{
	char *name = rows("SELECT user_id FROM operator WHERE is_default = 1");

	name[strcspn(name, "\n")] = '\0';
	return name;
}

/* The buttons are gone, and it says what came of it; by whom: NULL for nobody, "" at the terminal.
 */
static void shows_verdict(const char *ts, const char *verdict, const char *by)
{
	OWNED(char_ptr) char *message = shown(ts);
	OWNED(char_ptr) char *name = terminal();
	OWNED(str) struct str words = { 0 };

	str_add(&words, verdict);
	if (by)
		str_addf(&words, "* by %s", *by ? by : name);
	says(message, str_text(&words));
	ck_assert_ptr_null(strstr(message, "\"actions\""));
}

/* ctl starts, and so many ms later the button is pressed: of all the ways in which they can meet,
 * another one each time. What ctl said, and its status. */
static int at_once(int ms, const char *id, const char *ts, struct str *said)
{
	char command[700];
	FILE *p;

	(void)snprintf(command, sizeof(command),
	               "'%s/agent-intercom-ctl' --db '%s' approve %s 2>&1",
	               getenv("INTERCOM_BUILD"), test_db(), id);
	p = popen(command, "r");
	ck_assert_ptr_nonnull(p);
	(void)poll(NULL, 0, ms);
	press(ts, "approve_accept");
	for (int c; (c = fgetc(p)) != EOF;)
		str_add_char(said, (char)c);
	return pclose(p);
}

/* The decisions on a request came out like this, a line each. */
static void expect_outcomes(const char *id, const char *text)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "SELECT outcome || CASE outcome WHEN 'applied' THEN ' ' || source ELSE '' END "
	         "FROM decision WHERE request_id = '%s' ORDER BY outcome",
	         id);
	expect(str_text(&sql), text);
}

/* One round: one of them counts, the other is told who was first. */
static void race(int round, const char *id, const char *ts)
{
	OWNED(str) struct str said = { 0 };
	int status = at_once(round, id, ts, &said);

	(void)slack_wait_for("ack");
	if (status != 0) {
		expect_outcomes(id, "applied slack\nduplicate\n");
		says(str_text(&said), "already approved by slack:T01TEAM:U01OP");
		return;
	}
	expect_outcomes(id, "applied ctl\nduplicate\n");
	pass_time_until("SELECT count(*) FROM slack_outbox WHERE kind = 'ephemeral' AND "
	                "state <> 'sent'",
	                "0\n");
	whispered("already approved by local:");
}

START_TEST(a_click_and_ctl_at_the_same_instant_are_one_decision)
{
	OWNED(char_ptr) char *open = NULL;
	char *rest = NULL;
	struct agent a;
	struct wire w[ROUNDS];
	int round = 0;

	a = an_agent_in_hybrid_mode();
	for (int i = 0; i < ROUNDS; i++) {
		OWNED(char_ptr) char *asked = NULL;
		char name[20];

		(void)snprintf(name, sizeof(name), "f%d", i);
		asked = proposal(name, "hello\n");
		agent_begin(&a, &w[i], "check_clearance", asked, NULL);
	}
	arrived("request", ROUNDS);
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL",
	                "30\n");
	open = rows("SELECT r.id || ' ' || m.ts FROM slack_message AS m "
	            "JOIN request AS r ON r.seq = m.request_seq WHERE m.kind = 'ask'");
	for (char *line = strtok_r(open, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line[36] = '\0';
		race(round++, line, line + 37);
		line[36] = ' ';
	}
	ck_assert_int_eq(round, ROUNDS);
	for (int i = 0; i < ROUNDS; i++) {
		OWNED(char_ptr) char *answer = agent_end(&w[i]);

		has(answer, "status", "approved");
	}
	all_is_said();
	free(open);
	open = rows("SELECT (d.source = 'ctl') || m.ts FROM slack_message AS m "
	            "JOIN request AS r ON r.seq = m.request_seq "
	            "JOIN decision AS d ON d.seq = r.decision_seq WHERE m.kind = 'ask'");
	for (char *line = strtok_r(open, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		shows_verdict(line + 1, "Approved", *line == '1' ? "" : "<@U01OP>");
	end_system();
}
END_TEST

START_TEST(in_hybrid_mode_the_first_answer_counts)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(str) struct str said = { 0 };
	struct agent a;
	struct wire w;

	a = an_agent_in_hybrid_mode();
	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"Go on?\"}", NULL);
	ts = ask_ts();
	edits_wait(2);
	ck_assert_int_eq(ctl(NULL, "stop $(sqlite3 '%s' 'SELECT id FROM request')", test_db()), 0);
	press_and_wait(ts, "prompt_continue");
	first = agent_end(&w);
	has(first, "decision", "stop");
	whispered("already answered with 'stop' by local:");
	all_is_said();
	shows_verdict(ts, "Stopped", "");

	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"And now?\"}", NULL);
	free(ts);
	arrived("request", 2);
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL",
	                "2\n");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask' ORDER BY seq DESC LIMIT 1");
	ts[strcspn(ts, "\n")] = '\0';
	press_and_wait(ts, "prompt_continue");
	ck_assert_int_eq(ctl(&said,
	                     "stop $(sqlite3 '%s' 'SELECT id FROM request ORDER BY seq DESC "
	                     "LIMIT 1') 2>&1",
	                     test_db()),
	                 1);
	says(str_text(&said), "already answered with 'continue' by slack:T01TEAM:U01OP");
	second = agent_end(&w);
	has(second, "decision", "continue");
	end_system();
}
END_TEST

START_TEST(in_remote_mode_ctl_is_told_so_and_the_click_counts)
{
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(str) struct str said = { 0 };
	struct agent a;
	struct wire w;

	a = an_agent_with_slack();
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	ck_assert_int_eq(
	    ctl(&said, "reject $(sqlite3 '%s' 'SELECT id FROM request') 2>&1", test_db()), 1);
	says(str_text(&said), "not in this mode: the session is in remote mode");
	expect("SELECT outcome FROM decision", "not_in_this_mode\n");
	expect("SELECT state FROM request", "pending\n");
	press_and_wait(ts, "approve_accept");
	answer = agent_end(&w);
	has(answer, "status", "approved");
	expect("SELECT outcome, source FROM decision ORDER BY seq",
	       "not_in_this_mode|ctl\napplied|slack\n");
	end_system();
}
END_TEST

START_TEST(a_click_after_the_deadline_is_too_late_and_is_told)
{
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *before = NULL;
	struct agent a;
	struct wire w;

	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n[timeouts]\napproval_seconds = 90\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	edits_wait(3);
	advance(91 * SECOND); /* nothing expires in the first minute */
	answer = agent_end(&w);
	has(answer, "status", "timeout");
	before = shown(ts);
	says(before, "approve_accept"); /* the buttons stand, Slack takes no edit now */
	press_and_wait(ts, "approve_accept");
	expect("SELECT outcome, source FROM decision ORDER BY seq",
	       "applied|timeout\ntoo_late|slack\n");
	whispered("too late: it expired at ");
	expect("SELECT state FROM request", "expired\n");
	all_is_said();
	shows_verdict(ts, "Expired", NULL);
	end_system();
}
END_TEST

/* The agent has asked, the system has ended and begun anew: the old message is answered once. */
static void old_message_after(bool crash)
{
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *ts = NULL;
	struct agent a;
	struct wire w;

	a = an_agent_with_slack();
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	if (crash)
		site_kill(&site);
	else
		ck_assert_int_eq(site_stop(&site), 0);
	wire_close(&w);
	site_start(&site);
	(void)slack_wait_for("hello");
	edits_wait(2);
	press_and_wait(ts, "approve_accept");
	whispered("The agent is not waiting at the moment; it gets this when it is back.");
	press_and_wait(ts, "approve_accept");
	whispered("already approved by <@U01OP> at ");
	expect("SELECT outcome, source FROM decision ORDER BY seq",
	       "applied|slack\nduplicate|slack\n");
	a.port = front_port();
	answer = agent_call(&a, "check_clearance", asked);
	has(answer, "status", "approved");
	all_is_said();
	expect("SELECT count(*) FROM slack_message WHERE kind = 'ask'", "1\n");
	shows_verdict(ts, "Approved", "<@U01OP>");
	end_system();
}

START_TEST(a_click_after_a_restart_counts_once)
{
	old_message_after(false);
}
END_TEST

START_TEST(a_click_after_a_crash_of_everything_counts_once)
{
	old_message_after(true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_races");
	TCase *races = store_case(s, "slack_races", 60);

	tcase_add_test(races, a_click_and_ctl_at_the_same_instant_are_one_decision);
	tcase_add_test(races, in_hybrid_mode_the_first_answer_counts);
	tcase_add_test(races, in_remote_mode_ctl_is_told_so_and_the_click_counts);
	tcase_add_test(races, a_click_after_the_deadline_is_too_late_and_is_told);
	tcase_add_test(races, a_click_after_a_restart_counts_once);
	tcase_add_test(races, a_click_after_a_crash_of_everything_counts_once);
	return run_suite(s);
}
