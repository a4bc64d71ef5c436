/* retention: what is old goes, whole and only that; the log stays short. */
#include "agent.h"
#include "sha256.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const int64_t SECOND = 1000, HOUR = 3600 * SECOND, DAY = 24 * HOUR;

static const char COUNTS[] =
    "SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM connection),"
    " (SELECT count(*) FROM request), (SELECT count(*) FROM tool_call),"
    " (SELECT count(*) FROM answer), (SELECT count(*) FROM apply),"
    " (SELECT count(*) FROM file_change), (SELECT count(*) FROM decision),"
    " (SELECT count(*) FROM checkpoint), (SELECT count(*) FROM content)";

/* A text of the database's language with %1$s the instant and %2$d the number. */
static void given_for(const char *format, struct instant at, int n)
{
	char sql[2000];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(sql, sizeof(sql), format, at.text, n);
#pragma GCC diagnostic pop
	given(sql);
}

/* Session n with a row in every table that belongs to it; it is still active. */
static void given_whole_session(int n, struct instant at)
{
	given_for(
	    "INSERT INTO session (seq, id, host, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (%2$d, 's%2$d', 'h', 'local:ann', '/w', 'active',"
	    " 'local', '%1$s', '%1$s');"
	    "INSERT INTO connection (seq, key, host, transport, protocol_version, session_seq,"
	    " identity, created_at) VALUES (%2$d, 'k%2$d', 'h', 'stdio', '2025-06-18', %2$d, '{}',"
	    " '%1$s');"
	    "INSERT INTO checkpoint (id, session_id, session_state, file_hashes, workspace_root,"
	    " created_at) VALUES ('c%2$d', 's%2$d', '{}', '{}', '/w', '%1$s');"
	    "INSERT INTO content (seq, hash, size, bytes) VALUES (%2$d, printf('%%064d', %2$d), 1,"
	    " x'61')",
	    at, n);
	given_for(
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body_seq,"
	    " file_path, risk_level, original_hash, created_at, updated_at) VALUES (%2$d, 'q%2$d',"
	    " %2$d, 'clearance', 'pending', printf('%%064d', %2$d), 't', %2$d, 'f', 'low',"
	    " 'new_file', '%1$s', '%1$s');"
	    "INSERT INTO request_file (request_seq, path, action, original_hash)"
	    " VALUES (%2$d, 'f', 'create', 'new_file');"
	    "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, digest,"
	    " state, request_seq, created_at) VALUES (%2$d, %2$d, %2$d, '1', 'modern',"
	    " 'check_clearance', '', 'waiting', %2$d, '%1$s');"
	    "INSERT INTO decision (request_id, verdict, operator_id, source, created_at)"
	    " VALUES ('q%2$d', 'approve', 'local:ann', 'ctl', '%1$s');"
	    "INSERT INTO apply (seq, request_seq, host, state, created_at, updated_at)"
	    " VALUES (%2$d, %2$d, 'h', 'queued', '%1$s', '%1$s');"
	    "INSERT INTO file_change (apply_seq, path, action, hash_before, hash_after, bytes, "
	    "state,"
	    " created_at, updated_at) VALUES (%2$d, 'f', 'create', 'new_file', 'x', 1, 'planned',"
	    " '%1$s', '%1$s')",
	    at, n);
}

static void terminate(int n, struct instant at)
{
	given_for("UPDATE session SET status = 'terminated', terminated_at = '%1$s',"
	          " updated_at = '%1$s' WHERE seq = %2$d",
	          at, n);
}

/* A system in which nobody decided anything yet. */
static void begin(void)
{
	fresh_store();
	given_for("INSERT INTO operator (id, kind, user_id, created_at)"
	          " VALUES ('local:ann', 'local', 'ann', '%1$s')",
	          clock_now(), 0);
}

static struct instant ago(int64_t ms)
{
	return clock_instant(clock_now_ms() - ms);
}

START_TEST(sessions_that_ended_long_ago_go_with_all_their_rows)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_whole_session(2, ago(60 * DAY));
	given_whole_session(3, ago(60 * DAY));
	terminate(1, ago(30 * DAY + HOUR)); /* long ago */
	terminate(2, ago(29 * DAY)); /* 3 goes on */
	expect(COUNTS, "3|3|3|3|3|3|3|3|3|3\n");
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT count(*) FROM content", "2\n");
	/* the answers were given 60 days ago */
	expect_soon("SELECT count(*) FROM answer", "0\n");
	expect(COUNTS, "2|2|2|2|0|2|2|2|2|2\n");
	expect("SELECT seq FROM session", "2\n3\n");
	expect("SELECT request_seq FROM request_file", "2\n3\n");
	expect("SELECT count(*) FROM event WHERE session_seq = 1", "4\n");
	expect("SELECT count(*) FROM pragma_foreign_key_check", "0\n");

	advance(2 * DAY);
	expect_soon("SELECT seq FROM session", "3\n");
}
END_TEST

START_TEST(the_silences_of_a_session_and_their_nudges_go_with_it)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_for("INSERT INTO stall (id, session_seq, last_activity_at, idle_seconds, created_at,"
	          " updated_at) VALUES ('a%2$d', %2$d, '%1$s', 300, '%1$s', '%1$s');"
	          "INSERT INTO steering (kind, session_id, created_at) VALUES ('nudge', 's%2$d',"
	          " '%1$s')",
	          ago(60 * DAY), 1);
	expect("SELECT nudge_count FROM stall JOIN steering ON stall_seq = stall.seq", "1\n");
	terminate(1, ago(31 * DAY));
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT count(*) FROM session", "0\n");
	expect("SELECT (SELECT count(*) FROM stall), (SELECT count(*) FROM steering)", "0|0\n");
	expect("SELECT count(*) FROM pragma_foreign_key_check", "0\n");
}
END_TEST

