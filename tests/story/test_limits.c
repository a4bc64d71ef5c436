/* mcp-front at its limits: very many callers, very many waits, very much at once. Who is refused is
 * told why, and nobody else notices. */
#include "agent.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in workers/mcp_front/front.h. */
enum { MAX_HELD = 1000, MAX_LISTENS = 2000, MAX_UNFINISHED = 64 << 20, SPARE_FDS = 64 };

enum { MIB = 1 << 20, OWN_FDS = 300 };

static const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
/* Each question gets an answer of its own. */
static const char ANSWER_ALL[] =
    "INSERT INTO decision (request_id, verdict, instruction)"
    " SELECT id, 'refine', 'as for ' || body FROM request WHERE state = 'pending'";

static pid_t front;
static int port;

/* ---- given ---- */

static void given_front_that_waits(const char *seconds)
{
	char workspace[600];

	(void)setenv("INTERCOM_REQUEST_SECONDS", seconds, 1);
	fresh_store();
	given_front_settings(workspace);
	front = start_worker("mcp-front");
	port = front_port();
}

static void given_front(void)
{
	given_front_that_waits("10");
}

/* It cuts nobody off, however long a busy machine takes for a request. */
static void given_patient_front(void)
{
	given_front_that_waits("600");
}

/* A relay without its process: a connection to the front's socket. */
static struct relay newcomer(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct relay r = { .in = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	int run = open(test_run(), O_PATH | O_CLOEXEC);
	char *greeting;

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/mcp.sock", run);
	ck_assert_int_eq(connect(r.in, (struct sockaddr *)&a, sizeof(a)), 0);
	(void)close(run);
	r.out = fcntl(r.in, F_DUPFD_CLOEXEC, 0);
	relay_send(&r, "{\"agent-intercom\":1}");
	greeting = relay_line(&r);
	says(greeting, "\"key\"");
	free(greeting);
	relay_hello(&r);
	return r;
}

static void ask(struct relay *r, int number)
{
	char arguments[100];

	(void)snprintf(arguments, sizeof(arguments), "{\"prompt_text\":\"question %d\"}", number);
	relay_begin(r, "transmit", arguments);
}

/* So many calls come into a state, as long as it takes while some do. */
static void calls_become(const char *state, int count)
{
	enum { STUCK_MS = 240000 };
	int64_t end = agent_ms() + STUCK_MS;
	OWNED(char_ptr) char *all = NULL;
	int last = 0;
	char sql[80];

	(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM tool_call WHERE state = '%s'",
	               state);
	for (; last < count && agent_ms() < end; (void)poll(NULL, 0, 10)) {
		OWNED(char_ptr) char *now = rows(sql);

		if (atoi(now) > last)
			end = agent_ms() + STUCK_MS;
		last = atoi(now);
	}
	all = rows("SELECT state, count(*) FROM tool_call GROUP BY state");
	ck_assert_msg(last == count, "%d are to be %s, but there are\n%s", count, state, all);
}

/* ---- waits ---- */

START_TEST(a_connection_holds_1000_calls_and_refuses_the_next)
{
	OWNED(char_ptr) char *refusal = NULL;
	OWNED(char_ptr) char *alive = NULL;
	struct relay r, other;

	given_front();
	r = newcomer();
	for (int i = 1; i <= MAX_HELD + 1; i++)
		ask(&r, i);
	refusal = relay_line(&r);
	ck_assert_int_le(atoi(member(refusal, "id")),
	                 MAX_HELD + 1); /* who came last, or was slow */
	has(refusal, "error.code", "-32603");
	says(member(refusal, "error.message"), "1000 calls of this connection wait");
	calls_become("waiting", MAX_HELD);
	expect("SELECT count(*) FROM request", "1000\n"); /* what is refused is not asked */
	alive = relay_call(&r, "ping", "{}"); /* what does not wait is served */
	has(alive, "acknowledged", "true");
	other = newcomer();
	ask(&other, 5000);
	calls_become("waiting", MAX_HELD + 1);

	given(ANSWER_ALL);
	for (int i = 1; i <= MAX_HELD; i++) {
		OWNED(char_ptr) char *line = relay_line(&r);
		OWNED(char_ptr) char *result = tool_result(line);
		char expected[60];

		(void)snprintf(expected, sizeof(expected), "as for question %s",
		               member(line, "id"));
		has(result, "instruction", expected);
	}
	ask(&r, 6000); /* there is room again */
	calls_become("waiting", 1);
	relay_clear(&r);
	relay_clear(&other);
}
END_TEST

static void begin_listening(struct relay *r)
{
	char json[400];

	(void)snprintf(
	    json, sizeof(json),
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"subscriptions/listen\",\"params\":{"
	    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
	    ++r->id);
	relay_send(r, json);
}

static void listens(struct relay *r)
{
	OWNED(char_ptr) char *line = NULL;

	begin_listening(r);
	line = relay_line(r);
	has(line, "method", "notifications/subscriptions/acknowledged");
}

static void listens_no_more(struct relay *r, const char *why)
{
	OWNED(char_ptr) char *line = NULL;

	begin_listening(r);
	line = relay_line(r);
	has(line, "error.code", "-32603");
	says(member(line, "error.message"), why);
}

/* A subscription over HTTP: the status of its answer, what it says. */
static int listen_on_http(struct str *said)
{
	static const char JSON[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{"
	    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
	struct agent a = agent_sessionless(port, "");
	struct wire w;
	int status;

	(void)snprintf(a.version, sizeof(a.version), "2026-07-28");
	wire_open(&w, port);
	agent_send(&a, &w, "POST", "Mcp-Method: subscriptions/listen\r\n", JSON);
	status = wire_plain(&w);
	str_reset(said);
	str_add(said, str_text(&w.body));
	wire_close(&w);
	return status;
}

/* Once the turn has come that ends another one. */
static void listens_when_it_can(struct relay *r)
{
	OWNED(char_ptr) char *line = NULL;

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;) {
		free(line);
		begin_listening(r);
		line = relay_line(r);
		if (strcmp(member(line, "method"), "notifications/subscriptions/acknowledged") == 0)
			return;
	}
	ck_abort_msg("no room comes: %s", line);
}

START_TEST(subscriptions_have_a_limit_for_each_and_for_all)
{
	OWNED(str) struct str said = { 0 };
	struct relay a, b, c;

	given_front();
	a = newcomer();
	b = newcomer();
	c = newcomer();
	ck_assert_int_eq(listen_on_http(&said), 200);
	for (int i = 0; i < MAX_HELD; i++)
		listens(&a);
	listens_no_more(&a, "of this connection wait");
	for (int i = 0; i < MAX_LISTENS - MAX_HELD; i++)
		listens(&b);
	listens_no_more(&c, "2000 subscriptions are open");
	ck_assert_int_eq(listen_on_http(&said), 503);
	says(said.bytes, "2000 subscriptions are open");
	relay_send(&a, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
	               "\"requestId\":1}}");
	listens_when_it_can(&c);
	relay_clear(&a);
	relay_clear(&b);
	relay_clear(&c);
}
END_TEST

/* ---- bytes ---- */

enum { BIG = 4 * MIB - 1000 };

/* POST of a ping behind very many blanks; the ping itself is still to come. */
static void send_big(struct wire *w, bool chunked)
{
	char *blanks = xmalloc(BIG), head[200];

	memset(blanks, ' ', BIG);
	if (chunked)
		(void)snprintf(head, sizeof(head),
		               "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
		               "Transfer-Encoding: chunked\r\n\r\n%x\r\n",
		               BIG);
	else
		(void)snprintf(
		    head, sizeof(head),
		    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
		    BIG + strlen(PING));
	wire_send(w, head);
	wire_send_bytes(w, blanks, BIG);
	free(blanks);
}

static void begin_big(struct wire *w, bool chunked)
{
	wire_open(w, port);
	send_big(w, chunked);
}

static int end_big(struct wire *w, bool chunked)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "\r\n%zx\r\n%s\r\n0\r\n\r\n", strlen(PING), PING);
	wire_send(w, chunked ? text : PING);
	return wire_answer(w);
}

