/* In a system that serves several users, an agent of one who knows by what another's session,
 * stream, question or task goes: each is as if it did not exist. */
#include "agent.h"
#include "users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEEDS_ACCOUNTS()                                                                           \
	do {                                                                                       \
		SKIP_UNLESS(geteuid() == 0, "root, who can become several users");                 \
		users = users_make("");                                                            \
		SKIP_UNLESS(users_have_accounts(&users), "mount namespaces");                      \
		begin();                                                                           \
	} while (0)

static struct users users;

static const char CLIENT[] =
    "import http.client, json, os, socket, sys\n"
    "def exchange(method, path, body=None, version=None, session=None, more={}):\n"
    "    c = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']), timeout=30)\n"
    "    h = {'Accept': 'application/json, text/event-stream', **more}\n"
    "    if body is not None: h['Content-Type'] = 'application/json'\n"
    "    if version: h['MCP-Protocol-Version'] = version\n"
    "    if session: h['Mcp-Session-Id'] = session\n"
    "    c.request(method, path, None if body is None else json.dumps(body), h)\n"
    "    return c.getresponse()\n"
    "def rpc(method, params={}, id=1):\n"
    "    return {'jsonrpc': '2.0', 'id': id, 'method': method, 'params': params}\n"
    "def call(tool, **arguments):\n"
    "    return rpc('tools/call', {'name': tool, 'arguments': arguments})\n"
    "def hello(query):\n"
    "    r = exchange('POST', '/mcp' + query, rpc('initialize', {'protocolVersion':\n"
    "        '2025-11-25', 'capabilities': {}, 'clientInfo': {'name': 't', 'version': '1'}}))\n"
    "    r.read()\n"
    "    return r.getheader('Mcp-Session-Id')\n"
    "def modern(query, method, params, name=None):\n"
    "    m = rpc(method, {**params, '_meta': {'io.modelcontextprotocol/' + k: v for k, v in {\n"
    "        'protocolVersion': '2026-07-28', 'clientInfo': {'name': 't', 'version': '1'},\n"
    "        'clientCapabilities': {'extensions': {'io.modelcontextprotocol/tasks': {}}},\n"
    "        'run': 'one'}.items()}})\n"
    "    h = {'Mcp-Method': method, **({'Mcp-Name': name} if name else {})}\n"
    "    r = exchange('POST', '/mcp' + query, m, '2026-07-28', None, h)\n"
    "    text = r.read().decode()\n"
    "    if 'data: ' in text: text = text.rsplit('data: ', 1)[1]\n"
    "    return json.loads(text)\n"
    "def legacy(session, message):\n"
    "    r = exchange('POST', '/mcp', message, '2025-11-25', session)\n"
    "    return r.status, r.read().decode()\n";

static void begin(void)
{
	OWNED(str) struct str config = { 0 };
	char theirs[100];

	(void)snprintf(theirs, sizeof(theirs), "%s/theirs", users.base);
	ck_assert(mkdir(theirs, 0777) == 0 && chmod(theirs, 0777) == 0 &&
	          chown(theirs, USER_IDS[OTHER_AGENT], USER_IDS[OTHER_AGENT]) == 0);
	str_addf(&config,
	         "[shared]\nagents = \"60110\"\noperators = \"60111\"\nowner_socket = \"\"\n"
	         "[[workspace]]\nid = \"mine\"\nchannel_id = \"C0MINE\"\npath = \"%s\"\n"
	         "[[workspace]]\nid = \"theirs\"\nchannel_id = \"C0THEIRS\"\npath = \"%s\"\n",
	         users.project, theirs);
	users_configure(&users, config.bytes);
	put_file(users.base, "client.py", CLIENT);
	users_start(&users);
}

static void end(void)
{
	ck_assert_int_eq(users_stop(&users), 0);
	users_remove(&users);
}

