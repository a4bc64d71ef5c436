/* The IPC socket of mcp-front: whoever sends nonsense, too much, or reads nothing, gets an error
 * and costs the others nothing. */
#include "ipc_case.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LINE = 128 << 10, MAX_CALLERS = 64 }; /* as in ipc.c */

#define A_39 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" /* what follows is cut in the middle */

/* ---- bytes ---- */

START_TEST(nonsense_is_answered_and_the_connection_goes_on)
{
	static const struct {
		const char *line, *part;
	} CASES[] = {
		{ "", "not valid JSON" },
		{ "x", "not valid JSON" },
		{ "[]", "not a JSON object" },
		{ "null", "not a JSON object" },
		{ "{", "not valid JSON" },
		{ "{\"command\":\"list\"", "not valid JSON" },
		{ "\xff\xfe", "not valid UTF-8" },
		{ "{\"command\":\"li\xff\"}", "not valid UTF-8" },
		{ "{}", "command is missing" },
		{ "{\"command\":7}", "command is missing" },
		{ "{\"command\":null}", "command is missing" },
		{ "{\"command\":\"\"}", "unknown command ''" },
		{ "{\"command\":\"" A_39 "\u00e9\u00e9\"}", "unknown command '" A_39 },
		{ "{\"command\":\"LIST\"}", "there are approve, reject, choose, continue" },
		{ "{\"command\":\"drop\\u0000list\"}", "NUL character" },
		{ "{\"command\":\"approve\"}", "id is missing" },
		{ "{\"command\":\"approve\",\"id\":7}", "id must be a string" },
		{ "{\"command\":\"approve\",\"id\":[\"x\"]}", "id must be a string" },
		{ "{\"command\":\"approve\",\"id\":\"'; DROP TABLE request; --\"}", "no question" },
		{ "{\"command\":\"task\",\"instruction\":\"\"}", "1 to 65536 characters" },
	};
	struct caller c;

	given_front();
	c = call_in();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *reply = NULL;

		send_line(&c, CASES[i].line);
		reply = next_line(&c);
		ck_assert_msg(reply != NULL, "cut by %s", CASES[i].line);
		ck_assert(utf8_valid(reply, strlen(reply)));
		is_refused(reply, CASES[i].part);
	}
	send_bytes(&c, "{\"command\":\0\"list\"}\n", 20);
	char *nul = next_line(&c);
	is_refused(nul, "NUL character");
	free(nul);
	send_line(&c, "{\"command\":\"list\"}\r");
	char *list = next_line(&c);
	has(list, "ok", "true");
	free(list);
	hang_up(&c);
	stop_worker(front);
}
END_TEST

/* An answer cut short, or one of two, could be the opposite of what was meant. */
START_TEST(an_order_that_readers_may_understand_differently_is_not_followed)
{
	static const struct {
		const char *line, *part;
	} CASES[] = {
		{ "{\"command\":\"reject\",\"id\":\"%s\",\"reason\":\"no\\u0000, unless tested\"}",
		  "NUL character" },
		{ "{\"command\":\"approve\\u0000x\",\"id\":\"%s\"}", "NUL character" },
		{ "{\"command\":\"approve\",\"command\":\"reject\",\"id\":\"%s\"}",
		  "names 'command' twice" },
		{ "{\"command\":\"approve\",\"id\":\"%s\"}{\"command\":\"list\"}",
		  "something follows" },
	};

	given_front();
	given_clearance();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str line = { 0 };
		const char *at = strstr(CASES[i].line, "%s");

		str_add_bytes(&line, CASES[i].line, (size_t)(at - CASES[i].line));
		str_add(&line, value(NEWEST));
		str_add(&line, at + 2);
		is_refused(says_back(line.bytes), CASES[i].part);
	}
	expect("SELECT state FROM request", "pending\n");
	stop_worker(front);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_refused_once_and_the_next_one_served)
{
	OWNED(str) struct str most = { 0 };
	struct caller c;
	char *reply;

	given_front();
	c = call_in();
	str_add(&most, "{\"command\":\"list\"}");
	while (most.length < MAX_LINE)
		str_add_char(&most, ' ');
	send_line(&c, most.bytes);
	reply = next_line(&c);
	has(reply, "ok", "true"); /* just as long as it may be */
	free(reply);
	for (int i = 0; i < 3; i++) {
		str_add_char(&most, ' ');
		send_line(&c, most.bytes);
		reply = next_line(&c);
		is_refused(reply, "longer than 131072 bytes");
		free(reply);
	}
	for (int i = 0; i < 40; i++) /* 5 MiB without an end */
		send_bytes(&c, most.bytes, MAX_LINE);
	send_line(&c, "");
	send_line(&c, "{\"command\":\"list\"}");
	reply = next_line(&c);
	is_refused(reply, "longer than 131072 bytes");
	free(reply);
	reply = next_line(&c);
	has(reply, "ok", "true");
	free(reply);
	hang_up(&c);
	stop_worker(front);
}
END_TEST

