/* Whole stories with Slack: a real agent asks over MCP, somebody answers in the (fake) Slack, and
 * the agent goes on. The whole system runs: supervisor, front, applier, listener, poster. */
#include "agent.h"
#include "harness.h"
#include "jsonrpc.h"
#include "slack_peer.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECOND = 1000 };

static struct site site;

/* ---- given ---- */

static void slack_with(const char *more)
{
	fresh_store();
	slack_start();
	slack_credentials();
	site = site_make(more);
}

static void a_system_with_slack(void)
{
	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	(void)slack_wait_for("hello");
}

static void end(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}

/* The message with the buttons of the question that waits. */
static char *ask_ts(void)
{
	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL",
	            "1\n");
	char *ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask'");

	ts[strcspn(ts, "\n")] = '\0';
	return ts;
}

/* The second text of a tool's result, "" if there is none: what the operator says. */
static char *said_in(const char *message)
{
	return xstrdup(member(message, "result.content.1.text"));
}

static char *call_for_message(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	char *message = agent_message(&w);

	wire_close(&w);
	return message;
}

/* ---- stories ---- */

START_TEST(a_click_approves_and_the_file_is_written)
{
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(char_ptr) char *file = NULL;
	OWNED(str) struct str check = STR_INIT;
	struct agent a;
	struct wire w;

	a_system_with_slack();
	expect("SELECT value FROM setting WHERE name = 'mode'", "remote\n");
	a = agent_hello(front_port(), "", "2025-11-25");
	asked = proposal("hello.txt", "hello\n");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	(void)slack_deliver(
	    "{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'approve_accept'}}", ts);
	answer = agent_end(&w);
	has(answer, "status", "approved");
	str_addf(&check, "{\"request_id\":\"%s\"}", member(answer, "request_id"));
	applied = agent_call(&a, "check_diff", check.bytes);
	has(applied, "status", "applied");
	file = get_file(site.workspace, "hello.txt");
	ck_assert_pstr_eq(file, "hello\n");
	expect("SELECT outcome, source, operator_id FROM decision",
	       "applied|slack|slack:T01TEAM:U01OP\n");
	end();
}
END_TEST

START_TEST(a_reason_given_in_a_form_reaches_the_agent)
{
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	asked = proposal("hello.txt", "hello\n");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	(void)slack_deliver(
	    "{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'approve_reject'}}", ts);
	(void)slack_wait_for("views.open");
	(void)slack_deliver(
	    "{'submit':{'values':{'instruction_block':{'instruction_text':'not on a Friday'}}}}");
	answer = agent_end(&w);
	has(answer, "status", "rejected");
	has(answer, "reason", "not on a Friday");
	end();
}
END_TEST

START_TEST(what_is_said_in_the_thread_reaches_the_agent_once_and_in_order)
{
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *none = NULL;
	OWNED(char_ptr) char *words = NULL;
	struct agent a;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'session' AND ts IS NOT NULL",
	            "1\n");
	thread = rows("SELECT ts FROM slack_message WHERE kind = 'session'");
	thread[strcspn(thread, "\n")] = '\0';
	(void)slack_deliver("{'message':{'text':'leave the tests alone','thread_ts':'%s'}}",
	                    thread);
	(void)slack_deliver("{'message':{'text':'and hurry','user':'U02OP','thread_ts':'%s'}}",
	                    thread);
	expect_soon("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "2\n");
	first = agent_call(&a, "ping", "{}");
	has(first, "pending_steering.0", "leave the tests alone");
	has(first, "pending_steering.1", "and hurry");
	(void)slack_deliver("{'slash':{'text':'steer one more thing'}}");
	expect_soon("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "3\n");
	second = call_for_message(&a, "broadcast", "{\"message\":\"here\",\"level\":\"info\"}");
	words = said_in(second);
	says(words, "The operator says (");
	says(words, "): one more thing");
	none = call_for_message(&a, "ping", "{}");
	has(none, "result.content.1.text", "");
	has(none, "result.structuredContent.pending_steering", "");
	expect(
	    "SELECT count(*) FROM steering WHERE delivered_at IS NOT NULL AND call_seq IS NOT NULL",
	    "3\n");
	end();
}
END_TEST

START_TEST(an_agent_that_waits_hears_it_with_its_answer_and_is_told_once)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;
	OWNED(char_ptr) char *words = NULL;
	OWNED(char_ptr) char *none = NULL;
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	struct agent a;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	(void)slack_deliver("{'slash':{'text':'steer mind the gap'}}");
	expect_soon("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "1\n");
	expect("SELECT delivered_at IS NULL FROM steering", "1\n");
	(void)slack_deliver(
	    "{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'approve_accept'}}", ts);
	message = agent_message(&w);
	wire_close(&w);
	words = said_in(message);
	says(words, "): mind the gap");
	none = call_for_message(&a, "broadcast", "{\"message\":\"here\",\"level\":\"info\"}");
	has(none, "result.content.1.text", "");
	expect_soon("SELECT t.tool FROM steering AS s JOIN tool_call AS t ON t.seq = s.call_seq",
	            "check_clearance\n");
	end();
}
END_TEST

START_TEST(a_task_is_told_to_the_next_agent)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a;

	a_system_with_slack();
	(void)slack_deliver("{'slash':{'text':'task write the docs'}}");
	expect_soon("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "1\n");
	a = agent_hello(front_port(), "", "2025-11-25");
	told = agent_call(&a, "reboot", "{}");
	has(told, "status", "clean");
	has(told, "pending_tasks.0.message", "write the docs");
	has(told, "pending_tasks.0.source", "slack");
	end();
}
END_TEST

START_TEST(a_paused_agent_waits_at_its_next_call)
{
	OWNED(char_ptr) char *pong = NULL;
	struct agent a, other;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	(void)slack_deliver("{'slash':{'text':'pause'}}");
	expect_soon("SELECT status FROM session", "paused\n");
	agent_begin(&a, &w, "ping", "{}", NULL);
	other = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&other, "ping", "{}"));
	expect("SELECT count(*) FROM tool_call WHERE session_seq = 1",
	       "1\n"); /* nothing happened */
	(void)slack_deliver("{'slash':{'text':'resume'}}");
	pong = agent_end(&w);
	has(pong, "acknowledged", "true");
	expect("SELECT count(*) FROM pause WHERE ended_at IS NOT NULL", "1\n");
	end();
}
END_TEST

