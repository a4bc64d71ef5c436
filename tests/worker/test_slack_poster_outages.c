/* slack-poster: given rows, run the real binary against the fake Slack, expect messages and rows.
 */
#include "slack_poster_case.h"

/* ---- outages ---- */

/* Each of count replies once, and in each session's thread in the order they were given. */
static void expect_replies(int count)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	int last[3] = { -1, -1, -1 }, found = 0;
	const cJSON *m;

	cJSON_ArrayForEach (m, cJSON_GetObjectItem(root, "messages")) {
		const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(m, "text"));
		int i;

		if (!text || sscanf(text, "reply %d", &i) != 1)
			continue;
		ck_assert_msg(i == (last[i % 2] < 0 ? i % 2 : last[i % 2] + 2),
		              "reply %d comes after %d", i, last[i % 2]);
		last[i % 2] = i;
		found++;
	}
	ck_assert_int_eq(found, count);
}

START_TEST(after_an_outage_of_minutes_with_restarts_everything_is_said_once_and_in_order)
{
	char sql[300];
	pid_t poster;

	desk();
	session(1);
	session(2);
	poster = start_worker("slack-poster");
	let_it_speak();
	slack_fault("{'name': '*', 'what': 'lost', 'when': 'before', 'times': 40}");
	(void)snprintf(
	    sql, sizeof(sql),
	    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	    "INSERT INTO slack_notice (kind, session_seq, text)"
	    " SELECT 'reply', 1 + i %% 2, 'reply ' || i FROM n",
	    backlog() - 1);
	given(sql);
	for (int i = 0; i < 10; i++) {
		advance(MINUTE / 2);
		(void)usleep(10000);
	}
	expect("SELECT count(*) FROM slack_message WHERE state = 'sent'", "2\n");
	kill_worker(poster);
	poster = start_worker("slack-poster");
	let_it_speak_until(backlog() / 2);
	kill_worker(poster); /* and again, while it catches up */

	(void)start_worker("slack-poster");

	let_it_speak();
	expect_replies(backlog());
	desk_is_left();
}
END_TEST

START_TEST(that_slack_is_reached_again_is_noted)
{
	desk();
	(void)start_worker("slack-poster");
	expect_soon("SELECT count(*) FROM setting WHERE name = 'slack.bot_user_id'", "1\n");
	slack_fault("{'name': 'chat.postMessage', 'what': 'lost', 'when': 'before'}");
	expect("SELECT count(*) FROM setting WHERE name = 'slack.reached_at'", "0\n");
	session(1);
	reply(1, "hello");
	let_it_speak();
	expect("SELECT count(*) FROM setting WHERE name = 'slack.reached_at'", "1\n");
	desk_is_left();
}
END_TEST

START_TEST(a_slack_that_cannot_be_reached_is_tried_again_and_nothing_is_in_doubt)
{
	char address[40];

	desk();
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	(void)snprintf(address, sizeof(address), "http://127.0.0.1:%d/api/", free_port());
	(void)setenv("SLACK_API_URL", address, 1);
	(void)start_worker("slack-poster");

	expect_soon("SELECT state, attempts > 0 FROM slack_outbox", "queued|1\n");

	expect_soon("SELECT why LIKE 'cannot reach Slack: %' FROM outbox_stuck"
	            " WHERE what = 'gate slack'",
	            "1\n");
	desk_is_left();
}
END_TEST

START_TEST(a_token_that_slack_refuses_is_told_and_a_mended_one_heals)
{
	OWNED(str) struct str health = { 0 };

	desk();
	slack_set("{'bot_error': 'token_revoked'}");
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	(void)start_worker("slack-poster");
	expect_soon("SELECT why FROM outbox_stuck WHERE what = 'gate slack'",
	            "Slack refuses the bot token: token_revoked\n");
	(void)ctl(&health, "health"); /* says "no" without a supervisor */
	says(str_text(&health), "token_revoked");

	slack_set("{'bot_error': null}");
	advance(MINUTE + SECOND);

	expect_soon("SELECT state FROM slack_outbox", "sent\n");
	expect("SELECT count(*) FROM outbox_stuck", "0\n");
	desk_is_left();
}
END_TEST

