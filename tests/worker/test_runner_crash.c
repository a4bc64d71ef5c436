/* Whoever is killed, runner, supervisor or all at once: no process of an agent is left, none is
 * started twice, and the rows say what happened. */
#include "runner_case.h"

#include "agent.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* It starts something that heeds no signal and holds none of our pipes. */
static const char STUBBORN[] =
    "sh -c 'trap \"\" TERM HUP INT; while :; do sleep 0.2; done' \"$here\" >/dev/null 2>&1 &\n"
    "echo started >> \"$here/started\"\n"
    "while [ ! -e \"$here/go\" ]; do sleep 0.05; done";

static int lines_of(const char *name)
{
	OWNED(char_ptr) char *text = get_file(site.workspace, name);
	int lines = 0;

	for (const char *c = text ? text : ""; *c; c++)
		lines += *c == '\n';
	return lines;
}

static void was_started(int times)
{
	ck_assert_int_eq(lines_of("started"), times);
}

static int given_stubborn(void)
{
	int run = given_run(STUBBORN);

	run_becomes(run, "running||||active");
	free(file_with_lines("started", 1));
	return run;
}

static void kill_supervisor(void)
{
	(void)kill(site.pid, SIGKILL);
	ck_assert_int_eq(end_of(site.pid), 128 + SIGKILL);
	site.pid = 0;
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready' AND name NOT LIKE 'runner%'",
	            "0\n");
}

/* ---- kills ---- */

START_TEST(a_killed_runner_takes_all_that_its_agent_started_along)
{
	setup();
	int run = given_stubborn();
	(void)kill(runner_of(run), SIGKILL);
	run_becomes(run, "ended|interrupted|||interrupted");
	ck_assert_str_eq(of_run(run, "why"), "its runner ended: signal 9 (KILL)");
	processes_become(run, 0);
	expect("SELECT state FROM worker WHERE name = 'runner-1'", "died\n");
	was_started(1);
}
END_TEST

START_TEST(a_killed_runner_takes_what_has_left_the_group_along)
{
	setup();
	int run = given_run("setsid -f sh -c 'trap \"\" TERM HUP; echo >>away; "
	                    "while :; do sleep 1; done'\n"
	                    "while :; do sleep 0.05; done");
	free(file_with_lines("away", 1));
	run_becomes(run, "running||||active");
	(void)kill(runner_of(run), SIGKILL);
	run_becomes(run, "ended|interrupted|||interrupted");
	processes_become(run, 0);
}
END_TEST