START_TEST(a_pause_that_lasts_is_told_in_words)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a, other;
	struct wire w;

	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n[mcp]\nwait_cap = 5\n");
	site_start(&site);
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	given_mode("hybrid");
	ck_assert_int_eq(
	    ctl(NULL, "session pause $(sqlite3 '%s' 'SELECT id FROM session')", test_db()), 0);
	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"Go on?\"}", NULL);
	other = agent_hello(front_port(), "?agent=other", "2025-11-25");
	free(agent_call(&other, "ping", "{}"));
	advance(6 * SECOND);
	told = agent_end(&w);
	has(told, "error_code", "session_paused");
	expect("SELECT count(*) FROM request", "0\n");
	end();
}
END_TEST

START_TEST(a_pause_outlives_a_restart)
{
	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	(void)slack_deliver("{'slash':{'text':'pause'}}");
	expect_soon("SELECT status FROM session", "paused\n");
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT status, connectivity_status FROM session", "paused|offline\n");
	expect("SELECT count(*) FROM pause WHERE ended_at IS NULL", "1\n");
	slack_stop();
}
END_TEST

START_TEST(a_stop_answers_what_is_asked_and_ends_the_session)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *refused = NULL;
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	struct agent a;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	free(ask_ts());
	(void)slack_deliver("{'slash':{'text':'stop'}}");
	answer = agent_end(&w);
	has(answer, "status", "rejected");
	has(answer, "reason", "the session was stopped");
	agent_begin(&a, &w, "ping", "{}", NULL);
	refused = agent_message(&w);
	wire_close(&w);
	says(member(refused, "error.message"), "has been terminated");
	end();
}
END_TEST

