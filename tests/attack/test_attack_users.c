/* A system that serves several users: what the user of an agent, and somebody in no group of ours,
 * cannot do. Everything is tried as that user. */
#include "agent.h"
#include "users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEEDS_ROOT() SKIP_UNLESS(geteuid() == 0, "root, who can become several users")

static struct users users;

static void begin(const char *more)
{
	users = users_make(more);
	users_start(&users);
}

static void end(void)
{
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}

/* Tries it in Python; the words that it prints, or the name of the error. */
static void tries(enum user who, struct str *said, const char *program)
{
	(void)users_run(&users, who, said,
	                "cat >\"$HOME/try.py\" <<'PROGRAM'\n"
	                "import os, socket, sys, glob, ctypes\n"
	                "base, shared = %s\n"
	                "def connect(path, kind=socket.SOCK_STREAM):\n"
	                "    s = socket.socket(socket.AF_UNIX, kind)\n"
	                "    s.connect(path)\n"
	                "    return s\n"
	                "def tried(what):\n"
	                "    try: return what()\n"
	                "    except OSError as e: return type(e).__name__\n"
	                "%s\n"
	                "PROGRAM\n"
	                "python3 \"$HOME/try.py\"",
	                "os.environ['INTERCOM_SHARED'].rsplit('/', 1)[0], "
	                "os.environ['INTERCOM_SHARED']",
	                program);
}

/* A connection of an agent, to say lines on. */
#define TALKS                                                                                      \
	"import json\n"                                                                            \
	"s = connect(shared + '/mcp.sock'); f = s.makefile('rw')\n"                                \
	"def say(**what): f.write(json.dumps(what) + '\\n'); f.flush()\n"                          \
	"def initialize(name):\n"                                                                  \
	"    say(jsonrpc='2.0', id=1, method='initialize', params={'capabilities': {},\n"          \
	"        'protocolVersion': '2025-06-18', 'clientInfo': {'name': name, 'version': "        \
	"'1'}})\n"                                                                                 \
	"    print(f.readline())\n"

/* All that the system has on disk, as root sees it, one path a line. */
static void list_files(struct str *list)
{
	ck_assert_int_eq(shell(list, "find %s/state -mindepth 1", users.base), 0);
	says(list->bytes, "/intercom.db\n");
	says(list->bytes, ".bell\n");
	says(list->bytes, "/mcp-front.lock\n");
	says(list->bytes, "/ipc.sock\n");
}

START_TEST(neither_an_agent_nor_an_operator_nor_a_stranger_can_open_anything_of_the_database)
{
	OWNED(str) struct str list = { 0 }, said = { 0 };

	NEEDS_ROOT();
	begin("");
	list_files(&list);
	for (enum user who = AGENT; who <= STRANGER; who++) {
		ck_assert_int_eq(shell(NULL, "cp /dev/null %s/list; cat >%s/list <<'E'\n%sE\n",
		                       users.base, users.base, list.bytes),
		                 0);
		(void)users_run(
		    &users, who, &said,
		    "while read -r one; do head -c 1 \"$one\" && echo \"read $one\"; "
		    "{ echo >>\"$one\"; } && echo \"wrote $one\"; "
		    "rm -rf \"$one\" && echo \"removed $one\"; done <%s/list 2>/dev/null; "
		    "ls %s/state; echo over",
		    users.base, users.base);
		ck_assert_msg(strstr(said.bytes, "read ") == NULL &&
		                  strstr(said.bytes, "wrote ") == NULL,
		              "%s", said.bytes);
		says(said.bytes, "Permission denied");
		says(said.bytes, "over");
	}
	list_files(&said);
	ck_assert_str_eq(said.bytes, list.bytes);
	ck_assert_str_eq(users_sql(&users, "PRAGMA quick_check"), "ok\n");
	end();
}
END_TEST