/* What a program of this user prints, with this word. */
static const char *runs(enum user who, const char *word, const char *program)
{
	static struct str said;

	(void)users_run(&users, who, &said,
	                "cat >\"$HOME/run.py\" <<'PROGRAM'\n%s\nPROGRAM\n"
	                "PORT=%d PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s timeout 60 python3 "
	                "\"$HOME/run.py\" '%s'",
	                program, users.port, users.base, word);
	return str_text(&said);
}

/* The same, without its newline. */
static void keep(char out[200], const char *text)
{
	(void)snprintf(out, 200, "%.*s", (int)strcspn(text, "\n"), text);
}

static const char BEGIN[] = "from client import *\n"
                            "s = hello('?workspace_id=mine')\n"
                            "assert legacy(s, call('ping'))[0] == 200\n"
                            "print(s)";

START_TEST(another_users_session_is_not_found_by_any_method_of_http)
{
	char session[200];

	NEEDS_ACCOUNTS();
	keep(session, runs(AGENT, "", BEGIN));
	ck_assert_str_eq(
	    runs(
	        OTHER_AGENT, session,
	        "from client import *\n"
	        "s = sys.argv[1]\n"
	        "print('delete', exchange('DELETE', '/mcp', session=s).status)\n"
	        "print('resume', exchange('GET', '/mcp', session=s, more={'Last-Event-ID': "
	        "'1.0'}).status)\n"
	        "print('ping', legacy(s, rpc('ping'))[0])\n"
	        "print('list', legacy(s, rpc('tools/list'))[0])\n"
	        "print('call', legacy(s, call('ping'))[0])\n"
	        "print('ask', legacy(s, call('transmit', prompt_text='go on?'))[0])\n"
	        "print('read', legacy(s, rpc('resources/read', {'uri': 'intercom://inbox'}))[0])\n"
	        "print('cancel', legacy(s, {'jsonrpc': '2.0', 'method': 'notifications/cancelled', "
	        "'params': {'requestId': 1}})[0])\n"
	        "print('batch', exchange('POST', '/mcp', [rpc('ping')], '2025-03-26', s).status)"),
	    "delete 404\nresume 404\nping 404\nlist 404\ncall 404\nask 404\nread 404\ncancel "
	    "404\nbatch 404\n");
	ck_assert_str_eq(users_sql(&users, "SELECT state, uid FROM connection"), "open\t60102\n");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM request"), "0\n");
	ck_assert_str_eq(runs(AGENT, session,
	                      "from client import *\n"
	                      "print(legacy(sys.argv[1], call('ping'))[0])\n"
	                      "print(exchange('DELETE', '/mcp', session=sys.argv[1]).status)"),
	                 "200\n204\n");
	ck_assert_str_eq(users_sql(&users, "SELECT state FROM connection"), "closed\n");
	end();
}
END_TEST

START_TEST(another_users_session_is_neither_joined_nor_recovered_nor_read_by_its_id)
{
	OWNED(char_ptr) char *id = NULL;

	NEEDS_ACCOUNTS();
	(void)runs(AGENT, "", BEGIN);
	id = xstrdup(users_sql(&users, "SELECT id FROM session"));
	id[strcspn(id, "\n")] = '\0';
	ck_assert_str_eq(
	    runs(OTHER_AGENT, id,
	         "from client import *\n"
	         "id = sys.argv[1]\n"
	         "s = hello('?workspace_id=theirs&session_id=' + id)\n"
	         "print('join', 'there is no session' in legacy(s, call('ping'))[1])\n"
	         "print('stateless', 'there is no session' in str(modern('?workspace_id=theirs&"
	         "session_id=' + id, 'tools/call', {'name': 'ping', 'arguments': {}}, 'ping')))\n"
	         "s = hello('?workspace_id=theirs')\n"
	         "print('reboot', 'session_not_found' in legacy(s, call('reboot', "
	         "session_id=id))[1])\n"
	         "print('read', 'error' in legacy(s, rpc('resources/read', {'uri': "
	         "'intercom://session/' + id + '/timeline'}))[1])\n"
	         "r = socket.socket(socket.AF_UNIX)\n"
	         "r.connect(os.environ['INTERCOM_SHARED'] + '/mcp.sock')\n"
	         "f = r.makefile('rw')\n"
	         "def say(**m): f.write(json.dumps(m) + '\\n'); f.flush(); return f.readline()\n"
	         "say(**{'agent-intercom': 1, 'session_id': id, 'workspace_id': 'theirs'})\n"
	         "say(**rpc('initialize', {'protocolVersion': '2025-11-25', 'capabilities': {}, "
	         "'clientInfo': {'name': 't', 'version': '1'}}))\n"
	         "print('relay', 'there is no session' in say(**call('ping')))\n"),
	    "join True\nstateless True\nreboot True\nread True\nrelay True\n");
	ck_assert_str_eq(users_sql(&users, "SELECT count(*) FROM connection AS c JOIN session AS s"
	                                   " ON s.seq = c.session_seq WHERE s.agent_uid <> c.uid"),
	                 "0\n");
	ck_assert_str_eq(
	    users_sql(&users, "SELECT agent_uid, agent_user FROM session ORDER BY seq"),
	    "60102\tt-agent\n60105\tt-other\n");
	end();
}
END_TEST

