/* What operators write in Slack: words behind an approval, which they are asked back about, and ids
 * that are not right. */
#include "agent.h"
#include "slack_peer.h"
#include "slack_words_case.h"

#include <string.h>

/* ---- words behind an approval ---- */

START_TEST(an_approval_with_words_is_asked_back_and_nothing_is_approved)
{
	slack();
	a_change(CHANGE);
	in_thread("approve, but rename the variable");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM decision", "0\n");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT text, thread_ts, json_extract(detail, '$.words') FROM slack_message"
	       " WHERE kind = 'reply'",
	       "Shall 01911111-0000: Change a.c (a.c) be approved as it is, and the agent be told "
	       "“but rename the variable”?|" THREAD "|but rename the variable\n");
	says(command("approve " CHANGE " but rename it"), "asked back");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(approve_and_tell_approves_it_as_it_is_and_tells_the_words)
{
	slack();
	a_change(CHANGE);
	in_thread("approve but rename the variable");
	OWNED(char_ptr) char *seq = rows("SELECT seq FROM slack_message WHERE kind = 'reply'");
	seq[strcspn(seq, "\n")] = '\0';
	click("U02OP", "tell_approve", seq);
	expect("SELECT state, instruction, decided_by FROM request",
	       "approved|but rename the variable|slack:T01TEAM:U02OP\n");
	expect("SELECT kind, text, outcome FROM steering",
	       "steer|but rename the variable|accepted\n");
	expect("SELECT generation > 1, detail ->> 'answer' LIKE 'Approved 01911111-0000%'"
	       " FROM slack_message WHERE kind = 'reply'",
	       "1|1\n");
	click("U01OP", "tell_reject", seq);
	expect("SELECT count(*) FROM decision", "1\n");
	expect("SELECT user_id, text FROM slack_outbox WHERE kind = 'ephemeral'",
	       "U01OP|this was answered already\n");
	slack_stop();
}
END_TEST

START_TEST(what_is_asked_back_names_every_file_of_the_change)
{
	slack();
	a_change(CHANGE);
	given("INSERT INTO request_file (request_seq, path, target, action, original_hash,"
	      " result_hash) SELECT r.seq, v.value, v.value, 'modify', printf('%064d', 1),"
	      " printf('%064d', 2) FROM request AS r, json_each('[\"a.c\",\"b.c\"]') AS v");
	in_thread("approve but only the first file");
	replies("Shall 01911111-0000: Change a.c (modify a.c; modify b.c) be approved as it is");
	slack_stop();
}
END_TEST

START_TEST(a_command_in_a_reply_is_one_line_of_code_and_cut)
{
	slack();
	a_change(CHANGE);
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, body,"
	      " risk_level, created_at, updated_at) SELECT '01944444-0000-7000-8000-000000000001',"
	      " session_seq, 'permission', state, printf('%064d', 4), 'ls', 'ls' || char(10) ||"
	      " '*Not approved*: answer `yes` again' || hex(zeroblob(900)), 'high', created_at,"
	      " updated_at FROM request");
	in_thread("approve 01944444-0000-7000-8000-000000000001 but wait");
	replies("Shall 01944444-0000: `ls\\x0a*Not approved*: answer 'yes' again");
	replies("000...` be approved as it is");
	slack_stop();
}
END_TEST

START_TEST(an_answer_that_comes_too_late_says_what_it_was_to)
{
	slack();
	a_change(CHANGE);
	a_session(2, "01900000-0000-7000-8000-000000000002", "/ws/api");
	in_thread("reject " CHANGE);
	in_thread("approve " CHANGE);
	replies("01911111-0000: Change a.c (a.c): already rejected by slack:T01TEAM:U01OP at ");
	slack_stop();
}
END_TEST

START_TEST(a_tools_name_forges_no_line_of_the_list_and_pushes_none_out)
{
	slack();
	given("UPDATE session SET last_tool = 'x' || char(10) || '01a2ffff-1c04  active, hybrid'"
	      " || printf('%4000d', 1)");
	says(command("sessions"), "  last: x\\x0a01a2ffff-1c04  active, hybrid[");
	says(command("sessions"), "... at <!date^1767258001^");
	slack_stop();
}
END_TEST

