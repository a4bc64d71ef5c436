/* The supervisor, agent-intercom without a command, and its doctor: real binaries on a fresh store.
 * Where a worker has to misbehave, the system is run from a folder in which one is replaced. */
#include "supervisor_case.h"

#include <glob.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/user.h>

/* Kills a worker for the n-th time and waits until it is back. */
static void kill_and_await(const char *worker, int n)
{
	char sql[200], states[40];

	(void)kill(pid_of(worker), SIGKILL);
	(void)snprintf(
	    sql, sizeof(sql),
	    "SELECT count(nullif(state, 'ready')), count(nullif(state, 'died')) FROM worker"
	    " WHERE name = '%s'",
	    worker);
	(void)snprintf(states, sizeof(states), "%d|1\n", n);
	expect_soon(sql, states);
}

static void given_questions(void)
{
	struct instant now = clock_now(), due = clock_instant(clock_now_ms() + 10 * MINUTE);
	char sql[2000];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's1', 'h', 'local:ann', '/w', 'active', 'local',"
	    " '%s', '%s')",
	    now.text, now.text);
	given(sql);
	for (int i = 1; i <= 3; i++) {
		static const char *const KINDS[] = { "", "clearance", "prompt", "standby" };

		(void)snprintf(
		    sql, sizeof(sql),
		    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title,"
		    " body, file_path, risk_level, original_hash, prompt_type, timeout_ms,"
		    " deadline_at, created_at, updated_at) VALUES (%d, 'q%d', 1, '%s',"
		    " 'pending', '%064d', 't', 'b', 'f', 'low', 'new_file', 'continuation',"
		    " nullif(%d, 3) * 600000, CASE WHEN %d < 3 THEN '%s' END, '%s', '%s')",
		    i, i, KINDS[i], i, i, i, due.text, now.text, now.text);
		given(sql);
	}
}

/* ---- watch ---- */

START_TEST(a_killed_worker_is_back_at_once)
{
	pid_t before;

	start_ready();
	before = pid_of("applier");
	(void)kill(before, SIGKILL);
	expect_soon("SELECT state FROM worker WHERE name = 'applier' ORDER BY seq",
	            "died\nready\n");
	ck_assert_int_ne(pid_of("applier"), before);
	expect("SELECT detail FROM worker WHERE state = 'died'", "signal 9 (KILL)\n");
	log_has("ended: signal 9 (KILL); restart in 100 ms");
	log_has_soon("applier is back");
	stop();
}
END_TEST

START_TEST(a_worker_that_hangs_is_told_of_and_started_again)
{
	pid_t before;

	start_ready();
	before = pid_of("applier");
	(void)kill(before, SIGSTOP);
	for (int i = 0; i < 12; i++) {
		advance(31 * SECOND);
		(void)poll(NULL, 0, SECOND + 50); /* it takes nobody for dead any sooner */
	}
	expect_soon("SELECT state FROM worker WHERE name = 'applier' ORDER BY seq",
	            "died\nready\n");
	ck_assert_int_ne(pid_of("applier"), before);
	expect("SELECT detail FROM worker WHERE state = 'died'", "no sign of life: it hung\n");
	expect("SELECT actor, json_extract(detail, '$.detail') FROM event"
	       " WHERE kind = 'worker.died'",
	       "applier|no sign of life: it hung\n");
	expect("SELECT count(*) - 1 FROM worker", SITE_WORKERS "\n"); /* nobody else */
	log_has_soon("hangs: no sign of life since");
	stop();
}
END_TEST

/* Ten seconds of the clock for each look, until somebody has been replaced or a minute is over. */
static void a_minute_goes_by(void)
{
	for (int i = 0; i < 6; i++) {
		OWNED(char_ptr)
		char *died = rows("SELECT count(*) FROM worker WHERE state = 'died'");

		if (died[0] != '0')
			return;
		advance(10 * SECOND);
		(void)poll(NULL, 0, 2 * SECOND + 50); /* looks are apart in real time, too */
	}
}

/* It executes one jump to itself for ever, on a processor that nobody else wants. False: nobody
 * here knows how that is written, or may. */
static bool spins(pid_t pid)
{
#ifdef __x86_64__
	static const struct sched_param NONE = { 0 };
	static const long JUMP = 0xFEEB; /* jmp . */
	struct user_regs_struct now;
	int status;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0)
		return false;
	(void)sched_setscheduler(pid, SCHED_IDLE, &NONE);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &now), 0);
	now.orig_rax = (unsigned long long)-1; /* no system call is begun again */
	ck_assert_int_eq(ptrace(PTRACE_POKETEXT, pid, (void *)now.rip, (void *)JUMP), 0);
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, NULL, &now), 0);
	ck_assert_int_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	return true;
