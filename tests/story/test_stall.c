/* Silent agents: whose turn it is, alerts, nudges, the call for the operator, and the end of it.
 * The real watchdog on given rows, and the virtual clock: a day passes in seconds. */
#include "harness.h"
#include "stall.h"
#include "time_gap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const char ALERTS[] = "SELECT status, nudge_count FROM stall ORDER BY seq";

/* ---- given ---- */

/* An agent with a client, which has called just now. */
static void given_agent(int seq)
{
	struct instant now = clock_now();
	char sql[1500];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " last_tool, prompt, progress_snapshot, created_at, updated_at, last_activity_at,"
	    " idle_since) VALUES (%d, 's%d', 'h', 'local:ann', '/w', 'active', 'local', 'ping',"
	    " 'write the docs', '[{\"label\":\"one\",\"status\":\"done\"}]', '%s', '%s', '%s',"
	    " '%s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	    " identity, created_at) VALUES (%d, 'k%d', 'h', 'stdio', '2025-06-18', %d, '{}', '%s')",
	    seq, seq, now.text, now.text, now.text, now.text, seq, seq, seq, now.text);
	given(sql);
}

/* What the front writes for a call of its agent. */
static void given_call_of(int session)
{
	struct instant now = clock_now();
	char sql[500];

	(void)snprintf(sql, sizeof(sql),
	               "UPDATE session SET last_tool = 'broadcast', last_activity_at = '%s',"
	               " updated_at = '%s', idle_since = '%s', connectivity_status = 'online',"
	               " nudge_count = 0 WHERE seq = %d",
	               now.text, now.text, now.text, session);
	given(sql);
}

static void given_question_of(int session)
{
	struct instant now = clock_now();
	char sql[800];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO request (id, session_seq, kind, state, digest, title, body,"
	               " prompt_type, created_at, updated_at) VALUES ('q%d', %d, 'prompt',"
	               " 'pending', '%064d', 't', 'b', 'continuation', '%s', '%s')",
	               session, session, session, now.text, now.text);
	given(sql);
}

static void given_setting(const char *name, const char *value)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES ('stall.%s',"
	               " '%s', 'file', '2026-01-01T00:00:00.000Z')",
	               name, value);
	given(sql);
}

static void given_number(const char *name, int value)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", value);
	given_setting(name, text);
}

static void given_settings(int threshold, int escalation, int nudges)
{
	given_number("inactivity_threshold_seconds", threshold);
	given_number("escalation_threshold_seconds", escalation);
	given_number("max_retries", nudges);
	given_setting("default_nudge_message", "Go on.");
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " created_at, updated_at) VALUES (9999, 'mark', 'h', 'local:ann', '/w', 'active',"
	      " 'local', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');"
	      "INSERT INTO connection (seq, key, machine, transport, protocol_version, identity,"
	      " created_at) VALUES (9999, 'mark', 'h', 'http', '2025-06-18', '{}',"
	      " '2026-01-01T00:00:00.000Z');"
	      "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body,"
	      " prompt_type, created_at, updated_at) VALUES (9999, 'mark', 9999, 'prompt',"
	      " 'pending', printf('%064d', 9999), 't', 'b', 'continuation',"
	      " '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')");
}

/* A watchdog whose first minute, in which nothing happens, is over. */
static void watched_with(int threshold, int escalation, int nudges)
{
	fresh_store();
	given_settings(threshold, escalation, nudges);
	(void)start_worker("watchdog");
	advance(MINUTE + SECOND);
}

static void watched(void)
{
	watched_with(300, 120, 3);
}

/* The watchdog has seen this instant, and done what was due: last of all it ends waits of calls. */
static void looked(void)
{
	struct instant now = clock_now();
	char sql[400];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest,"
	    " state, request_seq, wait_until, created_at) VALUES (9999, 9999, '1',"
	    " 'modern', 'transmit', '', 'waiting', 9999, '%s', '%s')",
	    now.text, now.text);
	given(sql);
	expect_soon("SELECT count(*) FROM tool_call WHERE session_seq = 9999 AND state = 'waiting'",
	            "0\n");
}