START_TEST(what_ctl_says_reaches_the_agent_too)
{
	OWNED(str) struct str said = STR_INIT;
	OWNED(char_ptr) char *told = NULL;
	struct agent a;

	fresh_store();
	site = site_make("");
	site_start(&site);
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	ck_assert_int_eq(ctl(&said,
	                     "--text steer $(sqlite3 '%s' 'SELECT id FROM session') mind the gap",
	                     test_db()),
	                 0);
	ck_assert_str_eq(str_text(&said), "Noted: the agent is told with its next step.\n");
	told = agent_call(&a, "ping", "{}");
	has(told, "pending_steering.0", "mind the gap");
	ck_assert_int_eq(ctl(NULL, "steer 0000-none hello"), 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(each_worker_has_its_own_token_for_as_long_as_it_needs_it)
{
	OWNED(str) struct str seen = STR_INIT;

	a_system_with_slack();
	ck_assert_int_ne(worker_pid("slack-poster"), 0);
	(void)shell(&seen,
	            "for p in %d %d %d %d; do cat /proc/$p/environ /proc/$p/cmdline; done | "
	            "tr '\\0' '\\n'",
	            (int)site.pid, (int)worker_pid("slack-poster"),
	            (int)worker_pid("slack-listener"), (int)worker_pid("mcp-front"));
	ck_assert_ptr_null(strstr(str_text(&seen), "xapp-"));
	ck_assert_ptr_null(strstr(str_text(&seen), "xoxb-"));
	expect("SELECT id, active FROM operator WHERE kind = 'slack' ORDER BY id",
	       "slack:T01TEAM:U01OP|1\nslack:T01TEAM:U02OP|1\n");
	kill_and_await("slack-listener");
	kill_and_await("slack-poster");
	(void)slack_wait_for("hello");
	end();
}
END_TEST

START_TEST(who_is_no_member_any_more_may_not_answer)
{
	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)setenv("SLACK_MEMBER_IDS", "U02OP", 1);
	site_start(&site);
	expect("SELECT user_id, active FROM operator WHERE kind = 'slack' ORDER BY id",
	       "U01OP|0\nU02OP|1\n");
	end();
}
END_TEST

START_TEST(what_is_wrong_with_the_settings_is_said_and_agents_are_served)
{
	static const struct {
		const char *variable, *value, *said;
	} CASES[] = {
		{ "SLACK_APP_TOKEN", SLACK_FAKE_BOT_TOKEN,
		  "SLACK_APP_TOKEN must begin with xapp-, this is the bot token" },
		{ "SLACK_BOT_TOKEN", SLACK_FAKE_APP_TOKEN,
		  "SLACK_BOT_TOKEN must begin with xoxb-, this is the app token" },
		{ "SLACK_BOT_TOKEN", "", "SLACK_BOT_TOKEN is not set, SLACK_APP_TOKEN is" },
		{ "SLACK_MEMBER_IDS", "", "SLACK_MEMBER_IDS is not set: nobody could answer" },
		{ "SLACK_MEMBER_IDS", "U01OP,@ann", "'@ann' is no member id" },
		{ "SLACK_API_URL", "http://192.0.2.1/api/",
		  "SLACK_API_URL must begin with https://" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *log = NULL;

		slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
		(void)setenv(CASES[i].variable, CASES[i].value, 1);
		site_start(&site);
		log = get_file(site.home, "log");
		says(log, CASES[i].said);
		ck_assert_ptr_null(strstr(log, SLACK_FAKE_APP_TOKEN));
		expect("SELECT value FROM setting WHERE name IN ('mode', 'slack.configured') "
		       "ORDER BY name",
		       "local\nfalse\n");
		ck_assert_int_eq((int)worker_pid("slack-listener"), 0);
		end();
	}
}
END_TEST

/* ---- who is first ---- */

enum { ROUNDS = 30 };

static void press(const char *ts, const char *button)
{
	(void)slack_deliver("{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'%s'}}", ts,
	                    button);
}

/* Presses it and waits until that is acknowledged: what follows from it is committed then. */
static void press_and_wait(const char *ts, const char *button)
{
	press(ts, button);
	(void)slack_wait_for("ack");
}

/* Who answers at the terminal. */
static char *terminal(void)
{
	char *name = rows("SELECT user_id FROM operator WHERE is_default = 1");

	name[strcspn(name, "\n")] = '\0';
	return name;
}

/* Time passes until the query has this result: what is said keeps a pace. */
static void pass_time_until(const char *sql, const char *text)
{
	int64_t end = agent_ms() + 2 * (int64_t)AGENT_PATIENCE_MS;
	OWNED(char_ptr) char *have = rows(sql);

	while (strcmp(have, text) != 0 && agent_ms() < end) {
		advance(SECOND / 2);
		(void)poll(NULL, 0, 20); /* for the workers, not for the clock */
		free(have);
		have = rows(sql);
	}
	expect(sql, text);
}

/* Slack shows what the rows say. */
static void all_is_said(void)
{
	pass_time_until("SELECT count(*) FROM slack_outbox WHERE state IN ('queued', 'sending', "
	                "'doubtful')",
	                "0\n");
}

/* The message as Slack shows it. */
static char *shown(const char *ts)
{
	const char *all = slack_ask("messages?channel=C01AGENTS");
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(all);
	const cJSON *message;

	cJSON_ArrayForEach (message, cJSON_GetObjectItem(root, "messages")) {
		const char *have = cJSON_GetStringValue(cJSON_GetObjectItem(message, "ts"));

		if (have && strcmp(have, ts) == 0)
			return cJSON_PrintUnformatted(message);
	}
	ck_abort_msg("Slack shows no message %s:\n%s", ts, all);
}

/* The buttons are gone, and it says what came of it; by whom: NULL for nobody, "" at the terminal.
 */
static void shows_verdict(const char *ts, const char *verdict, const char *by)
{
	OWNED(char_ptr) char *message = shown(ts);
	OWNED(char_ptr) char *name = terminal();
	OWNED(str) struct str words = STR_INIT;

	str_add(&words, verdict);
	if (by)
		str_addf(&words, "* by %s", *by ? by : name);
	says(message, str_text(&words));
	ck_assert_ptr_null(strstr(message, "\"actions\""));
}

/* The text that only the one who pressed sees. */
static void whispered(const char *text)
{
	says(member(slack_wait_for("chat.postEphemeral"), "args.text"), text);
}

static void a_hybrid_system(void)
{
	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n[mcp]\nwait_cap = 600\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	ck_assert_int_eq(ctl(NULL, "mode hybrid"), 0);
}

static void edits_wait(int seconds)
{
	slack_fault("{'name':'chat.update','what':'rate','retry_after':%d,'times':1}", seconds);
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
	OWNED(str) struct str sql = STR_INIT;

	str_addf(&sql,
	         "SELECT outcome || CASE outcome WHEN 'applied' THEN ' ' || source ELSE '' END "
	         "FROM decision WHERE request_id = '%s' ORDER BY outcome",
	         id);
	expect(str_text(&sql), text);
}

/* One round: one of them counts, the other is told who was first. */
static void race(int round, const char *id, const char *ts)
{
	OWNED(str) struct str said = STR_INIT;
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

	a_hybrid_system();
	a = agent_hello(front_port(), "", "2025-11-25");
	for (int i = 0; i < ROUNDS; i++) {
		OWNED(char_ptr) char *asked = NULL;
		char name[20];

		(void)snprintf(name, sizeof(name), "f%d", i);
		asked = proposal(name, "hello\n");
		agent_begin(&a, &w[i], "check_clearance", asked, NULL);
	}
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
	end();
}
END_TEST

START_TEST(in_hybrid_mode_the_first_answer_counts)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(str) struct str said = STR_INIT;
	struct agent a;
	struct wire w;

	a_hybrid_system();
	a = agent_hello(front_port(), "", "2025-11-25");
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
	end();
}
END_TEST

START_TEST(in_remote_mode_ctl_is_told_so_and_the_click_counts)
{
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(str) struct str said = STR_INIT;
	struct agent a;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
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
	end();
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
	end();
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

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
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
	end();
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

/* ---- what Slack refuses ---- */

/* Slack refuses the agent's question, for a reason that names; the agent is told, asks again, and
 * is answered. */
static void refused_and_asked_again(struct agent *a, const char *reason)
{
	static const char PROMPT[] = "{\"prompt_text\":\"Go on?\"}";
	OWNED(char_ptr) char *id = NULL;
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(str) struct str hint = STR_INIT;
	struct wire w;

	agent_begin(a, &w, "transmit", PROMPT, NULL);
	pass_time_until("SELECT state FROM slack_message WHERE kind = 'ask'", "dead\n");
	told = agent_end(&w);
	has(told, "status", "error");
	has(told, "error_code", "slack_refused");
	says(member(told, "error_message"), reason);
	id = rows("SELECT id FROM request");
	id[strcspn(id, "\n")] = '\0';
	str_addf(&hint, "agent-intercom-ctl show %s", id);
	says(member(told, "error_message"), str_text(&hint));
	expect("SELECT state FROM request", "pending\n");
	/* The bytes leave first, then it is written that they have left. */
	expect_soon("SELECT state, is_error, told_answer FROM tool_call WHERE tool = 'transmit'",
	            "done|1|0\n");

	agent_begin(a, &w, "transmit", PROMPT, NULL);
	pass_time_until(
	    "SELECT state, ts IS NOT NULL FROM slack_message WHERE kind = 'ask' ORDER BY seq",
	    "dead|0\nsent|1\n");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask' AND state = 'sent'");
	ts[strcspn(ts, "\n")] = '\0';
	press_and_wait(ts, "prompt_continue");
	answer = agent_end(&w);
	has(answer, "decision", "continue");
	expect("SELECT count(*) FROM request", "1\n");
	end();
}

START_TEST(an_agent_whose_question_slack_refuses_is_told_and_asks_again)
{
	struct agent a;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	all_is_said();
	slack_fault("{'name':'chat.postMessage','what':'error','error':'invalid_blocks',"
	            "'times':3}");
	refused_and_asked_again(&a, "slack refused: invalid_blocks");
}
END_TEST

START_TEST(an_agent_whose_thread_slack_refuses_is_told_and_asks_again)
{
	struct agent a;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	slack_fault("{'name':'chat.postMessage','what':'error','error':'invalid_blocks',"
	            "'times':6}");
	refused_and_asked_again(&a, "the thread could not be begun");
}
END_TEST

/* ---- stops and starts ---- */

static const char STOPPED[] =
    "⚠️ Server shutting down. 1 session(s), 1 approval(s), 0 prompt(s) interrupted.";
static const char STARTED[] =
    "🔄 Server restarted. Found 1 interrupted session(s) with 1 pending approval(s) and 0 pending "
    "prompt(s). Answers count; agents can use `reboot` to resume.";

/* How many messages of the channel say so. */
static int times_shown(const char *text)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	const cJSON *message;
	int times = 0;

	cJSON_ArrayForEach (message, cJSON_GetObjectItem(root, "messages")) {
		const char *have = cJSON_GetStringValue(cJSON_GetObjectItem(message, "text"));

		times += have && strcmp(have, text) == 0;
	}
	return times;
}

/* A question stands in Slack, and the next post may go at once. */
static void a_question_waits(struct wire *w)
{
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	struct agent a;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, w, "check_clearance", asked, NULL);
	free(ask_ts());
	all_is_said();
	advance(2 * SECOND);
}

