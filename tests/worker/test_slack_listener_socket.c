/* slack-listener against the fake Slack: connections, envelopes, what follows from them. */
#include "slack_listener_case.h"

#include <signal.h>
#include <sys/resource.h>

/* Lets time pass, a step at a time, until a second connection is there. */
static void pass_until_the_second_connection(int64_t step)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 5)) {
		if (strstr(slack_ask("sockets"), "\"socket\":2"))
			return;
		advance(step);
	}
	ck_abort_msg("there is no second connection");
}

static const char DETAIL[] = "SELECT detail FROM worker WHERE name = 'slack-listener'";

/* Seconds pass until the listener says so, at most so many. */
static void pass_until_detail(const char *text, int seconds)
{
	OWNED(char_ptr) char *detail = rows(DETAIL);

	for (; seconds > 0 && strcmp(detail, text) != 0; seconds--) {
		advance(SECOND);
		(void)poll(NULL, 0, 50); /* for the worker, not for the clock */
		char_ptr_clear(&detail);
		detail = rows(DETAIL);
	}
	ck_assert_str_eq(detail, text);
}

/* ---- the connection ---- */

START_TEST(it_is_connected_and_leaves_with_its_connection_closed)
{
	pid_t pid;

	slack();
	pid = listener_starts();
	stop_worker(pid);
	(void)slack_wait_for("close");
	expect("SELECT state FROM worker WHERE name = 'slack-listener'", "stopped\n");
	slack_expect_calls("apps.connections.open\n");
	slack_stop();
}
END_TEST

START_TEST(a_command_is_stored_then_answered)
{
	slack();
	(void)listener_starts();
	slack_mark();
	has(slack_acked("{'slash':{'text':'sessions'}}"), "payload.text", "no session is live");
	expect("SELECT type, kind, outcome, operator_id FROM slack_envelope",
	       "slash_commands|command|accepted|slack:T01TEAM:U01OP\n");
	expect("SELECT verb, outcome, source, operator_id FROM command",
	       "sessions|done|slack|slack:T01TEAM:U01OP\n");
	slack_stop();
}
END_TEST

START_TEST(each_delivery_is_stored_once_and_acknowledged)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	slack_mark();
	(void)slack_acked("{'slash':{'text':'sessions'}}");
	(void)slack_acked("{'message':{'text':'hello agent','thread_ts':'1700000000.000100'}}");
	(void)slack_acked("{'mention':{'text':'help','only':'app_mention'}}");
	(void)slack_acked("{'event':{'type':'app_home_opened','user':'U01OP'}}");
	(void)slack_acked("{'envelope':{'type':'from_the_future','payload':{'a':1}}}");
	(void)slack_acked("{'envelope':{'type':'interactive','payload':null}}");
	(void)slack_acked("{'raw':'{\\u0022envelope_id\\u0022:\\u0022e-9\\u0022,broken'}");
	expect("SELECT coalesce(kind, type), outcome, why FROM slack_envelope ORDER BY seq",
	       "command|accepted|\n"
	       "message|accepted|\n"
	       "app_mention|accepted|\n"
	       "app_home_opened|ignored|nothing in it is for us\n"
	       "from_the_future|malformed|an envelope of a type that is not known\n"
	       "interactive|malformed|an envelope without payload\n"
	       "|malformed|a frame that is no JSON\n");
	slack_expect_faults("ack_unknown\n"); /* of the broken one the fake knows no id */
	slack_stop();
}
END_TEST

START_TEST(no_secret_is_in_a_row_that_stays)
{
	slack();
	(void)listener_starts();
	(void)slack_acked("{'slash':{'text':'help'},'payload':{'token':'xoxb-secret'}}");
	expect("SELECT count(*) FROM slack_envelope WHERE payload LIKE '%xoxb%' OR payload LIKE "
	       "'%trigger%' OR payload LIKE '%response_url%' OR payload LIKE '%token%'",
	       "0\n");
	expect("SELECT json_extract(payload, '$.text') FROM slack_envelope", "help\n");
	slack_stop();
}
END_TEST

