/* slack-poster: given rows, run the real binary against the fake Slack, expect messages and rows.
 */
#include "slack_poster_case.h"

static void expect_said(const char *text)
{
	OWNED(char_ptr) char *have = said();

	ck_assert_msg(strcmp(have, text) == 0, "Slack shows:\n%sexpected:\n%s\n%s", have, text,
	              rows("SELECT seq, kind, state, attempts, why FROM slack_outbox"));
}

/* ---- questions ---- */

START_TEST(a_question_stands_in_its_sessions_thread_with_buttons_and_a_call_to_the_operators)
{
	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");

	let_it_speak();

	expect_said("🚀 *Session started* `session-1` in w1\n"
	            "  Approval needed (low risk, +1 −1) in w1 (claude): Fix it (\n");
	const char *all = slack_ask("messages?channel=C01AGENTS");
	holds(all, "\"action_id\":\"approve_accept\"");
	holds(all, "<@U01OP> ");
	holds(all, "rich_text_preformatted");
	holds(slack_ask("calls?name=chat.postMessage"), "\"reply_broadcast\":\"true\"");
	expect("SELECT kind, state, sent_generation, ts IS NOT NULL FROM slack_message",
	       "session|sent|1|1\ndiff|sent|1|0\nask|sent|1|1\n");
	expect("SELECT slack_ts = (SELECT ts FROM slack_message WHERE kind = 'ask') FROM request",
	       "1\n");
	expect(
	    "SELECT thread_ts = (SELECT ts FROM slack_message WHERE kind = 'session') FROM session",
	    "1\n");
	desk_is_left();
}
END_TEST

START_TEST(an_answer_typed_by_hand_takes_the_buttons_away)
{
	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");
	let_it_speak();

	given("INSERT INTO decision (request_id, verdict, reason) VALUES ('ask-1', 'reject', 'no "
	      "<b>')");

	let_it_speak();
	const char *all = slack_ask("messages?channel=C01AGENTS");
	ck_assert_ptr_null(strstr(all, "approve_accept"));
	holds(all, "*Rejected* by tester at the terminal");
	holds(all, "no &lt;b&gt;");
	expect("SELECT generation, sent_generation FROM slack_message WHERE kind = 'ask'", "2|2\n");
	desk_is_left();
}
END_TEST

START_TEST(a_late_message_and_a_late_edit_tell_the_present_truth)
{
	pid_t poster;

	desk();
	session(1);
	question(1, 1, "Early", SHORT_DIFF);
	poster = start_worker("slack-poster");
	let_it_speak();
	stop_worker(poster);
	question(2, 1, "Late", SHORT_DIFF);
	given("UPDATE request SET state = 'interrupted'");
	given("UPDATE request SET state = 'pending'");
	given("INSERT INTO decision (request_id, verdict) VALUES ('ask-1', 'approve')");
	given("INSERT INTO decision (request_id, verdict) VALUES ('ask-2', 'approve')");
	slack_mark();

	(void)start_worker("slack-poster");

	let_it_speak();
	ck_assert_int_eq(times_said("*Approved* by tester"), 2);
	expect("SELECT count(*) FROM slack_outbox WHERE kind = 'update'", "1\n");
	desk_is_left();
}
END_TEST

START_TEST(a_long_diff_is_a_snippet_before_the_question)
{
	desk();
	session(1);
	question(
	    1, 1, "Long",
	    "'--- a/src/a.c' || char(10) || '+++ b/src/a.c' || char(10) || '@@ -0,0 +1,30 @@' ||"
	    " replace(hex(zeroblob(30)), '00', char(10) || '+x') || char(10)");
	(void)start_worker("slack-poster");

	let_it_speak();

	slack_expect_calls(
	    "auth.test\nconversations.info\nchat.postMessage\nfiles.getUploadURLExternal\nupload\n"
	    "files.completeUploadExternal\nchat.postMessage\n");
	const char *files = slack_ask("files");
	has(files, "files.0.title", "src_a_c.diff");
	has(files, "files.0.snippet_type", "diff");
	has(files, "files.0.completed", "true");
	holds(files, "@@ -0,0 +1,30 @@");
	holds(slack_ask("messages?channel=C01AGENTS"), "33 lines, see the file above");
	desk_is_left();
}
END_TEST