#else
	(void)pid;
	return false;
#endif
}

static void is_replaced_in_a_minute(const char *worker)
{
	char query[200];

	a_minute_goes_by();
	(void)snprintf(query, sizeof(query),
	               "SELECT state, detail FROM worker WHERE name = '%s' AND state = 'died'",
	               worker);
	expect_soon(query, "died|no sign of life: it hung\n");
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
	expect("SELECT count(*) FROM worker WHERE state = 'died'", "1\n"); /* nobody else */
}

START_TEST(a_worker_in_an_endless_loop_is_replaced_within_a_minute)
{
	start_ready();
	SKIP_UNLESS(spins(pid_of("retention")), "ptrace and x86-64");
	is_replaced_in_a_minute("retention");
	stop();
}
END_TEST

START_TEST(a_front_in_an_endless_loop_is_replaced_within_a_minute)
{
	start_ready();
	SKIP_UNLESS(spins(pid_of("mcp-front")), "ptrace and x86-64");
	is_replaced_in_a_minute("mcp-front");
	stop();
}
END_TEST

START_TEST(a_worker_that_stands_still_is_replaced_within_a_minute)
{
	start_ready();
	(void)kill(pid_of("applier"), SIGSTOP);
	is_replaced_in_a_minute("applier");
	stop();
}
END_TEST

START_TEST(who_works_for_long_and_says_so_is_left_alone)
{
	char pattern[PATH_BYTES];
	glob_t lock;
	pid_t before;

	start_ready();
	before = pid_of("applier");
	(void)kill(before, SIGSTOP);
	(void)snprintf(pattern, sizeof(pattern), "%s/agent-intercom/*/applier.lock", runtime);
	ck_assert_int_eq(glob(pattern, 0, NULL, &lock), 0);
	for (int i = 0; i < 8; i++) { /* its signs, as long work gives them */
		ck_assert_int_eq(utimensat(AT_FDCWD, lock.gl_pathv[0], NULL, 0), 0);
		advance(10 * SECOND);
		(void)poll(NULL, 0, 2 * SECOND + 50);
	}
	globfree(&lock);
	(void)kill(before, SIGCONT);
	ck_assert_int_eq(pid_of("applier"), before);
	expect("SELECT count(*) FROM worker WHERE state = 'died'", "0\n");
	stop();
}
END_TEST

START_TEST(who_dies_again_and_again_is_restarted_ever_more_slowly)
{
	own_folder();
	replace("applier", "#!/bin/sh\nexit 70\n");
	start();
	log_has_soon("ended: exit 70; restart in 100 ms");
	log_has_soon("ended: exit 70; restart in 200 ms");
	log_has_soon("ended: exit 70; restart in 400 ms");
	(void)kill(supervisor, SIGTERM);
	ends_with(0, "stopping: SIGTERM");
}
END_TEST

START_TEST(a_worker_that_wants_a_successor_has_it_at_once)
{
	char script[2 * PATH_BYTES];

	(void)snprintf(script, sizeof(script),
	               "#!/bin/sh\n[ -e '%s' ] && exec '%.500s/applier' \"$@\"\n: >'%s'; exit %d\n",
	               in("ended"), bin, in("ended"), WORKER_RENEWS);
	own_folder();
	replace("applier", script);
	start_ready();
	log_has(" is replaced");
	{
		OWNED(char_ptr) char *log = log_text();

		ck_assert_ptr_null(strstr(log, " ended: "));
	}
	stop();
}
END_TEST

START_TEST(who_wants_successors_again_and_again_is_restarted_ever_more_slowly)
{
	char script[40];

	(void)snprintf(script, sizeof(script), "#!/bin/sh\nexit %d\n", WORKER_RENEWS);
	own_folder();
	replace("applier", script);
	start();
	log_has_soon("ended: exit 79; restart in 100 ms");
	log_has_soon("ended: exit 79; restart in 200 ms");
	log_has(" is replaced");
	(void)kill(supervisor, SIGTERM);
	ends_with(0, "stopping: SIGTERM");
}
END_TEST

START_TEST(after_a_long_life_a_restart_is_quick_again)
{
	start_ready();
	kill_and_await("retention", 1);
	log_has("restart in 100 ms");
	kill_and_await("retention", 2);
	log_has("restart in 200 ms");
	write_file(in("log"), "", 0600);
	advance(2 * MINUTE);
	kill_and_await("retention", 3);
	log_has("restart in 100 ms");
	stop();
}
END_TEST

