/* slack-listener against the fake Slack: connections, envelopes, what follows from them. */
#include "slack_listener_case.h"

#include "doorbell.h"

#include <fcntl.h>
#include <poll.h>

static void a_prompt_in_slack(void)
{
	given(
	    "INSERT INTO request (id, session_seq, kind, state, digest, title, body, prompt_type, "
	    " created_at, updated_at)"
	    " VALUES ('01900000-0000-7000-8000-00000000000b', 1, 'prompt', 'pending', "
	    " printf('%064d', 2), 'Go on?', 'Go on?', 'continuation', "
	    " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
	slack_shows_questions();
}

#define TOOL "01944444-0000-7000-8000-00000000000"

/* A native tool of an agent waits; hash: of the file that it edits, or NULL. */
static void a_tool(const char *title, const char *hash)
{
	static int count;
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO request (id, session_seq, kind, state, digest, title, body,"
	         " risk_level, created_at, updated_at) VALUES ('" TOOL "%d', 1, 'permission',"
	         " 'pending', printf('%%064d', %d), '%s', '%s', 'low',"
	         " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');",
	         count + 1, count + 9, title, title);
	if (hash)
		str_addf(&sql,
		         "INSERT INTO request_file (request_seq, path, action, original_hash)"
		         " SELECT max(seq), 'a.c', 'modify', '%s' FROM request",
		         hash);
	count++;
	given(sql.bytes);
	slack_shows_questions();
}

static void in_thread(const char *text)
{
	(void)slack_acked("{'message':{'text':'%s','thread_ts':'1700000000.000100'}}", text);
}

static void replies(const char *part)
{
	OWNED(char_ptr)
	char *text =
	    rows("SELECT text FROM slack_message WHERE kind = 'reply' ORDER BY seq DESC LIMIT 1");

	says(text, part);
}

/* ---- what follows ---- */

START_TEST(words_in_the_thread_decide)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	(void)slack_acked("{'message':{'text':'why?','thread_ts':'1700000000.000100'}}");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT text FROM slack_message WHERE kind = 'reply'",
	       "A question waits here, and that is no answer to it; nothing was done. "
	       "01900000-0000: Change a.c (a.c) takes `approve`, `reject [why]`. To tell the agent "
	       "something else: `steer "
	       "<text>`.\n");
	expect("SELECT count(*) FROM steering", "0\n");
	(void)slack_acked(
	    "{'message':{'text':'Reject not this file','thread_ts':'1700000000.000100'}}");
	expect("SELECT state, reason, decided_by FROM request",
	       "rejected|not this file|slack:T01TEAM:U01OP\n");
	(void)slack_acked("{'message':{'text':'now the docs','thread_ts':'1700000000.000100'}}");
	expect("SELECT text, session_seq, outcome, operator_id FROM steering",
	       "now the docs|1|accepted|slack:T01TEAM:U01OP\n");
	expect("SELECT text, thread_ts FROM slack_message WHERE kind = 'reply' ORDER BY seq DESC "
	       "LIMIT 1",
	       "Noted: the agent is told with its next step: “now the docs”|1700000000.000100\n");
	slack_stop();
}
END_TEST

START_TEST(words_for_a_prompt_that_is_settled_are_told_so_and_are_nothing_for_the_agent)
{
	slack();
	a_session_in_slack();
	a_prompt_in_slack();
	(void)listener_starts();
	in_thread("continue");
	in_thread("refine use tabs");
	replies("nothing waits for `refine`: 01900000-0000: Go on? was answered with 'continue' "
	        "by ");
	replies(". To tell the agent something: `steer <text>`");
	in_thread("continue, but faster");
	replies("nothing waits for `continue`: 01900000-0000: Go on? was answered");
	in_thread("stop wrong idea");
	replies("nothing waits for `stop`: 01900000-0000: Go on? was answered");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT status FROM session", "active\n");
	slack_stop();
}
END_TEST

START_TEST(words_after_a_later_question_are_not_taken_for_an_answer_to_the_prompt_before)
{
	slack();
	a_session_in_slack();
	a_prompt_in_slack();
	(void)listener_starts();
	in_thread("continue");
	a_tool("make install", NULL);
	in_thread("approve");
	in_thread("stop using tabs, please");
	expect("SELECT text FROM steering", "stop using tabs, please\n");
	slack_stop();
}
END_TEST