/* Of so many requests that are not whole, some are answered: with a refusal. They are closed. */
static void refuses_some(struct wire *w, int count, int expected)
{
	struct pollfd *p = xcalloc((size_t)count, sizeof(*p));

	for (int i = 0; i < count; i++)
		p[i] = (struct pollfd){ .fd = w[i].fd, .events = POLLIN };
	for (int refused = 0; refused < expected;) {
		ck_assert_msg(poll(p, (nfds_t)count, AGENT_PATIENCE_MS) > 0,
		              "only %d of %d are refused", refused, expected);
		for (int i = 0; i < count; i++) {
			if (!p[i].revents)
				continue;
			ck_assert_int_eq(wire_answer(&w[i]), 503);
			says(str_text(&w[i].body), "too many big messages");
			wire_close(&w[i]);
			w[i].fd = p[i].fd = -1;
			refused++;
		}
	}
	free(p);
}

START_TEST(big_bodies_that_are_slow_have_a_limit_in_all)
{
	enum { BODIES = 24, FIT = MAX_UNFINISHED / (4 * MIB) };
	OWNED(char_ptr) char *line = NULL;
	OWNED(char_ptr) char *result = NULL;
	struct wire w[BODIES];
	struct relay r;

	given_patient_front();
	r = newcomer();
	ask(&r, 1);
	calls_become("waiting", 1);
	for (int i = 0; i < BODIES; i++)
		begin_big(&w[i], i % 2);
	{ /* others are served as ever */
		struct agent a = agent_sessionless(port, "");

		ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
	}
	refuses_some(w, BODIES, BODIES - FIT);
	for (int i = 0; i < BODIES; i++) {
		if (w[i].fd >= 0)
			ck_assert_int_eq(end_big(&w[i], i % 2), 200);
		wire_close(&w[i]);
	}

	given(ANSWER_ALL);
	line = relay_line(&r);
	result = tool_result(line);
	has(result, "decision", "refine");
	relay_clear(&r);
}
END_TEST