START_TEST(what_was_said_in_slack_goes_with_its_session_and_intents_go_when_they_are_old)
{
	begin();
	given("UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('slack.channel_id', 'C1', 'file', '2026-01-01T00:00:00.000Z')");
	given_whole_session(1, ago(60 * DAY));
	given_for("INSERT INTO command (verb, argument, session_id, created_at) SELECT 'mode', "
	          "'hybrid', id, '%1$s' FROM session WHERE seq = %2$d",
	          ago(60 * DAY), 1);
	given_for("INSERT INTO slack_notice (kind, text, at) VALUES ('server', 'old', '%1$s')",
	          ago(60 * DAY), 0);
	given_for("INSERT INTO slack_notice (kind, text, at) VALUES ('server', 'new', '%1$s')",
	          ago(DAY), 0);
	given_for("UPDATE slack_outbox SET state = 'dead', error = 'x', settled_at = '%1$s'"
	          " WHERE state = 'queued' AND message_seq IN (SELECT seq FROM slack_message"
	          " WHERE text = 'old')",
	          ago(60 * DAY), 0);
	terminate(1, ago(30 * DAY + HOUR));
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT text FROM slack_message", "new\n");
	expect("SELECT count(*) FROM session", "0\n");
	expect("SELECT count(*) FROM slack_outbox", "1\n");
	expect("SELECT count(*), sum(head IN (SELECT seq FROM slack_outbox)) FROM slack_lane",
	       "1|1\n");
	expect("SELECT count(*) FROM pragma_foreign_key_check", "0\n");
}
END_TEST

START_TEST(what_slack_sent_goes_after_a_week_and_steering_with_its_session)
{
	begin();
	given_for("INSERT INTO slack_envelope (envelope_id, created_at) VALUES ('old', '%1$s')",
	          ago(7 * DAY + HOUR), 0);
	given_for("INSERT INTO slack_envelope (envelope_id, created_at) VALUES ('new', '%1$s')",
	          ago(6 * DAY), 0);
	given_whole_session(1, ago(60 * DAY));
	given_whole_session(2, ago(60 * DAY));
	given_for("INSERT INTO steering (session_id, text, operator_id, created_at)"
	          " VALUES ('s1', 'x', 'local:ann', '%1$s'), ('s2', 'x', 'local:ann', '%1$s');"
	          "UPDATE steering SET call_seq = 1, delivered_at = '%1$s' WHERE seq = 1;"
	          "INSERT INTO pause (session_seq, paused_at) VALUES (1, '%1$s'), (2, '%1$s');"
	          "INSERT INTO auto_approval (session_seq, subject, rule, hash, due_at, created_at)"
	          " VALUES (1, 'x', 'y', 'z', '%1$s', '%1$s'), (2, 'x', 'y', 'z', '%1$s', '%1$s')",
	          ago(60 * DAY), 0);
	terminate(1, ago(30 * DAY + HOUR));
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT envelope_id FROM slack_envelope", "new\n");
	expect("SELECT session_seq FROM steering", "2\n");
	expect("SELECT session_seq FROM pause", "2\n");
	expect("SELECT session_seq FROM auto_approval", "2\n");
	expect("SELECT session_seq FROM auto_notice", "2\n");
	expect("SELECT seq FROM session", "2\n");
	expect("SELECT count(*) FROM pragma_foreign_key_check", "0\n");
}
END_TEST

START_TEST(what_was_in_a_file_before_an_old_write_is_forgotten_though_its_session_lives)
{
	begin();
	given_whole_session(1, ago(31 * DAY));
	given_whole_session(2, ago(29 * DAY));
	given("INSERT INTO content (seq, hash, size, bytes) VALUES"
	      " (3, printf('%064d', 3), 1, x'61'), (4, printf('%064d', 4), 1, x'62');"
	      "DROP TRIGGER file_change_is_kept;"
	      "UPDATE file_change SET before_seq = 2 + (SELECT request_seq FROM apply"
	      " WHERE seq = apply_seq)");
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT seq FROM content", "1\n2\n4\n");
	expect("SELECT seq, before_seq FROM file_change", "1|\n2|4\n");
	expect("SELECT count(*) FROM session", "2\n");
}
END_TEST

START_TEST(nothing_goes_in_the_first_hour_and_retention_days_says_when)
{
	begin();
	given_whole_session(1, ago(3 * DAY));
	given_whole_session(2, ago(3 * DAY));
	terminate(1, ago(2 * DAY));
	terminate(2, ago(DAY / 2));
	given_for("INSERT INTO setting (name, value, source, updated_at)"
	          " VALUES ('retention_days', '1', 'file', '%1$s')",
	          clock_now(), 0);
	(void)start_worker("retention");

	advance(HOUR - 10 * SECOND);
	expect("SELECT seq FROM session", "1\n2\n");
	advance(20 * SECOND);
	expect_soon("SELECT seq FROM session", "2\n");
}
END_TEST

START_TEST(a_number_is_never_given_twice)
{
	begin();
	given_whole_session(7, ago(60 * DAY));
	terminate(7, ago(40 * DAY));
	(void)start_worker("retention");
	advance(HOUR + SECOND);
	expect_soon("SELECT count(*) FROM session", "0\n");

	given_for(
	    "INSERT INTO session (id, host, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES ('new', 'h', 'local:ann', '/w', 'active', 'local',"
	    " '%1$s', '%1$s')",
	    clock_now(), 0);

	expect("SELECT seq FROM session", "8\n"); /* the timeline still tells of 7 */
}
END_TEST

START_TEST(a_session_stays_while_another_one_holds_on_to_a_row_of_it)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_whole_session(2, ago(60 * DAY));
	given_whole_session(3, ago(60 * DAY));
	/* 1 adopted what 2 asked: a call of 2 waits for a request that is 1's now */
	given(
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest, state,"
	    " request_seq, created_at) SELECT connection_seq, session_seq, '2', era, tool, digest,"
	    " 'waiting', 1, created_at FROM tool_call WHERE seq = 2");
	terminate(1, ago(40 * DAY));
	terminate(3, ago(40 * DAY));
	(void)start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon("SELECT seq FROM session", "1\n2\n");
	expect("SELECT count(*) FROM request WHERE session_seq = 1", "1\n");
	expect("SELECT count(*) FROM tool_call WHERE session_seq = 1", "1\n");

	terminate(2, ago(35 * DAY)); /* the other one may go, too: both go */
	advance(2 * HOUR);
	expect_soon("SELECT count(*) FROM session", "0\n");
}
END_TEST