static const char LONG_DIFF[] = "replace(hex(zeroblob(30)), '00', 'x' || char(10))";

START_TEST(a_question_without_its_file_says_where_else_the_diff_is)
{
	OWNED(char_ptr) char *why = NULL;

	desk();
	slack_set("{'scopes': ['chat:write', 'channels:history']}");
	session(1);
	question(1, 1, "Long", LONG_DIFF);
	(void)start_worker("slack-poster");

	let_it_speak();

	holds(slack_ask("messages?channel=C01AGENTS"),
	      "30 lines that Slack did not take, see `agent-intercom-ctl show ask-1`");
	expect("SELECT what, state FROM outbox_stuck", "diff|dead\n");
	why = rows("SELECT why FROM outbox_stuck");
	holds(why, "needs files:write");
	desk_is_left();
}
END_TEST

static void given_long_question_in_the_channel(void)
{
	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('slack.questions', 'channel', 'file', '2026-01-01T00:00:00.000Z')");
	session(1);
	question(1, 1, "Long", LONG_DIFF);
}

START_TEST(a_question_may_stand_in_the_channel_with_its_diff_below_it)
{
	desk();
	given_long_question_in_the_channel();
	(void)start_worker("slack-poster");

	let_it_speak();

	expect_said("Approval needed (low risk, +30 −0) in w1 (claude): Long (s\n"
	            "  \n"
	            "🚀 *Session started* `session-1` in w1\n"); /* less urgent */
	holds(slack_ask("messages?channel=C01AGENTS"), "30 lines, see the file in the thread");
	desk_is_left();
}
END_TEST

static const char CARD[] = "SELECT sent_generation FROM slack_message WHERE kind = 'ask'";

/* Its text with the buttons, as Slack has it now. */
static void card_has(const char *part, bool can_be_approved)
{
	const char *messages = slack_ask("messages?channel=C01AGENTS");

	holds(messages, part);
	holds(messages, "approve_reject");
	ck_assert_int_eq(strstr(messages, "approve_accept") != NULL, can_be_approved);
}

START_TEST(a_question_in_the_channel_can_be_approved_once_its_file_is_below_it)
{
	desk();
	given_long_question_in_the_channel();
	slack_fault("{'name': 'files.getUploadURLExternal', 'what': 'rate', 'retry_after': 30}");
	(void)start_worker("slack-poster");

	let_it_speak_until(2);
	expect(CARD, "1\n");
	card_has("30 lines; the file with all of them comes in the thread, and then the button "
	         "that approves",
	         false);
	let_it_speak();
	expect(CARD, "2\n");
	card_has("30 lines, see the file in the thread", true);
	desk_is_left();
}
END_TEST

START_TEST(a_question_in_the_channel_whose_file_slack_refuses_cannot_be_approved_there)
{
	desk();
	slack_set("{'scopes': ['chat:write', 'channels:history']}");
	given_long_question_in_the_channel();
	(void)start_worker("slack-poster");

	let_it_speak();
	expect(CARD, "2\n");
	card_has("30 lines that Slack did not take", false);
	desk_is_left();
}
END_TEST