static const char STEERED[] = "SELECT kind, text, outcome FROM steering";
static const char CLOSED[] = "SELECT detail ->> 'answer' FROM slack_message"
                             " WHERE kind = 'reply' AND detail ->> 'words' IS NOT NULL";

/* A person was asked back, and answers in a hurry: the words count. */
START_TEST(a_bare_yes_or_a_click_on_the_card_tells_the_words_that_were_asked_back)
{
	static const char *const YES[] = { "ok", "yes", "approve", "LGTM.", NULL };

	for (size_t i = 0; i < COUNT(YES); i++) {
		OWNED(char_ptr) char *closed = NULL, *seq = NULL;

		slack();
		a_change(CHANGE);
		in_thread("approve but rename the variable");
		seq = rows("SELECT seq FROM slack_message WHERE kind = 'reply'");
		seq[strcspn(seq, "\n")] = '\0';
		if (YES[i])
			in_thread(YES[i]);
		else
			click("U01OP", "approve_accept", CHANGE);
		expect("SELECT state FROM request", "approved\n");
		expect(STEERED, "steer|About \"Change a.c\", which was approved: but rename the "
		                "variable|accepted\n");
		closed = rows(CLOSED);
		says(closed,
		     "The agent is also told what slack:T01TEAM:U01OP wrote: “but rename the "
		     "variable”\nby slack:T01TEAM:U01OP");
		click("U01OP", "tell_approve", seq);
		expect("SELECT user_id, text FROM slack_outbox WHERE kind = 'ephemeral'"
		       " ORDER BY seq DESC LIMIT 1",
		       "U01OP|this was answered already\n");
		expect("SELECT count(*) FROM steering", "1\n");
		slack_stop();
	}
}
END_TEST

static void other_operator_says(const char *text)
{
	(void)slack_acked("{'message':{'text':'%s','user':'U02OP','thread_ts':'" THREAD "'}}",
	                  text);
}

START_TEST(a_bare_no_tells_of_each_operator_the_last_words_that_were_asked_back)
{
	slack();
	a_change(CHANGE);
	in_thread("approve but rename the variable");
	other_operator_says("approve but add a test");
	in_thread("approve if the tests pass");
	expect(CLOSED, "Your later words about it count instead\n\n\n");
	in_thread("no");
	expect("SELECT state FROM request", "rejected\n");
	expect(STEERED,
	       "steer|About \"Change a.c\", which was rejected: but add a test|accepted\n"
	       "steer|About \"Change a.c\", which was rejected: if the tests pass|accepted\n");
	slack_stop();
}
END_TEST

START_TEST(words_that_another_operator_was_asked_back_about_are_told_as_theirs)
{
	static const char AUTHOR[] = "SELECT operator_id, text FROM steering";

	for (int clicks = 0; clicks < 2; clicks++) {
		slack();
		a_change(CHANGE);
		other_operator_says("approve but add a test");
		if (clicks)
			click("U01OP", "approve_accept", CHANGE);
		else
			in_thread("approve");
		expect("SELECT state, decided_by FROM request", "approved|slack:T01TEAM:U01OP\n");
		expect(AUTHOR, "slack:T01TEAM:U02OP|About \"Change a.c\", which was approved: "
		               "but add a test\n");
		expect("SELECT actor FROM event WHERE kind = 'steering.accepted'",
		       "slack:T01TEAM:U02OP\n");
		if (!clicks)
			replies("\nThe agent is also told what slack:T01TEAM:U02OP wrote: “but "
			        "add a test”");
		slack_stop();
	}
}
END_TEST