START_TEST(a_public_channel_is_joined_and_an_archived_one_parks_its_messages)
{
	desk();
	given(
	    "INSERT INTO slack_notice (kind, channel_id, text) VALUES ('server', 'C03OLD', 'old')");
	slack_set("{'scopes': ['chat:write', 'channels:join', 'channels:history']}");
	given("INSERT INTO slack_notice (kind, channel_id, text) VALUES ('server', 'C02OTHER', "
	      "'new')");
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	(void)start_worker("slack-poster");

	expect_soon("SELECT channel_id, state FROM slack_message",
	            "C03OLD|queued\nC02OTHER|sent\nC01AGENTS|sent\n");
	expect("SELECT why FROM outbox_stuck WHERE what LIKE 'gate %'",
	       "Slack refuses the channel: is_archived\n");
	slack_order("channel", "{'id': 'C03OLD', 'is_archived': false, 'is_member': true}");
	advance(MINUTE + SECOND);
	expect_soon("SELECT count(*) FROM slack_message WHERE state = 'sent'", "3\n");
	desk_is_left();
}
END_TEST

/* ---- poison ---- */

START_TEST(what_slack_refuses_is_said_more_simply)
{
	desk();
	session(1);
	(void)start_worker("slack-poster");
	let_it_speak();
	slack_fault("{'name': 'chat.postMessage', 'what': 'error', 'error': 'invalid_blocks'}");

	question(1, 1, "Fix it", SHORT_DIFF);

	let_it_speak();
	holds(slack_ask("messages?channel=C01AGENTS"),
	      "Answer in the thread: approve, or reject and why");
	expect("SELECT form, attempts FROM slack_outbox ORDER BY seq DESC LIMIT 1", "plain|2\n");
	desk_is_left();
}
END_TEST

START_TEST(a_poisoned_message_dies_with_a_reason_and_the_others_pass)
{
	OWNED(str) struct str health = { 0 };

	desk();
	session(1);
	(void)start_worker("slack-poster");
	let_it_speak();
	slack_fault("{'name': 'chat.postMessage', 'what': 'error', 'error': 'invalid_blocks',"
	            " 'times': 3}");
	question(1, 1, "Poison", SHORT_DIFF);
	let_it_speak();
	reply(1, "after it");

	let_it_speak();
	ck_assert_int_eq(times_said("after it"), 1);
	expect("SELECT what, state, request_id, why FROM outbox_stuck",
	       "ask|dead|ask-1|invalid_blocks\n");
	expect("SELECT kind FROM event WHERE kind = 'slack.dead'", "slack.dead\n");
	(void)ctl(&health, "health"); /* says "no" without a supervisor */
	says(str_text(&health), "1 dead");
	says(str_text(&health), "question ask-1: invalid_blocks");
	desk_is_left();
}
END_TEST

START_TEST(a_deleted_head_is_followed_by_a_new_one)
{
	desk();
	session(1);
	(void)start_worker("slack-poster");
	let_it_speak();
	slack_fault("{'name': 'chat.postMessage', 'what': 'error', 'error': 'thread_not_found'}");

	reply(1, "below the new one");

	let_it_speak();
	expect("SELECT kind, state FROM slack_message", "session|gone\nreply|sent\nsession|sent\n");
	expect("SELECT root_seq FROM slack_message WHERE kind = 'reply'", "3\n");
	ck_assert_int_eq(times_said("below the new one"), 1);
	desk_is_left();
}
END_TEST

