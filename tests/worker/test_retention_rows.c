/* retention: what is old goes, whole and only that; the log stays short. */
#include "retention_case.h"

#include "instance.h"

#include <unistd.h>

/* And retention goes through. */
static void the_first_session_is_old_enough(void)
{
	terminate(1, ago(30 * DAY + HOUR));
	(void)start_worker("retention");
	advance(HOUR + SECOND);
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
	expect_soon("SELECT count(*) FROM ended_call", "0\n");
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

START_TEST(what_the_agent_of_a_session_said_goes_with_it)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_for(
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol, state,"
	    " created_at) VALUES (1, 1, 1, 'h', 'a', 'acp', 'wanted', '%1$s');"
	    "INSERT INTO agent_input (seq, session_seq, kind, text, created_at)"
	    " VALUES (1, 1, 'task', 't', '%1$s');"
	    "INSERT INTO agent_turn (seq, run_seq, number, input_seq, began_at)"
	    " VALUES (1, 1, 1, 1, '%1$s');"
	    "INSERT INTO agent_line (run_seq, turn_seq, kind, text, at, over_at)"
	    " VALUES (1, 1, 'text', 'hi', '%1$s', '%1$s');"
	    "INSERT INTO slack_message (kind, session_seq, turn_seq, channel_id, created_at,"
	    " updated_at) VALUES ('turn', 1, 1, 'C1', '%1$s', '%1$s');"
	    "UPDATE agent_run SET state = 'ended', outcome = 'stopped', ended_at = '%1$s'",
	    ago(60 * DAY), 1);
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT count(*) FROM session", "0\n");
	expect("SELECT (SELECT count(*) FROM agent_line), (SELECT count(*) FROM agent_turn),"
	       " (SELECT count(*) FROM slack_message)",
	       "0|0|0\n");
	expect("SELECT count(*) FROM pragma_foreign_key_check", "0\n");
}
END_TEST

START_TEST(a_session_whose_nudge_another_one_got_goes_with_that_one)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_whole_session(2, ago(60 * DAY));
	given_for("INSERT INTO stall (id, session_seq, last_activity_at, idle_seconds, created_at,"
	          " updated_at) VALUES ('a%2$d', %2$d, '%1$s', 300, '%1$s', '%1$s');"
	          "INSERT INTO steering (kind, session_id, text, created_at) VALUES"
	          " ('nudge', 's%2$d', 'skip the docs', '%1$s');"
	          "UPDATE steering SET session_seq = 2",
	          ago(60 * DAY), 1);
	expect("SELECT session_seq FROM steering", "2\n");
	terminate(1, ago(31 * DAY));
	terminate(2, ago(29 * DAY));
	(void)start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon("SELECT count(*) FROM ended_call", "0\n");
	expect("SELECT seq FROM session ORDER BY seq", "1\n2\n");

	advance(2 * DAY);
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
	given_for("UPDATE slack_outbox SET state = 'dead', why = 'x', settled_at = '%1$s'"
	          " WHERE state = 'queued' AND message_seq IN (SELECT seq FROM slack_message"
	          " WHERE text = 'old')",
	          ago(60 * DAY), 0);
	the_first_session_is_old_enough();

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
	the_first_session_is_old_enough();

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