START_TEST(a_file_is_offered_and_shown_only_where_the_question_is_about_one)
{
	slack();
	a_session_in_slack();
	a_tool("make install", NULL);
	(void)listener_starts();
	in_thread("hm");
	replies("takes `approve`, `reject [why]`. To tell");
	in_thread("file");
	replies("no proposed change waits");
	in_thread("file " TOOL "1");
	replies("that question is about no file; `list-files` and `show-file`");
	a_tool("Edit a.c", "0000000000000000000000000000000000000000000000000000000000000001");
	in_thread("hm");
	replies("They take `approve`, `reject [why]`, `file`;");
	in_thread("file");
	expect("SELECT r.title FROM file_view AS v JOIN request AS r ON r.seq = v.request_seq",
	       "Edit a.c\n");
	slack_stop();
}
END_TEST

#define WHISPER "SELECT text FROM slack_outbox WHERE kind = 'ephemeral' ORDER BY seq DESC LIMIT 1"

START_TEST(an_answer_among_people_is_told_where_it_counts_if_something_waits_for_it)
{
	slack();
	a_session_in_slack();
	(void)listener_starts();
	(void)slack_acked("{'message':{'text':'approve'}}");
	expect(WHISPER, "");
	a_tool("make install", NULL);
	(void)slack_acked("{'message':{'text':'we should approve of it'}}");
	(void)slack_acked("{'message':{'text':'ok'}}");
	expect(WHISPER, "");
	(void)slack_acked("{'message':{'text':'Approve!'}}");
	OWNED(char_ptr) char *told = rows(WHISPER);
	says(told, "Nothing was done: write `approve` in the thread of the question, or here "
	           "`/intercom approve <id>`. These wait for it:");
	says(told, "make install");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

static void edited(const char *before, const char *now)
{
	(void)slack_acked("{'event':{'type':'message','subtype':'message_changed','ts':'9.1',"
	                  "'channel':'C01AGENTS','message':{'type':'message','user':'U01OP',"
	                  "'text':'%s','thread_ts':'1700000000.000100','ts':'8.1'},"
	                  "'previous_message':{'user':'U01OP','text':'%s'}}}",
	                  now, before);
}

START_TEST(who_edits_what_was_said_in_a_thread_is_told_that_it_is_not_read_again)
{
	slack();
	a_session_in_slack();
	(void)listener_starts();
	edited("see https://x.org", "see https://x.org");
	expect(WHISPER, "");
	edited("use tabs", "use blanks");
	expect(WHISPER, "What you change is not read again: what came of it before stands. Write a "
	                "new message.\n");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

static void deleted(const char *by, const char *text)
{
	(void)slack_acked("{'event':{'type':'message','subtype':'message_deleted','ts':'9.1',"
	                  "'deleted_ts':'8.1','channel':'C01AGENTS','previous_message':{'type':"
	                  "'message',%s,'text':'%s','thread_ts':'1700000000.000100','ts':'8.1'}}}",
	                  by, text);
}

START_TEST(who_deletes_what_was_said_in_a_thread_is_told_that_it_counts_all_the_same)
{
	slack();
	a_session_in_slack();
	(void)listener_starts();
	deleted("'user':'U0BOT','bot_id':'B01BOT'", "ours");
	deleted("'user':'U01OP'", "");
	expect(WHISPER, "");
	deleted("'user':'U01OP'", "use tabs");
	expect(WHISPER, "What you delete is not taken back: what came of it stands. Write a new "
	                "message.\n");
	slack_stop();
}
END_TEST

START_TEST(what_somebody_does_by_slash_me_is_no_answer_and_that_is_told)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	(void)slack_acked("{'message':{'subtype':'me_message','text':'approve','thread_ts':"
	                  "'1700000000.000100'}}");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT text FROM slack_message WHERE kind = 'reply'",
	       "Nothing was done: what `/me` says is not passed on. Write it without `/me`.\n");
	slack_stop();
}
END_TEST

/* What a command is answered. */
static void answers(const char *text, const char *part)
{
	says(member(slack_acked("{'slash':{'text':'%s'}}", text), "payload.text"), part);
}

