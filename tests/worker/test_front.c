/* mcp-front over HTTP: what clients send, right and wrong, and what of it stays in the rows. */
#include "agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

static char workspace[600];
static pid_t front;
static int port;

/* ---- given ---- */

static void start_front(void)
{
	front = start_worker("mcp-front");
	port = front_port();
}

/* A front whose workspace is beside the run directory, or that with the database in it. */
static void given_front_at(bool beside)
{
	(void)setenv("INTERCOM_PROGRESS_SECONDS", "1", 1);
	fresh_store();
	given_front_settings(workspace);
	if (!beside) {
		char sql[800];

		*strrchr(workspace, '/') = '\0';
		(void)snprintf(
		    sql, sizeof(sql),
		    "UPDATE setting SET value = '%s' WHERE name = 'default_workspace_root'",
		    workspace);
		given(sql);
	}
	start_front();
}

static void given_front(void)
{
	given_front_at(true);
}

static void given_workspaces(const char *json)
{
	char sql[1500];

	stop_worker(front);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES"
	               " ('workspace', '%s', 'file', '%s')",
	               json, clock_now().text);
	given(sql);
	start_front();
}

static struct agent newcomer(void)
{
	return agent_hello(port, "", "2025-11-25");
}

/* Sends raw bytes on a connection of their own; the status of the answer, its body in body. */
static int raw(const char *bytes, struct str *body)
{
	struct wire w;
	int status;

	wire_open(&w, port);
	wire_send(&w, bytes);
	status = wire_answer(&w);
	if (body) {
		str_reset(body);
		str_add(body, str_text(&w.body));
	}
	wire_close(&w);
	return status;
}

/* POST of a ping with these headers (whole lines). */
static int ping_with(const char *headers)
{
	char bytes[40000];

	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n%s", headers,
	               strlen(PING), PING);
	return raw(bytes, NULL);
}

/* Begins a clearance for a new file and waits until it is asked. The stream is open. */
static void ask(struct agent *a, struct wire *w, const char *path, const char *meta)
{
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");
	char sql[300];

	agent_begin(a, w, "check_clearance", arguments, meta);
	(void)snprintf(
	    sql, sizeof(sql),
	    "SELECT count(*) > 0 FROM request JOIN tool_call ON request_seq = request.seq"
	    " WHERE file_path = '%s' AND tool_call.state = 'waiting' AND rpc_id = '%d'",
	    path, a->id);
	expect_soon(sql, "1\n");
}

/* The call that was begun ends with a yes. */
static void is_told_approved(struct wire *w)
{
	OWNED(char_ptr) char *result = agent_end(w);

	has(result, "status", "approved");
}

/* ---- sessions ---- */

START_TEST(each_revision_is_echoed_and_an_unknown_one_gets_our_newest)
{
	static const char *const ECHOED[] = { "2024-11-05", "2025-03-26", "2025-06-18",
		                              "2025-11-25" };
	static const char *const UNKNOWN[] = { "2026-07-28", "1.0", "" };

	given_front();
	for (size_t i = 0; i < COUNT(ECHOED); i++)
		ck_assert_str_eq(agent_hello(port, "", ECHOED[i]).version, ECHOED[i]);
	for (size_t i = 0; i < COUNT(UNKNOWN); i++)
		ck_assert_str_eq(agent_hello(port, "", UNKNOWN[i]).version, "2025-11-25");
	expect("SELECT count(DISTINCT key), min(length(key)) >= 32 FROM connection", "7|1\n");
}
END_TEST

START_TEST(a_session_that_is_unknown_or_ended_is_404)
{
	OWNED(str) struct str body = STR_INIT;
	struct agent a, stranger;

	given_front();
	a = newcomer();
	stranger = a;
	stranger.session[0] ^= 1;

	ck_assert_int_eq(agent_exchange(&stranger, "POST", "", PING, &body), 404);
	says(body.bytes, "initialize");
	ck_assert_int_eq(agent_exchange(&stranger, "DELETE", "", NULL, NULL), 404);
	ck_assert_int_eq(agent_exchange(&stranger, "GET", "Last-Event-ID: 1.0\r\n", NULL, NULL),
	                 404);

	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
	ck_assert_int_eq(agent_exchange(&a, "DELETE", "", NULL, NULL), 204);
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 404);
	ck_assert_int_eq(agent_exchange(&a, "DELETE", "", NULL, NULL), 404);
	expect("SELECT state FROM connection", "closed\n");
}
END_TEST

START_TEST(a_session_outlives_its_front)
{
	struct agent a;
	OWNED(char_ptr) char *before = NULL;
	OWNED(char_ptr) char *after = NULL;

	given_front();
	a = newcomer();
	before = agent_call(&a, "ping", "{}");
	kill_worker(front);
	start_front();
	a.port = port;
	after = agent_call(&a, "ping", "{}");
	ck_assert_str_eq(before, after);
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

START_TEST(what_needs_no_answer_is_202)
{
	struct agent a;
	OWNED(str) struct str body = STR_INIT;

	given_front();
	a = newcomer();
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/whatever\"}", &body),
	    202);
	ck_assert_str_eq(str_text(&body), "");
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "", "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", NULL),
	    202);
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	                   "\"params\":{\"requestId\":99}}",
	                   NULL),
	    202);
}
END_TEST

START_TEST(only_post_delete_and_resuming_get_are_served)
{
	struct agent a;

	given_front();
	a = newcomer();
	ck_assert_int_eq(agent_exchange(&a, "GET", "", NULL, NULL), 405);
	ck_assert_int_eq(agent_exchange(&a, "PUT", "", PING, NULL), 405);
	ck_assert_int_eq(agent_exchange(&a, "GET", "Last-Event-ID: 77.0\r\n", NULL, NULL), 404);
	ck_assert_int_eq(agent_exchange(&a, "GET", "Last-Event-ID: x\r\n", NULL, NULL), 404);
	ck_assert_int_eq(agent_exchange(&a, "GET", "Last-Event-ID: \r\n", NULL, NULL), 404);
	ck_assert_int_eq(raw("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", NULL), 200);
	ck_assert_int_eq(raw("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", NULL), 404);
}
END_TEST

START_TEST(a_revision_that_nobody_speaks_is_400)
{
	struct agent a;
	OWNED(str) struct str body = STR_INIT;

	given_front();
	a = newcomer();
	(void)snprintf(a.version, sizeof(a.version), "2199-01-01");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, &body), 400);
	says(body.bytes, "MCP-Protocol-Version");
	a.version[0] = '\0';
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
}
END_TEST

/* ---- who may ask ---- */

START_TEST(only_loopback_hosts_and_origins_are_served)
{
	static const char *const GOOD[] = {
		"Host: localhost\r\n",
		"Host: LOCALHOST:1\r\n",
		"Host: 127.0.0.1:3000\r\n",
		"Host: [::1]:3000\r\n",
		"Host: localhost.:80\r\n",
		"Host: localhost\r\nOrigin: http://localhost:5173\r\n"
		"Content-Type: application/json\r\n",
		"Host: localhost\r\nOrigin: https://127.0.0.1\r\nContent-Type: application/json\r\n"
		"Sec-Fetch-Site: same-site\r\n",
	};
	static const char *const EVIL[] = {
		"",
		"Host:\r\n",
		"Host: evil.example.com\r\n",
		"Host: localhost.evil.example.com\r\n",
		"Host: localhost@evil.example.com\r\n",
		"Host: evil.example.com:localhost\r\n",
		"Host: localhost:80x\r\n",
		"Host: 127.0.0.1.nip.io\r\n",
		"Host: localhost\r\nHost: evil.example.com\r\n",
		"Host: localhost\r\nOrigin: http://evil.example.com\r\n",
		"Host: localhost\r\nOrigin: null\r\n",
		"Host: localhost\r\nOrigin: file://\r\n",
		"Host: localhost\r\nOrigin: http://localhost@evil.example.com\r\n",
		"Host: localhost\r\nOrigin: http://localhost.evil.example.com:80\r\n",
		"Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
	};
	static const char ELSEWHERE[] =
	    "GET http://evil.example.com/health HTTP/1.1\r\nHost: localhost\r\n\r\n";

	given_front();
	for (size_t i = 0; i < COUNT(GOOD); i++)
		ck_assert_msg(ping_with(GOOD[i]) == 200, "%s", GOOD[i]);
	for (size_t i = 0; i < COUNT(EVIL); i++)
		ck_assert_msg(ping_with(EVIL[i]) == 403, "%s", EVIL[i]);
	ck_assert_int_eq(raw("GET /health HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", NULL), 403);
	ck_assert_int_eq(raw(ELSEWHERE, NULL), 403);
	ck_assert_int_eq(
	    raw("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://e.com\r\n\r\n", NULL),
	    403);
}
END_TEST