/* A call of session a waits for what session b has asked. */
static void given_hold(int a, int b)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, "
	               "digest, state, request_seq, created_at) SELECT connection_seq, session_seq,"
	               " '%d', era, tool, digest, 'waiting', %d, created_at FROM tool_call "
	               "WHERE seq = %d",
	               100 + b, b, a);
	given(sql);
}

START_TEST(sessions_that_hold_on_to_each_other_go_together)
{
	begin();
	for (int n = 1; n <= 5; n++)
		given_whole_session(n, ago(60 * DAY));
	given_hold(1, 2);
	given_hold(2, 3);
	given_hold(3, 1); /* a ring */
	given_hold(4, 5);
	given_hold(5, 4); /* another one, of which one goes on */
	given_for("INSERT INTO request (seq, id, session_seq, kind, state, digest, title,"
	          " previous_seq, prompt_type, created_at, updated_at) VALUES (11, 'p11', 1,"
	          " 'prompt', 'pending', printf('%%064d', 11), 't', 2, 'continuation', '%1$s',"
	          " '%1$s'), (12, 'p12', 2, 'prompt', 'pending', printf('%%064d', 12), 't', 11,"
	          " 'continuation', '%1$s', '%1$s')",
	          ago(60 * DAY), 0);
	for (int n = 1; n <= 4; n++)
		terminate(n, ago((34 + n) * DAY));
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT seq FROM session", "4\n5\n");
	expect_soon("SELECT seq FROM content", "4\n5\n");
	expect("SELECT count(*) FROM tool_call", "4\n");
	expect("SELECT seq FROM request", "4\n5\n");
	expect("SELECT count(*) FROM pragma_foreign_key_check", "0\n");
}
END_TEST

/* Old and new rows of the tables that belong to no session. */
static void given_loose_rows(void)
{
	given_for(
	    "INSERT INTO time_gap (host, kind, started_at, ended_at) VALUES"
	    " ('h', 'suspend', '%1$s', '%1$s');"
	    "INSERT INTO worker (id, name, host, pid, version, state, started_at, heartbeat_at)"
	    " VALUES ('w1', 'x', 'h', 1, '1', 'starting', '2020-01-01T00:00:00.000Z', '%1$s'),"
	    " ('w2', 'x', 'h', 2, '1', 'starting', '2020-01-01T00:00:00.000Z', '%1$s'),"
	    " ('listens', 'y', 'h', 3, '1', 'starting', '2020-01-01T00:00:00.000Z', '%1$s'),"
	    " ('w4', 'y', 'h', 4, '1', 'starting', '2020-01-01T00:00:00.000Z', '%1$s'),"
	    " ('w5', 'y', 'h', 5, '1', 'starting', '%1$s', '%1$s'),"
	    " ('w6', 'z', 'h', 6, '1', 'starting', '2020-01-01T00:00:00.000Z', '%1$s'),"
	    " ('w7', 'z', 'h', 7, '1', 'starting', '2020-01-01T00:00:00.000Z', '%1$s');"
	    "UPDATE worker SET state = CASE id WHEN 'w2' THEN 'stopped' WHEN 'w6' THEN 'ready'"
	    " ELSE 'died' END",
	    ago(31 * DAY), 0);
	given_for("INSERT INTO command (verb, argument, session_id, created_at) VALUES"
	          " ('mode', 'local', NULL, '%1$s'), ('mode', 'local', 's1', '%1$s'),"
	          " ('mode', 'local', 'gone', '%1$s'), ('odd', NULL, NULL, 7);"
	          "INSERT INTO command (verb, created_at) VALUES ('odd', '%1$s');"
	          "INSERT INTO policy (host, workspace_root, state, hash, created_at) VALUES"
	          " ('h', '/a', 'loaded', '1', '%1$s'), ('h', '/a', 'gone', '', '%1$s'),"
	          " ('h', '/b', 'loaded', '3', '%1$s'), ('i', '/b', 'loaded', '4', '%1$s')",
	          ago(31 * DAY), 0);
	given_for(
	    "INSERT INTO time_gap (host, kind, started_at, ended_at) VALUES"
	    " ('h', 'suspend', '%1$s', '%1$s');"
	    "INSERT INTO command (verb, argument, created_at) VALUES ('mode', 'local', '%1$s'),"
	    " ('odd', NULL, 'soon');"
	    "INSERT INTO policy (host, workspace_root, state, hash, created_at) VALUES"
	    " ('h', '/b', 'loaded', '5', '%1$s')",
	    ago(29 * DAY), 0);
	given("UPDATE tool_call SET listener = 'listens'");
}

static const char LOOSE_ROWS[] =
    "SELECT (SELECT group_concat(seq) FROM time_gap),"
    " (SELECT group_concat(id) FROM worker WHERE name IN ('x', 'y', 'z')),"
    " (SELECT group_concat(seq) FROM command), (SELECT group_concat(seq) FROM (SELECT seq FROM "
    "policy ORDER BY seq))";

/* Orders for a session that is there stay, as do: the last incarnation that served, one that is
 * named or said to live, a workspace's newest policy. */
static const char KEPT_ROWS[] = "2|w2,listens,w4,w5,w6,w7|2,6,7|2,4,5\n";

START_TEST(old_rows_that_belong_to_nobody_go)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_loose_rows();
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon(LOOSE_ROWS, KEPT_ROWS);
	advance(HOUR + SECOND);
	expect_soon("SELECT count(*) > 0 FROM upkeep", "1\n");
	expect(LOOSE_ROWS, KEPT_ROWS);
}
END_TEST

/* `agent-intercom --db <the harness's> retention --once`; what it said. */
static char *run_once(const char *arguments, int wanted)
{
	char command[1000], said[2000];
	size_t n;
	FILE *f;
	int status;

	(void)snprintf(command, sizeof(command), "%s/agent-intercom --db %s retention %s 2>&1",
	               getenv("INTERCOM_BUILD"), test_db(), arguments);
	f = popen(command, "re"); /* NOLINT(cert-env33-c) */
	ck_assert_ptr_nonnull(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	status = pclose(f);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == wanted, "%s", said);
	return strdup(said);
}

