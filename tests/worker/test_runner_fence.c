/* The runner: an agent whose profile has a fence reaches what the profile names, and what it is
 * given for its work. */
#include "runner_case.h"

#include "agent.h"
#include "fence.h"
#include "suite.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SQL_BYTES = 10000, PATH_BYTES = 4096 };

/* A folder beside the workspace, as an absolute path. */
static const char *beside(const char *name)
{
	static char path[8][PATH_BYTES];
	static unsigned next;
	char *out = path[next++ % COUNT(path)];

	(void)snprintf(out, PATH_BYTES, "%.150s/%s", site.home, name);
	return out;
}

/* The same in the workspace. */
static const char *inside(const char *name)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/%s", site.workspace, name);
	return path;
}

/* The outcomes of a script: a line each. */
static char *outcomes(const char *script, const char *fence, int lines)
{
	char profile[SQL_BYTES];
	int run;

	(void)snprintf(profile, sizeof(profile), "fence = '%s'", fence);
	run = given_run_of(script, profile);
	run_becomes(run, "ended|exited|0||terminated");
	return file_with_lines("out", lines);
}

#define NEEDS_LANDLOCK(abi) SKIP_UNLESS(fence_abi() >= (abi), "Landlock's ABI " #abi)

START_TEST(a_fenced_agent_writes_its_workspace_and_the_folders_that_are_named)
{
	char fence[SQL_BYTES], script[SQL_BYTES];

	NEEDS_LANDLOCK(2);
	setup();
	ck_assert_int_eq(mkdir(beside("state"), 0700), 0);
	ck_assert_int_eq(mkdir(beside("other"), 0700), 0);
	put_file(beside("other"), "theirs", "as it was\n");
	(void)snprintf(fence, sizeof(fence),
	               "{\"network\":true,\"write\":[\"%s\",\"/nowhere\",\"%s/\"]}",
	               beside("state"), beside("made/below"));
	(void)snprintf(script, sizeof(script),
	               "try() { if (eval \"$1\") 2>/dev/null; then echo yes; else echo no; fi; }\n"
	               "{ try 'echo x >in && mkdir d && mv in d/in'\n"
	               "try 'echo x >%s/x && mv %s/x d/x'\n"
	               "try 'echo x >%s/theirs'\n"
	               "try 'rm %s/theirs'\n"
	               "try 'cat %s/theirs >read'\n"
	               "try 'echo x >/dev/null'\n"
	               "try 'echo x >%s/x'; } >out",
	               beside("state"), beside("state"), beside("other"), beside("other"),
	               beside("other"), beside("made/below"));
	OWNED(char_ptr) char *out = outcomes(script, fence, 7);
	ck_assert_str_eq(out, "yes\nyes\nno\nno\nyes\nyes\nyes\n");
	ck_assert_str_eq(of_run(1, "fence GLOB 'landlock [0-9]*'"), "1");
	OWNED(str) struct str theirs = { 0 };
	(void)shell(&theirs, "cat %s/theirs", beside("other"));
	ck_assert_str_eq(str_text(&theirs), "as it was\n");
}
END_TEST

START_TEST(a_fenced_agent_cannot_write_our_database)
{
	char script[SQL_BYTES];

	NEEDS_LANDLOCK(2);
	setup();
	(void)snprintf(script, sizeof(script),
	               "{ sqlite3 '%s' 'CREATE TABLE ours (x)' && echo written || echo refused; "
	               "} >out 2>/dev/null",
	               test_db());
	OWNED(char_ptr) char *out = outcomes(script, "{\"network\":true,\"write\":[]}", 1);
	ck_assert_str_eq(out, "refused\n");
}
END_TEST

START_TEST(with_a_list_of_folders_a_fenced_agent_reads_nothing_else)
{
	char fence[SQL_BYTES], script[SQL_BYTES];

	NEEDS_LANDLOCK(2);
	setup();
	ck_assert_int_eq(mkdir(beside("docs"), 0700), 0);
	ck_assert_int_eq(mkdir(beside("secret"), 0700), 0);
	put_file(beside("docs"), "a", "docs\n");
	put_file(beside("secret"), "a", "secret\n");
	put_file(site.workspace, "a", "ours\n");
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[],\"read\":[\"%s\"]}",
	               beside("docs"));
	(void)snprintf(script, sizeof(script),
	               "{ cat a %s/a; cat %s/a || echo refused; cat '%s' || echo refused; } "
	               ">out 2>/dev/null",
	               beside("docs"), beside("secret"), test_db());
	OWNED(char_ptr) char *out = outcomes(script, fence, 4);
	ck_assert_str_eq(out, "ours\ndocs\nrefused\nrefused\n");
}
END_TEST

/* Somebody who is not us listens on loopback; returns the port. */
static int listen_somewhere(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	return ntohs(a.sin_port);
}

