/* Whole stories with Slack: a real agent asks over MCP, somebody answers in the (fake) Slack, and
 * the agent goes on. The whole system runs: supervisor, front, applier, listener, poster. */
#include "slack_story_case.h"

/* The alert's message, once Slack has it. kind: stall, or escalated. */
static char *alert_ts(const char *kind)
{
	OWNED(str) struct str sql = { 0 };
	OWNED(str) struct str known = { 0 };

	str_addf(&known, "SELECT count(*) FROM slack_message WHERE kind = '%s' AND ts IS NOT NULL",
	         kind);
	pass_time_until(str_text(&known), "1\n");
	str_addf(&sql, "SELECT ts FROM slack_message WHERE kind = '%s'", kind);
	char *ts = rows(str_text(&sql));

	ts[strcspn(ts, "\n")] = '\0';
	return ts;
}

/* An agent that has told of its progress, and then nothing more for five minutes. In this revision
 * its connection ends with it, so it is surely there. */
static struct agent a_silent_agent(const char *query)
{
	struct agent a;

	a_system_with_slack();
	advance(MINUTE + SECOND); /* in the first minute nothing happens */
	a = agent_hello(front_port(), query, "2024-11-05");
	free(agent_call(&a, "ping",
	                "{\"progress_snapshot\":[{\"label\":\"read the code\",\"status\":\"done\"},"
	                "{\"label\":\"write the tests\",\"status\":\"in_progress\"}]}"));
	given("UPDATE session SET prompt = 'implement <auth>'");
	advance(5 * MINUTE);
	return a;
}

static void shows_no_buttons(const char *ts, const char *words)
{
	OWNED(char_ptr) char *message = shown(ts);

	says(message, words);
	ck_assert_ptr_null(strstr(message, "\"actions\""));
}

START_TEST(a_silent_agent_is_told_of_in_slack_and_a_nudge_reaches_it_with_its_next_call)
{
	struct agent a = a_silent_agent("");
	OWNED(char_ptr) char *ts = alert_ts("stall");
	OWNED(char_ptr) char *message = shown(ts);
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *words = NULL;

	says(message, "Agent stalled");
	says(message, "idle for 5 min, last tool ping");
	says(message, "implement &lt;auth&gt;");
	says(message, "write the tests");
	says(message, "cannot be woken from outside");
	says(message, "<@U01OP>");
	edits_wait(3);
	press_and_wait(ts, "stall_nudge");
	expect("SELECT kind, source, delivered_at FROM steering", "nudge|slack|\n");
	press_and_wait(ts, "stall_nudge"); /* the buttons stand, Slack takes no edit now */
	expect("SELECT count(*) FROM steering", "1\n");
	all_is_said();
	whispered("Noted: the agent is");
	whispered("already nudged by <@U01OP>");
	shows_no_buttons(ts, "Nudged by <@U01OP>");

	answer = call_for_message(&a, "broadcast", "{\"message\":\"here\",\"level\":\"info\"}");
	words = said_in(answer);
	says(words, "The operator says (");
	says(words, "Continue working on the current task. Pick up where you left off.");
	expect("SELECT t.tool FROM steering AS s JOIN tool_call AS t ON t.seq = s.call_seq",
	       "broadcast\n");
	expect("SELECT count(*) FROM event WHERE kind = 'nudge.delivered'", "1\n");
	all_is_said();
	shows_no_buttons(ts, "Agent is back");
	end_system();
}
END_TEST

START_TEST(a_nudge_with_instructions_says_what_the_operator_typed)
{
	struct agent a = a_silent_agent("");
	OWNED(char_ptr) char *ts = alert_ts("stall");
	OWNED(char_ptr) char *pong = NULL;

	press(ts, "stall_nudge_instruct");
	(void)slack_wait_for("views.open");
	(void)slack_deliver(
	    "{'submit':{'values':{'instruction_block':{'instruction_text':'skip the docs'}}}}");
	expect_soon("SELECT kind, text, outcome FROM steering", "nudge|skip the docs|accepted\n");
	all_is_said();
	shows_no_buttons(ts, "Nudged by <@U01OP>");
	pong = agent_call(&a, "ping", "{}");
	has(pong, "pending_steering.0", "skip the docs");
	expect("SELECT status, nudge_count, nudge_message FROM stall_alert",
	       "self_recovered|1|skip the docs\n");
	end_system();
}
END_TEST

