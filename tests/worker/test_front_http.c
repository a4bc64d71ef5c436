/* mcp-front over HTTP: what clients send, right and wrong, and what of it stays in the rows. */
#include "front_case.h"
#include "io.h"
#include "relay.h"

#include <netinet/in.h>

/* ---- HTTP itself ---- */

START_TEST(a_chunked_body_is_a_body)
{
	OWNED(str) struct str body = { 0 };
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
	OWNED(str) struct str bytes = { 0 };
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
	OWNED(str) struct str flood = { 0 };

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

START_TEST(a_status_has_its_own_phrase)
{
	OWNED(str) struct str said = { 0 };

	given_front();
	ck_assert_int_eq(
	    shell(&said,
	          "exec bash -c \"exec 3<>/dev/tcp/127.0.0.1/%d; printf 'POST /mcp "
	          "HTTP/1.1\\r\\nHost: "
	          "localhost\\r\\nAuthorization: Bearer ict_00000000000000000000000000000000\\r\\n"
	          "Content-Length: 2\\r\\n\\r\\n{}' >&3; head -n 1 <&3\"",
	          front_port()),
	    0);
	ck_assert_str_eq(str_text(&said), "HTTP/1.1 401 Unauthorized\r\n");
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
	OWNED(str) struct str headers = { 0 };

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

/* A call of an agent of its own, which waits for 1 s; valid until the next one. */
static const char *calling(const char *agent, const char *tool, const char *arguments)
{
	static char call[300], bytes[500];

	(void)snprintf(call, sizeof(call),
	               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	               "\"params\":{\"name\":\"%s\",\"arguments\":%s}}",
	               tool, arguments);
	(void)snprintf(bytes, sizeof(bytes),
	               "POST /mcp?wait=1&agent=%s HTTP/1.1\r\nHost: localhost\r\n"
	               "Content-Length: %zu\r\n\r\n%s",
	               agent, strlen(call), call);
	return bytes;
}

/* For a ping; an agent that is served gets a session. */
static const char *asking(const char *agent)
{
	return calling(agent, "ping", "{}");
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

START_TEST(one_user_has_a_thousand_event_streams_open_and_no_more)
{
	enum { STREAMS = 1000 };
	static const char OPEN[] = "GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n";
	static struct wire streams[STREAMS];
	struct wire more;

	given_front();
	for (int i = 0; i < STREAMS; i++) {
		wire_open(&streams[i], port);
		wire_send(&streams[i], OPEN);
		ck_assert_int_eq(wire_head(&streams[i]), 200);
	}
	wire_open(&more, port);
	wire_send(&more, OPEN);
	ck_assert_int_eq(wire_answer(&more), 503);
	says(str_text(&more.body), "too many event streams of this user are open");
	wire_close(&more);
	ck_assert_int_eq(ping_with("Host: localhost\r\n"), 200); /* it serves on */
	wire_close(&streams[0]);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS, told = 0; told != 200;
	     (void)poll(NULL, 0, 20)) {
		ck_assert(agent_ms() < end);
		wire_open(&more, port);
		wire_send(&more, OPEN);
		told = wire_head(&more);
		wire_close(&more);
	}
	for (int i = 1; i < STREAMS; i++)
		wire_close(&streams[i]);
}
END_TEST

/* The status of the answer to a request of another user; its body in body. */
static int raw_as_nobody(const char *request, struct str *body)
{
	int ends[2], status;
	char bytes[1000];
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int told = become_nobody() ? raw(request, body) : 1;

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
	OWNED(str) struct str body = { 0 };

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	given_front();
	ck_assert_int_eq(raw_as_nobody(asking("nobody"), &body), 403);
	says(body.bytes, "belongs to another user; mcp.allow_uids");
	expect("SELECT count(*) FROM session", "0\n");
	stop_worker(front);
	given("INSERT INTO setting VALUES ('mcp.allow_uids', '[65534]', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	start_front();
	ck_assert_int_eq(raw_as_nobody(asking("nobody"), &body), 200);
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

START_TEST(what_was_answered_to_an_agent_is_no_other_users_though_it_says_the_same_of_itself)
{
	static const char ASK[] = "{\"title\":\"t\",\"diff\":\"x\",\"file_path\":\"f\"}";
	OWNED(str) struct str mine = { 0 };
	OWNED(str) struct str theirs = { 0 };
	OWNED(char_ptr) char *id = NULL;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	given_front();
	stop_worker(front);
	given("INSERT INTO setting VALUES ('mcp.allow_uids', '[65534]', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	start_front();
	(void)start_worker("watchdog"); /* ends waits */
	ck_assert_int_eq(raw(calling("one", "check_clearance", ASK), NULL), 200);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	expect_soon("SELECT state FROM request", "approved\n");
	ck_assert_int_eq(raw_as_nobody(calling("one", "reboot", "{}"), &theirs), 200);
	says(theirs.bytes, "status\\\":\\\"clean");
	ck_assert_int_eq(raw_as_nobody(calling("one", "check_clearance", ASK), &theirs), 200);
	expect("SELECT r.state, s.agent_uid FROM request AS r JOIN session AS s"
	       " ON s.seq = r.session_seq ORDER BY r.seq",
	       "approved|\npending|65534\n");
	id = rows("SELECT '{\"request_id\":\"' || id || '\"}' FROM request WHERE seq = 1");
	id[strcspn(id, "\n")] = '\0';
	ck_assert_int_eq(raw_as_nobody(calling("one", "check_diff", id), &theirs), 200);
	says(theirs.bytes, "request_not_found");
	ck_assert_int_eq(raw(calling("one", "reboot", "{}"), &mine), 200);
	says(mine.bytes, "status\\\":\\\"recovered");
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
		OWNED(str) struct str body = { 0 };

		hear_as_nobody(&body);
		says(str_text(&body), "403 Forbidden");
	}
	ck_assert_int_eq(raw(asking("me"), NULL), 200);
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
	says(first, "refused 4 caller(s); the last one runs as user 65534");
}
END_TEST

START_TEST(who_does_not_greet_on_the_socket_is_told_of_once_a_minute)
{
	OWNED(char_ptr) char *text = NULL;
	char log[300], byte;
	int fd;

	given_front();
	stop_worker(front);
	(void)snprintf(log, sizeof(log), "%.280s.log", test_db());
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	start_front();
	for (int i = 0; i < 20; i++) {
		int socket = front_socket();

		ck_assert_int_eq(io_write_all(socket, "rubbish\n", 8), 0);
		ck_assert_int_eq(read(socket, &byte, 1), 0); /* it is closed */
		(void)close(socket);
	}
	text = get_file("/", log + 1);
	says(text,
	     "refused 1 caller(s); the last one was refused: a relay's greeting is not valid");
	ck_assert_ptr_null(strstr(strstr(text, "greeting") + 1, "greeting"));
}
END_TEST

/* Waits until the front has read all that was sent. */
static void is_read(const struct wire *w)
{
	struct sockaddr_in own = { .sin_port = 0 };
	socklen_t size = sizeof(own);

	ck_assert_int_eq(getsockname(w->fd, (struct sockaddr *)&own, &size), 0);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 5)) {
		FILE *all = fopen("/proc/net/tcp", "r");
		unsigned from, to, unsent, unread;
		bool read = false;
		char line[300];

		while (all && fgets(line, sizeof(line), all))
			if (sscanf(line, "%*d: %*x:%x %*x:%x %*x %x:%x", &from, &to, &unsent,
			           &unread) == 4 &&
			    to == ntohs(own.sin_port))
				read = unread == 0;
		if (all)
			(void)fclose(all);
		if (read)
			return;
	}
	ck_abort_msg("the front does not read");
}

START_TEST(an_honest_request_that_came_while_the_front_was_busy_is_answered)
{
	enum { BODY = 60000 };
	OWNED(str) struct str body = { 0 };
	OWNED(str) struct str head = { 0 };
	struct wire w;

	given_front();
	str_add(&body, PING);
	while (body.length < BODY)
		str_add_char(&body, ' ');
	str_addf(&head,
	         "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	         "Content-Length: %zu\r\n\r\n",
	         body.length);
	wire_open(&w, port);
	wire_send(&w, head.bytes);
	is_read(&w);
	(void)kill(front, SIGSTOP);
	wire_send(&w, body.bytes);
	advance(25000);
	(void)kill(front, SIGCONT);
	ck_assert_int_ne(wire_answer(&w), 0);
	says(str_text(&w.body), "jsonrpc");
	wire_close(&w);
	stop_worker(front);
}
END_TEST

START_TEST(a_request_on_an_idle_connection_that_came_while_the_front_stood_still_is_answered)
{
	static const char REQUEST[] = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
	                              "application/json\r\nContent-Length: %zu\r\n\r\n%s";
	OWNED(str) struct str request = { 0 };
	struct wire used, unused;

	(void)setenv("INTERCOM_REQUEST_SECONDS", "3", 1);
	given_front();
	str_addf(&request, REQUEST, strlen(PING), PING);
	wire_open(&used, port);
	wire_open(&unused, port);
	wire_send(&used, request.bytes);
	ck_assert_int_ne(wire_answer(&used), 0);
	(void)kill(front, SIGSTOP);
	wire_send(&used, request.bytes);
	wire_send(&unused, request.bytes);
	(void)poll(NULL, 0, 4000); /* longer than either may be idle */
	(void)kill(front, SIGCONT);
	ck_assert_int_ne(wire_answer(&used), 0);
	ck_assert_int_ne(wire_answer(&unused), 0);
	wire_close(&used);
	wire_close(&unused);
	stop_worker(front);
}
END_TEST

START_TEST(who_waits_for_an_answer_or_has_just_come_has_the_whole_time_for_a_request)
{
	struct event e = { .id = "" };
	struct wire waiting, fresh;
	struct agent a;

	(void)setenv("INTERCOM_REQUEST_SECONDS", "3", 1);
	given_front();
	a = newcomer();
	ask(&a, &waiting, "a.txt", NULL);
	ck_assert_int_eq(wire_head(&waiting), 200);
	(void)poll(NULL, 0, 4000); /* longer than a request may take */
	approve_all();
	while (wire_event(&waiting, &e))
		continue;
	has(str_text(&e.data), "result.structuredContent.status", "approved");
	wire_open(&fresh, port);
	(void)poll(NULL, 0, 700); /* it has looked at both */
	agent_send(&a, &fresh, "POST", "", PING);
	ck_assert_int_eq(wire_answer(&fresh), 200);
	agent_send(&a, &waiting, "POST", "", PING);
	ck_assert_int_eq(wire_answer(&waiting), 200);
	ck_assert(wire_is_cut_within(&waiting, AGENT_PATIENCE_MS));
	ck_assert(wire_is_cut_within(&fresh, AGENT_PATIENCE_MS));
	event_clear(&e);
	wire_close(&waiting);
	wire_close(&fresh);
}
END_TEST

START_TEST(idle_connections_hinder_nobody_and_slow_ones_are_cut)
{
	struct wire idle[10], slow;
	struct agent a;
	int64_t start;

	given_front();
	for (size_t i = 0; i < COUNT(idle); i++)
		wire_open(&idle[i], port);
	wire_open(&slow, port);
	wire_send(&slow, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n");
	start = agent_ms();
	a = newcomer();
	free(agent_call(&a, "ping", "{}"));
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

int main(void)
{
	Suite *s = suite_create("front_http");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, a_chunked_body_is_a_body);
	tcase_add_test(c, a_status_has_its_own_phrase);
	tcase_add_test(c, who_waits_for_100_continue_gets_it);
	tcase_add_test(c, a_body_of_two_lengths_is_refused);
	tcase_add_test(c, headers_over_16_kib_are_refused_and_the_front_lives_on);
	tcase_add_test(c, pipelined_posts_are_answered_in_order);
	tcase_add_test(c, a_connection_serves_on_after_a_stream_has_ended);
	tcase_add_test(c, a_request_behind_a_held_one_waits_its_turn);
	tcase_add_test(c, who_floods_the_connection_of_a_held_request_is_cut);
	tcase_add_test(c, a_body_whose_length_is_not_clear_is_refused);
	tcase_add_test(c, who_asks_for_100_continue_with_too_much_is_refused_before_it_is_sent);
	tcase_add_test(c, the_answer_to_head_has_no_body);
	tcase_add_test(c, very_many_headers_are_headers);
	tcase_add_test(c, who_ends_his_half_of_the_connection_gets_his_answer);
	tcase_add_test(c, a_caller_that_hangs_up_before_it_is_identified_is_not_served);
	tcase_add_test(c, one_user_has_a_thousand_event_streams_open_and_no_more);
	tcase_add_test(c, another_user_is_served_only_if_the_settings_allow_it);
	tcase_add_test(
	    c, what_was_answered_to_an_agent_is_no_other_users_though_it_says_the_same_of_itself);
	tcase_add_test(c,
	               another_user_is_refused_before_it_says_anything_and_told_of_once_a_minute);
	tcase_add_test(c, who_does_not_greet_on_the_socket_is_told_of_once_a_minute);
	tcase_add_test(c, an_honest_request_that_came_while_the_front_was_busy_is_answered);
	tcase_add_test(
	    c, a_request_on_an_idle_connection_that_came_while_the_front_stood_still_is_answered);
	tcase_add_test(c,
	               who_waits_for_an_answer_or_has_just_come_has_the_whole_time_for_a_request);
	tcase_add_test(c, idle_connections_hinder_nobody_and_slow_ones_are_cut);
	suite_add_tcase(s, c);
	return run_suite(s);
}