START_TEST(answers_to_nothing_and_words_to_nobody_go)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_for("INSERT INTO decision (request_id, verdict, created_at) VALUES"
	          " ('none', 'approve', '%1$s'), ('none', 'approve', 7);"
	          "INSERT INTO steering (session_id, text, created_at) VALUES"
	          " ('none', 'x', '%1$s'), ('s1', 'x', '%1$s');"
	          "INSERT INTO steering (kind, text, created_at) VALUES ('task', 'x', '%1$s');"
	          "INSERT INTO decision (request_id, verdict, created_at) VALUES"
	          " ('none', 'approve', '%1$s')",
	          ago(31 * DAY), 0);
	given_for(
	    "INSERT INTO decision (request_id, verdict, created_at) VALUES"
	    " ('none', 'approve', '%1$s');"
	    "INSERT INTO steering (session_id, text, created_at) VALUES ('none', 'x', '%1$s')",
	    ago(29 * DAY), 0);
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT outcome FROM decision", "applied\nnot_found\n");
	expect_soon("SELECT seq FROM steering", "2\n3\n4\n");
}
END_TEST

/* Tables of which nothing is ever deleted, because they do not grow with use, or whose rows go by a
 * rule with those that they belong to. */
static const char *const NOT_PURGED[] = {
	"operator",     "rule_set",      "setting",     "slack_gate",
	"command_verb", "slack_lane",    "audit_cut",   "slack_part",
	"slack_kind",   "slack_history", "source",      "request_kind",
	"policy_trust", "workspace",     "slack_check", "slack_checked",
};

START_TEST(no_table_is_forgotten)
{
	OWNED(char_ptr) char *tables = NULL;
	char *rest;

	begin();
	tables = rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
	              "'sqlite_%' AND name NOT LIKE '%_move' AND name <> 'request_verdict'");
	for (char *t = strtok_r(tables, "\n", &rest); t; t = strtok_r(NULL, "\n", &rest)) {
		bool found = false;
		char text[100];

		(void)snprintf(text, sizeof(text), "DELETE FROM %s", t);
		for (size_t i = 0; i < COUNT(NOT_PURGED); i++)
			found |= strcmp(t, NOT_PURGED[i]) == 0;
		for (int i = 0; i < SQL_COUNT; i++) {
			const char *at = strstr(sql_statements[i].text, text);

			found |= at && strchr(" \n;", at[strlen(text)]);
		}
		ck_assert_msg(found, "who deletes old rows of %s?", t);
	}
}
END_TEST

START_TEST(a_purge_can_be_had_now_and_says_what_it_did)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *wrong = NULL;

	begin();
	for (int n = 1; n <= 3; n++)
		given_whole_session(n, ago(60 * DAY));
	given_loose_rows();
	terminate(2, ago(40 * DAY));
	given_for("UPDATE session SET status = 'interrupted', updated_at = '%1$s' WHERE seq = 3",
	          ago(40 * DAY), 0);
	first = run_once("--once", 0);
	ck_assert_msg(strstr(first, "terminated 1 session(s) that were interrupted; deleted "
	                            "1 session(s), 9 row(s) of sessions, 2 of answer, 1 of worker, "
	                            "1 of time_gap, 4 of command, 2 of policy, 1 of content"),
	              "%s", first);
	expect("SELECT seq FROM session", "1\n3\n");
	expect(LOOSE_ROWS, KEPT_ROWS);

	(void)start_worker("retention"); /* beside it */
	second = run_once("--once", 0);
	ck_assert_msg(strstr(second, "nothing to delete"), "%s", second);
	wrong = run_once("", 64);
	ck_assert_msg(strstr(wrong, "write retention --once"), "%s", wrong);
}
END_TEST

/* ---- the timeline and its export ---- */

static struct str said;

static int intercom(const char *arguments)
{
	return shell(&said, "%s/agent-intercom --db %s %s 2>&1 </dev/null",
	             getenv("INTERCOM_BUILD"), test_db(), arguments);
}

static void succeeds(int status)
{
	ck_assert_msg(status == 0, "exit %d: %s", status, str_text(&said));
}

static void given_events(int count, const char *kind, struct instant at)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
	               "%d) INSERT INTO event (at, kind) SELECT '%s', '%s' FROM n",
	               count, at.text, kind);
	given(sql);
}

static void seal(void)
{
	succeeds(intercom("audit export >/dev/null"));
}

/* The setting, and the folder. */
static const char *given_export_dir(void)
{
	static char dir[300];
	char sql[500];

	(void)snprintf(dir, sizeof(dir), "%s", below(test_run(), "archive"));
	(void)mkdir(dir, 0700);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES "
	               "('retention_export_dir', '%s', 'file', '%s')",
	               dir, clock_now().text);
	given(sql);
	return dir;
}

START_TEST(of_the_timeline_what_is_old_and_sealed_is_cut_off_and_the_rest_verifies)
{
	begin();
	given_events(1200, "old", ago(400 * DAY));
	given_events(3, "new", ago(360 * DAY));
	given_events(2, "old", ago(400 * DAY)); /* behind what stays */
	(void)start_worker("retention");
	advance(HOUR + SECOND);
	expect_soon("SELECT count(*) > 0 FROM upkeep WHERE kind = 'check'", "1\n");
	expect("SELECT kind, count(*) FROM event WHERE kind IN ('old', 'new') GROUP BY kind",
	       "new|3\nold|1202\n"); /* nothing of it is sealed */
	seal();

	advance(HOUR + SECOND);

	expect_soon("SELECT kind, count(*) FROM event WHERE kind IN ('old', 'new') GROUP BY kind",
	            "new|3\nold|2\n");
	expect("SELECT min(seq) FROM event; ", "1201\n");
	expect("SELECT min(seq) FROM seal", "1200\n");
	expect("SELECT upto, file FROM audit_cut", "1200|\n");
	expect("SELECT json_extract(detail, '$.upto') FROM event WHERE kind = 'timeline.cut'",
	       "1200\n");
	succeeds(intercom("audit verify"));
	says(str_text(&said), "1201 to");
	seal();
	succeeds(intercom("audit verify"));

	advance(10 * DAY);
	expect_soon("SELECT kind FROM event WHERE kind IN ('old', 'new')", "");
	seal();
	succeeds(intercom("audit verify"));
	expect("SELECT count(*) FROM audit_cut", "1\n");

	given("DROP TRIGGER event_is_fixed; UPDATE event SET detail = NULL WHERE kind = "
	      "'timeline.cut'");
	ck_assert_int_eq(intercom("audit verify"), 1);
}
END_TEST

