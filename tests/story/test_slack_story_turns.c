/* The turns of an agent that is started from Slack: its activity is one message that is edited, and
 * the end of a turn asks what comes next, once. */
#include "slack_story_case.h"

#include <signal.h>

START_TEST(resume_prompts_the_agent_once_however_often_it_is_pressed)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *id = NULL;
	OWNED(char_ptr) char *before = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	before = shown_now(ts);
	says(before, "The agent has ended its turn.");
	says(before, "turn_resume");
	says(before, "turn_instruct");
	says(before, "turn_stop");
	edits_wait(30); /* the buttons are still there */
	id = xstrdup(member(slack_deliver("{'click':{'channel':'C01AGENTS','ts':'%s',"
	                                  "'action_id':'turn_resume'}}",
	                                  ts),
	                    "envelope_id"));
	(void)slack_wait_for("ack");
	(void)slack_order("redeliver", "{'envelope_id':'%s','new_id':true}", id);
	(void)slack_wait_for("ack");
	press_and_wait(ts, "turn_resume"); /* a double click */
	press_and_wait(ts, "turn_stop");
	pass_time_until("SELECT number, stop FROM agent_turn ORDER BY number",
	                "1|end_turn\n2|end_turn\n");
	expect("SELECT text, operator_id, source FROM steering",
	       "Continue.|slack:T01TEAM:U01OP|slack\n");
	expect("SELECT count(*) FROM slack_outbox WHERE kind = 'ephemeral'"
	       " AND text LIKE 'too late: %answered this turn already%'",
	       "2\n");
	expect("SELECT status FROM session", "active\n");
	after = shown_now(ts);
	says(after, "Next, from <@U01OP>: “Continue.”");
	is_not_in(after, "turn_resume");
	end_system();
}
END_TEST

START_TEST(who_presses_resume_while_the_session_is_paused_is_told_when_it_counts)
{
	OWNED(char_ptr) char *ts = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	given("UPDATE session SET status = 'paused'");
	press_and_wait(ts, "turn_resume");
	expect("SELECT text LIKE 'Noted: the agent is told when its session is resumed"
	       " (`session-resume`): “Continue.”' FROM slack_outbox WHERE kind = 'ephemeral'",
	       "1\n");
	end_system();
}
END_TEST

START_TEST(instruct_takes_words_in_a_form_and_they_are_the_next_prompt)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	press_and_wait(ts, "turn_instruct");
	pass_time_until(
	    "SELECT count(*) FROM slack_outbox WHERE view = 'instruct' AND state = 'sent'", "1\n");
	(void)slack_acked(
	    "{'submit':{'values':{'instruction_block':{'instruction_text':'now the docs'}}}}");
	pass_time_until("SELECT number, stop FROM agent_turn ORDER BY number",
	                "1|end_turn\n2|end_turn\n");
	expect("SELECT text FROM steering", "now the docs\n");
	expect("SELECT text FROM agent_line WHERE kind = 'text'", "mend it\nnow the docs\n");
	after = shown_now(ts);
	says(after, "“now the docs”");
	is_not_in(after, "turn_resume");
	end_system();
}
END_TEST

START_TEST(stop_ends_the_session_and_a_click_after_that_does_nothing)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	all_is_said();
	edits_wait(300);
	press_and_wait(ts, "turn_stop");
	pass_time_until("SELECT state, outcome FROM agent_run", "ended|stopped\n");
	press_and_wait(ts, "turn_resume");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT count(*) FROM slack_outbox WHERE kind = 'ephemeral'"
	       " AND text = 'too late: the session has ended'",
	       "1\n");
	after = shown_now(ts);
	is_not_in(after, "turn_resume");
	says(after, "Its session has ended.");
	end_system();
}
END_TEST