START_TEST(an_agent_cannot_read_the_configuration_or_the_tokens_of_a_process)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("");
	(void)users_run(&users, AGENT, &said,
	                "cat %s/etc/agent-intercom/config.toml; cat /proc/%d/environ; "
	                "cat /proc/%d/maps; ls -l /proc/%d/fd",
	                users.base, (int)users.pid, (int)users.pid, (int)users.pid);
	ck_assert_ptr_null(strstr(said.bytes, "http_port"));
	ck_assert_ptr_null(strstr(said.bytes, "HOME="));
	ck_assert_ptr_null(strstr(said.bytes, "agent-intercom\n"));
	ck_assert_ptr_null(strstr(said.bytes, "intercom.db-instance"));
	end();
}
END_TEST

START_TEST(an_agent_cannot_connect_to_the_operators_socket_or_to_one_of_the_run_directory)
{
	OWNED(str) struct str said = { 0 }, list = { 0 };
	OWNED(str) struct str program = { 0 };

	NEEDS_ROOT();
	begin("");
	ck_assert_int_eq(shell(&list, "find %s/state -type s", users.base), 0);
	says(list.bytes, "/applier.bell");
	says(list.bytes, "/ipc.sock");
	str_add(&program,
	        "print(tried(lambda: connect(shared + '/desk.sock', socket.SOCK_SEQPACKET)))\n"
	        "print(tried(lambda: connect(shared + '/mcp.sock')) and 'asks')\n"
	        "for one in '''");
	str_add(&program, list.bytes);
	str_add(&program, "'''.split():\n"
	                  "    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n"
	                  "        print(tried(lambda: connect(one, kind)))\n");
	tries(AGENT, &said, program.bytes);
	ck_assert_int_eq(strncmp(said.bytes, "PermissionError\nasks\nPermissionError\n", 37), 0);
	ck_assert_ptr_null(strstr(said.bytes, "<socket"));
	end();
}
END_TEST

START_TEST(an_agent_cannot_answer_with_ctl_whatever_it_says_that_it_is)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	char id[80];
	struct relay r;

	NEEDS_ROOT();
	begin("");
	r = users_relay(&users, AGENT);
	relay_begin(&r, "check_clearance", arguments);
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
	(void)snprintf(id, sizeof(id), "%.36s", users_sql(&users, "SELECT id FROM inbox"));
	ck_assert_int_ne(users_ctl(&users, AGENT, &said, "approve %s", id), 0);
	ck_assert_int_ne(users_ctl(&users, AGENT, &said, "--db %s approve %s", users.database, id),
	                 0);
	says(said.bytes, "Permission denied");
	ck_assert_int_ne(users_run(&users, AGENT, &said,
	                           "INTERCOM_DESK_OPERATOR=local:root INTERCOM_DESK_DATABASE=%s "
	                           "%s/agent-intercom-ctl approve %s",
	                           users.database, getenv("INTERCOM_BUILD"), id),
	                 0);
	says(said.bytes, "Permission denied");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM decision"), "0\n");
	relay_kill(&r);
	end();
}
END_TEST

START_TEST(an_agent_can_neither_signal_nor_trace_a_process_of_the_system)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str program = { 0 };

	NEEDS_ROOT();
	begin("");
	str_add(&program, "libc = ctypes.CDLL(None, use_errno=True)\nfor pid in map(int, '''");
	str_add(&program, users_sql(&users, "SELECT pid FROM worker WHERE state = 'ready'"));
	str_addf(&program, "%d", (int)users.pid);
	str_add(&program, "'''.split()):\n"
	                  "    print('kill', tried(lambda: os.kill(pid, 9)))\n"
	                  "    print('trace', libc.ptrace(16, pid, 0, 0))\n" /* PTRACE_ATTACH */
	                  "    print('memory', tried(lambda: open('/proc/%d/mem' % pid, 'rb')))\n");
	tries(AGENT, &said, program.bytes);
	says(said.bytes, "kill PermissionError\ntrace -1\nmemory PermissionError\n");
	ck_assert_ptr_null(strstr(said.bytes, "None"));
	ck_assert_ptr_null(strstr(said.bytes, "trace 0"));
	ck_assert_ptr_null(strstr(said.bytes, "<"));
	end();
}
END_TEST