START_TEST(a_cut_that_was_killed_before_its_last_event_is_finished)
{
	begin();
	given_events(3, "old", ago(400 * DAY));
	given_events(3, "new", ago(360 * DAY));
	seal();
	given("INSERT INTO audit_cut (upto, hash, at)"
	      " SELECT s.seq, s.hash, strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM seal AS s"
	      " WHERE s.seq = (SELECT max(seq) FROM event WHERE kind = 'old');"
	      "DELETE FROM event WHERE seq < (SELECT upto FROM audit_cut);"
	      "DELETE FROM seal WHERE seq < (SELECT upto FROM audit_cut) - 1");

	free(run_once("--once", 0));

	expect("SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind",
	       "new|3\ntimeline.cut|1\n");
	succeeds(intercom("audit verify"));
}
END_TEST

START_TEST(the_timeline_is_exported_before_it_is_cut)
{
	const char *dir;

	begin();
	dir = given_export_dir();
	given_events(700, "first", ago(400 * DAY));
	given_events(5, "second", ago(360 * DAY));
	seal();
	free(run_once("--once", 0));
	expect("SELECT count(*) FROM event WHERE kind = 'first'", "0\n");
	seal();
	advance(10 * DAY);
	free(run_once("--once", 0));
	expect("SELECT count(*) FROM event WHERE kind = 'second'", "0\n");

	ck_assert_int_eq(shell(&said, "stat -c '%%a' %s/audit-*.jsonl; ls -A %s | wc -l", dir, dir),
	                 0);
	ck_assert_str_eq(str_text(&said), "600\n600\n2\n");
	succeeds(shell(&said,
	               "set -e; for f in %s/audit-*.jsonl; do python3 %s/tests/audit/verify.py $f; "
	               "%s/agent-intercom audit verify $f; done; cd %s; grep -h -o '\"last\".*' "
	               "$(ls | head -1) | grep -o '[0-9a-f]\\{64\\}' >../last; grep -h -o "
	               "'\"prev\":\"[^\"]*' $(ls | tail -1) | head -1 | grep -f ../last; grep -c "
	               "first *",
	               dir, getenv("INTERCOM_SOURCE"), getenv("INTERCOM_BUILD"), dir));
	says(str_text(&said), ":700\n");
	expect("SELECT file LIKE '%/archive/audit-%' FROM audit_cut", "1\n");
	succeeds(intercom("audit verify"));
}
END_TEST

/* A write 31 days ago that replaced a file whose bytes were "image n". */
static void given_image(int n)
{
	OWNED(str) struct str text = STR_INIT;
	struct sha256 hash;
	char sql[600];

	str_addf(&text, "image %d", n);
	hash = sha256_of(text.bytes, text.length);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO content (seq, hash, size, bytes) VALUES (%d, '%s', %zu, "
	               "CAST('%s' AS BLOB));"
	               "UPDATE file_change SET before_seq = %d WHERE seq = %d",
	               100 + n, hash.text, text.length, text.bytes, 100 + n, n);
	given(sql);
}

/* And events that are older than all that. */
static void given_images(int count, int events)
{
	begin();
	given_events(events, "old", ago(400 * DAY));
	given("DROP TRIGGER file_change_is_kept");
	for (int n = 1; n <= count; n++) {
		given_whole_session(n, ago(31 * DAY));
		given_image(n);
	}
}

START_TEST(what_undo_needs_is_exported_before_it_is_forgotten)
{
	const char *dir;

	given_images(45, 1);
	dir = given_export_dir();
	terminate(45, ago(30 * DAY + HOUR));
	free(run_once("--once", 0));

	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "0\n");
	expect("SELECT count(*) FROM session", "44\n");
	succeeds(shell(
	    &said,
	    "cd %s && set -e; cat undo-*.jsonl | wc -l; grep -h -o '\"hash\":\"[^\"]*' "
	    "undo-*.jsonl | cut -d'\"' -f4 | sed 's/.*/& *undo-&/' | sha256sum -c "
	    "--quiet; cat undo-*.jsonl | grep -c '\"request_id\":\"q45\"'; stat -c %%a * | "
	    "sort -u; cat undo-???????????????????????????????????????????????????????????????? "
	    "| grep -c -o 'image [0-9]*' || :",
	    dir));
	says(str_text(&said), "45\n1\n600\n");
}
END_TEST

START_TEST(what_cannot_be_exported_stays_and_that_is_told)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *then = NULL;
	const char *dir;

	given_images(2, 3);
	dir = given_export_dir();
	seal();
	terminate(2, ago(30 * DAY + HOUR));
	ck_assert_int_eq(rmdir(dir), 0);

	told = run_once("--once", 0);
	says(told, "what undo needs is kept, because it cannot be exported");
	says(told, "the timeline is not cut, because it cannot be exported");
	expect("SELECT count(*) FROM session", "2\n");
	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "2\n");
	expect("SELECT count(*) FROM event WHERE kind = 'old'", "3\n");

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	then = run_once("--once", 0);
	says(then, "deleted 1 session(s)");
	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "0\n");
	given("UPDATE setting SET value = '' WHERE name = 'retention_export_dir'");
}
END_TEST

/* All that was there is in the rows or, whole and under its name, in the folder. */
static void nothing_is_lost(const char *dir)
{
	OWNED(char_ptr) char *kept = rows("SELECT count(*) FROM event WHERE kind = 'old'");
	OWNED(char_ptr)
	char *images = rows("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL");

	if (atoi(kept) < 600)
		succeeds(shell(&said,
		               "cd %s && set -e; python3 %s/tests/audit/verify.py audit-*.jsonl; "
		               "test $(grep -c '\"old\"' audit-*.jsonl) = 600",
		               dir, getenv("INTERCOM_SOURCE")));
	if (atoi(images) < 3)
		succeeds(
		    shell(&said,
		          "cd %s && set -e; test $(cat undo-*.jsonl | wc -l) -ge 3; grep -h -o "
		          "'\"hash\":\"[^\"]*' undo-*.jsonl | cut -d'\"' -f4 | sed 's/.*/& "
		          "*undo-&/' | sha256sum -c --quiet",
		          dir));
}