START_TEST(nothing_is_posted_in_local_mode)
{
	desk();
	given(
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's', 'h', 'local:tester', '/w', 'active', 'local',"
	    " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
	question(1, 1, "Fix it", SHORT_DIFF);

	run_worker("slack-poster");

	expect_said("");
	desk_is_left();
}
END_TEST

/* From the agent's call to its answer, with the real front. */
START_TEST(what_an_agent_asks_is_shown_and_its_answer_is_shown_too)
{
	char workspace[600];
	OWNED(char_ptr) char *asked = proposal("new.txt", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *said_so = NULL;
	struct agent a;
	struct wire w;

	desk();
	given_front_settings(workspace);
	given("UPDATE setting SET value = 'hybrid' WHERE name = 'mode'");
	(void)start_worker("mcp-front");
	(void)start_worker("slack-poster");
	a = agent_hello(front_port(), "", "2025-06-18");

	agent_begin(&a, &w, "check_clearance", asked, NULL);
	expect_soon("SELECT count(*) FROM request", "1\n");
	let_it_speak();
	holds(slack_ask("messages?channel=C01AGENTS"), "\"action_id\":\"approve_accept\"");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	answer = agent_end(&w);
	said_so = agent_call(&a, "broadcast", "{\"message\":\"on it\"}");

	holds(answer, "approved");
	holds(said_so, "\"posted\":true");
	let_it_speak();
	ck_assert_int_eq(times_said("on it"), 1);
	ck_assert_ptr_null(strstr(slack_ask("messages?channel=C01AGENTS"), "approve_accept"));
	free(agent_call(&a, "ping", "{\"status_message\":\"half way\"}"));
	free(agent_call(&a, "ping", "{}"));
	let_it_speak();
	ck_assert_int_eq(times_said("half way"), 1);
	desk_is_left();
}
END_TEST

static void says_in(struct agent *a, const char *thread, const char *text)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments, "{\"message\":\"%s\",\"thread_ts\":\"%.*s\"}", text,
	         (int)strcspn(thread, "\n"), thread);
	free(agent_call(a, "broadcast", arguments.bytes));
	let_it_speak();
}

START_TEST(an_agent_that_speaks_in_anothers_thread_is_named)
{
	OWNED(char_ptr) char *own = NULL, *other = NULL;
	char workspace[600];
	struct agent a;

	desk();
	given_front_settings(workspace);
	given("UPDATE setting SET value = 'hybrid' WHERE name = 'mode'");
	(void)start_worker("mcp-front");
	(void)start_worker("slack-poster");
	a = agent_hello(front_port(), "", "2025-06-18");
	free(agent_call(&a, "broadcast", "{\"message\":\"hello\"}"));
	session(20);
	given("INSERT INTO slack_notice (kind, session_seq, text) VALUES ('note', 20, 'x')");
	let_it_speak();
	own = rows("SELECT ts FROM slack_message WHERE kind = 'session' AND session_seq <> 20");
	other = rows("SELECT ts FROM slack_message WHERE kind = 'session' AND session_seq = 20");

	says_in(&a, own, "here");
	says_in(&a, other, "there");

	holds(slack_ask("messages?channel=C01AGENTS"), "\"text\":\"Said by another session, `");
	ck_assert_int_eq(times_said("ℹ️ here"), 1);
	ck_assert_int_eq(times_said("ℹ️ there"), 0);
	desk_is_left();
}
END_TEST

/* ---- order and pace ---- */

START_TEST(posts_keep_their_order_and_a_second_between_them)
{
	OWNED(str) struct str one = { 0 };
	OWNED(cJSON_ptr) cJSON *root = NULL;
	const cJSON *call;
	double last = 0;

	desk();
	slack_set("{'rate_limits': true}");
	session(1);
	session(2);
	for (int i = 0; i < 20; i++) {
		char text[40];

		(void)snprintf(text, sizeof(text), "reply %02d", i);
		reply(1 + i % 2, text);
	}
	(void)start_worker("slack-poster");

	let_it_speak();

	root = cJSON_Parse(slack_ask("calls?name=chat.postMessage"));
	cJSON_ArrayForEach (call, cJSON_GetObjectItem(root, "calls")) {
		double at = cJSON_GetNumberValue(cJSON_GetObjectItem(call, "at_ms"));

		ck_assert_msg(at - last >= 1000, "only %.0f ms apart", at - last);
		last = at;
	}
	expect("SELECT count(*) FROM slack_message WHERE state = 'sent'", "22\n");
	expect("SELECT count(*) FROM slack_message AS a JOIN slack_message AS b"
	       " ON a.session_seq = b.session_seq AND a.seq < b.seq AND a.ts > b.ts",
	       "0\n");
	desk_is_left();
}
END_TEST