START_TEST(an_agent_cannot_replace_a_socket_or_make_a_file_beside_it)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("");
	tries(AGENT, &said,
	      "print(tried(lambda: os.unlink(shared + '/mcp.sock')))\n"
	      "print(tried(lambda: os.rename(shared + '/mcp.sock', shared + '/x')))\n"
	      "print(tried(lambda: open(shared + '/x', 'w')))\n"
	      "print(tried(lambda: os.chmod(shared + '/mcp.sock', 0o777)))\n"
	      "print(tried(lambda: os.symlink('/tmp', shared + '/y')))\n"
	      "print(sorted(os.listdir(shared)))\n");
	ck_assert_str_eq(said.bytes, "PermissionError\nPermissionError\nPermissionError\n"
	                             "PermissionError\nPermissionError\n"
	                             "['desk.sock', 'mcp.sock']\n");
	end();
}
END_TEST

START_TEST(an_agent_gets_no_other_users_folder_as_its_workspace)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	OWNED(char_ptr) char *answer = NULL;
	struct relay r;
	char open_home[100];

	NEEDS_ROOT();
	begin("");
	(void)snprintf(open_home, sizeof(open_home), "%s/theirs", users.base);
	ck_assert(mkdir(open_home, 0777) == 0 &&
	          chown(open_home, USER_IDS[OPERATOR], USER_IDS[OPERATOR]) == 0);
	(void)strcpy(users.project, open_home); /* NOLINT: it fits */
	r = users_relay(&users, AGENT);
	relay_begin(&r, "check_clearance", arguments);
	answer = relay_line(&r);
	says(answer, "the folder of another user");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request"), "0\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	end();
}
END_TEST

static const char DEFAULTS[] =
    "SELECT name, value, source FROM setting WHERE name IN ('modes.agent_may_loosen', "
    "'policy.trust') ORDER BY name";

START_TEST(an_agent_only_tightens_its_mode_and_no_policy_of_its_folder_counts_unless_told)
{
	NEEDS_ROOT();
	begin("");
	ck_assert_str_eq(users_sql(&users, DEFAULTS),
	                 "modes.agent_may_loosen\tfalse\tdefault\npolicy.trust\task\tdefault\n");
	end();
	begin("[modes]\nagent_may_loosen = true\n[policy]\ntrust = \"listed\"\n");
	ck_assert_str_eq(users_sql(&users, DEFAULTS),
	                 "modes.agent_may_loosen\ttrue\tfile\npolicy.trust\tlisted\tfile\n");
	end();
}
END_TEST

/* It says to be an editor that stands between the agent and us, and its user said yes. */
START_TEST(an_agent_cannot_answer_as_its_own_editor)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("");
	tries(
	    AGENT, &said,
	    "import json, time\n"
	    "s = connect(shared + '/mcp.sock'); f = s.makefile('rw')\n"
	    "def say(**what): f.write(json.dumps(what) + '\\n'); f.flush()\n"
	    "say(**{'agent-intercom': 1, 'hook': 'acp'})\n"
	    "say(jsonrpc='2.0', id=1, method='intercom/hook', params={'host': 'acp',\n"
	    "    'event': 'session/request_permission', 'helper': 'x', 'deadline_ms': 60000,\n"
	    "    'input': {'session_id': 's', 'cwd': base + '/project', 'tool_name': 'execute',\n"
	    "              'tool_input': {'command': 'echo one'}}})\n"
	    "s.settimeout(10)\n"
	    "for line in f:\n"
	    "    print(line, end='')\n"
	    "    if 'intercom/asked' in line: say(jsonrpc='2.0', id=2, method='intercom/decide',\n"
	    "        params={'verdict': 'approve'})\n"
	    "    if '\"id\":2' in line or '\"id\":1' in line: break\n");
	says(said.bytes, "intercom/asked");
	says(said.bytes, "\"editor\":false");
	says(said.bytes, "\"outcome\":\"unauthorized\"");
	end();
}
END_TEST

