/* hand: files are read beside mcp-front, which serves on whatever becomes of them. */
#include "agent.h"
#include "hand_process.h"
#include "hung.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SECOND = 1000,
	DEADLINE = 20 * SECOND,
	MIB = 1 << 20,
	BIG = 16 * MIB, /* of a file that is no quick job, so that it is seen at work */
	HONEST = 100,
};

/* More than idle that the front may take; WAITING: with all long ones waiting. */
enum { FRONT_MIB = 64, WAITING_MIB = 24 };

/* All are to be read before the hand that was stopped is given up; under sanitizers that takes ten
 * times as long, and memory is not compared. */
#ifdef __SANITIZE_ADDRESS__
enum { WAITING_PROPOSALS = 3 };
#else
enum { WAITING_PROPOSALS = 10 };
#endif

static char workspace[600];
static pid_t front;
static int port;

/* ---- given ---- */

static void given_front(void)
{
	fresh_store();
	given_front_settings(workspace);
	(void)start_worker("watchdog"); /* it ends waits */
	front = start_worker("mcp-front");
	port = front_port();
}

/* One that has a session, so that whatever it is told is told as a result. */
static struct agent agent_in_session(void)
{
	struct agent a = agent_hello(port, "?wait=1", "2025-11-25");
	OWNED(char_ptr) char *pong = agent_call(&a, "ping", "{}");

	return a;
}

static void given_file_of(size_t bytes)
{
	OWNED(str) struct str text = { 0 };

	for (int i = 0; text.length < bytes; i++)
		str_addf(&text, "this is line %d of a file that takes its time\n", i);
	put_file(workspace, "big.txt", text.bytes);
}

static void given_big_file(void)
{
	given_file_of(BIG);
}

/* A change of its nth line. */
static char *change_of_big(int n)
{
	char diff[400];

	(void)snprintf(diff, sizeof(diff),
	               "--- a/big.txt\n+++ b/big.txt\n@@ -%d,1 +%d,1 @@\n"
	               "-this is line %d of a file that takes its time\n+changed\n",
	               n + 1, n + 1, n);
	return proposal("big.txt", diff);
}

static void begin_big(struct agent *a, struct wire *w, int n)
{
	OWNED(char_ptr) char *arguments = change_of_big(n);

	agent_begin(a, w, "check_clearance", arguments, NULL);
}

/* A front, and one who waits for a big file to be read. */
static struct agent an_agent_of_a_big_file(struct wire *w)
{
	struct agent a;

	given_front();
	given_big_file();
	a = agent_in_session();
	begin_big(&a, w, 1);
	return a;
}

/* Its process, which stands still from here on. */
static pid_t stopped_job(void)
{
	pid_t pid = hand_job_of(front);

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	while (!is_stopped(pid))
		(void)poll(NULL, 0, 1);
	return pid;
}

/* The policy allows it: the answer comes at once. */
static void is_allowed(struct agent *a, const char *path)
{
	OWNED(char_ptr) char *arguments = proposal(path, "new\n");
	OWNED(char_ptr) char *result = agent_call(a, "check_clearance", arguments);

	has(result, "status", "approved");
}

static void is_asked(struct agent *a, const char *path)
{
	OWNED(char_ptr) char *arguments = proposal(path, "new\n");
	OWNED(char_ptr) char *result = agent_call(a, "check_clearance", arguments);

	has(result, "status", "pending");
}

static void nothing_was_asked(void)
{
	expect("SELECT count(*) FROM request", "0\n");
	expect("SELECT count(*) FROM request_file", "0\n");
}

static void no_job_is_left(void)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; hand_jobs_of(front) > 0;
	     (void)poll(NULL, 0, 10))
		ck_assert_msg(agent_ms() < end, "a process is left");
}

/* ---- a job that goes wrong ---- */

START_TEST(while_one_job_hangs_the_others_are_done)
{
	struct agent hung, honest;
	struct wire w;

	given_front();
	given_big_file();
	hung = agent_in_session();
	honest = agent_in_session();
	begin_big(&hung, &w, 1);
	(void)stopped_job();
	is_asked(&honest, "a.txt");
	expect("SELECT count(*) FROM request", "1\n");
	is_asked(&honest, "b.txt");
	wire_close(&w);
	stop_worker(front);
}
END_TEST