START_TEST(a_worker_that_cannot_work_any_more_stops_the_system_with_78)
{
	own_folder();
	start_ready();
	given_questions();
	replace("retention", "#!/bin/sh\nexit 78\n");
	(void)kill(pid_of("retention"), SIGKILL);
	ends_with(78, "retention cannot work (exit 78");
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/stopped"), F_OK), -1);
}
END_TEST

/* Agents would ask in one file, and operators look into another. */
START_TEST(a_system_whose_database_is_replaced_or_removed_stops_and_says_so)
{
	OWNED(str) struct str away = { 0 }, replace_it = { 0 };
	OWNED(char_ptr) char *words = NULL;

	str_addf(&away, "%s.away", test_db());
	str_addf(&replace_it, "cp '%s' '%s' && mv '%s' '%s'", test_db(), away.bytes, away.bytes,
	         test_db());
	start_ready();
	ck_assert_int_eq(rename(test_db(), away.bytes), 0);
	ends_with(78, "is not the file any more that this system has open");
	words = read_file(below(runtime, "agent-intercom/agent-intercom/stopped"));
	ck_assert_ptr_nonnull(strstr(words, "put that file back"));
	ck_assert_int_eq(rename(away.bytes, test_db()), 0);
	start_ready();
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/stopped"), F_OK), -1);
	ck_assert_int_eq(system(replace_it.bytes), 0);
	ends_with(78, "agent-intercom restore FILE puts a copy there");
}
END_TEST

/* Who looks for it resolves the link, and opens it under another name, with another -wal. */
START_TEST(a_system_whose_database_is_moved_away_behind_a_link_stops_with_78)
{
	OWNED(str) struct str away = { 0 };

	str_addf(&away, "%s.away", test_db());
	start_ready();
	ck_assert_int_eq(rename(test_db(), away.bytes), 0);
	ck_assert_int_eq(symlink(away.bytes, test_db()), 0);
	ends_with(78, "is not the file any more that this system has open");
}
END_TEST

START_TEST(a_binary_that_is_away_for_a_moment_is_awaited)
{
	char from[PATH_BYTES + 20];

	(void)snprintf(from, sizeof(from), "%.500s/applier", bin);
	own_folder();
	start_ready();
	replace("applier", NULL);
	(void)kill(pid_of("applier"), SIGKILL);
	log_has_soon("next attempt in");
	ck_assert_int_eq(symlink(from, in("bin/applier")), 0);
	log_has_soon("applier is back");
	stop();
}
END_TEST

START_TEST(a_killed_supervisor_loses_nothing_and_takes_its_workers_along)
{
	start_ready();
	given_questions();
	(void)kill(supervisor, SIGKILL);
	ck_assert_int_eq(finish(), 128 + SIGKILL);
	expect_soon("SELECT DISTINCT state FROM worker", "stopped\n");
	expect("SELECT DISTINCT state FROM request", "pending\n");

	start_ready();
	expect("SELECT id, state FROM request ORDER BY seq",
	       "q1|pending\nq2|pending\nq3|pending\n");
	stop();
}
END_TEST

START_TEST(a_start_waits_for_the_workers_of_a_killed_supervisor)
{
	pid_t old;

	start_ready();
	old = pid_of("applier");
	(void)kill(old, SIGSTOP);
	(void)kill(supervisor, SIGKILL);
	ck_assert_int_eq(finish(), 128 + SIGKILL);

	start();
	log_has_soon("a worker of an earlier run is still ending (");
	(void)kill(old, SIGCONT);
	(void)ready_line();
	stop();
}
END_TEST