START_TEST(a_stop_and_the_next_start_are_told_once_each)
{
	struct wire w;

	a_question_waits(&w);
	ck_assert_int_eq(site_stop(&site), 0);
	wire_close(&w);
	expect("SELECT state FROM slack_message WHERE kind = 'server'", "sent\n");
	ck_assert_int_eq(times_shown(STOPPED), 1);
	site_start(&site);
	all_is_said();
	ck_assert_int_eq(times_shown(STOPPED), 1);
	ck_assert_int_eq(times_shown(STARTED), 1);
	end();
}
END_TEST

START_TEST(a_stop_that_was_not_told_in_time_is_not_told_afterwards)
{
	struct wire w;

	a_question_waits(&w);
	slack_fault("{'name':'chat.postMessage','what':'rate','retry_after':30,'times':1}");
	ck_assert_int_eq(site_stop(&site), 0);
	wire_close(&w);
	expect("SELECT state FROM slack_message WHERE kind = 'server'", "queued\n");
	site_start(&site);
	all_is_said();
	expect("SELECT state FROM slack_message WHERE kind = 'server' ORDER BY seq",
	       "dead\nsent\n");
	ck_assert_int_eq(times_shown(STOPPED), 0);
	ck_assert_int_eq(times_shown(STARTED), 1);
	end();
}
END_TEST

START_TEST(a_start_after_a_crash_tells_what_waits)
{
	struct wire w;

	a_question_waits(&w);
	site_kill(&site);
	wire_close(&w);
	site_start(&site);
	all_is_said();
	ck_assert_int_eq(times_shown(STOPPED), 0);
	ck_assert_int_eq(times_shown(STARTED), 1);
	end();
}
END_TEST

START_TEST(where_nothing_is_asked_in_slack_a_stop_and_a_start_say_nothing)
{
	struct agent a;

	a_system_with_slack();
	ck_assert_int_eq(site_stop(&site), 0);
	site_start(&site);
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping", "{}"));
	given_mode("local");
	ck_assert_int_eq(site_stop(&site), 0);
	site_start(&site);
	expect("SELECT count(*) FROM slack_message WHERE kind = 'server'", "0\n");
	end();
}
END_TEST

/* ---- whole files ---- */

/* An agent asks to change a file that is there. */
static struct agent an_agent_asks_to_change(const char *name, const char *old, struct wire *w)
{
	OWNED(char_ptr) char *asked = proposal(name, "new\n");
	struct agent a;

	a_system_with_slack();
	put_file(site.workspace, name, old);
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, w, "check_clearance", asked, NULL);
	return a;
}

static void say_in_thread(const char *user, const char *text)
{
	OWNED(char_ptr) char *thread = rows("SELECT thread_ts FROM session");

	thread[strcspn(thread, "\n")] = '\0';
	(void)slack_acked("{'message':{'text':'%s','user':'%s','thread_ts':'%s'}}", text, user,
	                  thread);
}

START_TEST(the_whole_file_is_shown_to_who_asks_and_the_buttons_live_on)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *answer = NULL;
	const char *files;
	struct wire w;

	(void)an_agent_asks_to_change("notes.txt", "one\ntwo <&> `three`\n", &w);
	ts = ask_ts();
	put_file(site.workspace, "notes.txt", "one\ntwo <&> `four`\n");
	press_and_wait(ts, "approve_file");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "1\n");
	files = slack_ask("files");
	has(files, "files.0.name", "notes.txt");
	has(files, "files.0.content", "one\ntwo <&> `four`\n"); /* as it is now */
	thread = rows("SELECT thread_ts FROM session");
	thread[strcspn(thread, "\n")] = '\0';
	has(files, "files.0.thread_ts", thread);
	expect("SELECT verb, operator_id, outcome FROM command", "file|slack:T01TEAM:U01OP|done\n");
	expect("SELECT count(*) FROM file_view", "0\n");

	say_in_thread("U02OP", "file");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'file' AND state = 'sent'",
	                "2\n");
	press_and_wait(ts, "approve_accept");
	answer = agent_end(&w);
	has(answer, "status", "approved");
	end();
}
END_TEST

START_TEST(a_stranger_is_shown_no_file)
{
	OWNED(char_ptr) char *ts = NULL;
	struct wire w;

	(void)an_agent_asks_to_change("notes.txt", "one\n", &w);
	ts = ask_ts();
	(void)slack_acked("{'click':{'channel':'C01AGENTS','ts':'%s','user':'U03GUEST',"
	                  "'action_id':'approve_file'}}",
	                  ts);
	say_in_thread("U03GUEST", "file");
	expect("SELECT count(*) FROM command", "0\n");
	expect("SELECT count(*) FROM file_view", "0\n");
	expect("SELECT count(*) FROM slack_message WHERE kind IN ('file', 'reply')", "0\n");
	expect("SELECT count(*) FROM event WHERE kind = 'security.stranger'", "2\n");
	end();
}
END_TEST

