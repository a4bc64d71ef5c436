/* slack://channel/{id}/recent: a real client reads over MCP, the front asks, the poster reads the
 * (fake) Slack. */
#include "agent.h"
#include "slack_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000 };

/* ---- given ---- */

static void desk(void)
{
	char workspace[600];

	fresh_store();
	slack_start();
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	given_front_settings(workspace);
	given("UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('slack.channel_id', 'C01AGENTS', 'file', '2026-01-01T00:00:00.000Z')");
	(void)start_worker("mcp-front");
}

static void desk_is_left(void)
{
	slack_stop();
	close_store();
}

/* Also waits until it has said auth.test and conversations.info. */
static void the_poster_runs(void)
{
	(void)start_worker("slack-poster");
	(void)slack_wait_for("conversations.info");
	slack_mark();
}

static void begin_reading(struct agent *a, struct wire *w, const char *uri)
{
	char json[300];

	(void)snprintf(json, sizeof(json),
	               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"resources/read\","
	               "\"params\":{\"uri\":\"%s\"}}",
	               ++a->id, uri);
	wire_open(w, a->port);
	agent_send(a, w, "POST", "", json);
}

static char *end_reading(struct wire *w)
{
	char *message = agent_message(w);

	wire_close(w);
	return message;
}

static char *reading(struct agent *a, const char *uri)
{
	struct wire w;

	begin_reading(a, &w, uri);
	return end_reading(&w);
}

/* The resource's text in a message. */
static char *text_of(const char *message)
{
	has(message, "result.contents.0.mimeType", "application/json");
	return xstrdup(member(message, "result.contents.0.text"));
}

static const char RECENT[] = "slack://channel/C01AGENTS/recent";

/* ---- reading ---- */

START_TEST(an_agent_reads_what_was_said_in_its_channel_newest_first)
{
	desk();
	const char *first = slack_deliver("{'message': {'text': 'use &lt;tabs&gt; &amp; hurry'}}");
	OWNED(char_ptr) char *head = xstrdup(member(first, "ts"));
	(void)slack_deliver("{'message': {'text': 'in the thread', 'user': 'U02OP',"
	                    " 'thread_ts': '%s', 'subtype': 'thread_broadcast'}}",
	                    head);
	the_poster_runs();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");

	OWNED(char_ptr) char *message = reading(&a, RECENT);

	has(message, "result.contents.0.uri", RECENT);
	OWNED(char_ptr) char *text = text_of(message);
	has(text, "messages.0.text", "in the thread");
	has(text, "messages.0.user", "U02OP");
	has(text, "messages.0.thread_ts", head);
	has(text, "messages.1.text", "use <tabs> & hurry");
	has(text, "messages.1.user", "U01OP");
	has(text, "messages.1.ts", head);
	has(text, "messages.1.thread_ts", "");
	has(text, "messages.2", "");
	has(text, "has_more", "false");
	slack_expect_calls("conversations.history\n");
	desk_is_left();
}
END_TEST

START_TEST(a_limit_is_obeyed_and_kept_within_1_and_100)
{
	desk();
	(void)slack_deliver("{'message': {'text': 'one'}}");
	(void)slack_deliver("{'message': {'text': 'two'}}");
	the_poster_runs();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");

	OWNED(char_ptr) char *one = reading(&a, "slack://channel/C01AGENTS/recent?limit=1");
	has(slack_wait_for("conversations.history"), "args.limit", "1");
	OWNED(char_ptr) char *most = reading(&a, "slack://channel/C01AGENTS/recent?limit=5000");
	has(slack_wait_for("conversations.history"), "args.limit", "100");
	OWNED(char_ptr) char *usual = reading(&a, RECENT);
	has(slack_wait_for("conversations.history"), "args.limit", "20");

	OWNED(char_ptr) char *text = text_of(one);
	has(text, "messages.0.text", "two");
	has(text, "messages.1", "");
	has(text, "has_more", "true");
	OWNED(char_ptr) char *all = text_of(most);
	has(all, "messages.1.text", "one");
	desk_is_left();
}
END_TEST

START_TEST(a_message_of_nobody_is_of_unknown)
{
	desk();
	slack_fault("{'name': 'conversations.history', 'what': 'error', 'error': 'x', 'extra':"
	            " {'ok': true, 'messages': [{'type': 'message', 'ts': '1.5', 'text': 'hm'}]}}");
	the_poster_runs();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");

	OWNED(char_ptr) char *message = reading(&a, RECENT);

	OWNED(char_ptr) char *text = text_of(message);
	ck_assert_str_eq(text, "{\"messages\":[{\"ts\":\"1.5\",\"user\":\"unknown\","
	                       "\"text\":\"hm\"}],\"has_more\":false}");
	desk_is_left();
}
END_TEST

