/* One who costs the others their answers: a disk that hangs, floods of connections, calls and
 * bytes; and one who sits on our port. */
#include "attack.h"
#include "hand_process.h"
#include "hung.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* Of the front: beneath a flood of bytes; above idle beside big files, and while their proposals
 * wait. */
enum { FLOOD_MIB = 256, BIG_FILES_MIB = 64, WAITING_MIB = 24 };

/* An honest agent of its own asks, and its question is there. */
static void an_honest_agent_is_served(const char *path)
{
	struct agent honest = agent_hello(site.port, "?wait=1", "2025-11-25");
	OWNED(char_ptr) char *arguments = proposal(path, "honest\n");
	OWNED(char_ptr) char *result = agent_call(&honest, "check_clearance", arguments);

	has(result, "status", "pending");
}

/* ---- a disk that hangs ---- */

/* A system with a workspace that hangs, from before its start or after it. False: nothing can be
 * mounted. */
static bool given_hung_workspace(bool before)
{
	char config[400], folder[120];

	if (!may_mount() || access("/dev/fuse", R_OK | W_OK) != 0)
		return false;
	(void)snprintf(folder, sizeof(folder), "%.100s", short_scratch());
	(void)snprintf(config, sizeof(config),
	               "[[workspace]]\nid = \"hung\"\nchannel_id = \"C0HUNG\"\npath = \"%s\"\n",
	               folder);
	if (before && !hung_mount(folder))
		return false;
	attack_begin(NULL, config);
	return before || hung_mount(folder);
}

START_TEST(a_workspace_whose_disk_hangs_does_not_hold_up_the_start)
{
	OWNED(str) struct str said = { 0 };

	SKIP_UNLESS(given_hung_workspace(true), "/dev/fuse and the right to mount");
	an_honest_agent_is_served("honest.txt");
	ck_assert_int_eq(ctl(&said, "inbox"), 0);
	(void)shell(&said, "$INTERCOM_BUILD/agent-intercom doctor --config '%s' 2>&1", site.config);
	says(said.bytes, "does not answer: its disk hangs");
	hung_unmount();
	attack_end();
}
END_TEST

/* A job that is not big, and sits on the disk. */
static void its_job_may_take_little(void)
{
	pid_t job = hand_any_job_of(worker_pid("mcp-front"));

	ck_assert_int_gt(job, 0);
	gets_limit(job, "Max cpu time", HAND_DEADLINE_MS / 1000);
	gets_limit(job, "Max file size", 0);
#ifndef __SANITIZE_ADDRESS__ /* it reserves more */
	gets_limit(job, "Max address space", HAND_SMALL_MEMORY);
#endif
}

START_TEST(a_workspace_whose_disk_hangs_stops_nobody_else)
{
	enum { HUNG = 8 };
	struct agent stuck[HUNG];
	struct wire wires[HUNG];
	OWNED(char_ptr) char *arguments = proposal("a.txt", "x\n");

	SKIP_UNLESS(given_hung_workspace(false), "/dev/fuse and the right to mount");
	for (int i = 0; i < HUNG; i++) {
		stuck[i] = agent_hello(site.port, "?wait=1&workspace_id=hung", "2025-11-25");
		agent_begin(&stuck[i], &wires[i], "check_clearance", arguments, NULL);
	}
	while (hand_jobs_of(worker_pid("mcp-front")) == 0)
		(void)poll(NULL, 0, 5);
	its_job_may_take_little();
	for (int i = 0; i < 10; i++) {
		char path[40];

		(void)snprintf(path, sizeof(path), "honest-%d.txt", i);
		an_honest_agent_is_served(path);
	}
	expect("SELECT count(*) FROM request", "10\n");
	advance(20000);
	advance(20000); /* two at a time are tried */
	for (int i = 0; i < 2; i++) {
		OWNED(char_ptr) char *message = agent_message(&wires[i]);

		says(message, "could not be read within 20 s");
	}
	an_honest_agent_is_served("after.txt");
	expect("SELECT count(*) FROM worker", SITE_WORKERS "\n"); /* nobody died */
	hung_unmount();
	for (int i = 0; i < HUNG; i++)
		wire_close(&wires[i]);
	attack_end();
}
END_TEST