/* As its form says to do who does not see it. */
START_TEST(a_nudge_in_words_is_one_where_an_agent_is_silent_and_a_sentence_elsewhere)
{
	struct agent a = a_silent_agent("");
	OWNED(char_ptr) char *ts = alert_ts("stall");
	OWNED(char_ptr) char *head = ts_of("session");
	OWNED(char_ptr) char *id = rows("SELECT substr(id, 1, 13) FROM session");

	id[strcspn(id, "\n")] = '\0';
	(void)slack_acked("{'message':{'text':'nudge skip the docs','thread_ts':'%s'}}", head);
	expect("SELECT kind, text, outcome FROM steering", "nudge|skip the docs|accepted\n");
	all_is_said();
	shows_no_buttons(ts, "Nudged by <@U01OP>");
	free(agent_call(&a, "ping", "{}"));
	(void)slack_acked("{'message':{'text':'nudge it to the left','thread_ts':'%s'}}", head);
	(void)slack_acked("{'message':{'text':'nudge %s go on','thread_ts':'%s'}}", id, head);
	expect("SELECT kind, text, outcome FROM steering",
	       "nudge|skip the docs|accepted\nsteer|nudge it to the left|accepted\n"
	       "nudge|go on|accepted\n");
	end_system();
}
END_TEST

START_TEST(the_stop_button_of_an_alert_ends_the_session)
{
	struct agent a = a_silent_agent("");
	OWNED(char_ptr) char *ts = alert_ts("stall");
	OWNED(char_ptr) char *refused = NULL;
	struct wire w;

	press_and_wait(ts, "stall_stop");
	expect("SELECT status FROM session", "terminated\n");
	expect("SELECT status FROM stall", "dismissed\n");
	all_is_said();
	shows_no_buttons(ts, "Agent was silent");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'ended' AND state = 'sent'", "1\n");
	agent_begin(&a, &w, "ping", "{}", NULL);
	refused = agent_message(&w);
	wire_close(&w);
	says(member(refused, "error.message"), "has been terminated");
	end_system();
}
END_TEST

START_TEST(an_agent_that_goes_on_by_itself_takes_the_buttons_away_and_a_later_click_is_too_late)
{
	struct agent a = a_silent_agent("");
	OWNED(char_ptr) char *ts = alert_ts("stall");

	edits_wait(3);
	free(agent_call(&a, "broadcast", "{\"message\":\"here\",\"level\":\"info\"}"));
	expect("SELECT status, nudge_count FROM stall", "self_recovered|0\n");
	press_and_wait(ts, "stall_nudge");
	press_and_wait(ts, "stall_stop");
	press_and_wait(ts, "stall_nudge_instruct");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT status FROM session", "active\n");
	all_is_said();
	whispered("too late: the agent is active again since ");
	shows_no_buttons(ts, "Agent is back");
	end_system();
}
END_TEST

START_TEST(an_alert_that_nobody_answers_is_followed_by_nudges_and_one_call_to_the_channel)
{
	struct agent a = a_silent_agent("");
	OWNED(char_ptr) char *ts = alert_ts("stall");
	OWNED(char_ptr) char *call = NULL;
	OWNED(char_ptr) char *message = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *words = NULL;

	for (int i = 1; i <= 3; i++) {
		OWNED(str) struct str sql = { 0 };

		advance(2 * MINUTE);
		str_addf(&sql, "SELECT count(*) = %d FROM slack_message WHERE kind = 'nudged'", i);
		expect_soon(str_text(&sql), "1\n");
	}
	all_is_said();
	message = shown(ts);
	says(message, "nudged 3 times");
	says(message, "stall_nudge_instruct"); /* it is still to be decided */
	advance(2 * MINUTE);
	call = alert_ts("escalated");
	all_is_said();
	free(message);
	message = shown(call);
	says(message, "<!channel>");
	says(message, "Agent does not respond");
	says(message, "stall_stop");
	shows_no_buttons(ts, "see the call below");
	advance(60 * MINUTE);
	all_is_said();
	expect("SELECT kind, count(*) FROM slack_message WHERE kind IN ('stall', 'nudged', "
	       "'escalated') GROUP BY 1",
	       "escalated|1\nnudged|3\nstall|1\n");
	answer = call_for_message(&a, "broadcast", "{\"message\":\"here\",\"level\":\"info\"}");
	words = said_in(answer);
	says(words, "You were silent for long, so agent-intercom says (");
	all_is_said();
	shows_no_buttons(ts, "Agent is back");
	shows_no_buttons(call, "Agent is back");
	end_system();
}
END_TEST

