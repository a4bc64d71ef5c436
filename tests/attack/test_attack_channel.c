/* An agent that names a channel where it has no business, or that is not there: it is refused by
 * name, and waits nowhere unseen. */
#include "agent.h"
#include "slack_peer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct site site;

static void given_slack(const char *more)
{
	OWNED(str) struct str config = { 0 };

	fresh_store();
	slack_start();
	slack_credentials();
	str_addf(&config, "[slack]\nchannel_id = \"C01AGENTS\"\n%s", more);
	site = site_make(config.bytes);
	site_start(&site);
	(void)slack_wait_for("hello");
}

static void end(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}

/* What initialize says to an agent that names this channel. Only who is let in gets a session. */
static char *greeted(const char *channel)
{
	static const char HELLO[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
	    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
	    "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}";
	struct agent a = { .port = site.port };
	struct wire w;
	char *body;

	(void)snprintf(a.query, sizeof(a.query), "?channel_id=%s", channel);
	wire_open(&w, a.port);
	agent_send(&a, &w, "POST", "", HELLO);
	body = agent_message(&w);
	ck_assert_int_eq(w.status, 200);
	ck_assert_int_eq(wire_header(&w, "Mcp-Session-Id") != NULL,
	                 strstr(body, "\"result\"") != NULL);
	wire_close(&w);
	return body;
}

/* The same once Slack has said something, which a busy machine delays. */
static char *greeted_at_last(const char *channel)
{
	char *answer = greeted(channel);

	for (int64_t until = agent_ms() + 3 * AGENT_PATIENCE_MS;
	     strstr(answer, "has not said yet") && agent_ms() < until;) {
		free(answer);
		answer = greeted(channel);
	}
	return answer;
}

static void is_refused(const char *channel, const char *why)
{
	OWNED(char_ptr) char *answer = greeted_at_last(channel);

	says(answer, "\"error\"");
	says(answer, why);
}

START_TEST(a_channel_that_is_none_or_a_direct_message_is_refused_at_once)
{
	given_slack("");
	is_refused("C_WORKSPACE", "'C_WORKSPACE' is no channel's id");
	is_refused("general", "'general' is no channel's id");
	is_refused("D01DIRECT", "D01DIRECT is a direct message, where no agent may ask");
	expect("SELECT count(*) FROM connection", "0\n");
	expect("SELECT count(*) FROM slack_check", "0\n");
	end();
}
END_TEST

START_TEST(a_channel_that_does_not_exist_or_that_the_bot_is_not_in_is_refused_by_name)
{
	given_slack("");
	is_refused("C0NOWHERE", "C0NOWHERE");
	is_refused("C02OTHER", "the app is not in the channel C02OTHER; /invite it there");
	is_refused("C03OLD", "C03OLD");
	expect("SELECT count(*) FROM session", "0\n");
	end();
}
END_TEST

START_TEST(nobody_is_let_in_before_slack_has_said_that_the_bot_is_in_the_channel)
{
	struct agent a;
	OWNED(char_ptr) char *early = NULL;
	OWNED(char_ptr) char *late = NULL;
	OWNED(char_ptr) char *served = NULL;

	given_slack("");
	halt_worker(worker_pid("slack-poster"));
	early = greeted("G02PRIV");
	says(early, "Slack has not said yet whether the bot is in the channel G02PRIV");
	expect("SELECT count(*) FROM connection", "0\n");
	ck_assert_int_eq(kill(worker_pid("slack-poster"), SIGCONT), 0);
	late = greeted_at_last("G02PRIV");
	says(late, "\"result\"");
	a = agent_hello(site.port, "?channel_id=G02PRIV", "2025-11-25");
	served = agent_call(&a, "ping", "{}");
	expect("SELECT channel_id FROM session", "G02PRIV\n");
	end();
}
END_TEST

START_TEST(with_a_list_of_channels_agents_use_no_others)
{
	struct agent a;
	OWNED(char_ptr) char *answer = NULL;

	given_slack("channels = [\"C0LISTED\"]\n");
	is_refused("G02PRIV", "G02PRIV is none of those that agents may use");
	a = agent_hello(site.port, "?channel_id=C01AGENTS", "2025-11-25");
	answer = agent_call(&a, "ping", "{}");
	expect("SELECT channel_id FROM session", "C01AGENTS\n");
	expect("SELECT count(*) FROM slack_check", "0\n");
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack channel");
	TCase *c = store_case(s, "attack channel", 90);

	tcase_add_test(c, a_channel_that_is_none_or_a_direct_message_is_refused_at_once);
	tcase_add_test(c,
	               a_channel_that_does_not_exist_or_that_the_bot_is_not_in_is_refused_by_name);
	tcase_add_test(c, nobody_is_let_in_before_slack_has_said_that_the_bot_is_in_the_channel);
	tcase_add_test(c, with_a_list_of_channels_agents_use_no_others);
	return run_suite(s);
}