START_TEST(other_words_in_their_place_are_told_alone_and_that_is_said)
{
	slack();
	a_change(CHANGE);
	in_thread("approve but rename the variable");
	in_thread("reject start over");
	expect("SELECT state, reason FROM request", "rejected|start over\n");
	expect("SELECT count(*) FROM steering", "0\n");
	OWNED(char_ptr) char *closed = rows(CLOSED);
	says(closed, "The agent was not told “but rename the variable”");
	replies(
	    "The agent was not told “but rename the variable”, which slack:T01TEAM:U01OP wrote: "
	    "`steer <text>` does that");
	slack_stop();
}
END_TEST

START_TEST(words_that_come_too_late_to_be_told_are_said_not_to_be_told)
{
	slack();
	a_change(CHANGE);
	in_thread("approve but rename the variable");
	OWNED(char_ptr) char *seq = rows("SELECT seq FROM slack_message WHERE kind = 'reply'");
	seq[strcspn(seq, "\n")] = '\0';
	given("INSERT INTO decision (request_id, verdict) VALUES ('" CHANGE "', 'approve')");
	expect("SELECT state FROM request", "approved\n");
	click("U01OP", "tell_approve", seq);
	expect("SELECT count(*) FROM steering", "0\n");
	OWNED(char_ptr) char *told = rows("SELECT text FROM slack_outbox WHERE kind = 'ephemeral'");
	says(told, "already approved by");
	says(told, "The agent was not told your words");
	slack_stop();
}
END_TEST

