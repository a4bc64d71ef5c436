/* Whole stories with Slack: a real agent asks over MCP, somebody answers in the (fake) Slack, and
 * the agent goes on. The whole system runs: supervisor, front, applier, listener, poster. */
#include "slack_story_case.h"

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
	OWNED(str) struct str hint = { 0 };
	struct wire w;

	agent_begin(a, &w, "transmit", PROMPT, NULL);
	arrived("tool_call WHERE tool = 'transmit'", 1);
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
	arrived("tool_call WHERE tool = 'transmit'", 2);
	pass_time_until(
	    "SELECT state, ts IS NOT NULL FROM slack_message WHERE kind = 'ask' ORDER BY seq",
	    "dead|0\nsent|1\n");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask' AND state = 'sent'");
	ts[strcspn(ts, "\n")] = '\0';
	press_and_wait(ts, "prompt_continue");
	answer = agent_end(&w);
	has(answer, "decision", "continue");
	expect("SELECT count(*) FROM request", "1\n");
	end_system();
}

START_TEST(an_agent_whose_question_slack_refuses_is_told_and_asks_again)
{
	struct agent a;

	a = an_agent_with_slack();
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

	a = an_agent_with_slack();
	slack_fault("{'name':'chat.postMessage','what':'error','error':'invalid_blocks',"
	            "'times':6}");
	refused_and_asked_again(&a, "the thread could not be begun");
}
END_TEST

/* ---- gates ---- */

START_TEST(a_project_that_switches_its_gate_off_is_told_once_in_the_thread)
{
	static const char TOLD[] =
	    "SELECT state, session_seq, text LIKE '%/.claude/settings.json keeps our hooks from "
	    "running there (disableAllHooks is set)%' FROM slack_message WHERE kind = 'gate'";
	OWNED(char_ptr) char *root = NULL;
	struct agent a;

	a = an_agent_with_slack();
	free(agent_call(&a, "ping", "{}"));
	root = rows("SELECT workspace_root FROM session");
	root[strcspn(root, "\n")] = '\0';
	ck_assert_int_eq(
	    shell(NULL,
	          "mkdir -p '%s/.claude' '%s/.claude' && "
	          "echo '\"%s/hook claude PreToolUse\"' >'%s/.claude/settings.json' && "
	          "echo '{\"disableAllHooks\": true}' >'%s/.claude/settings.json'",
	          site.home, root, getenv("INTERCOM_BUILD"), site.home, root),
	    0);
	advance(6 * SECOND);
	pass_time_until(TOLD, "sent|1|1\n");
	advance(6 * SECOND);
	expect_still(TOLD, "sent|1|1\n", 6000);
	expect("SELECT what, state FROM health WHERE what LIKE 'gate%'",
	       "gate claude|switched_off\n");
	end_system();
}
END_TEST

START_TEST(health_and_doctor_say_that_slack_refuses_the_bot)
{
	static const char WHY[] = "Slack refuses the bot token: invalid_auth";
	OWNED(str) struct str health = { 0 }, doctor = { 0 };
	char command[400];

	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
	slack_set("{'bot_error': 'invalid_auth'}");
	site_start(&site);
	expect_soon("SELECT why FROM slack_gate WHERE name = 'slack'", "Slack refuses the bot "
	                                                               "token: invalid_auth\n");
	expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener'", "connected\n");
	ck_assert_int_eq(ctl(&health, "--text health"), 1);
	says(str_text(&health), WHY);
	(void)snprintf(command, sizeof(command),
	               "env -u SLACK_APP_TOKEN -u SLACK_BOT_TOKEN '%s/agent-intercom' --config "
	               "'%s' doctor",
	               getenv("INTERCOM_BUILD"), site.config);
	ck_assert_int_eq(shell(&doctor, "%s", command), 1);
	says(str_text(&doctor), "FAIL worker: slack-poster: Slack refuses the bot token");

	slack_set("{'bot_error': null}");
	advance(MINUTE + SECOND);
	expect_soon("SELECT why FROM slack_gate WHERE name = 'slack'", "\n");
	str_reset(&health);
	ck_assert_msg(ctl(&health, "--text health") == 0, "%s", str_text(&health));
	end_system();
}
END_TEST