START_TEST(who_names_what_is_not_there_is_told_where_to_look)
{
	slack();
	(void)listener_starts();
	answers("pause", "no session is live here; `session-start &lt;prompt&gt;` starts one");
	answers("undo 01977777", "begins with '01977777'; `inbox` lists what waits");
	answers("runs 7", "there is no run 7; `runs` lists them");
	answers("runs x", "`runs` alone lists them");
	answers("run-stop", "no command runs; `runs` lists those that have ended");
	answers("run-stop x", "`runs` lists them");
	slack_stop();
}
END_TEST

START_TEST(the_inbox_says_whose_each_question_is)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	answers("inbox", "01900000-0000  clearance: Change a.c  of agent in w (not listening)\n");
	slack_stop();
}
END_TEST

START_TEST(the_word_decides_the_question_that_it_fits)
{
	slack();
	a_question_in_slack();
	a_prompt_in_slack();
	(void)listener_starts();
	(void)slack_acked(
	    "{'message':{'text':'refine only the tests','thread_ts':'1700000000.000100'}}");
	expect("SELECT kind, state, instruction FROM request ORDER BY seq",
	       "clearance|pending|\nprompt|answered|only the tests\n");
	slack_stop();
}
END_TEST

START_TEST(two_questions_for_one_word_are_asked_back)
{
	slack();
	a_question_in_slack();
	given(
	    "INSERT INTO request (id, session_seq, kind, state, digest, title, body, file_path, "
	    " risk_level, original_hash, created_at, updated_at)"
	    " SELECT '01900000-0000-7000-8000-00000000000c', 1, kind, state, printf('%064d', 3), "
	    " title, body, 'b.c', risk_level, original_hash, created_at, updated_at FROM request");
	(void)listener_starts();
	says(member(slack_acked("{'slash':{'text':'approve'}}"), "payload.text"),
	     "several questions wait for this; name one, `approve &lt;id&gt;`:\n  "
	     "01900000-0000-7000: Change a.c (a.c), agent in w\n");
	expect("SELECT count(*) FROM decision", "0\n");
	says(
	    member(slack_acked("{'slash':{'text':'approve 01900000-0000-7000-8000-00000000000c'}}"),
	           "payload.text"),
	    "Approved 01900000-0000: Change a.c (b.c)");
	expect("SELECT state FROM request ORDER BY seq", "pending\napproved\n");
	slack_stop();
}
END_TEST

START_TEST(two_operators_and_one_question_have_one_winner)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	(void)slack_deliver("{'slash':{'text':'approve','user':'U01OP'}}");
	says(member(slack_acked("{'slash':{'text':'reject 01900000-0000-7000-8000-00000000000a "
	                        "no','user':'U02OP'}}"),
	            "payload.text"),
	     "Approved 01900000-0000: Change a.c (a.c)");
	says(member(slack_wait_for("ack"), "payload.text"), "already approved by <@U01OP>");
	expect("SELECT outcome, operator_id FROM decision ORDER BY seq",
	       "applied|slack:T01TEAM:U01OP\nduplicate|slack:T01TEAM:U02OP\n");
	slack_stop();
}
END_TEST

/* A click, as Slack sends it for a message that we posted. */
static void click(const char *user, const char *action, const char *at)
{
	(void)slack_acked(
	    "{'envelope':{'type':'interactive','accepts_response_payload':true,'payload':{"
	    "'type':'block_actions','user':{'id':'%s','team_id':'T01TEAM'},'team':{'id':'T01TEAM'},"
	    "'container':{'type':'message','message_ts':'1700000000.000200','channel_id':'"
	    "C01AGENTS',"
	    "'thread_ts':'1700000000.000100'},'channel':{'id':'C01AGENTS'},'trigger_id':'1.2.3',"
	    "'response_url':'http://127.0.0.1/none','message':{'text':'whole'},"
	    "'actions':[{'type':'button','action_id':'%s',"
	    "'value':'01900000-0000-7000-8000-00000000000a','action_ts':'%s'}]}}}",
	    user, action, at);
}