START_TEST(lines_come_in_any_pieces_and_are_answered_in_order)
{
	static const char LINES[] = "{\"command\":\"list\"}\nx\n{\"command\":\"inbox\"}\n";
	struct caller c;

	given_front();
	c = call_in();
	for (size_t i = 0; i < sizeof(LINES) - 1; i++)
		send_bytes(&c, LINES + i, 1);
	for (int i = 0; i < 20; i++) /* and all at once, more than one turn takes */
		send_bytes(&c, LINES, sizeof(LINES) - 1);
	for (int i = 0; i < 21; i++) {
		char *list = next_line(&c), *wrong = next_line(&c), *inbox = next_line(&c);

		has(list, "data.sessions.0.status", "active");
		has(wrong, "ok", "false");
		has(inbox, "data.questions", "[]");
		free(list);
		free(wrong);
		free(inbox);
	}
	hang_up(&c);
	stop_worker(front);
}
END_TEST

START_TEST(who_closes_the_sending_side_is_answered_still)
{
	struct caller c;
	char *reply;

	given_front();
	c = call_in();
	send_line(&c, "{\"command\":\"list\"}");
	send_bytes(&c, "{\"command\":\"inbox\"}", 19); /* the last line without its end */
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	reply = next_line(&c);
	has(reply, "data.sessions.0.status", "active");
	free(reply);
	reply = next_line(&c);
	has(reply, "data.questions", "[]");
	free(reply);
	ck_assert_ptr_null(next_line(&c));
	hang_up(&c);
	c = call_in();
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	ck_assert_ptr_null(next_line(&c)); /* who has said nothing is let go */
	hang_up(&c);
	stop_worker(front);
}
END_TEST

/* Sends as much as is taken without reading, and waits for so many lines to be; how many whole
 * lines that were. */
static int send_all_that_goes(const struct caller *c, const char *line, size_t least)
{
	size_t length = strlen(line), sent = 0;
	int64_t end = agent_ms() + AGENT_PATIENCE_MS;
	int idle = 0;

	(void)fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
	while (idle < 3 || (sent / length <= least && agent_ms() < end)) {
		ssize_t n = send(c->fd, line + sent % length, length - sent % length, MSG_NOSIGNAL);
		struct pollfd p = { .fd = c->fd, .events = POLLOUT };

		if (n > 0)
			sent += (size_t)n;
		idle = n > 0 ? 0 : idle + 1 - (poll(&p, 1, 300) > 0);
	}
	(void)fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) & ~O_NONBLOCK);
	return (int)(sent / length);
}

START_TEST(who_does_not_read_is_not_listened_to_and_nobody_else_waits_for_it)
{
	struct caller c;
	int sent, got = 0;
	char *reply;

	given_front();
	c = call_in();
	sent = send_all_that_goes(&c, "{\"command\":\"list\"}\n", 1000);
	ck_assert_int_gt(sent, 1000);
	has(says_back("{\"command\":\"inbox\"}"), "ok", "true");
	given_clearance();
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	while ((reply = next_line(&c)) != NULL) { /* now it reads: each line has its answer */
		ck_assert_ptr_nonnull(strchr(reply, '{'));
		got++;
		free(reply);
	}
	ck_assert_int_ge(got, sent);
	ck_assert_int_le(got, sent + 1); /* the last one came in part */
	hang_up(&c);
	stop_worker(front);
}
END_TEST

/* ---- many ---- */

