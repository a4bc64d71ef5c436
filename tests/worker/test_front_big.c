/* mcp-front: big messages beside small ones. Ten of 1 MiB lack their last byte when the
 * front is stopped; then they and a small call end, so that it finds all of them at once. */
#include "front_case.h"
#include "io.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

enum {
	BIGS = 10,
	PAD_BYTES = MIB,
	LONG_BYTES = 4 * MIB - 1024, /* as long as a message may be */
};

/* A call without its last byte, by a client that is done with initialize. */
static void compose(struct str *call, const char *id, size_t pad)
{
	static const char PAD[] =
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde ";

	str_addf(call,
	         "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"tools/call\",\"params\":"
	         "{\"name\":\"ping\",\"arguments\":{},\"_meta\":{\"pad\":\"",
	         id);
	for (size_t i = 0; i < pad; i += sizeof(PAD) - 1)
		str_add(call, PAD);
	str_add(call, "\"}}");
}

/* The front's answer to the small call was written before it had worked on a second big one. */
static void expect_small_first(void)
{
	expect("SELECT count(*) FROM tool_call WHERE rpc_id IN ('\"big\"', '\"small\"')", "11\n");
	expect("SELECT count(*) <= 1 FROM tool_call WHERE rpc_id = '\"big\"' AND seq <"
	       " (SELECT seq FROM tool_call WHERE rpc_id = '\"small\"')",
	       "1\n");
}

static void stop_front(void)
{
	ck_assert_int_eq(kill(front, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(front, NULL, WUNTRACED), front);
}

/* ---- over HTTP ---- */

/* Bytes that lie in the sockets of the front's port, at either end. */
static unsigned long underway(void)
{
	unsigned long sum = 0;
	char line[300];
	FILE *f = fopen("/proc/net/tcp", "re");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned local, remote;
		unsigned long unsent, unread;

		if (sscanf(line, "%*d: %*8x:%x %*8x:%x %*x %lx:%lx", &local, &remote, &unsent,
		           &unread) == 4 &&
		    ((int)local == port || (int)remote == port))
			sum += unsent + unread;
	}
	(void)fclose(f);
	return sum;
}

static void send_begin(struct wire *w, const struct agent *a, const char *id, size_t pad)
{
	OWNED(str) struct str call = { 0 };
	OWNED(str) struct str head = { 0 };

	compose(&call, id, pad);
	str_addf(&head,
	         "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: %s\r\n"
	         "MCP-Protocol-Version: %s\r\nAccept: application/json, text/event-stream\r\n"
	         "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
	         a->session, a->version, call.length + 1);
	wire_open(w, port);
	wire_send(w, head.bytes);
	wire_send(w, call.bytes);
}

START_TEST(a_small_call_is_answered_before_the_second_of_ten_big_messages_is_read)
{
	struct wire wires[BIGS], small;
	struct agent a;

	(void)setenv("INTERCOM_REQUEST_SECONDS", "600", 1);
	given_front();
	for (int i = 0; i < BIGS; i++) {
		a = newcomer();
		send_begin(&wires[i], &a, "big", PAD_BYTES);
	}
	a = newcomer();
	send_begin(&small, &a, "small", 0);
	while (underway())
		(void)poll(NULL, 0, 5);
	stop_front();
	for (int i = 0; i < BIGS; i++)
		wire_send(&wires[i], "}");
	wire_send(&small, "}");
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	ck_assert_int_eq(wire_answer(&small), 200);
	for (int i = 0; i < BIGS; i++) {
		ck_assert_int_eq(wire_answer(&wires[i]), 200);
		wire_close(&wires[i]);
	}
	wire_close(&small);
	expect_small_first();
}
END_TEST

/* One call after the other, until the last of the big ones was read: two thousand, or forty where
 * the machine is very busy; three without a rest between the big ones. */
static void call_beside(struct agent *a)
{
	OWNED(char_ptr) char *bigs = NULL;

	do {
		free(agent_call(a, "ping", "{}"));
		free(bigs);
		bigs = rows("SELECT count(*) FROM tool_call WHERE rpc_id = '\"big\"'");
	} while (strcmp(bigs, "10\n") != 0);
}

/* Ten big messages are on their way, and the front, which is stopped, has yet to see the end of
 * each. */
static void given_big_ones(struct wire wires[BIGS], size_t pad)
{
	for (int i = 0; i < BIGS; i++) {
		struct agent a = newcomer();

		send_begin(&wires[i], &a, "big", pad);
	}
	while (underway())
		(void)poll(NULL, 0, 5);
	stop_front();
	for (int i = 0; i < BIGS; i++)
		wire_send(&wires[i], "}");
}

START_TEST(between_two_of_ten_big_messages_one_agent_after_another_has_its_calls_answered)
{
	struct wire wires[BIGS];
	struct agent honest;

	(void)setenv("INTERCOM_REQUEST_SECONDS", "600", 1);
	given_front();
	honest = newcomer();
	given_big_ones(wires, LONG_BYTES);
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	call_beside(&honest);
	for (int i = 0; i < BIGS; i++) {
		ck_assert_int_eq(wire_answer(&wires[i]), 200);
		wire_close(&wires[i]);
	}
	expect("SELECT count(*) >= 10 FROM tool_call WHERE rpc_id <> '\"big\"' AND seq BETWEEN"
	       " (SELECT min(seq) FROM tool_call WHERE rpc_id = '\"big\"') AND"
	       " (SELECT max(seq) FROM tool_call WHERE rpc_id = '\"big\"')",
	       "1\n");
}
END_TEST

