/* commander: runs of the commands of [commands], from the order to the end. */
#include "commander_case.h"

#include "err.h"
#include "str.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

START_TEST(a_command_runs_exactly_as_configured_in_the_workspace)
{
	given_commander();
	int run = run_line("pwd; echo 'a  b' \"$((1 + 2))\" >&2; cat; exit 3");
	OWNED(str) struct str wanted = { 0 };

	run_becomes(run, "ended|failed|3|");
	str_addf(&wanted, "%s\na  b 3\n", workspace);
	ck_assert_str_eq(output_of(run), str_text(&wanted));
	ck_assert_str_eq(of_run(run, "bytes = length(shown) AND cut_bytes = 0"), "1");
	ck_assert_str_eq(of_run(run, "content_seq IS NULL AND why IS NULL"), "1");
	ck_assert_str_eq(of_run(run, "started_at >= created_at AND ended_at >= started_at"), "1");
	expect("SELECT kind, actor FROM event WHERE kind GLOB 'alias.*' ORDER BY seq",
	       "alias.running|local:tester\nalias.failed|local:tester\n");
	run = run_line("true");
	run_becomes(run, "ended|done|0|");
	run = run_line("kill -9 $$");
	run_becomes(run, "ended|failed||9");
}
END_TEST

START_TEST(what_was_configured_at_the_order_runs_and_nothing_else)
{
	given_ground();
	given_alias("test", "echo before");
	int run = order_run("test", SESSION_A);

	given_alias("test", "echo after");
	start_commander();
	run_becomes(run, "ended|done|0|");
	ck_assert_str_eq(output_of(run), "before\n");
	given("INSERT INTO command (verb, argument) VALUES ('run', 'test; rm -rf x')");
	given("INSERT INTO command (verb, argument) VALUES ('run', 'tests')");
	expect("SELECT outcome, why FROM command WHERE seq > 1 ORDER BY seq",
	       "not_found|command not found: test; rm -rf x\nnot_found|command not found: tests\n");
	expect("SELECT count(*) FROM alias_run", "1\n");
}
END_TEST

START_TEST(a_command_gets_the_variables_of_the_list_and_none_of_slack)
{
	(void)setenv("SLACK_BOT_TOKEN", "xoxb", 1);
	(void)setenv("OUR_KEY", "k", 1);
	(void)setenv("LC_TIME", "C", 1);
	given_commander();
	int run =
	    run_line("tr '\\0' '\\n' < /proc/$$/environ | sed 's/=.*//' | sort | tr '\\n' ' '; "
	             "echo; ls -m /proc/$$/fd; readlink /proc/$$/fd/0; "
	             "grep -E '^Sig(Blk|Ign)' /proc/self/status");
	run_becomes(run, "ended|done|0|");
	const char *said = output_of(run);
	ck_assert_msg(strstr(said, "SLACK") == NULL && strstr(said, "OUR_KEY") == NULL, "%s", said);
	ck_assert_msg(strstr(said, "INTERCOM_PARENT") == NULL, "%s", said);
	ck_assert_msg(strstr(said, " INTERCOM_WORKSPACE_ROOT ") != NULL, "%s", said);
	ck_assert_msg(strstr(said, "\n0, 1, 2\n/dev/null\n") != NULL, "%s", said);
	ck_assert_msg(strstr(said, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000") != NULL,
	              "%s", said);
}
END_TEST

START_TEST(one_runs_at_a_time_in_a_session_and_others_beside_it)
{
	given_commander();
	given_alias("wait", "while [ ! -e go ]; do sleep 0.02; done; echo x >> order");
	given_alias("then", "echo y >> order");
	int first = order_run("wait", SESSION_A), second = order_run("then", SESSION_A);
	int third = order_run("then", SESSION_A), beside = order_run("wait", SESSION_B);

	run_becomes(first, "running|||");
	run_becomes(beside, "running|||");
	run_becomes(second, "queued|||");
	run_becomes(third, "queued|||");
	order_stop(third);
	run_becomes(third, "ended|stopped||");
	put_file(workspace, "go", "");
	run_becomes(second, "ended|done|0|");
	run_becomes(beside, "ended|done|0|");
	char after[100];
	(void)snprintf(after, sizeof(after),
	               "started_at >= (SELECT ended_at FROM alias_run AS o WHERE o.seq = %d)",
	               first);
	ck_assert_str_eq(of_run(second, after), "1");
}
END_TEST

START_TEST(a_timeout_ends_all_that_the_command_started)
{
	given_commander();
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at)"
	      " VALUES ('command_timeout_seconds', '1', 'file', '2026-01-01T08:00:00.000Z')");
	OWNED(str) struct str line = { 0 };
	const char *a = mark(), *b = mark(), *c = mark();

	str_addf(&line,
	         "trap '' TERM; sleep %s & setsid sleep %s & setsid env -i sleep %s & wait; wait",
	         a, b, c);
	int run = run_line(str_text(&line));
	run_becomes(run, "running|||");
	processes_become(b, 1);
	processes_become(c, 1);
	run_becomes(run, "ended|timeout||9");
	ck_assert_str_eq(of_run(run, "why"), "it did not end within 1 s (command_timeout_seconds)");
	ck_assert_int_eq(processes_with(a) + processes_with(b) + processes_with(c), 0);
}
END_TEST

