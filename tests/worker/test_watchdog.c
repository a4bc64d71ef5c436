/* watchdog: what is past its time passes, at its time; time that does not count does not. */
#include "doorbell.h"
#include "harness.h"
#include "time_gap.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

/* What a busy machine may spoil is tried so often; what is wrong is wrong each time. */
enum { TRIES = 10 };

static const char RUNNING[] =
    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode, "
    "created_at,"
    " updated_at) VALUES (1, 's1', 'h', 'local:ann', '/w', 'active', 'local', '%s', '%s');"
    "INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq, identity,"
    " created_at) VALUES (1, 'k1', 'h', 'stdio', '2025-06-18', 1, '{}', '%s')";

static void given_session(void)
{
	struct instant now = clock_now();
	char sql[800];

	(void)snprintf(sql, sizeof(sql), RUNNING, now.text, now.text, now.text);
	given(sql);
}

/* A question that expires in ms. Returns the instant. */
static struct instant given_question(int seq, const char *kind, int64_t ms)
{
	struct instant now = clock_now(), due = clock_instant(clock_now_ms() + ms);
	char sql[1200];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body,"
	    " file_path, risk_level, original_hash, prompt_type, timeout_ms, deadline_at,"
	    " created_at, updated_at) VALUES (%d, 'q%d', 1, '%s', 'pending', '%064d', 't', 'b',"
	    " 'f', 'low', 'new_file', 'continuation', 1000, '%s', '%s', '%s')",
	    seq, seq, kind, seq, due.text, now.text, now.text);
	given(sql);
	return due;
}

/* A call that waits for question seq, until ms from now. */
static void given_call(int seq, int question, int64_t ms)
{
	struct instant now = clock_now(), until = clock_instant(clock_now_ms() + ms);
	char sql[800];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, digest,"
	    " state, request_seq, wait_until, created_at) VALUES (%d, 1, 1, '%d', 'modern',"
	    " 'check_clearance', '', 'waiting', %d, '%s', '%s')",
	    seq, seq, question, until.text, now.text);
	given(sql);
}

/* How many ms after its time question seq expires: it is asked when the watchdog has just looked
 * for foreign writers, and due shortly after its next look, so that looks alone are 200 ms late. */
static long lateness(int seq)
{
	struct instant due;
	char sql[300];

	advance(SECOND);
	due = given_question(seq, "clearance", 300);
	(void)snprintf(sql, sizeof(sql), "SELECT state FROM request WHERE seq = %d", seq);
	expect_soon(sql, "expired\n");
	(void)snprintf(sql, sizeof(sql),
	               "SELECT CAST(round((julianday(decided_at) - julianday('%s')) * 86400000) AS"
	               " INTEGER) FROM request JOIN decision ON decision_seq = decision.seq"
	               " WHERE request.seq = %d",
	               due.text, seq);
	OWNED(char_ptr) char *ms = rows(sql);
	return strtol(ms, NULL, 10);
}

START_TEST(a_deadline_is_met_within_100_ms_of_its_time)
{
	long late = LONG_MAX;

	fresh_store();
	given_session();
	(void)start_worker("watchdog");
	advance(MINUTE);
	for (int i = 1; i <= TRIES && late >= 100; i++) {
		late = lateness(i);
		ck_assert_int_ge(late, 0);
	}
	ck_assert_int_lt(late, 100);
	expect("SELECT DISTINCT decided_by, verdict FROM request JOIN decision"
	       " ON decision_seq = decision.seq",
	       "system:clock|timeout\n");
}
END_TEST