START_TEST(only_the_sessions_own_channel_is_read_and_listed)
{
	desk();
	the_poster_runs();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	given("INSERT INTO slack_check (seq, channel_id, asked_at, expires_at) VALUES"
	      " (1, 'G02PRIV', '2026-01-01T00:00:00.000Z', '9999-01-01T00:00:00.000Z');"
	      "INSERT INTO slack_checked VALUES (1, NULL, '2026-01-01T00:00:00.000Z')");
	struct agent b = agent_hello(front_port(), "?channel_id=G02PRIV", "2025-11-25");
	OWNED(str) struct str list = { 0 };

	OWNED(char_ptr) char *other = reading(&a, "slack://channel/G02PRIV/recent");
	says(member(other, "error.message"), "G02PRIV is not this session's channel");
	has(other, "error.code", "-32002");
	OWNED(char_ptr) char *usual = reading(&b, RECENT);
	says(member(usual, "error.message"), "C01AGENTS is not this session's channel");
	slack_expect_calls("");
	OWNED(char_ptr) char *own = reading(&b, "slack://channel/G02PRIV/recent");
	has(own, "result.contents.0.uri", "slack://channel/G02PRIV/recent");
	(void)agent_exchange(&a, "POST", "",
	                     "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"resources/list\"}", &list);
	says(list.bytes, "slack://channel/C01AGENTS/recent");
	desk_is_left();
}
END_TEST

START_TEST(without_slack_there_is_no_channel)
{
	desk();
	given("UPDATE setting SET value = 'false' WHERE name = 'slack.configured'");
	struct agent a = agent_hello(front_port(), "?channel_id=C01AGENTS", "2025-11-25");

	OWNED(char_ptr) char *message = reading(&a, RECENT);

	says(member(message, "error.message"), "Slack is not configured");
	expect("SELECT count(*) FROM slack_read", "0\n");
	desk_is_left();
}
END_TEST

START_TEST(what_was_read_a_moment_ago_is_not_read_again)
{
	struct wire one, two;

	desk();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	begin_reading(&a, &one, RECENT);
	expect_soon("SELECT count(*) FROM slack_read", "1\n");
	begin_reading(&a, &two, RECENT);
	the_poster_runs();

	OWNED(char_ptr) char *first = end_reading(&one);
	OWNED(char_ptr) char *second = end_reading(&two);
	OWNED(char_ptr) char *third = reading(&a, RECENT);

	has(first, "result.contents.0.uri", RECENT);
	has(second, "result.contents.0.uri", RECENT);
	has(third, "result.contents.0.uri", RECENT);
	expect("SELECT count(*) FROM slack_read", "1\n");
	advance(3 * SECOND);
	OWNED(char_ptr) char *later = reading(&a, RECENT);
	has(later, "result.contents.0.uri", RECENT);
	expect("SELECT count(*) FROM slack_read", "2\n");
	desk_is_left();
}
END_TEST

START_TEST(a_client_of_the_modern_revision_reads_too)
{
	int status;

	desk();
	(void)slack_deliver("{'message': {'text': 'hello'}}");
	the_poster_runs();

	OWNED(char_ptr)
	char *message = modern_request(front_port(), "", "resources/read", RECENT,
	                               "\"uri\":\"slack://channel/C01AGENTS/recent\"",
	                               MODERN_CLIENT(""), &status);

	OWNED(char_ptr) char *text = text_of(message);
	has(text, "messages.0.text", "hello");
	ck_assert_int_eq(status, 200);
	desk_is_left();
}
END_TEST

/* ---- what goes wrong ---- */

START_TEST(who_waits_for_10_seconds_is_told_that_nobody_reads)
{
	struct wire w;

	desk();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	begin_reading(&a, &w, RECENT);
	expect_soon("SELECT count(*) FROM slack_read", "1\n");
	OWNED(char_ptr) char *pong = agent_call(&a, "ping", "{}"); /* the front goes on */
	has(pong, "acknowledged", "true");

	advance(10 * SECOND);

	OWNED(char_ptr) char *message = end_reading(&w);
	says(member(message, "error.message"), "nobody has read the channel in 10 s");
	has(message, "error.code", "-32603");
	desk_is_left();
}
END_TEST

START_TEST(why_slack_does_not_let_it_be_read_is_told_and_the_next_read_asks_again)
{
	desk();
	slack_fault(
	    "{'name': 'conversations.history', 'what': 'error', 'error': 'not_in_channel'}");
	the_poster_runs();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");

	OWNED(char_ptr) char *refused = reading(&a, RECENT);
	OWNED(char_ptr) char *message = reading(&a, RECENT);

	says(member(refused, "error.message"), "the channel cannot be read: not_in_channel");
	has(message, "result.contents.0.uri", RECENT);
	desk_is_left();
}
END_TEST

START_TEST(a_pause_that_slack_wants_is_kept_and_told)
{
	desk();
	slack_fault("{'name': 'conversations.history', 'what': 'rate', 'retry_after': 30}");
	the_poster_runs();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");

	OWNED(char_ptr) char *first = reading(&a, RECENT);
	OWNED(char_ptr) char *second = reading(&a, RECENT);
	says(member(first, "error.message"), "too many calls");
	says(member(second, "error.message"), "Slack wants a pause");
	slack_expect_calls("conversations.history\n");
	advance(31 * SECOND);

	OWNED(char_ptr) char *third = reading(&a, RECENT);
	has(third, "result.contents.0.uri", RECENT);
	desk_is_left();
}
END_TEST

