/* Runs of one program over HTTP in revision 2026-07-28, which knows no sessions: each is a process,
 * and says the same of itself as the others. */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char workspace[600];
static int port;

/* Calls tools, each over a connection of its own, and prints what it is told, a line each. Then it
 * waits for the end of its stdin. */
static const char RUN[] =
    "import http.client, json, sys\n"
    "port, more = int(sys.argv[1]), json.loads(sys.argv[2])\n"
    "key = 'io.modelcontextprotocol/'\n"
    "meta = dict({key + 'protocolVersion': '2026-07-28', key + 'clientCapabilities': {},\n"
    "    key + 'clientInfo': {'name': 'runner', 'version': '1'}}, **more)\n"
    "for call in sys.argv[3:]:\n"
    "    tool, _, arguments = call.partition(' ')\n"
    "    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': tool,\n"
    "        'arguments': json.loads(arguments or '{}'), '_meta': meta}}\n"
    "    c = http.client.HTTPConnection('127.0.0.1', port, timeout=60)\n"
    "    wait = 1 if tool == 'check_clearance' else 30\n"
    "    c.request('POST', '/mcp?wait=%d' % wait, json.dumps(body), {\n"
    "        'Content-Type': 'application/json',\n"
    "        'Accept': 'application/json, text/event-stream', 'Mcp-Method': 'tools/call',\n"
    "        'MCP-Protocol-Version': '2026-07-28', 'Mcp-Name': tool})\n"
    "    told = c.getresponse().read().decode()\n"
    "    print(told.replace('\\n', ' ').replace('\\r', ' '), flush=True)\n"
    "sys.stdin.read()\n";

static void given_front(void)
{
	fresh_store();
	given_front_settings(workspace);
	(void)start_worker("mcp-front");
	(void)start_worker("applier");
	(void)start_worker("watchdog"); /* ends waits */
	port = front_port();
	put_file(test_run(), "run.py", RUN);
}

/* One run, from its beginning to its end. */
static char *run(const char *meta, const char *calls)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_msg(shell(&said, "python3 %s/run.py %d '%s' %s </dev/null 2>&1", test_run(), port,
	                    meta, calls) == 0,
	              "%s", str_text(&said));
	return str_take(&said);
}

static const char ASK[] = "'check_clearance {\"title\":\"t\",\"diff\":\"hello\\n\","
                          "\"file_path\":\"f\"}'";

START_TEST(two_runs_at_once_are_two_sessions_whatever_connections_they_have)
{
	OWNED(str) struct str said = { 0 };

	given_front();
	ck_assert_msg(shell(&said,
	                    "cd %s; mkfifo hold; (sleep 60 >hold & echo $! >sleeper); "
	                    "python3 run.py %d '{}' ping ping <hold >one 2>&1 & "
	                    "python3 run.py %d '{}' ping ping <hold >two 2>&1 & "
	                    "for i in $(seq 600); do [ \"$(cat one two | wc -l)\" = 4 ] && break; "
	                    "sleep 0.1; done; kill $(cat sleeper); wait; cat one two",
	                    test_run(), port, port) == 0,
	              "%s", str_text(&said));
	expect("SELECT count(*), count(DISTINCT session_seq) FROM tool_call", "4|2\n");
	expect("SELECT session_seq, count(*) FROM tool_call GROUP BY 1", "1|2\n2|2\n");
	expect("SELECT client_name, client_version, transport FROM connection",
	       "runner|1|stateless\nrunner|1|stateless\n");
	expect("SELECT DISTINCT stall_paused FROM session", "1\n");
}
END_TEST

START_TEST(a_run_that_has_a_name_is_one_session_over_several_processes)
{
	given_front();
	free(run("{\"com.example/sessionId\":\"a\"}", "ping"));
	free(run("{\"com.example/sessionId\":\"a\"}", "ping"));
	expect("SELECT count(*) FROM session", "1\n");
	free(run("{\"com.example/sessionId\":\"b\"}", "ping"));
	expect("SELECT count(*) FROM session", "2\n");
}
END_TEST

START_TEST(the_next_run_finds_the_question_of_one_that_has_ended_at_once)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *third = NULL;

	given_front();
	first = run("{}", ASK);
	says(first, "pending");
	second = run("{}", ASK);
	says(second, "pending");
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT count(*) FROM session", "2\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	third = run("{}", ASK);
	says(third, "approved");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(the_next_run_has_written_what_one_that_has_ended_had_approved)
{
	OWNED(char_ptr) char *id = NULL;
	OWNED(str) struct str call = { 0 };
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *file = NULL;

	given_front();
	free(run("{}", ASK));
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	id = rows("SELECT id FROM request");
	id[strcspn(id, "\n")] = '\0';
	str_addf(&call, "'check_diff {\"request_id\":\"%s\"}'", id);
	written = run("{}", call.bytes);
	says(written, "applied");
	file = get_file(workspace, "f");
	ck_assert_str_eq(file, "hello\n");
}
END_TEST

/* One request of a process of its own, in the session of revision 2025-11-25 whose id is in the
 * file head; its answer goes to said. */
static void curl(struct str *said, const char *json)
{
	ck_assert_int_eq(
	    shell(said,
	          "curl -s -D %s/head.new -H 'Content-Type: application/json' -H \"$(tr -d '\\r' "
	          "<%s/head 2>/dev/null | grep -i '^mcp-session-id:')\" -d '%s' "
	          "http://127.0.0.1:%d/mcp; cp -n %s/head.new %s/head",
	          test_run(), test_run(), json, port, test_run(), test_run()),
	    0);
}

START_TEST(a_session_whose_calls_come_from_many_processes_goes_on)
{
	static const char *const TOOLS_CALLED[] = { "ping", "reboot", "ping" };
	OWNED(str) struct str said = { 0 };

	given_front();
	curl(&said, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	            "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
	            "\"name\":\"shell\",\"version\":\"1\"}}}");
	for (size_t i = 0; i < COUNT(TOOLS_CALLED); i++) {
		OWNED(str) struct str json = { 0 };

		str_addf(&json,
		         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
		         "\"name\":\"%s\",\"arguments\":{}}}",
		         TOOLS_CALLED[i]);
		curl(&said, json.bytes);
		says(str_text(&said), "\"result\"");
	}
	expect("SELECT state, (SELECT count(*) FROM session) FROM connection", "open|1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runs");
	TCase *c = store_case(s, "runs", 120);

	tcase_add_test(c, a_session_whose_calls_come_from_many_processes_goes_on);
	tcase_add_test(c, two_runs_at_once_are_two_sessions_whatever_connections_they_have);
	tcase_add_test(c, a_run_that_has_a_name_is_one_session_over_several_processes);
	tcase_add_test(c, the_next_run_finds_the_question_of_one_that_has_ended_at_once);
	tcase_add_test(c, the_next_run_has_written_what_one_that_has_ended_had_approved);
	return run_suite(s);
}