START_TEST(an_agent_of_acp_is_not_nudged_by_the_clock_while_its_tool_runs)
{
	struct instant now;
	OWNED(str) struct str sql = { 0 };

	fresh_store();
	given_session();
	now = clock_now();
	str_addf(
	    &sql,
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol, state,"
	    " created_at) VALUES (1, 1, 1, 'h', 'claude', 'acp', 'wanted', '%1$s');"
	    "UPDATE agent_run SET state = 'starting', pid = 7, process_start = 7;"
	    "UPDATE agent_run SET state = 'running', started_at = '%1$s';"
	    "INSERT INTO agent_turn (seq, run_seq, number, began_at) VALUES (1, 1, 1, '%1$s');"
	    "INSERT INTO agent_line (run_seq, turn_seq, kind, key, text, at)"
	    " VALUES (1, 1, 'tool', 'k', 'make', '%1$s');"
	    "INSERT INTO stall (id, session_seq, last_activity_at, idle_seconds, waits_since,"
	    " created_at, updated_at) VALUES ('s', 1, '%1$s', 300, '%1$s', '%1$s', '%1$s')",
	    now.text);
	given(sql.bytes);
	(void)start_worker("watchdog");
	advance(10 * MINUTE);
	expect("SELECT status, nudge_count FROM stall", "pending|0\n");
	given("UPDATE agent_line SET over_at = at");
	advance(MINUTE);
	expect_soon("SELECT status, nudge_count FROM stall", "nudged|1\n");
}
END_TEST

START_TEST(a_deadline_far_away_is_met_when_the_clock_gets_there)
{
	fresh_store();
	given_session();
	(void)start_worker("watchdog");
	given_question(1, "clearance", HOUR);
	given_question(2, "clearance", 2 * HOUR);

	advance(HOUR + SECOND);

	expect_soon("SELECT id, state FROM request ORDER BY seq", "q1|expired\nq2|pending\n");
}
END_TEST

START_TEST(more_than_one_batch_expires_in_one_go)
{
	fresh_store();
	given_session();
	(void)start_worker("watchdog");
	for (int i = 1; i <= 250; i++)
		given_question(i, "clearance", MINUTE);

	advance(2 * MINUTE);

	expect_soon("SELECT state, count(*) FROM request GROUP BY 1", "expired|250\n");
}
END_TEST

START_TEST(nothing_expires_in_the_first_minute)
{
	fresh_store();
	given_session();
	given_question(1, "clearance", -HOUR);
	given_call(1, 1, SECOND);
	(void)start_worker("watchdog");

	advance(45 * SECOND); /* and less than 15 s of real time */
	expect_soon("SELECT state FROM tool_call", "answered\n"); /* it has looked */
	expect("SELECT state FROM request", "pending\n");

	advance(16 * SECOND);
	expect_soon("SELECT state FROM request", "expired\n");
}
END_TEST

START_TEST(a_prompt_that_times_out_goes_on_and_a_standby_times_out)
{
	fresh_store();
	given_session();
	given_question(1, "prompt", MINUTE);
	given_question(2, "standby", MINUTE);
	given_call(1, 1, HOUR);
	(void)start_worker("watchdog");

	advance(2 * MINUTE);

	expect_soon("SELECT kind, state, decision FROM request ORDER BY seq",
	            "prompt|expired|continue\nstandby|expired|timeout\n");
	expect("SELECT t.state, a.call_seq FROM tool_call AS t JOIN ended_call AS a ON a.call_seq "
	       "= t.seq",
	       "answered|1\n");
}
END_TEST

START_TEST(an_interrupted_question_never_expires)
{
	fresh_store();
	given_session();
	given_question(1, "clearance", HOUR);
	given("UPDATE request SET state = 'interrupted', deadline_at = NULL, remaining_ms = 1000");
	given_question(2, "clearance", HOUR);
	(void)start_worker("watchdog");

	advance(1000 * (int64_t)HOUR);

	expect_soon("SELECT id, state FROM request ORDER BY seq", "q1|interrupted\nq2|expired\n");
}
END_TEST

START_TEST(the_end_of_a_wait_ends_the_call_and_not_the_question)
{
	fresh_store();
	given_session();
	given_question(1, "clearance", HOUR);
	(void)start_worker("watchdog");
	given_call(1, 1, 5 * SECOND);
	given_call(2, 1, HOUR);

	advance(6 * SECOND);

	expect_soon("SELECT seq, state FROM tool_call", "1|answered\n2|waiting\n");
	expect("SELECT call_seq FROM ended_call", "1\n");
	expect("SELECT state FROM request", "pending\n");
}
END_TEST

START_TEST(questions_that_the_rules_hold_back_do_not_fill_the_audit)
{
	fresh_store();
	given_session();
	given_question(1, "clearance", MINUTE);
	given_call(1, 1, 2 * MINUTE);
	given("DROP TRIGGER operator_system_is_active;"
	      "UPDATE operator SET active = 0 WHERE id = 'system:clock'");
	(void)start_worker("watchdog");

	advance(3 * MINUTE);
	expect_soon("SELECT state FROM tool_call", "answered\n");
	expect("SELECT state, (SELECT count(*) FROM decision) FROM request", "pending|0\n");

	given("UPDATE operator SET active = 1 WHERE id = 'system:clock'");
	advance(11 * SECOND);
	expect_soon("SELECT state FROM request", "expired\n");
}
END_TEST