START_TEST(a_poster_that_died_is_followed_by_one_that_reads)
{
	struct wire w;

	desk();
	slack_fault("{'name': 'conversations.history', 'what': 'hang'}");
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	pid_t poster = start_worker("slack-poster");
	begin_reading(&a, &w, RECENT);
	(void)slack_wait_for("conversations.history");
	kill_worker(poster);
	(void)start_worker("slack-poster");

	OWNED(char_ptr) char *message = end_reading(&w);

	has(message, "result.contents.0.uri", RECENT);
	desk_is_left();
}
END_TEST

START_TEST(a_reader_that_hangs_up_is_forgotten_and_the_front_goes_on)
{
	struct wire w;

	desk();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	begin_reading(&a, &w, RECENT);
	expect_soon("SELECT count(*) FROM slack_read", "1\n");
	wire_break(&w);
	the_poster_runs();
	expect_soon("SELECT count(*) FROM slack_history", "1\n");

	OWNED(char_ptr) char *message = reading(&a, RECENT);

	has(message, "result.contents.0.uri", RECENT);
	desk_is_left();
}
END_TEST

START_TEST(what_was_read_is_kept_no_longer_than_it_takes)
{
	desk();
	the_poster_runs();
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	OWNED(char_ptr) char *first = reading(&a, RECENT);
	advance(10 * SECOND);
	OWNED(char_ptr) char *second = reading(&a, RECENT);

	expect("SELECT count(*), max(seq) FROM slack_read", "1|2\n");
	expect("SELECT count(*) FROM slack_history", "1\n");
	has(first, "result.contents.0.uri", RECENT);
	has(second, "result.contents.0.uri", RECENT);
	desk_is_left();
}
END_TEST

/* ---- over stdio, in a whole system ---- */

static struct site given_desk(void)
{
	struct site site;

	fresh_store();
	slack_start();
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	(void)setenv("SLACK_MEMBER_IDS", "U01OP", 1);
	site = site_make("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	return site;
}

static const char RELAYED[] = "{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"resources/read\","
                              "\"params\":{\"uri\":\"slack://channel/C01AGENTS/recent\"}}";

START_TEST(a_reading_outlives_the_front_that_waits_for_it)
{
	struct site site = given_desk();
	struct relay r = given_relay(&site);

	slack_fault("{'name': 'conversations.history', 'what': 'slow', 'delay_ms': 2000}");
	relay_send(&r, RELAYED);
	(void)slack_wait_for("conversations.history");
	kill_and_await("mcp-front");

	OWNED(char_ptr) char *line = relay_line(&r);

	has(line, "id", "r");
	has(line, "result.contents.0.uri", RECENT);
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	desk_is_left();
}
END_TEST

START_TEST(a_reading_that_is_cancelled_gets_no_reply)
{
	struct site site = given_desk();
	struct relay r = given_relay(&site);

	slack_fault("{'name': 'conversations.history', 'what': 'slow', 'delay_ms': 300}");
	relay_send(&r, RELAYED);
	(void)slack_wait_for("conversations.history");
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	               "\"params\":{\"requestId\":\"r\"}}");
	expect_soon("SELECT count(*) FROM slack_history", "1\n");
	OWNED(char_ptr) char *pong = relay_call(&r, "ping", "{}");

	has(pong, "acknowledged",
	    "true"); /* the next line is this answer, not that of the reading */
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	desk_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_history");
	TCase *c = tcase_create("slack_history");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, an_agent_reads_what_was_said_in_its_channel_newest_first);
	tcase_add_test(c, a_limit_is_obeyed_and_kept_within_1_and_100);
	tcase_add_test(c, a_message_of_nobody_is_of_unknown);
	tcase_add_test(c, only_the_sessions_own_channel_is_read_and_listed);
	tcase_add_test(c, without_slack_there_is_no_channel);
	tcase_add_test(c, what_was_read_a_moment_ago_is_not_read_again);
	tcase_add_test(c, a_client_of_the_modern_revision_reads_too);
	tcase_add_test(c, who_waits_for_10_seconds_is_told_that_nobody_reads);
	tcase_add_test(c, why_slack_does_not_let_it_be_read_is_told_and_the_next_read_asks_again);
	tcase_add_test(c, a_pause_that_slack_wants_is_kept_and_told);
	tcase_add_test(c, a_poster_that_died_is_followed_by_one_that_reads);
	tcase_add_test(c, a_reader_that_hangs_up_is_forgotten_and_the_front_goes_on);
	tcase_add_test(c, what_was_read_is_kept_no_longer_than_it_takes);
	tcase_add_test(c, a_reading_outlives_the_front_that_waits_for_it);
	tcase_add_test(c, a_reading_that_is_cancelled_gets_no_reply);
	suite_add_tcase(s, c);
	return run_suite(s);
}