START_TEST(two_clicks_are_one_decision_and_the_loser_is_told)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	click("U01OP", "approve_accept", "1.1");
	click("U02OP", "approve_accept", "1.2");
	click("U01OP", "approve_accept", "1.1"); /* the same click again */
	expect("SELECT outcome FROM slack_envelope ORDER BY seq",
	       "accepted\naccepted\nduplicate\n");
	expect("SELECT outcome, source FROM decision ORDER BY seq",
	       "applied|slack\nduplicate|slack\n");
	expect("SELECT state, decided_by FROM request", "approved|slack:T01TEAM:U01OP\n");
	expect("SELECT user_id, channel_id, thread_ts, text LIKE '%: already approved by %' FROM "
	       "slack_outbox WHERE kind = 'ephemeral' AND user_id <> 'U01OP'",
	       "U02OP|C01AGENTS|1700000000.000100|1\n");
	slack_stop();
}
END_TEST

START_TEST(a_click_that_needs_words_asks_for_a_form)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	click("U01OP", "approve_reject", "1.1");
	expect(
	    "SELECT o.view, r.id, o.trigger_id, o.user_id, o.channel_id, o.thread_ts, "
	    " o.expires_at > o.created_at FROM slack_outbox AS o JOIN request AS r ON r.seq = "
	    " o.request_seq WHERE o.kind = 'view_open'",
	    "reject|01900000-0000-7000-8000-00000000000a|1.2.3|U01OP|C01AGENTS|1700000000.000100|"
	    "1\n");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT payload LIKE '%1.2.3%', payload LIKE '%none%', payload LIKE '%whole%' "
	       "FROM slack_envelope",
	       "0|0|0\n");
	slack_stop();
}
END_TEST

static void submit_for(const char *id, const char *callback, const char *trigger, const char *text)
{
	(void)slack_deliver(
	    "{'envelope':{'type':'interactive','accepts_response_payload':true,'payload':{"
	    "'type':'view_submission','user':{'id':'U01OP','team_id':'T01TEAM'},'trigger_id':'%s',"
	    "'view':{'id':'V01','callback_id':'%s','private_metadata':"
	    "'%s','state':{'values':{'instruction_block':{"
	    "'instruction_text':{'value':%s}}}}}}}}",
	    trigger, callback, id, text);
}

static void submit(const char *callback, const char *trigger, const char *text)
{
	submit_for("01900000-0000-7000-8000-00000000000a", callback, trigger, text);
}

START_TEST(a_form_decides_and_an_empty_one_stays_open)
{
	slack();
	a_question_in_slack();
	a_prompt_in_slack();
	(void)listener_starts();
	submit_for("01900000-0000-7000-8000-00000000000b", "prompt_refine", "1.1", "'  '");
	has(slack_wait_for("ack"), "payload.errors.instruction_block", "Please write something.");
	expect("SELECT state FROM request ORDER BY seq", "pending\npending\n");
	submit("approval_reject", "1.2", "'not now'");
	ck_assert_str_eq(member(slack_wait_for("ack"), "payload.response_action"), "");
	expect("SELECT state, reason FROM request WHERE kind = 'clearance'", "rejected|not now\n");
	submit("approval_reject", "1.3", "'again'");
	says(member(slack_wait_for("ack"), "payload.errors.instruction_block"),
	     "already rejected by");
	slack_stop();
}
END_TEST

START_TEST(after_a_form_that_could_not_be_shown_the_next_reply_is_the_reason)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	click("U01OP", "approve_reject", "1.1");
	given("UPDATE slack_outbox SET state = 'dead', why = 'expired_trigger_id', "
	      " settled_at = '2026-01-01T09:00:00.000Z' WHERE kind = 'view_open'");
	(void)slack_acked("{'message':{'text':'other people "
	                  "talk','user':'U02OP','thread_ts':'1700000000.000100'}}");
	expect("SELECT state FROM request", "pending\n");
	(void)slack_acked(
	    "{'message':{'text':'it breaks the build','thread_ts':'1700000000.000100'}}");
	expect("SELECT state, reason FROM request", "rejected|it breaks the build\n");
	slack_stop();
}
END_TEST

START_TEST(what_a_click_or_a_form_answers_an_agent_that_is_gone_is_said_not_to_be_heard_yet)
{
	slack();
	a_question_in_slack();
	a_prompt_in_slack();
	(void)listener_starts();
	click("U01OP", "approve_accept", "1.1");
	expect(WHISPER, "Approved 01900000-0000: Change a.c (a.c)\n"
	                "The agent is not waiting at the moment; it gets this when it is back.\n");
	submit_for("01900000-0000-7000-8000-00000000000b", "prompt_refine", "1.2", "'use tabs'");
	(void)slack_wait_for("ack");
	replies("Refined 01900000-0000: Go on?\n"
	        "The agent is not waiting at the moment; it gets this when it is back.");
	expect("SELECT count(*) FROM slack_outbox WHERE kind = 'ephemeral'", "1\n");
	slack_stop();
}
END_TEST