START_TEST(the_open_question_of_a_new_session_comes_before_all_that_is_queued_of_others)
{
	desk();
	session(1);
	question(1, 1, "Answered", SHORT_DIFF);
	given("INSERT INTO decision (request_id, verdict) VALUES ('ask-1', 'approve')");
	session(2);
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	session(3);
	question(2, 3, "Open", SHORT_DIFF);
	(void)start_worker("slack-poster");

	let_it_speak();

	expect("SELECT kind, session_seq FROM slack_message WHERE ts IS NOT NULL ORDER BY ts",
	       "session|3\nask|3\nserver|\nsession|1\nsession|2\nask|1\n");
	desk_is_left();
}
END_TEST

START_TEST(a_session_that_asks_much_does_not_keep_others_waiting)
{
	desk();
	session(1);
	session(2);
	for (int n = 1; n <= 4; n++)
		question(n, 1, "One of many", SHORT_DIFF);
	question(5, 2, "Of another", SHORT_DIFF);
	(void)start_worker("slack-poster");

	let_it_speak();

	expect("SELECT request_seq FROM slack_message WHERE kind = 'ask' ORDER BY ts",
	       "1\n5\n2\n3\n4\n");
	desk_is_left();
}
END_TEST

START_TEST(what_an_operator_has_just_said_is_answered_before_what_is_reported)
{
	pid_t poster;

	desk();
	session(1);
	poster = start_worker("slack-poster");
	let_it_speak();
	stop_worker(poster);
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'one'), ('server', 'two')");
	given("INSERT INTO slack_notice (kind, channel_id, thread_ts, text)"
	      " SELECT 'reply', channel_id, ts, 'Noted.' FROM slack_message WHERE seq = 1");
	(void)start_worker("slack-poster");

	let_it_speak();

	expect_said("🚀 *Session started* `session-1` in w1\n"
	            "  Noted.\n"
	            "one\n"
	            "two\n");
	desk_is_left();
}
END_TEST

START_TEST(many_edits_keep_to_what_slack_allows_in_a_minute)
{
	desk();
	slack_set("{'rate_limits': true}");
	for (int i = 1; i <= 60; i++)
		session(i);
	(void)start_worker("slack-poster");
	let_it_speak();
	slack_mark();
	given("UPDATE session SET status = 'interrupted'");

	let_it_speak();

	expect("SELECT count(*) FROM slack_message WHERE generation = 2 AND sent_generation = 2",
	       "60\n");
	expect("SELECT max(attempts) FROM slack_outbox WHERE kind = 'update'", "1\n");
	desk_is_left();
}
END_TEST

START_TEST(a_burst_of_broadcasts_is_few_messages_and_none_is_left_out)
{
	desk();
	session(1);
	given("INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	      " identity, created_at) VALUES (1, 'k', 'h', 'http', '2025-11-25', 1, '{}',"
	      " '2026-01-01T09:00:00.000Z')");
	given("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
	      "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, arguments, "
	      "digest,"
	      " state, created_at, finished_at) SELECT 1, 1, i, 'legacy', 'broadcast',"
	      " json_object('message', printf('line %03d', i), 'level', 'success'), 'd', 'done',"
	      " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z' FROM n");
	(void)start_worker("slack-poster");

	let_it_speak();

	const char *all = slack_ask("messages?channel=C01AGENTS");
	for (int i = 1; i <= 100; i++) {
		char line[40];

		(void)snprintf(line, sizeof(line), "✅ line %03d", i);
		holds(all, line);
	}
	expect("SELECT count(DISTINCT ts) < 9, count(*), min(state) FROM slack_message"
	       " WHERE kind = 'said'",
	       "1|100|sent\n");
	desk_is_left();
}
END_TEST

START_TEST(too_many_calls_wait_as_long_as_slack_says_across_a_restart)
{
	pid_t poster;

	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	slack_fault("{'name': 'chat.postMessage', 'what': 'rate', 'retry_after': 30}");
	poster = start_worker("slack-poster");
	expect_soon("SELECT state, attempts FROM slack_outbox", "queued|1\n");
	expect("SELECT not_before > strftime('%Y') FROM slack_gate WHERE name LIKE 'chat.post%'",
	       "1\n");
	kill_worker(poster);

	(void)start_worker("slack-poster");
	advance(28 * SECOND);
	expect_said("");
	expect("SELECT state, attempts FROM slack_outbox", "queued|1\n");
	advance(4 * SECOND);

	expect_soon("SELECT state, attempts FROM slack_outbox", "sent|2\n");
	expect_said("hello\n");
	desk_is_left();
}
END_TEST