/* How many descriptors the front has open; the next one has this number or a lower one. */
static int files_of_front(void)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(shell(&said, "ls /proc/%d/fd | wc -l", (int)front), 0);
	return atoi(str_text(&said));
}

/* What clients had sent that went away is not held against the next. */
START_TEST(what_was_never_finished_is_forgotten)
{
	enum { BODIES = MAX_UNFINISHED / (4 * MIB) };
	struct wire w[BODIES], last;
	struct agent a;
	int files;

	given_patient_front();
	wire_open(&last, port); /* on a descriptor of its own, once a later caller is served */
	a = agent_sessionless(port, "");
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
	files = files_of_front();
	for (int i = 0; i < BODIES; i++)
		begin_big(&w[i], i % 2);
	for (int i = 0; i < BODIES; i++)
		if (i % 3)
			wire_close(&w[i]);
		else
			wire_break(&w[i]);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; files_of_front() > files;)
		ck_assert_int_lt(agent_ms(), end);
	send_big(&last, false);
	ck_assert_int_eq(end_big(&last, false), 200);
	wire_close(&last);
}
END_TEST

/* Until the front has read all that was sent to it. */
static void is_read(int fd)
{
	int unread = 1;

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; unread; (void)poll(NULL, 0, 1)) {
		ck_assert_int_eq(ioctl(fd, SIOCOUTQ, &unread), 0);
		ck_assert_int_lt(agent_ms(), end);
	}
}

START_TEST(of_big_lines_that_are_slow_one_too_many_is_refused_by_its_id)
{
	enum { LINES = MAX_UNFINISHED / (4 * MIB) + 1 };
	OWNED(char_ptr) char *blanks = xmalloc(BIG + 1);
	struct relay r[LINES];
	int refused = 0;

	memset(blanks, ' ', BIG);
	blanks[BIG] = '\0';
	given_patient_front();
	for (int i = 0; i < LINES; i++) {
		r[i] = newcomer();
		for (size_t at = 0; at < BIG;) {
			ssize_t n = write(r[i].in, blanks + at, BIG - at);

			ck_assert_int_gt(n, 0);
			at += (size_t)n;
		}
	}
	for (int i = 0; i < LINES; i++)
		is_read(r[i].in);
	for (int i = 0; i < LINES; i++) {
		OWNED(char_ptr) char *end_of_big = NULL;
		OWNED(char_ptr) char *next = NULL;

		relay_send(&r[i], PING);
		end_of_big = relay_line(&r[i]);
		if (strstr(end_of_big, "\"error\"")) {
			has(end_of_big, "id", "1");
			has(end_of_big, "error.code", "-32603");
			says(end_of_big, "too many big messages");
			refused++;
		} else {
			has(end_of_big, "result", "{}");
		}
		relay_send(&r[i], PING);
		next = relay_line(&r[i]);
		has(next, "result", "{}");
		relay_clear(&r[i]);
	}
	ck_assert_int_eq(refused, 1);
}
END_TEST