/* The form that was asked for last is open, as far as Slack says. */
static void the_form_is_open(void)
{
	given("UPDATE slack_outbox SET state = 'sending', claim = 1 WHERE kind = 'view_open' AND "
	      "state = 'queued';"
	      "UPDATE slack_outbox SET state = 'sent', settled_at = '2026-01-01T09:00:00.000Z' "
	      "WHERE kind = 'view_open' AND state = 'sending'");
}

static void say_in_thread(const char *text)
{
	(void)slack_acked("{'message':{'text':'%s','thread_ts':'1700000000.000100'}}", text);
}

START_TEST(after_a_form_that_slack_says_is_open_the_next_reply_is_the_reason_too)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	click("U01OP", "approve_reject", "1.1");
	the_form_is_open();
	say_in_thread("reject it breaks the build");
	expect("SELECT state, reason FROM request", "rejected|it breaks the build\n");
	slack_stop();
}
END_TEST

START_TEST(an_approval_with_words_is_no_reason_to_reject_although_that_form_is_open)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	click("U01OP", "approve_reject", "1.1");
	the_form_is_open();
	say_in_thread("approve but rename it");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'reply' AND text LIKE 'Shall %"
	       "as it is, and the agent be told “but rename it”?'",
	       "1\n");
	slack_stop();
}
END_TEST

/* What becomes of the words of the two, while the form of the first is open. */
static void words_while_the_form_is_open(const char *words, const char *becomes)
{
	slack();
	a_question_in_slack();
	a_tool("Bash", NULL);
	(void)listener_starts();
	click("U01OP", "approve_reject", "1.1");
	the_form_is_open();
	say_in_thread(words);
	expect("SELECT state, reason FROM request ORDER BY seq", becomes);
	slack_stop();
}

START_TEST(a_verdict_that_names_another_question_is_that_ones_although_a_form_is_open)
{
	words_while_the_form_is_open("reject " TOOL "1 not this tool",
	                             "pending|\nrejected|not this tool\n");
}
END_TEST

START_TEST(an_id_that_fits_no_question_rejects_none_although_a_form_is_open)
{
	words_while_the_form_is_open("reject 01955555-0000-7000 not this", "pending|\npending|\n");
}
END_TEST

START_TEST(the_id_of_a_question_is_no_part_of_the_reason_although_a_form_is_open)
{
	words_while_the_form_is_open("reject 01900000-0000-7000-8000-00000000000a it breaks",
	                             "rejected|it breaks\npending|\n");
}
END_TEST

START_TEST(after_a_form_that_was_closed_or_is_old_a_reply_is_no_reason)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	click("U01OP", "approve_reject", "1.1");
	the_form_is_open();
	(void)slack_acked(
	    "{'envelope':{'type':'interactive','accepts_response_payload':true,'payload':{"
	    "'type':'view_closed','user':{'id':'U01OP','team_id':'T01TEAM'},'is_cleared':false,"
	    "'view':{'id':'V01','callback_id':'approval_reject','private_metadata':"
	    "'01900000-0000-7000-8000-00000000000a'}}}}");
	say_in_thread("what does it break?");
	expect("SELECT state FROM request", "pending\n");
	click("U01OP", "approve_reject", "1.2");
	the_form_is_open();
	advance(11 * MINUTE);
	say_in_thread("and now?");
	expect("SELECT state FROM request", "pending\n");
	click("U01OP", "approve_reject", "1.3");
	given("UPDATE slack_outbox SET state = 'dead', why = 'expired_trigger_id', "
	      " settled_at = '2026-01-01T09:00:00.000Z' WHERE kind = 'view_open' AND "
	      "state = 'queued'");
	advance(11 * MINUTE);
	say_in_thread("hm");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM slack_message WHERE kind = 'reply' AND text LIKE 'A question "
	       "waits here%'",
	       "3\n");
	slack_stop();
}
END_TEST