START_TEST(a_job_that_hangs_is_ended_and_the_agent_is_told_why)
{
	OWNED(char_ptr) char *result = NULL;
	struct agent a;
	struct wire w;

	a = an_agent_of_a_big_file(&w);
	(void)stopped_job();
	advance(DEADLINE);
	result = agent_end(&w);
	has(result, "status", "error");
	has(result, "error_code", "workspace_unreadable");
	says(result, "could not be read within 20 s");
	says(result, "nothing was done; call again");
	nothing_was_asked();
	no_job_is_left();
	is_asked(&a, "a.txt");
	stop_worker(front);
}
END_TEST

START_TEST(a_job_that_is_killed_leaves_an_error_and_nothing_else)
{
	OWNED(char_ptr) char *result = NULL;
	struct wire w;

	(void)an_agent_of_a_big_file(&w);
	(void)kill(stopped_job(), SIGKILL);
	result = agent_end(&w);
	has(result, "error_code", "io_error");
	says(result, "ended before it was done");
	nothing_was_asked();
	expect("SELECT tool, is_error FROM tool_call WHERE tool <> 'ping'", "check_clearance|1\n");
	stop_worker(front);
}
END_TEST

START_TEST(a_first_call_whose_workspace_hangs_gets_an_error_without_a_session)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	given_front();
	given_big_file();
	a = agent_hello(port, "?wait=1", "2025-11-25");
	begin_big(&a, &w, 1);
	(void)kill(stopped_job(), SIGKILL);
	message = agent_message(&w);
	wire_close(&w);
	has(message, "error.code", "-32603");
	says(message, "ended before it was done");
	expect("SELECT count(*) FROM session", "0\n");
	is_asked(&a, "a.txt");
	stop_worker(front);
}
END_TEST

START_TEST(when_hand_itself_is_killed_it_is_started_again_and_the_job_is_done)
{
	OWNED(char_ptr) char *result = NULL;
	struct wire w;
	pid_t before;

	(void)an_agent_of_a_big_file(&w);
	before = hand_of(front);
	(void)stopped_job();
	(void)kill(before, SIGKILL);
	result = agent_end(&w);
	has(result, "status", "pending");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_ne(hand_of(front), before);
	stop_worker(front);
}
END_TEST

START_TEST(when_hand_itself_stands_still_it_is_replaced)
{
	OWNED(char_ptr) char *result = NULL;
	struct agent a;
	struct wire w;
	pid_t before;

	given_front();
	a = agent_in_session();
	before = hand_of(front);
	(void)kill(before, SIGSTOP);
	begin_big(&a, &w, 1);
	expect_still("SELECT count(*) FROM request", "0\n", 100);
	ck_assert_int_eq(hand_of(front), before); /* it has five seconds */
	advance(5 * SECOND);
	result = agent_end(&w);
	has(result, "error_code", "patch_conflict");
	ck_assert_int_ne(hand_of(front), before);
	stop_worker(front);
}
END_TEST

/* ---- a hand that lies: that of another user is believed nothing that could harm the front ---- */

/* Stands still from here on; returns its socket to the front. */
static int stolen_from_hand(pid_t hand)
{
	int pidfd = pidfd_open(hand, 0), fd;

	ck_assert_int_eq(kill(hand, SIGSTOP), 0);
	while (!is_stopped(hand))
		(void)poll(NULL, 0, 1);
	fd = pidfd_getfd(pidfd, HAND_FRONT_FD, 0);
	(void)close(pidfd);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* The number of the job that arrives next; ret_socket: its socket. */
static uint32_t job_of(int fd, int *ret_socket)
{
	char control[CMSG_SPACE(HAND_JOB_FDS * sizeof(int))] __attribute__((aligned(8)));
	uint32_t number = 0;
	struct iovec part = { .iov_base = &number, .iov_len = sizeof(number) };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = control,
		            .msg_controllen = sizeof(control) };
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	ck_assert_int_eq(poll(&wait, 1, AGENT_PATIENCE_MS), 1);
	ck_assert_int_eq(recvmsg(fd, &m, MSG_CMSG_CLOEXEC), sizeof(number));
	ck_assert_ptr_nonnull(CMSG_FIRSTHDR(&m));
	memcpy(ret_socket, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(*ret_socket));
	return number;
}

