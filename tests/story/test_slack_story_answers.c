/* Whole stories with Slack: a real agent asks over MCP, somebody answers in the (fake) Slack, and
 * the agent goes on. The whole system runs: supervisor, front, applier, listener, poster. */
#include "slack_story_case.h"

/* ---- stories ---- */

START_TEST(a_click_approves_and_the_file_is_written)
{
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(char_ptr) char *file = NULL;
	OWNED(str) struct str check = { 0 };
	struct agent a;
	struct wire w;

	a_system_with_slack();
	expect("SELECT value FROM setting WHERE name = 'mode'", "remote\n");
	a = agent_hello(front_port(), "", "2025-11-25");
	asked = proposal("hello.txt", "hello\n");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	press(ts, "approve_accept");
	answer = agent_end(&w);
	has(answer, "status", "approved");
	str_addf(&check, "{\"request_id\":\"%s\"}", member(answer, "request_id"));
	applied = agent_write(&a, check.bytes);
	has(applied, "status", "applied");
	file = get_file(site.workspace, "hello.txt");
	ck_assert_pstr_eq(file, "hello\n");
	expect("SELECT outcome, source, operator_id FROM decision",
	       "applied|slack|slack:T01TEAM:U01OP\n");
	end_system();
}
END_TEST

START_TEST(a_reason_given_in_a_form_reaches_the_agent)
{
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;
	struct wire w;

	a = an_agent_with_slack();
	asked = proposal("hello.txt", "hello\n");
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	press(ts, "approve_reject");
	says(slack_wait_for("views.open"), "a change in work (tester)"); /* what it is about */
	(void)slack_deliver(
	    "{'submit':{'values':{'instruction_block':{'instruction_text':'not on a Friday'}}}}");
	answer = agent_end(&w);
	has(answer, "status", "rejected");
	has(answer, "reason", "not on a Friday");
	end_system();
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

	a = an_agent_with_slack();
	free(agent_call(&a, "ping", "{}"));
	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'session' AND ts IS NOT NULL",
	            "1\n");
	thread = ts_of("session");
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
	end_system();
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

	a = an_agent_with_slack();
	agent_begin(&a, &w, "check_clearance", asked, NULL);
	ts = ask_ts();
	(void)slack_deliver("{'slash':{'text':'steer mind the gap'}}");
	expect_soon("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "1\n");
	expect("SELECT delivered_at IS NULL FROM steering", "1\n");
	press(ts, "approve_accept");
	message = agent_message(&w);
	wire_close(&w);
	words = said_in(message);
	says(words, "): mind the gap");
	none = call_for_message(&a, "broadcast", "{\"message\":\"here\",\"level\":\"info\"}");
	has(none, "result.content.1.text", "");
	expect_soon("SELECT t.tool FROM steering AS s JOIN tool_call AS t ON t.seq = s.call_seq",
	            "check_clearance\n");
	end_system();
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
	end_system();
}
END_TEST

START_TEST(a_paused_agent_waits_at_its_next_call)
{
	OWNED(char_ptr) char *pong = NULL;
	struct agent a, other;
	struct wire w;

	a = an_agent_with_slack();
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
	end_system();
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
	end_system();
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

	a = an_agent_with_slack();
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
	end_system();
}
END_TEST

START_TEST(what_ctl_says_reaches_the_agent_too)
{
	OWNED(str) struct str said = { 0 };
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
	ck_assert_str_eq(str_text(&said),
	                 "Noted: the agent is told with its next step: “mind the gap”\n");
	told = agent_call(&a, "ping", "{}");
	has(told, "pending_steering.0", "mind the gap");
	ck_assert_int_eq(ctl(NULL, "steer 0000-none hello"), 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(each_worker_has_its_own_token_for_as_long_as_it_needs_it)
{
	OWNED(str) struct str seen = { 0 };

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
	end_system();
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
	end_system();
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
		end_system();
	}
}
END_TEST

/* ---- what the policy allows ---- */

static void given_policy(const char *text)
{
	OWNED(str) struct str folder = { 0 };

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
	OWNED(str) struct str check = { 0 };

	has(approved, "status", "approved");
	str_addf(&check, "{\"request_id\":\"%s\"}", member(approved, "request_id"));
	applied = agent_write(a, check.bytes);
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

	a = an_agent_with_slack();
	agent_begin(&a, &w, "auto_check",
	            "{\"tool_name\":\"git push\",\"kind\":\"terminal_command\"}", NULL);
	ts = ask_ts();
	posted = slack_ask("messages?channel=C01AGENTS");
	says(posted, "*Command approval needed* · low risk");
	says(posted, "git push");
	says(posted, "approve_reject");
	press(ts, "approve_accept");
	answer = agent_end(&w);
	has(answer, "auto_approved", "true");
	has(answer, "matched_rule", "operator:approved");
	expect("SELECT outcome, source, operator_id FROM decision",
	       "applied|slack|slack:T01TEAM:U01OP\n");
	end_system();
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
	end_system();
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
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_answers");
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
	tcase_add_test(c, what_is_wrong_with_the_settings_is_said_and_agents_are_served);
	tcase_add_test(c, a_command_is_allowed_by_a_click);
	tcase_add_test(c, what_the_policy_allows_costs_no_call_to_slack);
	tcase_add_test(c,
	               what_the_policy_allowed_is_one_message_in_the_thread_where_its_file_says_so);
	return run_suite(s);
}