START_TEST(one_caller_too_many_is_told_so_and_has_room_when_another_leaves)
{
	struct caller c[MAX_CALLERS], more;
	char *reply;

	given_front();
	for (int i = 0; i < MAX_CALLERS; i++) {
		c[i] = call_in();
		send_line(&c[i], "{\"command\":\"inbox\"}");
		reply = next_line(&c[i]);
		has(reply, "ok", "true");
		free(reply);
	}
	more = call_in();
	reply = next_line(&more);
	is_refused(reply, "too many connections");
	free(reply);
	ck_assert_ptr_null(next_line(&more));
	hang_up(&more);
	ck_assert_int_eq(shutdown(c[7].fd, SHUT_WR), 0);
	ck_assert_ptr_null(next_line(&c[7])); /* it is let go */
	has(says_back("{\"command\":\"inbox\"}"), "ok", "true");
	for (int i = 0; i < MAX_CALLERS; i++)
		hang_up(&c[i]);
	stop_worker(front);
}
END_TEST

enum { RIVALS = 16 };

static char rival_line[200];

static void *approve_once(void *arg)
{
	struct caller c = { .fd = (int)(intptr_t)arg };
	char *reply;
	intptr_t ok;

	send_line(&c, rival_line);
	reply = next_line(&c);
	ok = reply && strstr(reply, "\"ok\":true") != NULL;
	free(reply);
	hang_up(&c);
	return (void *)ok;
}

START_TEST(of_many_who_answer_at_once_one_is_first)
{
	pthread_t rivals[RIVALS];
	intptr_t first = 0;

	given_front();
	given_clearance();
	(void)snprintf(rival_line, sizeof(rival_line), "{\"command\":\"approve\",\"id\":\"%s\"}",
	               value(NEWEST));
	for (int i = 0; i < RIVALS; i++)
		(void)pthread_create(&rivals[i], NULL, approve_once,
		                     (void *)(intptr_t)call_in().fd);
	for (int i = 0; i < RIVALS; i++) {
		void *ok;

		(void)pthread_join(rivals[i], &ok);
		first += (intptr_t)ok;
	}
	ck_assert_int_eq(first, 1);
	expect("SELECT outcome, count(*) FROM decision GROUP BY 1 ORDER BY 1",
	       "applied|1\nduplicate|15\n");
	stop_worker(front);
}
END_TEST

START_TEST(a_front_that_is_killed_in_the_middle_has_answered_or_not_and_asking_again_is_safe)
{
	given_front();
	for (int i = 0; i < 12; i++) {
		char line[200];
		struct caller c;
		const char *again;

		given_clearance();
		(void)snprintf(line, sizeof(line), "{\"command\":\"approve\",\"id\":\"%s\"}\n",
		               value(NEWEST));
		c = call_in();
		send_bytes(&c, line, i % 3 ? strlen(line) : strlen(line) / 2);
		if (i % 3 == 2) { /* it is on its way; else who knows */
			struct pollfd p = { .fd = c.fd, .events = POLLIN };

			ck_assert_int_eq(poll(&p, 1, AGENT_PATIENCE_MS), 1);
		}
		kill_worker(front);
		hang_up(&c);
		front = start_worker("mcp-front");
		line[strlen(line) - 1] = '\0';
		again = says_back(line);
		if (strcmp(member(again, "ok"), "true") != 0)
			is_refused(again, "already approved by local:tester");
	}
	expect("SELECT count(*), sum(state = 'approved') FROM request", "12|12\n");
	expect("SELECT count(*) FROM decision WHERE outcome = 'applied'", "12\n");
	stop_worker(front);
}
END_TEST

/* ---- who may ---- */

static mode_t mode_of(const char *name)
{
	char path[600];
	struct stat s;

	(void)snprintf(path, sizeof(path), "%s/%s", test_run(), name);
	return stat(path, &s) == 0 ? s.st_mode & 0777 : 0;
}

/* Connects as another user: 0 it was served, 1 it was not. */
static int try_as_nobody(void)
{
	int dir = open(test_run(), O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	char byte;

	if (!become_nobody())
		return 2;
	fd = connect_in(dir);
	if (fd < 0)
		return 3;
	(void)send(fd, "{\"command\":\"list\"}\n", 19, MSG_NOSIGNAL);
	return recv(fd, &byte, 1, 0) == 1 ? 0 : 1;
}

START_TEST(the_socket_is_open_to_our_own_user_only)
{
	given_front();
	ck_assert_int_eq(mode_of("ipc.sock"), 0600);
	ck_assert_int_eq(mode_of(""), 0700);
	ck_assert_int_eq(mode_of("ipc.token"), 0); /* none is needed */
	has(says_back("{\"command\":\"list\"}"), "ok", "true");
	stop_worker(front);
}
END_TEST

START_TEST(another_user_is_not_served_whatever_the_modes_are)
{
	int status;
	pid_t child;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	given_front();
	ck_assert_int_eq(shell(NULL, "chmod 755 $(dirname %s) %s && chmod 666 %s/ipc.sock",
	                       test_run(), test_run(), test_run()),
	                 0);
	child = fork();
	if (child == 0)
		_exit(try_as_nobody());
	ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 1);
	has(says_back("{\"command\":\"list\"}"), "ok", "true");
	stop_worker(front);
}
END_TEST

