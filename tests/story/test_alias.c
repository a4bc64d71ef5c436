/* Commands of [commands] by agent-intercom-ctl and on the IPC socket, in a whole system. */
#include "agent.h"
#include "err.h"
#include "harness.h"
#include "process.h"
#include "site.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct site site;
static struct str said;

static void given_system(void)
{
	fresh_store();
	site = site_make("command_timeout_seconds = 30\n[commands]\n"
	                 "where = \"pwd\"\nfails = \"echo broken >&2; exit 7\"\n"
	                 "long = \"seq 1 300\"\n"
	                 "serve = \"echo ready; sleep 1000 & wait\"\n");
	site_start(&site);
}

static int says_ctl(const char *arguments)
{
	str_reset(&said);
	return ctl(&said, "%s 2>&1", arguments);
}

static void has_said(const char *part)
{
	ck_assert_msg(strstr(str_text(&said), part) != NULL, "'%s' is not in:\n%s", part,
	              str_text(&said));
}

START_TEST(ctl_waits_for_the_end_and_exits_as_the_command_did)
{
	given_system();
	ck_assert_int_eq(says_ctl("--text run where"), 0);
	has_said("Run 1: `where` runs in work: pwd\n");
	has_said("1: where in work, done after ");
	has_said(site.workspace);
	ck_assert_int_eq(says_ctl("--text run fails"), 1);
	has_said("failed after ");
	has_said(", exit status 7\nbroken\n");
	ck_assert_int_eq(says_ctl("--json run long"), 0);
	has_said("\"state\":\"done\"");
	has_said("\"exit_code\":0");
	has_said("\\n150\\n151\\n"); /* the whole output, not what a message shows */
	ck_assert_int_eq(says_ctl("--text runs"), 0);
	has_said("3: long in work, done after ");
	has_said("2: fails in work, failed after ");
	ck_assert_int_eq(says_ctl("--text runs 2"), 0);
	has_said("exit status 7\nbroken\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(ctl_runs_it_in_a_folder_or_for_a_session)
{
	given_system();
	OWNED(str) struct str order = { 0 };
	const char *other = scratch();
	char folder[400];

	str_addf(&order, "--text run where --workspace '%s'", other);
	ck_assert_int_eq(says_ctl(str_text(&order)), 0);
	ck_assert_ptr_nonnull(realpath(other, folder));
	has_said(folder);
	ck_assert_int_eq(says_ctl("run where --workspace /no/such/folder"), 1);
	has_said("there is no folder /no/such/folder: No such file or directory");
	given(
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) SELECT column1, column2, 'h', 'local:tester', '/', 'active',"
	    " 'local', '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'"
	    " FROM (VALUES (1, '01911111-0000'), (2, '01922222-0000'))");
	ck_assert_int_eq(says_ctl("--text run where"), 0); /* in the folder of both */
	has_said("\n/\n");
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " created_at, updated_at) VALUES (3, '01933333-0000', 'h', 'local:tester', '/tmp',"
	      " 'active', 'local', '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
	ck_assert_int_eq(says_ctl("--text run where"), 1);
	has_said("several sessions are live here; name the one to run it in (--session ID)");
	ck_assert_int_eq(says_ctl("--text run where --session 01922"), 0);
	has_said("\n/\n");
	expect("SELECT session_seq, workspace_root FROM alias_run ORDER BY seq DESC LIMIT 1",
	       "2|/\n");
	ck_assert_int_eq(says_ctl("run where --session 01922 --workspace ."), 64);
	has_said("--session and --workspace exclude each other");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* As after a restart, when none of their agents is connected. */
START_TEST(what_concerns_a_workspace_needs_no_name_of_its_sessions)
{
	OWNED(str) struct str rows = { 0 };

	given_system();
	str_addf(
	    &rows,
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status,"
	    " mode, created_at, updated_at) SELECT column1, column2, 'h', 'local:tester', '%s',"
	    " 'active', 'local', '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'"
	    " FROM (VALUES (1, '01911111-0000'), (2, '01922222-0000'))",
	    site.workspace);
	given(rows.bytes);
	ck_assert_int_eq(says_ctl("--text run where"), 0);
	has_said(site.workspace);
	ck_assert_int_eq(says_ctl("--text checkpoint create before"), 0);
	ck_assert_int_eq(says_ctl("--text diff before"), 0);
	ck_assert_int_eq(says_ctl("--text diff"), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(ctl_refuses_by_name_what_is_no_alias_and_what_follows_one)
{
	given_system();
	ck_assert_int_eq(says_ctl("run whree"), 1);
	has_said("command not found: whree; did you mean `where`?");
	ck_assert_int_eq(says_ctl("run where -- -l /"), 1);
	has_said("`where` takes no arguments, and was not run: '-l /'");
	ck_assert_int_eq(says_ctl("run-stop"), 1);
	has_said("no command runs");
	ck_assert_int_eq(says_ctl("run-stop 12"), 1);
	has_said("there is no such run of a command");
	expect("SELECT count(*) FROM alias_run", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* One line to the socket, and its answer. */
static const char *socket_says(const char *line)
{
	OWNED(str) struct str path = { 0 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char program[PROGRAM_BYTES], byte;

	test_program("agent-intercom", program);
	(void)shell(&path, "'%s' --config '%s' where ipc_socket", program, site.config);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.*s", (int)strcspn(str_text(&path), "\n"),
	               str_text(&path));
	ck_assert_msg(connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0, "%s", a.sun_path);
	ck_assert_int_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
	ck_assert_int_eq(write(fd, "\n", 1), 1);
	str_reset(&said);
	while (read(fd, &byte, 1) == 1 && byte != '\n')
		str_add_char(&said, byte);
	(void)close(fd);
	return str_text(&said);
}

START_TEST(the_socket_runs_shows_and_stops_it)
{
	given_system();

	has(socket_says("{\"command\":\"run\",\"alias\":\"serve\"}"), "data.run", "1");
	has(str_text(&said), "data.status", "ordered");
	expect_soon("SELECT state FROM alias_run", "running\n");
	has(socket_says("{\"command\":\"run\",\"alias\":\"where\"}"), "data.ahead", "1");
	(void)socket_says("{\"command\":\"run\",\"alias\":\"where -l\"}");
	has_said("\"error\":\"`where` takes no arguments");
	(void)socket_says("{\"command\":\"run-stop\",\"id\":\"1\"}");
	has_said("\"ok\":true");
	expect_soon("SELECT outcome FROM alias_run ORDER BY seq", "stopped\ndone\n");
	(void)socket_says("{\"command\":\"runs\",\"id\":\"2\"}");
	has_said("\"state\":\"done\"");
	has_said(site.workspace);
	(void)socket_says("{\"command\":\"runs\"}");
	has_said("\"state\":\"stopped\"");
	expect("SELECT source FROM command ORDER BY seq LIMIT 1", "socket\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(all_of_it_killed_at_once_leaves_no_command)
{
	given_system();
	OWNED(str) struct str count = { 0 };

	given("INSERT INTO command (verb, argument) VALUES ('run', 'serve')");
	expect_soon("SELECT state FROM alias_run", "running\n");
	OWNED(char_ptr) char *pid = rows("SELECT pid FROM alias_run");
	site_kill(&site);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;) {
		str_reset(&count);
		(void)shell(&count, "ps -o pid= -g %d | wc -l", atoi(pid));
		if (atoi(str_text(&count)) == 0)
			break;
		(void)poll(NULL, 0, 20);
	}
	ck_assert_int_eq(atoi(str_text(&count)), 0);
	site_start(&site);
	expect_soon("SELECT outcome FROM alias_run", "interrupted\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("alias");
	TCase *c = store_case(s, "alias", 200);

	tcase_add_test(c, ctl_waits_for_the_end_and_exits_as_the_command_did);
	tcase_add_test(c, ctl_runs_it_in_a_folder_or_for_a_session);
	tcase_add_test(c, what_concerns_a_workspace_needs_no_name_of_its_sessions);
	tcase_add_test(c, ctl_refuses_by_name_what_is_no_alias_and_what_follows_one);
	tcase_add_test(c, the_socket_runs_shows_and_stops_it);
	tcase_add_test(c, all_of_it_killed_at_once_leaves_no_command);
	return run_suite(s);
}