static void pass_by(int64_t ms, int64_t step)
{
	for (; ms > 0; ms -= step) {
		advance(ms < step ? ms : step);
		looked();
	}
}

/* Time passes in steps that are shorter than all that is waited for, and each is seen. */
static void pass(int64_t ms)
{
	pass_by(ms, MINUTE);
}

/* ---- the alert ---- */

START_TEST(silence_raises_an_alert_with_what_the_agent_did_last)
{
	watched();
	given_agent(1);

	pass(5 * MINUTE);

	expect_soon(ALERTS, "pending|0\n");
	expect("SELECT session_id, last_tool, idle_seconds BETWEEN 300 AND 301, progress_snapshot "
	       "FROM stall_alert",
	       "s1|ping|1|[{\"label\":\"one\",\"status\":\"done\"}]\n");
	expect("SELECT connectivity_status FROM session WHERE seq = 1", "stalled\n");
	expect("SELECT kind FROM event WHERE kind LIKE 'stall.%'", "stall.raised\n");
	expect("SELECT state FROM health WHERE what = 'silent agents'", "1 stalled\n");
}
END_TEST

START_TEST(an_alert_comes_within_100_ms_of_its_time)
{
	char sql[300];

	watched_with(1, 120, 3);
	given_agent(1);

	expect_soon(ALERTS, "pending|0\n");
	(void)snprintf(sql, sizeof(sql),
	               "SELECT round((julianday(created_at) - julianday(last_activity_at)) * "
	               "86400000) BETWEEN 1000 AND 1100 FROM stall");
	expect(sql, "1\n");
}
END_TEST

START_TEST(a_call_before_the_time_begins_the_time_anew)
{
	watched();
	given_agent(1);
	for (int i = 0; i < 10; i++) {
		pass(4 * MINUTE);
		given_call_of(1);
	}
	looked();
	expect("SELECT count(*) FROM stall", "0\n");

	pass(5 * MINUTE + SECOND);
	expect_soon(ALERTS, "pending|0\n");
	expect("SELECT last_tool FROM stall", "broadcast\n");
}
END_TEST

START_TEST(who_waits_for_an_answer_is_not_silent_and_the_time_begins_with_the_answer)
{
	watched();
	given_agent(1);
	given_question_of(1);

	pass_by(2 * HOUR, 10 * MINUTE);
	expect("SELECT count(*) FROM stall", "0\n");

	given("INSERT INTO decision (request_id, verdict, created_at) SELECT 'q1', 'continue',"
	      " strftime('%Y-%m-%dT%H:%M:%fZ', max(updated_at), '+2 hours') FROM session");
	expect("SELECT state FROM request WHERE id = 'q1'", "answered\n");
	expect("SELECT idle_since IS NOT NULL FROM session WHERE seq = 1", "1\n");
	pass(4 * MINUTE);
	looked();
	pass(2 * MINUTE);
	expect_soon(ALERTS, "pending|0\n");
}
END_TEST

START_TEST(who_waits_for_a_write_is_not_silent)
{
	struct instant now;
	char sql[600];

	watched();
	given_agent(1);
	given_question_of(1);
	now = clock_now();
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO decision (request_id, verdict, created_at) VALUES ('q1',"
	    " 'continue', '%s');"
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest,"
	    " state, request_seq, created_at) SELECT 1, 1, '1', 'modern', 'check_diff', '',"
	    " 'waiting', seq, '%s' FROM request WHERE id = 'q1'",
	    now.text, now.text);
	given(sql);

	pass_by(HOUR, 10 * MINUTE);
	expect("SELECT count(*) FROM stall", "0\n");
}
END_TEST

START_TEST(who_is_paused_is_not_silent_and_the_time_begins_with_the_resumption)
{
	watched();
	given_agent(1);
	given("INSERT INTO command (verb, session_id) VALUES ('pause', 's1')");
	pass_by(HOUR, 10 * MINUTE);
	expect("SELECT count(*) FROM stall", "0\n");

	struct instant now = clock_now();
	char sql[200];
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, session_id, created_at) VALUES ('resume', 's1',"
	               " '%s')",
	               now.text);
	given(sql);
	pass(4 * MINUTE);
	looked();
	expect("SELECT count(*) FROM stall", "0\n");
	pass(90 * SECOND);
	expect_soon(ALERTS, "pending|0\n");
}
END_TEST