START_TEST(a_session_in_the_deleted_thread_of_another_one_begins_its_own)
{
	desk();
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " client_name, thread_ts, created_at, updated_at) VALUES (1, 'session-1', 'h',"
	      " 'local:tester', '/ws/w1', 'active', 'hybrid', 'claude', '1234567890.123456',"
	      " strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))");
	(void)start_worker("slack-poster");
	slack_fault("{'name': 'chat.postMessage', 'what': 'error', 'error': 'thread_not_found',"
	            " 'times': 1}");

	question(1, 1, "anyone?", SHORT_DIFF);

	let_it_speak();
	expect("SELECT kind, state FROM slack_message",
	       "diff|gone\nask|sent\nsession|sent\ndiff|sent\n");
	expect("SELECT DISTINCT root_seq FROM slack_message WHERE state = 'sent'"
	       " AND kind <> 'session'",
	       "3\n");
	ck_assert_int_eq(times_said("anyone?"), 1);
	desk_is_left();
}
END_TEST

/* By a person, or because it is old. */
static void all_is_deleted(void)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	const cJSON *m;

	cJSON_ArrayForEach (m, cJSON_GetObjectItem(root, "messages")) {
		const char *ts = cJSON_GetStringValue(cJSON_GetObjectItem(m, "ts"));

		if (!cJSON_IsTrue(cJSON_GetObjectItem(m, "deleted")))
			ck_assert_int_eq(
			    shell(NULL,
			          "curl -s -H 'Authorization: Bearer " SLACK_FAKE_BOT_TOKEN
			          "' -d channel=C01AGENTS -d ts=%s %schat.delete",
			          ts, slack_api_url()),
			    0);
	}
}

START_TEST(an_open_question_that_somebody_deleted_is_asked_again)
{
	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");
	let_it_speak();
	all_is_deleted();
	ck_assert_int_eq(times_said("Approval needed"), 0);

	given("UPDATE request SET state = 'interrupted'");

	let_it_speak();
	ck_assert_int_eq(times_said("Approval needed"), 1);
	expect("SELECT state FROM slack_message WHERE kind = 'ask'", "gone\nsent\n");
	given("INSERT INTO decision (request_id, verdict) VALUES ('ask-1', 'approve')");
	let_it_speak();
	ck_assert_int_eq(times_said("*Approved*"), 1);
	desk_is_left();
}
END_TEST

/* ---- files of questions that Slack lost ---- */

static const char LONG_DIFF[] = "replace(hex(zeroblob(30)), '00', 'x' || char(10))";

static void long_question(const char *place)
{
	char sql[200];

	desk();
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES"
	               " ('slack.questions', '%s', 'file', '2026-01-01T00:00:00.000Z')",
	               place);
	given(sql);
	session(1);
	question(1, 1, "Long", LONG_DIFF);
}

/* The newest card, and whether it can be approved. */
static bool can_be_approved(void)
{
	OWNED(char_ptr)
	char *ts =
	    rows("SELECT ts FROM slack_message WHERE kind = 'ask' ORDER BY seq DESC LIMIT 1");
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	const cJSON *m;

	ts[strcspn(ts, "\n")] = '\0';
	cJSON_ArrayForEach (m, cJSON_GetObjectItem(root, "messages")) {
		if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(m, "ts")), ts) == 0) {
			OWNED(char_ptr) char *text = cJSON_PrintUnformatted(m);

			holds(text, "approve_reject");
			return strstr(text, "approve_accept") != NULL;
		}
	}
	ck_abort_msg("there is no card %s", ts);
}

/* Files below, or beside, the newest card. */
#define FILES_OF_CARD                                                                              \
	"SELECT count(*) FROM slack_message AS f JOIN slack_message AS a ON a.kind = 'ask'"        \
	" AND a.state = 'sent' AND f.root_seq IN (a.seq, a.root_seq)"                              \
	" WHERE f.kind = 'diff' AND f.state = 'sent'"

static void refuse_files(void)
{
	slack_fault("{'name': 'files.getUploadURLExternal', 'what': 'error',"
	            " 'error': 'file_uploads_disabled', 'times': 9}");
}