/* It says to be an editor's proxy that has read what the agent asks. */
START_TEST(what_an_agent_says_in_the_name_of_its_editors_proxy_is_not_shown_as_ours)
{
	NEEDS_ROOT();
	begin("");
	tries(AGENT, NULL,
	      "import json\n"
	      "s = connect(shared + '/mcp.sock'); f = s.makefile('rw')\n"
	      "def say(**what): f.write(json.dumps(what) + '\\n'); f.flush()\n"
	      "say(**{'agent-intercom': 1, 'hook': 'acp'})\n"
	      "say(jsonrpc='2.0', id=1, method='intercom/hook', params={'host': 'acp',\n"
	      "    'event': 'session/request_permission', 'helper': 'x', 'deadline_ms': 60000,\n"
	      "    'input': {'session_id': 's', 'cwd': base + '/project', 'risk': 'high',\n"
	      "              'tool_name': 'permission', 'tool_input': {'title': 'Clean',\n"
	      "              'content': 'rm -r x', 'notes': 'Checked: harmless'}}})\n"
	      "s.settimeout(10)\n"
	      "for line in f:\n"
	      "    if 'intercom/asked' in line: break\n");
	ck_assert_str_eq(
	    users_sql(&users, "SELECT title, body, instr(description, 'Checked: harmless') > 0,"
	                      " notes_length > 0,"
	                      " instr(substr(description, -notes_length), 'Checked') FROM request"),
	    "permission Clean\trm -r x\t1\t1\t0\n");
	end();
}
END_TEST

START_TEST(an_agent_withdraws_no_question_that_is_no_editors)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("");
	tries(AGENT, NULL,
	      TALKS "import time\n"
	            "say(**{'agent-intercom': 1, 'workspace': base + '/project'}); f.readline()\n"
	            "initialize('test')\n"
	            "say(jsonrpc='2.0', id=2, method='tools/call', params={'name': 'transmit',\n"
	            "    'arguments': {'prompt_text': 'go on?'}})\n"
	            "if os.fork(): os._exit(0)\n"
	            "for i in range(3): os.close(i)\n"
	            "os.chdir(os.environ['HOME'])\n"
	            "while not os.path.exists('asked'): time.sleep(0.01)\n"
	            "say(jsonrpc='2.0', id=3, method='intercom/decide',\n"
	            "    params={'verdict': 'withdraw'})\n"
	            "open('answer', 'w').write(f.readline())\n"
	            "f.readline()\n");
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
	ck_assert_int_eq(users_run(&users, AGENT, &said,
	                           "cd && touch asked && until [ -s answer ]; do sleep 0.05; done; "
	                           "cat answer"),
	                 0);
	says(said.bytes, "\"id\":3");
	says(said.bytes, "\"outcome\":\"not_found\"");
	ck_assert_str_eq(users_sql(&users, "SELECT state FROM request"), "pending\n");
	end();
}
END_TEST

START_TEST(what_a_caller_says_of_itself_is_bounded)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("");
	tries(AGENT, &said,
	      TALKS "say(**{'agent-intercom': 1, 'agent': 'x' * 257}); f.readline()\n"
	            "initialize('test')\n" TALKS
	            "say(**{'agent-intercom': 1, 'workspace': '/' * 4097}); f.readline()\n"
	            "initialize('test')\n" TALKS
	            "say(**{'agent-intercom': 1, 'agent': 'x' * 70000})\n"
	            "print('end' if f.readline() == '' else 'served')\n" TALKS
	            "say(**{'agent-intercom': 1, 'workspace': base + '/project'}); f.readline()\n"
	            "initialize('é' * 70000)\n");
	says(said.bytes, "the caller's 'agent' is longer than 256 bytes");
	says(said.bytes, "the caller's 'workspace' is longer than 4096 bytes");
	says(said.bytes, "\nend\n");
	ck_assert_str_eq(users_sql(&users, "SELECT length(client_name) BETWEEN 100 AND 200, "
	                                   "length(identity) < 200 FROM connection"),
	                 "1\t1\n");
	end();
}
END_TEST