/* As a process of another user does, whom nobody can end, and who has stopped it. */
START_TEST(a_start_waits_for_nobody_who_holds_a_workspace)
{
	char pattern[PATH_BYTES], *name;
	glob_t lock;
	int held;

	start_ready();
	(void)snprintf(pattern, sizeof(pattern), "%s/agent-intercom/*/applier.lock", runtime);
	ck_assert_int_eq(glob(pattern, 0, NULL, &lock), 0);
	name = strrchr(lock.gl_pathv[0], '/') + 1;
	(void)memcpy(name, "ws-1234", 7); /* as long as "applier" */
	held = open(lock.gl_pathv[0], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	globfree(&lock);
	ck_assert(held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0);
	stop();
	start_ready();
	stop();
	(void)close(held);
}
END_TEST

START_TEST(sessions_without_a_process_count_for_no_limit_after_a_crash)
{
	start_ready();
	given_questions();
	given(
	    "UPDATE session SET status = 'paused' WHERE seq = 1;"
	    "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode, origin,"
	    " created_at, updated_at) SELECT 'started ' || value, machine, owner_user_id,"
	    " workspace_root, value, mode, 'started', created_at, updated_at FROM session,"
	    " json_each('[\"created\",\"active\"]') WHERE seq = 1;"
	    "UPDATE session SET status = 'active' WHERE seq = 1");
	(void)kill(supervisor, SIGKILL);
	ck_assert_int_eq(finish(), 128 + SIGKILL);
	start_ready();
	expect("SELECT id, status FROM session WHERE origin = 'started' ORDER BY seq",
	       "started created|interrupted\nstarted active|interrupted\n");
	expect("SELECT status FROM session WHERE seq = 1", "active\n"); /* it has its own process */
	stop();
}
END_TEST

START_TEST(a_row_that_only_claims_to_live_is_buried)
{
	given(
	    "INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)"
	    " VALUES ('old', 'applier', 'h', 1, '0', 'starting', '2026-01-01T00:00:00.000Z',"
	    " '2026-01-01T00:00:00.000Z'); UPDATE worker SET state = 'ready'");
	start_ready();
	expect("SELECT state FROM worker WHERE id = 'old'", "died\n");
	stop();
}
END_TEST

START_TEST(a_hangup_changes_nothing)
{
	start_ready();
	(void)kill(supervisor, SIGHUP);
	(void)poll(NULL, 0, 100);
	ck_assert_int_eq(waitpid(supervisor, NULL, WNOHANG), 0);
	stop();
}
END_TEST

/* ---- stop ---- */

START_TEST(a_stop_interrupts_what_waits_and_keeps_its_time)
{
	start_ready();
	given_questions();

	stop();

	expect("SELECT id, state, deadline_at, remaining_ms BETWEEN 590000 AND 600000 FROM request"
	       " ORDER BY seq",
	       "q1|interrupted||1\nq2|interrupted||1\nq3|interrupted||\n");
	expect("SELECT status, connectivity_status FROM session", "interrupted|offline\n");
	expect("SELECT DISTINCT state FROM worker", "stopped\n");
	log_has("stopping: 1 session(s), 1 approval(s), 1 prompt(s), 1 standby(s) interrupted");
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/stopped"), F_OK), 0);

	start_ready();
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/stopped"), F_OK), -1);
	stop();
}
END_TEST

START_TEST(more_than_a_page_is_interrupted)
{
	start_ready();
	given_questions();
	given("WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)"
	      " INSERT INTO request (id, session_seq, kind, state, digest, title, body, timeout_ms,"
	      " deadline_at, created_at, updated_at) SELECT 'q' || i, 1, 'standby', 'pending',"
	      " printf('%064d', i), 't', 'b', 1000, '2099-01-01T00:00:00.000Z',"
	      " '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM n");
	stop();
	expect("SELECT state, count(*) FROM request GROUP BY 1", "interrupted|1100\n");
}
END_TEST

START_TEST(an_interrupt_from_the_terminal_is_a_stop)
{
	start_ready();
	(void)kill(pid_of("watchdog"), SIGINT); /* ^C goes to the whole group */
	(void)kill(supervisor, SIGINT);
	ends_with(0, "stopping: SIGINT");
}
END_TEST

START_TEST(a_worker_that_hangs_is_killed_after_5_seconds)
{
	start_ready();
	given_questions();
	(void)kill(pid_of("mcp-front"), SIGSTOP);
	(void)kill(supervisor, SIGTERM);
	log_has_soon("stopping: SIGTERM");
	(void)poll(NULL, 0, 300);
	expect("SELECT count(*) FROM worker WHERE state = 'ready'",
	       SITE_WORKERS "\n"); /* its turn is first */
	advance(4500);
	expect_soon("SELECT name FROM worker WHERE state = 'ready'", "mcp-front\n");
	advance(600);
	ends_with(0, "it did not leave in time");
	expect("SELECT state FROM worker WHERE name = 'mcp-front'", "died\n");
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
}
END_TEST

START_TEST(a_second_signal_ends_it_at_once_with_its_rows_in_order)
{
	start_ready();
	given_questions();
	(void)kill(pid_of("mcp-front"), SIGSTOP);
	(void)kill(supervisor, SIGTERM);
	log_has_soon("stopping: SIGTERM");
	(void)poll(NULL, 0, IMPATIENT_MS);
	(void)kill(supervisor, SIGTERM);
	ends_with(0, "asked to stop twice");
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
}
END_TEST

START_TEST(two_signals_in_one_moment_are_one)
{
	start_ready();
	(void)kill(supervisor, SIGTERM);
	(void)kill(supervisor, SIGINT); /* timeout(1) sends to the process and to its group */
	ck_assert_int_eq(finish(), 0);
	expect("SELECT DISTINCT state FROM worker", "stopped\n");
}
END_TEST

START_TEST(a_second_signal_does_not_wait_for_a_locked_database)
{
	start_ready();
	given_questions();
	given("BEGIN IMMEDIATE");
	(void)kill(supervisor, SIGTERM);
	log_has_soon("stopping: SIGTERM");
	(void)poll(NULL, 0, IMPATIENT_MS);
	(void)kill(supervisor, SIGTERM);
	log_has_soon("asked to stop twice");
	(void)poll(NULL, 0, IMPATIENT_MS); /* the workers end, or have ended */
	(void)kill(supervisor, SIGTERM);
	ck_assert_int_eq(finish(), 75);
	given("ROLLBACK");
	expect("SELECT DISTINCT state FROM request", "pending\n");
	start_ready();
	stop();
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
}
END_TEST

START_TEST(a_wanted_stop_ends_in_time_with_0_beside_a_locked_database)
{
	int64_t begun;

	start_ready();
	given_questions();
	given("BEGIN IMMEDIATE");
	(void)kill(supervisor, SIGTERM);
	log_has_soon("stopping: SIGTERM");
	(void)poll(NULL, 0, IMPATIENT_MS);
	advance(4500);
	(void)poll(NULL, 0, IMPATIENT_MS); /* all are asked to leave */
	begun = real_ms();
	advance(5500);
	ends_with(0, "could not be marked interrupted");
	ck_assert_int_lt(real_ms() - begun, 8000);
	given("ROLLBACK");
	expect("SELECT DISTINCT state FROM request", "pending\n");
	start_ready();
	stop();
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("supervisor_watch");
	TCase *c = tcase_create("supervisor");

	tcase_add_checked_fixture(c, setup, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, a_killed_worker_is_back_at_once);
	tcase_add_test(c, a_worker_that_hangs_is_told_of_and_started_again);
	tcase_add_test(c, a_worker_in_an_endless_loop_is_replaced_within_a_minute);
	tcase_add_test(c, a_front_in_an_endless_loop_is_replaced_within_a_minute);
	tcase_add_test(c, a_worker_that_stands_still_is_replaced_within_a_minute);
	tcase_add_test(c, who_works_for_long_and_says_so_is_left_alone);
	tcase_add_test(c, who_dies_again_and_again_is_restarted_ever_more_slowly);
	tcase_add_test(c, a_worker_that_wants_a_successor_has_it_at_once);
	tcase_add_test(c, who_wants_successors_again_and_again_is_restarted_ever_more_slowly);
	tcase_add_test(c, after_a_long_life_a_restart_is_quick_again);
	tcase_add_test(c, a_worker_that_cannot_work_any_more_stops_the_system_with_78);
	tcase_add_test(c, a_system_whose_database_is_replaced_or_removed_stops_and_says_so);
	tcase_add_test(c, a_system_whose_database_is_moved_away_behind_a_link_stops_with_78);
	tcase_add_test(c, a_binary_that_is_away_for_a_moment_is_awaited);
	tcase_add_test(c, a_killed_supervisor_loses_nothing_and_takes_its_workers_along);
	tcase_add_test(c, a_start_waits_for_the_workers_of_a_killed_supervisor);
	tcase_add_test(c, a_start_waits_for_nobody_who_holds_a_workspace);
	tcase_add_test(c, sessions_without_a_process_count_for_no_limit_after_a_crash);
	tcase_add_test(c, a_row_that_only_claims_to_live_is_buried);
	tcase_add_test(c, a_hangup_changes_nothing);
	tcase_add_test(c, a_stop_interrupts_what_waits_and_keeps_its_time);
	tcase_add_test(c, more_than_a_page_is_interrupted);
	tcase_add_test(c, an_interrupt_from_the_terminal_is_a_stop);
	tcase_add_test(c, a_worker_that_hangs_is_killed_after_5_seconds);
	tcase_add_test(c, a_second_signal_ends_it_at_once_with_its_rows_in_order);
	tcase_add_test(c, two_signals_in_one_moment_are_one);
	tcase_add_test(c, a_second_signal_does_not_wait_for_a_locked_database);
	tcase_add_test(c, a_wanted_stop_ends_in_time_with_0_beside_a_locked_database);
	suite_add_tcase(s, c);
	return run_suite(s);
}