/* ---- bodies ---- */

START_TEST(what_is_no_json_rpc_is_400_with_its_code)
{
	struct agent a;
	OWNED(str) struct str body = STR_INIT;

	given_front();
	a = newcomer();
	ck_assert_int_eq(agent_exchange(&a, "POST", "", "{\"jsonrpc\"", &body), 400);
	has(body.bytes, "error.code", "-32700");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", "", &body), 400);
	has(body.bytes, "error.code", "-32700");
	ck_assert_int_eq(agent_exchange(&a, "POST", "",
	                                "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
	                                &body),
	                 400);
	has(body.bytes, "error.code", "-32600");
	ck_assert_int_eq(agent_exchange(&a, "POST", "",
	                                "{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"ping\"}",
	                                &body),
	                 400);
	has(body.bytes, "id", "5");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", "[]", &body), 400);
	ck_assert_int_eq(ping_with("Host: localhost\r\nContent-Type: text/plain\r\n"), 415);
	ck_assert_int_eq(ping_with("Host: localhost\r\nOrigin: http://localhost:80\r\n"), 415);
}
END_TEST

START_TEST(a_body_over_4_mib_is_413_with_a_reason)
{
	struct agent a;
	OWNED(str) struct str big = STR_INIT;
	OWNED(str) struct str body = STR_INIT;

	given_front();
	a = newcomer();
	str_add(&big, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"");
	while (big.length < 5 * MIB)
		str_add(&big, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	str_add(&big, "\"}}");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", big.bytes, &body), 413);
	says(member(body.bytes, "error.message"), "4 MiB");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
}
END_TEST

START_TEST(a_body_nested_too_deep_is_400)
{
	struct agent a;
	OWNED(str) struct str deep = STR_INIT;
	OWNED(str) struct str body = STR_INIT;

	given_front();
	a = newcomer();
	for (int i = 0; i < 100000; i++)
		str_add_char(&deep, '[');
	ck_assert_int_eq(agent_exchange(&a, "POST", "", deep.bytes, &body), 400);
	says(body.bytes, "64 levels");
}
END_TEST

/* The front took a request whose id is spelt with an escape for one that has an id it knows. */
START_TEST(an_id_whose_name_is_escaped_kills_nobody)
{
	struct agent a;
	OWNED(str) struct str body = STR_INIT;

	given_front();
	a = newcomer();
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"\\u0069d\":\"x\",\"method\":\"tools/call\","
	                   "\"params\":{\"name\":\"ping\"}}",
	                   &body),
	    200);
	has(body.bytes, "id", "x");
	ck_assert_int_eq(kill(front, 0), 0);
}
END_TEST

START_TEST(a_batch_is_answered_in_the_one_revision_that_has_it)
{
	static const char BATCH[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
	                            "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"no/such\"},"
	                            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]";
	struct agent a, b;
	struct wire w;
	struct event e = { .id = "" };
	int count = 0;

	given_front();
	a = newcomer();
	ck_assert_int_eq(agent_exchange(&a, "POST", "", BATCH, NULL), 400);
	b = agent_hello(port, "", "2025-03-26");
	wire_open(&w, port);
	agent_send(&b, &w, "POST", "", BATCH);
	ck_assert_int_eq(wire_head(&w), 200);
	while (wire_event(&w, &e))
		count++;
	ck_assert_int_eq(count, 2);
	event_clear(&e);
	wire_close(&w);
	ck_assert_int_eq(agent_exchange(&b, "POST", "",
	                                "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]",
	                                NULL),
	                 202);
}
END_TEST

/* ---- methods and tools ---- */

/* The JSON-RPC message that answers a request. */
static void exchange(const struct agent *a, const char *json, struct str *body)
{
	ck_assert_int_eq(agent_exchange(a, "POST", "", json, body), 200);
}

START_TEST(wrong_calls_are_told_what_is_wrong)
{
	struct agent a;
	OWNED(str) struct str b = STR_INIT;

	given_front();
	a = newcomer();
	exchange(&a, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", &b);
	has(b.bytes, "error.code", "-32601");
	says(b.bytes, "no/such");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"tools/"
	         "call\",\"params\":{\"name\":\"nope\"}}",
	         &b);
	has(b.bytes, "error.code", "-32602");
	says(b.bytes, "\"id\":\"\"");
	says(b.bytes, "unknown tool: nope");
	exchange(&a, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/call\"}", &b);
	has(b.bytes, "error.code", "-32602");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"check_diff\",\"arguments\":{\"request_id\":5}}}",
	         &b);
	has(b.bytes, "id", "0");
	has(b.bytes, "result.isError", "true");
	has(b.bytes, "result.structuredContent.error_code", "invalid_arguments");
	says(b.bytes, "'request_id' must be of type string");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"broadcast\",\"arguments\":{\"message\":\"a\\u0000b\"}}}",
	         &b);
	has(b.bytes, "result.isError", "true");
	says(b.bytes, "NUL");
	exchange(&a, PING, &b);
	has(b.bytes, "result", "{}");
	exchange(
	    &a,
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"\"}}",
	    &b);
	has(b.bytes, "result.tools.8.name", "switch_freq");
}
END_TEST

/* ---- HTTP itself ---- */

START_TEST(a_chunked_body_is_a_body)
{
	OWNED(str) struct str body = STR_INIT;
	char bytes[600];

	given_front();
	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
	               "5\r\n%.5s\r\n%zx\r\n%s\r\n0\r\n\r\n",
	               PING, strlen(PING) - 5, PING + 5);
	ck_assert_int_eq(raw(bytes, &body), 200);
	has(body.bytes, "result", "{}");
}
END_TEST

START_TEST(who_waits_for_100_continue_gets_it)
{
	struct wire w;
	char bytes[300];
	struct pollfd p;

	given_front();
	wire_open(&w, port);
	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
	               "Content-Length: %zu\r\n\r\n",
	               strlen(PING));
	wire_send(&w, bytes);
	p = (struct pollfd){ .fd = w.fd, .events = POLLIN };
	ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "no 100 Continue comes");
	wire_send(&w, PING);
	ck_assert_int_eq(wire_answer(&w), 200);
	has(str_text(&w.body), "result", "{}");
	wire_close(&w);
}
END_TEST

START_TEST(a_body_of_two_lengths_is_refused)
{
	char bytes[600];

	given_front();
	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
	               "Content-Length: 3\r\n\r\n%s",
	               strlen(PING), PING); /* the first alone would do */
	ck_assert_int_eq(raw(bytes, NULL), 400);
	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
	               "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n",
	               strlen(PING), strlen(PING), PING);
	ck_assert_int_eq(raw(bytes, NULL), 400);
}
END_TEST

