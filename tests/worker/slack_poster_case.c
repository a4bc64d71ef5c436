#include "slack_poster_case.h"

void desk(void)
{
	fresh_store();
	slack_start();
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	given("UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('slack.channel_id', 'C01AGENTS', 'file', '2026-01-01T00:00:00.000Z');"
	      "INSERT INTO operator (id, kind, team_id, user_id)"
	      " VALUES ('slack:T01TEAM:U01OP', 'slack', 'T01TEAM', 'U01OP')");
}

void desk_is_left(void)
{
	slack_stop();
	close_store();
}

void session(int n)
{
	char sql[700];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " client_name, created_at, updated_at) VALUES (%d, 'session-%d', 'h',"
	    " 'local:tester', '/ws/w%d', 'active', 'hybrid', 'claude', '%s', '%s')",
	    n, n, n, now.text, now.text);
	given(sql);
}

void question(int n, int of, const char *title, const char *diff)
{
	char sql[1500];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body, "
	    "file_path,"
	    " risk_level, original_hash, created_at, updated_at) VALUES (%d, 'ask-%d', %d, "
	    "'clearance',"
	    " 'pending', printf('%%064d', %d), '%s', %s, 'src/a.c', 'low', 'new_file', '%s', '%s')",
	    n, n, of, n, title, diff, now.text, now.text);
	given(sql);
}

const char SHORT_DIFF[] =
    "'--- a/src/a.c' || char(10) || '+++ b/src/a.c' || char(10) || '@@ -1 +1 @@' || char(10) ||"
    " '-a' || char(10) || '+b' || char(10)";

void reply(int of, const char *text)
{
	char sql[400];
	struct instant now = clock_now();

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO slack_notice (kind, session_seq, text, at)"
	               " VALUES ('reply', %d, '%s', '%s')",
	               of, text, now.text);
	given(sql);
}

char *said(void)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	struct str out = { 0 };
	const cJSON *m;

	cJSON_ArrayForEach (m, cJSON_GetObjectItem(root, "messages")) {
		const char *thread = cJSON_GetStringValue(cJSON_GetObjectItem(m, "thread_ts"));
		const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(m, "text"));

		if (cJSON_IsTrue(cJSON_GetObjectItem(m, "deleted")))
			continue;
		str_addf(&out, "%s%.60s\n",
		         thread &&
		                 strcmp(thread, cJSON_GetStringValue(cJSON_GetObjectItem(m, "ts")))
		             ? "  "
		             : "",
		         text ? text : "");
	}
	return str_take(&out);
}

int times_said(const char *part)
{
	OWNED(char_ptr) char *have = said();
	int times = 0;

	for (const char *p = have; (p = strstr(p, part)) != NULL; p++)
		times++;
	return times;
}

int backlog(void)
{
	const char *given_count = getenv("INTERCOM_BACKLOG");

	return given_count ? (int)strtol(given_count, NULL, 10) : 1000;
}

void let_it_speak_until(long most)
{
	int64_t give_up = agent_ms() + 8 * AGENT_PATIENCE_MS + 50L * backlog();
	OWNED(char_ptr) char *left = NULL;

	for (;;) {
		char_ptr_clear(&left);
		left = rows("SELECT count(*) FROM slack_outbox"
		            " WHERE state IN ('queued', 'sending', 'doubtful')");
		if (strtol(left, NULL, 10) <= most)
			return;
		ck_assert_msg(agent_ms() < give_up, "still queued: %s",
		              rows("SELECT seq, kind, state, why FROM slack_outbox"
		                   " WHERE state IN ('queued', 'sending', 'doubtful')"));
		advance(SECOND);
		(void)usleep(2000); /* the workers' turn */
	}
}

void let_it_speak(void)
{
	let_it_speak_until(0);
}

void holds(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s\nis not in\n%s", part, text);
}