static void expect_not_shown(const char *why)
{
	OWNED(str) struct str sql = STR_INIT;

	str_addf(&sql,
	         "SELECT count(*) FROM slack_message WHERE kind = 'reply' AND state = 'sent' "
	         "AND text LIKE '%%%s%%'",
	         why);
	pass_time_until(str_text(&sql), "1\n");
}

START_TEST(a_file_that_cannot_be_shown_is_told_with_its_reason)
{
	OWNED(str) struct str path = STR_INIT;
	OWNED(char_ptr) char *ts = NULL;
	struct wire w;

	(void)an_agent_asks_to_change("notes.txt", "one\n", &w);
	ts = ask_ts();
	str_addf(&path, "%s/notes.txt", site.workspace);
	ck_assert_int_eq(truncate(path.bytes, 1000001), 0);
	press_and_wait(ts, "approve_file");
	expect_not_shown("is larger than 1000000 bytes");
	ck_assert_int_eq(truncate(path.bytes, 10), 0); /* "one", and bytes of nothing */
	press_and_wait(ts, "approve_file");
	expect_not_shown("notes.txt is no text");
	ck_assert_int_eq(unlink(path.bytes), 0);
	press_and_wait(ts, "approve_file");
	expect_not_shown("notes.txt does not exist any more");
	ck_assert_int_eq(symlink("/etc/passwd", path.bytes), 0);
	press_and_wait(ts, "approve_file");
	expect_not_shown("path violation");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'file'", "0\n");
	end();
}
END_TEST

START_TEST(of_a_new_file_there_is_nothing_to_show)
{
	OWNED(char_ptr) char *asked = proposal("new.txt", "new\n");
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	message = shown(ts);
	ck_assert_ptr_null(strstr(message, "approve_file"));
	say_in_thread("U01OP", "file");
	expect_not_shown("There is no file yet");
	end();
}
END_TEST

/* ---- broadcasts ---- */

/* An agent whose thread is begun: what it says next may go at once. */
static struct agent an_agent_in_its_thread(void)
{
	struct agent a;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "broadcast", "{\"message\":\"hello\"}"));
	all_is_said();
	advance(2 * SECOND);
	return a;
}

/* Slack takes it within two seconds, as a rule; a machine that is busy gets another chance. */
static char *broadcast_with_ts(struct agent *a)
{
	char *told = NULL;

	for (int i = 0; i < 5 && (!told || !*member(told, "ts")); i++) {
		free(told);
		all_is_said();
		advance(2 * SECOND);
		told = agent_call(a, "broadcast", "{\"message\":\"on it\",\"level\":\"success\"}");
	}
	return told;
}

START_TEST(a_broadcast_is_told_where_it_stands_in_slack)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *message = NULL;
	struct agent a = an_agent_in_its_thread();

	told = broadcast_with_ts(&a);
	has(told, "posted", "true");
	message = shown(member(told, "ts"));
	says(message, "on it");
	expect_soon("SELECT json_extract(t.result, '$.ts') = m.ts FROM tool_call AS t "
	            "JOIN slack_message AS m ON m.call_seq = t.seq ORDER BY t.seq DESC LIMIT 1",
	            "1\n");
	expect_soon("SELECT count(*) FROM said_wait", "0\n");
	end();
}
END_TEST

START_TEST(a_broadcast_that_slack_does_not_take_in_two_seconds_is_told_without)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a = an_agent_in_its_thread();
	int64_t since;

	slack_fault("{'name':'chat.postMessage','what':'rate','retry_after':30,'times':1}");
	since = agent_ms();
	told = agent_call(&a, "broadcast", "{\"message\":\"on it\"}");
	ck_assert_int_ge(agent_ms() - since, 2 * SECOND - 10);
	has(told, "posted", "true");
	has(told, "ts", "");
	expect_soon("SELECT count(*) FROM said_wait", "0\n");
	all_is_said();
	ck_assert_int_eq(times_shown("ℹ️ on it"), 1);
	end();
}
END_TEST

START_TEST(a_broadcast_that_slack_refuses_is_told_so)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a = an_agent_in_its_thread();

	/* As soon as it is queued: however slow this machine is, it is known within two seconds. */
	given("CREATE TRIGGER refused_at_once AFTER INSERT ON said_wait BEGIN"
	      " UPDATE slack_message SET state = 'dead' WHERE call_seq = NEW.call_seq; END");
	told = agent_call(&a, "broadcast", "{\"message\":\"on it\"}");
	has(told, "posted", "false");
	expect_soon("SELECT result FROM tool_call ORDER BY seq DESC LIMIT 1",
	            "{\"posted\":false}\n");
	end();
}
END_TEST

/* ---- silent agents (user story 4) ---- */

enum { MINUTE = 60 * SECOND };

/* The alert's message, once Slack has it. kind: stall, or escalated. */
static char *alert_ts(const char *kind)
{
	OWNED(str) struct str sql = STR_INIT;
	OWNED(str) struct str known = STR_INIT;

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
	end();
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
	end();
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
	end();
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
	end();
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
		OWNED(str) struct str sql = STR_INIT;

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
	end();
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
	end();
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
	end();
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
	end();
}
END_TEST