START_TEST(the_desk_survives_nonsense_and_more_files_than_it_takes)
{
	OWNED(str) struct str said = { 0 };
	int before;

	NEEDS_ROOT();
	begin("");
	before = atoi(users_sql(&users, "SELECT pid FROM worker WHERE name = 'desk'"));
	tries(OPERATOR, &said,
	      "import array\n"
	      "def desk(text, count):\n"
	      "    s = connect(shared + '/desk.sock', socket.SOCK_SEQPACKET)\n"
	      "    files = array.array('i', [1] * count)\n"
	      "    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)] if count else []\n"
	      "    s.sendmsg([text], rights)\n"
	      "    print(count, tried(lambda: s.recv(100)))\n"
	      "good = b'agent-intercom-ctl 1\\0\\0--version\\0'\n"
	      "for count in (0, 1, 2, 4, 5, 50, 200): desk(good, count)\n"
	      "desk(b'x', 3); desk(b'\\0', 3); desk(good[:-1], 3); desk(b'a\\0' * 60000, 3)\n"
	      "desk(b'agent-intercom-ctl 1\\0', 3)\n"
	      "desk(good, 3)\n");
	ck_assert_ptr_null(strstr(said.bytes, "b'x\\x00'\n4"));
	says(said.bytes, "agent-intercom-ctl 0");
	says(said.bytes, "3 b'x\\x00'\n"); /* the last one: status 0 */
	ck_assert_int_eq(atoi(users_sql(&users, "SELECT pid FROM worker WHERE name = 'desk' AND "
	                                        "state = 'ready'")),
	                 before);
	ck_assert_int_eq(shell(&said, "ls /proc/%d/fd | wc -l", before), 0);
	ck_assert_int_lt(atoi(said.bytes), 20);
	end();
}
END_TEST

START_TEST(an_operator_who_connects_and_says_nothing_leaves_others_their_places)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("");
	tries(
	    OPERATOR, &said,
	    "import time\n"
	    "silent = [connect(shared + '/desk.sock', socket.SOCK_SEQPACKET) for i in range(80)]\n"
	    "print(sum(s.recv(100)[:1] == b'r' for s in silent[16:]), 'refused')\n"
	    "if os.fork() == 0:\n"
	    "    for i in range(3): os.close(i)\n"
	    "    time.sleep(600)\n");
	says(said.bytes, "64 refused");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "inbox"), 1);
	says(said.bytes, "too many commands run at once");
	ck_assert_int_eq(
	    shell(&said, "INTERCOM_SHARED=%s HOME=/nonexistent %s/agent-intercom-ctl inbox 2>&1",
	          users.shared, getenv("INTERCOM_BUILD")),
	    0);
	end();
}
END_TEST

START_TEST(an_operator_starts_nothing_that_would_run_as_the_systems_user)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("[commands]\nwho = \"id\"\n");
	ck_assert_int_ne(users_ctl(&users, OPERATOR, &said, "session start 'do it' --workspace %s",
	                           users.project),
	                 0);
	says(said.bytes, "starts no agents and no commands");
	ck_assert_int_ne(
	    users_ctl(&users, OPERATOR, &said, "run who --workspace %s", users.project), 0);
	says(said.bytes, "starts no agents and no commands");
	end();
}
END_TEST

START_TEST(a_stranger_can_neither_ask_nor_answer)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str program = { 0 };

	NEEDS_ROOT();
	begin("");
	str_addf(&program,
	         "import urllib.request as u, urllib.error as e\n"
	         "try: print(u.urlopen('http://127.0.0.1:%d/health', timeout=20).status)\n"
	         "except e.HTTPError as x: print(x.code, 'shared.agents' in x.read().decode())\n"
	         "print(tried(lambda: connect(shared + '/mcp.sock')))\n"
	         "print(tried(lambda: connect(shared + '/desk.sock', socket.SOCK_SEQPACKET)))\n",
	         users.port);
	tries(STRANGER, &said, program.bytes);
	ck_assert_str_eq(said.bytes, "403 True\nPermissionError\nPermissionError\n");
	end();
}
END_TEST