START_TEST(reject_with_this_rejects_with_the_words)
{
	slack();
	a_change(CHANGE);
	in_thread("approve but rename the variable");
	OWNED(char_ptr) char *seq = rows("SELECT seq FROM slack_message WHERE kind = 'reply'");
	seq[strcspn(seq, "\n")] = '\0';
	click("U01OP", "tell_reject", seq);
	expect("SELECT state, reason FROM request", "rejected|but rename the variable\n");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

/* ---- ids ---- */

START_TEST(who_takes_back_by_its_id_what_is_not_written_yet_is_told_that_it_may_be_written)
{
	slack();
	a_change(CHANGE);
	in_thread("approve");
	says(command("undo 01911111"), "nothing was written for this request: 01911111-0000: "
	                               "Change a.c (a.c) was approved by <@U01OP> at <!date^");
	says(command("undo 01911111"),
	     " and is not written yet; the agent may write it at any moment");
	says(command("reject 01911111 changed my mind"), "already approved by <@U01OP> at <!date^");
	in_thread("reject 01911111 changed my mind");
	replies(" and is not written yet; the agent may write it at any moment");
	expect("SELECT state FROM request", "approved\n");
	slack_stop();
}
END_TEST

/* Of the same minute as CHANGE. */
#define LATER "01911111-0009-7000-8000-00000000000d"
#define ANSWERED "INSERT INTO decision (request_id, verdict) VALUES ('" CHANGE "', 'approve')"

START_TEST(a_mistyped_id_answers_nothing_and_lists_what_waits)
{
	static const char *const LINES[] = {
		"reject 01911111-000x no tests",
		"reject 01Z11111-0O00 no",
		"approve 01911111-000x",
		"no 01911111-000g",
	};

	slack();
	a_change(CHANGE);
	for (size_t i = 0; i < COUNT(LINES); i++) {
		OWNED(char_ptr) char *text = NULL;

		in_thread(LINES[i]);
		text = rows(LAST_REPLY);
		ck_assert_msg(strstr(text, "that begins with '01") != NULL, "%s: %s", LINES[i],
		              text);
	}
	says(command("reject 01911111-000x no tests"), "no question has an id that begins with "
	                                               "'01911111-000x'; waiting for this:");
	says(command("steer 01911111-00x0 use tabs"), "there is no such session");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM steering WHERE outcome = 'accepted'", "0\n");
	expect("SELECT status FROM session", "active\n");
	slack_stop();
}
END_TEST

START_TEST(a_start_that_an_answered_question_has_too_approves_nothing)
{
	slack();
	a_change(CHANGE);
	given(ANSWERED);
	a_change(LATER);
	says(command("approve 01911111"), "several questions have an id that begins with this");
	says(command("reject 01911111-000 why"), "several questions");
	expect("SELECT state FROM request ORDER BY seq", "approved\npending\n");
	says(command("approve 01911111-0009"), "Approved");
	expect("SELECT state FROM request ORDER BY seq", "approved\napproved\n");
	slack_stop();
}
END_TEST

START_TEST(a_bare_yes_takes_an_id_and_nothing_else)
{
	slack();
	a_change(CHANGE);
	a_change(LATER);
	in_thread("yes");
	replies("several questions wait for this; name one, `yes <id>`");
	in_thread("yes 01911111-0009");
	expect("SELECT state FROM request ORDER BY seq", "pending\napproved\n");
	in_thread("no 01911111-0000-7");
	expect("SELECT state FROM request ORDER BY seq", "rejected\napproved\n");
	slack_stop();
}
END_TEST

START_TEST(of_several_sessions_the_only_one_that_can_be_is_paused_or_resumed)
{
	slack();
	a_session(2, "01900000-1111-7000-8000-000000000002", "/ws/api");
	a_session(3, "01900000-2222-7000-8000-000000000003", "/ws/docs");
	given("UPDATE session SET status = 'interrupted' WHERE seq = 3");
	says(command("pause"), "several sessions are live here");
	says(command("pause 01900000-1"), "Session 01900000-1111 (claude in api) is paused.");
	says(command("pause"), "Session 01900000-0000 (claude in web) is paused.");
	says(command("session-resume"), "several sessions are live here; name one, "
	                                "`session-resume &lt;id&gt;`:\n"
	                                "  01900000-1111-7000, claude in api\n"
	                                "  01900000-0000-7000, claude in web");
	says(command("session-resume 01900000-0"),
	     "Session 01900000-0000 (claude in web) is active again.");
	says(command("session-resume"), "Session 01900000-1111 (claude in api) is active again.");
	slack_stop();
}
END_TEST

/* Both lists show ids: of a session, and of what an agent asks. */
START_TEST(a_start_of_a_session_and_of_a_question_stops_neither)
{
	slack();
	a_session(2, "01922222-1111-7000-8000-000000000002", "/ws/api");
	a_prompt();
	says(command("stop 01922222"),
	     "sessions and questions have an id that begins with this; name one, `stop "
	     "&lt;id&gt;`:\nsessions:\n  01922222-1111-7000, claude in api\n"
	     "questions:\n  01922222-0000-7000: Go on?, claude in web");
	expect("SELECT status FROM session", "active\nactive\n");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(an_answer_by_its_id_in_the_thread_of_another_agent_says_whose_question_it_was)
{
	slack();
	a_session(2, "01900000-0000-7000-8000-000000000002", "/ws/api");
	a_change(CHANGE);
	a_change(LATER);
	(void)slack_acked("{'message':{'text':'approve 01911111-0000','thread_ts':"
	                  "'1700000000.000200'}}");
	replies("Approved 01911111-0000: Change a.c (a.c), claude in web");
	in_thread("reject 01911111-0009");
	OWNED(char_ptr) char *here = rows(LAST_REPLY);
	says(here, "Rejected 01911111-0009: Change a.c (a.c)");
	ck_assert_ptr_null(strstr(here, "claude in web"));
	slack_stop();
}
END_TEST

/* ---- questions that nobody has seen ---- */

/* What a word is told that decides nothing. */
static void is_not_taken(const char *why)
{
	OWNED(char_ptr) char *told = rows(LAST_REPLY);

	says(told, "nothing was done: 01911111-0000: Change a.c (a.c) ");
	says(told, why);
	expect("SELECT state FROM request WHERE id = '" CHANGE "'", "pending\n");
	expect("SELECT count(*) FROM decision", "0\n");
}

static void an_unsent_change(void)
{
	an_unsent_question(CHANGE, "clearance", "Change a.c",
	                   ", file_path, risk_level, original_hash", ", 'a.c', 'low', 'new_file'");
}

START_TEST(a_word_before_the_question_is_in_slack_answers_nothing)
{
	static const char *const WORDS[] = { "ok", "approve", "reject", "no",
		                             "approve but rename" };

	slack();
	an_unsent_change();
	for (size_t i = 0; i < COUNT(WORDS); i++) {
		in_thread(WORDS[i]);
		is_not_taken(
		    "may not be shown in Slack yet: that is not known. If you see it, press "
		    "its button, or say this again in a moment, or name it: `");
	}
	in_mention("approve");
	is_not_taken("name it: `approve 01911111-0000`");
	says(command("approve"), "may not be shown in Slack yet");
	is_not_taken("");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_shows_questions();
	in_thread("reject");
	expect("SELECT state FROM request", "rejected\n");
	slack_stop();
}
END_TEST

/* The post of all that is asked is sent, in a form of it. */
static void slack_has_it_as(const char *form)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "UPDATE slack_outbox SET state = 'sending', claim = claim + 1, form = '%s'"
	         " WHERE kind = 'post' AND state = 'queued';"
	         "UPDATE slack_outbox SET state = 'sent', settled_at = '" T "'"
	         " WHERE state = 'sending'",
	         form);
	given(sql.bytes);
}