START_TEST(what_ctl_shows_and_does_about_a_silent_agent)
{
	OWNED(str) struct str said = STR_INIT;
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

static void add_stalls(Suite *s)
{
	TCase *c = store_case(s, "slack_stalls", 60);

	tcase_add_test(
	    c, a_silent_agent_is_told_of_in_slack_and_a_nudge_reaches_it_with_its_next_call);
	tcase_add_test(c, a_nudge_with_instructions_says_what_the_operator_typed);
	tcase_add_test(c, the_stop_button_of_an_alert_ends_the_session);
	tcase_add_test(
	    c,
	    an_agent_that_goes_on_by_itself_takes_the_buttons_away_and_a_later_click_is_too_late);
	tcase_add_test(
	    c, an_alert_that_nobody_answers_is_followed_by_nudges_and_one_call_to_the_channel);
	tcase_add_test(c, an_agent_that_asked_for_it_is_not_watched);
	tcase_add_test(c, each_silent_agent_has_its_own_alert_that_names_its_session);
	tcase_add_test(c, an_alert_outlives_a_restart_with_its_buttons);
	tcase_add_test(c, what_ctl_shows_and_does_about_a_silent_agent);
	tcase_add_test(
	    c, a_nudge_is_said_at_once_on_the_open_stream_of_an_agent_and_told_with_its_next_call);
	tcase_add_test(c, an_agent_on_stdio_that_is_silent_over_a_crash_of_everything_is_noticed);
}

/* ---- prompts (user story 5), modes (10), restarts (9) ---- */

static void press_prompt(const char *button, const char *instruction)
{
	OWNED(char_ptr) char *ts = NULL;

	pass_time_until("SELECT count(*) FROM slack_message AS m JOIN request AS r ON r.seq = "
	                "m.request_seq WHERE m.kind = 'ask' AND m.ts IS NOT NULL AND r.state = "
	                "'pending'",
	                "1\n");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask' ORDER BY seq DESC LIMIT 1");
	ts[strcspn(ts, "\n")] = '\0';
	press(ts, button);
	if (!instruction)
		return;
	(void)slack_wait_for("views.open");
	(void)slack_deliver("{'submit':{'values':{'instruction_block':{'instruction_text':'%s'}}}}",
	                    instruction);
}

START_TEST(a_prompt_is_continued_refined_or_stopped_by_its_buttons)
{
	static const struct {
		const char *button, *instruction, *decision;
	} CASES[] = { { "prompt_continue", NULL, "continue" },
		      { "prompt_refine", "only the tests", "refine" },
		      { "prompt_stop", NULL, "stop" } };
	struct agent a;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str asked = STR_INIT;
		OWNED(char_ptr) char *answer = NULL;
		struct wire w;

		str_addf(&asked,
		         "{\"prompt_text\":\"Go on, %zu?\",\"prompt_type\":\"continuation\","
		         "\"elapsed_seconds\":600,\"actions_taken\":12}",
		         i);
		agent_begin(&a, &w, "transmit", str_text(&asked), NULL);
		press_prompt(CASES[i].button, CASES[i].instruction);
		answer = agent_end(&w);
		has(answer, "decision", CASES[i].decision);
		has(answer, "instruction", CASES[i].instruction ? CASES[i].instruction : "");
	}
	says(slack_ask("messages?channel=C01AGENTS"), "10 min");
	end();
}
END_TEST

START_TEST(a_prompt_that_nobody_answers_goes_on_after_the_time_of_its_type_and_slack_is_told)
{
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;
	struct wire w, other;

	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n[mcp]\nwait_cap = 3600\n"
	           "[timeouts]\nprompt_seconds = 1800\nclarification_seconds = 120\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "transmit",
	            "{\"prompt_text\":\"Tabs?\",\"prompt_type\":\"clarification\"}", NULL);
	agent_begin(&a, &other, "transmit",
	            "{\"prompt_text\":\"Go on?\",\"prompt_type\":\"continuation\"}", NULL);
	expect_soon("SELECT count(*) FROM request", "2\n");
	advance(2 * MINUTE + SECOND);
	answer = agent_end(&w);
	has(answer, "decision", "continue");
	all_is_said();
	expect("SELECT state FROM slack_message WHERE kind = 'expired'", "sent\n");
	expect("SELECT prompt_type, state FROM request ORDER BY prompt_type",
	       "clarification|expired\ncontinuation|pending\n");
	wire_close(&other);
	end();
}
END_TEST

START_TEST(modes_are_switched_by_the_agent_ctl_and_slack_and_outlive_a_restart)
{
	static const char MODES[] = "SELECT (SELECT value FROM setting WHERE name = 'mode'),"
	                            " group_concat(mode) FROM session";
	OWNED(char_ptr) char *asked = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *switched = NULL;
	OWNED(char_ptr) char *id = NULL;
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	switched = agent_call(&a, "switch_freq", "{\"mode\":\"local\"}");
	has(switched, "previous_mode", "remote");
	has(switched, "current_mode", "local");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	expect_soon("SELECT count(*) FROM request", "1\n");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'ask'", "0\n");
	ck_assert_int_eq(ctl(NULL, "approve $(sqlite3 '%s' 'SELECT id FROM request')", test_db()),
	                 0);
	answer = agent_end(&w);
	has(answer, "status", "approved");

	(void)slack_deliver("{'slash':{'text':'mode hybrid'}}");
	expect_soon(MODES, "hybrid|hybrid\n");
	(void)slack_deliver("{'slash':{'text':'mode sideways'}}");
	expect_soon("SELECT outcome FROM command WHERE argument = 'sideways'", "malformed\n");
	ck_assert_int_eq(ctl(NULL, "mode local"), 0);
	expect(MODES, "local|local\n");
	id = rows("SELECT substr(id, 1, 13) FROM session");
	id[strcspn(id, "\n")] = '\0';
	(void)slack_deliver("{'slash':{'text':'mode remote %s'}}", id);
	expect_soon(MODES, "local|remote\n");
	ck_assert_int_eq(site_stop(&site), 0);
	site_start(&site);
	expect(MODES, "local|remote\n");
	end();
}
END_TEST

/* A question of each kind waits, then all ends and begins anew: the agent learns of everything, and
 * each answer comes. */