START_TEST(another_users_task_is_neither_read_nor_cancelled_nor_listened_to)
{
	char task[200];

	NEEDS_ACCOUNTS();
	keep(task,
	     runs(AGENT, "",
	          "from client import *\n"
	          "m = modern('?workspace_id=mine&tasks=1', 'tools/call', {'name': 'transmit', "
	          "'arguments': {'prompt_text': 'go on?'}}, 'transmit')\n"
	          "print(m['result']['taskId'])"));
	ck_assert_str_eq(runs(OTHER_AGENT, task,
	                      "from client import *\n"
	                      "t = sys.argv[1]\n"
	                      "for m in ('get', 'update', 'cancel'):\n"
	                      "    print(m, modern('', 'tasks/' + m, {'taskId': t, "
	                      "'inputResponses': {}}, t)['error']['message'])\n"),
	                 "get there is no task with this taskId\n"
	                 "update there is no task with this taskId\n"
	                 "cancel there is no task with this taskId\n");
	ck_assert_str_eq(users_sql(&users, "SELECT state FROM tool_call"), "waiting\n");
	ck_assert_str_eq(runs(AGENT, task,
	                      "from client import *\n"
	                      "print(modern('', 'tasks/get', {'taskId': sys.argv[1]}, "
	                      "sys.argv[1])['result']['status'])"),
	                 "working\n");
	end();
}
END_TEST

START_TEST(two_users_whose_clients_say_the_same_of_themselves_are_two)
{
	static const char PING[] = "from client import *\n"
	                           "m = modern('?workspace_id=' + sys.argv[1], 'tools/call', "
	                           "{'name': 'ping', 'arguments': {}}, 'ping')\n"
	                           "print('error' in m)";
	static const char HOOK[] =
	    "echo '{\"session_id\":\"s\",\"cwd\":\"%s\",\"hook_event_name\":\"%s\","
	    "\"prompt\":\"p\",\"reason\":\"other\"}' | CLAUDE_PROJECT_DIR=%s timeout 60 "
	    "%s/agent-intercom hook claude %s";
	char theirs[100];

	NEEDS_ACCOUNTS();
	ck_assert_str_eq(runs(AGENT, "mine", PING), "False\n");
	/* the same words, even in the other's folder */
	ck_assert_str_eq(runs(OTHER_AGENT, "mine", PING), "True\n");
	ck_assert_str_eq(runs(OTHER_AGENT, "theirs", PING), "False\n");
	ck_assert_str_eq(users_sql(&users, "SELECT uid, (SELECT agent_uid FROM session WHERE seq = "
	                                   "session_seq) FROM connection ORDER BY seq"),
	                 "60102\t60102\n60105\t60105\n");
	(void)snprintf(theirs, sizeof(theirs), "%s/theirs", users.base);
	(void)users_run(&users, AGENT, NULL, HOOK, users.project, "UserPromptSubmit", users.project,
	                getenv("INTERCOM_BUILD"), "UserPromptSubmit");
	(void)users_run(&users, OTHER_AGENT, NULL, HOOK, theirs, "UserPromptSubmit", theirs,
	                getenv("INTERCOM_BUILD"), "UserPromptSubmit");
	(void)users_run(&users, OTHER_AGENT, NULL, HOOK, theirs, "SessionEnd", theirs,
	                getenv("INTERCOM_BUILD"), "SessionEnd");
	users_expect_soon(&users,
	                  "SELECT uid, state FROM connection WHERE transport = 'hook' ORDER BY uid",
	                  "60102|open\n60105|closed\n");
	end();
}
END_TEST