/* A message of so many bytes, with so many copies of a descriptor. */
static void tell_front(int fd, uint32_t number, size_t bytes, int what, size_t copies)
{
	struct hand_told told[2] = { { .number = number, .pid = getpid() } };
	char control[CMSG_SPACE(2 * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	const int fds[] = { what, what };
	struct iovec part = { .iov_base = told, .iov_len = bytes };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = control,
		            .msg_controllen = CMSG_SPACE(copies * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		               .cmsg_type = SCM_RIGHTS,
		               .cmsg_len = CMSG_LEN(copies * sizeof(int)) };
	memcpy(CMSG_DATA(c), fds, copies * sizeof(int));
	ck_assert_int_eq(sendmsg(fd, &m, 0), (ssize_t)bytes);
}

static int files_of(pid_t pid)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(shell(&said, "ls /proc/%d/fd | wc -l", (int)pid), 0);
	return atoi(said.bytes);
}

enum lie { TWICE, SHORT, LONG, EMPTY, TWO_FILES, NO_PIDFD, LIES };

/* Returns the process that it calls that of the job, a child of ours. */
static pid_t lie(enum lie how, int fd, uint32_t number)
{
	const size_t size = sizeof(struct hand_told);
	int pidfd, pipes[2];
	pid_t worker = fork();

	if (worker == 0)
		(void)pause();
	pidfd = pidfd_open(worker, 0);
	ck_assert_int_eq(pipe(pipes), 0);
	if (how == TWICE) {
		tell_front(fd, number, size, pidfd, 1);
		tell_front(fd, number, size, pidfd, 1);
	} else if (how == TWO_FILES) {
		tell_front(fd, number, size, pidfd, 2);
	} else if (how == NO_PIDFD) {
		tell_front(fd, number, size, pipes[0], 1);
	} else {
		tell_front(fd, number,
		           how == SHORT  ? size - 1
		           : how == LONG ? size + 1
		                         : 0,
		           pidfd, 1);
	}
	(void)close(pidfd);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	return worker;
}

START_TEST(a_hand_that_says_what_none_can_is_ended_its_files_are_closed_and_the_job_is_done)
{
	OWNED(char_ptr) char *result = NULL;
	struct agent a;
	struct wire w;
	int files, fd, job;
	uint32_t number;
	pid_t before, worker;

	given_front();
	a = agent_in_session();
	is_asked(&a, "a.txt");
	no_job_is_left();
	files = files_of(front);
	before = hand_of(front);
	fd = stolen_from_hand(before);
	begin_big(&a, &w, 1);
	number = job_of(fd, &job);
	worker = lie((enum lie)_i, fd, number);
	(void)close(fd);
	while (kill(before, 0) == 0)
		(void)poll(NULL, 0, 1);
	(void)close(job);
	advance(SECOND); /* until it may be started again */
	result = agent_end(&w);
	has(result, "error_code", "patch_conflict");
	ck_assert_int_ne(hand_of(front), before);
	(void)kill(worker, SIGKILL);
	(void)end_of(worker);
	while (files_of(front) > files)
		(void)poll(NULL, 0, 10);
	stop_worker(front);
}
END_TEST

START_TEST(with_the_front_all_its_hands_go)
{
	struct agent a;
	struct wire w;
	pid_t first, job;

	a = an_agent_of_a_big_file(&w);
	job = stopped_job();
	first = hand_of(front);
	kill_worker(front);
	while (kill(job, 0) == 0 && is_stopped(job))
		(void)poll(NULL, 0, 10);
	while (kill(first, 0) == 0 && hand_jobs_of(first) > 0)
		(void)poll(NULL, 0, 10);
	nothing_was_asked();
	wire_close(&w);
	front = start_worker("mcp-front");
	port = front_port();
	a.port = port;
	is_asked(&a, "a.txt");
	expect("SELECT count(*) FROM request", "1\n");
	stop_worker(front);
}
END_TEST

START_TEST(a_front_that_dies_meanwhile_loses_no_call_of_a_relay)
{
	OWNED(char_ptr) char *arguments = change_of_big(1);
	OWNED(char_ptr) char *result = NULL;
	struct site site = given_running_site();
	struct relay r = given_relay(&site);

	(void)snprintf(workspace, sizeof(workspace), "%s", site.workspace);
	given_big_file();
	front = worker_pid("mcp-front");
	relay_begin(&r, "check_clearance", arguments);
	(void)stopped_job();
	kill_and_await("mcp-front");
	expect_soon("SELECT count(*) FROM request WHERE state = 'pending'", "1\n");
	ends_approved_once(&r, &site);
}
END_TEST

START_TEST(a_job_is_limited_in_time_memory_and_files_and_writes_nothing)
{
	struct wire w;
	pid_t job;

	(void)an_agent_of_a_big_file(&w);
	job = stopped_job();
	gets_limit(job, "Max cpu time", DEADLINE / SECOND);
	gets_limit(job, "Max file size", 0);
	gets_limit(job, "Max core file size", 0);
	gets_limit(job, "Max open files", 64);
#ifndef __SANITIZE_ADDRESS__ /* it reserves more */
	gets_limit(job, "Max address space", HAND_BIG_MEMORY);
#endif
	wire_close(&w);
	stop_worker(front);
}
END_TEST

/* ---- a stop meanwhile ---- */

/* On a stream whose head has been read. */
static void is_told_of_the_stop(struct wire *w)
{
	OWNED(char_ptr) char *result = NULL;
	struct event e = { 0 };

	ck_assert(wire_event(w, &e));
	result = tool_result(e.data.bytes);
	event_clear(&e);
	wire_close(w);
	has(result, "status", "error");
	has(result, "error_code", "busy");
	says(result, "agent-intercom is stopping or restarting; nothing was done; call again");
}

START_TEST(callers_over_http_are_told_of_a_stop_while_their_files_are_read)
{
	struct agent a;
	struct wire first, second;

	given_front();
	given_big_file();
	a = agent_in_session();
	begin_big(&a, &first, 1);
	(void)stopped_job();
	begin_big(&a, &second, 2); /* it waits for its turn */
	ck_assert_int_eq(wire_head(&first), 200); /* it takes a while: a stream */
	ck_assert_int_eq(wire_head(&second), 200);
	stop_worker(front);
	is_told_of_the_stop(&first);
	is_told_of_the_stop(&second);
	nothing_was_asked();
	front = start_worker("mcp-front");
	a.port = port = front_port();
	is_asked(&a, "a.txt");
	stop_worker(front);
}
END_TEST

START_TEST(a_first_call_over_http_is_told_of_a_stop_while_its_workspace_is_looked_at)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	given_front();
	given_big_file();
	a = agent_hello(port, "?wait=1", "2025-11-25");
	begin_big(&a, &w, 1);
	(void)stopped_job();
	stop_worker(front);
	message = agent_message(&w);
	wire_close(&w);
	has(message, "error.code", "-32603");
	says(message, "agent-intercom is stopping or restarting; nothing was done; call again");
	nothing_was_asked();
}
END_TEST