START_TEST(a_word_approves_nothing_that_slack_shows_only_a_line_about)
{
	slack();
	a_change(CHANGE);
	slack_has_it_as("line");
	in_thread("approve");
	is_not_taken(
	    "is not shown in Slack: `agent-intercom-ctl show 01911111-0000` on the machine "
	    "shows it. Answer it there (in remote mode after `mode hybrid`), or name it: "
	    "`approve 01911111-0000`");
	in_thread("reject");
	is_not_taken("is not shown in Slack:");
	in_thread("approve 01911111-0000");
	expect("SELECT state FROM request", "approved\n");
	slack_stop();
}
END_TEST

START_TEST(a_word_approves_what_slack_shows_as_plain_text_or_shows_again_in_full)
{
	for (int again = 0; again < 2; again++) {
		slack();
		a_change(CHANGE);
		slack_has_it_as(again ? "line" : "plain");
		if (again) { /* a person has deleted the line */
			given("UPDATE slack_message SET state = 'gone' WHERE kind = 'ask';"
			      "INSERT INTO slack_message (kind, session_seq, request_seq, "
			      "channel_id, created_at, updated_at)"
			      " VALUES ('ask', 1, 1, 'C01AGENTS', '" T "', '" T "')");
			slack_shows_questions();
			slack_has_it_as("blocks");
		}
		in_thread("approve");
		expect("SELECT state FROM request", "approved\n");
		slack_stop();
	}
}
END_TEST