/* ---- time that does not count ---- */

START_TEST(downtime_extends_deadlines)
{
	struct instant due;
	char sql[300];

	fresh_store();
	given_session();
	due = given_question(1, "clearance", HOUR);
	given_question(2, "clearance", HOUR);
	given("UPDATE request SET state = 'interrupted', deadline_at = NULL, remaining_ms = 1000"
	      " WHERE seq = 2");
	kill_worker(start_worker("watchdog"));

	advance(8 * HOUR);
	(void)start_worker("watchdog");

	expect("SELECT kind, machine FROM time_gap", "downtime|h\n");
	(void)snprintf(sql, sizeof(sql),
	               "SELECT round((julianday(deadline_at) - julianday('%s')) * 86400) BETWEEN "
	               "28800 AND 28835"
	               " FROM request WHERE seq = 1",
	               due.text);
	expect(sql, "1\n");
	expect("SELECT state, deadline_at FROM request WHERE seq = 2", "interrupted|\n");

	advance(58 * MINUTE);
	given_call(1, 1, -SECOND);
	expect_soon("SELECT state FROM tool_call", "answered\n");
	expect("SELECT state FROM request WHERE seq = 1", "pending\n");
	advance(3 * MINUTE);
	expect_soon("SELECT state FROM request WHERE seq = 1", "expired\n");
}
END_TEST

START_TEST(a_watchdog_that_died_before_it_was_ready_leaves_the_downtime_to_the_next)
{
	struct instant died;
	char sql[500];

	fresh_store();
	given_session();
	given_question(1, "clearance", HOUR);
	kill_worker(start_worker("watchdog"));
	advance(8 * HOUR);
	died = clock_now();
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)"
	    " VALUES ('w9', 'watchdog', 'h', 1, '0.1.0', 'starting', '%s', '%s')",
	    died.text, died.text);
	given(sql);

	(void)start_worker("watchdog");

	expect(
	    "SELECT kind, round((julianday(ended_at) - julianday(started_at)) * 24) FROM time_gap",
	    "downtime|8.0\n");
}
END_TEST

/* On a fast machine both are the same millisecond. */
START_TEST(a_watchdog_that_died_when_it_was_just_ready_watched_until_then)
{
	fresh_store();
	kill_worker(start_worker("watchdog"));
	given("UPDATE worker SET heartbeat_at = started_at");
	advance(8 * HOUR);
	(void)start_worker("watchdog");
	expect("SELECT kind, machine FROM time_gap", "downtime|h\n");
}
END_TEST

/* The ms that a watchdog took to start, stop and start again. */
static int64_t restart(void)
{
	int64_t began_ms;

	fresh_store();
	given_session();
	began_ms = clock_monotonic_ms();
	stop_worker(start_worker("watchdog"));
	(void)start_worker("watchdog");
	return clock_monotonic_ms() - began_ms;
}

START_TEST(a_quick_restart_is_no_downtime)
{
	int tries = 1;

	while (restart() >= TIME_GAP_DOWNTIME_MS)
		ck_assert_msg(tries++ < TRIES, "no restart was quick");
	expect("SELECT count(*) FROM time_gap", "0\n");
}
END_TEST