START_TEST(a_stop_meanwhile_loses_no_call_of_a_relay)
{
	OWNED(char_ptr) char *arguments = change_of_big(1);
	OWNED(char_ptr) char *result = NULL;
	struct site site = given_running_site();
	struct relay r = given_relay(&site);

	(void)snprintf(workspace, sizeof(workspace), "%s", site.workspace);
	given_big_file();
	front = worker_pid("mcp-front");
	relay_begin(&r, "check_clearance", arguments);
	(void)stopped_job();
	ck_assert_int_eq(site_stop(&site), 0);
	nothing_was_asked();
	site_start(&site);
	expect_soon("SELECT count(*) FROM request WHERE state = 'pending'", "1\n");
	approve_all();
	result = relay_end(&r);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- a caller who waits no longer ---- */

START_TEST(a_caller_that_hangs_up_meanwhile_is_not_asked_for)
{
	struct agent other;
	struct wire w;

	(void)an_agent_of_a_big_file(&w);
	(void)stopped_job();
	ck_assert_int_eq(wire_head(&w), 200); /* it takes a while: a stream */
	wire_close(&w);
	no_job_is_left();
	other = agent_in_session();
	is_asked(&other, "a.txt");
	expect("SELECT count(*) FROM request", "1\n");
	stop_worker(front);
}
END_TEST

START_TEST(a_call_that_is_cancelled_meanwhile_is_not_asked)
{
	char cancel[200];
	struct agent a;
	struct wire w;

	a = an_agent_of_a_big_file(&w);
	(void)stopped_job();
	(void)snprintf(cancel, sizeof(cancel),
	               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
	               "\"requestId\":%d}}",
	               a.id);
	ck_assert_int_eq(agent_exchange(&a, "POST", "", cancel, NULL), 202);
	no_job_is_left();
	wire_close(&w);
	is_asked(&a, "a.txt");
	expect("SELECT count(*) FROM request", "1\n");
	stop_worker(front);
}
END_TEST

/* ---- many ---- */

START_TEST(one_agent_with_many_jobs_keeps_no_other_one_waiting)
{
	enum { MANY = 30 };
	struct agent greedy, honest;
	struct wire wires[MANY];

	given_front();
	given_big_file();
	greedy = agent_in_session();
	honest = agent_in_session();
	for (int i = 0; i < MANY; i++)
		begin_big(&greedy, &wires[i], i);
	(void)stopped_job();
	is_asked(&honest, "a.txt");
	{
		OWNED(char_ptr) char *arguments = change_of_big(1000);
		OWNED(char_ptr) char *result = agent_call(&honest, "check_clearance", arguments);

		has(result, "status", "pending"); /* a big one of his own: its turn came */
	}
	ck_assert_int_gt(hand_jobs_of(front), 0);
	for (int i = 0; i < MANY; i++)
		wire_close(&wires[i]);
	stop_worker(front);
}
END_TEST

START_TEST(beside_ten_big_jobs_and_one_that_hangs_honest_agents_are_served_in_little_memory)
{
	enum { TEN = 10 };
	struct agent big[TEN], hung;
	struct wire wires[TEN], w;
	long idle;

	given_front();
	given_big_file();
	ck_assert_int_eq(mkdir(below(workspace, ".intercom"), 0755), 0);
	put_file(workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"file_patterns\":{\"write\":[\"honest-*\"]}}");
	hung = agent_in_session();
	idle = memory_of(front);
	begin_big(&hung, &w, 0);
	(void)stopped_job();
	for (int i = 0; i < TEN; i++) {
		big[i] = agent_in_session();
		begin_big(&big[i], &wires[i], i + 1);
	}
	for (int i = 0; i < HONEST; i++) {
		struct agent honest = agent_in_session();
		char path[40];

		(void)snprintf(path, sizeof(path), "honest-%d.txt", i);
		is_allowed(&honest, path);
		if (i % 10 == 0)
			memory_is_within(FRONT_MIB, idle, front);
	}
	ck_assert_int_gt(hand_jobs_of(front), 0); /* the one that hangs at least */
	for (int i = 0; i < TEN; i++) {
		OWNED(char_ptr) char *result = agent_end(&wires[i]);

		has(result, "status", "pending");
		memory_is_within(FRONT_MIB, idle, front);
	}
	expect("SELECT count(*) FROM request", "110\n");
	wire_close(&w);
	stop_worker(front);
}
END_TEST

/* A change of lines of the big file, nearly as long as a message may be. */
static char *long_change_of_big(int n)
{
	OWNED(str) struct str diff = { 0 };
	OWNED(str) struct str after = { 0 };
	int first = n + 1, lines = 60000;

	str_addf(&diff, "--- a/big.txt\n+++ b/big.txt\n@@ -%d,%d +%d,%d @@\n", first + 1, lines,
	         first + 1, lines);
	for (int i = first; i < first + lines; i++) {
		str_addf(&diff, "-this is line %d of a file that takes its time\n", i);
		str_add(&after, "+changed\n");
	}
	str_add(&diff, after.bytes);
	return proposal("big.txt", diff.bytes);
}

START_TEST(proposals_as_long_as_a_message_may_be_wait_in_little_memory)
{
	enum { MANY = WAITING_PROPOSALS };
	struct agent agents[MANY];
	struct wire wires[MANY];
	char *changes[MANY];
	struct agent honest;
	char counts[40];
	long idle;

	given_front();
	given_file_of(8 * MIB);
	honest = agent_in_session();
	is_asked(&honest, "before.txt");
	(void)kill(hand_of(front), SIGSTOP);
	idle = memory_of(front);
	for (int i = 0; i < MANY; i++) {
		agents[i] = agent_hello(port, "?wait=1", "2025-11-25");
		changes[i] = long_change_of_big(i);
		agent_begin(&agents[i], &wires[i], "check_clearance", changes[i], NULL);
	}
	gets_nameless_files(front, MANY); /* all were read */
	memory_gets_within(WAITING_MIB, idle, front);
	(void)kill(hand_of(front), SIGCONT);
	for (int i = 0; i < MANY; i++) {
		char *result = agent_end(&wires[i]);

		while (strstr(result, "call again")) { /* the hand was stopped for too long */
			free(result);
			result = agent_call(&agents[i], "check_clearance", changes[i]);
		}
		has(result, "status", "pending");
		free(result);
		free(changes[i]);
	}
	(void)snprintf(counts, sizeof(counts), "%d|%d\n", MANY, MANY);
	expect("SELECT count(*), count(DISTINCT body_seq) FROM request WHERE file_path = 'big.txt'",
	       counts);
	expect("SELECT count(*) FROM content, request ON content.seq = body_seq WHERE "
	       "substr(CAST(bytes AS TEXT), 1, 9) <> '--- a/big' OR size < 3000000",
	       "0\n");
	stop_worker(front);
}
END_TEST

/* ---- what is shown is bounded ---- */

START_TEST(what_nobody_can_look_at_is_refused)
{
	OWNED(char_ptr) char *arguments = proposal("big.txt", "little is left\n");
	OWNED(char_ptr) char *result = NULL;
	struct agent a;

	given_front();
	given_file_of(12 * MIB);
	a = agent_in_session();
	result = agent_call(&a, "check_clearance", arguments);
	has(result, "error_code", "too_large");
	says(result, "a diff of more than 9 MiB");
	nothing_was_asked();
	stop_worker(front);
}
END_TEST

START_TEST(four_mebibytes_of_empty_lines_are_shown)
{
	OWNED(str) struct str lines = { 0 };
	OWNED(char_ptr) char *arguments = NULL;
	OWNED(char_ptr) char *result = NULL;
	struct agent a;

	given_front();
	while (lines.length < 2 * MIB - 1000) /* two bytes each in JSON */
		str_add_char(&lines, '\n');
	arguments = proposal("empty.txt", lines.bytes);
	a = agent_in_session();
	result = agent_call(&a, "check_clearance", arguments);
	has(result, "status", "pending");
	stop_worker(front);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hand");
	TCase *c = store_case(s, "hand", 150);

	tcase_add_test(c, while_one_job_hangs_the_others_are_done);
	tcase_add_test(c, a_job_that_hangs_is_ended_and_the_agent_is_told_why);
	tcase_add_test(c, a_job_that_is_killed_leaves_an_error_and_nothing_else);
	tcase_add_test(c, a_first_call_whose_workspace_hangs_gets_an_error_without_a_session);
	tcase_add_test(c, when_hand_itself_is_killed_it_is_started_again_and_the_job_is_done);
	tcase_add_test(c, when_hand_itself_stands_still_it_is_replaced);
	tcase_add_test(c, with_the_front_all_its_hands_go);
	tcase_add_test(c, a_front_that_dies_meanwhile_loses_no_call_of_a_relay);
	tcase_add_test(c, a_job_is_limited_in_time_memory_and_files_and_writes_nothing);
	tcase_add_test(c, callers_over_http_are_told_of_a_stop_while_their_files_are_read);
	tcase_add_test(c,
	               a_first_call_over_http_is_told_of_a_stop_while_its_workspace_is_looked_at);
	tcase_add_test(c, a_stop_meanwhile_loses_no_call_of_a_relay);
	tcase_add_test(c, a_caller_that_hangs_up_meanwhile_is_not_asked_for);
	tcase_add_test(c, a_call_that_is_cancelled_meanwhile_is_not_asked);
	tcase_add_test(c, one_agent_with_many_jobs_keeps_no_other_one_waiting);
	tcase_add_test(
	    c, beside_ten_big_jobs_and_one_that_hangs_honest_agents_are_served_in_little_memory);
	tcase_add_test(c, proposals_as_long_as_a_message_may_be_wait_in_little_memory);
	tcase_add_test(c, what_nobody_can_look_at_is_refused);
	tcase_add_test(c, four_mebibytes_of_empty_lines_are_shown);
	c = store_case(s, "lies", 60);
	tcase_add_loop_test(
	    c, a_hand_that_says_what_none_can_is_ended_its_files_are_closed_and_the_job_is_done, 0,
	    LIES);
	return run_suite(s);
}