START_TEST(a_purge_that_is_killed_has_deleted_nothing_that_was_not_exported)
{
	static const struct {
		const char *call;
		int every;
	} STEPS[] = { { "openat", 7 },          { "pwrite64", 41 }, { "write", 5 },
		      { "sync_file_range", 1 }, { "fsync", 2 },     { "fdatasync", 5 },
		      { "renameat2", 1 },       { "unlinkat", 1 } };

	for (size_t i = 0; i < COUNT(STEPS); i++) {
		const char *dir;
		int status = 137;

		given_images(3, 600);
		dir = given_export_dir();
		seal();
		for (int n = 1; status == 137; n += STEPS[i].every) {
			status = shell(&said,
			               "ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null -e "
			               "trace=%s -e inject=%s:signal=SIGKILL:when=%d "
			               "%s/agent-intercom --db %s retention --once 2>&1 </dev/null",
			               STEPS[i].call, STEPS[i].call, n, getenv("INTERCOM_BUILD"),
			               test_db());
			nothing_is_lost(dir);
			ck_assert_int_lt(n, 2000);
		}
		succeeds(status);
		expect("SELECT count(*) FROM event WHERE kind = 'old'", "0\n");
		expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "0\n");
		succeeds(intercom("audit verify"));
	}
}
END_TEST

/* ---- upkeep ---- */

START_TEST(the_database_is_looked_through_weekly_and_optimized_daily)
{
	static const char RUNS[] = "SELECT kind, count(*) FROM upkeep GROUP BY kind";
	pid_t worker;

	begin();
	given_whole_session(1, ago(DAY));
	worker = start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon(RUNS, "check|1\noptimize|1\n");
	expect("SELECT outcome, why FROM upkeep WHERE kind = 'check'", "ok|\n");
	expect("SELECT actor FROM event WHERE kind = 'database.ok'", "retention\n");
	expect("SELECT state, detail FROM health WHERE what = 'database'", "ok|looked through\n");

	advance(DAY);
	expect_soon(RUNS, "check|1\noptimize|2\n");
	advance(6 * DAY);
	expect_soon(RUNS, "check|2\noptimize|3\n");
	stop_worker(
	    worker); /* it may still be looking what is due: then that comes before the purge */
	advance(40 * DAY); /* the newest of each stay */
	(void)start_worker("retention");
	advance(HOUR + SECOND);
	expect_soon(RUNS, "check|2\noptimize|2\n");
}
END_TEST

/* The first page of a table or an index becomes noise. The commit behind it makes every process
 * forget the pages that it has read. */
static void damage(const char *name)
{
	char command[1200], query[200];
	OWNED(char_ptr) char *page = NULL;
	OWNED(char_ptr) char *version = rows("PRAGMA user_version");

	(void)snprintf(query, sizeof(query),
	               "SELECT rootpage - 1 FROM sqlite_schema WHERE name = '%s'", name);
	page = rows(query);
	given("PRAGMA wal_checkpoint(TRUNCATE)");
	(void)snprintf(command, sizeof(command),
	               "dd if=/dev/urandom of=%s bs=4096 seek=%d count=1 conv=notrunc 2>/dev/null",
	               test_db(), atoi(page));
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
	(void)snprintf(query, sizeof(query), "PRAGMA user_version = %d", atoi(version));
	given(query);
}

START_TEST(damage_is_found_and_told)
{
	begin();
	given_whole_session(1, ago(DAY));
	damage("checkpoint_session");
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT outcome, why LIKE 'checkpoint: %' FROM upkeep WHERE kind = 'check'",
	            "damaged|1\n");
	expect("SELECT state, detail LIKE 'checkpoint: %' FROM health WHERE what = 'database'",
	       "damaged|1\n");
	expect("SELECT count(*) FROM event WHERE kind = 'database.damaged'", "1\n");
	expect("SELECT count(*) FROM upkeep WHERE kind = 'optimize'", "0\n");
}
END_TEST

START_TEST(damage_that_optimize_meets_is_found_and_told_and_retention_goes_on)
{
	begin();
	given_whole_session(1, ago(DAY));
	given("ANALYZE");
	(void)start_worker("retention");
	advance(HOUR + SECOND);
	expect_soon("SELECT kind, outcome FROM upkeep ORDER BY seq", "check|ok\noptimize|ok\n");

	damage("sqlite_stat1");
	advance(DAY);
	expect_soon("SELECT kind, outcome, why LIKE 'optimize: %malformed%' FROM upkeep "
	            "ORDER BY seq LIMIT 1 OFFSET 2",
	            "check|damaged|1\n");
	expect("SELECT count(*) FROM event WHERE kind = 'database.damaged'", "1\n");

	/* nothing is optimized until a check finds no damage; the next check is due in a week */
	advance(2 * DAY);
	advance(5 * DAY);
	expect_soon("SELECT kind, outcome FROM upkeep ORDER BY seq LIMIT -1 OFFSET 3",
	            "check|damaged\n");
}
END_TEST

/* How many steps of a statement's plan read a whole table or index. */
static int count_scans(int statement, char **ret_plan)
{
	OWNED(str) struct str sql = STR_INIT;
	int scans = 0;

	*ret_plan = NULL;
	if (strncmp(sql_statements[statement].text, "PRAGMA", 6) == 0)
		return 0;
	str_addf(&sql, "EXPLAIN QUERY PLAN %s", sql_statements[statement].text);
	*ret_plan = rows(sql.bytes);
	for (const char *at = *ret_plan; (at = strstr(at, "|SCAN ")) != NULL; at++)
		scans++;
	return scans;
}

static int all_scans(int counts[SQL_COUNT])
{
	int all = 0;

	for (int i = 0; i < SQL_COUNT; i++) {
		OWNED(char_ptr) char *plan = NULL;

		counts[i] = count_scans(i, &plan);
		all += counts[i];
	}
	return all;
}