START_TEST(without_stall_detection_for_a_session_no_alert_is_raised)
{
	watched();
	given_agent(1);
	given_agent(2);
	given("INSERT INTO command (verb, session_id, argument) VALUES ('stall', 's1', 'off')");

	pass(10 * MINUTE);

	expect_soon("SELECT session_seq FROM stall", "2\n");
	looked();
	expect("SELECT session_seq FROM stall", "2\n");
	expect("SELECT reply FROM command",
	       "{\"session_id\":\"s1\",\"stall_detection_enabled\":false}\n");
}
END_TEST

START_TEST(switching_it_off_closes_the_alert_and_on_begins_the_time)
{
	char sql[300];
	struct instant now;

	watched_with(300, 3600, 3);
	given_agent(1);
	pass(6 * MINUTE);
	expect_soon(ALERTS, "pending|0\n");
	given("INSERT INTO command (verb, session_id, argument) VALUES ('stall', 's1', 'off')");
	expect(ALERTS, "dismissed|0\n");
	pass(HOUR);
	now = clock_now();
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO command (verb, session_id, argument, created_at) VALUES ('stall',"
	    " 's1', 'on', '%s')",
	    now.text);
	given(sql);
	pass(6 * MINUTE);
	expect_soon(ALERTS, "dismissed|0\npending|0\n");
}
END_TEST

START_TEST(without_stall_detection_at_all_no_alert_is_raised)
{
	fresh_store();
	given_settings(300, 120, 3);
	given_setting("enabled", "false");
	(void)start_worker("watchdog");
	advance(MINUTE + SECOND);
	given_agent(1);
	pass_by(HOUR, 10 * MINUTE);
	expect("SELECT count(*) FROM stall", "0\n");
}
END_TEST

/* ---- nudges ---- */

START_TEST(nobody_answers_an_alert_so_the_agent_is_nudged_and_then_the_operator_called_once)
{
	watched_with(300, 120, 3);
	given_agent(1);
	pass(5 * MINUTE);
	expect_soon(ALERTS, "pending|0\n");
	pass(2 * MINUTE);
	expect_soon(ALERTS, "nudged|1\n");
	expect("SELECT kind, text, source, operator_id, outcome, delivered_at FROM steering",
	       "nudge|Go on.|clock|system:clock|accepted|\n");
	pass(2 * MINUTE);
	expect_soon(ALERTS, "nudged|2\n");
	pass(2 * MINUTE);
	expect_soon(ALERTS, "nudged|3\n");
	expect("SELECT count(*) FROM steering", "1\n"); /* it waits still: not said twice */
	expect("SELECT nudge_count FROM session WHERE seq = 1", "3\n");
	pass(2 * MINUTE);
	expect_soon(ALERTS, "escalated|3\n");

	advance(24 * (int64_t)HOUR);
	looked();
	expect(ALERTS, "escalated|3\n");
	expect("SELECT kind, count(*) FROM event WHERE kind LIKE 'stall.%' GROUP BY 1",
	       "stall.escalated|1\nstall.nudged|3\nstall.raised|1\n");
}
END_TEST

START_TEST(with_no_retries_the_operator_is_called_at_once)
{
	watched_with(300, 120, 0);
	given_agent(1);
	pass(7 * MINUTE + SECOND);
	expect_soon(ALERTS, "escalated|0\n");
	expect("SELECT count(*) FROM steering", "0\n");
}
END_TEST

START_TEST(a_nudge_that_the_rules_refuse_calls_the_operator_and_is_not_repeated)
{
	watched();
	given_agent(1);
	given("DROP TRIGGER operator_system_is_active;"
	      "UPDATE operator SET active = 0 WHERE id = 'system:clock'");
	pass(7 * MINUTE + SECOND);
	expect_soon(ALERTS, "escalated|0\n");
	advance(HOUR);
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", "1\n");
	expect("SELECT outcome FROM steering", "unauthorized\n");
}
END_TEST

