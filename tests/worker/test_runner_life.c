/* The runner, in a whole system: an agent is started, runs, and ends, and its rows tell it. */
#include "runner_case.h"

#include "agent.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(an_agent_that_is_wanted_runs_and_its_end_is_written)
{
	setup();
	int run = given_run("echo \"$0\" | sed -n 3p > \"$here/told\"\necho working\n"
	                    "while [ ! -e \"$here/go\" ]; do sleep 0.05; done\n"
	                    "echo 'I cannot go on' >&2; exit 3");
	run_becomes(run, "running||||active");
	OWNED(char_ptr) char *told = file_with_lines("told", 1);
	ck_assert_str_eq(told, "echo working\n");
	ck_assert_str_eq(of_run(run, "started_at >= created_at"), "1");
	put_file(site.workspace, "go", "");
	run_becomes(run, "ended|exited|3||terminated");
	ck_assert_str_eq(of_run(run, "stderr_tail"), "I cannot go on");
	ck_assert_str_eq(of_run(run, "why IS NULL AND ended_at >= started_at"), "1");
	expect_soon("SELECT state FROM worker WHERE name = 'runner-1'", "stopped\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* A list in Markdown begins with '-'. */
START_TEST(a_prompt_is_never_an_option_of_the_agent)
{
	setup();
	int run = given_run_with("--yes\n- then the tests",
	                         "args = '[\"-c\", \"printf %s \\\"$0\\\" > told\"]'");
	run_becomes(run, "ended|exited|0||terminated");
	OWNED(char_ptr) char *told = file_with_lines("told", 1);
	ck_assert_str_eq(told, " --yes\n- then the tests");
}
END_TEST

START_TEST(an_agent_sees_only_the_variables_that_it_is_meant_to_see)
{
	(void)setenv("SLACK_SECRET_THING", "s", 1);
	(void)setenv("OUR_KEY", "k", 1);
	(void)setenv("OUR_OTHER", "o", 1);
	(void)setenv("TERM", "dumb", 1);
	(void)setenv("LC_TIME", "C", 1);
	setup();
	int run = given_run_of("while [ ! -e \"$here/go\" ]; do sleep 0.05; done",
	                       "env_pass = '[\"OUR_KEY\",\"SLACK_*\",\"NOT_SET\"]',"
	                       "env_set = '{\"FIXED\":\"1\",\"SLACK_BOT_TOKEN\":\"xoxb\"}'");
	run_becomes(run, "running||||active");
	OWNED(str) struct str names = { 0 };
	(void)shell(&names,
	            "tr '\\0' '\\n' < /proc/%s/environ | grep -v -e ^PWD= -e ^XDG_ | sed "
	            "'s/=.*//' | sort | tr '\\n' ' '",
	            of_run(run, "pid"));
	OWNED(str) struct str expected = { 0 };
	str_add(&expected, "FIXED HOME INTERCOM_MCP_URL INTERCOM_SESSION_ID "
	                   "INTERCOM_WORKSPACE_ROOT ");
	static const char *const USUAL[] = { "LANG",    "LC_TIME", "LOGNAME", "NO_COLOR",
		                             "OUR_KEY", "PATH",    "SHELL",   "TERM",
		                             "TMPDIR",  "TZ",      "USER" };
	for (size_t i = 0; i < COUNT(USUAL); i++)
		if (getenv(USUAL[i]) || strcmp(USUAL[i], "NO_COLOR") == 0)
			str_addf(&expected, "%s ", USUAL[i]);
	ck_assert_str_eq(str_text(&names), str_text(&expected));
	OWNED(str) struct str values = { 0 };
	(void)shell(&values, "tr '\\0' '\\n' < /proc/%s/environ | grep -e INTERCOM -e NO_COLOR",
	            of_run(run, "pid"));
	char url[200];
	(void)snprintf(url, sizeof(url), "INTERCOM_MCP_URL=http://127.0.0.1:%d/mcp?session_id=%s\n",
	               site.port, session_of(run));
	says(str_text(&values), url);
	(void)snprintf(url, sizeof(url), "INTERCOM_SESSION_ID=%s\n", session_of(run));
	says(str_text(&values), url);
	says(str_text(&values), "INTERCOM_WORKSPACE_ROOT=/tmp/");
	says(str_text(&values), "NO_COLOR=1\n");
	put_file(site.workspace, "go", "");
	run_becomes(run, "ended|exited|0||terminated");
}
END_TEST

START_TEST(an_agent_has_no_descriptor_of_ours_and_leads_a_session_of_its_own)
{
	setup();
	int run = given_run("ls -l /proc/$$/fd | sed -n 's/.* \\([0-9]* -> .*\\)/\\1/p' > fds\n"
	                    "grep -E 'Sig(Blk|Ign)' /proc/self/status > signals\n"
	                    "umask > mask\n"
	                    "sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 3,4 > ids\n"
	                    "echo $$ > pid; pwd > there");
	run_becomes(run, "ended|exited|0||terminated");
	OWNED(char_ptr) char *fds = file_with_lines("fds", 3);
	says(fds, "0 -> /dev/null\n");
	says(fds, "1 -> pipe:");
	says(fds, "2 -> pipe:");
	OWNED(char_ptr) char *there = file_with_lines("there", 1);
	ck_assert_int_eq(strncmp(there, site.workspace, strlen(site.workspace)), 0);
	OWNED(char_ptr) char *ids = file_with_lines("ids", 1), *pid = file_with_lines("pid", 1);
	char both[100];
	(void)snprintf(both, sizeof(both), "%d %d\n", atoi(pid), atoi(pid));
	ck_assert_str_eq(ids, both);
	OWNED(char_ptr) char *signals = file_with_lines("signals", 2);
	says(signals, "SigBlk:\t0000000000000000");
	/* Signals 32 and 33 are the C library's, which lets nobody touch them. */
	ck_assert_uint_eq(strtoull(strstr(signals, "SigIgn:") + 7, NULL, 16) & 0x7fffffffU, 0);
	char ours[20];
	mode_t mask = umask(0);
	(void)umask(mask);
	(void)snprintf(ours, sizeof(ours), "%04o\n", (unsigned)mask);
	OWNED(char_ptr) char *theirs = file_with_lines("mask", 1);
	ck_assert_str_eq(theirs, ours);
}
END_TEST

START_TEST(an_agent_that_calls_a_tool_is_of_its_session)
{
	setup();
	int run = given_run("echo \"$INTERCOM_MCP_URL\" > url\n"
	                    "while [ ! -e \"$here/go\" ]; do sleep 0.05; done");
	run_becomes(run, "running||||active");
	OWNED(char_ptr) char *url = file_with_lines("url", 1);
	char query[100];
	(void)snprintf(query, sizeof(query), "%.99s", strchr(url, '?'));
	query[strcspn(query, "\n")] = '\0';
	struct agent a = agent_hello(site.port, query, "2025-06-18");
	OWNED(char_ptr) char *said = agent_call(&a, "ping", "{}");
	expect("SELECT count(*) FROM session", "1\n");
	expect("SELECT last_tool, origin FROM session", "ping|started\n");
	put_file(site.workspace, "go", "");
	run_becomes(run, "ended|exited|0||terminated");
}
END_TEST

/* ---- what cannot be started ---- */

START_TEST(a_program_that_is_not_there_is_named_with_the_reason)
{
	setup();
	int run = given_run_of("", "command = '/nowhere/agent'");
	run_becomes(run, "ended|failed|||terminated");
	ck_assert_str_eq(of_run(run, "why"),
	                 "cannot start /nowhere/agent: No such file or directory");
	ck_assert_int_eq(processes_of(run), 0);
}
END_TEST

START_TEST(a_file_that_is_no_program_is_named_with_the_reason)
{
	setup();
	put_file(site.workspace, "text", "no program");
	char profile[300];
	(void)snprintf(profile, sizeof(profile), "command = '%s/text'", site.workspace);
	int run = given_run_of("", profile);
	run_becomes(run, "ended|failed|||terminated");
	says(of_run(run, "why"), "/text: Permission denied");
}
END_TEST

START_TEST(a_workspace_that_is_gone_is_named_with_the_reason)
{
	setup();
	(void)rmdir(site.workspace);
	int run = given_run("exit 0");
	run_becomes(run, "ended|failed|||terminated");
	says(of_run(run, "why"), "cannot enter the workspace /tmp/");
	says(of_run(run, "why"), ": No such file or directory");
}
END_TEST

/* ---- what agents say ---- */

START_TEST(a_hundred_megabytes_of_stderr_hold_up_nobody_and_are_kept_nowhere)
{
	setup();
	int run = given_run("head -c 100000000 /dev/zero | tr '\\0' 'x' >&2\n"
	                    "echo >&2; echo the end >&2\n"
	                    "while [ ! -e \"$here/go\" ]; do sleep 0.05; done");
	run_becomes(run, "running||||active");
	char status[60];
	(void)snprintf(status, sizeof(status), "/proc/%d/status", (int)runner_of(run));
	OWNED(str) struct str peak = { 0 };
	(void)shell(NULL, "touch %s/go", site.workspace);
	while (processes_of(run) > 0) {
		str_reset(&peak);
		(void)shell(&peak, "sed -n 's/VmHWM:[^0-9]*//p' %s 2>/dev/null", status);
	}
	run_becomes(run, "ended|exited|0||terminated");
	says(of_run(run, "stderr_tail"), "the end");
	ck_assert_int_le((int)strlen(of_run(run, "stderr_tail")), 25 * 600);
	ck_assert_msg(atoi(str_text(&peak)) < 64 << 10, "%s", str_text(&peak)); /* asan has more */
}
END_TEST

START_TEST(only_the_last_lines_of_stderr_are_kept_without_colours_and_secrets)
{
	setup();
	int run = given_run("i=0; while [ $i -lt 30 ]; do echo \"line $i\" >&2; i=$((i+1)); done\n"
	                    "printf '\\033[31mred\\033[0m\\n' >&2\n"
	                    "echo 'key sk-abcdefghijklmnop1234 refused' >&2; exit 1");
	run_becomes(run, "ended|exited|1||terminated");
	const char *tail = of_run(run, "stderr_tail");
	ck_assert_int_eq(strncmp(tail, "line 12\n", 8), 0);
	says(tail, "\nred\nkey [redacted] refused");
}
END_TEST

/* How often a process has the database open. */
static int open_in(pid_t pid)
{
	OWNED(str) struct str said = { 0 };

	(void)shell(&said, "ls -l /proc/%d/fd | grep -c -e '%s$'", (int)pid, test_db());
	return atoi(str_text(&said));
}

static int given_idle_run(void)
{
	int run = given_run("trap 'exit 0' TERM\necho ready >> said\nwhile :; do sleep 0.05; done");

	free(file_with_lines("said", 1));
	return run;
}

static void rests(pid_t runner)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; open_in(runner) > 0;) {
		ck_assert(agent_ms() < end);
		(void)poll(NULL, 0, 50);
	}
}