/* ---- once ---- */

START_TEST(an_answer_that_is_lost_after_the_effect_leaves_one_message)
{
	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'after', 'times': 2}");
	(void)start_worker("slack-poster");

	let_it_speak();

	expect_said("🚀 *Session started* `session-1` in w1\n"
	            "  Approval needed (low risk, +1 −1) in w1 (claude): Fix it (\n");
	expect("SELECT kind, state, attempts FROM slack_outbox WHERE kind = 'post'",
	       "post|sent|1\npost|sent|1\n");
	desk_is_left();
}
END_TEST

/* The connection is kept by then: libcurl must not send the body again by itself. */
START_TEST(an_answer_that_is_lost_on_a_kept_connection_leaves_one_message)
{
	desk();
	session(1);
	(void)start_worker("slack-poster");
	let_it_speak();
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'after'}");
	slack_mark();

	reply(1, "once");

	let_it_speak();
	ck_assert_int_eq(times_said("once"), 1);
	slack_expect_calls("chat.postMessage\nconversations.replies\n");
	desk_is_left();
}
END_TEST

START_TEST(a_post_that_never_arrived_is_said_after_two_looks)
{
	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'before'}");
	(void)start_worker("slack-poster");
	expect_soon("SELECT state FROM slack_outbox", "doubtful\n");

	let_it_speak();

	expect_said("hello\n");
	slack_expect_calls(
	    "auth.test\nconversations.info\nchat.postMessage\nconversations.history\n"
	    "conversations.history\nchat.postMessage\n");
	desk_is_left();
}
END_TEST

START_TEST(a_post_whose_answer_does_not_say_which_message_is_looked_for)
{
	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	slack_fault("{'name': 'chat.postMessage', 'what': 'bare'}");
	(void)start_worker("slack-poster");
	expect_soon("SELECT state FROM slack_outbox", "doubtful\n");

	let_it_speak();

	expect_said("hello\n");
	expect("SELECT count(*) FROM slack_message WHERE ts IS NOT NULL", "1\n");
	slack_expect_calls(
	    "auth.test\nconversations.info\nchat.postMessage\nconversations.history\n");
	desk_is_left();
}
END_TEST

START_TEST(what_a_poster_died_with_long_ago_is_said_after_two_looks_too)
{
	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	given("UPDATE slack_outbox SET state = 'sending', claim = 1, worker_id = 'gone',"
	      " started_at = '2026-01-01T00:00:00.000Z'");
	(void)start_worker("slack-poster");

	let_it_speak();

	expect_said("hello\n");
	slack_expect_calls("auth.test\nconversations.info\nconversations.history\n"
	                   "conversations.history\nchat.postMessage\n");
	desk_is_left();
}
END_TEST

/* As after a restore. */
START_TEST(what_is_looked_for_waits_as_long_as_slack_says_and_a_thread_is_read_for_all_of_it)
{
	OWNED(cJSON_ptr) cJSON *reads = NULL;
	pid_t poster;

	desk();
	session(1);
	reply(1, "first");
	poster = start_worker("slack-poster");
	let_it_speak();
	stop_worker(poster);
	for (int i = 1; i <= 5; i++)
		question(i, 1, "Fix", SHORT_DIFF);
	given("UPDATE slack_outbox SET state = 'sending', claim = 1, worker_id = 'gone',"
	      " started_at = '2026-01-01T00:00:00.000Z' WHERE state = 'queued'");
	slack_fault("{'name': 'conversations.replies', 'what': 'rate', 'retry_after': 30,"
	            " 'times': 1}");
	poster = start_worker("slack-poster");
	expect_soon("SELECT count(*) FROM slack_gate WHERE name = 'conversations.replies'"
	            " AND not_before > strftime('%Y')",
	            "1\n");
	kill_worker(poster);
	(void)start_worker("slack-poster");
	advance(28 * SECOND);
	expect("SELECT count(*), sum(lookups) FROM slack_outbox WHERE state = 'doubtful'", "5|0\n");

	let_it_speak();

	expect("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL", "5\n");
	reads = cJSON_Parse(slack_ask("calls?name=conversations.replies"));
	/* two looks, and what was too fast; each for itself, they were eleven */
	ck_assert_int_lt(cJSON_GetArraySize(cJSON_GetObjectItem(reads, "calls")), 6);
	desk_is_left();
}
END_TEST