START_TEST(an_operators_nudge_gives_the_agent_new_time)
{
	char sql[300];
	struct instant now;

	watched_with(300, 120, 1);
	given_agent(1);
	pass(5 * MINUTE + SECOND);
	expect_soon(ALERTS, "pending|0\n");
	pass(100 * SECOND);
	now = clock_now();
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO steering (kind, session_id, created_at) VALUES ('nudge', 's1',"
	               " '%s')",
	               now.text);
	given(sql);
	expect("SELECT status, nudge_count, auto_count, nudge_message, nudged_by FROM stall",
	       "nudged|1|0|Go on.|local:tester\n");
	pass(100 * SECOND);
	looked();
	expect(ALERTS, "nudged|1\n");
	pass(30 * SECOND);
	expect_soon(ALERTS, "nudged|2\n");
	pass(2 * MINUTE + SECOND);
	expect_soon(ALERTS, "escalated|2\n");
}
END_TEST

START_TEST(a_call_of_the_agent_ends_the_alert_and_the_counting)
{
	watched();
	given_agent(1);
	pass(8 * MINUTE);
	expect_soon(ALERTS, "nudged|1\n");

	given_call_of(1);

	expect("SELECT status, ended_at IS NOT NULL, waits_since FROM stall",
	       "self_recovered|1|\n");
	expect("SELECT connectivity_status, nudge_count FROM session WHERE seq = 1", "online|0\n");
	for (int i = 0; i < 3; i++) { /* it works for longer than a moment */
		pass(3 * MINUTE);
		given_call_of(1);
	}
	pass(5 * MINUTE + SECOND);
	expect_soon(ALERTS, "self_recovered|1\npending|0\n");
}
END_TEST

START_TEST(an_agent_that_a_nudge_wakes_only_for_a_moment_is_not_nudged_for_ever)
{
	watched_with(300, 120, 2);
	given_agent(1);
	for (int i = 1; i <= 2; i++) {
		pass(7 * MINUTE + SECOND);
		expect_soon("SELECT status, auto_count FROM stall ORDER BY seq DESC LIMIT 1",
		            i == 1 ? "nudged|1\n" : "nudged|2\n");
		given_call_of(1);
	}
	pass(7 * MINUTE + SECOND);
	expect_soon(ALERTS, "self_recovered|1\nself_recovered|2\nescalated|2\n");
}
END_TEST

START_TEST(a_stop_and_a_pause_close_the_alert)
{
	watched_with(300, 3600, 3);
	given_agent(1);
	given_agent(2);
	pass(6 * MINUTE);
	expect_soon(ALERTS, "pending|0\npending|0\n");
	given("INSERT INTO command (verb, session_id) VALUES ('stop', 's1');"
	      "INSERT INTO command (verb, session_id) VALUES ('pause', 's2')");
	expect("SELECT status FROM stall", "dismissed\ndismissed\n");
	expect("SELECT status, connectivity_status FROM session WHERE seq < 3",
	       "terminated|online\npaused|online\n");
}
END_TEST

START_TEST(a_session_whose_agent_has_left_is_interrupted_and_raises_no_alert)
{
	watched();
	given_agent(1);
	given("UPDATE connection SET state = 'closed'");
	pass(6 * MINUTE);
	expect_soon("SELECT status, connectivity_status FROM session WHERE seq = 1",
	            "interrupted|offline\n");
	expect("SELECT count(*) FROM stall", "0\n");
}
END_TEST

/* It has no connection: over ACP it never has one, over MCP not before its first call. */
START_TEST(an_agent_that_we_started_is_there_while_its_process_runs)
{
	watched();
	given_agent(1);
	given(
	    "DELETE FROM connection WHERE seq = 1;"
	    "INSERT INTO agent_run (session_seq, generation, machine, agent, protocol, state,"
	    " created_at) VALUES (1, 1, 'h', 'codex', 'acp', 'wanted', '2026-01-01T00:00:00.000Z');"
	    "UPDATE agent_run SET state = 'starting', pid = 50;"
	    "UPDATE agent_run SET state = 'running', started_at = '2026-01-01T00:00:00.000Z'");
	pass(5 * MINUTE + SECOND);
	expect(ALERTS, "pending|0\n");
	expect("SELECT status FROM session WHERE seq = 1", "active\n");
}
END_TEST