/* ---- stops and starts ---- */

static const char STOPPED[] =
    "⚠️ Server shutting down. 1 session(s), 1 approval(s), 0 prompt(s) interrupted.";

static const char STARTED[] =
    "🔄 Server restarted. Found 1 interrupted session(s) with 1 pending approval(s) and 0 pending "
    "prompt(s). Answers count; an agent that connects again finds them with `reboot`.";

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

	a = an_agent_with_slack();
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
	end_system();
}
END_TEST

START_TEST(a_stop_that_was_told_is_followed_by_the_start_though_nothing_waits)
{
	struct agent a;

	a = an_agent_with_slack();
	free(agent_call(&a, "ping", "{}"));
	all_is_said();
	advance(2 * SECOND);
	ck_assert_int_eq(site_stop(&site), 0);
	ck_assert_int_eq(times_shown("⚠️ Server shutting down. 1 session(s), 0 approval(s), 0 "
	                             "prompt(s) interrupted."),
	                 1);
	for (int starts = 0; starts < 2; starts++) {
		site_start(&site);
		all_is_said();
		ck_assert_int_eq(times_shown("🔄 Server restarted. Nothing waits for an answer."),
		                 1);
		ck_assert_int_eq(site_stop(&site), 0);
	}
	expect("SELECT count(*) FROM slack_message WHERE kind = 'server'", "2\n");
	site_start(&site);
	end_system();
}
END_TEST

START_TEST(the_start_says_how_an_agent_that_was_started_here_comes_back)
{
	(void)an_agent_with_slack();
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      " origin, created_at, updated_at)"
	      " SELECT '01900000-0000-7000-8000-000000000009', value, 'slack:T01TEAM:U01OP', '/ws',"
	      " 'active', 'remote', 'started', '2026-01-01T09:00:00.000Z',"
	      " '2026-01-01T09:00:00.000Z' FROM setting WHERE name = 'system.machine'");
	all_is_said();
	advance(2 * SECOND);
	ck_assert_int_eq(site_stop(&site), 0);
	site_start(&site);
	all_is_said();
	ck_assert_int_eq(
	    times_shown(
	        "🔄 Server restarted. Found 1 interrupted session(s) with 0 pending "
	        "approval(s) and 0 pending prompt(s). `session-resume` brings back an agent "
	        "that was started here."),
	    1);
	end_system();
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
	end_system();
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
	end_system();
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
	end_system();
}
END_TEST

/* ---- broadcasts ---- */

/* An agent whose thread is begun: what it says next may go at once. */
static struct agent an_agent_in_its_thread(void)
{
	struct agent a;

	a = an_agent_with_slack();
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
	expect_soon("SELECT count(*) FROM broadcast_wait", "0\n");
	end_system();
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
	expect_soon("SELECT count(*) FROM broadcast_wait", "0\n");
	all_is_said();
	ck_assert_int_eq(times_shown("💬 ℹ️ on it"), 1);
	end_system();
}
END_TEST

/* Its result is recorded before its place in Slack is known, and sent after. */
START_TEST(words_that_were_to_be_told_with_a_broadcast_outlive_a_front_that_is_killed)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent a = an_agent_in_its_thread();
	struct wire w;

	slack_fault("{'name':'chat.postMessage','what':'rate','retry_after':30,'times':1}");
	(void)slack_deliver("{'slash':{'text':'steer mind the gap'}}");
	expect_soon("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "1\n");
	agent_begin(&a, &w, "broadcast", "{\"message\":\"on it\"}", NULL);
	expect_soon("SELECT count(*) FROM broadcast_wait", "1\n");
	expect("SELECT delivered_at IS NOT NULL FROM steering", "1\n");
	kill_and_await("mcp-front");
	wire_close(&w);
	message = call_for_message(&a, "ping", "{}");
	says(member(message, "result.content.1.text"), "mind the gap");
	expect("SELECT count(*) FROM broadcast_wait", "0\n");
	end_system();
}
END_TEST