static void no_statement_scans_more(const int before[SQL_COUNT])
{
	for (int i = 0; i < SQL_COUNT; i++) {
		OWNED(char_ptr) char *plan = NULL;
		int scans = count_scans(i, &plan);

		ck_assert_msg(scans <= before[i], "%s\nscans:\n%s", sql_statements[i].text, plan);
	}
}

/* As the worker does it; the harness's connection takes the statistics over. */
static void optimize(void)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = ERR_INIT;

	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);
	ck_assert_msg(!store_begin(&st, &e) && !store_optimize(&st, &e) && !store_commit(&st, &e),
	              "%s", e.text);
	given("ANALYZE sqlite_schema");
}

START_TEST(statistics_make_no_statement_scan)
{
	static int before[SQL_COUNT], after[SQL_COUNT];
	int all;

	begin();
	all = all_scans(before);
	ck_assert_int_gt(all, 0);
	given_whole_session(1, ago(DAY)); /* as small as it ever is */
	given("ANALYZE");
	ck_assert_int_gt(all_scans(after), all); /* that is why */
	optimize();
	no_statement_scans_more(before);

	for (int n = 2; n <= 60; n++)
		given_whole_session(n, ago(DAY));
	given_for("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)"
	          " INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest,"
	          " state, created_at, finished_at) SELECT 1 + i %% 60, 1 + i %% 60, i, 'modern',"
	          " 'broadcast', '', 'done', '%1$s', '%1$s' FROM n",
	          ago(DAY), 0);
	given("ANALYZE");
	optimize();
	expect("SELECT DISTINCT tbl FROM sqlite_stat1 ORDER BY 1", "event\ntool_call\n");
	no_statement_scans_more(before);
}
END_TEST

START_TEST(many_rows_go_in_batches)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_for(
	    "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
	    " INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, arguments,"
	    " digest, state, created_at, finished_at) SELECT 1, 1, i, 'modern', 'ping', '{}', '',"
	    " 'done', '%1$s', '%1$s' FROM n",
	    ago(60 * DAY), 0);
	given_for("WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"
	          " INSERT INTO request (id, session_seq, kind, state, digest, title, previous_seq,"
	          " prompt_type, created_at, updated_at) SELECT 'q' || i, 1, 'prompt', 'pending',"
	          " printf('%%064d', i), 't', i - 1, 'continuation', '%1$s', '%1$s' FROM n",
	          ago(60 * DAY), 0);
	terminate(1, ago(40 * DAY));
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon(COUNTS, "0|0|0|0|0|0|0|0|0|0\n");
}
END_TEST

START_TEST(a_session_interrupted_for_long_is_terminated_and_goes_later)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_whole_session(2, ago(60 * DAY));
	given_for("UPDATE session SET status = 'interrupted', updated_at = '%1$s' WHERE seq = 1",
	          ago(31 * DAY), 0);
	given_for("UPDATE session SET status = 'interrupted', updated_at = '%1$s' WHERE seq = 2",
	          ago(20 * DAY), 0);
	(void)start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon("SELECT seq, status, terminated_at IS NOT NULL FROM session",
	            "1|terminated|1\n2|interrupted|0\n");

	advance(31 * DAY);
	expect_soon("SELECT seq, status FROM session", "2|terminated\n");
}
END_TEST

/* A session whose agent was heard last at an instant, over HTTP: it may have gone, and says so to
 * nobody. */
static void given_silent_session(int n, struct instant heard)
{
	given_for(
	    "INSERT INTO session (seq, id, host, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at, last_activity_at) VALUES (%2$d, 's%2$d', 'h',"
	    " 'local:ann', '/w', 'active', 'local', '%1$s', '%1$s', '%1$s');"
	    "INSERT INTO connection (seq, key, host, transport, protocol_version, session_seq,"
	    " identity, created_at) VALUES (%2$d, 'k%2$d', 'h', 'http', '2025-06-18', %2$d,"
	    " '{}', '%1$s')",
	    heard, n);
}

START_TEST(a_session_silent_for_long_is_terminated_unless_its_process_runs_or_a_call_waits)
{
	begin();
	given_silent_session(1, ago(31 * DAY));
	given_silent_session(2, ago(31 * DAY));
	given_silent_session(3, ago(20 * DAY));
	given_silent_session(4, ago(31 * DAY));
	given("INSERT INTO connection (seq, key, host, transport, protocol_version, session_seq,"
	      " identity, created_at) SELECT 5, 'k5', 'h', 'stdio', '2025-06-18', 2, '{}',"
	      " created_at FROM session WHERE seq = 2");
	given("INSERT INTO request (seq, id, session_seq, kind, state, digest, title, created_at,"
	      " updated_at) SELECT 4, 'q4', 4, 'standby', 'pending', printf('%064d', 4), 't',"
	      " created_at, created_at FROM session WHERE seq = 4;"
	      "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, digest,"
	      " state, request_seq, created_at) SELECT 4, 4, 4, '1', 'legacy', 'standby', '',"
	      " 'waiting', 4, created_at FROM session WHERE seq = 4");
	(void)start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon("SELECT seq, status FROM session",
	            "1|terminated\n2|active\n3|active\n4|active\n");

	advance(31 * DAY);
	expect_soon("SELECT seq, status FROM session", "2|active\n3|terminated\n4|active\n");
}
END_TEST

START_TEST(what_agents_have_read_in_slack_goes_with_the_next_purge)
{
	begin();
	given_for("INSERT INTO slack_read (channel_id, most, asked_at, expires_at)"
	          " VALUES ('C1', 20, '%1$s', '%1$s')",
	          ago(HOUR), 0);
	given_for("INSERT INTO slack_history (read_seq, messages, answered_at)"
	          " VALUES (1, '{}', '%1$s')",
	          ago(HOUR), 0);
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT count(*) FROM slack_read", "0\n");
	expect("SELECT count(*) FROM slack_history", "0\n");
}
END_TEST

START_TEST(connections_that_never_called_a_tool_go)
{
	begin();
	for (int i = 1; i <= 3; i++)
		given_for(
		    "INSERT INTO connection (seq, key, host, transport, protocol_version, identity,"
		    " created_at) VALUES (%2$d, 'k%2$d', 'h', 'http', '2025-06-18', '{}', '%1$s')",
		    ago(i == 1 ? DAY : 40 * DAY), i);
	given("UPDATE connection SET state = 'closed' WHERE seq < 3");
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT seq FROM connection", "1\n3\n");
}
END_TEST