START_TEST(who_spoke_to_an_agent_that_has_left_is_told_so)
{
	watched();
	given_agent(1);
	given("UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	      "('slack.channel_id', 'C1', 'file', '2026-01-01T08:00:00.000Z')");
	given_mode("hybrid");
	given("INSERT INTO steering (session_id, text) VALUES ('s1', 'use tabs');"
	      "UPDATE connection SET state = 'closed'");
	pass(6 * MINUTE);
	expect_soon("SELECT text FROM slack_message WHERE kind = 'reply'",
	            "The agent has left without being told: “use tabs”. The next agent that "
	            "starts in this workspace is told.\n");
}
END_TEST

/* Over HTTP a client is there or has ended: nothing tells. */
static void given_http(const char *transport)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(
	    &sql,
	    "INSERT INTO connection (key, machine, transport, protocol_version, session_seq,"
	    " identity, created_at) SELECT 'http', 'h', '%s', '2025-11-25', 1, '{}', created_at"
	    " FROM connection WHERE seq = 1;"
	    "UPDATE connection SET state = 'closed' WHERE seq = 1",
	    transport);
	given(sql.bytes);
}

START_TEST(of_a_client_that_may_have_ended_is_said_once_that_it_is_silent)
{
	watched_with(300, 120, 3);
	given_agent(1);
	given_http("http");
	pass(5 * MINUTE + SECOND);
	expect_soon("SELECT status, is_there FROM stall", "pending|0\n");
	pass(30 * MINUTE);
	expect("SELECT status, nudge_count FROM stall", "pending|0\n");
	expect("SELECT count(*) FROM steering", "0\n");

	given("INSERT INTO steering (kind, session_id) VALUES ('nudge', 's1')");
	expect("SELECT status, nudge_count FROM stall", "nudged|1\n");
	pass(30 * MINUTE);
	expect("SELECT status, nudge_count FROM stall", "nudged|1\n");
}
END_TEST

START_TEST(an_interrupted_session_over_http_raises_no_alert)
{
	watched();
	given_agent(1);
	given_http("http");
	given("UPDATE session SET status = 'interrupted', connectivity_status = 'offline'");
	pass(30 * MINUTE);
	expect("SELECT count(*) FROM stall", "0\n");
}
END_TEST

START_TEST(who_does_not_come_for_an_answer_over_http_raises_no_alert_and_is_interrupted)
{
	OWNED(str) struct str sql = { 0 };
	struct instant now;

	watched();
	given_agent(1);
	given_http("http");
	given_question_of(1);
	now = clock_now();
	str_addf(&sql,
	         "INSERT INTO decision (request_id, verdict, created_at) VALUES ('q1', 'continue',"
	         " '%s')",
	         now.text);
	given(sql.bytes);
	pass(30 * MINUTE);
	expect_soon("SELECT status FROM session WHERE seq = 1", "interrupted\n");
	expect("SELECT count(*) FROM stall", "0\n");
}
END_TEST

START_TEST(a_caller_without_a_session_of_its_protocol_raises_no_alert_and_is_interrupted)
{
	watched();
	given_agent(1);
	given_http("stateless");
	pass(6 * MINUTE);
	expect_soon("SELECT status FROM session WHERE seq = 1", "interrupted\n");
	expect("SELECT count(*) FROM stall", "0\n");
}
END_TEST

START_TEST(an_agent_that_leaves_closes_its_alert)
{
	watched_with(300, 3600, 3);
	given_agent(1);
	pass(6 * MINUTE);
	expect_soon(ALERTS, "pending|0\n");
	given("UPDATE session SET connectivity_status = 'offline'");
	expect("SELECT status FROM stall", "dismissed\n");
}
END_TEST

/* ---- time that does not count, and restarts ---- */