static void its_jobs_are_killed(int count)
{
	ck_assert_int_eq(
	    shell(NULL,
	          "for i in $(seq 2000); do n=$(grep -lE '^ShdPnd:.*1..$' $(pgrep -P %d | "
	          "sed 's|.*|/proc/&/status|') | wc -l); [ $n = %d ] && exit 0; sleep 0.01; done; "
	          "exit 1",
	          (int)hand_of(worker_pid("mcp-front")), count),
	    0);
}

/* Two that are tried have been given up. Their disk may be slow only, but not for long. */
START_TEST(who_waits_behind_jobs_that_were_given_up_is_refused_once_they_do_not_end)
{
	enum { QUICK_MS = 1000, STUCK_MS = 5000 };
	struct agent stuck = { 0 };
	struct wire wires[3];
	OWNED(char_ptr) char *arguments = proposal("a.txt", "x\n"), *message = NULL;

	SKIP_UNLESS(given_hung_workspace(false), "/dev/fuse and the right to mount");
	for (int i = 0; i < 3; i++) {
		stuck = agent_hello(site.port, "?wait=1&workspace_id=hung", "2025-11-25");
		agent_begin(&stuck, &wires[i], "check_clearance", arguments, NULL);
	}
	advance(QUICK_MS);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(wire_head(&wires[i]), 200);
		wire_close(&wires[i]);
	}
	its_jobs_are_killed(2);
	if (_i == 0)
		hung_unmount();
	else
		advance(STUCK_MS);
	message = agent_message(&wires[2]);
	ck_assert_msg((strstr(message, "other calls wait for it already") != NULL) == (_i == 1),
	              "%s", message);
	if (_i == 1)
		hung_unmount();
	wire_close(&wires[2]);
	attack_end();
}
END_TEST

START_TEST(big_requests_that_wait_for_a_workspace_whose_disk_hangs_are_limited)
{
	enum { MANY = 5 }; /* two are tried, two wait */
	static char json[(4 << 20) - 4096];
	struct agent stuck;
	struct wire wires[MANY];

	SKIP_UNLESS(given_hung_workspace(false), "/dev/fuse and the right to mount");
	(void)snprintf(json, sizeof(json),
	               "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"resources/list\",\"params\":"
	               "{\"_meta\":{\"x\":\"");
	memset(json + strlen(json), 'x', sizeof(json) - strlen(json) - 5);
	memcpy(json + sizeof(json) - 5, "\"}}}", 5);
	stuck = agent_hello(site.port, "?wait=1&workspace_id=hung", "2025-11-25");
	for (int i = 0; i < MANY; i++) {
		wire_open(&wires[i], site.port);
		agent_send(&stuck, &wires[i], "POST", "", json);
	}
	OWNED(char_ptr) char *refused = agent_message(&wires[MANY - 1]);
	ck_assert_msg(
	    strstr(refused, "too many requests wait for their workspace to be found; ask again") ||
	        strstr(refused,
	               "this workspace's file system does not answer"), /* if it took 20 s */
	    "%s", refused);
	an_honest_agent_is_served("honest.txt");
	hung_unmount();
	for (int i = 0; i < MANY; i++)
		wire_close(&wires[i]);
	attack_end();
}
END_TEST

/* Jobs that not even SIGKILL ends, two for each of many workspaces. */
enum { WORKSPACES = 40, JOBS = 2 * WORKSPACES };