START_TEST(without_a_network_a_fenced_agent_calls_us_and_nobody_else)
{
	char script[SQL_BYTES];

	NEEDS_LANDLOCK(4);
	setup();
	(void)snprintf(script, sizeof(script),
	               "{ curl -s -m 5 -o /dev/null \"$INTERCOM_MCP_URL\"; echo $?\n"
	               "curl -s -m 5 -o /dev/null http://127.0.0.1:%d/; echo $?; } >out",
	               listen_somewhere());
	OWNED(char_ptr) char *out = outcomes(script, "{\"network\":false,\"write\":[]}", 2);
	ck_assert_str_eq(out, "0\n7\n"); /* answered; could not connect */
}
END_TEST

/* What Landlock does not know: kinds of sockets, and data that comes with a connection. */
START_TEST(without_a_network_there_is_no_udp_no_mptcp_and_no_fast_open)
{
	char script[SQL_BYTES];

	NEEDS_LANDLOCK(4);
	setup();
	(void)snprintf(script, sizeof(script),
	               "cat >try.py <<'END'\n"
	               "import socket\n"
	               "def told(what):\n"
	               "    try:\n"
	               "        what()\n"
	               "        print('done')\n"
	               "    except OSError as e:\n"
	               "        print(e.errno)\n"
	               "there = ('127.0.0.1', %d)\n"
	               "told(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))\n"
	               "told(lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 262)"
	               ".connect(('::1', 1)))\n"
	               "told(lambda: socket.socket().sendto(b'x', 0x20000000, there))\n"
	               "told(lambda: socket.socket().sendmsg([b'x'], [], 0x20000000, there))\n"
	               "told(lambda: socket.socket().connect(there))\n"
	               "told(lambda: socket.socketpair())\n"
	               "END\n"
	               "python3 try.py >out",
	               listen_somewhere());
	OWNED(char_ptr) char *out = outcomes(script, "{\"network\":false,\"write\":[]}", 6);
	ck_assert_str_eq(out, "13\n13\n13\n13\n13\ndone\n");
}
END_TEST

/* ---- the socket of operators ---- */

/* Orders a session, twice on one connection, and writes what comes back until it is cut. */
static const char ASK[] =
    "import os, socket, sys, time\n"
    "def connected():\n"
    "    s = socket.socket(socket.AF_UNIX)\n"
    "    s.connect(sys.argv[1])\n"
    "    return s\n"
    "def order(s, name):\n"
    "    line = b'{\"command\":\"session-start\",\"agent\":\"shell\",\"prompt\":\"x\"}\\n'\n"
    "    s.settimeout(20)\n"
    "    s.sendall(line + line)\n"
    "    open('part', 'w').write(s.makefile().read())\n"
    "    os.rename('part', name)\n"
    "def wait_for(name):\n"
    "    while not os.path.exists(name): time.sleep(0.01)\n"
    "order(connected(), 'own')\n"
    "if os.fork() == 0:\n" /* a child that nobody waits for, in a session of its own */
    "    os.setsid()\n"
    "    parent = os.getpid()\n"
    "    if os.fork(): os._exit(0)\n"
    "    while os.getppid() == parent: time.sleep(0.01)\n"
    "    order(connected(), 'stray')\n"
    "    os._exit(0)\n"
    "wait_for('stray')\n"
    "wait_for('halted')\n"
    "a, b = socket.socketpair()\n"
    "pid = os.fork()\n"
    "if pid == 0:\n" /* it hands its connection on, and is gone before that is accepted */
    "    c = connected()\n"
    "    socket.send_fds(a, [b'x'], [c.fileno()])\n"
    "    os._exit(0)\n"
    "fd = socket.recv_fds(b, 1, 1)[1][0]\n"
    "os.waitpid(pid, 0)\n"
    "open('gone', 'w').write('gone\\n')\n"
    "order(socket.socket(fileno=fd), 'handed')\n"
    "wait_for('end')\n";

static void is_refused_once(const char *name)
{
	OWNED(char_ptr) char *text = file_with_lines(name, 1);

	ck_assert_str_eq(text, "{\"ok\":false,\"error\":\"ipc: an agent behind a fence gives no "
	                       "orders; ask the operator\"}\n");
}

static void operators_are_answered(void)
{
	OWNED(str) struct str out = { 0 };

	(void)shell(&out,
	            "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX);"
	            " s.connect(\"%s-run/ipc.sock\");"
	            " s.sendall(b\"{\\\"command\\\":\\\"inbox\\\"}\\n\");"
	            " print(s.makefile().readline())'",
	            test_db());
	says(str_text(&out), "{\"ok\":true");
}