START_TEST(silence_outlives_a_restart_with_the_time_already_run)
{
	pid_t pid;

	fresh_store();
	given_settings(300, 120, 3);
	pid = start_worker("watchdog");
	given_agent(1);
	pass(4 * MINUTE);
	looked();
	stop_worker(pid);
	advance(8 * HOUR); /* nobody watches */
	(void)start_worker("watchdog");
	expect("SELECT round((julianday('now') - julianday(idle_since)) * 86400) < 0 FROM session "
	       "WHERE seq = 1",
	       "1\n"); /* it was moved along */

	pass(50 * SECOND);
	looked();
	expect("SELECT count(*) FROM stall", "0\n");
	pass(30 * SECOND);
	expect_soon(ALERTS, "pending|0\n");
	expect("SELECT idle_seconds BETWEEN 300 AND 325 FROM stall", "1\n");
}
END_TEST

START_TEST(the_time_until_a_nudge_outlives_a_crash)
{
	pid_t pid;

	fresh_store();
	given_settings(120, 600, 3);
	pid = start_worker("watchdog");
	advance(MINUTE + SECOND);
	given_agent(1);
	pass(2 * MINUTE + SECOND);
	expect_soon(ALERTS, "pending|0\n");
	pass(8 * MINUTE);
	looked();
	kill_worker(pid);
	advance(8 * HOUR);
	(void)start_worker("watchdog");

	pass(80 * SECOND);
	looked();
	expect(ALERTS, "pending|0\n");
	pass(80 * SECOND);
	expect_soon(ALERTS, "nudged|1\n");
}
END_TEST

START_TEST(a_suspend_does_not_count_as_silence)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	struct time_gap gap = { .suspend_ms = 600 * SECOND, .window_ms = 250 };

	fresh_store();
	given_agent(1);
	advance(MINUTE);
	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);
	ck_assert_int_eq(time_gap_record(&st, "h", &gap, &e), 0);
	expect("SELECT round((julianday(idle_since) - julianday(last_activity_at)) * 86400)"
	       " FROM session",
	       "600.0\n");
}
END_TEST

/* ---- many ---- */

enum { MANY = 1000 };

/* Each has been silent 300 ms less long than the one before; from when on the first is. */
static int64_t given_many_agents(void)
{
	struct instant now = clock_now();
	char sql[1600];

	(void)snprintf(
	    sql, sizeof(sql),
	    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	    " INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at, last_activity_at, idle_since) SELECT i, 's' || i, 'h',"
	    " 'local:ann', '/w', 'active', 'local', '%s', '%s', '%s',"
	    " strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', '%s', '+' || (i * 0.3) || ' seconds') FROM n;"
	    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	    " INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	    " identity, created_at) SELECT i, 'k' || i, 'h', 'http', '2025-06-18', i, '{}', '%s'"
	    " FROM n",
	    MANY, now.text, now.text, now.text, now.text, MANY, now.text);
	given(sql);
	return clock_parse(now.text);
}

START_TEST(a_thousand_sessions_keep_their_own_times)
{
	OWNED(char_ptr) char *many = NULL;
	int64_t begin, before, after;
	int count;

	watched_with(300, 3600, 3);
	begin = given_many_agents() + 5 * MINUTE;
	pass(5 * MINUTE + 140 * SECOND);
	before = (clock_now_ms() - begin) / 300;
	looked();
	many =
	    rows("SELECT max(session_seq) - min(session_seq) + 1 = count(*), count(*) FROM stall");
	ck_assert_int_eq(sscanf(many, "1|%d", &count), 1);
	after = (clock_now_ms() - begin) / 300;
	ck_assert_int_ge(count, before);
	ck_assert_int_le(count, after);
	pass(170 * SECOND);
	expect_soon("SELECT count(*), count(DISTINCT session_seq) FROM stall", "1000|1000\n");
}
END_TEST

START_TEST(none_of_a_thousand_times_is_met_early_and_most_within_100_ms)
{
	struct instant now;
	char sql[700];

	watched_with(1, 3600, 3);
	given_many_agents();
	now = clock_now();
	/* Half a second apart from one that is due in 1.2 s on, 20 of them; the others wait. */
	(void)snprintf(
	    sql, sizeof(sql),
	    "UPDATE session SET idle_since = CASE WHEN seq <= 20 THEN"
	    " strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', '%s', '+' || (0.2 + seq * 0.1) ||"
	    " ' seconds') ELSE strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', '%s', '+1 hours') END",
	    now.text, now.text);
	given(sql);
	expect_soon("SELECT count(*) FROM stall", "20\n");
	/* On a machine that is busy with something else, some are late. */
	(void)snprintf(sql, sizeof(sql),
	               "SELECT min(late) >= -1, sum(late <= 100) > 10 FROM (SELECT"
	               " (julianday(created_at) - julianday('%s')) * 86400000 -"
	               " (1200 + session_seq * 100) AS late FROM stall)",
	               now.text);
	expect(sql, "1|1\n");
}
END_TEST