/* With the sqlite3 shell, which rings nobody. */
static void write_by_hand(const char *sql)
{
	OWNED(str) struct str said = { 0 };

	(void)shell(&said, "sqlite3 -cmd '.timeout 5000' '%s' \"%s\" 2>&1", test_db(), sql);
	ck_assert_str_eq(str_text(&said), "");
}

START_TEST(a_runner_that_rests_is_alive_and_learns_what_nobody_rang_for)
{
	setup();
	int run = given_idle_run();
	pid_t runner = runner_of(run);

	rests(runner);
	write_by_hand("UPDATE worker SET heartbeat_at = '2020-01-01T00:00:00.000Z' "
	              "WHERE name = 'runner-1'");
	expect_soon("SELECT heartbeat_at > '2026' FROM worker WHERE name = 'runner-1'", "1\n");
	ck_assert_int_eq(open_in(runner), 0);
	write_by_hand("UPDATE agent_run SET stop_why = 'by hand', "
	              "stop_wanted_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
	run_becomes(run, "ended|stopped|0||terminated");
}
END_TEST

START_TEST(a_runner_with_nothing_to_do_closes_the_database_and_still_hears)
{
	setup();
	int run = given_idle_run();
	pid_t runner = runner_of(run);

	ck_assert_int_ge(open_in(runner), 1);
	rests(runner);
	want_stop(run, "cleared");
	run_becomes(run, "ended|stopped|0||terminated");
	expect_soon("SELECT state FROM worker WHERE name = 'runner-1'", "stopped\n");
}
END_TEST

/* ---- how it ends ---- */

START_TEST(a_grandchild_that_holds_stdout_holds_nobody_up)
{
	setup();
	int run =
	    given_run("sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' \"$here\" &\n"
	              "exit 0");
	run_becomes(run, "ended|exited|0||terminated");
	processes_become(run, 0);
}
END_TEST

START_TEST(a_grandchild_without_our_pipes_ends_with_its_agent)
{
	setup();
	int run = given_run(
	    "sh -c 'trap \"\" TERM; while :; do sleep 1; done' \"$here\" >/dev/null 2>&1 &\n"
	    "kill -9 $$");
	run_becomes(run, "ended|exited||9|terminated");
	processes_become(run, 0);
}
END_TEST

/* Two that are in sessions of their own, the second of them without our mark, and one that it
 * started. */
START_TEST(what_has_left_the_group_ends_with_its_agent)
{
	setup();
	int run = given_run(
	    "setsid -f sh -c 'trap \"\" TERM HUP; echo $$ >>away; while :; do sleep 1; done'\n"
	    "setsid -f env -i setsid -f sh -c 'sleep 1000 & echo $! >>away; echo $$ >>away; wait'\n"
	    "while [ ! -e go ]; do sleep 0.05; done");
	OWNED(char_ptr) char *away = file_with_lines("away", 3);
	run_becomes(run, "running||||active");
	put_file(site.workspace, "go", "");
	run_becomes(run, "ended|exited|0||terminated");
	for (char *at = away; *at; at++)
		ck_assert_int_eq(kill((pid_t)strtol(at, &at, 10), 0), -1);
	ck_assert_int_eq(processes_of(run), 0);
}
END_TEST

START_TEST(a_runner_leaves_no_zombies_of_what_its_agent_left_behind)
{
	setup();
	int run = given_run("for i in 1 2 3 4 5; do (sh -c 'echo >>gone' &); done\n"
	                    "while [ ! -e go ]; do sleep 0.05; done");
	free(file_with_lines("gone", 5));
	run_becomes(run, "running||||active");
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;;) {
		OWNED(str) struct str said = { 0 };

		given("SELECT 1"); /* rings */
		(void)shell(&said, "ps --ppid %d -o stat= | grep -c Z", (int)runner_of(run));
		if (strcmp(str_text(&said), "0\n") == 0)
			break;
		ck_assert_msg(agent_ms() < end, "%s", str_text(&said));
	}
	put_file(site.workspace, "go", "");
	run_becomes(run, "ended|exited|0||terminated");
}
END_TEST