START_TEST(callers_who_hang_up_while_their_big_messages_wait_are_forgotten)
{
	struct wire wires[BIGS];
	struct agent a;

	(void)setenv("INTERCOM_REQUEST_SECONDS", "600", 1);
	given_front();
	given_big_ones(wires, PAD_BYTES);
	for (int i = 1; i < BIGS; i++)
		wire_break(&wires[i]);
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	ck_assert_int_eq(wire_answer(&wires[0]), 200);
	wire_close(&wires[0]);
	a = newcomer(); /* and the front goes on */
	free(agent_call(&a, "ping", "{}"));
}
END_TEST

/* ---- over the relays' socket ---- */

/* A relay without its process: a connection to the front's socket. It has a session, for which no
 * call waits: those that do may be answered in any order. */
static struct relay given_socket(void)
{
	struct relay r = { .in = front_socket() };

	r.out = fcntl(r.in, F_DUPFD_CLOEXEC, 0);
	relay_send(&r, "{\"agent-intercom\":1}");
	free(relay_line(&r));
	relay_hello(&r);
	free(relay_call(&r, "ping", "{}"));
	return r;
}

static void line_begin(struct relay *r, const char *id, size_t pad)
{
	OWNED(str) struct str call = { 0 };

	compose(&call, id, pad);
	ck_assert_int_eq(io_write_all(r->in, call.bytes, call.length), 0);
}

/* The front has read all that it was sent. */
static void wait_until_read(const struct relay *r)
{
	int unread = 1;

	while (ioctl(r->in, SIOCOUTQ, &unread) == 0 && unread > 0)
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(unread, 0);
}

/* More follows at once: it is answered after the big one. */
static void line_end(struct relay *r)
{
	static const char MORE[] =
	    "}\n{\"jsonrpc\":\"2.0\",\"id\":\"next\",\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"ping\",\"arguments\":{}}}\n";

	ck_assert_int_eq(io_write_all(r->in, MORE, strlen(MORE)), 0);
}

static void expect_lines(struct relay *r, const char *first)
{
	OWNED(char_ptr) char *line = relay_line(r);
	OWNED(char_ptr) char *next = relay_line(r);

	has(line, "id", first);
	has(next, "id", "next");
	(void)close(r->in);
	(void)close(r->out);
	relay_clear(r);
}

START_TEST(a_relay_with_a_small_call_is_not_behind_ten_with_big_ones)
{
	struct relay relays[BIGS], small;

	(void)setenv("INTERCOM_REQUEST_SECONDS", "600", 1);
	given_front();
	for (int i = 0; i < BIGS; i++) {
		relays[i] = given_socket();
		line_begin(&relays[i], "big", PAD_BYTES);
	}
	small = given_socket();
	line_begin(&small, "small", 0);
	for (int i = 0; i < BIGS; i++)
		wait_until_read(&relays[i]);
	wait_until_read(&small);
	stop_front();
	for (int i = 0; i < BIGS; i++)
		line_end(&relays[i]);
	line_end(&small);
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	for (int i = 0; i < BIGS; i++)
		expect_lines(&relays[i], "big");
	expect_lines(&small, "small");
	expect_small_first();
}
END_TEST

/* KiB of memory that the front has had at most. (A sanitizer keeps what was freed.) */
static long peak_of_front(void)
{
	OWNED(char_ptr) char *status = NULL;
	char path[60];
	const char *at;

	(void)snprintf(path, sizeof(path), "proc/%d/status", (int)front);
	status = get_file("/", path);
	at = status ? strstr(status, "VmHWM:") : NULL;
	ck_assert_ptr_nonnull(at);
	return strtol(at + 6, NULL, 10);
}

static void stayed_small(long peak)
{
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_lt(peak_of_front() - peak, 12 << 10);
#else
	(void)peak;
#endif
}

START_TEST(answers_that_nobody_reads_do_not_fill_the_front_and_are_there_for_who_reads_later)
{
	enum { MANY = 3000 }; /* whose answers are 40 MB */
	OWNED(str) struct str requests = { 0 };
	struct relay r, other;
	long peak;

	given_front();
	r = given_socket();
	for (int i = 1; i <= MANY; i++)
		str_addf(&requests, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}\n",
		         1000 + i);
	peak = peak_of_front();
	ck_assert_int_eq(io_write_all(r.in, requests.bytes, requests.length), 0);
	other = given_socket();
	free(relay_call(&other, "ping", "{}")); /* it is served, and the other's are answered */
	stayed_small(peak);
	for (int i = 1; i <= MANY; i++) {
		OWNED(char_ptr) char *line = relay_line(&r);
		char id[20];

		(void)snprintf(id, sizeof(id), "%d", 1000 + i);
		has(line, "id", id);
	}
	stayed_small(peak);
	(void)close(r.in);
	(void)close(r.out);
	relay_clear(&r);
	(void)close(other.in);
	(void)close(other.out);
	relay_clear(&other);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_big");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_small_call_is_answered_before_the_second_of_ten_big_messages_is_read);
	tcase_add_test(
	    c, between_two_of_ten_big_messages_one_agent_after_another_has_its_calls_answered);
	tcase_add_test(c, callers_who_hang_up_while_their_big_messages_wait_are_forgotten);
	tcase_add_test(c, a_relay_with_a_small_call_is_not_behind_ten_with_big_ones);
	tcase_add_test(
	    c, answers_that_nobody_reads_do_not_fill_the_front_and_are_there_for_who_reads_later);
	suite_add_tcase(s, c);
	return run_suite(s);
}