START_TEST(a_day_of_stalls_passes_in_seconds)
{
	watched_with(300, 120, 3);
	given_agent(1);
	for (int i = 0; i < 24; i++) {
		pass_by(40 * MINUTE, 150 * SECOND);
		given_call_of(1);
		for (int k = 0; k < 4; k++) {
			pass_by(4 * MINUTE, 4 * MINUTE);
			given_call_of(1);
		}
	}
	looked();
	expect("SELECT status, nudge_count, count(*) FROM stall GROUP BY 1, 2",
	       "self_recovered|3|24\n");
	expect("SELECT kind, count(*) FROM event WHERE kind LIKE 'stall.%' GROUP BY 1",
	       "stall.escalated|24\nstall.nudged|72\nstall.raised|24\nstall.self_recovered|24\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stall");
	TCase *c = tcase_create("stall");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, silence_raises_an_alert_with_what_the_agent_did_last);
	tcase_add_test(c, an_alert_comes_within_100_ms_of_its_time);
	tcase_add_test(c, a_call_before_the_time_begins_the_time_anew);
	tcase_add_test(c,
	               who_waits_for_an_answer_is_not_silent_and_the_time_begins_with_the_answer);
	tcase_add_test(c, who_waits_for_a_write_is_not_silent);
	tcase_add_test(c, who_is_paused_is_not_silent_and_the_time_begins_with_the_resumption);
	tcase_add_test(c, without_stall_detection_for_a_session_no_alert_is_raised);
	tcase_add_test(c, switching_it_off_closes_the_alert_and_on_begins_the_time);
	tcase_add_test(c, without_stall_detection_at_all_no_alert_is_raised);
	tcase_add_test(
	    c, nobody_answers_an_alert_so_the_agent_is_nudged_and_then_the_operator_called_once);
	tcase_add_test(c, with_no_retries_the_operator_is_called_at_once);
	tcase_add_test(c, a_nudge_that_the_rules_refuse_calls_the_operator_and_is_not_repeated);
	tcase_add_test(c, an_operators_nudge_gives_the_agent_new_time);
	tcase_add_test(c, a_call_of_the_agent_ends_the_alert_and_the_counting);
	tcase_add_test(c, an_agent_that_a_nudge_wakes_only_for_a_moment_is_not_nudged_for_ever);
	tcase_add_test(c, a_stop_and_a_pause_close_the_alert);
	tcase_add_test(c, a_session_whose_agent_has_left_is_interrupted_and_raises_no_alert);
	tcase_add_test(c, an_agent_that_we_started_is_there_while_its_process_runs);
	tcase_add_test(c, who_spoke_to_an_agent_that_has_left_is_told_so);
	tcase_add_test(c, of_a_client_that_may_have_ended_is_said_once_that_it_is_silent);
	tcase_add_test(c, an_interrupted_session_over_http_raises_no_alert);
	tcase_add_test(
	    c, who_does_not_come_for_an_answer_over_http_raises_no_alert_and_is_interrupted);
	tcase_add_test(
	    c, a_caller_without_a_session_of_its_protocol_raises_no_alert_and_is_interrupted);
	tcase_add_test(c, an_agent_that_leaves_closes_its_alert);
	tcase_add_test(c, silence_outlives_a_restart_with_the_time_already_run);
	tcase_add_test(c, the_time_until_a_nudge_outlives_a_crash);
	tcase_add_test(c, a_suspend_does_not_count_as_silence);
	tcase_add_test(c, a_thousand_sessions_keep_their_own_times);
	tcase_add_test(c, none_of_a_thousand_times_is_met_early_and_most_within_100_ms);
	tcase_add_test(c, a_day_of_stalls_passes_in_seconds);
	suite_add_tcase(s, c);
	return run_suite(s);
}