START_TEST(an_agent_that_asked_for_it_is_not_watched)
{
	OWNED(char_ptr) char *pong = NULL;
	struct agent a = a_silent_agent("?stall=off"), b;

	b = agent_hello(front_port(), "?agent=other", "2025-11-25");
	free(agent_call(&b, "ping", "{}"));
	advance(5 * MINUTE);
	free(alert_ts("stall"));
	expect("SELECT session_seq FROM stall", "2\n");
	pong = agent_call(&a, "ping", "{}");
	has(pong, "stall_detection_enabled", "false");
	end_system();
}
END_TEST

START_TEST(each_silent_agent_has_its_own_alert_that_names_its_session)
{
	struct agent a[3];
	OWNED(char_ptr) char *texts = NULL;

	a_system_with_slack();
	advance(MINUTE + SECOND);
	for (int i = 0; i < 3; i++) {
		a[i] = agent_hello(front_port(), "", "2025-11-25");
		free(agent_call(&a[i], "ping", "{}"));
	}
	advance(5 * MINUTE);
	pass_time_until(
	    "SELECT count(*) FROM slack_message WHERE kind = 'stall' AND ts IS NOT NULL", "3\n");
	texts =
	    rows("SELECT m.ts || ' ' || substr(s.id, 1, 13) FROM slack_message AS m JOIN session "
	         "AS s ON s.seq = m.session_seq WHERE m.kind = 'stall'");
	for (char *rest = texts, *line; (line = strtok_r(rest, "\n", &rest));) {
		OWNED(char_ptr) char *ts = xstrdup(line);
		OWNED(char_ptr) char *message = NULL;

		ts[strcspn(ts, " ")] = '\0';
		message = shown(ts);
		says(message, strchr(line, ' ') + 1);
	}
	end_system();
}
END_TEST

START_TEST(an_alert_outlives_a_restart_with_its_buttons)
{
	struct agent a = a_silent_agent("");
	OWNED(char_ptr) char *ts = alert_ts("stall");
	OWNED(char_ptr) char *pong = NULL;

	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT status FROM stall", "pending\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	press_and_wait(ts, "stall_nudge");
	expect("SELECT status FROM stall", "nudged\n");
	a.port = front_port();
	pong = agent_call(&a, "ping", "{}");
	has(pong, "pending_steering.0",
	    "Continue working on the current task. Pick up where you left off.");
	expect("SELECT status FROM stall", "self_recovered\n");
	end_system();
}
END_TEST

