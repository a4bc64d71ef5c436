/* Agents and commands of a system for several users run as the owners of their workspaces. */
#include "agent.h"
#include "process.h"
#include "users.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEEDS_ACCOUNTS()                                                                           \
	do {                                                                                       \
		SKIP_UNLESS(geteuid() == 0, "root, who can become several users");                 \
		users = users_make("");                                                            \
		SKIP_UNLESS(users_have_accounts(&users), "mount namespaces");                      \
	} while (0)

enum { LOOK_MS = 20 };

static const char CONFIG[] =
    "[[agent]]\nname = \"mine\"\nprotocol = \"mcp\"\ncommand = \"my-agent\"\n"
    "env = [\"MY_KEY=given\"]\n"
    "[[agent]]\nname = \"held\"\nprotocol = \"mcp\"\ncommand = \"my-agent\"\n"
    "[agent.fence]\nwrite = []\n"
    "[commands]\nwho = \"id -un; id -Gn; pwd; echo $HOME; umask\"\n"
    "stays = \"setsid -f env -i sleep 5001; sleep 5001; true\"\n"
    "[policy]\ntrust = \"listed\"\n";

static struct users users;
static char home[100], work[120];

#define PERMIT(file)                                                                               \
	"'permit:{\"toolCallId\":\"p\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":[{"        \
	"\"type\":"                                                                                \
	"\"diff\",\"path\":\"%w/" file                                                             \
	"\",\"oldText\":null,\"newText\":\"hi\\n\"}]}', 'write:" file "', "

#define DOCUMENTS                                                                                  \
	PERMIT("docs/a.md")                                                                        \
	"'pause:30', " PERMIT("docs/b.md") "'pause:30', " PERMIT("docs/c.md") "'pause:30', "

/* One that speaks ACP, and asks about these files. */
static void add_talker(struct str *config, const char *name, const char *permits)
{
	str_addf(config,
	         "[[agent]]\nname = \"%s\"\nprotocol = \"acp\"\n"
	         "command = \"%s/tests/fake-agent\"\nargs = ['v1', '--log', 'heard', %s'wait']\n",
	         name, getenv("INTERCOM_BUILD"), permits);
}

/* The workspace is in the home of the agent's user, which nobody else can enter. */
static void begin(void)
{
	OWNED(str) struct str config = { 0 };

	(void)snprintf(home, sizeof(home), "%s/home-%u", users.base, (unsigned)USER_IDS[AGENT]);
	(void)snprintf(work, sizeof(work), "%s/work", home);
	str_addf(&config,
	         "[shared]\nagents = \"60110\"\noperators = \"60111\"\nstart_socket = \"%s\"\n"
	         "owner_socket = \"%s\"\n[[workspace]]\nid = \"work\"\nchannel_id = "
	         "\"C0WORK\"\npath = \"%s\"\n"
	         "%s",
	         users.start_socket, users.owner_socket, work, CONFIG);
	add_talker(&config, "talks", PERMIT("docs/a.md") PERMIT("src/a.c"));
	add_talker(&config, "documents", DOCUMENTS DOCUMENTS DOCUMENTS DOCUMENTS DOCUMENTS);
	users_configure(&users, config.bytes);
	users_start_owner(&users);
	users_start_starter(&users);
	users_start(&users);
	ck_assert_int_eq(
	    users_run(&users, AGENT, NULL, "mkdir -p \"$HOME/work\" \"$HOME/.local/bin\""), 0);
}

static void end(void)
{
	ck_assert_int_eq(users_stop(&users), 0);
	ck_assert_int_eq(users_stop_starter(&users), 0);
	ck_assert_int_eq(users_stop_owner(&users), 0);
	users_remove(&users);
}

/* What the agent of the profiles is, in a place that only its user can reach. */
static void given_agent(const char *script)
{
	ck_assert_int_eq(users_run(&users, AGENT, NULL,
	                           "cat >\"$HOME/.local/bin/my-agent\" <<'E'\n#!/bin/sh\n%s\nE\n"
	                           "chmod 755 \"$HOME/.local/bin/my-agent\"",
	                           script),
	                 0);
}

static void order(const char *what)
{
	OWNED(str) struct str said = { 0 };
	int status = users_ctl(&users, OPERATOR, &said, "%s", what);

	ck_assert_msg(status == 0, "%s: %s", what, str_text(&said));
}

static void start(const char *agent, const char *where)
{
	char what[300];

	(void)snprintf(what, sizeof(what), "session start 'do it' --agent %s --workspace %s", agent,
	               where);
	order(what);
}

static void stop_session(void)
{
	char what[80];

	(void)snprintf(what, sizeof(what), "session stop %.36s",
	               users_sql(&users, "SELECT id FROM session"));
	order(what);
}

/* A file of the agent's user, once it is there and not empty. The caller frees it. */
static char *await_file(const char *folder, const char *name)
{
	int64_t give_up = agent_ms() + AGENT_PATIENCE_MS;
	char *text = NULL;

	while (!(text = get_file(folder, name)) || !*text) {
		free(text);
		ck_assert_msg(agent_ms() < give_up, "there is no %s: %s", name,
		              users_sql(&users, "SELECT state, outcome, why, stderr_tail FROM "
		                                "agent_run"));
		(void)poll(NULL, 0, LOOK_MS);
	}
	return text;
}

/* How many processes a user has that work in our folder. */
static int count_of(enum user who)
{
	OWNED(str) struct str said = { 0 };

	(void)shell(&said,
	            "for p in $(pgrep -u %u); do readlink /proc/$p/cwd; done | grep -c '^%s'",
	            (unsigned)USER_IDS[who], users.base);
	return atoi(str_text(&said));
}

static void expect_none(enum user who)
{
	int64_t give_up = agent_ms() + AGENT_PATIENCE_MS;

	while (count_of(who) > 0) {
		OWNED(str) struct str said = { 0 };

		(void)shell(&said, "ps -o pid,ppid,stat,args -u %u", (unsigned)USER_IDS[who]);
		ck_assert_msg(agent_ms() < give_up, "there are still:\n%s", said.bytes);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

/* An agent with a child in its group, one that has left it, and one without a mark. */
static const char STUBBORN[] = "trap '' TERM HUP\nsleep 5000 &\nsetsid -f sleep 5000\n"
                               "setsid -f env -i sleep 5000\necho up >up\n"
                               "while :; do sleep 5000; done";

static void expect_stubborn(void)
{
	OWNED(char_ptr) char *up = NULL;

	given_agent(STUBBORN);
	start("mine", "work");
	up = await_file(work, "up");
	users_expect_soon(&users, "SELECT state FROM agent_run", "running\n");
	ck_assert_int_ge(count_of(AGENT), 5);
}

START_TEST(a_session_runs_as_the_owner_of_its_workspace_with_their_environment)
{
	OWNED(char_ptr) char *who = NULL, *has = NULL;
	char text[300];

	NEEDS_ACCOUNTS();
	begin();
	given_agent("env | sort >env; { id -u; id -G; pwd; ls -l /proc/$$/fd | grep -c socket; "
	            "grep -i -e nonewprivs -e capprm /proc/$$/status; } >.who 2>&1; mv .who who");
	start("mine", "work");
	who = await_file(work, "who");
	(void)snprintf(text, sizeof(text),
	               "60102\n60102 60110\n%s\n0\nCapPrm:\t0000000000000000\nNoNewPrivs:\t1\n",
	               work);
	ck_assert_str_eq(who, text);
	has = get_file(work, "env");
	(void)snprintf(text, sizeof(text), "HOME=%s\n", home);
	says(has, text);
	(void)snprintf(text, sizeof(text), "PATH=%s/.local/bin:/usr/local/bin:/usr/bin:/bin\n",
	               home);
	says(has, text);
	says(has, "\nLOGNAME=t-agent\n");
	says(has, "\nUSER=t-agent\n");
	says(has, "\nSHELL=/bin/sh\n");
	says(has, "MY_KEY=given\n");
	says(has, "INTERCOM_SESSION_ID=");
	says(has, "INTERCOM_MCP_URL=http://127.0.0.1:");
	ck_assert_ptr_null(strstr(has, "XDG_"));
	ck_assert_ptr_null(strstr(has, "INTERCOM_PARENT"));
	ck_assert_ptr_null(strstr(has, "GLIBC_TUNABLES"));
	users_expect_soon(&users, "SELECT outcome, exit_code, uid FROM agent_run",
	                  "exited|0|60102\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(its_exit_its_signal_and_its_last_words_are_told_and_who_cannot_be_started_is_named)
{
	NEEDS_ACCOUNTS();
	begin();
	given_agent("echo 'no luck' >&2; echo x >/dev/stderr; exit 7");
	start("mine", "work");
	users_expect_soon(&users, "SELECT outcome, exit_code, stderr_tail FROM agent_run",
	                  "exited|7|no luck\nx\n");
	given_agent("kill -USR1 $$");
	start("mine", "work");
	users_expect_soon(&users, "SELECT outcome, exit_signal FROM agent_run WHERE seq = 2",
	                  "exited|10\n");
	ck_assert_int_eq(users_run(&users, AGENT, NULL, "rm \"$HOME/.local/bin/my-agent\""), 0);
	start("mine", "work");
	users_expect_soon(&users, "SELECT outcome, why FROM agent_run WHERE seq = 3",
	                  "failed|cannot find the program my-agent of the profile 'mine'; install "
	                  "it, or give its path as command\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_stop_ends_its_whole_tree)
{
	NEEDS_ACCOUNTS();
	begin();
	expect_stubborn();
	stop_session();
	users_expect_soon(&users, "SELECT outcome FROM agent_run", "stopped\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(sigterm_of_a_stop_reaches_it_first)
{
	OWNED(char_ptr) char *up = NULL, *told = NULL;

	NEEDS_ACCOUNTS();
	begin();
	given_agent("trap 'echo terminated >told; exit 3' TERM\necho up >up\n"
	            "while :; do sleep 0.1; done");
	start("mine", "work");
	up = await_file(work, "up");
	users_expect_soon(&users, "SELECT state FROM agent_run", "running\n");
	stop_session();
	told = await_file(work, "told");
	users_expect_soon(&users, "SELECT outcome FROM agent_run", "stopped\n");
	end();
}
END_TEST

static void kill_one_of(const char *pattern)
{
	char query[200];
	int pid;

	(void)snprintf(query, sizeof(query),
	               "SELECT pid FROM worker WHERE name LIKE '%s' AND state = 'ready'", pattern);
	pid = atoi(users_sql(&users, query));
	ck_assert_int_gt(pid, 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
}

START_TEST(a_killed_runner_leaves_no_process)
{
	NEEDS_ACCOUNTS();
	begin();
	expect_stubborn();
	kill_one_of("runner-%");
	users_expect_soon(&users, "SELECT outcome FROM agent_run", "interrupted\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_runner_outlives_a_killed_supervisor_and_its_agent_is_stopped_by_the_next)
{
	NEEDS_ACCOUNTS();
	begin();
	expect_stubborn();
	users_kill(&users);
	users_start(&users);
	ck_assert_str_eq(users_sql(&users, "SELECT state FROM agent_run"), "running\n");
	ck_assert_int_ge(count_of(AGENT), 5);
	stop_session();
	users_expect_soon(&users, "SELECT outcome FROM agent_run", "stopped\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_killed_supervisor_and_a_killed_runner_leave_no_process)
{
	int runner;

	NEEDS_ACCOUNTS();
	begin();
	expect_stubborn();
	runner = atoi(users_sql(&users, "SELECT pid FROM worker WHERE name LIKE 'runner-%'"));
	users_kill(&users);
	ck_assert_int_eq(kill(runner, SIGKILL), 0);
	expect_none(AGENT);
	users_start(&users);
	ck_assert_str_eq(users_sql(&users, "SELECT outcome FROM agent_run"), "interrupted\n");
	end();
}
END_TEST

/* Its own user may kill the keeper; what carries the mark is ended all the same. */
START_TEST(what_an_agent_that_kills_its_keeper_leaves_is_ended)
{
	NEEDS_ACCOUNTS();
	begin();
	given_agent(
	    "sleep 5000 &\nsetsid -f sleep 5000\necho up >up\nkill -KILL $PPID\nsleep 5000");
	start("mine", "work");
	users_expect_soon(&users, "SELECT outcome, exit_signal FROM agent_run", "exited|9\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_keeper_that_its_user_has_stopped_keeps_no_process_alive)
{
	NEEDS_ACCOUNTS();
	begin();
	given_agent("setsid -f sleep 5000\necho up >up\nkill -STOP $PPID\nsleep 5000");
	start("mine", "work");
	free(await_file(work, "up"));
	users_expect_soon(&users, "SELECT state FROM agent_run", "running\n");
	stop_session();
	users_expect_soon(&users, "SELECT outcome FROM agent_run", "stopped\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(an_agent_goes_on_while_what_started_it_is_replaced)
{
	NEEDS_ACCOUNTS();
	begin();
	expect_stubborn();
	ck_assert_int_eq(users_stop_starter(&users), 0);
	users_start_starter(&users);
	ck_assert_int_ge(count_of(AGENT), 5);
	stop_session();
	users_expect_soon(&users, "SELECT outcome FROM agent_run", "stopped\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_fence_holds_an_agent_of_another_user)
{
	OWNED(char_ptr) char *said = NULL;

	NEEDS_ACCOUNTS();
	begin();
	given_agent("echo in >inside; { echo out >\"$HOME/outside\"; ls \"$HOME/outside\"; } "
	            ">.said 2>&1; mv .said said");
	start("held", "work");
	said = await_file(work, "said");
	says(said, "Permission denied");
	ck_assert_str_eq(users_sql(&users, "SELECT fence LIKE 'landlock %' FROM agent_run"), "1\n");
	end();
}
END_TEST

/* It speaks MCP through our relay. */
static const char ASKS[] =
    "exec python3 - <<'P'\n"
    "import json, subprocess\n"
    "p = subprocess.Popen([%s'/agent-intercom', 'mcp'], stdin=subprocess.PIPE,\n"
    "                     stdout=subprocess.PIPE, text=True)\n"
    "def call(n, method, **params):\n"
    "    p.stdin.write(json.dumps(dict(jsonrpc='2.0', id=n, method=method, params=params)) +\n"
    "                  '\\n'); p.stdin.flush()\n"
    "    for line in p.stdout:\n"
    "        if json.loads(line).get('id') == n: return line\n"
    "call(1, 'initialize', protocolVersion='2025-11-25', capabilities={},\n"
    "     clientInfo=dict(name='agent', version='1'))\n"
    "a = call(2, 'tools/call', name='check_clearance', arguments=dict(title='Write',\n"
    "    description='A test.', diff='one\\n', file_path='asked.txt'))\n"
    "id = json.loads(a)['result']['structuredContent']['request_id']\n"
    "a += call(3, 'tools/call', name='check_diff', arguments=dict(request_id=id))\n"
    "open('answers', 'w').write(a)\n"
    "P";

START_TEST(it_asks_as_its_session_an_operator_approves_and_the_file_is_written)
{
	OWNED(char_ptr) char *answers = NULL, *written = NULL;
	OWNED(str) struct str script = { 0 };
	char what[80], build[PROGRAM_BYTES], path[200];
	struct stat about;

	NEEDS_ACCOUNTS();
	begin();
	(void)snprintf(build, sizeof(build), "'%s' ", getenv("INTERCOM_BUILD"));
	str_addf(&script, "%.*s%s%s", (int)(strstr(ASKS, "%s") - ASKS), ASKS, build,
	         strstr(ASKS, "%s") + 2);
	given_agent(script.bytes);
	start("mine", "work");
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*), max(origin) FROM session"),
	                 "1\tstarted\n");
	(void)snprintf(what, sizeof(what), "approve %.36s",
	               users_sql(&users, "SELECT id FROM inbox"));
	order(what);
	answers = await_file(work, "answers");
	says(answers, "approved");
	says(answers, "applied");
	written = get_file(work, "asked.txt");
	ck_assert_str_eq(written, "one\n");
	(void)snprintf(path, sizeof(path), "%s/asked.txt", work);
	ck_assert_int_eq(stat(path, &about), 0);
	ck_assert_uint_eq(about.st_uid, USER_IDS[AGENT]);
	users_expect_soon(&users, "SELECT outcome, exit_code FROM agent_run", "exited|0\n");
	end();
}
END_TEST

/* Of a workspace that the configuration names: it counts at once. */
static void given_policy(void)
{
	ck_assert_int_eq(
	    users_run(
	        &users, AGENT, NULL,
	        "cd \"$HOME/work\" && mkdir .intercom docs src && "
	        "cat >.intercom/settings.json <<'E'\n"
	        "{\"enabled\":true,\"log_auto_approved\":true,\"risk_level_threshold\":\"high\","
	        "\"file_patterns\":{\"write\":[\"docs/**\"]}}\nE"),
	    0);
}

/* The pending question is approved, and it writes this file, as its user. */
static void is_approved_and_writes(const char *file)
{
	OWNED(char_ptr) char *text = NULL;
	OWNED(str) struct str what = { 0 };
	struct stat about;

	str_addf(&what, "approve %.36s", users_sql(&users, "SELECT id FROM inbox"));
	order(what.bytes);
	text = await_file(work, file);
	ck_assert_str_eq(text, "hi\n");
	ck_assert_int_eq(stat(below(work, file), &about), 0);
	ck_assert_uint_eq(about.st_uid, USER_IDS[AGENT]);
}

START_TEST(what_an_agent_asks_over_acp_is_judged_by_the_policy_in_its_owners_closed_home)
{
	OWNED(char_ptr) char *text = NULL;

	NEEDS_ACCOUNTS();
	begin();
	given_policy();
	start("talks", "work");
	users_expect_soon(&users,
	                  "SELECT r.state, r.decided_by, a.rule FROM request AS r LEFT JOIN"
	                  " auto_approval AS a ON a.request_seq = r.seq ORDER BY r.seq",
	                  "approved|system:policy|file_pattern:write:docs/**\n"
	                  "pending||\n");
	ck_assert_str_eq(users_sql(&users, "SELECT state FROM policy"), "loaded\n");
	text = await_file(work, "docs/a.md");
	ck_assert_str_eq(text, "hi\n");
	is_approved_and_writes("src/a.c");
	stop_session();
	users_expect_soon(&users, "SELECT outcome, uid FROM agent_run", "stopped|60102\n");
	expect_none(AGENT);
	end();
}
END_TEST

/* Begins the first server that the agent was told of, with nothing but what was told. */
static const char CALLS_FIRST_SERVER[] =
    "env -i PATH=\"$PATH\" HOME=\"$HOME\" python3 - <<'P'\n"
    "import json, os, subprocess\n"
    "heard = [json.loads(line) for line in open(os.path.join(os.environ['HOME'], 'work',\n"
    "    'heard'))]\n"
    "server = [m for m in heard if m['method'] == 'session/new'][0]['params']['mcpServers'][0]\n"
    "p = subprocess.Popen([server['command']] + server['args'], stdin=subprocess.PIPE,\n"
    "    stdout=subprocess.PIPE, text=True, env={e['name']: e['value'] for e in server['env']})\n"
    "for n, method, params in ((1, 'initialize', dict(protocolVersion='2025-11-25',\n"
    "        capabilities={}, clientInfo=dict(name='a', version='1'))),\n"
    "        (2, 'tools/call', dict(name='ping', arguments={}))):\n"
    "    p.stdin.write(json.dumps(dict(jsonrpc='2.0', id=n, method=method, params=params)) +\n"
    "                  '\\n')\n"
    "    p.stdin.flush()\n"
    "    print(p.stdout.readline())\n"
    "P";

START_TEST(an_agent_that_speaks_no_http_reaches_the_system_by_the_program_that_it_is_told)
{
	OWNED(str) struct str said = { 0 };
	char answer[100];

	NEEDS_ACCOUNTS();
	begin();
	start("talks", "work");
	users_expect_soon(&users, "SELECT count(*) FROM request", "1\n");
	(void)users_run(&users, AGENT, &said, "%s", CALLS_FIRST_SERVER);
	(void)snprintf(answer, sizeof(answer), "\"session_id\":\"%.36s\"",
	               users_sql(&users, "SELECT id FROM session"));
	says(said.bytes, answer);
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM session"), "1\n");
	stop_session();
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(how_the_first_session_in_a_closed_home_began_is_held)
{
	OWNED(str) struct str said = { 0 };
	char what[80];

	NEEDS_ACCOUNTS();
	begin();
	given_agent("echo begun >a.txt; exec sleep 5000");
	start("mine", "work");
	users_expect_soon(&users, "SELECT kind, state, why FROM checkpoint", "start|done|\n");
	free(await_file(work, "a.txt"));
	(void)snprintf(what, sizeof(what), "diff --session %.36s",
	               users_sql(&users, "SELECT id FROM session"));
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "%s", what), 0);
	says(said.bytes, "+begun");
	stop_session();
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_person_is_asked_while_what_looks_as_the_owner_is_silent_and_a_stop_ends_the_agent)
{
	NEEDS_ACCOUNTS();
	begin();
	given_policy();
	ck_assert_int_eq(kill(users.owner_pid, SIGSTOP), 0);
	start("talks", "work");
	users_expect_soon(&users, "SELECT state FROM request", "pending\n");
	is_approved_and_writes("docs/a.md");
	users_expect_soon(&users, "SELECT state FROM request ORDER BY seq", "approved\npending\n");
	stop_session();
	users_expect_soon(&users, "SELECT outcome FROM agent_run", "stopped\n");
	expect_none(AGENT);
	ck_assert_int_eq(kill(users.owner_pid, SIGCONT), 0);
	end();
}
END_TEST

START_TEST(a_person_is_asked_while_its_user_holds_what_looks_and_the_policy_counts_again_after_that)
{
	char what[80];

	NEEDS_ACCOUNTS();
	begin();
	given_policy();
	ck_assert_int_eq(users_run(&users, AGENT, NULL,
	                           "(while sleep 0.01; do pkill -STOP -x hand -P %d; done) "
	                           ">/dev/null 2>&1 & echo $! >\"$HOME/pid\"",
	                           (int)users.owner_pid),
	                 0);
	start("documents", "work");
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
	ck_assert_int_eq(users_run(&users, AGENT, NULL,
	                           "kill $(cat \"$HOME/pid\"); pkill -CONT -x hand -P %d",
	                           (int)users.owner_pid),
	                 0);
	(void)snprintf(what, sizeof(what), "approve %.36s",
	               users_sql(&users, "SELECT id FROM inbox"));
	order(what);
	users_expect_soon(&users,
	                  "SELECT decided_by FROM request WHERE seq = (SELECT 1 + seq FROM request"
	                  " WHERE decided_by NOT LIKE 'system:%')",
	                  "system:policy\n");
	stop_session();
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_command_runs_as_the_owner_of_the_workspace)
{
	OWNED(str) struct str said = { 0 };
	char text[300];

	NEEDS_ACCOUNTS();
	begin();
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "run who --workspace %s", work), 0);
	(void)snprintf(text, sizeof(text), "\"t-agent\\nt-agent t-agents\\n%s\\n%s\\n", work, home);
	says(said.bytes, text);
	ck_assert_str_eq(users_sql(&users, "SELECT outcome, uid FROM alias_run"), "done\t60102\n");
	expect_none(AGENT);
	end();
}
END_TEST

START_TEST(a_killed_commander_leaves_no_process_of_a_command_and_a_stop_ends_its_tree)
{
	char what[200];

	NEEDS_ACCOUNTS();
	begin();
	(void)snprintf(what, sizeof(what), "run stays --workspace %s >/dev/null 2>&1 &", work);
	order(what);
	users_expect_soon(&users, "SELECT state FROM alias_run", "running\n");
	kill_one_of("commander");
	users_expect_soon(&users, "SELECT outcome FROM alias_run", "interrupted\n");
	expect_none(AGENT);
	order(what);
	users_expect_soon(&users, "SELECT state FROM alias_run WHERE seq = 2", "running\n");
	order("run-stop 2");
	users_expect_soon(&users, "SELECT outcome FROM alias_run WHERE seq = 2", "stopped\n");
	expect_none(AGENT);
	end();
}
END_TEST

/* The number of the process that was made last on this machine. */
static pid_t newest_process(void)
{
	OWNED(char_ptr) char *load = get_file("/proc", "loadavg");
	const char *last = load ? strrchr(load, ' ') : NULL;

	return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

static pid_t parent_of(pid_t pid)
{
	OWNED(char_ptr) char *parent = process_status(pid, "PPid");

	return (pid_t)strtol(parent, NULL, 10);
}

/* Whether our as-owner has started it, or its parent: other tests run with the same users. */
static bool is_of_ours(pid_t pid)
{
	pid_t parent = parent_of(pid);

	return parent == users.starter_pid ||
	       (parent > 1 && parent_of(parent) == users.starter_pid);
}

/* Its user stops every process of theirs that begins. The process that does so. */
static pid_t hold_all_that_begins(void)
{
	enum { BEHIND = 100, AHEAD = 1000, REST_US = 100 };
	pid_t holder = fork();

	if (holder != 0)
		return holder;
	if (setgid(USER_IDS[AGENT]) || setuid(USER_IDS[AGENT]))
		_exit(1);
	for (;;) {
		pid_t last = newest_process();

		for (pid_t pid = last - BEHIND; pid < last + AHEAD; pid++)
			if (pid > 1 && kill(pid, 0) == 0 && is_of_ours(pid))
				(void)kill(pid, SIGSTOP);
		(void)usleep(REST_US);
	}
}

static void let_all_go(pid_t holder)
{
	ck_assert_int_eq(kill(holder, SIGKILL), 0);
	ck_assert_int_eq(waitpid(holder, NULL, 0), holder);
	(void)users_run(&users, AGENT, NULL,
	                "pkill -CONT -P \"$(pgrep -d, -P %d)\"; pkill -CONT -P %d; true",
	                (int)users.starter_pid, (int)users.starter_pid);
}

START_TEST(who_holds_the_keepers_of_their_own_commands_keeps_no_other_run_waiting)
{
	OWNED(str) struct str said = { 0 };
	char what[300], stop[] = "run-stop 2", seq[] = "2\n";
	pid_t holder;

	NEEDS_ACCOUNTS();
	begin();
	ck_assert_int_eq(users_run(&users, OTHER_AGENT, NULL, "mkdir -p \"$HOME/other\""), 0);
	holder = hold_all_that_begins();
	(void)snprintf(what, sizeof(what), "run who --workspace %s >/dev/null 2>&1 &", work);
	order(what);
	users_expect_soon(&users, "SELECT state FROM alias_run", "starting\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "run who --workspace %s/home-%u/other",
	                           users.base, (unsigned)USER_IDS[OTHER_AGENT]),
	                 0);
	users_expect_soon(
	    &users,
	    "SELECT outcome, why LIKE '%does not answer' OR why "
	    "LIKE '%does not go on: somebody has stopped it' FROM alias_run WHERE seq = 1",
	    "failed|1\n");
	ck_assert_str_eq(users_sql(&users, "SELECT group_concat(seq || outcome, ' ') FROM (SELECT "
	                                   "* FROM alias_run ORDER BY ended_at)"),
	                 "2done 1failed\n");
	do { /* on a busy machine the holder may come too late: that one has ended by then */
		seq[0] = ++stop[sizeof("run-stop ") - 1];
		order(what);
		users_expect_soon(&users, "SELECT max(seq) FROM alias_run WHERE state <> 'queued'",
		                  seq);
		(void)users_ctl(&users, OPERATOR, NULL, "%s", stop);
		users_expect_soon(&users, "SELECT count(*) FROM alias_run WHERE outcome IS NULL",
		                  "0\n");
	} while (strcmp(users_sql(&users, "SELECT outcome FROM alias_run WHERE seq > 2 AND outcome "
	                                  "= 'stopped'"),
	                "stopped\n") != 0);
	let_all_go(holder);
	expect_none(AGENT);
	end();
}
END_TEST

static void write_as_service(const char *sql)
{
	ck_assert_int_eq(users_run(&users, SERVICE, NULL, "sqlite3 %s \"%s\"", users.database, sql),
	                 0);
}

START_TEST(without_what_starts_them_agents_and_commands_are_refused_and_allowed_once_it_is_there)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ACCOUNTS();
	begin();
	write_as_service("CREATE TRIGGER busy BEFORE UPDATE ON setting WHEN NEW.name = "
	                 "'shared.starts' BEGIN SELECT RAISE(ABORT, 'not now'); END");
	ck_assert_int_eq(users_stop_starter(&users), 0);
	ck_assert_int_eq(unlink(users.start_socket), 0);
	users_await_log(&users, "not now"); /* what could not be written is written later */
	write_as_service("DROP TRIGGER busy");
	users_expect_soon(&users, "SELECT value FROM setting WHERE name = 'shared.starts'",
	                  "false\n");
	ck_assert_int_ne(users_ctl(&users, OPERATOR, &said, "run who --workspace %s", work), 0);
	says(said.bytes, "a system that serves several users starts no agents and no commands");
	users_start_starter(&users);
	users_expect_soon(&users, "SELECT value FROM setting WHERE name = 'shared.starts'",
	                  "true\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "run who --workspace %s", work), 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("users_agents");
	TCase *c = tcase_create("users_agents");

	tcase_add_test(c, a_session_runs_as_the_owner_of_its_workspace_with_their_environment);
	tcase_add_test(
	    c, its_exit_its_signal_and_its_last_words_are_told_and_who_cannot_be_started_is_named);
	tcase_add_test(c, a_stop_ends_its_whole_tree);
	tcase_add_test(c, sigterm_of_a_stop_reaches_it_first);
	tcase_add_test(c, a_killed_runner_leaves_no_process);
	tcase_add_test(c,
	               a_runner_outlives_a_killed_supervisor_and_its_agent_is_stopped_by_the_next);
	tcase_add_test(c, a_killed_supervisor_and_a_killed_runner_leave_no_process);
	tcase_add_test(c, what_an_agent_that_kills_its_keeper_leaves_is_ended);
	tcase_add_test(c, a_keeper_that_its_user_has_stopped_keeps_no_process_alive);
	tcase_add_test(c, an_agent_goes_on_while_what_started_it_is_replaced);
	tcase_add_test(c, a_fence_holds_an_agent_of_another_user);
	tcase_add_test(c, it_asks_as_its_session_an_operator_approves_and_the_file_is_written);
	tcase_add_test(
	    c, what_an_agent_asks_over_acp_is_judged_by_the_policy_in_its_owners_closed_home);
	tcase_add_test(
	    c, an_agent_that_speaks_no_http_reaches_the_system_by_the_program_that_it_is_told);
	tcase_add_test(c, how_the_first_session_in_a_closed_home_began_is_held);
	tcase_add_test(
	    c, a_person_is_asked_while_what_looks_as_the_owner_is_silent_and_a_stop_ends_the_agent);
	tcase_add_test(
	    c,
	    a_person_is_asked_while_its_user_holds_what_looks_and_the_policy_counts_again_after_that);
	tcase_add_test(c, a_command_runs_as_the_owner_of_the_workspace);
	tcase_add_test(c,
	               a_killed_commander_leaves_no_process_of_a_command_and_a_stop_ends_its_tree);
	tcase_add_test(c, who_holds_the_keepers_of_their_own_commands_keeps_no_other_run_waiting);
	tcase_add_test(
	    c,
	    without_what_starts_them_agents_and_commands_are_refused_and_allowed_once_it_is_there);
	suite_add_tcase(s, c);
	return run_suite(s);
}
