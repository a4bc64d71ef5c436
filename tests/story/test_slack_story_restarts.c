/* Whole stories with Slack: a real agent asks over MCP, somebody answers in the (fake) Slack, and
 * the agent goes on. The whole system runs: supervisor, front, applier, listener, poster. */
#include "slack_story_case.h"

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

	a = an_agent_with_slack();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str asked = { 0 };
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
	end_system();
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
	end_system();
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

	a = an_agent_with_slack();
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
	end_system();
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
	OWNED(str) struct str named = { 0 };
	OWNED(str) struct str check = { 0 };
	struct wire w[4];
	struct agent a;
	int64_t began;

	a = an_agent_in_hybrid_mode();
	free(agent_call(&a, "ping",
	                "{\"progress_snapshot\":[{\"label\":\"one\",\"status\":\"done\"}]}"));
	given("INSERT INTO checkpoint (id, session_id, label, session_state, workspace_root, kind,"
	      " machine, state, created_at, updated_at) SELECT 'c1', id, 'before', '{}', '/w',"
	      " 'ordered', 'elsewhere', 'queued', created_at, created_at FROM session;"
	      "INSERT INTO checkpoint (id, session_id, session_state, workspace_root, kind,"
	      " machine, state, created_at, updated_at) SELECT 'c2', id, '{}', '/w',"
	      " 'diff', 'elsewhere', 'queued', created_at, created_at FROM session;"
	      "UPDATE checkpoint SET state = 'claimed' WHERE id IN ('c1', 'c2');"
	      "UPDATE checkpoint SET state = 'done', manifest = printf('%064d', 1), files = 0"
	      " WHERE id IN ('c1', 'c2')");
	agent_begin(&a, &w[0], "check_clearance", asked, NULL);
	expect_soon(OPEN, "1\n");
	agent_begin(&a, &w[1], "transmit", PROMPT, NULL);
	expect_soon(OPEN, "2\n");
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
	done = agent_write(&a, check.bytes);
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
	end_system();
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

int main(void)
{
	Suite *s = suite_create("slack_story_restarts");
	TCase *restarts = store_case(s, "slack_restarts", 60);

	tcase_add_test(restarts, a_prompt_is_continued_refined_or_stopped_by_its_buttons);
	tcase_add_test(
	    restarts,
	    a_prompt_that_nobody_answers_goes_on_after_the_time_of_its_type_and_slack_is_told);
	tcase_add_test(restarts,
	               modes_are_switched_by_the_agent_ctl_and_slack_and_outlive_a_restart);
	tcase_add_test(restarts, a_stop_in_the_middle_of_every_state_loses_nothing);
	tcase_add_test(restarts, a_crash_in_the_middle_of_every_state_loses_nothing);
	return run_suite(s);
}
