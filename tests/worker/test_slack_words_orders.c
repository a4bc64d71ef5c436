/* What operators write in Slack: which words are orders, what they are about, and that every one of
 * them arrives as it was said, or is refused by name. */
#include "agent.h"
#include "slack_peer.h"
#include "slack_words_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words behind a verdict ---- */

START_TEST(continue_with_words_is_refine)
{
	slack();
	a_prompt();
	in_thread("continue with the tests only");
	expect("SELECT decision, instruction FROM request", "refine|with the tests only\n");
	slack_stop();
}
END_TEST

START_TEST(stop_and_reject_carry_the_words_as_the_reason)
{
	slack();
	a_change(CHANGE);
	a_prompt();
	in_thread("stop we do it tomorrow");
	in_thread("reject 404 is not handled");
	expect("SELECT decision, reason FROM request ORDER BY seq",
	       "reject|404 is not handled\nstop|we do it tomorrow\n");
	expect("SELECT status FROM session", "active\n");
	slack_stop();
}
END_TEST

/* ---- verdicts where nothing waits ---- */

START_TEST(a_verdict_after_the_deadline_is_told_so_and_is_nothing_for_the_agent)
{
	slack();
	a_change(CHANGE);
	given("UPDATE request SET deadline_at = '" T "';"
	      "INSERT INTO decision (request_id, verdict, source, operator_id) VALUES"
	      " ('" CHANGE "', 'timeout', 'timeout', 'system:clock')");
	in_thread("approve");
	replies("nothing waits for `approve`: 01911111-0000: Change a.c (a.c) expired at ");
	replies("To have it asked again, tell its agent: `steer <text>`");
	in_thread("approve 01911111-0000");
	replies("; `steer` its agent to ask again");
	in_thread("ok");
	replies("expired at ");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

START_TEST(a_rejection_after_the_approval_is_told_how_it_stands)
{
	slack();
	a_change(CHANGE);
	in_thread("approve");
	in_thread("reject sorry, wrong button");
	replies("was approved by slack:T01TEAM:U01OP at ");
	replies(". To tell the agent something: `steer <text>`");
	replies("is not written yet");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT count(*) FROM decision", "1\n");
	slack_stop();
}
END_TEST

START_TEST(sentences_that_begin_with_a_verb_are_told_to_the_agent_where_nothing_waits)
{
	slack();
	in_thread("stop using tabs, please");
	in_thread("continue with the docs");
	in_thread("help me with the tests");
	in_thread("file a bug about it");
	expect("SELECT text, outcome FROM steering ORDER BY seq",
	       "stop using tabs, please|accepted\ncontinue with the docs|accepted\n"
	       "help me with the tests|accepted\nfile a bug about it|accepted\n");
	expect("SELECT status FROM session", "active\n");
	slack_stop();
}
END_TEST

START_TEST(a_question_that_slack_may_not_answer_is_said_to_wait_at_its_machine)
{
	slack();
	a_change(CHANGE);
	given("INSERT INTO command (verb, argument) VALUES ('mode', 'local')");
	in_thread("use tabs");
	replies("takes an answer at its machine: the session is in local mode");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

#define SWITCH_FIRST "or switch with `mode hybrid 01900000-0000` first"

START_TEST(of_a_session_in_local_mode_slack_says_where_to_do_what_is_asked)
{
	static const char *const ORDERS[] = { "pause", "steer use tabs", "nudge", "resume" };

	slack();
	an_unsent_question(CHANGE, "clearance", "Change a.c",
	                   ", file_path, risk_level, original_hash", ", 'a.c', 'low', 'new_file'");
	given("INSERT INTO command (verb, argument) VALUES ('mode', 'local')");
	says(command("approve"), "nothing waits for `approve` that Slack may answer. Session "
	                         "01900000-0000 (claude in web) is in local mode: do that at its "
	                         "machine, " SWITCH_FIRST);
	for (size_t i = 0; i < COUNT(ORDERS); i++)
		says(command(ORDERS[i]), SWITCH_FIRST);
	says(command("approve " CHANGE), SWITCH_FIRST);
	in_mention("please use tabs");
	replies("the live sessions in this channel are in local mode. Session 01900000-0000");
	in_thread("approve");
	replies("nothing was done: the session of 01911111-0000: Change a.c (a.c) is in local "
	        "mode: answer at its machine, " SWITCH_FIRST);
	given("INSERT INTO decision (request_id, verdict) VALUES ('" CHANGE "', 'reject')");
	says(command("approve"), "nothing waits for `approve`");
	in_thread("use tabs");
	replies("the session is in local mode, and its agent was not told: say it at its "
	        "machine, " SWITCH_FIRST);
	expect("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "0\n");
	expect("SELECT status FROM session", "active\n");
	slack_stop();
}
END_TEST

/* ---- mentions and ids ---- */

START_TEST(a_mention_that_is_a_sentence_is_told_to_the_agent)
{
	slack();
	in_mention("stop using tabs, please");
	in_mention("mode local variables are fine");
	in_mention("approve of this approach in the docs");
	expect("SELECT text, outcome FROM steering ORDER BY seq",
	       "stop using tabs, please|accepted\nmode local variables are fine|accepted\n"
	       "approve of this approach in the docs|accepted\n");
	expect("SELECT status, mode FROM session", "active|hybrid\n");
	slack_stop();
}
END_TEST

START_TEST(of_several_sessions_a_mention_asks_which_is_meant)
{
	slack();
	a_session(2, "01900000-0000-7000-8000-000000000002", "/ws/api");
	in_mention("stop using tabs, please");
	replies("which session is that for? Reply in its thread, or say `steer <session> <text>`:\n"
	        "  01900000-0000-7000");
	expect("SELECT count(*) FROM steering", "0\n");
	in_mention("steer 01900000-0000-7000-8000-000000000002 stop using tabs, please");
	expect("SELECT session_seq, text, outcome FROM steering",
	       "2|stop using tabs, please|accepted\n");
	slack_stop();
}
END_TEST

START_TEST(a_mention_that_is_a_verb_alone_or_a_verb_and_an_id_is_an_order)
{
	slack();
	a_change(CHANGE);
	a_change("01944444-0000-7000-8000-00000000000d");
	in_mention("approve 01911111");
	expect("SELECT state FROM request ORDER BY seq", "approved\npending\n");
	in_mention("Approve!");
	replies("Approved 01944444-0000: Change a.c (a.c)");
	in_mention("mode remote 0190");
	expect("SELECT mode FROM session", "remote\n");
	in_mention("stop");
	expect("SELECT status FROM session", "terminated\n");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

START_TEST(an_answer_with_an_id_and_words_is_for_that_question_wherever_it_is_written)
{
	slack();
	a_session(2, "01900000-0000-7000-8000-000000000002", "/ws/api");
	a_change(CHANGE);
	a_prompt();
	(void)slack_acked("{'message':{'text':'refine " PROMPT " use tabs',"
	                  "'thread_ts':'1700000000.000200'}}");
	expect("SELECT decision, instruction FROM request WHERE kind = 'prompt'",
	       "refine|use tabs\n");
	in_mention("reject " CHANGE " no tests");
	expect("SELECT decision, reason FROM request WHERE kind = 'clearance'",
	       "reject|no tests\n");
	/* those that are settled, too: their words are for nobody else */
	(void)slack_acked("{'message':{'text':'continue " PROMPT " but faster',"
	                  "'thread_ts':'1700000000.000200'}}");
	replies("already answered with 'refine' by ");
	in_mention("stop " PROMPT " wrong idea");
	replies("already answered with 'refine' by ");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT status FROM session", "active\nactive\n");
	slack_stop();
}
END_TEST

START_TEST(an_id_that_fits_nothing_does_nothing_and_is_told_what_there_is)
{
	slack();
	a_change(CHANGE);
	says(command("approve 02b3c4d"),
	     "no question has an id that begins with '02b3c4d'; waiting for this:\n  "
	     "01911111-0000-7000: Change a.c (a.c), "
	     "claude in web");
	expect("SELECT state FROM request", "pending\n");
	says(command("stop frontend-agent"),
	     "no session has an id that begins with 'frontend-agent'; live are:\n  "
	     "01900000-0000-7000, claude in web");
	says(command("pause 0200"), "no session has an id that begins with '0200'");
	expect("SELECT status FROM session", "active\n");
	says(command("mode local nosuch"), "no session has an id that begins with 'nosuch'");
	expect("SELECT mode FROM session", "hybrid\n");
	expect("SELECT outcome FROM decision", "not_found\n");
	slack_stop();
}
END_TEST

START_TEST(four_characters_of_an_id_are_enough_where_one_begins_so)
{
	slack();
	a_change(CHANGE);
	a_prompt();
	says(command("approve 0191"), "Approved 01911111-0000: Change a.c (a.c)");
	says(command("continue 019"), ""); /* three are words */
	expect("SELECT decision, instruction FROM request WHERE kind = 'prompt'", "refine|019\n");
	slack_stop();
}
END_TEST

START_TEST(an_id_that_several_begin_with_is_asked_back)
{
	slack();
	a_change(CHANGE);
	a_change("01911111-0000-7100-8000-00000000000d");
	says(command("approve 01911111"),
	     "several questions have an id that begins with this; name one, `approve "
	     "&lt;id&gt;`:\n  "
	     "01911111-0000-7000: Change a.c (a.c), claude in web\n  01911111-0000-7100: ");
	expect("SELECT count(*) FROM decision", "0\n");
	slack_stop();
}
END_TEST

START_TEST(of_those_that_an_id_fits_a_verb_offers_only_what_it_answers)
{
	slack();
	a_change(CHANGE);
	a_change("01911111-0000-7100-8000-00000000000d");
	says(command("refine 01911111 use tabs"),
	     "no question with an id that begins with this takes `refine`:\n  "
	     "01911111-0000-7000: Change a.c (a.c), claude in web\n  01911111-0000-7100: ");
	expect("SELECT count(*) FROM decision", "0\n");
	a_question("01911111-0000-7200-8000-00000000000e", "prompt", "Go on?", ", prompt_type",
	           ", 'continuation'");
	says(command("refine 01911111 use tabs"), "Refined 01911111-0000: Go on?");
	expect("SELECT instruction FROM request WHERE kind = 'prompt'", "use tabs\n");
	slack_stop();
}
END_TEST

START_TEST(a_bare_verb_takes_the_only_one_that_waits_and_says_which)
{
	slack();
	a_change(CHANGE);
	says(command("reject"), "Rejected 01911111-0000: Change a.c (a.c)");
	expect("SELECT state, reason FROM request", "rejected|\n");
	says(command("pause"), "Session 01900000-0000 (claude in web) is paused.");
	says(command("approve"), "nothing waits for `approve`");
	slack_stop();
}
END_TEST

START_TEST(mode_alone_says_which_it_is)
{
	slack();
	says(command("mode"), "New sessions are in local mode");
	in_thread("mode");
	replies("The session is in hybrid mode.");
	expect("SELECT count(*) FROM command WHERE verb = 'mode'", "0\n");
	slack_stop();
}
END_TEST

START_TEST(of_several_sessions_the_only_one_with_a_connected_agent_is_meant_but_not_ended)
{
	slack();
	a_session(2, "01900000-1111-7000-8000-000000000002", "/ws/api");
	given("UPDATE session SET connectivity_status = 'offline' WHERE seq = 2");
	says(command("stop"), "several sessions are live here; name one");
	says(command("pause"), "Session 01900000-0000 (claude in web) is paused.");
	slack_stop();
}
END_TEST

START_TEST(of_several_sessions_none_is_paused_or_stopped_without_its_id)
{
	slack();
	a_session(2, "01900000-1111-7000-8000-000000000002", "/ws/api");
	says(command("stop"), "several sessions are live here; name one, `stop &lt;id&gt;`:\n  "
	                      "01900000-1111-7000, claude in api\n  01900000-0000-7000, claude in "
	                      "web");
	says(command("pause"),
	     "several sessions are live here; name one, `session-pause &lt;id&gt;`:");
	says(command("session-clear"), "are live here; name one, `session-clear &lt;id&gt;`:");
	expect("SELECT status FROM session", "active\nactive\n");
	slack_stop();
}
END_TEST

START_TEST(of_several_sessions_none_is_steered_without_its_id)
{
	slack();
	a_session(2, "01900000-1111-7000-8000-000000000002", "/ws/api");
	says(command("steer mind the gap"),
	     "several sessions could be meant; name one, `steer &lt;id&gt; &lt;text&gt;`:\n  "
	     "01900000-1111-7000, claude in api\n  01900000-0000-7000, claude in web");
	expect("SELECT count(*) FROM steering", "0\n");
	says(command("steer 01900000-0000 mind the step"),
	     "Noted: the agent is told with its next step: “mind the step”");
	expect("SELECT session_seq, text FROM steering", "1|mind the step\n");
	slack_stop();
}
END_TEST

START_TEST(of_several_sessions_the_only_one_that_is_connected_is_steered_by_name)
{
	slack();
	a_session(2, "01900000-1111-7000-8000-000000000002", "/ws/api");
	given("UPDATE session SET connectivity_status = 'offline' WHERE seq = 2");
	says(command("steer mind the gap"), "Noted: the agent of session 01900000-0000 (claude in "
	                                    "web) is told with its next step: “mind the gap”");
	says(command("steer 01900000 mind the step"), "several sessions could be meant; name one");
	expect("SELECT session_seq, text FROM steering", "1|mind the gap\n");
	slack_stop();
}
END_TEST

/* ---- texts ---- */

#define CODE "Map\\u003cString, List\\u003cT\\u003e\\u003e m = a\\u003cb \\u0026\\u0026 c\\u003ed;"

START_TEST(what_is_typed_into_a_form_or_a_command_arrives_unchanged)
{
	slack();
	a_prompt();
	(void)submit("prompt_refine", PROMPT,
	             "'  " CODE "\\u00a0\\u201cx\\u201d\\n\\ttabs, too\\n'");
	expect("SELECT instruction FROM request",
	       "  Map<String, List<T>> m = a<b && c>d;\xC2\xA0\xE2\x80\x9Cx\xE2\x80\x9D\n"
	       "\ttabs, too\n\n");
	says(command("steer " CODE "  \\u201cx\\u201d"), "Noted");
	expect("SELECT text FROM steering",
	       "Map<String, List<T>> m = a<b && c>d;  \xE2\x80\x9Cx\xE2\x80\x9D\n");
	slack_stop();
}
END_TEST

START_TEST(what_is_written_in_a_message_arrives_without_the_escapes_of_slack)
{
	slack();
	in_thread("use " CODE " and \\u003chttps://x.org|the page\\u003e");
	expect("SELECT text FROM steering",
	       "use Map<String, List<T>> m = a<b && c>d; and the page (https://x.org)\n");
	slack_stop();
}
END_TEST

START_TEST(a_reject_form_without_words_rejects)
{
	slack();
	a_change(CHANGE);
	ck_assert_str_eq(member(submit("approval_reject", CHANGE, "null"), "payload.errors"), "");
	expect("SELECT state, reason FROM request", "rejected|\n");
	slack_stop();
}
END_TEST

START_TEST(a_form_that_comes_too_late_names_who_was_first_in_words)
{
	slack();
	a_change(CHANGE);
	click("U02OP", "approve_accept", CHANGE);
	says(member(submit("approval_reject", CHANGE, "'no'"), "payload.errors.instruction_block"),
	     "already approved by another operator at ");
	ck_assert_ptr_null(strstr(
	    member(submit("approval_reject", CHANGE, "'no'"), "payload.errors.instruction_block"),
	    "slack:"));
	says(command("reject " CHANGE " no"), "already approved by <@U02OP> at <!date^");
	slack_stop();
}
END_TEST

/* An error in its place would leave the form open, and it would be sent again. */
START_TEST(a_nudge_from_a_form_closes_it_and_is_confirmed_in_the_thread_of_its_session)
{
	slack();
	ck_assert_str_eq(member(submit("stall_nudge", SESSION, "'wake up'"), "payload"), "");
	expect("SELECT kind, text, outcome FROM steering", "nudge|wake up|accepted\n");
	expect(
	    "SELECT m.text, r.kind, r.session_seq FROM slack_message AS m JOIN slack_message AS r"
	    " ON r.seq = m.root_seq WHERE m.kind = 'reply'",
	    "Noted: the agent is told with its next step: “wake up”|session|1\n");
	slack_stop();
}
END_TEST

/* ---- what is no word ---- */

static void in_thread_with_file(const char *text)
{
	(void)slack_acked("{'message':{'text':'%s','thread_ts':'" THREAD
	                  "','subtype':'file_share','event':{'files':[{'id':'F1'}]}}}",
	                  text);
}

START_TEST(a_file_without_words_answers_nothing_and_that_is_said)
{
	slack();
	a_standby();
	in_thread_with_file("");
	replies("Nothing was done: only words are passed on, no files");
	in_thread_with_file("<@U0BOT>");
	replies("Nothing was done: only words are passed on, no files");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM steering", "0\n");
	in_thread(""); /* a message of another person, forwarded */
	replies("Nothing was done: only words are passed on, no files");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(a_mention_alone_in_a_thread_asks_for_help_and_resumes_nobody)
{
	slack();
	a_standby();
	in_thread("<@U0BOT>");
	replies("*Answers*");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(words_that_come_with_a_file_are_taken_without_it_and_that_is_said)
{
	slack();
	a_standby();
	in_thread_with_file("make it look like this");
	replies("\nThe file was not passed on: only the words are");
	expect("SELECT state, instruction FROM request", "answered|make it look like this\n");
	in_thread("and faster");
	OWNED(char_ptr) char *without = rows(LAST_REPLY);
	ck_assert_ptr_null(strstr(without, "The file"));
	a_change(CHANGE);
	in_thread_with_file("approve but as in the picture");
	replies("\nThe file was not passed on: only the words are");
	slack_stop();
}
END_TEST

/* ---- free text, single words, hints ---- */

START_TEST(words_where_several_questions_wait_are_told_that_several_do)
{
	slack();
	a_standby();
	a_question("01944444-0000-7000-8000-00000000000d", "standby", "Ready, too", "", "");
	in_thread("write the docs next");
	replies("2 questions wait here, and that answers none of them; nothing was done. They take "
	        "`resume [text]`, `stop [why]`; a word that several take needs an id: `inbox`");
	expect("SELECT DISTINCT state FROM request", "pending\n");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

START_TEST(free_text_to_an_agent_on_standby_is_its_instruction)
{
	slack();
	a_standby();
	in_thread("write the docs next");
	expect("SELECT state, decision, instruction FROM request",
	       "answered|resume|write the docs next\n");
	expect("SELECT count(*) FROM steering", "0\n");
	in_thread("and mind the gap");
	expect("SELECT text FROM steering", "and mind the gap\n");
	slack_stop();
}
END_TEST

START_TEST(a_mention_of_an_agent_on_standby_is_its_instruction)
{
	slack();
	a_standby();
	in_mention("stop using tabs and write the docs");
	expect("SELECT decision, instruction FROM request",
	       "resume|stop using tabs and write the docs\n");
	slack_stop();
}
END_TEST

START_TEST(single_words_are_understood)
{
	static const struct {
		const char *word, *state;
	} CASES[] = { { "accept", "approved" },   { "ok", "approved" },
		      { "Yes", "approved" },      { "lgtm", "approved" },
		      { "approve.", "approved" }, { "Approve!", "approved" },
		      { "no", "rejected" },       { "Reject!", "rejected" },
		      { " APPROVE ", "approved" } };

	slack();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str id = { 0 };
		OWNED(str) struct str state = { 0 };

		str_addf(&id, "019111%02zu-0000-7000-8000-00000000000a", i);
		a_change(id.bytes);
		in_thread(CASES[i].word);
		str_addf(&state, "%s\n", CASES[i].state);
		expect("SELECT state FROM request ORDER BY seq DESC LIMIT 1", state.bytes);
	}
	a_prompt();
	in_thread("ok");
	expect("SELECT decision FROM request WHERE kind = 'prompt'", "continue\n");
	slack_stop();
}
END_TEST

START_TEST(a_synonym_in_a_sentence_is_no_answer)
{
	slack();
	a_change(CHANGE);
	in_thread("ok but rename it");
	in_thread("no tabs please");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

START_TEST(hints_name_only_what_fits)
{
	slack();
	a_change(CHANGE);
	in_thread("hm");
	replies("takes `approve`, `reject [why]`. To");
	given("INSERT INTO decision (request_id, verdict) VALUES ('" CHANGE "', 'approve')");
	a_prompt();
	in_thread("hm");
	replies("takes `continue`, `refine <text>`, `stop [why]`.");
	in_thread("approve");
	replies("nothing waits for `approve`: 01911111-0000: Change a.c (a.c) was approved");
	replies(". What waits here takes `continue`, `refine <text>`, `stop [why]`");
	a_standby();
	in_thread("hm");
	replies("They take `continue`, `refine <text>`, `resume [text]`, `stop [why]`;");
	slack_stop();
}
END_TEST

START_TEST(help_has_categories_and_what_is_configured)
{
	slack();
	given("INSERT INTO setting (name, value, source, updated_at)"
	      " VALUES ('commands', '{\"status\":\"git status\"}', 'file', '" T "')");
	says(command("help"), "*Answers*\n`approve [id]`");
	says(command("help"), "*Custom commands*\n`status` — git status");
	says(command("help files"), "*Files*\n`list-files [path] [--depth N] [--session ID]`");
	ck_assert_ptr_null(strstr(command("help files"), "approve [id]"));
	says(command("help session"), "`mode [remote|local|hybrid [session]]`");
	says(command("help checkpoint"), "*Checkpoints*\n`session-checkpoint [session] [label]`");
	says(command("help cooking"), "there is no help on 'cooking'; categories: answers");
	slack_stop();
}
END_TEST

START_TEST(words_behind_the_id_of_a_session_are_not_lost)
{
	slack();
	a_change(CHANGE);
	a_prompt();
	(void)command("pause");
	says(command("resume 01900000-0000 and mind the gap"),
	     "Session 01900000-0000 (claude in web) is active again.\nNoted: the agent is told");
	expect("SELECT text FROM steering", "and mind the gap\n");
	says(command("stop 01900000-0000 we do it tomorrow"),
	     "Session 01900000-0000 (claude in web) is stopped.");
	expect("SELECT kind, reason FROM request ORDER BY seq",
	       "clearance|we do it tomorrow\nprompt|we do it tomorrow\n");
	slack_stop();
}
END_TEST

START_TEST(no_is_no_answer_to_an_agent_that_stands_by)
{
	slack();
	a_standby();
	in_thread("no");
	replies("nothing waits for `no`. What waits here takes `resume [text]`, `stop [why]`");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(a_silent_agent_that_is_connected_is_told_of_a_nudge_with_its_next_step)
{
	slack();
	given("UPDATE session SET connectivity_status = 'stalled'");
	says(command("nudge"), "Noted: the agent is told with its next step.");
	given("UPDATE session SET connectivity_status = 'offline'");
	says(command("nudge"), "Noted: the agent is told when it is back; it is not connected.");
	slack_stop();
}
END_TEST

START_TEST(an_id_of_three_characters_is_told_how_many_it_needs)
{
	slack();
	a_change(CHANGE);
	says(command("approve 019"), "too short for an id; give 4 characters at least");
	says(command("reject 01a"), "too short for an id; give 4 characters at least");
	says(command("undo 019"), "too short for an id; give 4 characters at least");
	in_mention("approve 1a");
	replies("too short for an id; give 4 characters at least");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM decision", "0\n");
	slack_stop();
}
END_TEST

static void approve_and_write_it(void)
{
	a_change(CHANGE);
	given("INSERT INTO decision (request_id, verdict) VALUES ('" CHANGE "', 'approve');"
	      "INSERT INTO apply (seq, request_seq, machine, state, created_at, updated_at) VALUES"
	      " (1, 1, 'h', 'queued', '" T "', '" T "');"
	      "UPDATE apply SET state = 'claimed', claim = 1;"
	      "INSERT INTO file_change (apply_seq, path, action, hash_before, hash_after, bytes,"
	      " state, created_at, updated_at) VALUES"
	      " (1, 'a.c', 'create', 'new_file', 'x', 1, 'planned', '" T "', '" T "');"
	      "UPDATE file_change SET state = 'done';"
	      "UPDATE apply SET state = 'applied', updated_at = '" T "'");
}

START_TEST(a_second_undo_is_told_that_it_was_undone_and_when)
{
	slack();
	approve_and_write_it();
	says(command("undo"), "Undoing 01911111-0000: Change a.c (a.c)");
	says(command("undo"),
	     "nothing is left to be undone here: 01911111-0000: Change a.c (a.c) is "
	     "being undone");
	given("UPDATE apply SET state = 'claimed', claim = 1 WHERE seq = 2;"
	      "INSERT INTO file_change (apply_seq, path, action, hash_before, hash_after, bytes,"
	      " state, created_at, updated_at) VALUES"
	      " (2, 'a.c', 'delete', 'x', 'new_file', 1, 'planned', '" T "', '" T "');"
	      "UPDATE file_change SET state = 'done' WHERE apply_seq = 2;"
	      "UPDATE apply SET state = 'undone', updated_at = '2026-01-01T10:05:00.000Z'"
	      " WHERE seq = 2");
	says(command("undo"),
	     "nothing is left to be undone here: 01911111-0000: Change a.c (a.c) was "
	     "undone already, at <!date^1767261900^");
	says(command("undo 0191"), "this was undone already, at <!date^1767261900^");
	in_thread("undo");
	replies("01911111-0000: Change a.c (a.c) was undone already, at 2026-01-01T10:05:00.000Z");
	slack_stop();
}
END_TEST

START_TEST(undo_takes_no_older_write_while_what_was_approved_last_is_not_written)
{
	slack();
	approve_and_write_it();
	a_change("01922222-0000-7000-8000-00000000000a");
	given("INSERT INTO decision (request_id, verdict) VALUES "
	      "('01922222-0000-7000-8000-00000000000a', 'approve')");
	says(command("undo"),
	     "01922222-0000: Change a.c (a.c) was approved and is not written yet, so that it "
	     "cannot be undone; its agent may write it at any moment. The change before it: `undo "
	     "01911111-0000`, 01911111-0000: Change a.c (a.c)");
	in_thread("undo");
	replies("is not written yet, so that it cannot be undone");
	expect("SELECT count(*) FROM command WHERE outcome IS NULL", "0\n");
	says(command("undo 01911111"), "Undoing 01911111-0000");
	slack_stop();
}
END_TEST

/* One of several changes whose ids begin alike. */
static void a_change_of(int number)
{
	char id[40];

	(void)snprintf(id, sizeof(id), "01911111-%04d-7000-8000-00000000000a", number);
	a_change(id);
}

START_TEST(all_changes_that_an_id_could_mean_are_listed_or_it_says_that_there_are_more)
{
	slack();
	for (int i = 0; i < 5; i++)
		a_change_of(i);
	says(command("undo 01911111"), "  01911111-0000-7000: Change a.c (a.c), claude in web\n"
	                               "  01911111-0001-7000: Change a.c (a.c), claude in web\n"
	                               "  01911111-0002-7000: Change a.c (a.c), claude in web\n"
	                               "  01911111-0003-7000: Change a.c (a.c), claude in web\n"
	                               "  01911111-0004-7000: Change a.c (a.c), claude in web");
	a_change_of(5);
	says(command("undo 01911111"),
	     "  01911111-0004-7000: Change a.c (a.c), claude in web\n  ...");
	slack_stop();
}
END_TEST

START_TEST(undo_names_a_write_or_takes_the_only_one)
{
	slack();
	says(command("undo"), "nothing was written here that could be undone");
	a_change(CHANGE);
	says(command("undo 0191"), "nothing was written for this request");
	in_thread("undo the last commit");
	expect("SELECT count(*) FROM command WHERE verb = 'undo'", "1\n");
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_words_orders");
	TCase *c = store_case(s, "slack_words_orders", 60);

	tcase_add_test(c, continue_with_words_is_refine);
	tcase_add_test(c, stop_and_reject_carry_the_words_as_the_reason);
	tcase_add_test(c, a_verdict_after_the_deadline_is_told_so_and_is_nothing_for_the_agent);
	tcase_add_test(c, a_rejection_after_the_approval_is_told_how_it_stands);
	tcase_add_test(c,
	               sentences_that_begin_with_a_verb_are_told_to_the_agent_where_nothing_waits);
	tcase_add_test(c, a_question_that_slack_may_not_answer_is_said_to_wait_at_its_machine);
	tcase_add_test(c, of_a_session_in_local_mode_slack_says_where_to_do_what_is_asked);
	tcase_add_test(c, a_mention_that_is_a_sentence_is_told_to_the_agent);
	tcase_add_test(c, of_several_sessions_a_mention_asks_which_is_meant);
	tcase_add_test(c, a_mention_that_is_a_verb_alone_or_a_verb_and_an_id_is_an_order);
	tcase_add_test(c,
	               an_answer_with_an_id_and_words_is_for_that_question_wherever_it_is_written);
	tcase_add_test(c, an_id_that_fits_nothing_does_nothing_and_is_told_what_there_is);
	tcase_add_test(c, four_characters_of_an_id_are_enough_where_one_begins_so);
	tcase_add_test(c, an_id_that_several_begin_with_is_asked_back);
	tcase_add_test(c, of_those_that_an_id_fits_a_verb_offers_only_what_it_answers);
	tcase_add_test(c, a_bare_verb_takes_the_only_one_that_waits_and_says_which);
	tcase_add_test(c, mode_alone_says_which_it_is);
	tcase_add_test(
	    c, of_several_sessions_the_only_one_with_a_connected_agent_is_meant_but_not_ended);
	tcase_add_test(c, of_several_sessions_none_is_paused_or_stopped_without_its_id);
	tcase_add_test(c, of_several_sessions_none_is_steered_without_its_id);
	tcase_add_test(c, of_several_sessions_the_only_one_that_is_connected_is_steered_by_name);
	tcase_add_test(c, what_is_typed_into_a_form_or_a_command_arrives_unchanged);
	tcase_add_test(c, what_is_written_in_a_message_arrives_without_the_escapes_of_slack);
	tcase_add_test(c, a_reject_form_without_words_rejects);
	tcase_add_test(c, a_form_that_comes_too_late_names_who_was_first_in_words);
	tcase_add_test(c, a_file_without_words_answers_nothing_and_that_is_said);
	tcase_add_test(c, a_mention_alone_in_a_thread_asks_for_help_and_resumes_nobody);
	tcase_add_test(c, words_that_come_with_a_file_are_taken_without_it_and_that_is_said);
	tcase_add_test(c,
	               a_nudge_from_a_form_closes_it_and_is_confirmed_in_the_thread_of_its_session);
	tcase_add_test(c, words_where_several_questions_wait_are_told_that_several_do);
	tcase_add_test(c, free_text_to_an_agent_on_standby_is_its_instruction);
	tcase_add_test(c, a_mention_of_an_agent_on_standby_is_its_instruction);
	tcase_add_test(c, single_words_are_understood);
	tcase_add_test(c, a_synonym_in_a_sentence_is_no_answer);
	tcase_add_test(c, hints_name_only_what_fits);
	tcase_add_test(c, help_has_categories_and_what_is_configured);
	tcase_add_test(c, words_behind_the_id_of_a_session_are_not_lost);
	tcase_add_test(c, no_is_no_answer_to_an_agent_that_stands_by);
	tcase_add_test(c, a_silent_agent_that_is_connected_is_told_of_a_nudge_with_its_next_step);
	tcase_add_test(c, undo_takes_no_older_write_while_what_was_approved_last_is_not_written);
	tcase_add_test(c,
	               all_changes_that_an_id_could_mean_are_listed_or_it_says_that_there_are_more);
	tcase_add_test(c, undo_names_a_write_or_takes_the_only_one);
	tcase_add_test(c, an_id_of_three_characters_is_told_how_many_it_needs);
	tcase_add_test(c, a_second_undo_is_told_that_it_was_undone_and_when);
	return run_suite(s);
}