static void all_states_over(bool crash)
{
	OWNED(char_ptr) char *asked = proposal("a.txt", "a\n");
	OWNED(char_ptr) char *decided = proposal("b.txt", "b\n");
	static const char PROMPT[] = "{\"prompt_text\":\"Go on?\"}";
	static const char STANDBY[] = "{\"message\":\"Ready.\"}";
	static const char OPEN[] = "SELECT count(*) FROM request WHERE state IN ('pending',"
	                           " 'interrupted')";
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *approved = NULL;
	OWNED(char_ptr) char *done = NULL;
	OWNED(char_ptr) char *session = NULL;
	OWNED(str) struct str named = STR_INIT;
	OWNED(str) struct str check = STR_INIT;
	struct wire w[4];
	struct agent a;
	int64_t began;

	a_hybrid_system();
	a = agent_hello(front_port(), "", "2025-11-25");
	free(agent_call(&a, "ping",
	                "{\"progress_snapshot\":[{\"label\":\"one\",\"status\":\"done\"}]}"));
	given("INSERT INTO checkpoint (id, session_id, label, session_state, file_hashes,"
	      " workspace_root, created_at) SELECT 'c1', id, 'before', '{}', '{}', '/w',"
	      " created_at FROM session");
	agent_begin(&a, &w[0], "check_clearance", asked, NULL);
	agent_begin(&a, &w[1], "transmit", PROMPT, NULL);
	agent_begin(&a, &w[2], "standby", STANDBY, NULL);
	agent_begin(&a, &w[3], "check_clearance", decided, NULL);
	expect_soon(OPEN, "4\n");
	began = agent_ms();
	if (crash) {
		site_kill(&site);
	} else {
		ck_assert_int_eq(site_stop(&site), 0);
		ck_assert_int_lt(agent_ms() - began, 10 * SECOND);
		expect("SELECT DISTINCT state FROM request", "interrupted\n");
	}
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request"
	      " WHERE file_path = 'b.txt'"); /* an answer counts also while nothing runs */
	for (size_t i = 0; i < COUNT(w); i++)
		wire_close(&w[i]);
	site_start(&site);
	a.port = front_port();
	session = rows("SELECT id FROM session");
	session[strcspn(session, "\n")] = '\0';
	str_addf(&named, "{\"session_id\":\"%s\"}", session);
	told = agent_call(&a, "reboot", str_text(&named));
	has(told, "status", "recovered");
	has(told, "pending_requests.0.type", "approval");
	has(told, "pending_requests.0.title", "a change");
	has(told, "pending_requests.1.type", "prompt");
	has(told, "pending_requests.2.type", "standby");
	has(told, "pending_requests.3.type", "approval");
	has(told, "pending_requests.3.state", "approved");
	has(told, "pending_requests.4.type", "");
	has(told, "last_checkpoint.checkpoint_id", "c1");
	has(told, "progress_snapshot.0.label", "one");
	expect("SELECT count(*) FROM request WHERE state = 'pending'", "3\n");

	approved = agent_call(&a, "check_clearance", decided);
	has(approved, "status", "approved");
	str_addf(&check, "{\"request_id\":\"%s\"}", member(approved, "request_id"));
	done = agent_call(&a, "check_diff", check.bytes);
	has(done, "status", "applied");
	agent_begin(&a, &w[0], "check_clearance", asked, NULL);
	agent_begin(&a, &w[1], "transmit", PROMPT, NULL);
	agent_begin(&a, &w[2], "standby", STANDBY, NULL);
	expect_soon(
	    "SELECT count(*) FROM tool_call WHERE state = 'waiting' AND listener IS NOT NULL",
	    "3\n");
	expect("SELECT count(*) FROM request", "4\n"); /* asked again, not twice */
	given(
	    "INSERT INTO decision (request_id, verdict) SELECT id, CASE kind WHEN 'clearance' THEN"
	    " 'approve' WHEN 'prompt' THEN 'continue' ELSE 'resume' END FROM request WHERE state ="
	    " 'pending'");
	for (size_t i = 0; i < 3; i++)
		free(agent_end(&w[i]));
	all_is_said();
	expect("SELECT count(*), count(DISTINCT request_seq) FROM slack_message WHERE kind = 'ask'",
	       "4|4\n");
	end();
}

START_TEST(a_stop_in_the_middle_of_every_state_loses_nothing)
{
	all_states_over(false);
}
END_TEST

START_TEST(a_crash_in_the_middle_of_every_state_loses_nothing)
{
	all_states_over(true);
}
END_TEST

static void add_restarts(Suite *s)
{
	TCase *c = store_case(s, "slack_restarts", 60);

	tcase_add_test(c, a_prompt_is_continued_refined_or_stopped_by_its_buttons);
	tcase_add_test(
	    c, a_prompt_that_nobody_answers_goes_on_after_the_time_of_its_type_and_slack_is_told);
	tcase_add_test(c, modes_are_switched_by_the_agent_ctl_and_slack_and_outlive_a_restart);
	tcase_add_test(c, a_stop_in_the_middle_of_every_state_loses_nothing);
	tcase_add_test(c, a_crash_in_the_middle_of_every_state_loses_nothing);
}

static void add_races(Suite *s)
{
	TCase *c = store_case(s, "slack_races", 60);

	tcase_add_test(c, a_click_and_ctl_at_the_same_instant_are_one_decision);
	tcase_add_test(c, in_hybrid_mode_the_first_answer_counts);
	tcase_add_test(c, in_remote_mode_ctl_is_told_so_and_the_click_counts);
	tcase_add_test(c, a_click_after_the_deadline_is_too_late_and_is_told);
	tcase_add_test(c, a_click_after_a_restart_counts_once);
	tcase_add_test(c, a_click_after_a_crash_of_everything_counts_once);
}

static void add_notices(Suite *s)
{
	TCase *c = store_case(s, "slack_notices", 60);

	tcase_add_test(c, a_stop_and_the_next_start_are_told_once_each);
	tcase_add_test(c, a_stop_that_was_not_told_in_time_is_not_told_afterwards);
	tcase_add_test(c, a_start_after_a_crash_tells_what_waits);
	tcase_add_test(c, where_nothing_is_asked_in_slack_a_stop_and_a_start_say_nothing);
}

static void add_whole_files(Suite *s)
{
	TCase *c = store_case(s, "slack_files", 60);

	tcase_add_test(c, the_whole_file_is_shown_to_who_asks_and_the_buttons_live_on);
	tcase_add_test(c, a_stranger_is_shown_no_file);
	tcase_add_test(c, a_file_that_cannot_be_shown_is_told_with_its_reason);
	tcase_add_test(c, of_a_new_file_there_is_nothing_to_show);
}

static void add_broadcasts(Suite *s)
{
	TCase *c = store_case(s, "slack_broadcasts", 60);

	tcase_add_test(c, a_broadcast_is_told_where_it_stands_in_slack);
	tcase_add_test(c, a_broadcast_that_slack_does_not_take_in_two_seconds_is_told_without);
	tcase_add_test(c, a_broadcast_that_slack_refuses_is_told_so);
}

static void add_refusals(Suite *s)
{
	TCase *c = store_case(s, "slack_refusals", 60);

	tcase_add_test(c, an_agent_whose_question_slack_refuses_is_told_and_asks_again);
	tcase_add_test(c, an_agent_whose_thread_slack_refuses_is_told_and_asks_again);
}