START_TEST(headers_over_16_kib_are_refused_and_the_front_lives_on)
{
	OWNED(str) struct str bytes = STR_INIT;
	struct wire w;

	given_front();
	str_add(&bytes, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ");
	for (int i = 0; i < 20 * 1024; i++)
		str_add_char(&bytes, 'x');
	str_add(&bytes, "\r\n\r\n");
	wire_open(&w, port);
	wire_send(&w, bytes.bytes);
	ck_assert(wire_is_cut_within(&w, AGENT_PATIENCE_MS));
	wire_close(&w);
	ck_assert_int_eq(ping_with("Host: localhost\r\n"), 200);
}
END_TEST

START_TEST(pipelined_posts_are_answered_in_order)
{
	struct agent a;
	struct wire w;
	char json[100];

	given_front();
	a = newcomer();
	wire_open(&w, port);
	for (int i = 1; i <= 20; i++) {
		(void)snprintf(json, sizeof(json),
		               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i);
		agent_send(&a, &w, "POST", "", json);
	}
	for (int i = 1; i <= 20; i++) {
		ck_assert_int_eq(wire_answer(&w), 200);
		ck_assert_int_eq(atoi(member(str_text(&w.body), "id")), i);
	}
	wire_close(&w);
}
END_TEST

START_TEST(a_connection_serves_on_after_a_stream_has_ended)
{
	struct agent a;
	struct wire w;
	struct event e = { .id = "" };

	given_front();
	a = newcomer();
	ask(&a, &w, "f", NULL);
	approve_all();
	ck_assert_int_eq(wire_head(&w), 200);
	while (wire_event(&w, &e))
		continue;
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	agent_send(&a, &w, "POST", "", PING);
	ck_assert_int_eq(wire_answer(&w), 200);
	has(str_text(&w.body), "result", "{}");
	event_clear(&e);
	wire_close(&w);
}
END_TEST

/* A next request behind one that waits had its connection cut, when the front saw it in one place
 * before the other. */
START_TEST(a_request_behind_a_held_one_waits_its_turn)
{
	enum { CALLERS = 20 };
	struct wire w[CALLERS];
	struct event e = { .id = "" };
	struct agent a;
	char path[20];

	given_front();
	a = newcomer();
	for (int i = 0; i < CALLERS; i++) {
		(void)snprintf(path, sizeof(path), "f%d", i);
		ask(&a, &w[i], path, NULL);
		ck_assert_int_eq(wire_head(&w[i]), 200);
		ck_assert(wire_event(&w[i], &e));
	}
	(void)kill(front, SIGSTOP); /* so that it sees them all at once */
	for (int i = 0; i < CALLERS; i++)
		agent_send(&a, &w[i], "POST", "", PING);
	(void)kill(front, SIGCONT);
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
	approve_all();
	for (int i = 0; i < CALLERS; i++) {
		while (wire_event(&w[i], &e))
			continue;
		has(str_text(&e.data), "result.structuredContent.status", "approved");
		ck_assert_int_eq(wire_answer(&w[i]), 200);
		has(str_text(&w[i].body), "result", "{}");
		wire_close(&w[i]);
	}
	event_clear(&e);
}
END_TEST

START_TEST(who_floods_the_connection_of_a_held_request_is_cut)
{
	struct agent a;
	struct wire w;
	OWNED(str) struct str flood = STR_INIT;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", NULL);
	while (flood.length < 64 << 10)
		str_add(&flood, PING);
	wire_send(&w, flood.bytes);
	ck_assert(wire_is_cut_within(&w, AGENT_PATIENCE_MS));
	wire_close(&w);
	expect_soon("SELECT listener IS NULL, state FROM tool_call", "1|waiting\n");
}
END_TEST

/* The connection is closed behind the refusal: where its next request begins is not sure. */
START_TEST(a_body_whose_length_is_not_clear_is_refused)
{
	static const char *const UNCLEAR[] = {
		"Content-Length: -1\r\n\r\n",
		"Content-Length: +40\r\n\r\n",
		"Content-Length: 40x\r\n\r\n",
		"Content-Length : 40\r\n\r\n",
		"Content-Length: 40\r\nContent-Length: 40\r\n\r\n",
		"Transfer-Encoding: gzip\r\n\r\n",
		"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	};
	static const char *const CHUNKS[] = { "zz",   "-5", "",         "ffffffffffffffffffff",
		                              "28zz", "-0", "ffffffff", "7fffffffffffffff" };
	struct wire w;

	given_front();
	for (size_t i = 0; i < COUNT(UNCLEAR); i++) {
		wire_open(&w, port);
		wire_send(&w, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n");
		wire_send(&w, UNCLEAR[i]);
		wire_send(&w, PING);
		ck_assert_msg(wire_answer(&w) == 400, "%s is %d", UNCLEAR[i], w.status);
		ck_assert_msg(wire_is_cut_within(&w, 2000), "%s: goes on", UNCLEAR[i]);
		wire_close(&w);
	}
	for (size_t i = 0; i < COUNT(CHUNKS); i++) {
		wire_open(&w, port);
		wire_send(&w, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
		              "Transfer-Encoding: chunked\r\n\r\n");
		wire_send(&w, CHUNKS[i]);
		wire_send(&w, "\r\n");
		wire_send(&w, PING);
		wire_send(&w, "\r\n0\r\n\r\n");
		ck_assert_msg(wire_answer(&w) == 413, "chunk of %s is %d", CHUNKS[i], w.status);
		ck_assert_msg(wire_is_cut_within(&w, 2000), "chunk of %s: goes on", CHUNKS[i]);
		wire_close(&w);
	}
	ck_assert_int_eq(ping_with("Host: localhost\r\n"), 200);
}
END_TEST

START_TEST(who_asks_for_100_continue_with_too_much_is_refused_before_it_is_sent)
{
	given_front();
	ck_assert_int_eq(raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
	                     "Content-Length: 9000000\r\n\r\n",
	                     NULL),
	                 413);
	ck_assert_int_eq(raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n"
	                     "Content-Length: 40\r\n\r\n",
	                     NULL),
	                 417);
}
END_TEST

/* A body behind the answer to HEAD was taken for the next answer. */
START_TEST(the_answer_to_head_has_no_body)
{
	struct wire w;

	given_front();
	wire_open(&w, port);
	wire_send(&w, "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
	              "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
	ck_assert_int_eq(wire_head(&w), 405);
	ck_assert_int_eq(wire_answer(&w), 200);
	ck_assert_str_eq(str_text(&w.body), "ok");
	wire_close(&w);
}
END_TEST

START_TEST(very_many_headers_are_headers)
{
	OWNED(str) struct str headers = STR_INIT;

	given_front();
	str_add(&headers, "Host: localhost\r\n");
	for (int i = 0; i < 1500; i++)
		str_addf(&headers, "a%d:b\r\n", i);
	ck_assert_int_lt((int)headers.length, 15000);
	ck_assert_int_eq(ping_with(headers.bytes), 200);
}
END_TEST

START_TEST(who_ends_his_half_of_the_connection_gets_his_answer)
{
	static const char CALL[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	                           "\"params\":{\"name\":\"ping\"}}";
	static const char *const BODIES[] = { PING, CALL };
	struct wire w;
	char bytes[400];

	given_front();
	for (size_t i = 0; i < COUNT(BODIES); i++) {
		(void)snprintf(
		    bytes, sizeof(bytes),
		    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
		    strlen(BODIES[i]), BODIES[i]);
		wire_open(&w, port);
		wire_send(&w, bytes);
		(void)shutdown(w.fd, SHUT_WR);
		ck_assert_int_eq(wire_answer(&w), 200);
		has(str_text(&w.body), "id", "1");
		wire_close(&w);
	}
	wire_open(&w, port); /* and who ends it in the middle is no caller any more */
	wire_send(&w, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n{");
	(void)shutdown(w.fd, SHUT_WR);
	ck_assert(wire_is_cut_within(&w, 2000));
	wire_close(&w);
}
END_TEST

/* ---- other users ---- */

/* The request of an agent of its own for a ping; an agent that is served gets a session. */
static const char *asking(const char *agent)
{
	static const char CALL[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	                           "\"params\":{\"name\":\"ping\"}}";
	static char bytes[400];

	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp?agent=%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
	               "\r\n%s",
	               agent, strlen(CALL), CALL);
	return bytes;
}

/* The kernel tells whose a connection is as long as a process holds it. */
START_TEST(a_caller_that_hangs_up_before_it_is_identified_is_not_served)
{
	struct wire w;

	given_front();
	ck_assert_int_eq(kill(front, SIGSTOP), 0);
	wire_open(&w, port);
	wire_send(&w, asking("gone"));
	wire_close(&w);
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	ck_assert_int_eq(raw(asking("here"), NULL), 200); /* came later */
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

/* The status of the answer to another user; its body in body. */
static int raw_as_nobody(struct str *body)
{
	int ends[2], status;
	char bytes[1000];
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int told = become_nobody() ? raw(asking("nobody"), body) : 1;

		(void)!write(ends[1], str_text(body), body->length);
		_exit(told / 100 * 10 + told % 100); /* 403 is 43 */
	}
	(void)close(ends[1]);
	while ((n = read(ends[0], bytes, sizeof(bytes))) > 0)
		str_add_bytes(body, bytes, (size_t)n);
	(void)close(ends[0]);
	ck_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status) / 10 * 100 + WEXITSTATUS(status) % 10;
}

START_TEST(another_user_is_served_only_if_the_settings_allow_it)
{
	OWNED(str) struct str body = STR_INIT;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	given_front();
	ck_assert_int_eq(raw_as_nobody(&body), 403);
	says(body.bytes, "belongs to another user; mcp.allow_uids");
	expect("SELECT count(*) FROM session", "0\n");
	stop_worker(front);
	given("INSERT INTO setting VALUES ('mcp.allow_uids', '[65534]', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	start_front();
	ck_assert_int_eq(raw_as_nobody(&body), 200);
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

/* Connects as nobody and says nothing: the bytes that come by themselves go to body. */
static void hear_as_nobody(struct str *body)
{
	int ends[2];
	char bytes[1000];
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct wire w = { .fd = -1 };

		if (!become_nobody())
			_exit(1);
		wire_open(&w, port);
		while ((n = read(w.fd, bytes, sizeof(bytes))) > 0)
			(void)!write(ends[1], bytes, (size_t)n);
		_exit(0);
	}
	(void)close(ends[1]);
	while ((n = read(ends[0], bytes, sizeof(bytes))) > 0)
		str_add_bytes(body, bytes, (size_t)n);
	(void)close(ends[0]);
	(void)waitpid(pid, NULL, 0);
}

START_TEST(another_user_is_refused_before_it_says_anything_and_told_of_once_a_minute)
{
	OWNED(char_ptr) char *text = NULL;
	const char *first;
	char log[300];
	int fd;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	given_front();
	stop_worker(front);
	(void)snprintf(log, sizeof(log), "%.280s.log", test_db());
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	start_front();
	for (int i = 0; i < 5; i++) {
		OWNED(str) struct str body = STR_INIT;

		hear_as_nobody(&body);
		says(str_text(&body), "403 Forbidden");
	}
	advance(61000);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 20)) {
		char_ptr_clear(&text);
		text = get_file("/", log + 1);
		if (text && strstr(text, "refused 4 caller(s)"))
			break;
	}
	first = strstr(text, "refused 1 caller(s); the last one runs as user 65534");
	ck_assert_msg(first != NULL, "%s", text);
	says(first, "refused 4 caller(s)");
}
END_TEST

START_TEST(idle_connections_hinder_nobody_and_slow_ones_are_cut)
{
	struct wire idle[10], slow;
	struct agent a;
	OWNED(char_ptr) char *result = NULL;
	int64_t start;

	given_front();
	for (size_t i = 0; i < COUNT(idle); i++)
		wire_open(&idle[i], port);
	wire_open(&slow, port);
	wire_send(&slow, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n");
	start = agent_ms();
	a = newcomer();
	result = agent_call(&a, "ping", "{}");
	ck_assert_int_lt(agent_ms() - start, 2000);
	/* A byte now and then is no request: its time does not begin anew. */
	for (int i = 0; i < 30 && agent_ms() - start < 15000; i++) {
		wire_send(&slow, "X");
		if (wire_is_cut_within(&slow, 500))
			break;
	}
	ck_assert_msg(agent_ms() - start < 13500,
	              "a client that never ends its headers is still held");
	for (size_t i = 0; i < COUNT(idle); i++) {
		ck_assert(wire_is_cut_within(&idle[i], 5000));
		wire_close(&idle[i]);
	}
	wire_close(&slow);
}
END_TEST

/* ---- waiting ---- */

START_TEST(a_waiting_call_begins_with_an_id_and_tells_of_its_progress)
{
	struct agent a;
	struct wire w;
	struct event e = { .id = "" };
	int last = -1;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", "{\"progressToken\":\"p\"}");
	ck_assert_int_eq(wire_head(&w), 200);
	ck_assert_str_eq(wire_header(&w, "Content-Type"), "text/event-stream");
	ck_assert(wire_event(&w, &e));
	ck_assert_str_ne(e.id, "");
	ck_assert_str_eq(str_text(&e.data), "");
	for (int i = 0; i < 3; i++) {
		ck_assert(wire_event(&w, &e));
		has(str_text(&e.data), "method", "notifications/progress");
		has(str_text(&e.data), "params.progressToken", "p");
		ck_assert_int_gt(atoi(member(str_text(&e.data), "params.progress")), last);
		last = atoi(member(str_text(&e.data), "params.progress"));
		ck_assert_str_ne(e.id, "");
	}
	approve_all();
	ck_assert(wire_event(&w, &e));
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	ck_assert(!wire_event(&w, &e));
	event_clear(&e);
	wire_close(&w);
	expect_soon("SELECT state, is_error FROM tool_call", "done|0\n");
}
END_TEST

/* Comes back by GET; the stream is open behind its first event, or ends with the answer. */
static void resume(const struct agent *a, struct wire *w, const char *event_id)
{
	char header[120];

	(void)snprintf(header, sizeof(header), "Last-Event-ID: %s\r\n", event_id);
	wire_open(w, a->port);
	agent_send(a, w, "GET", header, NULL);
	ck_assert_int_eq(wire_head(w), 200);
}

START_TEST(a_stream_is_resumed_on_another_front)
{
	struct agent a;
	struct wire w;
	struct event e = { .id = "" };
	int last = -1;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", "{\"progressToken\":7}");
	(void)wire_head(&w);
	for (int i = 0; i < 3; i++) /* the first id, and two of progress */
		ck_assert(wire_event(&w, &e));
	last = atoi(member(str_text(&e.data), "params.progress"));
	kill_worker(front);
	wire_close(&w);
	start_front();
	a.port = port;
	expect("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");

	resume(&a, &w, e.id);
	ck_assert(wire_event(&w, &e));
	do
		ck_assert(wire_event(&w, &e));
	while (!str_text(&e.data)[0]);
	has(str_text(&e.data), "params.progressToken", "7");
	ck_assert_msg(atoi(member(str_text(&e.data), "params.progress")) > last,
	              "after %d comes %s: progress must not go back", last,
	              member(str_text(&e.data), "params.progress"));
	approve_all();
	while (wire_event(&w, &e))
		continue;
	has(str_text(&e.data), "id", "1");
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	wire_close(&w);

	/* The answer is told again to who lost it. */
	resume(&a, &w, "1.0");
	while (wire_event(&w, &e))
		continue;
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	wire_close(&w);
	event_clear(&e);
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(a_stream_belongs_to_its_session)
{
	struct agent a, b, nobody;
	struct wire w;

	given_front();
	a = newcomer();
	b = newcomer();
	nobody = agent_sessionless(port, "");
	ask(&a, &w, "f", NULL);
	ck_assert_int_ne(agent_exchange(&nobody, "GET", "Last-Event-ID: 1.0\r\n", NULL, NULL), 500);
	{
		OWNED(str) struct str body = STR_INIT;

		(void)agent_exchange(&b, "GET", "Last-Event-ID: 1.0\r\n", NULL, &body);
		says(body.bytes, "there is no stream with this Last-Event-ID");
		(void)agent_exchange(&nobody, "GET", "Last-Event-ID: 1.0\r\n", NULL, &body);
		says(body.bytes, "there is no stream with this Last-Event-ID");
	}
	wire_close(&w);
}
END_TEST

START_TEST(cancelling_ends_the_wait_and_not_the_question)
{
	struct agent a;
	struct wire w;
	struct event e = { .id = "" };

	given_front();
	a = newcomer();
	ask(&a, &w, "f", NULL);
	(void)wire_head(&w);
	ck_assert(wire_event(&w, &e));
	ck_assert_int_eq(
	    agent_exchange(&a, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	                   "\"params\":{\"requestId\":1}}",
	                   NULL),
	    202);
	ck_assert_msg(!wire_event(&w, &e), "an answer comes: %s", str_text(&e.data));
	wire_close(&w);
	expect("SELECT state FROM tool_call", "cancelled\n");
	expect("SELECT state FROM request", "pending\n");

	ask(&a, &w, "f", NULL);
	approve_all();
	is_told_approved(&w);
	event_clear(&e);
	expect("SELECT count(*) FROM request", "1\n");
	expect_soon("SELECT group_concat(state) FROM tool_call", "cancelled,done\n");
}
END_TEST

START_TEST(another_session_cannot_cancel)
{
	struct agent a, b;
	struct wire w;

	given_front();
	a = newcomer();
	b = newcomer();
	ask(&a, &w, "f", NULL);
	ck_assert_int_eq(
	    agent_exchange(&b, "POST", "",
	                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	                   "\"params\":{\"requestId\":1}}",
	                   NULL),
	    202);
	expect("SELECT state FROM tool_call", "waiting\n");
	approve_all();
	is_told_approved(&w);
}
END_TEST

START_TEST(a_client_that_vanishes_leaves_its_question)
{
	struct agent a;
	struct wire w;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *result = NULL;

	given_front();
	a = newcomer();
	ask(&a, &w, "f", NULL);
	expect("SELECT listener IS NOT NULL FROM tool_call", "1\n");
	wire_break(&w);
	expect_soon("SELECT listener IS NULL, state FROM tool_call", "1|waiting\n");
	expect("SELECT state FROM request", "pending\n");
	ask(&a, &w, "f", NULL);
	wire_close(&w); /* orderly */
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");
	approve_all();
	result = agent_call(&a, "check_clearance", arguments);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

/* evhttp leaves requests to us whose client it has seen hang up: they leaked. The asan preset
 * tells, at the end of the front. */
START_TEST(many_clients_that_vanish_leave_nothing_behind)
{
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	struct agent a;

	given_front();
	a = newcomer();
	for (int i = 0; i < 60; i++) {
		struct wire w;

		agent_begin(&a, &w, "check_clearance", arguments, NULL);
		if (i % 3 == 0)
			(void)wire_head(&w);
		if (i % 2 == 0)
			wire_break(&w);
		else
			wire_close(&w);
	}
	/* who is gone before being looked at is refused: the kernel does not say whose socket it
	 * was */
	expect_soon("SELECT count(*) >= 20, count(listener) FROM tool_call", "1|0\n");
	expect("SELECT count(*) FROM request", "1\n");
	stop_worker(front);
}
END_TEST

START_TEST(the_end_of_a_wait_says_pending_and_the_question_goes_on)
{
	struct agent a;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *third = NULL;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1", "2025-11-25");
	first = agent_call(&a, "check_clearance", arguments);
	has(first, "status", "pending");
	says(first, "exactly the same arguments");
	second = agent_call(&a, "check_clearance", arguments);
	has(second, "status", "pending");
	has(second, "request_id", member(first, "request_id"));
	approve_all();
	third = agent_call(&a, "check_clearance", arguments);
	has(third, "status", "approved");
	has(third, "request_id", member(first, "request_id"));
}
END_TEST

START_TEST(all_who_wait_for_one_question_are_told)
{
	struct agent a;
	struct wire first, second, again;
	struct event e = { .id = "" };

	given_front();
	a = newcomer();
	ask(&a, &first, "f", NULL);
	ask(&a, &second, "f", NULL);
	resume(&a, &again, "1.0"); /* the first call once more, its old socket still open */
	ck_assert(wire_event(&again, &e));
	approve_all();
	is_told_approved(&first);
	is_told_approved(&second);
	while (wire_event(&again, &e))
		continue;
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	event_clear(&e);
	wire_close(&again);
	expect("SELECT count(*) FROM request", "1\n");
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'done'", "2\n");
}
END_TEST

START_TEST(of_two_calls_answered_at_once_one_carries_the_operators_words)
{
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *other = NULL;
	struct agent a;
	struct wire first, second;

	given_front();
	a = newcomer();
	ask(&a, &first, "f", NULL);
	ask(&a, &second, "g", NULL);
	given("INSERT INTO steering (session_id, text) SELECT id, 'mind the gap' FROM session");
	approve_all();
	one = agent_message(&first);
	other = agent_message(&second);
	wire_close(&first);
	wire_close(&second);
	has(one, "result.structuredContent.status", "approved");
	has(other, "result.structuredContent.status", "approved");
	ck_assert_msg((strstr(one, "mind the gap") != NULL) !=
	                  (strstr(other, "mind the gap") != NULL),
	              "%s\n%s", one, other);
	expect_soon("SELECT count(*) FROM steering WHERE delivered_at IS NOT NULL", "1\n");
}
END_TEST

START_TEST(two_calls_with_one_id_are_both_answered)
{
	struct agent a;
	struct wire first, second;

	given_front();
	a = newcomer();
	ask(&a, &first, "f", NULL);
	a.id--;
	{
		OWNED(char_ptr) char *arguments = proposal("g", "hello\n");

		agent_begin(&a, &second, "check_clearance", arguments, NULL);
	}
	expect_soon(
	    "SELECT count(*), count(DISTINCT rpc_id) FROM tool_call WHERE state = 'waiting'",
	    "2|1\n");
	approve_all();
	is_told_approved(&first);
	is_told_approved(&second);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'done'", "2\n");
}
END_TEST

/* ---- who asks ---- */

START_TEST(what_one_connection_says_of_itself_is_not_said_by_another)
{
	struct agent a, b;
	char json[900], second[600], expected[1300];
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;

	given_front();
	(void)snprintf(second, sizeof(second), "%.500s/second", workspace);
	ck_assert_int_eq(mkdir(second, 0755), 0);
	(void)snprintf(json, sizeof(json),
	               "[{\"id\":\"two\",\"channel_id\":\"C2\",\"path\":\"%s\"}]", second);
	given_workspaces(json);
	a = agent_hello(port, "?workspace_id=two&agent=red%20one", "2025-11-25");
	b = newcomer();
	one = agent_call(&a, "ping", "{}");
	two = agent_call(&b, "ping", "{}");
	ck_assert_str_ne(member(one, "session_id"), member(two, "session_id"));
	(void)snprintf(expected, sizeof(expected), "%s|C2|red one\n%s||\n", second, workspace);
	expect("SELECT workspace_root, channel_id, label FROM session ORDER BY seq", expected);
}
END_TEST

START_TEST(a_url_names_channel_and_session_and_no_path)
{
	struct agent a, b;
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(str) struct str body = STR_INIT;
	char query[100], expected[700];

	given_front();
	a = agent_hello(port, "?channel_id=C%31&workspace=%2Fetc", "2025-11-25");
	one = agent_call(&a, "ping", "{}");
	(void)snprintf(expected, sizeof(expected), "%s|C1\n", workspace);
	expect("SELECT workspace_root, channel_id FROM session", expected);
	(void)snprintf(query, sizeof(query), "?session_id=%s", member(one, "session_id"));
	b = agent_hello(port, query, "2025-11-25");
	two = agent_call(&b, "ping", "{}");
	has(two, "session_id", member(one, "session_id"));
	b = agent_hello(port, "?session_id=no-such", "2025-11-25");
	exchange(&b,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	         "call\",\"params\":{\"name\":\"ping\"}}",
	         &body);
	says(body.bytes, "there is no session 'no-such'");
	b = agent_hello(port, "?workspace_id=nowhere", "2025-11-25");
	exchange(&b,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	         "call\",\"params\":{\"name\":\"ping\"}}",
	         &body);
	says(body.bytes, "there is no workspace 'nowhere'");
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

START_TEST(a_query_that_cannot_be_read_is_400)
{
	OWNED(str) struct str body = STR_INIT;
	struct agent a;

	given_front();
	a = agent_sessionless(port, "?agent=%ff");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, &body), 400);
	says(body.bytes, "the query of the URL");
}
END_TEST

START_TEST(callers_without_a_session_are_kept_apart_by_what_they_say)
{
	struct agent plain, red;
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(char_ptr) char *three = NULL;

	given_front();
	plain = agent_sessionless(port, "");
	red = agent_sessionless(port, "?agent=red");
	one = agent_call(&plain, "ping", "{}");
	two = agent_call(&plain, "ping", "{}");
	three = agent_call(&red, "ping", "{}");
	has(two, "session_id", member(one, "session_id"));
	ck_assert_str_ne(member(three, "session_id"), member(one, "session_id"));
	expect("SELECT count(*) FROM connection WHERE transport = 'stateless'", "2\n");
}
END_TEST

/* Told 'pending', an agent may do something else before it asks again: the answer is still its own.
 */
START_TEST(an_answer_that_came_after_pending_waits_for_its_agent)
{
	static const char QUESTION[] = "{\"prompt_text\":\"go on?\"}";
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *other = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *third = NULL;
	struct agent a;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1", "2025-11-25");
	first = agent_call(&a, "transmit", QUESTION);
	has(first, "decision", "pending");
	given("INSERT INTO decision (request_id, verdict, instruction) "
	      "SELECT id, 'refine', 'do X instead' FROM inbox");
	other = agent_call(&a, "ping", "{}");
	second = agent_call(&a, "transmit", QUESTION);
	has(second, "decision", "refine");
	has(second, "instruction", "do X instead");
	expect("SELECT count(*) FROM request", "1\n");
	third = agent_call(&a, "transmit", QUESTION); /* told: the same words are a new question */
	has(third, "decision", "pending");
	expect("SELECT count(*) FROM request", "2\n");
}
END_TEST

/* Between two looks of an agent over HTTP nobody listens; it is no orphan for that. */
START_TEST(two_http_agents_that_ask_the_same_words_keep_their_own_questions)
{
	static const char QUESTION[] = "{\"prompt_text\":\"Continue?\"}";
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	OWNED(char_ptr) char *again = NULL;
	struct agent a, b;

	given_front();
	(void)start_worker("watchdog");
	a = agent_hello(port, "?wait=1", "2025-11-25");
	b = agent_hello(port, "?wait=1", "2025-11-25");
	one = agent_call(&a, "transmit", QUESTION);
	two = agent_call(&b, "transmit", QUESTION);
	has(two, "decision", "pending");
	again = agent_call(&a, "transmit", QUESTION);
	has(again, "request_id", member(one, "request_id"));
	expect("SELECT count(*), count(DISTINCT session_seq) FROM request", "2|2\n");
}
END_TEST

START_TEST(a_stateless_caller_gets_a_new_session_when_its_old_one_was_terminated)
{
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;
	struct agent a;

	given_front();
	a = agent_sessionless(port, "");
	one = agent_call(&a, "ping", "{}");
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at");
	two = agent_call(&a, "ping", "{}");
	has(two, "acknowledged", "true");
	ck_assert_str_ne(member(two, "session_id"), member(one, "session_id"));
}
END_TEST

/* What is not looked up by name costs a look for each pair: such a message held everybody up. */
START_TEST(a_message_with_very_many_members_or_a_very_long_batch_holds_nobody_up)
{
	OWNED(str) struct str arguments = STR_INIT;
	OWNED(char_ptr) char *result = NULL;
	struct agent a;

	given_front();
	a = newcomer();
	str_add(&arguments, "{\"status_message\":\"here\"");
	for (int i = 0; i < 80000; i++)
		str_addf(&arguments, ",\"m%d\":1", i);
	str_add_char(&arguments, '}');
	result = agent_call(&a, "ping", arguments.bytes);
	has(result, "acknowledged", "true");
	expect("SELECT arguments FROM tool_call", "{\"status_message\":\"here\"}\n");
}
END_TEST

/* Two first calls of one caller in one turn of the loop: each wrote the caller's rows. */
static void two_at_once(struct agent *a)
{
	enum { CALLS = 12 };
	struct wire w[CALLS];

	(void)kill(front, SIGSTOP); /* so that all come in together */
	for (int i = 0; i < CALLS; i++)
		agent_begin(a, &w[i], "ping", "{}", NULL);
	(void)kill(front, SIGCONT);
	for (int i = 0; i < CALLS; i++) {
		OWNED(char_ptr) char *result = agent_end(&w[i]);

		has(result, "acknowledged", "true");
	}
	expect("SELECT count(*), count(DISTINCT session_seq), count(DISTINCT connection_seq) FROM "
	       "tool_call",
	       "12|1|1\n");
	expect("SELECT count(*) FROM session", "1\n");
}

START_TEST(the_first_calls_of_a_session_may_come_together)
{
	struct agent a;

	given_front();
	a = newcomer();
	two_at_once(&a);
}
END_TEST

START_TEST(the_first_calls_of_a_caller_without_a_session_may_come_together)
{
	struct agent a;

	given_front();
	a = agent_sessionless(port, "?agent=blue");
	two_at_once(&a);
}
END_TEST

/* ---- proposals ---- */

static void refused(struct agent *a, const char *path, const char *content, const char *code,
                    const char *text)
{
	OWNED(char_ptr) char *arguments = proposal(path, content);
	OWNED(char_ptr) char *message = NULL;
	OWNED(char_ptr) char *result = NULL;
	struct wire w;

	agent_begin(a, &w, "check_clearance", arguments, NULL);
	ck_assert_msg(wire_plain(&w) == 200, "%s: %s", path, str_text(&w.body));
	ck_assert_msg(strcmp(wire_header(&w, "Content-Type"), "application/json") == 0,
	              "%s is asked", path);
	message = xstrdup(str_text(&w.body));
	result = tool_result(message);
	wire_close(&w);
	ck_assert_msg(strcmp(member(result, "error_code"), code) == 0, "%s gives %s", path, result);
	says(member(result, "error_message"), text);
}

START_TEST(no_path_leads_out_of_the_workspace)
{
	static const char *const PATHS[] = {
		"../x",
		"a/../../x",
		"/etc/passwd",
		".git/config",
		"sub/.GIT/hooks/x",
		".intercom/settings.json",
		".Intercom/x",
		"link/new.txt",
		"link/sub/new.txt",
		"dir/../link/new.txt",
		"abs/new.txt",
		"file-link",
		"a\nb",
		"a\x7f"
		"b",
		"x/",
		"..",
		".",
		"sub/..",
		"togit/config",
	};
	char command[2500], path[700];
	struct agent a;
	OWNED(str) struct str body = STR_INIT;

	given_front();
	a = newcomer();
	(void)snprintf(
	    command, sizeof(command),
	    "cd %s && mkdir ../outside .git .intercom dir && echo s > ../outside/secret &&"
	    " ln -s ../outside link && ln -s %.500s-nowhere abs &&"
	    " ln -s ../outside/secret file-link && ln -s .git togit",
	    workspace, test_run());
	ck_assert_int_eq(shell(NULL, "%s", command), 0);
	for (size_t i = 0; i < COUNT(PATHS); i++)
		refused(&a, PATHS[i], "x\n", "path_violation", "path violation");
	(void)snprintf(path, sizeof(path), "%.500s/../outside/new.txt", workspace);
	refused(&a, path, "x\n", "path_violation", "path violation");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"check_clearance\",\"arguments\":{\"title\":\"t\",\"diff\":\"d\","
	         "\"file_path\":\"a\\u0000/../../x\"}}}",
	         &body);
	has(body.bytes, "result.isError", "true");
	expect("SELECT count(*) FROM request", "0\n");
	expect("SELECT count(*) > 20, min(is_error) FROM tool_call", "1|1\n");
}
END_TEST

START_TEST(a_path_may_be_said_absolutely_or_with_dots)
{
	struct agent a;
	struct wire w;
	char path[700];
	OWNED(char_ptr) char *arguments = NULL;

	given_front();
	a = newcomer();
	(void)snprintf(path, sizeof(path), "%.500s/./sub/../f", workspace);
	arguments = proposal(path, "hello\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT file_path, original_hash FROM request", "f|new_file\n");
	wire_close(&w);
}
END_TEST

START_TEST(a_diff_is_about_the_file_it_is_asked_for_and_fits_it)
{
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\ntwo\nthree\n");
	refused(&a, "f", "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-one\n+ONE\n", "invalid_diff",
	        "is about g");
	refused(
	    &a, "f",
	    "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+ONE\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
	    "patch_conflict", "g: the file does not exist");
	refused(&a, "f", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-uno\n+ONE\n", "patch_conflict",
	        "read the file again");
	refused(&a, "f", "--- a/f\n+++ b/f\n@@ nonsense @@\n", "invalid_diff", "");
	refused(&a, "new", "--- a/new\n+++ b/new\n@@ -1 +1 @@\n-one\n+ONE\n", "patch_conflict", "");
	refused(&a, "f", "--- a/f\n+++ b/../../f\n@@ -1 +1 @@\n-one\n+ONE\n", "invalid_diff", "");
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(every_path_of_a_diff_is_stored_with_what_becomes_of_it)
{
	static const char DIFF[] =
	    "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+ONE\n"
	    "diff --git a/g b/sub/h\nold mode 100644\nnew mode 100755\nrename from g\n"
	    "rename to sub/h\n"
	    "diff --git a/f b/i\ncopy from f\ncopy to i\n"
	    "diff --git a/k b/l\ncopy from k\ncopy to l\n";
	OWNED(char_ptr) char *arguments = proposal("f", DIFF);
	OWNED(char_ptr) char *digest = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	put_file(workspace, "g", "two\n");
	put_file(workspace, "k", "k\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT path, action, other_path, mode, length(original_hash)"
	            " FROM request_file ORDER BY seq",
	            "f|modify||0|64\ng|delete|sub/h|0|64\nsub/h|create|g|33261|8\n"
	            "i|create|f|0|8\nk|read||0|64\nl|create|k|0|8\n");
	expect("SELECT r.original_hash = f.original_hash FROM request AS r JOIN request_file AS f"
	       " ON f.request_seq = r.seq AND f.path = r.file_path",
	       "1\n");
	wire_close(&w);
	digest = rows("SELECT digest FROM request");

	/* Any of the files as it was asked about makes the question. */
	put_file(workspace, "k", "changed\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(DISTINCT digest), count(*) FROM request", "2|2\n");
	wire_close(&w);
	put_file(workspace, "k", "k\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM tool_call", "3\n");
	expect("SELECT count(*) FROM request", "2\n");
	wire_close(&w);
}
END_TEST

START_TEST(each_path_of_a_diff_is_judged_by_itself)
{
	static const char F[] = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+ONE\n";
	static const struct {
		const char *part, *code, *text;
	} PARTS[] = {
		{ "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n", "path_violation",
		  "is inside .git" },
		{ "--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", "path_violation", "outside" },
		{ "diff --git a/f b/.intercom/p\ncopy from f\ncopy to .intercom/p\n",
		  "path_violation", "is inside .intercom" },
		{ "diff --git a/link/secret b/s\ncopy from link/secret\ncopy to s\n",
		  "path_violation", "outside the workspace" },
		{ "--- /dev/null\n+++ \"b/x\\ny\"\n@@ -0,0 +1 @@\n+x\n", "path_violation",
		  "\"x\\x0ay\" has a control byte" },
		{ "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+1\n", "invalid_diff",
		  "two parts of the diff write f" },
		{ "diff --git a/g b/m\nrename from g\nrename to m\n"
		  "diff --git a/g b/g\ndeleted file mode 100644\n"
		  "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n",
		  "invalid_diff", "two parts of the diff delete or rename g" },
		{ "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n"
		  "diff --git a/g b/m\nrename from g\nrename to m\n",
		  "invalid_diff", "two parts of the diff delete or rename g" },
		{ "diff --git a/g b/m\nrename from g\nrename to m\n"
		  "diff --git a/g b/n\nrename from g\nrename to n\n",
		  "invalid_diff", "two parts of the diff delete or rename g" },
		{ "--- a/alias\n+++ b/alias\n@@ -1 +1 @@\n-one\n+1\n", "invalid_diff",
		  "f and alias are the same file" },
		{ "--- /dev/null\n+++ b/f/g\n@@ -0,0 +1 @@\n+x\n", "patch_conflict",
		  "Not a directory" },
		{ "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/n/g\n"
		  "@@ -0,0 +1 @@\n+x\n",
		  "invalid_diff", "the diff has n as a file and, in n/g, as a directory" },
		{ "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 "
		  "@@\n"
		  "+f\n",
		  "invalid_diff", "a symlink" },
		{ "diff --git a/none b/m\nrename from none\nrename to m\n", "patch_conflict",
		  "none: the file does not exist" },
		{ "diff --git a/g b/h\nrename from g\nrename to h\n", "patch_conflict",
		  "makes it of g, but it exists" },
		{ "--- a/pipe\n+++ b/pipe\n@@ -1 +1 @@\n-one\n+1\n", "patch_conflict",
		  "is a FIFO" },
		{ "diff --git a/b b/b\nBinary files a/b and b/b differ\n", "invalid_diff",
		  "binary patches are not supported" },
	};
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	put_file(workspace, "g", "g\n");
	put_file(workspace, "h", "h\n");
	ck_assert_int_eq(shell(NULL,
	                       "cd %s && ln -s f alias && mkfifo pipe && mkdir ../out && echo s >"
	                       " ../out/secret && ln -s ../out link",
	                       workspace),
	                 0);
	for (size_t i = 0; i < COUNT(PARTS); i++) {
		OWNED(str) struct str diff = STR_INIT;

		str_addf(&diff, "%s%s", F, PARTS[i].part);
		refused(&a, "f", diff.bytes, PARTS[i].code, PARTS[i].text);
	}
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(the_database_and_its_run_directory_are_not_asked_about)
{
	static const char *const NAMES[] = { "", "-wal", "-shm", "-journal", ".before-3" };
	char path[900];
	struct agent a;

	given_front_at(false);
	a = newcomer();
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		(void)snprintf(path, sizeof(path), "%.700s%s", test_db(), NAMES[i]);
		refused(&a, path, "x", "path_violation", "belongs to agent-intercom's database");
	}
	(void)snprintf(path, sizeof(path), "%.700s/applier.bell", test_run());
	refused(&a, path, "x", "path_violation", "is one of agent-intercom's own files");
	expect("PRAGMA integrity_check", "ok\n");
}
END_TEST

START_TEST(full_content_over_a_file_is_shown_as_what_it_changes)
{
	struct agent a;
	struct wire w;
	OWNED(char_ptr) char *arguments = proposal("f", "one\nTWO\nthree\n");

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\ntwo\nthree\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon(
	    "SELECT replaces_file, body = 'one' || char(10) || 'TWO' || char(10) || 'three' ||"
	    " char(10), effect LIKE '%-two%+TWO%', effect LIKE '%-one%' FROM request",
	    "1|1|1|0\n");
	wire_close(&w);
}
END_TEST

START_TEST(a_big_text_is_kept_once)
{
	struct agent a;
	struct wire w;
	OWNED(str) struct str text = STR_INIT;
	OWNED(char_ptr) char *arguments = NULL;

	given_front();
	a = newcomer();
	while (text.length < 3 * MIB)
		str_addf(&text, "line %zu of a long file\n", text.length);
	arguments = proposal("big", text.bytes);
	for (int i = 0; i < 2; i++) {
		agent_begin(&a, &w, "check_clearance", arguments, NULL);
		expect_soon(i ? "SELECT count(*) FROM tool_call"
		              : "SELECT count(*) - 1 FROM tool_call",
		            i ? "2\n" : "0\n");
		wire_close(&w);
	}
	expect("SELECT count(*), count(body_seq), count(body) FROM request", "1|1|0\n");
	/* the text, the arguments, and what it changes: each once, though it was asked twice */
	expect("SELECT count(*) <= 3 FROM content WHERE size > 3000000", "1\n");
	expect("SELECT count(*) FROM content JOIN request ON content.seq = body_seq"
	       " WHERE size > 3000000",
	       "1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, each_revision_is_echoed_and_an_unknown_one_gets_our_newest);
	tcase_add_test(c, a_session_that_is_unknown_or_ended_is_404);
	tcase_add_test(c, a_session_outlives_its_front);
	tcase_add_test(c, what_needs_no_answer_is_202);
	tcase_add_test(c, only_post_delete_and_resuming_get_are_served);
	tcase_add_test(c, a_revision_that_nobody_speaks_is_400);
	tcase_add_test(c, only_loopback_hosts_and_origins_are_served);
	tcase_add_test(c, what_is_no_json_rpc_is_400_with_its_code);
	tcase_add_test(c, a_body_over_4_mib_is_413_with_a_reason);
	tcase_add_test(c, a_body_nested_too_deep_is_400);
	tcase_add_test(c, an_id_whose_name_is_escaped_kills_nobody);
	tcase_add_test(c, a_batch_is_answered_in_the_one_revision_that_has_it);
	tcase_add_test(c, wrong_calls_are_told_what_is_wrong);
	tcase_add_test(c, a_chunked_body_is_a_body);
	tcase_add_test(c, who_waits_for_100_continue_gets_it);
	tcase_add_test(c, a_body_of_two_lengths_is_refused);
	tcase_add_test(c, headers_over_16_kib_are_refused_and_the_front_lives_on);
	tcase_add_test(c, pipelined_posts_are_answered_in_order);
	tcase_add_test(c, a_connection_serves_on_after_a_stream_has_ended);
	tcase_add_test(c, a_waiting_call_begins_with_an_id_and_tells_of_its_progress);
	tcase_add_test(c, a_stream_is_resumed_on_another_front);
	tcase_add_test(c, a_stream_belongs_to_its_session);
	tcase_add_test(c, cancelling_ends_the_wait_and_not_the_question);
	tcase_add_test(c, another_session_cannot_cancel);
	tcase_add_test(c, a_client_that_vanishes_leaves_its_question);
	tcase_add_test(c, many_clients_that_vanish_leave_nothing_behind);
	tcase_add_test(c, the_end_of_a_wait_says_pending_and_the_question_goes_on);
	tcase_add_test(c, all_who_wait_for_one_question_are_told);
	tcase_add_test(c, of_two_calls_answered_at_once_one_carries_the_operators_words);
	tcase_add_test(c, what_one_connection_says_of_itself_is_not_said_by_another);
	tcase_add_test(c, a_url_names_channel_and_session_and_no_path);
	tcase_add_test(c, callers_without_a_session_are_kept_apart_by_what_they_say);
	tcase_add_test(c, the_first_calls_of_a_session_may_come_together);
	tcase_add_test(c, the_first_calls_of_a_caller_without_a_session_may_come_together);
	tcase_add_test(c, no_path_leads_out_of_the_workspace);
	tcase_add_test(c, a_path_may_be_said_absolutely_or_with_dots);
	tcase_add_test(c, a_diff_is_about_the_file_it_is_asked_for_and_fits_it);
	tcase_add_test(c, every_path_of_a_diff_is_stored_with_what_becomes_of_it);
	tcase_add_test(c, each_path_of_a_diff_is_judged_by_itself);
	tcase_add_test(c, the_database_and_its_run_directory_are_not_asked_about);
	tcase_add_test(c, full_content_over_a_file_is_shown_as_what_it_changes);
	tcase_add_test(c, a_big_text_is_kept_once);
	tcase_add_test(c, an_answer_that_came_after_pending_waits_for_its_agent);
	tcase_add_test(c, two_http_agents_that_ask_the_same_words_keep_their_own_questions);
	tcase_add_test(c, a_stateless_caller_gets_a_new_session_when_its_old_one_was_terminated);
	tcase_add_test(c, a_message_with_very_many_members_or_a_very_long_batch_holds_nobody_up);
	tcase_add_test(c, a_request_behind_a_held_one_waits_its_turn);
	tcase_add_test(c, who_floods_the_connection_of_a_held_request_is_cut);
	tcase_add_test(c, a_body_whose_length_is_not_clear_is_refused);
	tcase_add_test(c, who_asks_for_100_continue_with_too_much_is_refused_before_it_is_sent);
	tcase_add_test(c, the_answer_to_head_has_no_body);
	tcase_add_test(c, very_many_headers_are_headers);
	tcase_add_test(c, who_ends_his_half_of_the_connection_gets_his_answer);
	tcase_add_test(c, two_calls_with_one_id_are_both_answered);
	tcase_add_test(c, a_query_that_cannot_be_read_is_400);
	tcase_add_test(c, a_caller_that_hangs_up_before_it_is_identified_is_not_served);
	tcase_add_test(c, another_user_is_served_only_if_the_settings_allow_it);
	tcase_add_test(c,
	               another_user_is_refused_before_it_says_anything_and_told_of_once_a_minute);
	tcase_add_test(c, idle_connections_hinder_nobody_and_slow_ones_are_cut);
	suite_add_tcase(s, c);
	return run_suite(s);
}