/* ---- the log ---- */

static int64_t log_file_bytes(void)
{
	char path[4200];
	struct stat s;

	(void)snprintf(path, sizeof(path), "%.4000s-wal", test_db());
	return stat(path, &s) == 0 ? s.st_size : 0;
}

static void put(struct store *st, int n, size_t size)
{
	static char bytes[200000];
	struct err e = ERR_INIT;
	char hash[65];
	stmt *s;

	(void)snprintf(hash, sizeof(hash), "%064d", n);
	ck_assert_msg(!store_begin(st, &e), "%s", e.text);
	s = store_stmt(st, SQL_CONTENT_PUT);
	bind_text(s, ":hash", hash);
	bind_int(s, ":size", (int64_t)size);
	bind_bytes(s, ":bytes", bytes, size);
	ck_assert_msg(stmt_run(s, &e) >= 0, "%s", e.text);
	ck_assert_msg(!store_commit(st, &e), "%s", e.text);
}

/* 60 MB in 300 commits, by a writer that thinks between them. */
START_TEST(the_log_stays_short_under_a_busy_writer)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = ERR_INIT;

	begin();
	(void)start_worker("retention");
	ck_assert_msg(!store_open(&st, test_db(), test_run(), &e), "%s", e.text);
	for (int i = 1; i <= 300; i++) {
		put(&st, i, 200000);
		(void)poll(NULL, 0, 3);
	}

	ck_assert_int_lt(log_file_bytes(), 12 << 20);
}
END_TEST

/* Two numbers in the log's header that change when it begins anew (sqlite.org/fileformat2.html). */
static uint64_t log_salts(void)
{
	char path[4200];
	uint64_t salts = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "%.4000s-wal", test_db());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &salts, sizeof(salts), 16), sizeof(salts));
	(void)close(fd);
	return salts;
}

START_TEST(a_long_reader_holds_the_log_up_only_while_it_reads)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(store) struct store reader = STORE_INIT;
	struct err e = ERR_INIT;
	int64_t length;
	uint64_t salts;
	stmt *s;
	int n = 0;

	begin();
	ck_assert_msg(!store_open(&st, test_db(), test_run(), &e), "%s", e.text);
	ck_assert_msg(!store_open(&reader, test_db(), NULL, &e), "%s", e.text);
	put(&st, n++, 1000);
	s = store_stmt(&reader, SQL_CONTENT_GET);
	bind_int(s, ":seq", 1);
	ck_assert_int_eq(stmt_row(s, &e), 1); /* reads, and goes on reading */
	(void)start_worker("retention");
	for (; n < 60; n++)
		put(&st, n, 200000);
	length = log_file_bytes();
	ck_assert_int_gt(length, 11 << 20);

	salts = log_salts();
	stmt_reset(s); /* it is through */
	for (int i = 0; log_salts() == salts; i++) {
		ck_assert_msg(i < 1000, "the log never begins anew");
		advance(5000); /* the next look */
		put(&st, n++, 1000);
		(void)poll(NULL, 0, 10);
	}
	for (int i = 0; i < 30; i++)
		put(&st, n++, 100000);

	ck_assert_int_le(log_file_bytes(), length + (1 << 20));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("retention");
	TCase *c = tcase_create("retention");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, sessions_that_ended_long_ago_go_with_all_their_rows);
	tcase_add_test(c, the_silences_of_a_session_and_their_nudges_go_with_it);
	tcase_add_test(
	    c, what_was_said_in_slack_goes_with_its_session_and_intents_go_when_they_are_old);
	tcase_add_test(c, what_slack_sent_goes_after_a_week_and_steering_with_its_session);
	tcase_add_test(
	    c, what_was_in_a_file_before_an_old_write_is_forgotten_though_its_session_lives);
	tcase_add_test(c, nothing_goes_in_the_first_hour_and_retention_days_says_when);
	tcase_add_test(c, a_number_is_never_given_twice);
	tcase_add_test(c, a_session_stays_while_another_one_holds_on_to_a_row_of_it);
	tcase_add_test(c, sessions_that_hold_on_to_each_other_go_together);
	tcase_add_test(c, old_rows_that_belong_to_nobody_go);
	tcase_add_test(c, answers_to_nothing_and_words_to_nobody_go);
	tcase_add_test(c, no_table_is_forgotten);
	tcase_add_test(c, a_purge_can_be_had_now_and_says_what_it_did);
	tcase_add_test(c, of_the_timeline_what_is_old_and_sealed_is_cut_off_and_the_rest_verifies);
	tcase_add_test(c, a_cut_that_was_killed_before_its_last_event_is_finished);
	tcase_add_test(c, the_timeline_is_exported_before_it_is_cut);
	tcase_add_test(c, what_undo_needs_is_exported_before_it_is_forgotten);
	tcase_add_test(c, what_cannot_be_exported_stays_and_that_is_told);
	tcase_add_test(c, a_purge_that_is_killed_has_deleted_nothing_that_was_not_exported);
	tcase_add_test(c, the_database_is_looked_through_weekly_and_optimized_daily);
	tcase_add_test(c, damage_is_found_and_told);
	tcase_add_test(c, damage_that_optimize_meets_is_found_and_told_and_retention_goes_on);
	tcase_add_test(c, statistics_make_no_statement_scan);
	tcase_add_test(c, many_rows_go_in_batches);
	tcase_add_test(c, a_session_interrupted_for_long_is_terminated_and_goes_later);
	tcase_add_test(
	    c, a_session_silent_for_long_is_terminated_unless_its_process_runs_or_a_call_waits);
	tcase_add_test(c, what_agents_have_read_in_slack_goes_with_the_next_purge);
	tcase_add_test(c, connections_that_never_called_a_tool_go);
	tcase_add_test(c, the_log_stays_short_under_a_busy_writer);
	tcase_add_test(c, a_long_reader_holds_the_log_up_only_while_it_reads);
	suite_add_tcase(s, c);
	return run_suite(s);
}