START_TEST(a_poster_killed_while_it_sends_leaves_one_message)
{
	static const char *const WHEN[] = { "before", "after" };

	for (size_t i = 0; i < COUNT(WHEN); i++) {
		pid_t poster;

		desk();
		given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
		slack_fault("{'name': 'chat.postMessage', 'what': 'hang', 'when': '%s'}", WHEN[i]);
		poster = start_worker("slack-poster");
		(void)slack_wait_for("chat.postMessage");
		kill_worker(poster);
		expect("SELECT state FROM slack_outbox", "sending\n");

		(void)start_worker("slack-poster");

		let_it_speak();
		expect_said("hello\n");
		desk_is_left();
	}
}
END_TEST

START_TEST(of_a_message_that_was_said_twice_the_younger_goes)
{
	OWNED(char_ptr) char *marker = NULL;

	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'after'}");
	(void)start_worker("slack-poster");
	expect_soon("SELECT state FROM slack_outbox", "doubtful\n");
	marker = rows("SELECT marker FROM slack_message");
	marker[strcspn(marker, "\n")] = '\0';
	ck_assert_int_eq(
	    shell(NULL,
	          "curl -s -H 'Authorization: Bearer " SLACK_FAKE_BOT_TOKEN "' -d channel=C01AGENTS"
	          " -d text=again -d 'metadata={\"event_type\":\"intercom_message\","
	          "\"event_payload\":{\"id\":\"%s\",\"part\":\"server\"}}' %schat.postMessage",
	          marker, slack_api_url()),
	    0);

	let_it_speak();

	expect_said("hello\n");
	desk_is_left();
}
END_TEST

/* More than a page of what Slack answers with. */
START_TEST(a_post_in_doubt_is_found_behind_all_that_was_said_since)
{
	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'after'}");
	(void)start_worker("slack-poster");
	expect_soon("SELECT state FROM slack_outbox", "doubtful\n");
	ck_assert_int_eq(
	    shell(NULL,
	          "curl -s -o /dev/null -H 'Authorization: Bearer " SLACK_FAKE_BOT_TOKEN "'"
	          " -d channel=C01AGENTS -d text=chat '%schat.postMessage?n=[1-450]'",
	          slack_api_url()),
	    0);

	let_it_speak();

	ck_assert_int_eq(times_said("chat\n"), 450);
	ck_assert_int_eq(times_said("hello\n"), 1);
	desk_is_left();
}
END_TEST

START_TEST(what_three_posters_died_of_is_not_tried_again)
{
	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	given(
	    "UPDATE slack_outbox SET state = 'sending', deaths = 2, claim = 3, worker_id = 'gone',"
	    " started_at = '2026-01-01T00:00:00.000Z'");

	run_worker("slack-poster");

	expect("SELECT state, why FROM slack_outbox",
	       "dead|crashed worker: three posters died with it in hand\n");
	expect("SELECT count(*) FROM slack_lane", "0\n");
	expect_said("");
	desk_is_left();
}
END_TEST

START_TEST(what_may_be_done_once_is_not_done_again_after_a_crash)
{
	desk();
	given("INSERT INTO slack_outbox (kind, response_url, text, created_at) VALUES"
	      " ('respond', 'https://127.0.0.1:1/', 'psst', '2026-01-01T00:00:00.000Z')");
	given("UPDATE slack_outbox SET state = 'sending', claim = 1, worker_id = 'gone',"
	      " started_at = '2026-01-01T00:00:00.000Z'");

	run_worker("slack-poster");

	slack_expect_calls("auth.test\nconversations.info\n");
	expect("SELECT state, response_url IS NULL FROM slack_outbox", "dead|1\n");
	desk_is_left();
}
END_TEST