START_TEST(a_fenced_agent_gives_no_orders_on_the_socket_of_operators)
{
	char script[SQL_BYTES];
	int run;
	pid_t front;

	NEEDS_LANDLOCK(2);
	setup();
	put_file(site.workspace, "ask.py", ASK);
	(void)snprintf(script, sizeof(script), "python3 ask.py '%s-run/ipc.sock' 2>err", test_db());
	run = given_run_of(script, "fence = '{\"network\":true,\"write\":[]}'");
	is_refused_once("own");
	is_refused_once("stray");
	operators_are_answered();
	front = worker_pid("mcp-front");
	ck_assert_int_eq(kill(front, SIGSTOP), 0);
	put_file(site.workspace, "halted", "");
	free(file_with_lines("gone", 1));
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	is_refused_once("handed");
	operators_are_answered();
	expect("SELECT count(*) FROM session", "1\n");
	put_file(site.workspace, "end", "");
	run_becomes(run, "ended|exited|0||terminated");
}
END_TEST

/* ---- what starts nothing ---- */

static void cannot_start(const char *fence, const char *why)
{
	char profile[SQL_BYTES];
	int run;

	(void)snprintf(profile, sizeof(profile), "fence = '%s'", fence);
	run = given_run_of("echo ran >ran", profile);
	run_becomes(run, "ended|failed|||terminated");
	says(of_run(run, "why"), why);
	ck_assert_int_ne(access(inside("ran"), F_OK), 0);
}

START_TEST(a_fence_that_leaves_our_database_or_sockets_to_the_agent_starts_nothing)
{
	char fence[SQL_BYTES], folder[PATH_BYTES], run[PATH_BYTES];

	NEEDS_LANDLOCK(2);
	setup();
	(void)snprintf(folder, sizeof(folder), "%s", test_db());
	*strrchr(folder, '/') = '\0';
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[\"%s\"]}", folder);
	cannot_start(fence, "where the database is; take ");
	(void)snprintf(folder, sizeof(folder), "%s-run", test_db());
	ck_assert_ptr_nonnull(realpath(folder, run));
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[\"/x\",\"%s\"]}", run);
	cannot_start(fence, "where the run directory is; take ");
	cannot_start("{\"network\":true,\"write\":[\"/\"]}", "where the database is; take / out");
	(void)snprintf(folder, sizeof(folder), "%s", site.config);
	*strrchr(folder, '/') = '\0';
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[\"%s\"]}", folder);
	cannot_start(fence, "where the configuration is; take ");
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[\"%s\"]}",
	               getenv("INTERCOM_BUILD"));
	cannot_start(fence, "where our programs are; take ");
}
END_TEST

START_TEST(a_name_in_a_folder_that_the_agent_writes_starts_nothing)
{
	char fence[SQL_BYTES];

	NEEDS_LANDLOCK(2);
	setup();
	ck_assert_int_eq(mkdir(inside("build"), 0700), 0);
	ck_assert_int_eq(mkdir(beside("state"), 0700), 0);
	ck_assert_int_eq(mkdir(beside("state/sub"), 0700), 0);
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[\"%s/\"]}",
	               inside("build"));
	cannot_start(fence, "there the agent can put a link in its place");
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[\"%s\",\"%s\"]}",
	               beside("state/sub"), beside("state"));
	cannot_start(fence, "there the agent can put a link in its place");
	(void)snprintf(fence, sizeof(fence), "{\"network\":true,\"write\":[],\"read\":[\"%s\"]}",
	               inside("build"));
	cannot_start(fence, "there the agent can put a link in its place");
}
END_TEST

START_TEST(a_fence_that_the_kernel_cannot_hold_starts_nothing)
{
	(void)unsetenv("INTERCOM_FENCE"); /* there, some workers have none either */
	(void)setenv("INTERCOM_LANDLOCK_ABI", "1", 1);
	setup();
	cannot_start("{\"network\":true,\"write\":[]}", "this kernel lacks Landlock");
}
END_TEST

START_TEST(without_a_network_an_older_kernel_starts_nothing)
{
	NEEDS_LANDLOCK(2);
	(void)setenv("INTERCOM_LANDLOCK_ABI", "3", 1);
	setup();
	cannot_start("{\"network\":false,\"write\":[]}", "no network, which needs Linux 6.7");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_fence");
	TCase *c = store_case(s, "fence", 60);

	tcase_add_test(c, a_fenced_agent_writes_its_workspace_and_the_folders_that_are_named);
	tcase_add_test(c, a_fenced_agent_cannot_write_our_database);
	tcase_add_test(c, with_a_list_of_folders_a_fenced_agent_reads_nothing_else);
	tcase_add_test(c, without_a_network_a_fenced_agent_calls_us_and_nobody_else);
	tcase_add_test(c, without_a_network_there_is_no_udp_no_mptcp_and_no_fast_open);
	tcase_add_test(c, a_name_in_a_folder_that_the_agent_writes_starts_nothing);
	tcase_add_test(c, a_fenced_agent_gives_no_orders_on_the_socket_of_operators);
	tcase_add_test(c, a_fence_that_leaves_our_database_or_sockets_to_the_agent_starts_nothing);
	tcase_add_test(c, a_fence_that_the_kernel_cannot_hold_starts_nothing);
	tcase_add_test(c, without_a_network_an_older_kernel_starts_nothing);
	return run_suite(s);
}