START_TEST(what_comes_twice_is_a_duplicate_with_the_same_answer)
{
	OWNED(char_ptr) char *id = NULL;

	slack();
	(void)listener_starts();
	id = xstrdup(member(slack_deliver("{'slash':{'text':'help'}}"), "envelope_id"));
	(void)slack_wait_for("ack");
	(void)slack_order("redeliver", "{'envelope_id':'%s'}", id);
	says(member(slack_wait_for("ack"), "payload.text"), "sessions");
	(void)slack_order("redeliver", "{'envelope_id':'%s','new_id':true}", id);
	says(member(slack_wait_for("ack"), "payload.text"), "sessions");
	expect("SELECT outcome, first_seq FROM slack_envelope ORDER BY seq",
	       "accepted|\nduplicate|1\nduplicate|1\n");
	expect("SELECT count(*) FROM command", "1\n");
	slack_stop();
}
END_TEST

START_TEST(a_mention_that_comes_as_two_events_acts_once_in_either_order)
{
	slack();
	a_session_in_slack();
	(void)listener_starts();
	(void)slack_acked("{'mention':{'text':'look at b.c'}}");
	(void)slack_wait_for("ack");
	(void)slack_acked("{'mention':{'text':'and at c.c','swapped':true}}");
	(void)slack_wait_for("ack");
	expect("SELECT outcome FROM slack_envelope ORDER BY seq",
	       "accepted\nduplicate\naccepted\nduplicate\n");
	expect("SELECT text, session_seq, outcome FROM steering ORDER BY seq",
	       "look at b.c|1|accepted\nand at c.c|1|accepted\n");
	slack_stop();
}
END_TEST

START_TEST(a_stranger_is_acknowledged_ignored_and_written_down)
{
	slack();
	a_question_in_slack();
	(void)listener_starts();
	slack_mark();
	ck_assert_str_eq(
	    member(slack_acked("{'slash':{'text':'approve','user':'U03GUEST'}}"), "payload.text"),
	    "");
	(void)slack_acked(
	    "{'message':{'text':'approve','user':'U03GUEST','thread_ts':'1700000000.000100'}}");
	expect(
	    "SELECT outcome, why FROM slack_envelope",
	    "unauthorized|this person is no operator\nunauthorized|this person is no operator\n");
	expect("SELECT kind, json_extract(detail, '$.user'), json_extract(detail, '$.action') FROM "
	       "event "
	       "WHERE kind LIKE 'security.%' ORDER BY seq",
	       "security.stranger|U03GUEST|/intercom approve\nsecurity.stranger|U03GUEST|reply\n");
	expect("SELECT state FROM request", "pending\n");
	expect("SELECT count(*) FROM slack_outbox WHERE kind <> 'post' AND kind <> 'file'", "0\n");
	slack_expect_calls("ack\nack\n");
	slack_stop();
}
END_TEST

START_TEST(that_the_disk_takes_no_more_is_told_to_the_person)
{
	const struct rlimit none = { 0, RLIM_INFINITY }, any = { RLIM_INFINITY, RLIM_INFINITY };
	const char *told;
	pid_t pid;

	slack();
	(void)signal(SIGXFSZ, SIG_IGN); /* the listener inherits it */
	pid = listener_starts();
	ck_assert_int_eq(prlimit(pid, RLIMIT_FSIZE, &none, NULL), 0);
	told = member(slack_acked("{'slash':{'text':'help'}}"), "payload.text");
	says(told, "could not write this down (db: ");
	says(told, "the disk or its file system fails");
	ck_assert_int_eq(prlimit(pid, RLIMIT_FSIZE, &any, NULL), 0);
	says(member(slack_acked("{'slash':{'text':'help'}}"), "payload.text"), "steer");
	slack_stop();
}
END_TEST

START_TEST(talk_in_the_channel_is_acknowledged_and_not_kept)
{
	slack();
	(void)listener_starts();
	(void)slack_acked("{'message':{'text':'lunch?','user':'U03GUEST'}}");
	(void)slack_acked("{'message':{'text':'yes','thread_ts':'1600000000.000100'}}");
	expect("SELECT outcome, payload IS NULL FROM slack_envelope", "ignored|1\nignored|1\n");
	expect("SELECT count(*) FROM event WHERE kind LIKE 'security.%'", "0\n");
	slack_stop();
}
END_TEST

/* ---- connections ---- */

enum { LEAVE_MS = 3000 }; /* then the old connection is closed */