START_TEST(an_agent_outlives_its_supervisor_and_is_adopted_by_the_next)
{
	setup();
	int run = given_stubborn();
	OWNED(char_ptr) char *pid = xstrdup(of_run(run, "pid"));
	pid_t runner = runner_of(run);
	kill_supervisor();
	ck_assert_int_eq(kill((pid_t)atoi(pid), 0), 0);
	site_start(&site);
	run_becomes(run, "running||||active");
	ck_assert_str_eq(of_run(run, "pid"), pid);
	ck_assert_int_eq(runner_of(run), runner);
	put_file(site.workspace, "go", "");
	run_becomes(run, "ended|exited|0||terminated");
	processes_become(run, 0);
	was_started(1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_adopted_runner_that_is_killed_is_noticed)
{
	setup();
	int run = given_stubborn();
	kill_supervisor();
	site_start(&site);
	(void)kill(runner_of(run), SIGKILL);
	run_becomes(run, "ended|interrupted|||interrupted");
	processes_become(run, 0);
	expect_soon("SELECT state FROM worker WHERE name = 'runner-1'", "died\n");
}
END_TEST

START_TEST(an_adopted_runner_ends_with_the_system)
{
	setup();
	int run = given_stubborn();
	kill_supervisor();
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
	run_becomes(run, "ended|interrupted||15|interrupted");
	processes_become(run, 0);
}
END_TEST

START_TEST(an_agent_that_ends_while_nobody_supervises_is_settled_by_its_runner)
{
	setup();
	int run = given_stubborn();
	kill_supervisor();
	put_file(site.workspace, "go", "");
	run_becomes(run, "ended|exited|0||terminated");
	processes_become(run, 0);
	site_start(&site);
	run_becomes(run, "ended|exited|0||terminated");
}
END_TEST

START_TEST(what_is_left_when_everything_was_killed_goes_at_the_next_start)
{
	setup();
	int run = given_stubborn();
	site_kill(&site);
	processes_become(run, 1); /* the stubborn one: the kernel killed the agent */
	expect("SELECT state FROM agent_run", "running\n");
	site_start(&site);
	run_becomes(run, "ended|interrupted|||interrupted");
	ck_assert_str_eq(of_run(run, "why"), "its runner ended with the system");
	processes_become(run, 0);
	was_started(1);
}
END_TEST

START_TEST(a_run_that_was_wanted_when_everything_was_killed_begins_at_the_next_start)
{
	setup();
	site_kill(&site);
	int run = given_run("echo started >> \"$here/started\"; exit 0");
	expect("SELECT state FROM agent_run", "wanted\n");
	site_start(&site);
	run_becomes(run, "ended|exited|0||terminated");
	was_started(1);
}
END_TEST

START_TEST(a_supervisor_that_is_killed_at_any_moment_of_a_start_starts_no_agent_twice)
{
	setup();
	for (int i = 0; i < 12; i++) {
		int run = given_run("echo started >> \"$here/started\"\n"
		                    "while [ ! -e \"$here/go\" ]; do sleep 0.05; done");

		(void)poll(NULL, 0, i * 4);
		(void)kill(site.pid, SIGKILL);
		ck_assert_int_eq(end_of(site.pid), 128 + SIGKILL);
		site_start(&site);
		run_becomes(run, "running||||active");
		free(file_with_lines("started", i + 1));
		was_started(i + 1);
	}
	put_file(site.workspace, "go", "");
	expect_soon("SELECT count(*), outcome FROM agent_run GROUP BY outcome", "12|exited\n");
	was_started(12);
}
END_TEST

/* ---- at its system calls ---- */

/* Its runner is killed at its nth such call, and a system is started; whether it came so far. */
static bool survives(const char *call, int n)
{
	int status;

	make_site();
	given("INSERT INTO agent (name, command, args, protocol, env_pass, env_set, acp_version,"
	      " startup_timeout_ms, max_line_length, framing, is_default, is_builtin, updated_at)"
	      " VALUES ('shell', '/bin/sh', '[\"-c\", \"eval \\\"$0\\\"\"]', 'mcp', '[]', '{}',"
	      " 'auto', 30000, 1048576, 'ndjson', 0, 0, '2026-01-01T00:00:00.000Z')");
	int run = given_run("echo started >> \"$here/started\"; exit 0");
	pid_t tracer = start_killed_at("runner-1", call, n);
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	bool killed = WIFSIGNALED(status) || WEXITSTATUS(status) != 0;

	site_start(&site);
	expect_soon("SELECT state FROM agent_run", "ended\n");
	expect("SELECT coalesce(pid IS NOT NULL, 0) FROM agent_run WHERE outcome = 'exited'",
	       strcmp(of_run(run, "outcome"), "exited") == 0 ? "1\n" : "");
	expect("SELECT count(*) FROM agent_run WHERE outcome NOT IN ('exited', 'interrupted')",
	       "0\n");
	processes_become(run, 0);
	if (strcmp(of_run(run, "outcome"), "exited") == 0 || lines_of("started") > 1)
		was_started(1);
	ck_assert_int_eq(site_stop(&site), 0);
	return killed;
}

START_TEST(a_runner_that_is_killed_before_any_flush_starts_no_agent_twice)
{
	kill_at_each("fdatasync", 1, survives);
}
END_TEST

START_TEST(a_runner_that_is_killed_before_any_write_starts_no_agent_twice)
{
	kill_at_each("pwrite64", 7, survives);
}
END_TEST

START_TEST(a_runner_that_is_killed_at_any_close_starts_no_agent_twice)
{
	kill_at_each("close", 9, survives);
}
END_TEST

/* ---- stops ---- */

START_TEST(a_stop_of_the_system_ends_agents_and_interrupts_their_sessions)
{
	setup();
	int run = given_run("trap 'echo bye >> \"$here/said\"; exit 0' TERM\n"
	                    "echo ready >> \"$here/said\"\nwhile :; do sleep 0.05; done");
	run_becomes(run, "running||||active");
	free(file_with_lines("said", 1));
	ck_assert_int_eq(site_stop(&site), 0);
	run_becomes(run, "ended|interrupted|0||interrupted");
	ck_assert_str_eq(of_run(run, "why"), "the system stopped");
	free(file_with_lines("said", 2));
	ck_assert_int_eq(processes_of(run), 0);
	expect("SELECT DISTINCT state FROM worker", "stopped\n");
	OWNED(str) struct str left = { 0 };
	(void)shell(&left,
	            "ls %s/.local/state/agent-intercom/run/agent-intercom/ | grep -e runner "
	            "-e applier.lock",
	            site.home);
	ck_assert_str_eq(str_text(&left), "applier.lock\n");
}
END_TEST

START_TEST(an_agent_that_does_not_want_to_go_holds_no_stop_up_for_ten_seconds)
{
	int64_t begin;

	setup();
	int run = given_run("trap '' TERM\nsh -c 'while :; do sleep 0.1; done' \"$here\" &\n"
	                    "echo ready >> \"$here/said\"\nwhile :; do sleep 0.1; done");
	free(file_with_lines("said", 1));
	begin = agent_ms();
	ck_assert_int_eq(site_stop(&site), 0);
	ck_assert_int_lt(agent_ms() - begin, 10000);
	run_becomes(run, "ended|interrupted||9|interrupted");
	processes_become(run, 0);
}
END_TEST

/* Of a process, in ticks of 10 ms. */
static int processor_time(pid_t pid)
{
	OWNED(str) struct str said = { 0 };

	(void)shell(&said,
	            "cut -d ' ' -f 14,15 /proc/%d/stat | tr ' ' '+' | sed 's/^/echo $((/; "
	            "s/$/))/' | sh",
	            (int)pid);
	return atoi(str_text(&said));
}

START_TEST(a_runner_waits_idly_for_an_agent_that_does_not_want_to_go)
{
	int before;
	pid_t runner;

	setup();
	int run = given_run("trap '' TERM\necho ready >> \"$here/said\"\n"
	                    "while :; do sleep 0.1; done");
	run_becomes(run, "running||||active");
	free(file_with_lines("said", 1));
	runner = runner_of(run);
	before = processor_time(runner);
	(void)kill(runner, SIGTERM);
	expect_still("SELECT state FROM agent_run", "running\n", 2000);
	ck_assert_int_lt(processor_time(runner) - before, 30);
	advance(5000);
	run_becomes(run, "ended|interrupted||9|interrupted");
}
END_TEST

START_TEST(a_runner_that_is_halted_is_killed_with_its_agent)
{
	setup();
	int run = given_stubborn();
	(void)kill(runner_of(run), SIGSTOP);
	ck_assert_int_eq(site_stop(&site), 0);
	run_becomes(run, "ended|interrupted|||interrupted");
	processes_become(run, 0);
}
END_TEST

START_TEST(a_runner_that_hangs_is_killed_with_its_agent_within_a_minute)
{
	setup();
	int run = given_stubborn();
	(void)kill(runner_of(run), SIGSTOP);
	for (int i = 0; i < 6 && strcmp(of_run(run, "state"), "running") == 0; i++) {
		advance(10000);
		(void)poll(NULL, 0, 2050); /* looks are apart in real time, too */
	}
	run_becomes(run, "ended|interrupted|||interrupted");
	processes_become(run, 0);
	expect("SELECT name FROM worker WHERE state = 'died'", "runner-1\n");
}
END_TEST

START_TEST(a_runner_of_another_build_ends_before_the_database_is_touched)
{
	setup();
	int run = given_stubborn();
	kill_supervisor();
	char folder[PROGRAM_BYTES], sign[40];
	(void)snprintf(folder, sizeof(folder), "%s/.local/state/agent-intercom/run/agent-intercom",
	               site.home);
	(void)snprintf(sign, sizeof(sign), "%d 0.0\n", (int)runner_of(run));
	put_file(folder, "runner-1.lock", sign);
	site_start(&site);
	run_becomes(run, "ended|interrupted||15|interrupted");
	processes_become(run, 0);
	was_started(1);
}
END_TEST

START_TEST(a_restore_ends_agents_that_outlived_their_supervisor_and_starts_none)
{
	OWNED(str) struct str said = { 0 };
	char program[PROGRAM_BYTES];

	setup();
	int run = given_stubborn();
	kill_supervisor();
	int wanted = given_run("echo started >> \"$here/started\"");
	ck_assert_int_eq(wanted, run + 1);
	test_program("agent-intercom", program);
	ck_assert_int_eq(
	    shell(&said, "%s --config %s backup %s/copy.db", program, site.config, site.workspace),
	    0);
	leave_store();
	ck_assert_msg(shell(&said, "%s --config %s restore --yes %s/copy.db 2>&1", program,
	                    site.config, site.workspace) == 0,
	              "%s", str_text(&said));
	processes_become(run, 0);
	site_start(&site);
	str_reset(&said);
	(void)shell(&said, "sqlite3 %s 'SELECT state, outcome, why FROM agent_run ORDER BY seq'",
	            site.database);
	says(str_text(&said), "ended|interrupted|restored: ");
	ck_assert_ptr_null(strstr(str_text(&said), "exited"));
	was_started(1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_restore_kills_what_is_left_when_everything_was_killed)
{
	OWNED(str) struct str said = { 0 };
	char program[PROGRAM_BYTES];

	setup();
	test_program("agent-intercom", program);
	ck_assert_int_eq(
	    shell(&said, "%s --config %s backup %s/copy.db", program, site.config, site.workspace),
	    0);
	int run = given_stubborn();
	site_kill(&site);
	processes_become(run, 1); /* the stubborn one, of which the backup knows nothing */
	leave_store();
	ck_assert_msg(shell(&said, "%s --config %s restore --yes %s/copy.db 2>&1", program,
	                    site.config, site.workspace) == 0,
	              "%s", str_text(&said));
	processes_become(run, 0);
}
END_TEST

START_TEST(fifty_agents_that_are_wanted_at_once_run_once_each)
{
	setup();
	/* Else the last ones wait for a write lock that those which have begun all want. */
	given("BEGIN IMMEDIATE");
	for (int i = 0; i < 50; i++)
		(void)given_run("echo started >> \"$here/started\"\n"
		                "while [ ! -e \"$here/go\" ]; do sleep 0.5; done");
	given("COMMIT");
	expect_soon("SELECT count(*), state, outcome, why FROM agent_run GROUP BY 2, 3, 4",
	            "50|running||\n");
	free(file_with_lines("started", 50));
	put_file(site.workspace, "go", "");
	expect_soon("SELECT count(*), outcome FROM agent_run GROUP BY outcome", "50|exited\n");
	was_started(50);
	expect_soon("SELECT count(*) FROM worker WHERE name LIKE 'runner%' AND state = 'stopped'",
	            "50\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner");
	TCase *c = store_case(s, "kill", 120);

	tcase_add_test(c, a_killed_runner_takes_all_that_its_agent_started_along);
	tcase_add_test(c, a_killed_runner_takes_what_has_left_the_group_along);
	tcase_add_test(c, an_agent_outlives_its_supervisor_and_is_adopted_by_the_next);
	tcase_add_test(c, an_adopted_runner_that_is_killed_is_noticed);
	tcase_add_test(c, an_adopted_runner_ends_with_the_system);
	tcase_add_test(c, an_agent_that_ends_while_nobody_supervises_is_settled_by_its_runner);
	tcase_add_test(c, what_is_left_when_everything_was_killed_goes_at_the_next_start);
	tcase_add_test(c,
	               a_run_that_was_wanted_when_everything_was_killed_begins_at_the_next_start);
	tcase_add_test(c,
	               a_supervisor_that_is_killed_at_any_moment_of_a_start_starts_no_agent_twice);
	c = store_case(s, "sweep", 300);
	tcase_add_test(c, a_runner_that_is_killed_before_any_flush_starts_no_agent_twice);
	tcase_add_test(c, a_runner_that_is_killed_before_any_write_starts_no_agent_twice);
	tcase_add_test(c, a_runner_that_is_killed_at_any_close_starts_no_agent_twice);
	c = store_case(s, "stop", 120);
	tcase_add_test(c, a_stop_of_the_system_ends_agents_and_interrupts_their_sessions);
	tcase_add_test(c, an_agent_that_does_not_want_to_go_holds_no_stop_up_for_ten_seconds);
	tcase_add_test(c, a_runner_waits_idly_for_an_agent_that_does_not_want_to_go);
	tcase_add_test(c, a_runner_that_is_halted_is_killed_with_its_agent);
	tcase_add_test(c, a_runner_that_hangs_is_killed_with_its_agent_within_a_minute);
	tcase_add_test(c, a_runner_of_another_build_ends_before_the_database_is_touched);
	c = store_case(s, "restore", 60);
	tcase_add_test(c, a_restore_ends_agents_that_outlived_their_supervisor_and_starts_none);
	tcase_add_test(c, a_restore_kills_what_is_left_when_everything_was_killed);
	c = store_case(s, "many", 120);
	tcase_add_test(c, fifty_agents_that_are_wanted_at_once_run_once_each);
	return run_suite(s);
}