START_TEST(words_that_a_restart_leaves_untold_are_not_what_came_next)
{
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *turn = NULL;

	a_system_with_an_agent("mend it", "\"ask:a.c\"");
	head = ts_of("session");
	pass_time_until("SELECT state FROM request", "pending\n");
	(void)slack_acked("{'message':{'text':'steer use tabs','thread_ts':'%s'}}", head);
	pass_time_until("SELECT count(*) FROM steering", "1\n");
	(void)slack_acked("{'message':{'text':'session-restart','thread_ts':'%s'}}", head);
	pass_time_until("SELECT outcome FROM agent_run WHERE seq = 1", "stopped\n");
	ts = ts_of("turn");
	turn = shown_now(ts);
	says(turn, "Its session has ended.");
	is_not_in(turn, "use tabs");
	expect("SELECT kind FROM slack_message WHERE kind IN ('ended', 'restarted') ORDER BY seq",
	       "ended\nrestarted\n");
	end_system();
}
END_TEST

START_TEST(an_agent_that_is_killed_in_a_turn_did_not_go_on_by_itself)
{
	OWNED(char_ptr) char *pid = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *turn = NULL;

	a_system_with_an_agent("mend it", "\"ask:a.c\"");
	pass_time_until("SELECT state FROM request", "pending\n");
	pid = rows("SELECT pid FROM agent_run");
	ck_assert_int_eq(kill((pid_t)atoi(pid), SIGKILL), 0);
	ts = ts_of("turn");
	pass_time_until("SELECT outcome FROM agent_run", "exited\n");
	turn = shown_now(ts);
	says(turn, "Its session has ended.");
	is_not_in(turn, "by itself");
	end_system();
}
END_TEST

START_TEST(the_turn_of_an_interrupted_session_says_that_it_can_be_resumed)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *turn = NULL;
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	all_is_said();
	edits_wait(30);
	ck_assert_int_eq(kill(worker_pid("runner-1"), SIGKILL), 0);
	pass_time_until("SELECT status FROM session", "interrupted\n");
	press_and_wait(ts, "turn_resume");
	whispered("too late: the session was interrupted; `session-resume` continues it");
	turn = shown_now(ts);
	says(turn, "Its session was interrupted: `session-resume` continues it.");
	is_not_in(turn, "has ended.\"");
	is_not_in(turn, "turn_resume");
	head = ts_of("session");
	(void)slack_acked("{'message':{'text':'resume','thread_ts':'%s'}}", head);
	pass_time_until("SELECT status FROM session", "active\n");
	after = shown_now(ts);
	says(after, "Its session was interrupted, and has been resumed.");
	is_not_in(after, "session-resume");
	end_system();
}
END_TEST

START_TEST(a_stop_of_the_system_is_followed_by_its_start_and_the_head_resumes)
{
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *stopped = NULL;
	OWNED(char_ptr) char *resumed = NULL;

	a_system_with_an_agent("mend it", "\"text:I begin.\", \"wait\"");
	free(ts_of("agent"));
	head = ts_of("session");
	all_is_said();
	given("CREATE TEMP TABLE told AS SELECT max(seq) AS seq FROM slack_message");
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT status FROM session", "interrupted\n");
	expect("SELECT kind FROM slack_message WHERE seq > (SELECT seq FROM told)", "server\n");
	site_start(&site);
	stopped = shown_now(head);
	says(stopped, "session_resume");
	/* Also on a machine too busy to tell the stop in time. */
	expect_soon("SELECT kind, detail ->> 'about', state FROM slack_message"
	            " WHERE seq > (SELECT seq FROM told) ORDER BY seq DESC LIMIT 1",
	            "server|start|sent\n");
	press_and_wait(head, "session_resume");
	pass_time_until("SELECT status FROM session", "active\n");
	resumed = shown_now(head);
	is_not_in(resumed, "session_resume");
	end_system();
}
END_TEST

