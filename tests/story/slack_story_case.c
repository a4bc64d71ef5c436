#include "slack_story_case.h"

struct site site;

void slack_with(const char *more)
{
	fresh_store();
	slack_start();
	slack_credentials();
	site = site_make(more);
}

void a_system_with_slack(void)
{
	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	(void)slack_wait_for("hello");
}

void end_system(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}

char *ask_ts(void)
{
	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL",
	            "1\n");
	char *ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask'");

	ts[strcspn(ts, "\n")] = '\0';
	return ts;
}

char *said_in(const char *message)
{
	return xstrdup(member(message, "result.content.1.text"));
}

char *call_for_message(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	char *message = agent_message(&w);

	wire_close(&w);
	return message;
}

void press(const char *ts, const char *button)
{
	(void)slack_deliver("{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'%s'}}", ts,
	                    button);
}

void press_and_wait(const char *ts, const char *button)
{
	press(ts, button);
	(void)slack_wait_for("ack");
}

void pass_time_until(const char *sql, const char *text)
{
	int64_t end = agent_ms() + 2 * (int64_t)AGENT_PATIENCE_MS;
	OWNED(char_ptr) char *have = rows(sql);

	while (strcmp(have, text) != 0 && agent_ms() < end) {
		advance(SECOND / 2);
		(void)poll(NULL, 0, 20); /* for the workers, not for the clock */
		free(have);
		have = rows(sql);
	}
	expect(sql, text);
}

void all_is_said(void)
{
	pass_time_until("SELECT count(*) FROM slack_outbox WHERE state IN ('queued', 'sending', "
	                "'doubtful')",
	                "0\n");
}

char *shown(const char *ts)
{
	const char *all = slack_ask("messages?channel=C01AGENTS");
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(all);
	const cJSON *message;

	cJSON_ArrayForEach (message, cJSON_GetObjectItem(root, "messages")) {
		const char *have = cJSON_GetStringValue(cJSON_GetObjectItem(message, "ts"));

		if (have && strcmp(have, ts) == 0)
			return cJSON_PrintUnformatted(message);
	}
	ck_abort_msg("Slack shows no message %s:\n%s", ts, all);
}

void whispered(const char *text)
{
	says(member(slack_wait_for("chat.postEphemeral"), "args.text"), text);
}

void a_hybrid_system(void)
{
	slack_with("[slack]\nchannel_id = \"C01AGENTS\"\n[mcp]\nwait_cap = 600\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	ck_assert_int_eq(ctl(NULL, "mode hybrid"), 0);
}

void edits_wait(int seconds)
{
	slack_fault("{'name':'chat.update','what':'rate','retry_after':%d,'times':1}", seconds);
}

struct agent an_agent_with_slack(void)
{
	a_system_with_slack();
	return agent_hello(front_port(), "", "2025-11-25");
}

struct agent an_agent_in_hybrid_mode(void)
{
	a_hybrid_system();
	return agent_hello(front_port(), "", "2025-11-25");
}