START_TEST(who_is_let_in_by_uid_may_ask_and_others_are_told_that_they_may_not)
{
	OWNED(str) struct str said = { 0 };
	static const char HELLO[] = "s = connect(shared + '/mcp.sock')\n"
	                            "tried(lambda: s.sendall(b'{\"agent-intercom\":1}\\n'))\n"
	                            "print(s.recv(1000))\n";

	NEEDS_ROOT();
	begin("[mcp]\nallow_uids = [60104]\n");
	tries(STRANGER, &said, HELLO);
	says(said.bytes, "\"key\":");
	tries(OPERATOR, &said, HELLO);
	says(said.bytes, "this agent-intercom does not serve your user");
	ck_assert_ptr_null(strstr(said.bytes, "\"key\":"));
	tries(STRANGER, &said,
	      "print(tried(lambda: connect(shared + '/desk.sock', socket.SOCK_SEQPACKET)))\n");
	ck_assert_str_eq(said.bytes, "PermissionError\n");
	end();
}
END_TEST

START_TEST(the_desk_believes_the_kernel_not_the_mode_of_its_socket)
{
	OWNED(str) struct str said = { 0 };

	NEEDS_ROOT();
	begin("");
	ck_assert_int_eq(shell(NULL, "chmod 0666 %s/desk.sock", users.shared), 0);
	ck_assert_int_eq(users_ctl(&users, AGENT, &said, "inbox"), 1);
	says(said.bytes, "your user is not in the group of the operators");
	ck_assert_int_eq(users_ctl(&users, STRANGER, &said, "inbox"), 1);
	says(said.bytes, "your user is not in the group of the operators");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM operator WHERE id LIKE 'local:%'"
	                                   " AND is_default = 0"),
	                 "0\n");
	end();
}
END_TEST

/* A hook of the agent, which is denied, as it asks nobody. */
static void hook_asks_nobody(void)
{
	OWNED(str) struct str said = { 0 };

	(void)users_run(&users, AGENT, &said,
	                "echo '{\"session_id\":\"s\",\"cwd\":\"%s\",\"hook_event_name\":"
	                "\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":"
	                "\"echo one\"}}' | timeout 20 %s/agent-intercom hook claude PreToolUse",
	                users.project, getenv("INTERCOM_BUILD"));
	says(said.bytes, "\"permissionDecision\":\"deny\"");
}

START_TEST(an_agent_asks_nobody_in_a_folder_that_others_may_write_to)
{
	NEEDS_ROOT();
	begin("");
	ck_assert_int_eq(chmod(users.shared, 0777), 0);
	hook_asks_nobody();
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM tool_call"), "0\n");
	end();
}
END_TEST

START_TEST(an_agent_asks_nobody_who_has_taken_the_place_of_the_system)
{
	NEEDS_ROOT();
	begin("");
	ck_assert_int_eq(users_stop(&users), 0);
	ck_assert_int_eq(chmod(users.shared, 0777), 0);
	ck_assert_int_eq(
	    users_run(&users, STRANGER, NULL,
	              "cat >\"$HOME/fake.py\" <<'PROGRAM'\n"
	              "import os, socket\n"
	              "path = os.environ['INTERCOM_SHARED'] + '/mcp.sock'\n"
	              "os.unlink(path)\n"
	              "s = socket.socket(socket.AF_UNIX)\n"
	              "s.bind(path)\n"
	              "os.chmod(path, 0o666)\n"
	              "s.listen()\n"
	              "open(os.environ['HOME'] + '/listens', 'w')\n"
	              "while True:\n"
	              "    said = s.accept()[0].recv(100)\n"
	              "    if said: open(os.environ['HOME'] + '/heard', 'wb').write(said)\n"
	              "PROGRAM\n"
	              "timeout 60 python3 \"$HOME/fake.py\" >/dev/null 2>&1 &\n"
	              "echo $! >\"$HOME/pid\"\n"
	              "until [ -e \"$HOME/listens\" ]; do sleep 0.05; done"),
	    0);
	ck_assert_int_eq(chmod(users.shared, 0755), 0);
	hook_asks_nobody();
	ck_assert_int_eq(
	    shell(NULL, "test -e %s/home-%u/heard", users.base, (unsigned)USER_IDS[STRANGER]), 1);
	(void)users_run(&users, STRANGER, NULL, "kill \"$(cat \"$HOME/pid\")\"");
	users_remove(&users);
}
END_TEST