START_TEST(suspend_and_steps_of_the_clock_are_told_apart)
{
	struct time_reading now = { .wall_ms = 1000000, .boot_ms = 5000, .awake_ms = 5000 };
	struct time_watch w;
	struct time_gap gap;

	time_gap_watch(&w, &now);
	now = (struct time_reading){ 1010000, 15000, 15000 }; /* ten seconds pass */
	ck_assert(!time_gap_look(&w, &now, &gap));
	now = (struct time_reading){ 1070000, 75000, 15100 }; /* it slept for a minute */
	ck_assert(time_gap_look(&w, &now, &gap));
	ck_assert_int_eq(gap.suspend_ms, 59900);
	ck_assert_int_eq(gap.step_ms, 0);
	ck_assert_int_eq(gap.window_ms, 100);
	now = (struct time_reading){ 70000, 75000, 15100 }; /* it was set back */
	ck_assert(time_gap_look(&w, &now, &gap));
	ck_assert_int_eq(gap.suspend_ms, 0);
	ck_assert_int_eq(gap.step_ms, -1000000);
	now = (struct time_reading){ 70600, 75000, 15100 }; /* small steps add up */
	ck_assert(!time_gap_look(&w, &now, &gap));
	now = (struct time_reading){ 71200, 75000, 15100 };
	ck_assert(time_gap_look(&w, &now, &gap));
	ck_assert_int_eq(gap.step_ms, 1200);
	ck_assert(!time_gap_look(&w, &now, &gap));
}
END_TEST

/* By how many seconds deadline and wait moved when gap was recorded. */
static void expect_moved(struct time_gap gap, const char *question_call)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	struct instant due, until;
	char sql[400];

	fresh_store();
	given_session();
	due = given_question(1, "clearance", 5 * HOUR);
	until = clock_instant(clock_now_ms() + 4 * HOUR);
	given_call(1, 1, 4 * HOUR);
	advance(HOUR);
	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);

	ck_assert_int_eq(time_gap_record(&st, "h", &gap, &e), 1);
	ck_assert_int_eq(time_gap_record(&st, "another machine", &gap, &e), 0);

	(void)snprintf(sql, sizeof(sql),
	               "SELECT round((julianday(deadline_at) - julianday('%s')) * 86400),"
	               " round((julianday(wait_until) - julianday('%s')) * 86400)"
	               " FROM request, tool_call",
	               due.text, until.text);
	expect(sql, question_call);
}

START_TEST(a_suspend_moves_deadlines_and_no_waits)
{
	expect_moved((struct time_gap){ .suspend_ms = 600 * SECOND, .window_ms = 250 },
	             "600.0|0.0\n");
}
END_TEST

START_TEST(a_clock_that_is_set_takes_deadlines_and_waits_along)
{
	expect_moved((struct time_gap){ .step_ms = -600 * SECOND, .window_ms = 250 },
	             "-600.0|-600.0\n");
}
END_TEST

START_TEST(a_question_asked_after_the_gap_keeps_its_deadline)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	struct instant due;
	char sql[200];

	fresh_store();
	given_session();
	due = given_question(1, "clearance", HOUR);
	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);

	struct time_gap gap = { .suspend_ms = 600 * SECOND, .window_ms = 30 * SECOND };
	ck_assert_int_eq(time_gap_record(&st, "h", &gap, &e), 0);

	(void)snprintf(sql, sizeof(sql), "SELECT deadline_at = '%s' FROM request", due.text);
	expect(sql, "1\n");
}
END_TEST

/* ---- writers who do not ring ---- */

static pid_t watchdog;

/* A bell of the test's own, after the ring with which a watchdog begins. */
static struct doorbell listen_quietly(void)
{
	struct doorbell bell = DOORBELL_INIT;
	struct err e = { 0 };
	int run = open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_msg(!doorbell_open(&bell, run, "test", &e), "%s", e.text);
	(void)close(run);
	watchdog = start_worker("watchdog");
	return bell;
}

static bool rings_within(const struct doorbell *bell, int ms)
{
	struct pollfd fd = { .fd = bell->fd, .events = POLLIN };
	bool rung = poll(&fd, 1, ms) == 1;

	doorbell_drain(bell);
	return rung;
}

static void settle(const struct doorbell *bell)
{
	while (rings_within(bell, 600)) /* two looks of the watchdog */
		continue;
}

START_TEST(a_commit_of_the_sqlite3_shell_rings_every_bell)
{
	struct doorbell bell;
	char command[600];

	fresh_store();
	bell = listen_quietly();
	settle(&bell);

	(void)snprintf(command, sizeof(command),
	               "sqlite3 %s \"INSERT INTO command (verb) VALUES ('typed')\"", test_db());
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */

	ck_assert(rings_within(&bell, 10 * SECOND));
	settle(&bell);
	doorbell_clear(&bell);
}
END_TEST