START_TEST(sessions_are_paused_resumed_and_stopped)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	has(slack_acked("{'slash':{'text':'session-pause'}}"), "payload.text",
	    "Session 01900000-0000 (agent in w) is paused.");
	expect("SELECT status FROM session", "paused\n");
	has(slack_acked("{'slash':{'text':'resume'}}"), "payload.text",
	    "Session 01900000-0000 (agent in w) is active again.");
	says(member(slack_acked("{'slash':{'text':'sessions'}}"), "payload.text"),
	     "01900000-0000  active, hybrid");
	has(slack_acked("{'slash':{'text':'stop 01900000-0000-7000-8000-000000000001'}}"),
	    "payload.text", "Session 01900000-0000 (agent in w) is stopped.");
	expect("SELECT status FROM session", "terminated\n");
	expect("SELECT state, reason FROM request", "rejected|the session was stopped\n");
	has(slack_acked("{'slash':{'text':'steer go on'}}"), "payload.text",
	    "no session is live in this channel");
	slack_stop();
}
END_TEST

/* A session in its thread whose agent has ended its process while its question waits. */
static void a_parked_session(void)
{
	given(
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " origin, channel_id, created_at, updated_at)"
	    " VALUES (1, '01900000-0000-7000-8000-000000000001', 'h', 'slack:T01TEAM:U01OP', '/w',"
	    " 'created', 'remote', 'started', 'C01AGENTS', '2026-01-01T09:00:00.000Z',"
	    " '2026-01-01T09:00:00.000Z');"
	    "UPDATE session SET thread_ts = '1700000000.000100';"
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol,"
	    " park_after_ms, state, created_at) VALUES (1, 1, 1, 'h', 'claude', 'mcp', 0, 'wanted',"
	    " '2026-01-01T09:00:00.000Z');"
	    "UPDATE agent_run SET state = 'starting', pid = 50, process_start = 7;"
	    "UPDATE agent_run SET state = 'running', started_at = '2026-01-01T09:00:01.000Z';"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, elicits,"
	    " session_seq, identity, created_at) VALUES (1, 'k1', 'h', 'stdio', '2025-11-25', 0, 1,"
	    " '{}', '2026-01-01T09:00:00.000Z');"
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body, "
	    "risk_level,"
	    " created_at, updated_at) VALUES (1, '01900000-0000-7000-8000-00000000000a', 1,"
	    " 'permission', 'pending', printf('%064d', 30), 'Bash', 'make', 'low',"
	    " '2026-01-01T09:00:02.000Z', '2026-01-01T09:00:02.000Z');"
	    "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, arguments,"
	    " digest, state, request_seq, created_at) VALUES (1, 1, 1, '1', 'legacy',"
	    " 'intercom/hook', '{}', printf('%064d', 30), 'waiting', 1, "
	    "'2026-01-01T09:00:02.000Z');"
	    "INSERT INTO gate_call (seq, call_seq, session_seq, host, helper, host_session, event,"
	    " moment, tool, class, digest, request_seq, parks, created_at) VALUES (1, 1, 1, "
	    "'claude',"
	    " '0.2', 'h7', 'PreToolUse', 'pre_tool', 'Bash', 'execute', printf('%064d', 30), 1, 1,"
	    " '2026-01-01T09:00:02.000Z');"
	    "UPDATE gate_call SET decision = 'defer', reason = 'parked',"
	    " decided_at = '2026-01-01T09:00:03.000Z', took_ms = 60000;"
	    "UPDATE agent_run SET state = 'ended', outcome = 'parked', parked_seq = 1, exit_code = "
	    "0,"
	    " ended_at = '2026-01-01T09:00:04.000Z'");
}

START_TEST(resume_in_the_thread_of_a_parked_session_says_what_resumes_it)
{
	slack();
	a_parked_session();
	expect("SELECT status FROM session", "parked\n");
	(void)listener_starts();
	(void)slack_acked("{'message':{'text':'resume','thread_ts':'1700000000.000100'}}");
	expect("SELECT text FROM slack_message WHERE kind = 'reply'",
	       "the session is parked: the answer to question 01900000-0000 resumes it\n");
	has(slack_acked("{'slash':{'text':'session-pause'}}"), "payload.text",
	    "Session 01900000-0000 (agent in w) is paused.");
	has(slack_acked("{'slash':{'text':'resume'}}"), "payload.text",
	    "Session 01900000-0000 (agent in w) is no longer paused; the answer to its question "
	    "starts its agent.");
	slack_stop();
}
END_TEST