START_TEST(words_to_an_interrupted_session_wait_for_its_own_agent)
{
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *said = NULL;
	struct agent other;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	free(ts_of("turn"));
	head = ts_of("session");
	ck_assert_int_eq(kill(worker_pid("runner-1"), SIGKILL), 0);
	pass_time_until("SELECT status FROM session", "interrupted\n");
	(void)slack_acked("{'message':{'text':'the docs, too','thread_ts':'%s'}}", head);
	pass_time_until("SELECT text FROM slack_message WHERE kind = 'reply'",
	                "Noted: the agent is told when its session is resumed (`session-resume`): "
	                "“the docs, too”\n");
	other = agent_hello(front_port(), "", "2025-11-25");
	said = call_for_message(&other, "ping", "{}");
	is_not_in(said, "the docs, too");
	(void)slack_acked("{'message':{'text':'resume','thread_ts':'%s'}}", head);
	pass_time_until("SELECT delivered_at IS NOT NULL FROM steering", "1\n");
	end_system();
}
END_TEST

START_TEST(activity_is_one_message_with_few_edits)
{
	OWNED(str) struct str steps = { 0 };
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	for (int i = 1; i <= 60; i++)
		str_addf(&steps, "\"tool:step %d\", ", i);
	str_add(&steps, "\"plan:mend <it>\", \"tool:git <diff>\", \"text:Done.\"");
	a_system_with_an_agent("mend it", steps.bytes);
	ts = ts_of("activity");
	pass_time_until("SELECT stop FROM agent_turn", "end_turn\n");
	message = shown_now(ts);
	says(message, "*Worked*: 61 calls of tools");
	says(message, "… 51 before\\n✅ step 52\\n");
	says(message, "✅ step 60\\n✅ git <diff>");
	says(message, "✅ look\\n🔄 mend <it>");
	expect("SELECT count(*) FROM agent_line WHERE kind = 'tool'", "61\n");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'activity'", "1\n");
	expect("SELECT count(*) <= 3 FROM slack_outbox AS o JOIN slack_message AS m"
	       " ON m.seq = o.message_seq WHERE m.kind = 'activity'",
	       "1\n");
	end_system();
}
END_TEST

START_TEST(words_in_the_thread_say_when_they_are_told)
{
	OWNED(char_ptr) char *head = NULL;

	a_system_with_an_agent("mend it", "\"ask:a.c\"");
	head = ts_of("session");
	pass_time_until("SELECT state FROM request", "pending\n");
	(void)slack_acked("{'message':{'text':'steer use tabs','thread_ts':'%s'}}", head);
	(void)slack_acked("{'message':{'text':'steer and the docs','thread_ts':'%s'}}", head);
	pass_time_until(
	    "SELECT text FROM slack_message WHERE kind = 'reply' ORDER BY seq",
	    "Noted: the agent is told when its turn ends; it is its next prompt: “use tabs”\n"
	    "Noted: the agent is told after what was said before it; each is a prompt of "
	    "its own: “and the docs”\n");
	end_system();
}
END_TEST

START_TEST(words_after_a_turn_are_told_now)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	head = ts_of("session");
	(void)slack_acked("{'message':{'text':'now the docs','thread_ts':'%s'}}", head);
	pass_time_until("SELECT text FROM slack_message WHERE kind = 'reply'",
	                "Noted: the agent is told now; it is its next prompt: “now the docs”\n");
	pass_time_until("SELECT count(*) FROM agent_turn WHERE stop = 'end_turn'", "2\n");
	after = shown_now(ts);
	says(after, "Next, from <@U01OP>: “now the docs”");
	end_system();
}
END_TEST

START_TEST(continue_and_resume_after_a_turn_are_the_next_prompt)
{
	static const char *const SAID[] = { "continue", "resume" };
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *head = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	head = ts_of("session");
	for (size_t i = 0; i < COUNT(SAID); i++) {
		OWNED(str) struct str ended = { 0 };

		(void)slack_acked("{'message':{'text':'%s','thread_ts':'%s'}}", SAID[i], head);
		str_addf(&ended, "%zu\n", i + 2);
		pass_time_until("SELECT count(*) FROM agent_turn WHERE stop = 'end_turn'",
		                ended.bytes);
	}
	expect("SELECT DISTINCT text FROM slack_message WHERE kind = 'reply'",
	       "Noted: the agent is told now; it is its next prompt: “Continue.”\n");
	expect("SELECT text FROM agent_line WHERE kind = 'text'",
	       "mend it\nContinue.\nContinue.\n");
	end_system();
}
END_TEST