START_TEST(an_operator_makes_the_system_open_no_file_and_no_other_database)
{
	OWNED(str) struct str said = { 0 };
	static const char *const OTHERS[] = { "--config /etc/passwd inbox",
		                              "--db /etc/passwd inbox", "--ipc-name x inbox" };
	static const char RAW[] =
	    "import array\n"
	    "def desk(*words):\n"
	    "    s = connect(shared + '/desk.sock', socket.SOCK_SEQPACKET)\n"
	    "    text = b''.join(w.encode() + b'\\0' for w in ('agent-intercom-ctl 1', '') + "
	    "words)\n"
	    "    files = array.array('i', [0, 1, 2])\n"
	    "    s.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])\n"
	    "    print('status', s.recv(100)[1:], flush=True)\n"
	    "desk('--config', '/etc/passwd', 'inbox')\n"
	    "desk('--db=/etc/passwd', 'inbox')\n"
	    "desk('--ipc-name', 'x', 'inbox')\n"
	    "desk('approve', 'x', '--with', base + '/state/agent-intercom/intercom.db')\n"
	    "desk('approve', 'x', '--edit')\n"
	    "desk('files', '--workspace', 'state')\n"
	    "desk('sql', 'ATTACH \\'/etc/passwd\\' AS x')\n"
	    "desk('sql', 'DELETE FROM event')\n";

	NEEDS_ROOT();
	begin("");
	for (size_t i = 0; i < COUNT(OTHERS); i++) {
		ck_assert_int_ne(users_ctl(&users, OPERATOR, &said, "%s", OTHERS[i]), 0);
		ck_assert_ptr_null(strstr(said.bytes, "root:"));
	}
	tries(OPERATOR, &said, RAW);
	ck_assert_ptr_null(strstr(said.bytes, "status b'\\x00'"));
	says(said.bytes, "an operator of the shared system names no other one");
	says(said.bytes, "reads no file for an operator, and starts no editor");
	says(said.bytes, "only statements that read");
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack users");
	TCase *c = tcase_create("attack users");

	tcase_add_test(
	    c, neither_an_agent_nor_an_operator_nor_a_stranger_can_open_anything_of_the_database);
	tcase_add_test(c, an_agent_cannot_read_the_configuration_or_the_tokens_of_a_process);
	tcase_add_test(
	    c, an_agent_cannot_connect_to_the_operators_socket_or_to_one_of_the_run_directory);
	tcase_add_test(c, an_agent_cannot_answer_with_ctl_whatever_it_says_that_it_is);
	tcase_add_test(c, an_agent_can_neither_signal_nor_trace_a_process_of_the_system);
	tcase_add_test(c, an_agent_cannot_replace_a_socket_or_make_a_file_beside_it);
	tcase_add_test(c, an_agent_gets_no_other_users_folder_as_its_workspace);
	tcase_add_test(
	    c, an_agent_only_tightens_its_mode_and_no_policy_of_its_folder_counts_unless_told);
	tcase_add_test(c, an_agent_cannot_answer_as_its_own_editor);
	tcase_add_test(c, what_an_agent_says_in_the_name_of_its_editors_proxy_is_not_shown_as_ours);
	tcase_add_test(c, an_agent_withdraws_no_question_that_is_no_editors);
	tcase_add_test(c, what_a_caller_says_of_itself_is_bounded);
	tcase_add_test(c, the_desk_survives_nonsense_and_more_files_than_it_takes);
	tcase_add_test(c, an_operator_who_connects_and_says_nothing_leaves_others_their_places);
	tcase_add_test(c, an_operator_starts_nothing_that_would_run_as_the_systems_user);
	tcase_add_test(c, a_stranger_can_neither_ask_nor_answer);
	tcase_add_test(c, who_is_let_in_by_uid_may_ask_and_others_are_told_that_they_may_not);
	tcase_add_test(c, the_desk_believes_the_kernel_not_the_mode_of_its_socket);
	tcase_add_test(c, an_agent_asks_nobody_in_a_folder_that_others_may_write_to);
	tcase_add_test(c, an_agent_asks_nobody_who_has_taken_the_place_of_the_system);
	tcase_add_test(c, an_operator_makes_the_system_open_no_file_and_no_other_database);
	suite_add_tcase(s, c);
	return run_suite(s);
}