/* ---- what the policy allows ---- */

static void given_policy(const char *text)
{
	OWNED(str) struct str folder = STR_INIT;

	str_addf(&folder, "%s/.intercom", site.workspace);
	ck_assert_int_eq(shell(NULL, "mkdir -p '%s'", folder.bytes), 0);
	put_file(folder.bytes, "settings.json", text);
}

/* Asks for a change and has it written, and for a command; all without a person. */
static void does_what_is_allowed(struct agent *a)
{
	OWNED(char_ptr) char *asked = proposal("docs/a.md", "hello\n");
	OWNED(char_ptr) char *approved = agent_call(a, "check_clearance", asked);
	OWNED(char_ptr) char *applied = NULL;
	OWNED(char_ptr) char *checked = NULL;
	OWNED(char_ptr) char *goes_on = NULL;
	OWNED(str) struct str check = STR_INIT;

	has(approved, "status", "approved");
	str_addf(&check, "{\"request_id\":\"%s\"}", member(approved, "request_id"));
	applied = agent_call(a, "check_diff", check.bytes);
	has(applied, "status", "applied");
	checked = agent_call(a, "auto_check", "{\"tool_name\":\"cargo test --all\"}");
	has(checked, "auto_approved", "true");
	goes_on = agent_call(a, "transmit", "{\"prompt_text\":\"go on?\"}");
	has(goes_on, "decision", "continue");
}

#define ALLOWED                                                                                    \
	"{\"enabled\":true,\"commands\":[\"cargo test *\"],\"tools\":[\"transmit\"],"              \
	"\"file_patterns\":{\"write\":[\"docs/**\"]}"

START_TEST(a_command_is_allowed_by_a_click)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *answer = NULL;
	const char *posted;
	struct agent a;
	struct wire w;

	a_system_with_slack();
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "auto_check",
	            "{\"tool_name\":\"git push\",\"kind\":\"terminal_command\"}", NULL);
	ts = ask_ts();
	posted = slack_ask("messages?channel=C01AGENTS");
	says(posted, "*Command approval needed* · low risk");
	says(posted, "git push");
	says(posted, "approve_reject");
	(void)slack_deliver(
	    "{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'approve_accept'}}", ts);
	answer = agent_end(&w);
	has(answer, "auto_approved", "true");
	has(answer, "matched_rule", "operator:approved");
	expect("SELECT outcome, source, operator_id FROM decision",
	       "applied|slack|slack:T01TEAM:U01OP\n");
	end();
}
END_TEST

/* SC-005. The broadcast behind it is what Slack hears next. */
START_TEST(what_the_policy_allows_costs_no_call_to_slack)
{
	OWNED(char_ptr) char *said = NULL;
	struct agent a;

	a_system_with_slack();
	given_policy(ALLOWED "}");
	a = agent_hello(front_port(), "", "2025-11-25");
	said = agent_call(&a, "broadcast", "{\"message\":\"here I am\"}");
	expect_soon("SELECT count(*) FROM slack_outbox WHERE state = 'sent'", "2\n");
	slack_mark();
	does_what_is_allowed(&a);
	free(said);
	advance(250 * SECOND); /* not yet a stall */
	said = agent_call(&a, "broadcast", "{\"message\":\"done\"}");
	slack_expect_calls("chat.postMessage\n");
	says(slack_wait_for("chat.postMessage"), "done");
	end();
}
END_TEST

START_TEST(what_the_policy_allowed_is_one_message_in_the_thread_where_its_file_says_so)
{
	OWNED(char_ptr) char *said = NULL;
	const char *posted;
	struct agent a;

	a_system_with_slack();
	given_policy(ALLOWED ",\"log_auto_approved\":true,\"summary_interval_seconds\":200}");
	a = agent_hello(front_port(), "", "2025-11-25");
	said = agent_call(&a, "broadcast", "{\"message\":\"here I am\"}");
	expect_soon("SELECT count(*) FROM slack_outbox WHERE state = 'sent'", "2\n");
	slack_mark();
	does_what_is_allowed(&a);
	advance(201 * SECOND); /* not yet a stall */
	slack_expect_calls("chat.postMessage\n");
	posted = slack_wait_for("chat.postMessage");
	says(posted, "*Auto-approved*: 3");
	says(posted, "docs/a.md (file_pattern:write:docs/**)");
	says(posted, "cargo test --all (command:cargo test *)");
	says(posted, "go on? (tool:transmit)");
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story");
	TCase *c = store_case(s, "slack_story", 60);

	tcase_add_test(c, a_click_approves_and_the_file_is_written);
	tcase_add_test(c, a_reason_given_in_a_form_reaches_the_agent);
	tcase_add_test(c, what_is_said_in_the_thread_reaches_the_agent_once_and_in_order);
	tcase_add_test(c, an_agent_that_waits_hears_it_with_its_answer_and_is_told_once);
	tcase_add_test(c, a_task_is_told_to_the_next_agent);
	tcase_add_test(c, a_paused_agent_waits_at_its_next_call);
	tcase_add_test(c, a_pause_that_lasts_is_told_in_words);
	tcase_add_test(c, a_pause_outlives_a_restart);
	tcase_add_test(c, a_stop_answers_what_is_asked_and_ends_the_session);
	tcase_add_test(c, what_ctl_says_reaches_the_agent_too);
	tcase_add_test(c, each_worker_has_its_own_token_for_as_long_as_it_needs_it);
	tcase_add_test(c, who_is_no_member_any_more_may_not_answer);
	tcase_add_test(c, a_command_is_allowed_by_a_click);
	tcase_add_test(c, what_the_policy_allows_costs_no_call_to_slack);
	tcase_add_test(c,
	               what_the_policy_allowed_is_one_message_in_the_thread_where_its_file_says_so);
	tcase_add_test(c, what_is_wrong_with_the_settings_is_said_and_agents_are_served);
	add_races(s);
	add_refusals(s);
	add_notices(s);
	add_broadcasts(s);
	add_whole_files(s);
	add_stalls(s);
	add_restarts(s);
	return run_suite(s);
}
