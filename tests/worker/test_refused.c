/* A row that the rules of the database refuse stops nobody: each worker goes on with the others,
 * says in its log what was refused, and settles it where the rules let it. */
#include "agent.h"
#include "slack_peer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 3600 * SECOND, DAY = 24 * HOUR;

static char log_path[200];

/* What the workers log from here on. */
static void keep_log(void)
{
	int fd;

	(void)snprintf(log_path, sizeof(log_path), "%.180s.log", test_db());
	fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	(void)close(fd);
}

static void log_says(const char *path, const char *part)
{
	OWNED(char_ptr) char *text = NULL;

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 10)) {
		char_ptr_clear(&text);
		text = get_file("/", path + 1);
		if (text && strstr(text, part))
			return;
	}
	ck_abort_msg("'%s' is not in\n%s", part, text ? text : "");
}

/* The same incarnation is ready as at the beginning. */
static void still_serves(const char *worker, pid_t pid)
{
	char sql[200], text[20];

	(void)snprintf(sql, sizeof(sql),
	               "SELECT pid FROM worker WHERE name = '%s' AND state = 'ready'", worker);
	(void)snprintf(text, sizeof(text), "%d\n", (int)pid);
	expect(sql, text);
}

static void given_at(const char *format, struct instant at)
{
	char sql[3000];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(sql, sizeof(sql), format, at.text);
#pragma GCC diagnostic pop
	given(sql);
}

/* Two sessions with a question and a call each. */
static void given_questions(struct instant due)
{
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " created_at, updated_at) VALUES"
	      " (1, 's1', 'h', 'local:ann', '/w', 'active', 'local', '2026-01-01T09:00:00.000Z',"
	      "  '2026-01-01T09:00:00.000Z'),"
	      " (2, 's2', 'h', 'local:ann', '/w', 'active', 'local', '2026-01-01T09:00:00.000Z',"
	      "  '2026-01-01T09:00:00.000Z');"
	      "INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	      " identity, created_at) VALUES"
	      " (1, 'k1', 'h', 'stdio', '2025-06-18', 1, '{}', '2026-01-01T09:00:00.000Z'),"
	      " (2, 'k2', 'h', 'stdio', '2025-06-18', 2, '{}', '2026-01-01T09:00:00.000Z')");
	given_at("INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body,"
	         " file_path, risk_level, original_hash, deadline_at, created_at, updated_at)"
	         " SELECT value, 'q' || value, value, 'clearance', 'pending',"
	         "  printf('%%064d', value), 't', 'b', 'f', 'low', 'new_file', '%1$s',"
	         "  '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'"
	         " FROM json_each('[1,2]')",
	         due);
}

/* ---- watchdog ---- */

START_TEST(a_question_that_may_not_expire_does_not_keep_the_others)
{
	pid_t pid;

	fresh_store();
	keep_log();
	given_questions(clock_instant(clock_now_ms() + HOUR));
	given("CREATE TRIGGER test_no BEFORE UPDATE OF state ON request WHEN OLD.id = 'q1'"
	      " BEGIN SELECT RAISE(ABORT, 'request: test: not this one'); END");
	pid = start_worker("watchdog");

	advance(HOUR + SECOND);

	expect_soon("SELECT id, state FROM request ORDER BY seq", "q1|pending\nq2|expired\n");
	log_says(log_path, "request: test: not this one");
	still_serves("watchdog", pid);
	given("DROP TRIGGER test_no");
	expect_soon("SELECT state FROM request WHERE id = 'q1'", "expired\n");
	expect("SELECT count(*) FROM decision", "2\n"); /* refusals are no rows */
}
END_TEST

START_TEST(however_many_questions_may_not_expire_those_behind_them_do)
{
	pid_t pid;

	fresh_store();
	keep_log();
	given_questions(clock_instant(clock_now_ms() + HOUR));
	given_at(
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body,"
	    " file_path, risk_level, original_hash, deadline_at, created_at, updated_at)"
	    " SELECT 100 + value, 'no' || value, 1, 'clearance', 'pending',"
	    "  printf('%%064d', 100 + value), 't', 'b', 'f', 'low', 'new_file', '%1$s',"
	    "  '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'"
	    " FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE"
	    " value < 250) SELECT value FROM n)",
	    clock_instant(clock_now_ms() + MINUTE));
	given("CREATE TRIGGER test_no BEFORE UPDATE OF state ON request WHEN OLD.id LIKE 'no%'"
	      " BEGIN SELECT RAISE(ABORT, 'request: test: not these'); END");
	pid = start_worker("watchdog");

	advance(HOUR + SECOND);

	expect_soon("SELECT state FROM request WHERE seq < 100", "expired\nexpired\n");
	expect("SELECT count(*) FROM request WHERE state = 'pending'", "250\n");
	still_serves("watchdog", pid);
}
END_TEST