START_TEST(a_number_of_days_below_zero_is_that_of_the_default)
{
	begin();
	given_whole_session(1, ago(3 * DAY));
	terminate(1, ago(2 * DAY));
	given_for("INSERT INTO time_gap (machine, kind, started_at, ended_at) VALUES"
	          " ('h', 'suspend', '%1$s', '%1$s')", /* goes after sessions */
	          ago(40 * DAY), 0);
	given_for("INSERT INTO setting (name, value, source, updated_at)"
	          " VALUES ('retention_days', '-1', 'file', '%1$s')",
	          clock_now(), 0);
	(void)start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon("SELECT count(*) FROM time_gap", "0\n");
	expect("SELECT seq FROM session", "1\n");
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
	    "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES ('new', 'h', 'local:ann', '/w', 'active', 'local',"
	    " '%1$s', '%1$s')",
	    clock_now(), 0);

	expect("SELECT seq FROM session", "8\n"); /* the timeline still tells of 7 */
	expect("SELECT seq FROM tool_call_next", "8\n");
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
	    "INSERT INTO time_gap (machine, kind, started_at, ended_at) VALUES"
	    " ('h', 'suspend', '%1$s', '%1$s');"
	    "INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)"
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
	          "INSERT INTO policy (machine, workspace_root, state, hash, created_at) VALUES"
	          " ('h', '/a', 'loaded', '1', '%1$s'), ('h', '/a', 'gone', '', '%1$s'),"
	          " ('h', '/b', 'loaded', '3', '%1$s'), ('i', '/b', 'loaded', '4', '%1$s')",
	          ago(31 * DAY), 0);
	given_for(
	    "INSERT INTO time_gap (machine, kind, started_at, ended_at) VALUES"
	    " ('h', 'suspend', '%1$s', '%1$s');"
	    "INSERT INTO command (verb, argument, created_at) VALUES ('mode', 'local', '%1$s'),"
	    " ('odd', NULL, 'soon');"
	    "INSERT INTO policy (machine, workspace_root, state, hash, created_at) VALUES"
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

START_TEST(lapses_of_gates_go_after_their_end_and_those_that_stand_stay)
{
	begin();
	given(
	    "INSERT INTO gate_lapse (seq, kind, machine, host, subject, detail, found_at, ended_at)"
	    " VALUES (1, 'removed', 'h', 'claude', '/a', 'x', '2020-01-01T00:00:00.000Z', NULL),"
	    " (2, 'removed', 'h', 'codex', '/a', 'x', '2020-01-01T00:00:00.000Z', NULL),"
	    " (3, 'removed', 'h', 'qwen', '/a', 'x', '2020-01-01T00:00:00.000Z', NULL)");
	given("UPDATE gate_lapse SET ended_at = '2020-01-02T00:00:00.000Z' WHERE seq = 1");
	given(
	    "UPDATE gate_lapse SET ended_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE seq = 3");
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT seq FROM gate_lapse", "2\n3\n");
}
END_TEST

/* Tables of which nothing is ever deleted, because they do not grow with use, or whose rows go by a
 * rule with those that they belong to. */
static const char *const NOT_PURGED[] = {
	"operator",      "rule_set",        "setting",       "slack_gate",      "command_verb",
	"slack_lane",    "audit_cut",       "slack_part",    "slack_kind",      "slack_history",
	"source",        "request_kind",    "policy_trust",  "workspace",       "slack_check",
	"slack_checked", "agent_line_kind", "gate_canary",   "gate_client",     "metric_family",
	"metric_bucket", "metric_tally",    "metric_cursor", "workspace_owner", "seq_floor",
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
	                            "1 session(s), 8 row(s) of sessions, 3 of answer, 1 of worker, "
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

/* A file that says so. Returns the arguments that name it. */
static const char *once_with_days(int days)
{
	static char arguments[400];
	const char *path = below(test_run(), "config.toml");
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_gt(fprintf(f, "retention_days = %d\n", days), 0);
	ck_assert_int_eq(fclose(f), 0);
	(void)snprintf(arguments, sizeof(arguments), "--once --config %s", path);
	return arguments;
}

START_TEST(of_a_system_that_does_not_run_the_days_are_those_of_its_file)
{
	begin();
	given_whole_session(1, ago(30 * DAY));
	terminate(1, ago(20 * DAY));
	given_for("INSERT INTO setting (name, value, source, updated_at)"
	          " VALUES ('retention_days', '1', 'file', '%1$s')",
	          clock_now(), 0);

	free(run_once(once_with_days(25), 0));
	expect("SELECT seq FROM session", "1\n");
	expect("SELECT value, source FROM setting WHERE name = 'retention_days'", "25|file\n");
	free(run_once(once_with_days(15), 0));
	expect("SELECT seq FROM session", "");
}
END_TEST

START_TEST(of_a_system_that_runs_they_are_those_of_its_start)
{
	struct err e = { 0 };
	int lock = -1, held = -1;

	begin();
	given_whole_session(1, ago(30 * DAY));
	terminate(1, ago(20 * DAY));
	given_for("INSERT INTO setting (name, value, source, updated_at)"
	          " VALUES ('retention_days', '25', 'file', '%1$s')",
	          clock_now(), 0);
	ck_assert_msg(!instance_take(test_db(), false, &lock, &e) &&
	                  !instance_hold(test_db(), &held, &e),
	              "%s", e.text);

	free(run_once(once_with_days(15), 0));
	expect("SELECT seq FROM session", "1\n");
	expect("SELECT value, source FROM setting WHERE name = 'retention_days'", "25|file\n");
	(void)close(held);
	(void)close(lock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("retention_rows");
	TCase *c = tcase_create("retention");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, sessions_that_ended_long_ago_go_with_all_their_rows);
	tcase_add_test(c, the_silences_of_a_session_and_their_nudges_go_with_it);
	tcase_add_test(c, what_the_agent_of_a_session_said_goes_with_it);
	tcase_add_test(c, a_session_whose_nudge_another_one_got_goes_with_that_one);
	tcase_add_test(
	    c, what_was_said_in_slack_goes_with_its_session_and_intents_go_when_they_are_old);
	tcase_add_test(c, what_slack_sent_goes_after_a_week_and_steering_with_its_session);
	tcase_add_test(
	    c, what_was_in_a_file_before_an_old_write_is_forgotten_though_its_session_lives);
	tcase_add_test(c, nothing_goes_in_the_first_hour_and_retention_days_says_when);
	tcase_add_test(c, a_number_of_days_below_zero_is_that_of_the_default);
	tcase_add_test(c, a_number_is_never_given_twice);
	tcase_add_test(c, a_session_stays_while_another_one_holds_on_to_a_row_of_it);
	tcase_add_test(c, sessions_that_hold_on_to_each_other_go_together);
	tcase_add_test(c, old_rows_that_belong_to_nobody_go);
	tcase_add_test(c, answers_to_nothing_and_words_to_nobody_go);
	tcase_add_test(c, lapses_of_gates_go_after_their_end_and_those_that_stand_stay);
	tcase_add_test(c, no_table_is_forgotten);
	tcase_add_test(c, a_purge_can_be_had_now_and_says_what_it_did);
	tcase_add_test(c, of_a_system_that_does_not_run_the_days_are_those_of_its_file);
	tcase_add_test(c, of_a_system_that_runs_they_are_those_of_its_start);
	suite_add_tcase(s, c);
	return run_suite(s);
}