START_TEST(a_refresh_opens_the_new_connection_before_it_leaves_the_old_one)
{
	static const char *const REASONS[] = { "warning", "refresh_requested", "something_new" };

	slack();
	(void)listener_starts();
	for (size_t i = 0; i < COUNT(REASONS); i++) {
		const char *hello, *closed;

		slack_mark();
		slack_socket("{'do':'disconnect','reason':'%s'}", REASONS[i]);
		hello = slack_wait_for("hello");
		closed = slack_wait_for("close");
		ck_assert_int_lt(atoi(member(hello, "seq")), atoi(member(closed, "seq")));
		(void)slack_acked("{'slash':{'text':'help'}}");
	}
	expect("SELECT detail FROM worker WHERE name = 'slack-listener'", "connected\n");
	slack_stop();
}
END_TEST

START_TEST(what_is_on_its_way_over_the_old_connection_is_taken_after_the_hello_of_the_new_one)
{
	slack();
	(void)listener_starts();
	slack_socket("{'do':'disconnect','reason':'warning','close_after_ms':600000}");
	(void)slack_wait_for("hello");
	has(slack_acked("{'slash':{'text':'help'},'socket':1}"), "socket", "1");
	advance(LEAVE_MS);
	(void)slack_wait_for("close");
	slack_stop();
}
END_TEST

START_TEST(what_the_old_connection_still_delivers_is_acknowledged_there)
{
	slack();
	(void)listener_starts();
	slack_set("{'hello':'late','hello_delay_ms':600000}");
	slack_socket("{'do':'disconnect','reason':'warning','close_after_ms':600000}");
	(void)slack_wait_for("open");
	for (int i = 0; i < 3; i++) {
		has(slack_acked("{'slash':{'text':'help'},'socket':1}"), "socket", "1");
	}
	expect("SELECT count(*) FROM slack_envelope WHERE outcome = 'accepted'", "3\n");
	slack_stop();
}
END_TEST

START_TEST(a_connection_that_ends_is_opened_anew)
{
	static const char *const ENDS[] = { "{'do':'close'}", "{'do':'close','code':1011}",
		                            "{'do':'cut'}", "{'do':'close','keep_tcp':true}" };

	slack();
	(void)listener_starts();
	for (size_t i = 0; i < COUNT(ENDS); i++) {
		slack_mark();
		slack_socket("%s", ENDS[i]);
		expect_soon("SELECT detail LIKE 'not connected%' FROM worker "
		            "WHERE name = 'slack-listener'",
		            "1\n");
		advance(30 * SECOND);
		(void)slack_wait_for("hello");
		expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener'",
		            "connected\n");
	}
	slack_stop();
}
END_TEST

START_TEST(a_half_open_connection_is_noticed)
{
	slack();
	(void)listener_starts();
	slack_set("{'ping_every_ms':0}");
	slack_mark();
	slack_socket("{'do':'silence'}");
	pass_until_the_second_connection(5 * SECOND);
	(void)slack_wait_for("hello");
	expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener'", "connected\n");
	slack_stop();
}
END_TEST

START_TEST(silence_that_answers_a_ping_is_no_death)
{
	slack();
	(void)listener_starts();
	slack_set("{'ping_every_ms':0}");
	for (int i = 0; i < 8; i++) {
		advance(16 * SECOND);
		(void)slack_acked("{'slash':{'text':'help'}}");
	}
	slack_expect_calls("apps.connections.open\nack\nack\nack\nack\nack\nack\nack\nack\n");
	slack_stop();
}
END_TEST

START_TEST(without_hello_in_10_s_another_connection_is_tried)
{
	slack();
	slack_set("{'hello':'never'}");
	(void)start_worker("slack-listener");
	(void)slack_wait_for("open");
	/* Of one of them: a slow machine may not have noticed in time that the first was open. */
	pass_until_detail("not connected: no hello within 10 s\n", 300);
	slack_set("{'hello':'normal'}");
	pass_until_detail("connected\n", 300);
	(void)slack_wait_for("hello");
	slack_stop();
}
END_TEST

START_TEST(a_hello_that_comes_twice_changes_nothing)
{
	slack();
	slack_set("{'hello':'twice'}");
	(void)listener_starts();
	(void)slack_acked("{'slash':{'text':'help'}}");
	slack_expect_calls("apps.connections.open\nack\n");
	slack_stop();
}
END_TEST