START_TEST(an_agent_that_is_to_stop_gets_sigterm_first)
{
	setup();
	int run = given_run("trap 'echo bye >> said; exit 7' TERM\necho ready >> said\n"
	                    "while :; do sleep 0.05; done");
	free(file_with_lines("said", 1));
	want_stop(run, "cleared by ann");
	run_becomes(run, "ended|stopped|7||terminated");
	ck_assert_str_eq(of_run(run, "why"), "cleared by ann");
	free(file_with_lines("said", 2));
}
END_TEST

START_TEST(an_agent_that_ignores_sigterm_is_killed_after_5_seconds_with_all_it_started)
{
	setup();
	int run = given_run("trap '' TERM\nsh -c 'while :; do sleep 0.1; done' \"$here\" &\n"
	                    "echo ready >> said\nwhile :; do sleep 0.1; done");
	free(file_with_lines("said", 1));
	run_becomes(run, "running||||active");
	want_stop(run, "cleared");
	expect_still("SELECT state FROM agent_run", "running\n", 1000);
	advance(5000);
	run_becomes(run, "ended|stopped||9|terminated");
	processes_become(run, 0);
}
END_TEST

START_TEST(an_agent_that_is_halted_is_stopped_within_the_grace)
{
	setup();
	int run = given_run("trap 'exit 0' TERM\necho ready >> said\nwhile :; do sleep 0.05; done");
	free(file_with_lines("said", 1));
	ck_assert_int_eq(kill((pid_t)atoi(of_run(run, "pid")), SIGSTOP), 0);
	want_stop(run, "cleared");
	run_becomes(run, "ended|stopped|0||terminated");
	processes_become(run, 0);
}
END_TEST