/* ---- callers ---- */

/* All descriptors that there may be; how many callers fit. */
static int raise_files(int wanted)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur >= (rlim_t)(wanted + OWN_FDS))
		return wanted;
	(void)printf("limits: the hard limit of descriptors is %llu: %llu callers, not %d\n",
	             (unsigned long long)limit.rlim_cur,
	             (unsigned long long)limit.rlim_cur - OWN_FDS, wanted);
	return (int)limit.rlim_cur - OWN_FDS;
}

/* The one reply that comes over a stream, and its end. */
static void is_told_once(struct wire *w, int number)
{
	struct event e = { .id = "" };
	char expected[60];
	int replies = 0;

	(void)snprintf(expected, sizeof(expected), "as for question %d", number);
	ck_assert_int_eq(wire_head(w), 200);
	while (wire_event(w, &e)) {
		if (!strstr(str_text(&e.data), "\"result\""))
			continue;
		replies++;
		ck_assert_int_eq(atoi(member(e.data.bytes, "id")), number);
		has(e.data.bytes, "result.structuredContent.instruction", expected);
	}
	ck_assert_msg(replies == 1, "question %d is answered %d times", number, replies);
	event_clear(&e);
	wire_close(w);
}

START_TEST(ten_thousand_calls_wait_and_each_is_told_its_own_answer_once)
{
	enum { AT_ONCE = 500 };
#ifdef __SANITIZE_ADDRESS__
	int count = raise_files(1000);
#else
	int count = raise_files(10000);
#endif
	struct wire *w = xcalloc((size_t)count, sizeof(*w));
	struct agent a;
	char text[60];

	given_patient_front();
	a = agent_hello(port, "", "2025-11-25");
	for (int i = 0; i < count; i++) {
		(void)snprintf(text, sizeof(text), "{\"prompt_text\":\"question %d\"}", i + 1);
		agent_begin(&a, &w[i], "transmit", text, NULL);
		/* Whoever overtakes the front by its backlog is kept waiting by the kernel. */
		if ((i + 1) % AT_ONCE == 0 || i + 1 == count)
			calls_become("waiting", i + 1);
	}
	given(ANSWER_ALL);
	calls_become("done", count);
	for (int i = 0; i < count; i++)
		is_told_once(&w[i], i + 1);
	(void)snprintf(text, sizeof(text), "%d|%d\n", count, count);
	expect_soon(
	    "SELECT count(*), count(DISTINCT request_seq) FROM tool_call WHERE state = 'done'",
	    text);
	free(w);
}
END_TEST

/* More answers than one look at the sockets reports; the front stands still for longer than a
 * caller may, wherever it is. */
START_TEST(answers_reach_their_callers_although_the_front_stands_still)
{
	enum { CALLS = 500, AT_ONCE = 20, STILL_MS = 6200, ROUNDS = 3 };
	struct wire w[CALLS];
	struct agent a;
	char text[60];

	given_front_that_waits("6");
	a = agent_hello(port, "", "2025-11-25");
	for (int i = 0; i < CALLS; i++) {
		(void)snprintf(text, sizeof(text), "{\"prompt_text\":\"question %d\"}", i + 1);
		agent_begin(&a, &w[i], "transmit", text, NULL);
		if ((i + 1) % AT_ONCE == 0)
			calls_become("waiting", i + 1);
	}
	given(ANSWER_ALL);
	for (int i = 0; i < ROUNDS; i++) {
		ck_assert_int_eq(kill(front, SIGSTOP), 0);
		(void)poll(NULL, 0, STILL_MS);
		ck_assert_int_eq(kill(front, SIGCONT), 0);
		(void)poll(NULL, 0, 20);
	}
	calls_become("done", CALLS);
	for (int i = 0; i < CALLS; i++)
		is_told_once(&w[i], i + 1);
}
END_TEST

START_TEST(thousands_of_idle_connections_hinder_nobody)
{
	int count = raise_files(5000);
	struct wire *idle = xcalloc((size_t)count, sizeof(*idle));
	struct agent a;
	int64_t start;

	given_front();
	for (int i = 0; i < count; i++)
		wire_open(&idle[i], port);
	start = agent_ms();
	a = agent_hello(port, "", "2025-11-25");
	for (int i = 0; i < 20; i++)
		free(agent_call(&a, "ping", "{}"));
	ck_assert_int_lt(agent_ms() - start, 5000);
	for (int i = 0; i < count; i++)
		wire_close(&idle[i]);
	free(idle);
}
END_TEST