/* It may be meant for a question that has gone. */
START_TEST(a_lone_verdict_after_a_turn_tells_the_agent_nothing)
{
	static const char *const SAID[] = { "yes", "ok", "no", "approve", "reject" };
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *head = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	ts = ts_of("turn");
	head = ts_of("session");
	for (size_t i = 0; i < COUNT(SAID); i++)
		(void)slack_acked("{'message':{'text':'%s','thread_ts':'%s'}}", SAID[i], head);
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'reply'", "5\n");
	expect("SELECT text FROM slack_message WHERE kind = 'reply' ORDER BY seq LIMIT 1",
	       "nothing waits for `yes`. The agent has ended its turn: `continue` lets it go on. "
	       "To tell the agent something: `steer <text>`\n");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'reply'"
	       " AND text LIKE 'nothing waits for %`continue` lets it go on%'",
	       "5\n");
	expect("SELECT count(*) FROM steering", "0\n");
	(void)slack_acked("{'message':{'text':'yes, please','thread_ts':'%s'}}", head);
	pass_time_until("SELECT text FROM slack_message WHERE kind = 'reply' ORDER BY seq DESC"
	                " LIMIT 1",
	                "Noted: the agent is told now; it is its next prompt: “yes, please”\n");
	pass_time_until("SELECT text FROM steering", "yes, please\n");
	end_system();
}
END_TEST

START_TEST(a_session_whose_turn_has_ended_is_resumed_by_its_id_with_words)
{
	static const char *const WORDS[][2] = { { "resume", "" },
		                                { "resume", "now the docs" },
		                                { "refine", "and the tests" } };
	OWNED(char_ptr) char *id = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	free(ts_of("turn"));
	id = rows("SELECT id FROM session");
	id[strcspn(id, "\n")] = '\0';
	for (size_t i = 0; i < COUNT(WORDS); i++) {
		OWNED(str) struct str ended = { 0 };

		says(member(
		         slack_acked("{'slash':{'text':'%s %s %s'}}", WORDS[i][0], id, WORDS[i][1]),
		         "payload.text"),
		     "Noted: the agent is told now; it is its next prompt: “");
		str_addf(&ended, "%zu\n", i + 2);
		pass_time_until("SELECT count(*) FROM agent_turn WHERE stop = 'end_turn'",
		                ended.bytes);
	}
	expect("SELECT text FROM agent_line WHERE kind = 'text'",
	       "mend it\nContinue.\nnow the docs\nand the tests\n");
	end_system();
}
END_TEST

START_TEST(a_turn_that_ended_in_local_mode_is_shown_when_slack_may_answer_again)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	a_system_with_an_agent("mend it", "\"ask:a.c\", \"text:Done with it.\"");
	pass_time_until("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(ctl(NULL, "mode local"), 0);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	pass_time_until("SELECT stop FROM agent_turn", "end_turn\n");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'turn'", "0\n");
	ck_assert_int_eq(ctl(NULL, "mode remote"), 0);
	ts = ts_of("turn");
	message = shown_now(ts);
	says(message, "turn_resume");
	pass_time_until("SELECT count(*) FROM slack_message AS m JOIN agent_line AS l"
	                " ON l.seq = json_extract(m.detail, '$.line') WHERE m.kind = 'agent'"
	                " AND l.text LIKE '%Done with it.' AND m.ts IS NOT NULL",
	                "1\n");
	press_and_wait(ts, "turn_stop");
	pass_time_until("SELECT outcome FROM agent_run", "stopped\n");
	ck_assert_int_eq(ctl(NULL, "mode local"), 0);
	ck_assert_int_eq(ctl(NULL, "mode remote"), 0);
	expect("SELECT count(*) FROM slack_message WHERE kind = 'turn'", "1\n");
	end_system();
}
END_TEST