START_TEST(a_broadcast_that_slack_refuses_is_told_so)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a = an_agent_in_its_thread();

	/* As soon as it is queued: however slow this machine is, it is known within two seconds. */
	given("CREATE TRIGGER refused_at_once AFTER INSERT ON broadcast_wait BEGIN"
	      " UPDATE slack_outbox SET state = 'dead', why = 'msg_too_long',"
	      "  settled_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE message_seq ="
	      "  (SELECT seq FROM slack_message WHERE call_seq = NEW.call_seq);"
	      " UPDATE slack_message SET state = 'dead' WHERE call_seq = NEW.call_seq; END");
	told = agent_call(&a, "broadcast", "{\"message\":\"on it\"}");
	has(told, "posted", "false");
	has(told, "reason", "Slack refused it: msg_too_long");
	expect_soon("SELECT result ->> 'posted' FROM tool_call ORDER BY seq DESC LIMIT 1", "0\n");
	end_system();
}
END_TEST

START_TEST(a_broadcast_for_a_thread_that_is_gone_is_said_in_the_sessions)
{
	OWNED(char_ptr) char *told = NULL;
	struct agent a = an_agent_in_its_thread();

	slack_fault("{'name':'chat.postMessage','what':'error','error':'thread_not_found',"
	            "'times':1}");
	told = agent_call(&a, "broadcast",
	                  "{\"message\":\"on it\",\"thread_ts\":\"1234567890.123456\"}");
	has(told, "posted", "true");
	all_is_said();
	ck_assert_int_eq(times_shown("💬 ℹ️ on it"), 1);
	expect("SELECT m.state, h.kind FROM slack_message AS m "
	       "JOIN slack_message AS h ON h.seq = m.root_seq ORDER BY m.seq DESC LIMIT 1",
	       "sent|session\n");
	expect("SELECT count(*) FROM outbox_stuck", "0\n");
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_notices");
	TCase *refusals = store_case(s, "slack_refusals", 60);
	TCase *notices = store_case(s, "slack_notices", 60);
	TCase *broadcasts = store_case(s, "slack_broadcasts", 60);

	tcase_add_test(refusals, an_agent_whose_question_slack_refuses_is_told_and_asks_again);
	tcase_add_test(refusals, health_and_doctor_say_that_slack_refuses_the_bot);
	tcase_add_test(refusals, an_agent_whose_thread_slack_refuses_is_told_and_asks_again);
	tcase_add_test(notices, a_project_that_switches_its_gate_off_is_told_once_in_the_thread);
	tcase_add_test(notices, a_stop_and_the_next_start_are_told_once_each);
	tcase_add_test(notices, a_stop_that_was_told_is_followed_by_the_start_though_nothing_waits);
	tcase_add_test(notices, the_start_says_how_an_agent_that_was_started_here_comes_back);
	tcase_add_test(notices, a_stop_that_was_not_told_in_time_is_not_told_afterwards);
	tcase_add_test(notices, a_start_after_a_crash_tells_what_waits);
	tcase_add_test(notices, where_nothing_is_asked_in_slack_a_stop_and_a_start_say_nothing);
	tcase_add_test(broadcasts, a_broadcast_is_told_where_it_stands_in_slack);
	tcase_add_test(broadcasts,
	               a_broadcast_that_slack_does_not_take_in_two_seconds_is_told_without);
	tcase_add_test(broadcasts,
	               words_that_were_to_be_told_with_a_broadcast_outlive_a_front_that_is_killed);
	tcase_add_test(broadcasts, a_broadcast_that_slack_refuses_is_told_so);
	tcase_add_test(broadcasts, a_broadcast_for_a_thread_that_is_gone_is_said_in_the_sessions);
	return run_suite(s);
}
