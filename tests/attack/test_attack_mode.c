/* An agent that takes its questions away from the operator in Slack: that is told there with a way
 * back, and can be forbidden. */
#include "agent.h"
#include "json.h"
#include "slack_peer.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

static struct site site;

static struct agent given_agent_with_slack(const char *more)
{
	OWNED(str) struct str config = { 0 };

	fresh_store();
	slack_start();
	slack_credentials();
	str_addf(&config, "[slack]\nchannel_id = \"C01AGENTS\"\n%s", more);
	site = site_make(config.bytes);
	site_start(&site);
	(void)slack_wait_for("hello");
	return agent_hello(site.port, "?wait=1", "2025-11-25");
}

static void end(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}

/* The only message about a mode, once Slack shows what the rows say of it. */
static char *mode_message(void)
{
	static const char UNSAID[] = "SELECT count(*) FROM slack_outbox WHERE state <> 'sent'";
	OWNED(char_ptr) char *ts = NULL;
	OWNED(cJSON_ptr) cJSON *root = NULL;
	const cJSON *message;

	for (int64_t until = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < until;) {
		OWNED(char_ptr) char *unsaid = rows(UNSAID);

		if (strcmp(unsaid, "0\n") == 0)
			break;
		advance(500); /* what is said keeps a pace */
		(void)poll(NULL, 0, 20);
	}
	expect(UNSAID, "0\n");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'mode' ORDER BY seq LIMIT 1");
	ts[strcspn(ts, "\n")] = '\0';
	root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	cJSON_ArrayForEach (message, cJSON_GetObjectItem(root, "messages"))
		if (strcmp(json_text(message, "ts"), ts) == 0)
			return cJSON_PrintUnformatted(message);
	ck_abort_msg("Slack shows no message %s", ts);
}

START_TEST(an_agent_that_leaves_remote_mode_is_told_of_in_slack_with_a_button_that_switches_back)
{
	struct agent a = given_agent_with_slack("");
	OWNED(char_ptr) char *switched = agent_call(&a, "switch_freq", "{\"mode\":\"local\"}");
	OWNED(char_ptr) char *told = mode_message();
	OWNED(char_ptr) char *after = NULL;

	has(switched, "current_mode", "local");
	says(told, "The agent switched its mode");
	says(told, "remote → local");
	says(told, "Questions are asked on its machine, not here.");
	says(told, "Switch back to remote");
	(void)slack_deliver("{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'mode_remote'}}",
	                    member(told, "ts"));
	expect_soon("SELECT mode FROM session", "remote\n");
	expect("SELECT source, outcome, argument FROM command ORDER BY seq",
	       "agent|done|local\nslack|done|remote\n");
	after = mode_message();
	ck_assert_ptr_null(strstr(after, "Switch back"));
	end();
}
END_TEST

START_TEST(a_stranger_cannot_switch_back)
{
	struct agent a = given_agent_with_slack("");
	OWNED(char_ptr) char *switched = agent_call(&a, "switch_freq", "{\"mode\":\"hybrid\"}");
	OWNED(char_ptr) char *told = mode_message();

	has(switched, "current_mode", "hybrid");
	(void)slack_deliver("{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'mode_remote',"
	                    "'user':'U0STRANGER'}}",
	                    member(told, "ts"));
	expect_soon("SELECT outcome FROM slack_envelope", "unauthorized\n");
	expect("SELECT mode FROM session", "hybrid\n");
	end();
}
END_TEST

START_TEST(an_agent_that_may_not_loosen_its_mode_is_refused_by_name)
{
	struct agent a = given_agent_with_slack("[modes]\nagent_may_loosen = false\n");
	OWNED(char_ptr) char *local = agent_call(&a, "switch_freq", "{\"mode\":\"local\"}");
	OWNED(char_ptr) char *hybrid = agent_call(&a, "switch_freq", "{\"mode\":\"hybrid\"}");
	OWNED(char_ptr) char *back = NULL;

	has(local, "error_code", "mode_refused");
	says(member(local, "error_message"), "modes.agent_may_loosen");
	has(hybrid, "error_code", "mode_refused");
	expect("SELECT mode FROM session", "remote\n");
	ck_assert_int_eq(ctl(NULL, "mode hybrid"), 0);
	back = agent_call(&a, "switch_freq", "{\"mode\":\"remote\"}");
	has(back, "current_mode", "remote");
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack mode");
	TCase *c = store_case(s, "attack mode", 90);

	tcase_add_test(
	    c,
	    an_agent_that_leaves_remote_mode_is_told_of_in_slack_with_a_button_that_switches_back);
	tcase_add_test(c, a_stranger_cannot_switch_back);
	tcase_add_test(c, an_agent_that_may_not_loosen_its_mode_is_refused_by_name);
	return run_suite(s);
}