START_TEST(a_prompt_or_a_standby_that_is_not_in_slack_is_not_answered_by_a_word)
{
	slack();
	an_unsent_question(PROMPT, "prompt", "Go on?", ", prompt_type", ", 'continuation'");
	in_thread("continue");
	replies("Go on? may not be shown in Slack yet");
	given("INSERT INTO decision (request_id, verdict) VALUES ('" PROMPT "', 'stop')");
	an_unsent_question(STANDBY, "standby", "Ready", "", "");
	in_thread("resume");
	replies("may not be shown in Slack yet");
	expect("SELECT state FROM request WHERE kind = 'standby'", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(an_id_answers_a_question_that_is_not_in_slack)
{
	slack();
	an_unsent_change();
	in_thread("approve 01911111-0000");
	expect("SELECT state FROM request", "approved\n");
	slack_stop();
}
END_TEST

START_TEST(a_word_that_is_older_than_the_question_in_slack_answers_nothing)
{
	static const struct {
		const char *ts;
		bool is_later;
	} CASES[] = {
		{ "99999999999.000001", false }, /* more digits than the word's */
		{ "9999999999.999999", false },
		{ "999999999.000001", true }, /* fewer digits, which sort behind */
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str sql = { 0 };

		slack();
		an_unsent_change();
		str_addf(&sql,
		         "UPDATE slack_message SET state = 'sent', ts = '%s' WHERE kind = 'ask'",
		         CASES[i].ts);
		given(sql.bytes);
		in_thread("approve");
		if (CASES[i].is_later)
			expect("SELECT state FROM request", "approved\n");
		else
			is_not_taken("was shown only after you wrote that. Answer it now, or");
		slack_stop();
	}
}
END_TEST

START_TEST(a_question_whose_file_is_not_in_slack_is_not_approved_by_a_word)
{
	static const char FILE_SENT[] = "UPDATE slack_message SET state = 'sent', updated_at = '%s'"
	                                " WHERE kind = 'diff'";
	static const char *const AT[] = { "2026-01-01T09:00:00.000Z", "2999-01-01T09:00:00.000Z" };

	for (size_t i = 0; i < COUNT(AT); i++) {
		OWNED(str) struct str sql = { 0 };

		slack();
		/* the file comes after the question */
		given("INSERT INTO setting (name, value, source, updated_at)"
		      " VALUES ('slack.questions', 'channel', 'file', '" T "')");
		an_unsent_question(CHANGE, "clearance", "Change a.c",
		                   ", file_path, risk_level, original_hash, description",
		                   ", 'a.c', 'low', 'new_file', hex(zeroblob(1200))");
		given("UPDATE slack_message SET state = 'sent', ts = '1700000001.000001'"
		      " WHERE kind = 'ask'");
		in_thread("approve");
		replies("not approved: 01911111-0000 is not shown in Slack in full yet: its file "
		        "is missing");
		says(command("approve"), "its file is missing");
		str_addf(&sql, FILE_SENT, AT[i]);
		given(sql.bytes);
		in_thread("approve");
		if (i == 0)
			expect("SELECT state FROM request", "approved\n");
		else
			is_not_taken("was shown only after you wrote that. Answer it now");
		slack_stop();
	}
}
END_TEST

START_TEST(a_word_rejects_a_question_whose_file_slack_does_not_have_yet)
{
	slack();
	given("INSERT INTO setting (name, value, source, updated_at)"
	      " VALUES ('slack.questions', 'channel', 'file', '" T "')");
	an_unsent_question(CHANGE, "clearance", "Change a.c",
	                   ", file_path, risk_level, original_hash, description",
	                   ", 'a.c', 'low', 'new_file', hex(zeroblob(1200))");
	given("UPDATE slack_message SET state = 'sent', ts = '1700000001.000001'"
	      " WHERE kind = 'ask'");
	in_thread("reject no");
	replies("Rejected");
	expect("SELECT state, reason FROM request", "rejected|no\n");
	slack_stop();
}
END_TEST

START_TEST(nothing_is_approved_before_its_file_is_in_slack)
{
	slack();
	an_unsent_question(CHANGE, "clearance", "Change a.c",
	                   ", file_path, risk_level, original_hash, description",
	                   ", 'a.c', 'low', 'new_file', hex(zeroblob(1200))");
	given("UPDATE slack_message SET state = 'sent', ts = '1700000001.000001'"
	      " WHERE kind = 'ask'");
	for (int i = 0; i < 2; i++) { /* 1: Slack has refused it, with a button that was there */
		const char *why = i ? "not approved: Slack did not take the file with all of it"
		                    : "not approved: 01911111-0000 is not shown in Slack in full "
		                      "yet: its file is missing. Answer it when that is there";
		click("U01OP", "approve_accept", CHANGE);
		OWNED(char_ptr)
		char *told = rows("SELECT text FROM slack_outbox WHERE kind = "
		                  "'ephemeral' ORDER BY seq DESC LIMIT 1");
		says(told, why);
		in_thread("ok");
		replies(why);
		says(command("approve 01911111-0000"), why);
		expect("SELECT state FROM request", "pending\n");
		given("UPDATE slack_message SET state = 'dead' WHERE kind = 'diff'");
	}
	slack_stop();
}
END_TEST

/* Outside of a thread, whoever gets no form is only told to press again. */
START_TEST(words_after_a_form_of_which_nobody_was_told_how_to_do_without_are_no_reason)
{
	slack();
	a_change(CHANGE);
	given("INSERT INTO slack_outbox (kind, view, request_seq, trigger_id, user_id, channel_id,"
	      " expires_at, created_at) VALUES ('view_open', 'reject', 1, '1.2', 'U01OP',"
	      " 'C01AGENTS', '" T "', '2999-01-01T09:00:00.000Z');"
	      "UPDATE slack_outbox SET state = 'dead', why = 'it came too late', settled_at = '" T
	      "' WHERE kind = 'view_open'");
	in_thread("what does it break?");
	replies("A question waits here, and that is no answer to it; nothing was done. "
	        "01911111-0000: Change a.c (a.c) takes `approve`, `reject [why]`.");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

/* ---- threads that are no session's ---- */

#define HEAD "1700000500.000100"

static void in_other_thread(const char *text)
{
	(void)slack_acked("{'message':{'text':'%s','thread_ts':'" HEAD "'}}", text);
}

/* Below what an operator asked us, or below a message of ours about no session. */
static void a_thread_of_ours(bool they_began)
{
	if (they_began)
		(void)slack_acked("{'mention':{'text':'inbox','only':'app_mention',"
		                  "'event':{'ts':'" HEAD "'}}}");
	else
		given("INSERT INTO slack_notice (kind, channel_id, text, at) VALUES"
		      " ('server', 'C01AGENTS', 'It is back.', '" T "');"
		      "UPDATE slack_message SET state = 'sent', ts = '" HEAD "',"
		      " sent_generation = 1 WHERE kind = 'server'");
}

START_TEST(an_answer_in_a_thread_of_ours_that_is_no_sessions_is_told_where_it_counts)
{
	for (int began = 0; began < 2; began++) {
		slack();
		a_change(CHANGE);
		a_thread_of_ours(began);
		in_other_thread("approve");
		replies(
		    "Nothing was done: write `approve` in the thread of the question, or, not in "
		    "a thread, `/intercom approve <id>`. These wait for it:\n  01911111-0000");
		expect("SELECT thread_ts FROM slack_message WHERE kind = 'reply'"
		       " ORDER BY seq DESC LIMIT 1",
		       HEAD "\n");
		in_other_thread("reject " CHANGE);
		replies("Nothing was done: write `reject` in the thread of the question");
		in_other_thread("continue");
		replies("Nothing was done: nothing waits for `continue`");
		in_other_thread("steer use tabs");
		replies(
		    "Nothing was done: write `steer` in the thread of its session, or, not in "
		    "a thread, `/intercom steer <id> <text>`. These are live:\n  01900000-0000");
		expect("SELECT state FROM request", "pending\n");
		expect("SELECT count(*) FROM steering", "0\n");
		slack_stop();
	}
}
END_TEST

/* As after a restore of an older backup. */
START_TEST(of_a_question_that_no_row_knows_a_button_and_a_word_say_that_it_is_gone)
{
	static const char GONE[] = "this question is gone; `/intercom inbox` lists what waits";
	static const char *const WORDS[] = { "refine do X", "approve", "steer use tabs" };

	slack();
	a_change(CHANGE);
	click("U01OP", "prompt_continue", PROMPT);
	OWNED(char_ptr)
	char *told = rows("SELECT text FROM slack_outbox WHERE kind = 'ephemeral'");
	ck_assert_int_eq(strncmp(told, GONE, strlen(GONE)), 0);
	for (size_t i = 0; i < COUNT(WORDS); i++) {
		given("DELETE FROM slack_outbox; DELETE FROM slack_message WHERE kind = 'reply'");
		(void)slack_acked("{'message':{'text':'%s','thread_ts':'" HEAD "','event':{"
		                  "'parent_user_id':'U0BOT'}}}",
		                  WORDS[i]);
		replies(GONE);
	}
	(void)slack_acked("{'message':{'text':'I would approve','thread_ts':'" HEAD "','event':{"
	                  "'parent_user_id':'U0BOT'}}}");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'reply'", "1\n");
	expect("SELECT count(*) FROM decision", "0\n");
	slack_stop();
}
END_TEST

START_TEST(what_people_say_to_each_other_in_a_thread_of_ours_or_theirs_is_left_alone)
{
	slack();
	a_change(CHANGE);
	in_other_thread("approve"); /* it is theirs */
	in_other_thread("steer use tabs");
	a_thread_of_ours(false);
	in_other_thread("I would approve that");
	in_other_thread("ok");
	in_other_thread("approve of it, I mean");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'reply'", "0\n");
	expect("SELECT count(*) FROM slack_outbox WHERE kind = 'ephemeral'", "0\n");
	expect("SELECT DISTINCT outcome FROM slack_envelope", "ignored\n");
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_words_asked");
	TCase *c = store_case(s, "slack_words_asked", 60);

	tcase_add_test(c, an_approval_with_words_is_asked_back_and_nothing_is_approved);
	tcase_add_test(c, what_is_asked_back_names_every_file_of_the_change);
	tcase_add_test(c, a_command_in_a_reply_is_one_line_of_code_and_cut);
	tcase_add_test(c, an_answer_that_comes_too_late_says_what_it_was_to);
	tcase_add_test(c, a_tools_name_forges_no_line_of_the_list_and_pushes_none_out);
	tcase_add_test(c, of_several_sessions_the_only_one_that_can_be_is_paused_or_resumed);
	tcase_add_test(c, a_start_of_a_session_and_of_a_question_stops_neither);
	tcase_add_test(c, approve_and_tell_approves_it_as_it_is_and_tells_the_words);
	tcase_add_test(c, a_bare_yes_or_a_click_on_the_card_tells_the_words_that_were_asked_back);
	tcase_add_test(c, a_bare_no_tells_of_each_operator_the_last_words_that_were_asked_back);
	tcase_add_test(c, words_that_another_operator_was_asked_back_about_are_told_as_theirs);
	tcase_add_test(c, other_words_in_their_place_are_told_alone_and_that_is_said);
	tcase_add_test(c, words_that_come_too_late_to_be_told_are_said_not_to_be_told);
	tcase_add_test(c, reject_with_this_rejects_with_the_words);
	tcase_add_test(
	    c, who_takes_back_by_its_id_what_is_not_written_yet_is_told_that_it_may_be_written);
	tcase_add_test(c, a_mistyped_id_answers_nothing_and_lists_what_waits);
	tcase_add_test(c, a_start_that_an_answered_question_has_too_approves_nothing);
	tcase_add_test(c, a_bare_yes_takes_an_id_and_nothing_else);
	tcase_add_test(
	    c, an_answer_by_its_id_in_the_thread_of_another_agent_says_whose_question_it_was);
	tcase_add_test(c, a_word_before_the_question_is_in_slack_answers_nothing);
	tcase_add_test(c, a_word_approves_nothing_that_slack_shows_only_a_line_about);
	tcase_add_test(c, a_word_approves_what_slack_shows_as_plain_text_or_shows_again_in_full);
	tcase_add_test(c, a_prompt_or_a_standby_that_is_not_in_slack_is_not_answered_by_a_word);
	tcase_add_test(c, an_id_answers_a_question_that_is_not_in_slack);
	tcase_add_test(c, a_word_that_is_older_than_the_question_in_slack_answers_nothing);
	tcase_add_test(c, a_question_whose_file_is_not_in_slack_is_not_approved_by_a_word);
	tcase_add_test(c, a_word_rejects_a_question_whose_file_slack_does_not_have_yet);
	tcase_add_test(c, nothing_is_approved_before_its_file_is_in_slack);
	tcase_add_test(c,
	               words_after_a_form_of_which_nobody_was_told_how_to_do_without_are_no_reason);
	tcase_add_test(c,
	               an_answer_in_a_thread_of_ours_that_is_no_sessions_is_told_where_it_counts);
	tcase_add_test(c, of_a_question_that_no_row_knows_a_button_and_a_word_say_that_it_is_gone);
	tcase_add_test(c,
	               what_people_say_to_each_other_in_a_thread_of_ours_or_theirs_is_left_alone);
	return run_suite(s);
}