static bool given_hung_workspaces(void)
{
	OWNED(str) struct str config = { 0 };
	const char *folder = short_scratch();

	if (!may_mount() || access("/dev/fuse", R_OK | W_OK) != 0)
		return false;
	for (int i = 0; i < WORKSPACES; i++)
		str_addf(&config,
		         "[[workspace]]\nid = \"hung%d\"\nchannel_id = \"C0HUNG\"\n"
		         "path = \"%s/%d\"\n",
		         i, folder, i);
	attack_begin(NULL, config.bytes);
	ck_assert(hung_mount(folder));
	return true;
}

static void ask_where_it_hangs(struct wire *wire, int workspace)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "x\n");
	struct agent stuck;
	char query[60];

	(void)snprintf(query, sizeof(query), "?wait=1&workspace_id=hung%d", workspace);
	stuck = agent_hello(site.port, query, "2025-11-25");
	agent_begin(&stuck, wire, "check_clearance", arguments, NULL);
}

/* Until so many are at work. Time passes: a job that rests gives its place up. */
static void wait_for_jobs(int count)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;
	     hand_jobs_of(worker_pid("mcp-front")) < count; (void)poll(NULL, 0, 5)) {
		ck_assert_msg(agent_ms() < end, "only %d of %d jobs are at work",
		              hand_jobs_of(worker_pid("mcp-front")), count);
		advance(10);
	}
}

START_TEST(forty_workspaces_whose_disks_hang_stop_nobody_else)
{
	static struct wire wires[JOBS + 1];
	int64_t begun;

	SKIP_UNLESS(given_hung_workspaces(), "/dev/fuse and the right to mount");
	begun = clock_monotonic_ms();
	for (int i = 0; i < JOBS; i++)
		ask_where_it_hangs(&wires[i], i / 2);
	wait_for_jobs(JOBS);
	ck_assert_int_lt(clock_monotonic_ms() - begun, 10000);
	an_honest_agent_is_served("while.txt");
	advance(20000);
	for (int i = 0; i < JOBS; i++) {
		OWNED(char_ptr) char *message = agent_message(&wires[i]);

		says(message, "could not be read within 20 s");
	}
	ask_where_it_hangs(&wires[JOBS], 0);
	{
		OWNED(char_ptr) char *message = agent_message(&wires[JOBS]);

		says(message, "this workspace's file system does not answer");
	}
	an_honest_agent_is_served("after.txt");
	expect("SELECT count(*) FROM worker", SITE_WORKERS "\n"); /* nobody died */
	hung_unmount();
	for (int i = 0; i <= JOBS; i++)
		wire_close(&wires[i]);
	attack_end();
}
END_TEST

/* ---- floods ---- */

static void the_flood_ends(struct wire *wires, int count)
{
	an_honest_agent_is_served("a.txt");
	for (int i = 0; i < count; i++)
		wire_close(&wires[i]);
	attack_end();
}

START_TEST(a_flood_of_connections_stops_nobody_else)
{
	enum { FLOOD = 1500 };
	static struct wire wires[FLOOD];

	attack_begin(NULL, NULL);
	for (int i = 0; i < FLOOD; i++) {
		wire_open(&wires[i], site.port);
		if (i % 3 == 0)
			wire_send(&wires[i], "POST /mcp HTTP/1.1\r\nHost: localhost\r\n");
		if (i % 100 == 0)
			an_honest_agent_is_served("a.txt");
	}
	the_flood_ends(wires, FLOOD);
}
END_TEST

START_TEST(a_flood_of_calls_stops_nobody_else)
{
	enum { FLOOD = 600 };
	static struct wire wires[FLOOD];

	attack_begin(NULL, NULL);
	for (int i = 0; i < FLOOD; i++) {
		OWNED(char_ptr) char *arguments = NULL;
		char path[40];

		(void)snprintf(path, sizeof(path), "flood-%d.txt", i);
		arguments = proposal(path, "flood\n");
		agent_begin(&agent, &wires[i], "check_clearance", arguments, NULL);
		if (i % 100 == 0)
			an_honest_agent_is_served("a.txt");
	}
	the_flood_ends(wires, FLOOD);
}
END_TEST