START_TEST(too_many_connections_are_a_reason_to_wait)
{
	slack();
	(void)listener_starts();
	slack_mark();
	slack_socket("{'do':'disconnect','reason':'too_many_websockets'}");
	expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener'",
	            "not connected: too many connections with our app token\n");
	(void)slack_wait_for("close");
	advance(9 * SECOND);
	slack_expect_calls("");
	advance(52 * SECOND);
	(void)slack_wait_for("hello");
	slack_stop();
}
END_TEST

START_TEST(socket_mode_that_is_switched_off_is_told_and_tried_each_minute)
{
	slack();
	(void)listener_starts();
	slack_mark();
	slack_socket("{'do':'disconnect','reason':'link_disabled'}");
	expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener'",
	            "not connected: Socket Mode is switched off for the app\n");
	(void)slack_wait_for("close");
	advance(58 * SECOND);
	slack_expect_calls("");
	advance(3 * SECOND);
	(void)slack_wait_for("hello");
	slack_stop();
}
END_TEST

START_TEST(a_refused_token_is_told_and_tried_each_minute)
{
	slack();
	slack_set("{'app_error':'invalid_auth'}");
	(void)start_worker("slack-listener");
	expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener'",
	            "not connected: Slack refuses the app token: invalid_auth\n");
	slack_set("{'app_error':null}");
	slack_mark();
	advance(58 * SECOND);
	slack_expect_calls("");
	advance(3 * SECOND);
	(void)slack_wait_for("hello");
	slack_stop();
}
END_TEST

START_TEST(passing_failures_are_tried_again_after_a_pause)
{
	static const char *const FAULTS[][2] = {
		{ "{'name':'apps.connections.open','what':'error','error':'internal_error'}",
		  "not connected: internal_error\n" },
		{ "{'name':'apps.connections.open','what':'status','status':503}",
		  "not connected: Slack answered with status 503\n" },
		{ "{'name':'apps.connections.open','what':'html'}",
		  "not connected: Slack answered with status 502\n" },
		{ "{'name':'apps.connections.open','what':'truncated'}",
		  "not connected: the answer is not Slack's\n" },
		{ "{'name':'link','what':'status','status':500}",
		  "not connected: HS: ws upgrade response not 101\n" },
		{ "{'name':'link','what':'lost'}", "not connected: read failed\n" },
	};

	slack();
	for (size_t i = 0; i < COUNT(FAULTS); i++)
		slack_fault("%s", FAULTS[i][0]);
	(void)start_worker("slack-listener");
	for (size_t i = 0; i < COUNT(FAULTS); i++) {
		expect_soon(DETAIL, FAULTS[i][1]);
		advance(31 * SECOND); /* longer than any pause */
	}
	expect_soon(DETAIL, "connected\n");
	slack_stop();
}
END_TEST

/* Slack is away until its listener's pauses are minutes long. */
static void pauses_grow(void)
{
	enum { FAILURES = 8 };
	char sql[300];

	given(
	    "INSERT INTO setting (name, value, source, updated_at) VALUES"
	    " ('slack.reconnect_backoff_max_seconds', '300', 'file', '2026-01-01T08:00:00.000Z')");
	for (int i = 0; i < FAILURES; i++)
		slack_fault("{'name':'apps.connections.open','what':'status','status':%d}",
		            500 + i % 2);
	(void)start_worker("slack-listener");
	for (int i = 0; i < FAILURES; i++) {
		(void)snprintf(sql, sizeof(sql), "not connected: Slack answered with status %d\n",
		               500 + i % 2);
		expect_soon(DETAIL, sql);
		if (i < FAILURES - 1)
			advance(301 * SECOND);
	}
}

START_TEST(a_success_of_the_poster_ends_a_pause)
{
	char sql[300];

	slack();
	pauses_grow();
	slack_mark();
	given("UPDATE session SET updated_at = updated_at"); /* a bell that means nothing */
	slack_expect_calls("");
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at)"
	               " VALUES ('slack.reached_at', '%s', 'system', '2026-01-01T08:00:00.000Z')",
	               clock_now().text);
	given(sql);
	(void)slack_wait_for("hello");
	expect_soon(DETAIL, "connected\n");
	slack_stop();
}
END_TEST

/* The answer of Slack comes long after the bell of the clock that was moved: what wakes the
 * listener is the bell of the poster. */