START_TEST(a_stop_ends_it_and_says_who_stopped_it)
{
	given_commander();
	int run = run_line("trap 'echo bye; exit 7' TERM; echo ready; sleep 1000 & wait");

	expect_soon("SELECT count(*) FROM event WHERE kind = 'alias.running'", "1\n");
	run_becomes(run, "running|||");
	expect_soon("SELECT shown FROM alias_run", "ready\n\n");
	order_stop(run);
	run_becomes(run, "ended|stopped|7|");
	ck_assert_str_eq(output_of(run), "ready\nbye\n");
	ck_assert_str_eq(of_run(run, "stopped_by"), "local:tester");
	order_stop(run);
	expect("SELECT outcome FROM command ORDER BY seq DESC LIMIT 1", "refused\n");
}
END_TEST

START_TEST(what_forks_away_ends_with_its_command)
{
	given_commander();
	OWNED(str) struct str line = { 0 };
	const char *a = mark(), *b = mark();

	str_addf(&line, "(sleep %s &); setsid env -i sleep %s >/dev/null 2>&1 & echo gone", a, b);
	int run = run_line(str_text(&line));
	run_becomes(run, "ended|done|0|");
	ck_assert_str_eq(output_of(run), "gone\n");
	ck_assert_int_eq(processes_with(a) + processes_with(b), 0);
}
END_TEST

START_TEST(a_command_that_reads_its_input_finds_none)
{
	given_commander();
	int run = run_line("cat; echo over");

	run_becomes(run, "ended|done|0|");
	ck_assert_str_eq(output_of(run), "over\n");
}
END_TEST

START_TEST(a_command_that_closes_its_output_runs_on)
{
	given_commander();
	int run = run_line("exec >&- 2>&-; while [ ! -e go ]; do sleep 0.02; done; : > done");

	run_becomes(run, "running|||");
	put_file(workspace, "go", "");
	run_becomes(run, "ended|done|0|");
	file_becomes("done", "");
	ck_assert_str_eq(of_run(run, "bytes"), "0");
}
END_TEST

/* Written as fast as it can be: if it was not read, it would never end. */
START_TEST(a_gigabyte_of_output_is_read_and_its_ends_are_kept)
{
	char path[60];
	long before, after;
	char *status;

	given_commander();
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)commander);
	int run = run_line("echo first; head -c 1000000000 /dev/zero; echo; echo last");
	run_becomes(run, "running|||");
	status = get_file(path, "statm");
	before = strtol(strchr(status, ' '), NULL, 10);
	free(status);
	for (int64_t end = agent_ms() + 10 * AGENT_PATIENCE_MS;
	     strcmp(of_run(run, "state"), "ended") != 0 && agent_ms() < end;)
		(void)poll(NULL, 0, 50);
	run_becomes(run, "ended|done|0|");
	status = get_file(path, "statm");
	after = strtol(strchr(status, ' '), NULL, 10);
	free(status);
	ck_assert_str_eq(of_run(run, "bytes"), "1000000012");
	ck_assert_str_eq(of_run(run, "cut_bytes"), "999934476");
	ck_assert_int_le(after - before, 4096); /* pages: 16 MiB, with a sanitizer */
	const char *said = output_of(run);
	ck_assert_msg(strncmp(said, "first\n", 6) == 0, "%.100s", said);
	ck_assert_ptr_nonnull(strstr(said, "… 999934476 bytes are missing here …"));
	ck_assert_str_eq(said + strlen(said) - 6, "\nlast\n");
	ck_assert_ptr_nonnull(strstr(of_run(run, "shown"), "first\n"));
}
END_TEST

START_TEST(a_long_output_is_kept_whole_and_shown_by_its_first_and_last_lines)
{
	given_commander();
	int run = run_line("seq 1 1000; printf '\\033[31mred\\033[0m \\001 token=abcdefgh'");

	run_becomes(run, "ended|done|0|");
	ck_assert_str_eq(of_run(run, "content_seq IS NOT NULL"), "1");
	const char *whole = output_of(run), *shown = of_run(run, "shown");
	ck_assert_ptr_nonnull(strstr(whole, "\n500\n501\n"));
	ck_assert_ptr_nonnull(strstr(whole, "\nred "));
	ck_assert_msg(strchr(whole, 033) == NULL && strstr(whole, "abcdefgh") == NULL, "%s",
	              whole + strlen(whole) - 60);
	ck_assert_msg(strncmp(shown, "1\n2\n3\n", 6) == 0, "%s", shown);
	ck_assert_msg(strstr(shown, "\n10\n… 971 lines …\n982\n") != NULL, "%s", shown);
}
END_TEST