/* The supervisor starts the agent of a parked session whose question was answered during a pause.
 */
START_TEST(who_resumes_a_session_rings_the_supervisor)
{
	struct doorbell bell = DOORBELL_INIT;
	struct err e = { 0 };
	int run;

	slack();
	a_parked_session();
	(void)listener_starts();
	(void)slack_acked("{'slash':{'text':'session-pause'}}");
	run = open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_msg(!doorbell_open(&bell, run, "agent-intercom", &e), "%s", e.text);
	doorbell_drain(&bell);
	struct pollfd fd = { .fd = bell.fd, .events = POLLIN };

	ck_assert_int_eq(poll(&fd, 1, 0), 0);
	(void)slack_acked("{'slash':{'text':'resume'}}");

	ck_assert_int_eq(poll(&fd, 1, 0), 1);
	doorbell_clear(&bell);
	(void)close(run);
	slack_stop();
}
END_TEST

START_TEST(what_cannot_be_done_yet_is_said_in_one_line)
{
	slack();
	given("INSERT INTO setting (name, value, source, updated_at)"
	      " VALUES ('commands', '{\"status\":\"git status\"}', 'file', "
	      "'2026-01-01T08:00:00.000Z')");
	(void)listener_starts();
	says(member(slack_acked("{'slash':{'text':'session-restore a'}}"), "payload.text"),
	     "no checkpoint has an id that begins with 'a'");
	says(member(slack_acked("{'slash':{'text':'status'}}"), "payload.text"),
	     "there is no workspace: set default_workspace_root");
	has(slack_acked("{'slash':{'text':'stauts'}}"), "payload.text",
	    "command not found: stauts; did you mean `status`?");
	has(slack_acked("{'slash':{'text':'make coffee'}}"), "payload.text",
	    "command not found: make; `help` lists the commands");
	(void)slack_deliver("{'slash':{'text':''}}");
	says(member(slack_wait_for("ack"), "payload.text"), "session-restore");
	expect("SELECT verb, argument, outcome FROM command ORDER BY seq",
	       "session-restore|a|not_found\nrun|{\"alias\":\"status\",\"channel\":\"C01AGENTS\"}|"
	       "refused\n"
	       "stauts||malformed\nmake|coffee|malformed\nhelp||done\n");
	slack_stop();
}
END_TEST

START_TEST(a_direct_message_is_about_the_default_channel)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	says(member(slack_acked("{'slash':{'text':'approve','channel':'D01OP'}}"), "payload.text"),
	     "Approved 01900000-0000: Change a.c (a.c)");
	(void)slack_acked("{'slash':{'text':'task write the docs','channel':'D01OP'}}");
	(void)slack_acked("{'message':{'text':'mind the gap','channel':'D01OP'}}");
	expect("SELECT kind, channel_id, text, outcome, session_seq FROM steering ORDER BY seq",
	       "task|C01AGENTS|write the docs|accepted|\nsteer||mind the gap|accepted|1\n");
	slack_stop();
}
END_TEST

START_TEST(a_task_is_for_the_next_session)
{
	slack();
	(void)listener_starts();
	says(member(slack_acked("{'slash':{'text':'task write the docs'}}"), "payload.text"),
	     "the next agent that starts here");
	expect("SELECT kind, channel_id, text, outcome, session_seq IS NULL FROM steering",
	       "task|C01AGENTS|write the docs|accepted|1\n");
	slack_stop();
}
END_TEST

/* ---- when things go wrong ---- */

/* From when the listener has written, and answered, what it had to. */
static void the_database_is_busy(void)
{
	(void)slack_acked("{'slash':{'text':'help'}}");
	given("BEGIN IMMEDIATE");
}

START_TEST(a_busy_database_is_told_to_the_person)
{
	slack();
	(void)listener_starts();
	the_database_is_busy();
	says(member(slack_acked("{'slash':{'text':'help'}}"), "payload.text"),
	     "could not write this down (db: cannot begin: database is locked; another process "
	     "holds the write lock). Nothing was done");
	given("ROLLBACK");
	expect("SELECT count(*) FROM slack_envelope", "1\n");
	says(member(slack_acked("{'slash':{'text':'help'}}"), "payload.text"), "steer");
	slack_stop();
}
END_TEST

