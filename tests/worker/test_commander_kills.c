/* commander, its keepers and its commands killed: nothing of a run survives, it is interrupted
 * once, and never begins again. */
#include "commander_case.h"

#include "err.h"
#include "str.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 10 };

static const char *group, *session, *bare; /* arguments of what a run has started */

/* A run that has started processes in its group, outside of it, and outside without our variables.
 */
static int given_run(void)
{
	OWNED(str) struct str line = { 0 };

	group = mark();
	session = mark();
	bare = mark();
	str_addf(&line,
	         "echo began >> began; trap '' TERM; sleep %s & setsid sleep %s & "
	         "setsid env -i sleep %s & while :; do wait; done",
	         group, session, bare);
	int run = run_line(str_text(&line));
	run_becomes(run, "running|||");
	processes_become(group, 1);
	processes_become(session, 1);
	processes_become(bare, 1);
	return run;
}

static void nothing_survives(void)
{
	processes_become(group, 0);
	processes_become(session, 0);
	processes_become(bare, 0);
}

static void ran_once_and_is_interrupted(int run)
{
	run_becomes(run, "ended|interrupted||");
	file_becomes("began", "began\n");
	expect("SELECT count(*) FROM event WHERE kind = 'alias.interrupted'", "1\n");
	expect("SELECT count(*) FROM event WHERE kind = 'alias.running'", "1\n");
}

static pid_t keeper_of(int run)
{
	OWNED(str) struct str out = { 0 };

	ck_assert_int_eq(
	    shell(&out, "sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/%s/stat", of_run(run, "pid")), 0);
	return (pid_t)strtol(str_text(&out), NULL, 10);
}

START_TEST(nothing_survives_a_killed_commander_and_the_next_one_says_so)
{
	given_commander();
	int run = given_run();

	kill_worker(commander);
	nothing_survives(); /* although no other one has begun */
	start_commander();
	ran_once_and_is_interrupted(run);
	ck_assert_str_eq(of_run(run, "why"), "agent-intercom was killed while it ran");
}
END_TEST

START_TEST(a_killed_keeper_takes_its_run_along_and_no_other)
{
	given_commander();
	given_alias("wait", "while [ ! -e go ]; do sleep 0.02; done; echo over");
	int other = order_run("wait", SESSION_B), run = given_run();

	(void)kill(keeper_of(run), SIGKILL);
	nothing_survives();
	run_becomes(run, "ended|interrupted||");
	run_becomes(other, "running|||");
	put_file(workspace, "go", "");
	run_becomes(other, "ended|done|0|");
	ck_assert_str_eq(output_of(other), "over\n");
}
END_TEST

/* What has left its group without our variables is nobody's then. */
START_TEST(where_the_keeper_is_killed_too_the_next_commander_kills_the_rest)
{
	given_commander();
	int run = given_run();
	pid_t keeper = keeper_of(run);
	OWNED(str) struct str out = { 0 };

	(void)kill(keeper, SIGSTOP);
	kill_worker(commander);
	(void)kill(keeper, SIGKILL);
	start_commander();
	ran_once_and_is_interrupted(run);
	processes_become(group, 0);
	processes_become(session, 0);
	(void)shell(&out, "pkill -KILL -f '^sleep %s$'", bare);
}
END_TEST

START_TEST(a_stop_of_the_system_ends_what_runs_and_what_waits)
{
	given_commander();
	int run = given_run();
	given_alias("next", "echo began >> began");
	int next = order_run("next", SESSION_A);
	run_becomes(next, "queued|||");

	stop_worker(commander);
	nothing_survives();
	run_becomes(run, "ended|interrupted||9");
	ck_assert_str_eq(of_run(run, "why"), "the system stopped");
	run_becomes(next, "ended|interrupted||");
	file_becomes("began", "began\n");
}
END_TEST

START_TEST(what_waited_for_a_killed_commander_runs_and_what_is_old_does_not)
{
	given_ground();
	given_alias("old", "echo old >> began");
	int old = order_run("old", SESSION_A);
	advance(11 * 60 * 1000);
	given_alias("new", "echo began >> began");
	given("INSERT INTO command (verb, argument, session_id, created_at) VALUES"
	      " ('run', 'new', 's-2', strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+11 minutes'))");
	start_commander();
	run_becomes(old, "ended|interrupted||");
	ck_assert_str_eq(of_run(old, "why"), "it did not begin: the system was not running");
	run_becomes(old + 1, "ended|done|0|");
	file_becomes("began", "began\n");
}
END_TEST

/* ---- the matrix ---- */

/* Waits until the run is over; false: strace and what it traces ended first. */
static bool is_over_before(pid_t tracer)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;) {
		OWNED(char_ptr) char *state = rows("SELECT state FROM alias_run");
		int status;

		if (waitpid(tracer, &status, WNOHANG) == tracer)
			return false;
		if (strcmp(state, "ended\n") == 0)
			return true;
		(void)poll(NULL, 0, LOOK_MS);
	}
	ck_abort_msg("the run is not over");
	return false;
}

/* commander, the keeper or the command is killed at its nth call, if it has so many. */
static bool survives(const char *call, int n)
{
	given_ground();
	given_alias("test", "echo began >> began; echo said");
	int run = order_run("test", SESSION_A);
	pid_t tracer = start_killed_at("commander", call, n);
	bool reached = !is_over_before(tracer);

	(void)kill(-tracer, SIGKILL);
	if (!reached)
		(void)waitpid(tracer, NULL, 0);
	start_commander();
	expect_soon("SELECT state FROM alias_run", "ended\n");
	expect("SELECT count(*) FROM event"
	       " WHERE kind IN ('alias.done', 'alias.interrupted', 'alias.failed')",
	       "1\n");
	OWNED(char_ptr) char *began = get_file(workspace, "began");
	/* Empty: the command was killed as it began. */
	ck_assert_msg(!began || !*began || strcmp(began, "began\n") == 0, "%s %d: %s", call, n,
	              began);
	if (strcmp(of_run(run, "outcome"), "done") == 0) {
		ck_assert_msg(began && *began, "%s %d: done, but it did not begin", call, n);
		ck_assert_str_eq(output_of(run), "said\n");
	}
	stop_worker(commander);
	return reached;
}

START_TEST(a_kill_at_any_call_runs_it_once_or_interrupts_it)
{
	SKIP_UNLESS(shell(NULL, "strace -V") == 0, "strace");
	kill_at_each("pwrite64", 5, survives);
	kill_at_each("fdatasync", 1, survives);
	kill_at_each("close", 11, survives);
	kill_at_each("poll", 1, survives);
	kill_at_each("epoll_ctl", 1, survives);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("commander_kills");
	TCase *c = store_case(s, "kills", 1500);

	tcase_add_test(c, nothing_survives_a_killed_commander_and_the_next_one_says_so);
	tcase_add_test(c, a_killed_keeper_takes_its_run_along_and_no_other);
	tcase_add_test(c, where_the_keeper_is_killed_too_the_next_commander_kills_the_rest);
	tcase_add_test(c, a_stop_of_the_system_ends_what_runs_and_what_waits);
	tcase_add_test(c, what_waited_for_a_killed_commander_runs_and_what_is_old_does_not);
	tcase_add_test(c, a_kill_at_any_call_runs_it_once_or_interrupts_it);
	return run_suite(s);
}