START_TEST(what_cannot_begin_says_why)
{
	given_commander();
	given("UPDATE setting SET value = '/nowhere/at/all' WHERE name = 'default_workspace_root'");
	given_alias("test", "true");
	int run = order_run("test", 0);

	run_becomes(run, "ended|failed||");
	ck_assert_str_eq(of_run(run, "why"),
	                 "cannot enter the workspace /nowhere/at/all: No such file or directory");
	run = run_line("no-such-program-of-ours");
	run_becomes(run, "ended|failed|127|");
	ck_assert_ptr_nonnull(strstr(output_of(run), "no-such-program-of-ours: not found"));
}
END_TEST

START_TEST(the_clock_of_silence_stands_still_while_it_runs)
{
	given_commander();
	given("UPDATE session SET idle_since = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 seconds')"
	      " WHERE seq = 1");

	int run = run_line("while [ ! -e go ]; do sleep 0.02; done");

	run_becomes(run, "running|||");
	advance(3600 * 1000);
	expect("SELECT idle_since IS NOT NULL FROM session WHERE seq = 1", "1\n");
	put_file(workspace, "go", "");
	/* The hour was the time limit, too. */
	expect_soon("SELECT state FROM alias_run", "ended\n");
	expect("SELECT abs((julianday(s.idle_since) - julianday(r.ended_at)) * 86400) < 10,"
	       " (julianday(s.idle_since) - julianday(r.started_at)) * 86400 > 3590"
	       " FROM session AS s, alias_run AS r WHERE s.seq = 1",
	       "1|1\n");
}
END_TEST

START_TEST(a_run_has_begun_however_soon_it_is_over)
{
	given_commander();
	given_alias("soon", "true");
	for (int i = 0; i < 30; i++)
		(void)order_run("soon", SESSION_A + i % 2);
	expect_soon("SELECT count(*) FROM alias_run WHERE outcome = 'done'"
	            " AND started_at IS NOT NULL",
	            "30\n");
	expect("SELECT count(*) FROM event WHERE kind = 'alias.running'", "30\n");
}
END_TEST

START_TEST(nobody_is_alerted_while_it_runs)
{
	given_commander();
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES"
	      " ('command_timeout_seconds', '86400', 'file', '2026-01-01T08:00:00.000Z'),"
	      " ('stall.enabled', 'true', 'file', '2026-01-01T08:00:00.000Z');"
	      "INSERT INTO connection (key, machine, transport, protocol_version, session_seq,"
	      " identity, created_at) VALUES ('k', 'h', 'stdio', '2025-11-25', 1, '{}',"
	      " '2026-01-01T09:00:00.000Z')");
	pid_t watchdog = start_worker("watchdog");
	advance(61 * 1000); /* the grace after its start */
	given(
	    "UPDATE session SET idle_since = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+61 seconds'),"
	    " last_activity_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+61 seconds')"
	    " WHERE seq = 1");
	int run = run_line("while [ ! -e go ]; do sleep 0.02; done");
	run_becomes(run, "running|||");
	for (int i = 0; i < 4; i++) {
		advance(100 * 1000);
		(void)poll(NULL, 0, 100);
	}
	expect_still("SELECT count(*) FROM stall", "0\n", 500);
	put_file(workspace, "go", "");
	run_becomes(run, "ended|done|0|");
	expect_still("SELECT count(*) FROM stall", "0\n", 500);
	advance(301 * 1000);
	expect_soon("SELECT count(*) FROM stall", "1\n");
	stop_worker(watchdog);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("commander");
	TCase *c = store_case(s, "commander", 400);

	tcase_add_test(c, a_command_runs_exactly_as_configured_in_the_workspace);
	tcase_add_test(c, what_was_configured_at_the_order_runs_and_nothing_else);
	tcase_add_test(c, a_command_gets_the_variables_of_the_list_and_none_of_slack);
	tcase_add_test(c, one_runs_at_a_time_in_a_session_and_others_beside_it);
	tcase_add_test(c, a_timeout_ends_all_that_the_command_started);
	tcase_add_test(c, a_stop_ends_it_and_says_who_stopped_it);
	tcase_add_test(c, what_forks_away_ends_with_its_command);
	tcase_add_test(c, a_command_that_reads_its_input_finds_none);
	tcase_add_test(c, a_command_that_closes_its_output_runs_on);
	tcase_add_test(c, a_gigabyte_of_output_is_read_and_its_ends_are_kept);
	tcase_add_test(c, a_long_output_is_kept_whole_and_shown_by_its_first_and_last_lines);
	tcase_add_test(c, what_cannot_begin_says_why);
	tcase_add_test(c, the_clock_of_silence_stands_still_while_it_runs);
	tcase_add_test(c, a_run_has_begun_however_soon_it_is_over);
	tcase_add_test(c, nobody_is_alerted_while_it_runs);
	return run_suite(s);
}