START_TEST(a_shell_that_stays_open_is_noticed_too)
{
	struct doorbell bell;
	char command[400];
	FILE *shell;

	fresh_store();
	bell = listen_quietly();
	settle(&bell);

	(void)snprintf(command, sizeof(command), "sqlite3 %s", test_db());
	shell = popen(command, "we"); /* NOLINT(cert-env33-c) */
	ck_assert_ptr_nonnull(shell);
	(void)fputs("INSERT INTO command (verb) VALUES ('typed');\n", shell);
	(void)fflush(shell);

	ck_assert(rings_within(&bell, 10 * SECOND));
	ck_assert_int_eq(pclose(shell), 0);
	doorbell_clear(&bell);
}
END_TEST

/* Whether it listens for writes to the log: only then it sleeps longer than between two looks. */
static bool listens_for_writes(pid_t pid)
{
	char command[200];

	(void)snprintf(command, sizeof(command),
	               "cat /proc/%d/fdinfo/* 2>/dev/null | grep '^inotify' | grep -q 'mask:a '",
	               (int)pid); /* IN_MODIFY | IN_CLOSE_WRITE */
	return system(command) == 0; /* NOLINT(cert-env33-c) */
}

START_TEST(when_nobody_writes_it_sleeps_until_somebody_does)
{
	struct doorbell bell;
	char command[600];

	fresh_store();
	bell = listen_quietly();
	(void)snprintf(command, sizeof(command),
	               "sqlite3 %s \"INSERT INTO command (verb) VALUES ('typed')\"", test_db());
	for (int i = 0; i < 2; i++) {
		while (!listens_for_writes(watchdog))
			(void)poll(NULL, 0, 10);
		settle(&bell);
		ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
		ck_assert(rings_within(&bell, 10 * SECOND));
		ck_assert(!listens_for_writes(watchdog));
	}
	doorbell_clear(&bell);
}
END_TEST

START_TEST(a_shell_that_only_reads_rings_nobody)
{
	struct doorbell bell;
	char command[400];
	bool rung = true;

	fresh_store();
	bell = listen_quietly();
	(void)snprintf(command, sizeof(command),
	               "sqlite3 %s 'SELECT count(*) FROM request' >/dev/null", test_db());
	for (int i = 0; i < TRIES && rung; i++) { /* a ring for what was before may be late */
		settle(&bell);
		ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
		rung = rings_within(&bell, 600);
	}
	ck_assert(!rung);
	doorbell_clear(&bell);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watchdog");
	TCase *c = tcase_create("watchdog");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_deadline_is_met_within_100_ms_of_its_time);
	tcase_add_test(c, an_agent_of_acp_is_not_nudged_by_the_clock_while_its_tool_runs);
	tcase_add_test(c, a_deadline_far_away_is_met_when_the_clock_gets_there);
	tcase_add_test(c, more_than_one_batch_expires_in_one_go);
	tcase_add_test(c, nothing_expires_in_the_first_minute);
	tcase_add_test(c, a_prompt_that_times_out_goes_on_and_a_standby_times_out);
	tcase_add_test(c, an_interrupted_question_never_expires);
	tcase_add_test(c, the_end_of_a_wait_ends_the_call_and_not_the_question);
	tcase_add_test(c, questions_that_the_rules_hold_back_do_not_fill_the_audit);
	tcase_add_test(c, downtime_extends_deadlines);
	tcase_add_test(c, a_watchdog_that_died_before_it_was_ready_leaves_the_downtime_to_the_next);
	tcase_add_test(c, a_watchdog_that_died_when_it_was_just_ready_watched_until_then);
	tcase_add_test(c, a_quick_restart_is_no_downtime);
	tcase_add_test(c, suspend_and_steps_of_the_clock_are_told_apart);
	tcase_add_test(c, a_suspend_moves_deadlines_and_no_waits);
	tcase_add_test(c, a_clock_that_is_set_takes_deadlines_and_waits_along);
	tcase_add_test(c, a_question_asked_after_the_gap_keeps_its_deadline);
	tcase_add_test(c, a_commit_of_the_sqlite3_shell_rings_every_bell);
	tcase_add_test(c, a_shell_that_stays_open_is_noticed_too);
	tcase_add_test(c, when_nobody_writes_it_sleeps_until_somebody_does);
	tcase_add_test(c, a_shell_that_only_reads_rings_nobody);
	suite_add_tcase(s, c);
	return run_suite(s);
}