START_TEST(a_flood_of_bytes_stops_nobody_else_and_costs_little_memory)
{
	enum { FLOOD = 40, BODY = 4 * MIB - 1000 };
	static struct wire wires[FLOOD];
	OWNED(str) struct str body = { 0 };
	pid_t front;

	attack_begin(NULL, NULL);
	front = worker_pid("mcp-front");
	while (body.length < BODY - 100)
		str_add(&body, "0123456789");
	for (int i = 0; i < FLOOD; i++) {
		char head[200];

		wire_open(&wires[i], site.port);
		(void)fcntl(wires[i].fd, F_SETFL, O_NONBLOCK);
		(void)snprintf(head, sizeof(head),
		               "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
		               "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		               BODY);
		(void)!write(wires[i].fd, head, strlen(head));
		for (size_t at = 0; at < body.length;) { /* as much as is taken */
			ssize_t n =
			    send(wires[i].fd, body.bytes + at, body.length - at, MSG_NOSIGNAL);
			struct pollfd p = { .fd = wires[i].fd, .events = POLLOUT };

			if (n <= 0 && poll(&p, 1, 200) <= 0)
				break;
			if (n < 0 && errno != EAGAIN)
				break;
			at += n > 0 ? (size_t)n : 0;
		}
	}
	an_honest_agent_is_served("a.txt");
	memory_is_within(FLOOD_MIB, 0, front);
	for (int i = 0; i < FLOOD; i++)
		wire_close(&wires[i]);
	an_honest_agent_is_served("b.txt");
	attack_end();
}
END_TEST

/* ---- big files ---- */

static void given_file_of(size_t bytes)
{
	OWNED(str) struct str text = { 0 };

	for (int i = 0; text.length < bytes; i++)
		str_addf(&text, "this is line %d of a very large file\n", i);
	attack_file("big.txt", text.bytes);
}

/* Changes many of its lines, in a diff nearly as long as a message may be. */
static char *change_of_big(int n)
{
	enum { LINES = 80000 }; /* 4.16 MB in JSON */
	OWNED(str) struct str diff = { 0 };
	OWNED(str) struct str after = { 0 };

	str_addf(&diff, "--- a/big.txt\n+++ b/big.txt\n@@ -%d,%d +%d,%d @@\n", n + 1, LINES, n + 1,
	         LINES);
	for (int i = n; i < n + LINES; i++) {
		str_addf(&diff, "-this is line %d of a very large file\n", i);
		str_add(&after, "+changed\n");
	}
	str_add(&diff, after.bytes);
	return proposal("big.txt", diff.bytes);
}

static void begin_big(struct wire *wire, int n)
{
	struct agent a = agent_hello(site.port, "?wait=1", "2025-11-25");
	OWNED(char_ptr) char *arguments = change_of_big(n);

	agent_begin(&a, wire, "check_clearance", arguments, NULL);
}

/* The policy allows it: it is answered while all the others wait. */
static void an_honest_agent_is_allowed(int n)
{
	struct agent honest = agent_hello(site.port, "?wait=1", "2025-11-25");
	OWNED(char_ptr) char *arguments = NULL;
	OWNED(char_ptr) char *result = NULL;
	char path[40];

	(void)snprintf(path, sizeof(path), "honest-%d.txt", n);
	arguments = proposal(path, "honest\n");
	result = agent_call(&honest, "check_clearance", arguments);
	has(result, "status", "approved");
}

START_TEST(ten_long_changes_of_a_very_large_file_stop_nobody_else_and_cost_the_front_little_memory)
{
	enum { TEN = 10, HONEST = 200, LARGE = 99 * MIB };
	struct wire wires[TEN], hung;
	pid_t front;
	long idle;

	attack_begin("{\"enabled\":true,\"file_patterns\":{\"write\":[\"honest-*\"]}}", NULL);
	given_file_of(LARGE);
	an_honest_agent_is_allowed(HONEST);
	front = worker_pid("mcp-front");
	idle = memory_of(front);
	begin_big(&hung, TEN);
	ck_assert_int_eq(kill(hand_job_of(front), SIGSTOP), 0);
	(void)kill(hand_of(front), SIGSTOP);
	for (int i = 0; i < TEN; i++) {
		begin_big(&wires[i], i);
		/* This answer comes after the long message was read. */
		(void)agent_hello(site.port, "?wait=1", "2025-11-25");
		memory_is_within(WAITING_MIB, idle, front);
	}
	(void)kill(hand_of(front), SIGCONT);
	for (int i = 0; i < HONEST; i++) {
		an_honest_agent_is_allowed(i);
		memory_is_within(BIG_FILES_MIB, idle, front);
	}
	for (int i = 0; i < TEN; i++) {
		OWNED(char_ptr) char *message = agent_message(&wires[i]);

		/* A busy machine may need longer for ten than a job may take. */
		while (strstr(message, "call again")) {
			free(message);
			wire_close(&wires[i]);
			begin_big(&wires[i], i);
			message = agent_message(&wires[i]);
		}
		says(message, "pending");
		memory_is_within(BIG_FILES_MIB, idle, front);
		wire_close(&wires[i]);
	}
	/* On a busy machine the eleventh may have answered before its process was stopped. */
	expect("SELECT count(*) IN (10, 11) FROM request WHERE state = 'pending'", "1\n");
	wire_close(&hung);
	attack_end();
}
END_TEST

/* ---- a squatter ---- */

/* Sits on the port of the site that is about to start. */
static int squat(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		                 .sin_port = htons((uint16_t)site.port),
		                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	return fd;
}

START_TEST(who_sits_on_our_port_gets_no_token_and_no_question)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "x\n");
	OWNED(char_ptr) char *result = NULL;
	OWNED(str) struct str health = { 0 };
	OWNED(str) struct str doctor = { 0 };
	struct relay r;
	int squatter;

	fresh_store();
	site = site_make("[ipc]\nrequire_token = true\n");
	squatter = squat();
	site_start(&site);
	r = given_relay(&site);
	relay_begin(&r, "check_clearance", arguments);
	expect_soon("SELECT count(*) FROM request WHERE state = 'pending'", "1\n");
	approve_all();
	result = relay_end(&r);
	has(result, "status", "approved");
	(void)ctl(&health, "health");
	says(health.bytes, "HTTP is off");
	(void)shell(&doctor, "'%s/agent-intercom' doctor --config '%s'", getenv("INTERCOM_BUILD"),
	            site.config);
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	ck_assert_int_lt(accept(squatter, NULL, NULL), 0); /* nobody has come at all */
	(void)close(squatter);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack flood");
	TCase *c = store_case(s, "attack flood", 120);

	tcase_add_test(c, a_workspace_whose_disk_hangs_does_not_hold_up_the_start);
	tcase_add_test(c, a_workspace_whose_disk_hangs_stops_nobody_else);
	tcase_add_loop_test(
	    c, who_waits_behind_jobs_that_were_given_up_is_refused_once_they_do_not_end, 0, 2);
	tcase_add_test(c, big_requests_that_wait_for_a_workspace_whose_disk_hangs_are_limited);
	tcase_add_test(c, forty_workspaces_whose_disks_hang_stop_nobody_else);
	tcase_add_test(c, a_flood_of_connections_stops_nobody_else);
	tcase_add_test(c, a_flood_of_calls_stops_nobody_else);
	tcase_add_test(c, a_flood_of_bytes_stops_nobody_else_and_costs_little_memory);
	tcase_add_test(
	    c,
	    ten_long_changes_of_a_very_large_file_stop_nobody_else_and_cost_the_front_little_memory);
	tcase_add_test(c, who_sits_on_our_port_gets_no_token_and_no_question);
	return run_suite(s);
}