/* The line with the token that stands in the file; valid until the next call. */
static const char *with_token(char token[40])
{
	static char line[200];
	OWNED(char_ptr) char *found = get_file(test_run(), "ipc.token");

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(strlen(found), 33);
	(void)snprintf(token, 40, "%.32s", found);
	(void)snprintf(line, sizeof(line), "{\"command\":\"list\",\"auth_token\":\"%s\"}", token);
	return line;
}

START_TEST(where_the_configuration_wants_a_token_each_line_must_carry_it)
{
	char token[40], old[200], wrong[200];

	fresh_store();
	given_front_settings(workspace);
	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('ipc.require_token', 'true', 'file', '2026-01-01T09:00:00.000Z')");
	front = start_worker("mcp-front");
	ck_assert_int_eq(mode_of("ipc.token"), 0600);
	is_refused(says_back("{\"command\":\"list\"}"), "auth_token is missing");
	is_refused(says_back("{\"command\":\"list\",\"auth_token\":7}"), "auth_token is missing");
	is_refused(says_back("{\"command\":\"list\",\"auth_token\":\"\"}"), "not that of");
	has(says_back(with_token(token)), "ok", "true");
	(void)snprintf(old, sizeof(old), "%s", with_token(token));
	(void)snprintf(wrong, sizeof(wrong), "{\"command\":\"list\",\"auth_token\":\"%s0\"}",
	               token);
	is_refused(says_back(wrong), "not that of ipc.token");
	token[31] = token[31] == 'a' ? 'b' : 'a';
	(void)snprintf(wrong, sizeof(wrong), "{\"command\":\"list\",\"auth_token\":\"%s\"}", token);
	is_refused(says_back(wrong), "not that of ipc.token");
	token[31] = '\0';
	(void)snprintf(wrong, sizeof(wrong),
	               "{\"command\":\"task\",\"instruction\":\"x\","
	               "\"auth_token\":\"%s\"}",
	               token);
	is_refused(says_back(wrong), "not that of ipc.token");
	expect("SELECT count(*) FROM steering", "0\n");
	kill_worker(front);
	front = start_worker("mcp-front");
	is_refused(says_back(old), "not that of ipc.token"); /* it was of another start */
	has(says_back(with_token(token)), "ok", "true");
	stop_worker(front);
	ck_assert_int_eq(mode_of("ipc.token"), 0);
	ck_assert_int_eq(mode_of("ipc.sock"), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ipc");
	TCase *c = tcase_create("ipc");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 90);
	tcase_add_test(c, nonsense_is_answered_and_the_connection_goes_on);
	tcase_add_test(c, an_order_that_readers_may_understand_differently_is_not_followed);
	tcase_add_test(c, a_line_that_is_too_long_is_refused_once_and_the_next_one_served);
	tcase_add_test(c, lines_come_in_any_pieces_and_are_answered_in_order);
	tcase_add_test(c, who_closes_the_sending_side_is_answered_still);
	tcase_add_test(c, who_does_not_read_is_not_listened_to_and_nobody_else_waits_for_it);
	tcase_add_test(c, one_caller_too_many_is_told_so_and_has_room_when_another_leaves);
	tcase_add_test(c, of_many_who_answer_at_once_one_is_first);
	tcase_add_test(
	    c, a_front_that_is_killed_in_the_middle_has_answered_or_not_and_asking_again_is_safe);
	tcase_add_test(c, the_socket_is_open_to_our_own_user_only);
	tcase_add_test(c, another_user_is_not_served_whatever_the_modes_are);
	tcase_add_test(c, where_the_configuration_wants_a_token_each_line_must_carry_it);
	suite_add_tcase(s, c);
	return run_suite(s);
}