START_TEST(the_poster_rings_the_listener_when_it_reaches_slack_again)
{
	slack();
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	pauses_grow();
	(void)start_worker("slack-poster");
	expect_soon("SELECT count(*) FROM setting WHERE name = 'slack.bot_user_id'", "1\n");
	slack_fault("{'name':'chat.postMessage','what':'error','error':'team_added_to_org'}");
	given("INSERT INTO slack_notice (kind, text) VALUES ('server', 'hello')");
	expect_soon("SELECT attempts > 0, state FROM slack_outbox", "1|queued\n");
	slack_fault("{'name':'chat.postMessage','what':'slow','delay_ms':700}");

	advance(3 * SECOND); /* the poster's pause, and none of the listener's */

	(void)slack_wait_for("hello");
	expect_soon(DETAIL, "connected\n");
	expect("SELECT count(*) FROM setting WHERE name = 'slack.reached_at'", "1\n");
	slack_stop();
}
END_TEST

START_TEST(a_rate_limit_is_obeyed)
{
	slack();
	slack_fault("{'name':'apps.connections.open','what':'rate','retry_after':40}");
	(void)start_worker("slack-listener");
	(void)slack_wait_for("apps.connections.open");
	expect_soon(
	    "SELECT detail LIKE 'not connected: %' FROM worker WHERE name = 'slack-listener'",
	    "1\n");
	slack_mark();
	advance(38 * SECOND);
	slack_expect_calls("");
	advance(4 * SECOND);
	(void)slack_wait_for("hello");
	slack_stop();
}
END_TEST

START_TEST(a_message_that_is_too_long_is_acknowledged_and_refused)
{
	slack();
	(void)listener_starts();
	ck_assert_str_eq(
	    member(slack_acked("{'slash':{'text':'help'},'pad':1200000}"), "payload.text"), "");
	says(member(slack_acked("{'slash':{'text':'help'},'pad':200000,'fragments':7}"),
	            "payload.text"),
	     "steer");
	expect("SELECT outcome, why FROM slack_envelope ORDER BY seq",
	       "malformed|it is longer than 1 MiB\naccepted|\n");
	slack_stop();
}
END_TEST

/* ---- times without Slack ---- */

static const char TOLD[] =
    "SELECT substr(text, 1, 26), substr(text, instr(text, '('), 8) FROM slack_message"
    " WHERE kind = 'server'";

static void slack_is_away(int answers)
{
	for (int i = 0; i < answers; i++)
		slack_fault("{'name':'apps.connections.open','what':'status','status':503}");
}

static void the_gap_is_over(void)
{
	expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener' AND state = 'ready'",
	            "connected\n");
	expect_soon("SELECT count(*) FROM setting WHERE name = 'slack.unheard_since'", "0\n");
}

START_TEST(after_a_long_time_without_slack_the_channel_is_told_how_long_it_was)
{
	slack();
	a_session_in_slack();
	(void)listener_starts();
	slack_is_away(1);
	slack_socket("{'do':'cut'}");
	expect_soon("SELECT detail LIKE 'not connected%' FROM worker WHERE name = 'slack-listener'",
	            "1\n");
	expect_soon("SELECT source FROM setting WHERE name = 'slack.unheard_since'", "system\n");
	expect(TOLD, "");
	advance(20 * MINUTE);
	the_gap_is_over();
	expect(TOLD, "I did not hear Slack from |(20 min)\n");
	slack_stop();
}
END_TEST

START_TEST(a_time_without_slack_counts_from_its_beginning_over_all_restarts)
{
	pid_t pid;

	slack();
	a_session_in_slack();
	kill_worker(listener_starts());
	advance(10 * MINUTE);
	slack_is_away(1);
	pid = start_worker("slack-listener");
	expect_soon("SELECT detail LIKE 'not connected%' FROM worker WHERE state = 'ready'", "1\n");
	kill_worker(pid);
	advance(20 * MINUTE);
	(void)start_worker("slack-listener");
	the_gap_is_over();
	expect(TOLD, "I did not hear Slack from |(30 min)\n");
	slack_stop();
}
END_TEST

START_TEST(of_a_short_time_without_slack_nothing_is_told)
{
	slack();
	a_session_in_slack();
	stop_worker(listener_starts());
	advance(50 * SECOND);
	(void)start_worker("slack-listener");
	the_gap_is_over();
	expect(TOLD, "");
	slack_stop();
}
END_TEST