/* The ts of the note of a runner, once Slack has it. */
static char *ts_of_note(void)
{
	char *ts;

	pass_time_until("SELECT count(*) FROM slack_message AS m JOIN agent_line AS l"
	                " ON l.seq = json_extract(m.detail, '$.line')"
	                " WHERE l.kind = 'note' AND m.ts IS NOT NULL",
	                "1\n");
	ts = rows("SELECT m.ts FROM slack_message AS m JOIN agent_line AS l"
	          " ON l.seq = json_extract(m.detail, '$.line') WHERE l.kind = 'note'");
	ts[strcspn(ts, "\n")] = '\0';
	return ts;
}

START_TEST(a_parked_session_that_waits_for_a_budget_has_its_button)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	a_system_with_an_agent("mend it", "\"text:%p\"");
	free(ts_of("turn"));
	given("UPDATE session SET status = 'parked';"
	      "INSERT INTO agent_line (run_seq, kind, text, detail, at, over_at)"
	      " SELECT run_seq, 'note', 'The budget is used up.',"
	      " '{\"waits\":true,\"paused\":true}', at, at FROM agent_line LIMIT 1");
	ts = ts_of_note();
	message = shown(ts);
	says(message, "The budget is used up.");
	ck_assert_ptr_null(strstr(message, "rich_text_quote")); /* that is what the agent says */
	says(message, "session_resume");
	end_system();
}
END_TEST

START_TEST(a_budget_that_is_used_up_is_resumed_by_a_button)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	a_system_with_an_agent("mend it", "\"ask:a.c\", \"usage:600\"");
	ts = ts_of("ask");
	given("UPDATE setting SET value = '5.00 USD' WHERE name = 'budget.session'");
	press_and_wait(ts, "approve_accept");
	free(ts);
	pass_time_until("SELECT status FROM session", "paused\n");
	ts = ts_of_note();
	message = shown(ts);
	says(message, "is used up");
	press_and_wait(ts, "session_resume");
	expect("SELECT status FROM session", "active\n");
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_turns");
	TCase *c = store_case(s, "turns", 60);

	tcase_add_test(c, resume_prompts_the_agent_once_however_often_it_is_pressed);
	tcase_add_test(c, who_presses_resume_while_the_session_is_paused_is_told_when_it_counts);
	tcase_add_test(c, instruct_takes_words_in_a_form_and_they_are_the_next_prompt);
	tcase_add_test(c, stop_ends_the_session_and_a_click_after_that_does_nothing);
	tcase_add_test(c, words_that_a_restart_leaves_untold_are_not_what_came_next);
	tcase_add_test(c, an_agent_that_is_killed_in_a_turn_did_not_go_on_by_itself);
	tcase_add_test(c, the_turn_of_an_interrupted_session_says_that_it_can_be_resumed);
	tcase_add_test(c, a_stop_of_the_system_is_followed_by_its_start_and_the_head_resumes);
	tcase_add_test(c, words_to_an_interrupted_session_wait_for_its_own_agent);
	tcase_add_test(c, activity_is_one_message_with_few_edits);
	tcase_add_test(c, words_in_the_thread_say_when_they_are_told);
	tcase_add_test(c, words_after_a_turn_are_told_now);
	tcase_add_test(c, continue_and_resume_after_a_turn_are_the_next_prompt);
	tcase_add_test(c, a_lone_verdict_after_a_turn_tells_the_agent_nothing);
	tcase_add_test(c, a_session_whose_turn_has_ended_is_resumed_by_its_id_with_words);
	tcase_add_test(c, a_turn_that_ended_in_local_mode_is_shown_when_slack_may_answer_again);
	tcase_add_test(c, a_parked_session_that_waits_for_a_budget_has_its_button);
	tcase_add_test(c, a_budget_that_is_used_up_is_resumed_by_a_button);
	return run_suite(s);
}