START_TEST(a_call_that_may_not_end_does_not_keep_the_others)
{
	pid_t pid;

	fresh_store();
	keep_log();
	given_questions(clock_instant(clock_now_ms() + DAY));
	given_at("INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool,"
	         " digest, state, request_seq, wait_until, created_at)"
	         " SELECT value, value, value, value, 'modern', 'check_clearance', '', 'waiting',"
	         "  value, '%1$s', '2026-01-01T09:00:00.000Z' FROM json_each('[1,2]')",
	         clock_instant(clock_now_ms() + MINUTE));
	given("CREATE TRIGGER test_no BEFORE UPDATE OF state ON tool_call WHEN OLD.seq = 1"
	      " BEGIN SELECT RAISE(ABORT, 'tool_call: test: not this one'); END");
	pid = start_worker("watchdog");

	advance(MINUTE + SECOND);

	expect_soon("SELECT seq, state FROM tool_call ORDER BY seq", "1|waiting\n2|answered\n");
	log_says(log_path, "tool_call: test: not this one");
	still_serves("watchdog", pid);
}
END_TEST

START_TEST(a_silent_session_that_may_have_no_alert_does_not_keep_the_others)
{
	pid_t pid;

	fresh_store();
	keep_log();
	given_questions(clock_instant(clock_now_ms() + DAY));
	given(
	    "INSERT INTO decision (request_id, verdict) VALUES ('q1', 'reject'), ('q2', 'reject')");
	given_at("UPDATE session SET idle_since = '%1$s', last_activity_at = '%1$s'", clock_now());
	given("CREATE TRIGGER test_no BEFORE INSERT ON stall WHEN NEW.session_seq = 1"
	      " BEGIN SELECT RAISE(ABORT, 'stall: test: not this one'); END");
	pid = start_worker("watchdog");

	advance(HOUR);

	expect_soon("SELECT session_seq FROM stall", "2\n");
	log_says(log_path, "stall: test: not this one");
	still_serves("watchdog", pid);
}
END_TEST

START_TEST(a_refused_seal_does_not_stop_the_deadlines)
{
	pid_t pid;

	fresh_store();
	keep_log();
	given_questions(clock_instant(clock_now_ms() + HOUR));
	given("CREATE TRIGGER test_no BEFORE INSERT ON seal"
	      " BEGIN SELECT RAISE(ABORT, 'seal: test: none'); END");
	pid = start_worker("watchdog");

	advance(HOUR + SECOND);

	log_says(log_path, "seal: test: none");
	expect_soon("SELECT state FROM request", "expired\nexpired\n");
	still_serves("watchdog", pid);
}
END_TEST

/* ---- applier and mcp-front: the whole system ---- */

static char *approved(struct relay *r, const char *path)
{
	OWNED(char_ptr) char *result = NULL;

	begin_asking(r, path, "text\n");
	approve_all();
	result = relay_end(r);
	has(result, "status", "approved");
	return xstrdup(member(result, "request_id"));
}