START_TEST(where_no_session_is_open_nothing_is_told_of_a_time_without_slack)
{
	slack();
	stop_worker(listener_starts());
	advance(60 * MINUTE);
	(void)start_worker("slack-listener");
	the_gap_is_over();
	expect(TOLD, "");
	slack_stop();
}
END_TEST

/* ---- a day ---- */

enum { BACK_WITHIN_S = 60 };

/* Of a row of numbers that is always the same; $INTERCOM_SEED: of another one. */
static unsigned any_below(unsigned limit)
{
	static unsigned state;

	if (!state)
		state = getenv("INTERCOM_SEED")
		            ? (unsigned)strtoul(getenv("INTERCOM_SEED"), NULL, 10)
		            : 1;
	state = state * 1103515245 + 12345;
	return (state >> 16) % limit;
}

/* One of the ends that a connection can have; it is noticed. */
static void the_connection_drops(void)
{
	static const char *const ENDS[] = { "{'do':'cut'}", "{'do':'close'}",
		                            "{'do':'close','code':1011}",
		                            "{'do':'close','keep_tcp':true}" };

	slack_socket("%s", ENDS[any_below(COUNT(ENDS))]);
	expect_soon("SELECT detail LIKE 'not connected%' FROM worker "
	            "WHERE name = 'slack-listener'",
	            "1\n");
}

static void a_question_is_said(void)
{
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	a_question_in_slack();
	(void)start_worker("slack-poster");
	for (int i = 0;
	     i < 500 && !strstr(slack_ask("messages?channel=C01AGENTS"), "approve_accept"); i++) {
		advance(SECOND);
		(void)poll(NULL, 0, 10);
	}
	says(slack_ask("messages?channel=C01AGENTS"), "approve_accept");
}

START_TEST(in_a_day_of_refreshes_and_random_drops_it_always_comes_back_and_nothing_is_said_again)
{
	int64_t day = 0, refreshed = 0;
	int rounds = 0;
	char count[20];

	slack();
	a_question_is_said();
	(void)listener_starts();
	expect_soon("SELECT count(*) FROM slack_outbox WHERE state IN ('queued', 'sending')",
	            "0\n");
	slack_mark();
	for (; day < 24 * HOUR; rounds++) {
		int64_t pass = (10 + any_below(80)) * (int64_t)MINUTE;

		advance(pass);
		day += pass;
		expect_soon(DETAIL, "connected\n"); /* it has not noticed that time flies */
		(void)slack_acked("{'slash':{'text':'help'}}"); /* heard until it ends */
		if (day - refreshed > 4 * HOUR) {
			slack_mark();
			slack_socket("{'do':'disconnect','reason':'refresh_requested'}");
			refreshed = day;
		} else {
			the_connection_drops();
		}
		pass_until_detail("connected\n", BACK_WITHIN_S);
		(void)slack_wait_for("hello");
		if (refreshed == day) {
			advance(LEAVE_MS);
			(void)slack_wait_for("close");
		}
		(void)slack_acked("{'slash':{'text':'help'}}");
	}
	ck_assert_int_gt(rounds, 15);
	(void)snprintf(count, sizeof(count), "%d\n", 2 * rounds);
	expect("SELECT count(*) FROM slack_envelope WHERE outcome = 'accepted'", count);
	ck_assert_ptr_null(strstr(slack_ask("calls?name=chat.postMessage&after=%s",
	                                    member(slack_ask("calls?name=hello"), "calls.0.seq")),
	                          "\"name\":\"chat.postMessage\""));
	expect("SELECT count(*) FROM slack_message", "3\n");
	slack_stop();
}
END_TEST

START_TEST(another_program_with_our_token_is_warned_about)
{
	OWNED(str) struct str said = { 0 };

	slack();
	(void)listener_starts();
	(void)shell(&said,
	            "mkdir -m 700 '%s/other' && cd '%s/other' && SLACK_APP_TOKEN=%s timeout 20 "
	            "'%s/slack-listener' --db '%s' --run . 2>log & "
	            "for i in $(seq 400); do grep -q 'another program' '%s/other/log' && break; "
	            "sleep 0.02; done; cat '%s/other/log'; kill $!",
	            test_run(), test_run(), SLACK_FAKE_APP_TOKEN, getenv("INTERCOM_BUILD"),
	            test_db(), test_run(), test_run());
	says(str_text(&said), "Slack counts 2 connections with our app token, 1 of them ours");
	slack_stop();
}
END_TEST

