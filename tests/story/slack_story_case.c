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

void a_system_with_an_agent(const char *prompt, const char *steps)
{
	OWNED(str) struct str more = { 0 };

	str_addf(&more,
	         "[slack]\nchannel_id = \"C01AGENTS\"\n"
	         "[[agent]]\nname = \"fake\"\nprotocol = \"acp\"\n"
	         "command = \"%s/tests/fake-agent\"\nargs = [\"v1\", \"--log\", \"heard\", %s]\n",
	         getenv("INTERCOM_BUILD"), steps);
	slack_with(more.bytes);
	site_start(&site);
	(void)slack_wait_for("hello");
	says(member(slack_acked("{'slash':{'text':'session-start --agent fake %s'}}", prompt),
	            "payload.text"),
	     "Starting session ");
}

void end_system(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}

char *ts_of(const char *kind)
{
	OWNED(str) struct str sql = { 0 };
	char *ts;

	str_addf(&sql,
	         "SELECT count(*) FROM (SELECT 1 FROM slack_message WHERE kind = '%s'"
	         " AND ts IS NOT NULL ORDER BY seq LIMIT 1)",
	         kind);
	pass_time_until(sql.bytes, "1\n");
	str_reset(&sql);
	str_addf(&sql, "SELECT ts FROM slack_message WHERE kind = '%s' ORDER BY seq LIMIT 1", kind);
	ts = rows(sql.bytes);
	ts[strcspn(ts, "\n")] = '\0';
	return ts;
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

void arrived(const char *table, int n)
{
	OWNED(str) struct str sql = { 0 };
	OWNED(str) struct str count = { 0 };

	str_addf(&sql, "SELECT count(*) FROM %s", table);
	str_addf(&count, "%d\n", n);
	expect_soon(str_text(&sql), str_text(&count));
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

char *shown_now(const char *ts)
{
	all_is_said();
	return shown(ts);
}

void is_not_in(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "'%s' is in %s", part, text);
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