START_TEST(a_write_that_may_not_be_settled_does_not_keep_the_others)
{
	struct site site = given_running_site();
	struct relay r = given_relay(&site), other = given_relay(&site);
	OWNED(char_ptr) char *bad = approved(&r, "bad");
	OWNED(char_ptr) char *good = approved(&other, "good");
	OWNED(char_ptr) char *bad_call = diff_of(bad);
	OWNED(char_ptr) char *good_call = diff_of(good);
	OWNED(char_ptr) char *result = NULL;
	char log[140];
	pid_t pid;

	kill_and_await("applier"); /* its fence holds the workspace: it needs no successor */
	pid = worker_pid("applier");
	given("CREATE TRIGGER test_no BEFORE UPDATE OF state ON apply"
	      " WHEN NEW.state = 'applied' AND NEW.seq = 1"
	      " BEGIN SELECT RAISE(ABORT, 'apply: test: not this one'); END");
	relay_begin(&r, "check_diff", bad_call);
	expect_soon("SELECT count(*) FROM apply", "1\n");
	result = relay_call(&other, "check_diff", good_call);
	has(result, "status", "applied");
	(void)snprintf(log, sizeof(log), "%s/log", site.home);
	log_says(log, "apply: test: not this one");
	still_serves("applier", pid);
	given("DROP TRIGGER test_no");
	advance(2 * MINUTE);
	char_ptr_clear(&result);
	result = relay_end(&r);
	has(result, "status", "applied");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(relay_stop(&other), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_question_that_may_not_be_asked_is_told_to_its_agent_alone)
{
	struct site site = given_running_site();
	struct relay r = given_relay(&site), other = given_relay(&site);
	OWNED(char_ptr) char *arguments = proposal("bad", "text\n");
	OWNED(char_ptr) char *line = NULL;
	OWNED(char_ptr) char *good = NULL;
	pid_t pid = worker_pid("mcp-front");

	given("CREATE TRIGGER test_no BEFORE INSERT ON request WHEN NEW.file_path = 'bad'"
	      " BEGIN SELECT RAISE(ABORT, 'request: test: not this one'); END");
	relay_begin(&r, "check_clearance", arguments);
	line = relay_line(&r);
	says(line, "request: test: not this one");
	good = approved(&other, "good");
	still_serves("mcp-front", pid);
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(relay_stop(&other), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- retention ---- */

START_TEST(what_may_not_be_deleted_does_not_keep_the_rest)
{
	pid_t pid;

	fresh_store();
	keep_log();
	given_questions(clock_instant(clock_now_ms() + DAY));
	given_at("UPDATE session SET status = 'terminated', terminated_at = '%1$s',"
	         " updated_at = '%1$s'",
	         clock_instant(clock_now_ms() - 40 * DAY));
	given_at("INSERT INTO time_gap (seq, machine, kind, started_at, ended_at)"
	         " VALUES (1, 'h', 'suspend', '%1$s', '%1$s')",
	         clock_instant(clock_now_ms() - 40 * DAY));
	given("CREATE TRIGGER test_no BEFORE DELETE ON session WHEN OLD.seq = 1"
	      " BEGIN SELECT RAISE(ABORT, 'session: test: not this one'); END;"
	      "CREATE TRIGGER test_neither BEFORE DELETE ON time_gap"
	      " BEGIN SELECT RAISE(ABORT, 'time_gap: test: none'); END");
	pid = start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT seq FROM session", "1\n");
	log_says(log_path, "session: test: not this one");
	log_says(log_path, "time_gap: test: none");
	still_serves("retention", pid);
}
END_TEST

/* ---- Slack ---- */

static void given_slack(void)
{
	fresh_store();
	keep_log();
	slack_start();
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	given("UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('slack.channel_id', 'C01AGENTS', 'file', '2026-01-01T00:00:00.000Z');"
	      "INSERT INTO operator (id, kind, team_id, user_id)"
	      " VALUES ('slack:T01TEAM:U01OP', 'slack', 'T01TEAM', 'U01OP')");
}

static void given_talk(int n)
{
	char sql[1200];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status,"
	    " mode, client_name, created_at, updated_at) VALUES (%d, 'session-%d', 'h',"
	    " 'local:tester', '/ws/w%d', 'active', 'hybrid', 'claude', '%s', '%s');"
	    "INSERT INTO slack_notice (kind, session_seq, text, at)"
	    " VALUES ('reply', %d, 'word of session %d', '%s')",
	    n, n, n, now.text, now.text, n, n, now.text);
	given(sql);
}

START_TEST(an_intent_that_may_not_be_claimed_does_not_keep_the_others)
{
	pid_t pid;

	given_slack();
	given_talk(1);
	given_talk(2);
	given("CREATE TRIGGER test_no BEFORE UPDATE OF state ON slack_outbox"
	      " WHEN NEW.state = 'sending'"
	      " AND (SELECT session_seq FROM slack_message WHERE seq = OLD.message_seq) = 1"
	      " BEGIN SELECT RAISE(ABORT, 'slack_outbox: test: not this one'); END");
	pid = start_worker("slack-poster");

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;
	     agent_ms() < end &&
	     !strstr(slack_ask("messages?channel=C01AGENTS"), "word of session 2");
	     (void)poll(NULL, 0, 20))
		advance(SECOND);
	says(slack_ask("messages?channel=C01AGENTS"), "word of session 2");
	log_says(log_path, "slack_outbox: test: not this one");
	still_serves("slack-poster", pid);
	slack_stop();
}
END_TEST

START_TEST(what_may_not_be_noted_as_said_is_dead_and_told)
{
	pid_t pid;

	given_slack();
	given_talk(1);
	given("CREATE TRIGGER test_no BEFORE UPDATE OF state ON slack_outbox"
	      " WHEN NEW.state = 'sent'"
	      " BEGIN SELECT RAISE(ABORT, 'slack_outbox: test: not sent'); END");
	pid = start_worker("slack-poster");

	/* (What follows it dies, too, for another reason.) */
	expect_soon("SELECT why FROM slack_outbox WHERE state = 'dead' ORDER BY seq LIMIT 1",
	            "db: slack_outbox: test: not sent\n");
	log_says(log_path, "slack_outbox: test: not sent");
	still_serves("slack-poster", pid);
	slack_stop();
}
END_TEST

START_TEST(a_click_whose_decision_is_refused_is_stored_as_malformed_and_told)
{
	pid_t pid;

	given_slack();
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " channel_id, created_at, updated_at)"
	      " VALUES (1, 's1', 'h', 'local:tester', '/w', 'active', 'hybrid', 'C01AGENTS',"
	      "  '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');"
	      "UPDATE session SET thread_ts = '1700000000.000100' WHERE seq = 1;"
	      "INSERT INTO request (id, session_seq, kind, state, digest, title, body, file_path,"
	      " risk_level, original_hash, created_at, updated_at)"
	      " VALUES ('01900000-0000-7000-8000-00000000000a', 1, 'clearance', 'pending',"
	      " printf('%064d', 1), 'Change a.c', '-a +b', 'a.c', 'low', 'new_file',"
	      " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');"
	      "CREATE TRIGGER test_no BEFORE INSERT ON decision"
	      " BEGIN SELECT RAISE(ABORT, 'decision: test: none'); END");
	pid = start_worker("slack-listener");
	(void)slack_wait_for("hello");
	(void)slack_acked(
	    "{'envelope':{'type':'interactive','payload':{'type':'block_actions','user':{'id':"
	    "'U01OP','team_id':'T01TEAM'},'trigger_id':'1.1','channel':{'id':'C01AGENTS'},"
	    "'message':{'ts':'1700000001.000100','thread_ts':'1700000000.000100'},'actions':[{"
	    "'action_id':'approve_accept','value':'01900000-0000-7000-8000-00000000000a',"
	    "'action_ts':'1.1'}]}}}");
	expect("SELECT outcome, why FROM slack_envelope", "malformed|db: decision: test: none\n");
	log_says(log_path, "decision: test: none");
	still_serves("slack-listener", pid);
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("refused");
	TCase *c = store_case(s, "refused", 60);

	tcase_add_test(c, a_question_that_may_not_expire_does_not_keep_the_others);
	tcase_add_test(c, however_many_questions_may_not_expire_those_behind_them_do);
	tcase_add_test(c, a_call_that_may_not_end_does_not_keep_the_others);
	tcase_add_test(c, a_silent_session_that_may_have_no_alert_does_not_keep_the_others);
	tcase_add_test(c, a_refused_seal_does_not_stop_the_deadlines);
	tcase_add_test(c, a_write_that_may_not_be_settled_does_not_keep_the_others);
	tcase_add_test(c, a_question_that_may_not_be_asked_is_told_to_its_agent_alone);
	tcase_add_test(c, what_may_not_be_deleted_does_not_keep_the_rest);
	tcase_add_test(c, an_intent_that_may_not_be_claimed_does_not_keep_the_others);
	tcase_add_test(c, what_may_not_be_noted_as_said_is_dead_and_told);
	tcase_add_test(c, a_click_whose_decision_is_refused_is_stored_as_malformed_and_told);
	return run_suite(s);
}