START_TEST(a_question_that_slack_lost_is_asked_again_with_its_file)
{
	static const char *const PLACES[] = { "channel", "thread" };

	for (size_t i = 0; i < COUNT(PLACES); i++) {
		long_question(PLACES[i]);
		(void)start_worker("slack-poster");
		let_it_speak();
		ck_assert(can_be_approved());
		all_is_deleted();

		given("UPDATE request SET state = 'interrupted'");

		let_it_speak();
		expect("SELECT state FROM slack_message WHERE kind = 'ask'", "gone\nsent\n");
		expect("SELECT count(*) FROM slack_message WHERE kind = 'diff' AND state = 'sent'",
		       "1\n");
		expect(FILES_OF_CARD, "1\n");
		ck_assert(can_be_approved());
		desk_is_left();
	}
}
END_TEST

START_TEST(a_question_that_slack_lost_cannot_be_approved_without_its_file)
{
	static const char *const PLACES[] = { "channel", "thread" };

	for (size_t i = 0; i < COUNT(PLACES); i++) {
		long_question(PLACES[i]);
		(void)start_worker("slack-poster");
		let_it_speak();
		all_is_deleted();
		refuse_files();

		given("UPDATE request SET state = 'interrupted'");

		let_it_speak();
		expect("SELECT state FROM slack_message WHERE kind = 'ask'", "gone\nsent\n");
		ck_assert(!can_be_approved());
		desk_is_left();
	}
}
END_TEST

START_TEST(a_file_that_waits_goes_below_the_card_that_is_posted_again)
{
	long_question("channel");
	slack_fault("{'name': 'files.getUploadURLExternal', 'what': 'rate', 'retry_after': 30}");
	(void)start_worker("slack-poster");
	let_it_speak_until(2);
	all_is_deleted();

	given("UPDATE request SET state = 'interrupted'");

	let_it_speak();
	expect("SELECT state FROM slack_message WHERE kind = 'diff'", "dead\nsent\n");
	expect(FILES_OF_CARD, "1\n");
	ck_assert(can_be_approved());
	desk_is_left();
}
END_TEST

START_TEST(a_file_whose_thread_is_lost_before_the_card_is_in_it_comes_again)
{
	long_question("thread");
	slack_fault("{'name': 'chat.postMessage', 'what': 'error', 'error': 'thread_not_found',"
	            " 'skip': 1}");
	(void)start_worker("slack-poster");

	let_it_speak();

	expect("SELECT kind, state FROM slack_message",
	       "session|gone\ndiff|gone\nask|sent\nsession|sent\ndiff|sent\n");
	expect(FILES_OF_CARD, "1\n");
	ck_assert(can_be_approved());
	desk_is_left();
}
END_TEST

/* ---- modals and private answers ---- */

/* A click of U01OP on a button of the last question: its trigger. */
static const char *click(const char *action)
{
	OWNED(char_ptr) char *ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask'");

	ts[strcspn(ts, "\n")] = '\0';
	return member(slack_deliver("{'click': {'channel': 'C01AGENTS', 'ts': '%s',"
	                            " 'action_id': '%s', 'user': 'U01OP'}}",
	                            ts, action),
	              "trigger_id");
}

static void open_view(const char *view, const char *trigger, int64_t within_ms)
{
	char sql[900];
	struct instant now = clock_now(), until = clock_instant(clock_now_ms() + within_ms);

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO slack_outbox (kind, view, request_seq, trigger_id, user_id,"
	               " channel_id, expires_at, created_at) VALUES ('view_open', '%s', 1, '%s',"
	               " 'U01OP', 'C01AGENTS', '%s', '%s')",
	               view, trigger, until.text, now.text);
	given(sql);
}

START_TEST(a_modal_opens_while_a_post_hangs)
{
	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");
	let_it_speak();
	slack_fault("{'name': 'chat.postMessage', 'what': 'hang', 'when': 'before'}");
	reply(1, "hangs");
	(void)slack_wait_for("chat.postMessage"); /* the head */
	(void)slack_wait_for("chat.postMessage"); /* the question */
	advance(SECOND);
	expect_soon("SELECT state FROM slack_outbox WHERE seq = 4", "sending\n");

	open_view("reject", click("approve_reject"), 3 * SECOND);

	(void)slack_wait_for("views.open");
	const char *views = slack_ask("views");
	has(views, "views.0.callback_id", "approval_reject:ask-1");
	expect_soon("SELECT state, trigger_id IS NULL FROM slack_outbox WHERE kind = 'view_open'",
	            "sent|1\n");
	desk_is_left();
}
END_TEST