START_TEST(what_ctl_shows_and_does_about_a_silent_agent)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *pong = NULL;
	OWNED(char_ptr) char *session = NULL;
	struct agent a;

	fresh_store();
	site = site_make("[stall]\ninactivity_threshold_seconds = 120\n");
	site_start(&site);
	advance(MINUTE + SECOND);
	ck_assert_int_eq(ctl(&said, "--text stall"), 0);
	says(str_text(&said), "no agent is silent");
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	advance(2 * MINUTE);
	expect_soon("SELECT status FROM stall", "pending\n");
	session = rows("SELECT id FROM session");
	session[strcspn(session, "\n")] = '\0';

	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "--text stall"), 0);
	says(str_text(&said), "LAST TOOL");
	says(str_text(&said), "pending");
	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "--json stall"), 0);
	has(str_text(&said), "alerts.0.session_id", session);
	str_reset(&said);
	(void)ctl(&said, "--text health");
	says(str_text(&said), "1 stalled");
	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "--text nudge %s wake up", session), 0);
	says(str_text(&said), "with its next step");
	expect("SELECT status, nudge_message FROM stall", "nudged|wake up\n");
	pong = agent_call(&a, "ping", "{}");
	has(pong, "pending_steering.0", "wake up");
	ck_assert_int_eq(ctl(NULL, "stall off %s", session), 0);
	free(pong);
	pong = agent_call(&a, "ping", "{}");
	has(pong, "stall_detection_enabled", "false");
	advance(10 * MINUTE);
	ck_assert_int_eq(ctl(NULL, "stall on %s", session), 0);
	ck_assert_int_ne(ctl(NULL, "stall on"), 0);
	ck_assert_int_ne(ctl(NULL, "stall maybe %s", session), 0);
	expect("SELECT count(*) FROM stall", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

static void given_stall_of_a_relay(struct relay *r)
{
	fresh_store();
	site = site_make("[stall]\ninactivity_threshold_seconds = 120\n");
	site_start(&site);
	advance(MINUTE + SECOND);
	*r = given_relay(&site);
	free(relay_call(r, "ping", "{}"));
	advance(2 * MINUTE);
	expect_soon("SELECT status FROM stall", "pending\n");
}

START_TEST(a_nudge_is_said_at_once_on_the_open_stream_of_an_agent_and_told_with_its_next_call)
{
	OWNED(char_ptr) char *said = NULL;
	OWNED(char_ptr) char *level = NULL;
	OWNED(char_ptr) char *wrong = NULL;
	OWNED(char_ptr) char *pong = NULL;
	struct relay r;

	given_stall_of_a_relay(&r);
	ck_assert_int_eq(
	    ctl(NULL, "nudge $(sqlite3 '%s' 'SELECT id FROM session') wake up", test_db()), 0);
	said = relay_line(&r);
	has(said, "method", "notifications/message");
	has(said, "params.level", "warning");
	has(said, "params.data", "wake up");
	expect("SELECT status, told_count, streamed_at IS NOT NULL FROM stall", "nudged|1|1\n");
	expect("SELECT delivered_at FROM steering", "\n"); /* that is not a delivery */
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":90,\"method\":\"logging/setLevel\","
	               "\"params\":{\"level\":\"loud\"}}");
	wrong = relay_line(&r);
	has(wrong, "error.code", "-32602");
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":91,\"method\":\"logging/setLevel\","
	               "\"params\":{\"level\":\"error\"}}");
	level = relay_line(&r);
	has(level, "id", "91");
	ck_assert_int_eq(ctl(NULL, "nudge $(sqlite3 '%s' 'SELECT id FROM session')", test_db()), 0);
	expect_soon("SELECT told_count FROM stall", "2\n");
	pong = relay_call(&r, "ping", "{}"); /* nothing was said in between */
	has(pong, "pending_steering.0", "wake up");
	has(pong, "pending_steering.1",
	    "Continue working on the current task. Pick up where you left off.");
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_on_stdio_that_is_silent_over_a_crash_of_everything_is_noticed)
{
	struct relay r;

	fresh_store();
	site = site_make("[stall]\ninactivity_threshold_seconds = 300\n");
	site_start(&site);
	r = given_relay(&site);
	free(relay_call(&r, "ping", "{}"));
	advance(3 * MINUTE);
	expect_soon("SELECT max(heartbeat_at) > (SELECT strftime('%Y-%m-%dT%H:%M:%fZ',"
	            " last_activity_at, '+170 seconds') FROM session) FROM worker"
	            " WHERE name = 'watchdog'",
	            "1\n");
	site_kill(&site);
	site_start(&site);
	expect_soon("SELECT state FROM connection", "open\n"); /* its relay is back */
	advance(MINUTE + SECOND);
	expect("SELECT count(*) FROM stall", "0\n");
	advance(MINUTE);
	expect_soon("SELECT status, idle_seconds BETWEEN 240 AND 310 FROM stall", "pending|1\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	expect_soon("SELECT status FROM stall", "dismissed\n");
	expect("SELECT connectivity_status FROM session", "offline\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_stalls");
	TCase *stalls = store_case(s, "slack_stalls", 60);

	tcase_add_test(
	    stalls, a_silent_agent_is_told_of_in_slack_and_a_nudge_reaches_it_with_its_next_call);
	tcase_add_test(stalls, a_nudge_with_instructions_says_what_the_operator_typed);
	tcase_add_test(stalls,
	               a_nudge_in_words_is_one_where_an_agent_is_silent_and_a_sentence_elsewhere);
	tcase_add_test(stalls, the_stop_button_of_an_alert_ends_the_session);
	tcase_add_test(
	    stalls,
	    an_agent_that_goes_on_by_itself_takes_the_buttons_away_and_a_later_click_is_too_late);
	tcase_add_test(
	    stalls, an_alert_that_nobody_answers_is_followed_by_nudges_and_one_call_to_the_channel);
	tcase_add_test(stalls, an_agent_that_asked_for_it_is_not_watched);
	tcase_add_test(stalls, each_silent_agent_has_its_own_alert_that_names_its_session);
	tcase_add_test(stalls, an_alert_outlives_a_restart_with_its_buttons);
	tcase_add_test(stalls, what_ctl_shows_and_does_about_a_silent_agent);
	tcase_add_test(
	    stalls,
	    a_nudge_is_said_at_once_on_the_open_stream_of_an_agent_and_told_with_its_next_call);
	tcase_add_test(stalls,
	               an_agent_on_stdio_that_is_silent_over_a_crash_of_everything_is_noticed);
	return run_suite(s);
}