START_TEST(an_upload_that_is_shared_without_an_answer_is_one_file)
{
	desk();
	session(1);
	question(1, 1, "Long", "replace(hex(zeroblob(30)), '00', 'x' || char(10))");
	slack_fault("{'name': 'files.completeUploadExternal', 'what': 'lost', 'when': 'after'}");
	(void)start_worker("slack-poster");

	let_it_speak();

	const char *files = slack_ask("files");
	has(files, "files.0.completed", "true");
	has(files, "files.1", "");
	desk_is_left();
}
END_TEST

START_TEST(a_channel_that_cannot_be_read_makes_a_question_repeat_and_says_so)
{
	desk();
	session(1);
	(void)start_worker("slack-poster");
	let_it_speak();
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'before'}");
	slack_fault("{'name': 'conversations.replies', 'what': 'error', 'error': 'missing_scope',"
	            " 'times': 100}");

	question(1, 1, "Fix it", SHORT_DIFF);

	let_it_speak();
	ck_assert_int_eq(times_said("(may be a repeat) Approval needed"), 1);
	desk_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_poster_order");
	TCase *c = store_case(s, "slack_poster", 90);

	tcase_add_test(
	    c, a_question_stands_in_its_sessions_thread_with_buttons_and_a_call_to_the_operators);
	tcase_add_test(c, an_answer_typed_by_hand_takes_the_buttons_away);
	tcase_add_test(c, a_late_message_and_a_late_edit_tell_the_present_truth);
	tcase_add_test(c, a_long_diff_is_a_snippet_before_the_question);
	tcase_add_test(c, a_question_without_its_file_says_where_else_the_diff_is);
	tcase_add_test(c, a_question_may_stand_in_the_channel_with_its_diff_below_it);
	tcase_add_test(c, a_question_in_the_channel_can_be_approved_once_its_file_is_below_it);
	tcase_add_test(c,
	               a_question_in_the_channel_whose_file_slack_refuses_cannot_be_approved_there);
	tcase_add_test(c, nothing_is_posted_in_local_mode);
	tcase_add_test(c, what_an_agent_asks_is_shown_and_its_answer_is_shown_too);
	tcase_add_test(c, an_agent_that_speaks_in_anothers_thread_is_named);
	tcase_add_test(c, posts_keep_their_order_and_a_second_between_them);
	tcase_add_test(
	    c, the_open_question_of_a_new_session_comes_before_all_that_is_queued_of_others);
	tcase_add_test(c, a_session_that_asks_much_does_not_keep_others_waiting);
	tcase_add_test(c, what_an_operator_has_just_said_is_answered_before_what_is_reported);
	tcase_add_test(c, many_edits_keep_to_what_slack_allows_in_a_minute);
	tcase_add_test(c, a_burst_of_broadcasts_is_few_messages_and_none_is_left_out);
	tcase_add_test(c, too_many_calls_wait_as_long_as_slack_says_across_a_restart);
	tcase_add_test(c, an_answer_that_is_lost_after_the_effect_leaves_one_message);
	tcase_add_test(c, an_answer_that_is_lost_on_a_kept_connection_leaves_one_message);
	tcase_add_test(c, a_post_whose_answer_does_not_say_which_message_is_looked_for);
	tcase_add_test(c, a_post_that_never_arrived_is_said_after_two_looks);
	tcase_add_test(c, what_a_poster_died_with_long_ago_is_said_after_two_looks_too);
	tcase_add_test(
	    c, what_is_looked_for_waits_as_long_as_slack_says_and_a_thread_is_read_for_all_of_it);
	tcase_add_test(c, a_poster_killed_while_it_sends_leaves_one_message);
	tcase_add_test(c, of_a_message_that_was_said_twice_the_younger_goes);
	tcase_add_test(c, a_post_in_doubt_is_found_behind_all_that_was_said_since);
	tcase_add_test(c, what_three_posters_died_of_is_not_tried_again);
	tcase_add_test(c, what_may_be_done_once_is_not_done_again_after_a_crash);
	tcase_add_test(c, an_upload_that_is_shared_without_an_answer_is_one_file);
	tcase_add_test(c, a_channel_that_cannot_be_read_makes_a_question_repeat_and_says_so);
	return run_suite(s);
}
