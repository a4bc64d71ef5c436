#include "slack_listener_case.h"

void a_session_in_slack(void)
{
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode, "
	      " channel_id, created_at, updated_at, last_activity_at)"
	      " VALUES (1, '01900000-0000-7000-8000-000000000001', 'h', 'local:tester', '/w', "
	      "'active', "
	      " 'hybrid', 'C01AGENTS', '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z', "
	      " '2026-01-01T09:00:00.000Z');"
	      "UPDATE session SET thread_ts = '1700000000.000100' WHERE seq = 1");
}

void a_question_in_slack(void)
{
	a_session_in_slack();
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, body, file_path, "
	      " risk_level, original_hash, created_at, updated_at)"
	      " VALUES ('01900000-0000-7000-8000-00000000000a', 1, 'clearance', 'pending', "
	      " printf('%064d', 1), 'Change a.c', '-a +b', 'a.c', 'low', 'new_file', "
	      " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
	slack_shows_questions();
}

void operators(void)
{
	given("INSERT INTO operator (id, kind, team_id, user_id, created_at) VALUES"
	      " ('slack:T01TEAM:U01OP', 'slack', 'T01TEAM', 'U01OP', '2026-01-01T08:00:00.000Z'),"
	      " ('slack:T01TEAM:U02OP', 'slack', 'T01TEAM', 'U02OP', '2026-01-01T08:00:00.000Z');"
	      "UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT INTO setting (name, value, source, updated_at)"
	      " VALUES ('slack.channel_id', 'C01AGENTS', 'file', '2026-01-01T08:00:00.000Z')");
}

void slack(void)
{
	fresh_store();
	operators();
	slack_start();
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
}

pid_t listener_starts(void)
{
	pid_t pid = start_worker("slack-listener");

	(void)slack_wait_for("hello");
	expect_soon("SELECT detail FROM worker WHERE name = 'slack-listener' AND state = 'ready'",
	            "connected\n");
	return pid;
}