/* A run that is claimed and has no process yet, while we hold the write lock. */
static int given_run_that_starts(void)
{
	for (;;) {
		int run = given_run("while [ ! -e \"$here/go\" ]; do sleep 0.1; done");

		while (strcmp(of_run(run, "state"), "wanted") == 0)
			;
		given("BEGIN IMMEDIATE");
		if (strcmp(of_run(run, "state || coalesce(pid, '')"), "starting") == 0)
			return run;
		given("ROLLBACK"); /* it was faster */
	}
}

static void log_comes_to_say(const char *words)
{
	OWNED(char_ptr) char *text = NULL;

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 20)) {
		char_ptr_clear(&text);
		text = get_file(site.home, "log");
		if (text && strstr(text, words))
			return;
	}
	ck_abort_msg("'%s' is not in\n%s", words, text ? text : "");
}

START_TEST(a_busy_database_delays_the_start_of_an_agent_and_fails_none)
{
	setup();
	int run = given_run_that_starts();

	log_comes_to_say("the agent's process is not written down yet: ");
	given("ROLLBACK");
	run_becomes(run, "running||||active");
}
END_TEST

START_TEST(a_run_whose_stop_is_wanted_before_it_begins_never_begins)
{
	make_site();
	int run = given_run("echo started >> said");
	want_stop(run, "cleared");
	site_start(&site);
	run_becomes(run, "ended|stopped|||terminated");
	ck_assert_ptr_null(get_file(site.workspace, "said"));
}
END_TEST