/* ---- secrets ---- */

START_TEST(nobody_sees_the_token)
{
	OWNED(str) struct str path = { 0 };
	OWNED(str) struct str said = { 0 };
	pid_t pid;

	slack();
	pid = listener_starts();
	(void)shell(&said, "tr '\\0' '\\n' </proc/%d/environ; tr '\\0' ' ' </proc/%d/cmdline",
	            (int)pid, (int)pid);
	ck_assert_ptr_null(strstr(str_text(&said), SLACK_FAKE_APP_TOKEN));
	expect("SELECT count(*) FROM setting WHERE value LIKE 'xapp%'", "0\n");
	slack_stop();
}
END_TEST

START_TEST(a_wrong_token_is_named_and_not_shown)
{
	slack();
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	ck_assert_int_eq(try_worker("slack-listener"), 78);
	(void)unsetenv("SLACK_APP_TOKEN");
	ck_assert_int_eq(try_worker("slack-listener"), 78);
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)setenv("SLACK_API_URL", "http://192.0.2.1/api/", 1);
	ck_assert_int_eq(try_worker("slack-listener"), 78);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_listener_socket");
	TCase *c = store_case(s, "slack_listener", 60);

	tcase_add_test(c, it_is_connected_and_leaves_with_its_connection_closed);
	tcase_add_test(c, a_command_is_stored_then_answered);
	tcase_add_test(c, each_delivery_is_stored_once_and_acknowledged);
	tcase_add_test(c, no_secret_is_in_a_row_that_stays);
	tcase_add_test(c, what_comes_twice_is_a_duplicate_with_the_same_answer);
	tcase_add_test(c, a_mention_that_comes_as_two_events_acts_once_in_either_order);
	tcase_add_test(c, a_stranger_is_acknowledged_ignored_and_written_down);
	tcase_add_test(c, that_the_disk_takes_no_more_is_told_to_the_person);
	tcase_add_test(c, talk_in_the_channel_is_acknowledged_and_not_kept);
	tcase_add_test(c, a_refresh_opens_the_new_connection_before_it_leaves_the_old_one);
	tcase_add_test(
	    c, what_is_on_its_way_over_the_old_connection_is_taken_after_the_hello_of_the_new_one);
	tcase_add_test(c, what_the_old_connection_still_delivers_is_acknowledged_there);
	tcase_add_test(c, a_connection_that_ends_is_opened_anew);
	tcase_add_test(c, a_half_open_connection_is_noticed);
	tcase_add_test(c, silence_that_answers_a_ping_is_no_death);
	tcase_add_test(c, without_hello_in_10_s_another_connection_is_tried);
	tcase_add_test(c, a_hello_that_comes_twice_changes_nothing);
	tcase_add_test(c, too_many_connections_are_a_reason_to_wait);
	tcase_add_test(c, socket_mode_that_is_switched_off_is_told_and_tried_each_minute);
	tcase_add_test(c, a_refused_token_is_told_and_tried_each_minute);
	tcase_add_test(c, passing_failures_are_tried_again_after_a_pause);
	tcase_add_test(c, a_success_of_the_poster_ends_a_pause);
	tcase_add_test(c, the_poster_rings_the_listener_when_it_reaches_slack_again);
	tcase_add_test(c, a_rate_limit_is_obeyed);
	tcase_add_test(c, a_message_that_is_too_long_is_acknowledged_and_refused);
	tcase_add_test(c, after_a_long_time_without_slack_the_channel_is_told_how_long_it_was);
	tcase_add_test(c, a_time_without_slack_counts_from_its_beginning_over_all_restarts);
	tcase_add_test(c, of_a_short_time_without_slack_nothing_is_told);
	tcase_add_test(c, where_no_session_is_open_nothing_is_told_of_a_time_without_slack);
	tcase_add_test(
	    c,
	    in_a_day_of_refreshes_and_random_drops_it_always_comes_back_and_nothing_is_said_again);
	tcase_add_test(c, another_program_with_our_token_is_warned_about);
	tcase_add_test(c, nobody_sees_the_token);
	tcase_add_test(c, a_wrong_token_is_named_and_not_shown);
	return run_suite(s);
}