START_TEST(a_modal_whose_trigger_was_used_before_is_open)
{
	char trigger[100];

	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");
	let_it_speak();
	(void)snprintf(trigger, sizeof(trigger), "%s", click("approve_reject"));
	open_view("reject", trigger, 3 * SECOND);
	(void)slack_wait_for("views.open");
	slack_mark();

	open_view("reject", trigger, 3 * SECOND);

	expect_soon("SELECT state, why FROM slack_outbox WHERE kind = 'view_open'",
	            "sent|\nsent|\n");
	slack_expect_calls("views.open\n");
	desk_is_left();
}
END_TEST

START_TEST(a_modal_that_comes_too_late_is_said_to_be)
{
	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");
	let_it_speak();

	open_view("reject", click("approve_reject"), -1);

	let_it_speak();
	slack_wait_for("chat.postEphemeral");
	expect("SELECT state, trigger_id IS NULL, why FROM slack_outbox WHERE kind = 'view_open'",
	       "dead|1|it came too late\n");
	holds(slack_ask("calls?name=chat.postEphemeral"), "That took too long");
	desk_is_left();
}
END_TEST

/* The button was pressed in the session's thread. */
static void open_view_in_thread(const char *view, const char *trigger)
{
	char sql[900];
	struct instant now = clock_now(), until = clock_instant(clock_now_ms() + 3 * SECOND);

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO slack_outbox (kind, view, request_seq, trigger_id,"
	               " user_id, channel_id, thread_ts, expires_at, created_at)"
	               " VALUES ('view_open', '%s', 1, '%s', 'U01OP', 'C01AGENTS',"
	               " '1700000000.000100', '%s', '%s')",
	               view, trigger, until.text, now.text);
	given(sql);
}

/* Their next words count as what they would have entered. */
START_TEST(whoever_gets_no_form_is_told_what_the_next_words_are_taken_for_whatever_the_reason)
{
	static const char *const FAULTS[][2] = {
		{ "'status', 'status': 500", "It is not clear whether your form opened." },
		{ "'error', 'error': 'expired_trigger_id'", "That took too long." },
		{ "'error', 'error': 'missing_scope'", "Your form could not be opened." },
	};

	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");
	let_it_speak();
	for (size_t i = 0; i < COUNT(FAULTS); i++) {
		const char *trigger = click("approve_reject"), *told;

		slack_fault("{'name': 'views.open', 'what': %s}", FAULTS[i][0]);
		open_view_in_thread("reject", trigger);
		told = member(slack_wait_for("chat.postEphemeral"), "args.text");
		holds(told, FAULTS[i][1]);
		holds(told, "If you see no form, press the button again, or do without: whatever "
		            "you write in this thread in the next 10 minutes is taken as the "
		            "reason, and rejects it");
		expect("SELECT DISTINCT state FROM slack_outbox WHERE kind = 'view_open'",
		       "dead\n");
	}
	desk_is_left();
}
END_TEST

START_TEST(who_may_not_see_a_form_is_told_what_the_next_words_are_taken_for)
{
	static const char *const VIEWS[][2] = {
		{ "reject", "whatever you write in this thread in the next 10 minutes is taken as "
		            "the reason, and rejects it" },
		{ "refine", "whatever you write in this thread in the next 10 minutes is taken as "
		            "the instructions" },
	};

	desk();
	session(1);
	question(1, 1, "Fix it", SHORT_DIFF);
	(void)start_worker("slack-poster");
	let_it_speak();
	for (size_t i = 0; i < COUNT(VIEWS); i++) {
		open_view_in_thread(VIEWS[i][0], click("approve_reject"));
		holds(member(slack_wait_for("chat.postEphemeral"), "args.text"), VIEWS[i][1]);
	}
	desk_is_left();
}
END_TEST