/* The archivist is stopped: what waits for it is wanted, what does not is running. */
START_TEST(an_agent_begins_when_it_is_kept_what_its_folder_held)
{
	setup();
	pid_t archivist = worker_pid("archivist");

	ck_assert_int_eq(kill(archivist, SIGSTOP), 0);
	int run = given_run("echo x > \"$here/changed\"");
	int old = given_run_ago("sleep 1000", 31);
	run_becomes(old, "running||||active");
	ck_assert_str_eq(of_run(run, "state"), "wanted");
	ck_assert_int_eq(kill(archivist, SIGCONT), 0);
	run_becomes(run, "ended|exited|0||terminated");
	expect("SELECT k.state, k.file_hashes LIKE '%changed%', k.updated_at <= r.started_at"
	       "  FROM checkpoint AS k JOIN session AS s ON s.id = k.session_id"
	       "  JOIN agent_run AS r ON r.session_seq = s.seq"
	       " WHERE r.seq = 1",
	       "done|0|1\n");
	expect("SELECT k.state, k.why FROM checkpoint AS k JOIN session AS s ON s.id = k.session_id"
	       "  JOIN agent_run AS r ON r.session_seq = s.seq WHERE r.seq = 2",
	       "refused|the agent did not wait for it\n");
	want_stop(old, "enough");
	run_becomes(old, "ended|stopped||15|terminated");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner");
	TCase *c = store_case(s, "begin", 60);

	tcase_add_test(c, a_prompt_is_never_an_option_of_the_agent);
	tcase_add_test(c, an_agent_that_is_wanted_runs_and_its_end_is_written);
	tcase_add_test(c, an_agent_begins_when_it_is_kept_what_its_folder_held);
	tcase_add_test(c, an_agent_sees_only_the_variables_that_it_is_meant_to_see);
	tcase_add_test(c, an_agent_has_no_descriptor_of_ours_and_leads_a_session_of_its_own);
	tcase_add_test(c, an_agent_that_calls_a_tool_is_of_its_session);
	tcase_add_test(c, a_program_that_is_not_there_is_named_with_the_reason);
	tcase_add_test(c, a_file_that_is_no_program_is_named_with_the_reason);
	tcase_add_test(c, a_workspace_that_is_gone_is_named_with_the_reason);
	c = store_case(s, "words", 60);
	tcase_add_test(c, a_hundred_megabytes_of_stderr_hold_up_nobody_and_are_kept_nowhere);
	tcase_add_test(c, only_the_last_lines_of_stderr_are_kept_without_colours_and_secrets);
	tcase_add_test(c, a_runner_that_rests_is_alive_and_learns_what_nobody_rang_for);
	tcase_add_test(c, a_runner_with_nothing_to_do_closes_the_database_and_still_hears);
	c = store_case(s, "end", 60);
	tcase_add_test(c, a_grandchild_that_holds_stdout_holds_nobody_up);
	tcase_add_test(c, a_grandchild_without_our_pipes_ends_with_its_agent);
	tcase_add_test(c, what_has_left_the_group_ends_with_its_agent);
	tcase_add_test(c, a_runner_leaves_no_zombies_of_what_its_agent_left_behind);
	tcase_add_test(c, an_agent_that_is_to_stop_gets_sigterm_first);
	tcase_add_test(c,
	               an_agent_that_ignores_sigterm_is_killed_after_5_seconds_with_all_it_started);
	tcase_add_test(c, an_agent_that_is_halted_is_stopped_within_the_grace);
	tcase_add_test(c, a_busy_database_delays_the_start_of_an_agent_and_fails_none);
	tcase_add_test(c, a_run_whose_stop_is_wanted_before_it_begins_never_begins);
	return run_suite(s);
}