/* A process that does nothing but hold connections open: it has descriptors of its own. Told to
 * open more by a number on the pipe, it says so when they are open. */
struct holder {
	pid_t pid;
	int orders, reports;
};

static struct holder start_holder(void)
{
	int down[2], up[2], order[2];
	struct holder h;

	ck_assert_int_eq(pipe2(down, O_CLOEXEC) | pipe2(up, O_CLOEXEC), 0);
	h = (struct holder){ .pid = fork(), .orders = down[1], .reports = up[0] };
	if (h.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(down[1]);
		while (read(down[0], order, sizeof(order)) == (ssize_t)sizeof(order)) {
			for (int i = 0; i < order[1]; i++) {
				struct wire w;

				wire_open(&w, order[0]);
			}
			(void)write(up[1], "x", 1);
		}
		_exit(0);
	}
	return h;
}

static void hold(const struct holder *h, int count)
{
	const int order[2] = { port, count };
	char said;

	ck_assert_int_eq(write(h->orders, order, sizeof(order)), sizeof(order));
	ck_assert_int_eq(read(h->reports, &said, 1), 1);
}

/* Clock ticks that it has computed for. */
static long ticks_of_front(void)
{
	char path[40], line[500] = "";
	long user = 0, system = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)front);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	(void)fclose(f);
	ck_assert_int_eq(sscanf(strrchr(line, ')'),
	                        ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
	                        &system),
	                 2);
	return user + system;
}

START_TEST(callers_without_a_descriptor_are_told_so)
{
	enum { LIMIT = 300 };
	struct holder h = start_holder(); /* before anything here opens the database */
	struct rlimit limit = { .rlim_cur = LIMIT, .rlim_max = LIMIT };
	OWNED(str) struct str body = { 0 };
	struct agent a;
	struct relay r;
	long before;
	int64_t start;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	given_front();
	r = newcomer();
	ask(&r, 1);
	calls_become("waiting", 1);
	a = agent_hello(port, "", "2025-11-25");

	/* a few more than fit: some of those that are counted may be closing */
	hold(&h, LIMIT - SPARE_FDS - files_of_front() + SPARE_FDS / 4);
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, &body), 503);
	says(body.bytes, "no file descriptors are left");

	/* More than there are: they wait in the kernel, and the front does not run hot. */
	hold(&h, 2 * SPARE_FDS);
	before = ticks_of_front();
	start = agent_ms();
	given(ANSWER_ALL); /* it has descriptors for its own work */
	{
		OWNED(char_ptr) char *result = relay_end(&r);

		has(result, "decision", "refine");
	}
	while (files_of_front() > LIMIT - SPARE_FDS) /* idle ones are cut in time */
		ck_assert_int_lt(agent_ms() - start, 2 * AGENT_PATIENCE_MS);
	ck_assert_int_eq(agent_exchange(&a, "POST", "", PING, NULL), 200);
	ck_assert_msg((ticks_of_front() - before) * 1000 / sysconf(_SC_CLK_TCK) <
	                  (agent_ms() - start) / 4,
	              "the front has computed for %ld ticks in %lld ms", ticks_of_front() - before,
	              (long long)(agent_ms() - start));
	relay_clear(&r);
	(void)kill(h.pid, SIGKILL);
	(void)waitpid(h.pid, NULL, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("limits");
	TCase *c = tcase_create("limits");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 150);
	tcase_add_test(c, a_connection_holds_1000_calls_and_refuses_the_next);
	tcase_add_test(c, subscriptions_have_a_limit_for_each_and_for_all);
	tcase_add_test(c, big_bodies_that_are_slow_have_a_limit_in_all);
	tcase_add_test(c, what_was_never_finished_is_forgotten);
	tcase_add_test(c, of_big_lines_that_are_slow_one_too_many_is_refused_by_its_id);
	tcase_add_test(c, ten_thousand_calls_wait_and_each_is_told_its_own_answer_once);
	tcase_add_test(c, answers_reach_their_callers_although_the_front_stands_still);
	tcase_add_test(c, thousands_of_idle_connections_hinder_nobody);
	tcase_add_test(c, callers_without_a_descriptor_are_told_so);
	suite_add_tcase(s, c);
	return run_suite(s);
}