START_TEST(another_users_event_stream_takes_no_message_and_a_relays_key_is_not_its_own)
{
	static const char STREAM[] = "from client import *\n"
	                             "r = exchange('GET', '/sse?workspace_id=mine')\n"
	                             "line = ''\n"
	                             "while not line.startswith('data: '): line = "
	                             "r.readline().decode()\n"
	                             "print(line[6:].strip(), flush=True)\n"
	                             "import time\n"
	                             "while not os.path.exists('over'): time.sleep(0.05)";
	OWNED(char_ptr) char *path = NULL;
	struct relay r;
	char key[200];

	NEEDS_ACCOUNTS();
	(void)users_run(&users, AGENT, NULL,
	                "cat >\"$HOME/stream.py\" <<'PROGRAM'\n%s\nPROGRAM\n"
	                "PORT=%d PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s timeout 60 python3 "
	                "\"$HOME/stream.py\" >.stream 2>&1 &\n"
	                "until grep -q / .stream 2>/dev/null; do sleep 0.05; done",
	                STREAM, users.port, users.base);
	path = get_file(users.project, ".stream");
	path[strcspn(path, "\n")] = '\0';
	ck_assert_str_eq(runs(OTHER_AGENT, path,
	                      "from client import *\n"
	                      "print(exchange('POST', sys.argv[1], rpc('ping')).status)"),
	                 "404\n");
	ck_assert_str_eq(runs(AGENT, path,
	                      "from client import *\n"
	                      "print(exchange('POST', sys.argv[1], rpc('ping')).status)"),
	                 "202\n");
	put_file(users.project, "over", "");
	r = users_relay(&users, AGENT);
	free(relay_call(&r, "ping", "{}"));
	keep(key, users_sql(&users, "SELECT key FROM connection WHERE transport = 'stdio'"));
	ck_assert_str_eq(runs(OTHER_AGENT, key,
	                      "from client import *\n"
	                      "r = socket.socket(socket.AF_UNIX)\n"
	                      "r.connect(os.environ['INTERCOM_SHARED'] + '/mcp.sock')\n"
	                      "f = r.makefile('rw')\n"
	                      "f.write(json.dumps({'agent-intercom': 1, 'resume': sys.argv[1]}) + "
	                      "'\\n'); f.flush()\n"
	                      "key = json.loads(f.readline())['key']\n"
	                      "print(key != sys.argv[1] and len(key) == len(sys.argv[1]))"),
	                 "True\n");
	ck_assert_str_eq(users_sql(&users, "SELECT uid, state FROM connection WHERE transport = "
	                                   "'stdio'"),
	                 "60102\topen\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack users sessions");
	TCase *c = tcase_create("attack users sessions");

	tcase_add_test(c, another_users_session_is_not_found_by_any_method_of_http);
	tcase_add_test(c, another_users_session_is_neither_joined_nor_recovered_nor_read_by_its_id);
	tcase_add_test(c, another_users_task_is_neither_read_nor_cancelled_nor_listened_to);
	tcase_add_test(c, two_users_whose_clients_say_the_same_of_themselves_are_two);
	tcase_add_test(c,
	               another_users_event_stream_takes_no_message_and_a_relays_key_is_not_its_own);
	suite_add_tcase(s, c);
	return run_suite(s);
}