START_TEST(a_slash_commands_answer_goes_to_its_address_which_is_then_forgotten)
{
	char sql[600];
	struct instant now;

	desk();
	(void)start_worker("slack-poster");
	now = clock_now();
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO slack_outbox (kind, response_url, text, created_at)"
	               " VALUES ('respond', '%s', 'No <sessions>.', '%s')",
	               member(slack_deliver("{'slash': {'text': 'sessions'}}"), "response_url"),
	               now.text);

	given(sql);

	holds(slack_wait_for("response_url"), "No &lt;sessions&gt;.");
	expect_soon("SELECT state, response_url IS NULL FROM slack_outbox", "sent|1\n");
	desk_is_left();
}
END_TEST

/* ---- the process ---- */

START_TEST(the_token_is_gone_from_the_environment)
{
	char path[40], bytes[65536];
	size_t n;
	pid_t poster;
	FILE *f;

	desk();
	poster = start_worker("slack-poster");
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)poster);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	(void)fclose(f);
	ck_assert_uint_gt(n, 0);
	ck_assert_ptr_null(memmem(bytes, n, "xoxb-", 5));
	stop_worker(poster);
	desk_is_left();
}
END_TEST

START_TEST(a_wrong_token_or_address_is_wrong_input)
{
	desk();
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	ck_assert_int_eq(try_worker("slack-poster"), 78);
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	(void)setenv("SLACK_API_URL", "http://example.com/api/", 1);
	ck_assert_int_eq(try_worker("slack-poster"), 78);
	(void)unsetenv("SLACK_BOT_TOKEN");
	(void)setenv("SLACK_API_URL", slack_api_url(), 1);
	ck_assert_int_eq(try_worker("slack-poster"), 78);
	desk_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_poster_outages");
	TCase *c = store_case(s, "slack_poster", 90);

	tcase_add_test(c, that_slack_is_reached_again_is_noted);
	tcase_add_test(c, a_slack_that_cannot_be_reached_is_tried_again_and_nothing_is_in_doubt);
	tcase_add_test(c, a_token_that_slack_refuses_is_told_and_a_mended_one_heals);
	tcase_add_test(c, a_public_channel_is_joined_and_an_archived_one_parks_its_messages);
	tcase_add_test(c, what_slack_refuses_is_said_more_simply);
	tcase_add_test(c, a_poisoned_message_dies_with_a_reason_and_the_others_pass);
	tcase_add_test(c, a_deleted_head_is_followed_by_a_new_one);
	tcase_add_test(c, a_session_in_the_deleted_thread_of_another_one_begins_its_own);
	tcase_add_test(c, an_open_question_that_somebody_deleted_is_asked_again);
	tcase_add_test(c, a_question_that_slack_lost_is_asked_again_with_its_file);
	tcase_add_test(c, a_question_that_slack_lost_cannot_be_approved_without_its_file);
	tcase_add_test(c, a_file_that_waits_goes_below_the_card_that_is_posted_again);
	tcase_add_test(c, a_file_whose_thread_is_lost_before_the_card_is_in_it_comes_again);
	tcase_add_test(c, a_modal_opens_while_a_post_hangs);
	tcase_add_test(c, a_modal_whose_trigger_was_used_before_is_open);
	tcase_add_test(c, a_modal_that_comes_too_late_is_said_to_be);
	tcase_add_test(
	    c, whoever_gets_no_form_is_told_what_the_next_words_are_taken_for_whatever_the_reason);
	tcase_add_test(c, who_may_not_see_a_form_is_told_what_the_next_words_are_taken_for);
	tcase_add_test(c, a_slash_commands_answer_goes_to_its_address_which_is_then_forgotten);
	tcase_add_test(c, the_token_is_gone_from_the_environment);
	tcase_add_test(c, a_wrong_token_or_address_is_wrong_input);
	c = store_case(s, "slack_outage", 90 + backlog() / 20);
	tcase_add_test(
	    c, after_an_outage_of_minutes_with_restarts_everything_is_said_once_and_in_order);
	return run_suite(s);
}