/* Slack sends again what is not acknowledged. */
START_TEST(an_event_is_not_acknowledged_while_the_database_is_busy_and_acts_when_it_comes_again)
{
	OWNED(char_ptr) char *id = NULL;

	slack();
	a_session_in_slack();
	(void)listener_starts();
	the_database_is_busy();
	id =
	    xstrdup(member(slack_deliver("{'mention':{'text':'look at b.c','only':'app_mention'}}"),
	                   "envelope_id"));
	says(member(slack_acked("{'slash':{'text':'help'}}"), "payload.text"), "Nothing was done");
	given("ROLLBACK");
	expect("SELECT count(*) FROM slack_envelope", "1\n");

	(void)slack_order("redeliver", "{'envelope_id':'%s'}", id);

	has(slack_wait_for("ack"), "envelope_id", id);
	expect("SELECT text, outcome FROM steering", "look at b.c|accepted\n");
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_listener_answers");
	TCase *c = store_case(s, "slack_listener", 60);

	tcase_add_test(c, words_in_the_thread_decide);
	tcase_add_test(
	    c, words_for_a_prompt_that_is_settled_are_told_so_and_are_nothing_for_the_agent);
	tcase_add_test(
	    c, words_after_a_later_question_are_not_taken_for_an_answer_to_the_prompt_before);
	tcase_add_test(c, a_file_is_offered_and_shown_only_where_the_question_is_about_one);
	tcase_add_test(c, who_names_what_is_not_there_is_told_where_to_look);
	tcase_add_test(c, an_answer_among_people_is_told_where_it_counts_if_something_waits_for_it);
	tcase_add_test(c,
	               who_deletes_what_was_said_in_a_thread_is_told_that_it_counts_all_the_same);
	tcase_add_test(c, what_somebody_does_by_slash_me_is_no_answer_and_that_is_told);
	tcase_add_test(c, who_edits_what_was_said_in_a_thread_is_told_that_it_is_not_read_again);
	tcase_add_test(c, the_inbox_says_whose_each_question_is);
	tcase_add_test(c, the_word_decides_the_question_that_it_fits);
	tcase_add_test(c, two_questions_for_one_word_are_asked_back);
	tcase_add_test(c, two_operators_and_one_question_have_one_winner);
	tcase_add_test(c, two_clicks_are_one_decision_and_the_loser_is_told);
	tcase_add_test(c, a_click_that_needs_words_asks_for_a_form);
	tcase_add_test(
	    c, what_a_click_or_a_form_answers_an_agent_that_is_gone_is_said_not_to_be_heard_yet);
	tcase_add_test(c, a_form_decides_and_an_empty_one_stays_open);
	tcase_add_test(c, after_a_form_that_could_not_be_shown_the_next_reply_is_the_reason);
	tcase_add_test(c, after_a_form_that_slack_says_is_open_the_next_reply_is_the_reason_too);
	tcase_add_test(c, an_approval_with_words_is_no_reason_to_reject_although_that_form_is_open);
	tcase_add_test(c,
	               a_verdict_that_names_another_question_is_that_ones_although_a_form_is_open);
	tcase_add_test(c, an_id_that_fits_no_question_rejects_none_although_a_form_is_open);
	tcase_add_test(c, the_id_of_a_question_is_no_part_of_the_reason_although_a_form_is_open);
	tcase_add_test(c, after_a_form_that_was_closed_or_is_old_a_reply_is_no_reason);
	tcase_add_test(c, sessions_are_paused_resumed_and_stopped);
	tcase_add_test(c, resume_in_the_thread_of_a_parked_session_says_what_resumes_it);
	tcase_add_test(c, who_resumes_a_session_rings_the_supervisor);
	tcase_add_test(c, what_cannot_be_done_yet_is_said_in_one_line);
	tcase_add_test(c, a_direct_message_is_about_the_default_channel);
	tcase_add_test(c, a_task_is_for_the_next_session);
	tcase_add_test(c, a_busy_database_is_told_to_the_person);
	tcase_add_test(
	    c,
	    an_event_is_not_acknowledged_while_the_database_is_busy_and_acts_when_it_comes_again);
	return run_suite(s);
}
