/* The IPC socket of mcp-front, over the real socket: each command becomes its row, and whoever
 * sends nonsense, too much, or reads nothing, gets an error and costs the others nothing. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LINE = 128 << 10, MAX_CALLERS = 64 }; /* as in ipc.c */

static char workspace[600];
static pid_t front;

/* ---- given ---- */

static void given_front(void)
{
	fresh_store();
	given_front_settings(workspace);
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      "                     last_tool, created_at, updated_at)"
	      " VALUES (1, 'agent', 'h', 'local:tester', '/w', 'active', 'hybrid', 'ping',"
	      "         '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
	front = start_worker("mcp-front");
}

/* A question that waits; columns and values: what its kind has besides. */
static void given_question(const char *kind, const char *columns, const char *values)
{
	static int count;
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO request (id, session_seq, kind, state, digest, title, created_at,"
	         "                     updated_at%s)"
	         " VALUES ('ask-%d', 1, '%s', 'pending', printf('%%064d', %d), 'Title',"
	         "         '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'%s)",
	         columns, count, kind, count, values);
	count++;
	given(sql.bytes);
}

static void given_clearance(void)
{
	given_question("clearance", ", file_path, risk_level, original_hash",
	               ", 'a.txt', 'low', 'new_file'");
}

static void given_prompt(void)
{
	given_question("prompt", ", prompt_type", ", 'continuation'");
}

static void given_standby(void)
{
	given_question("standby", "", "");
}

/* The value of a query, without its newline; valid until the fourth call after. */
static const char *value(const char *sql)
{
	static char *kept[4];
	static unsigned turn;
	char **text = &kept[turn++ % COUNT(kept)];

	free(*text);
	*text = rows(sql);
	(*text)[strcspn(*text, "\n")] = '\0';
	return *text;
}

#define NEWEST "SELECT id FROM request ORDER BY seq DESC LIMIT 1"

/* ---- a caller ---- */

struct caller {
	int fd;
	struct str in;
};

static int connect_in(int dir)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/ipc.sock", dir);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static struct caller call_in(void)
{
	int dir = open(test_run(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct caller c = { .fd = connect_in(dir) };

	ck_assert_int_ge(c.fd, 0);
	(void)close(dir);
	return c;
}

static void hang_up(struct caller *c)
{
	(void)close(c->fd);
	str_clear(&c->in);
}

static void send_bytes(const struct caller *c, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = send(c->fd, bytes, length, MSG_NOSIGNAL);

		ck_assert_msg(n > 0, "send: %s", strerror(errno));
		bytes += n;
		length -= (size_t)n;
	}
}

static void send_line(const struct caller *c, const char *line)
{
	send_bytes(c, line, strlen(line));
	send_bytes(c, "\n", 1);
}

/* The next line, without its end; NULL: the other side has hung up. The caller frees. */
static char *next_line(struct caller *c)
{
	char part[65536], *end;
	ssize_t n;

	while (!(end = c->in.length ? memchr(c->in.bytes, '\n', c->in.length) : NULL)) {
		struct pollfd p = { .fd = c->fd, .events = POLLIN };

		ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "no answer comes");
		n = recv(c->fd, part, sizeof(part), 0);
		if (n <= 0)
			return NULL;
		str_add_bytes(&c->in, part, (size_t)n);
	}
	*end = '\0';
	char *line = xstrdup(c->in.bytes);
	size_t used = (size_t)(end - c->in.bytes) + 1;

	memmove(c->in.bytes, end + 1, c->in.length - used);
	c->in.length -= used;
	return line;
}

/* Sends a line on a connection of its own; the answer, valid until the fourth call after. */
static const char *says_back(const char *line)
{
	static char *kept[4];
	static unsigned turn;
	char **text = &kept[turn++ % COUNT(kept)];
	struct caller c = call_in();

	send_line(&c, line);
	free(*text);
	*text = next_line(&c);
	ck_assert_ptr_nonnull(*text);
	hang_up(&c);
	return *text;
}

/* A command about an id, with further members (each with a comma before it) or "". */
static const char *order(const char *command, const char *id, const char *more)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "{\"command\":\"%s\",\"id\":\"%s\"%s}", command, id, more);
	return says_back(line.bytes);
}

static void is_done(const char *reply, const char *status)
{
	has(reply, "ok", "true");
	has(reply, "data.status", status);
}

static void is_refused(const char *reply, const char *part)
{
	has(reply, "ok", "false");
	says(member(reply, "error"), part);
}

/* ---- each command ---- */

START_TEST(each_answer_is_a_decision_from_the_socket)
{
	given_front();
	given_clearance();
	is_done(order("approve", value(NEWEST), ""), "approved");
	given_clearance();
	is_done(order("approve", value(NEWEST), ",\"note\":\"rename it next\""), "approved");
	expect("SELECT text, source FROM steering", "rename it next|socket\n");
	given_clearance();
	is_done(order("reject", value(NEWEST), ",\"reason\":\"no tests\""), "rejected");
	given_clearance();
	is_done(order("reject", value(NEWEST), ""), "rejected");
	given_prompt();
	is_done(order("continue", value(NEWEST), ""), "answered");
	given_prompt();
	is_refused(order("refine", value(NEWEST), ""), "refine needs an instruction");
	is_done(order("refine", value(NEWEST), ",\"instruction\":\"use tabs\""), "answered");
	given_prompt();
	is_done(order("stop", value(NEWEST), ""), "answered");
	given_standby();
	has(order("resume", value("SELECT id FROM session"), ",\"instruction\":\"next\""),
	    "data.status", "resumed");
	given_standby();
	has(says_back("{\"command\":\"resume\"}"), "data.session_id",
	    value("SELECT id FROM session"));
	is_refused(says_back("{\"command\":\"resume\"}"), "nothing waits for `resume`");
	expect("SELECT verdict, outcome, source, operator_id, coalesce(reason, instruction, '')"
	       "  FROM decision ORDER BY seq",
	       "approve|applied|socket|local:tester|\n"
	       "approve|applied|socket|local:tester|rename it next\n"
	       "reject|applied|socket|local:tester|no tests\n"
	       "reject|applied|socket|local:tester|rejected via ipc\n"
	       "continue|applied|socket|local:tester|\n"
	       "refine|malformed|socket|local:tester|\n"
	       "refine|applied|socket|local:tester|use tabs\n"
	       "stop|applied|socket|local:tester|\n"
	       "resume|applied|socket|local:tester|next\n"
	       "resume|applied|socket|local:tester|\n");
	stop_worker(front);
}
END_TEST

START_TEST(each_order_is_a_command_and_each_word_to_an_agent_a_steering)
{
	const char *session;

	given_front();
	session = value("SELECT id FROM session");
	is_done(order("steer", session, ",\"instruction\":\"leave the tests\""), "accepted");
	is_done(says_back("{\"command\":\"task\",\"instruction\":\"then the docs\"}"), "accepted");
	is_refused(order("steer", "nobody", ",\"instruction\":\"x\""), "there is no such session");
	is_refused(order("steer", session, ""), "instruction is missing");
	is_done(order("session-pause", session, ""), "done");
	expect("SELECT status FROM session", "paused\n");
	is_done(order("session-resume", session, ""), "done");
	expect("SELECT status FROM session", "active\n");
	has(order("mode", session, ",\"mode\":\"local\""), "data.current_mode", "local");
	is_refused(order("mode", session, ",\"mode\":\"odd\""), "");
	is_refused(says_back("{\"command\":\"mode\"}"), "mode is missing");
	is_refused(order("undo", "0190", ""), "");
	is_done(order("session-stop", session, ""), "done");
	expect("SELECT status FROM session", "terminated\n");
	expect("SELECT kind, outcome, source, text FROM steering ORDER BY seq",
	       "steer|accepted|socket|leave the tests\ntask|accepted|socket|then the docs\n"
	       "steer|not_found|socket|x\n");
	expect("SELECT verb, outcome, source FROM command ORDER BY seq",
	       "pause|done|socket\nresume|done|socket\nmode|done|socket\nmode|malformed|socket\n"
	       "undo|not_found|socket\nstop|done|socket\n");
	stop_worker(front);
}
END_TEST

START_TEST(the_inbox_says_what_an_approval_lets_happen_and_a_long_command_needs_its_digest)
{
	OWNED(str) struct str line = { 0 };
	OWNED(char_ptr) char *digest = NULL;
	const char *list;

	given_front();
	given_clearance();
	given("INSERT INTO request_file (request_seq, path, target, action, mode, original_hash)"
	      " SELECT seq, 'run.sh', 'run.sh', 'create', 33261, 'new_file' FROM request");
	given_question("permission", ", body",
	               ", (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
	               " i < 60) SELECT group_concat('echo ' || i, char(10)) FROM n)");
	list = says_back("{\"command\":\"inbox\"}");
	has(list, "data.questions.0.changes.0", "create run.sh (mode 755)");
	says(member(list, "data.questions.1.command"), "echo 40\n... ");
	has(list, "data.questions.1.is_whole", "false");
	str_addf(&line, "{\"command\":\"approve\",\"id\":\"%s\"}",
	         member(list, "data.questions.1.request_id"));
	is_refused(says_back(line.bytes), "the inbox does not show all of these");
	expect("SELECT count(*) FROM decision", "0\n");
	digest = rows("SELECT digest FROM request WHERE kind = 'permission'");
	str_reset(&line);
	str_addf(&line, "{\"command\":\"approve\",\"id\":\"%s\",\"digest\":\"%.64s\"}",
	         member(list, "data.questions.1.request_id"), digest);
	has(says_back(line.bytes), "ok", "true");
}
END_TEST

START_TEST(sessions_and_questions_are_listed)
{
	const char *list;

	given_front();
	has(says_back("{\"command\":\"inbox\"}"), "data.questions", "[]");
	given_clearance();
	list = says_back("{\"command\":\"inbox\"}");
	has(list, "data.questions.0.request_id", value(NEWEST));
	has(list, "data.questions.0.kind", "clearance");
	has(list, "data.questions.0.file_path", "a.txt");
	has(list, "data.questions.0.state", "pending");
	list = says_back("{\"command\":\"list\",\"unknown\":[1,{}]}");
	has(list, "data.sessions.0.session_id", value("SELECT id FROM session"));
	has(list, "data.sessions.0.status", "active");
	has(list, "data.sessions.0.last_tool", "ping");
	given("WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"
	      "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      "                     created_at, updated_at)"
	      " SELECT 's' || i, 'h', 'local:tester', '/w', 'active', 'local',"
	      "        '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z' FROM n");
	list = says_back("{\"command\":\"list\"}");
	has(list, "data.more", "true");
	has(list, "data.sessions.999.session_id", "s1098");
	has(list, "data.sessions.1000", "");
	stop_worker(front);
}
END_TEST

START_TEST(an_agent_is_started_and_its_session_restarted_and_ended)
{
	OWNED(char_ptr) char *id = NULL;
	OWNED(str) struct str line = { 0 };

	given_front();
	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('system.machine', 'h', 'system', '2026-01-01T09:00:00.000Z'),"
	      " ('workspace', '[{\"id\":\"web\",\"path\":\"/ws/web\"}]', 'file',"
	      "  '2026-01-01T09:00:00.000Z');"
	      "INSERT INTO agent (name, command, args, protocol, env_pass, env_set, acp_version,"
	      "  startup_timeout_ms, max_line_length, framing, is_default, is_builtin, updated_at)"
	      " VALUES ('claude', 'claude', '[]', 'mcp', '[]', '{}', 'auto', 1, 1, 'ndjson', 0, 1,"
	      "  '2026-01-01T09:00:00.000Z')");
	has(says_back("{\"command\":\"session-start\"}"), "error", "ipc: prompt is missing");
	has(says_back("{\"command\":\"session-start\",\"prompt\":\"fix it\",\"agent\":\"clod\"}"),
	    "error", "there is no agent 'clod'; there are: claude");
	has(says_back("{\"command\":\"session-start\",\"prompt\":\"--agent x\","
	              "\"agent\":\"claude\",\"workspace\":\"web\"}"),
	    "data.status", "ordered");
	expect("SELECT prompt, workspace_root, owner_user_id FROM session WHERE origin = 'started'",
	       "--agent x|/ws/web|local:tester\n");
	id = rows("SELECT id FROM session WHERE origin = 'started'");
	id[strcspn(id, "\n")] = '\0';
	str_addf(&line, "{\"command\":\"session-restart\",\"id\":\"%s\"}", id);
	has(says_back(str_text(&line)), "data.restart_of", id);
	str_reset(&line);
	str_addf(&line, "{\"command\":\"session-stop\",\"id\":\"%s\"}",
	         value("SELECT id FROM session WHERE restart_of IS NOT NULL"));
	has(says_back(str_text(&line)), "data.status", "done");
	expect("SELECT outcome FROM agent_run", "stopped\nstopped\n");
	stop_worker(front);
}
END_TEST

START_TEST(an_answer_reaches_the_agent_that_waits)
{
	OWNED(char_ptr) char *asked = proposal("a.txt", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	struct agent agent;
	struct wire w;

	given_front();
	agent = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&agent, &w, "check_clearance", asked, NULL);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	is_done(order("approve", value(NEWEST), ""), "approved");
	answer = agent_end(&w);
	has(answer, "status", "approved");
	stop_worker(front);
}
END_TEST

START_TEST(what_is_said_twice_is_done_once_and_the_second_is_told_how_it_stands)
{
	given_front();
	given_clearance();
	is_done(order("approve", value(NEWEST), ""), "approved");
	is_refused(order("approve", value(NEWEST), ""), "already approved by local:tester");
	is_refused(order("reject", value(NEWEST), ""), "already approved by local:tester");
	expect("SELECT outcome FROM decision ORDER BY seq", "applied\nduplicate\nduplicate\n");
	is_refused(order("approve", "0190-nothing", ""),
	           "no question has an id that begins with '0190-nothing'");
	given_prompt();
	is_refused(order("approve", value(NEWEST), ""), "a prompt takes: continue");
	stop_worker(front);
}
END_TEST

START_TEST(in_remote_mode_only_slack_answers)
{
	given_front();
	given_clearance();
	given_mode("remote");
	is_refused(order("approve", value(NEWEST), ""), "the session is in remote mode");
	expect("SELECT state FROM request", "pending\n");
	stop_worker(front);
}
END_TEST

/* ---- bytes ---- */

START_TEST(nonsense_is_answered_and_the_connection_goes_on)
{
	static const struct {
		const char *line, *part;
	} CASES[] = {
		{ "", "not a JSON object" },
		{ "x", "not a JSON object" },
		{ "[]", "not a JSON object" },
		{ "null", "not a JSON object" },
		{ "{", "not a JSON object" },
		{ "{\"command\":\"list\"", "not a JSON object" },
		{ "\xff\xfe", "not a JSON object" },
		{ "{\"command\":\"li\xff\"}", "not a JSON object" },
		{ "{}", "command is missing" },
		{ "{\"command\":7}", "command is missing" },
		{ "{\"command\":null}", "command is missing" },
		{ "{\"command\":\"\"}", "unknown command ''" },
		{ "{\"command\":\"LIST\"}", "there are approve, reject, choose, continue" },
		{ "{\"command\":\"drop\\u0000list\"}", "unknown command" },
		{ "{\"command\":\"approve\"}", "id is missing" },
		{ "{\"command\":\"approve\",\"id\":7}", "id is missing" },
		{ "{\"command\":\"approve\",\"id\":[\"x\"]}", "id is missing" },
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
		is_refused(reply, CASES[i].part);
	}
	send_bytes(&c, "{\"command\":\0\"list\"}\n", 20);
	char *nul = next_line(&c);
	is_refused(nul, "not a JSON object");
	free(nul);
	send_line(&c, "{\"command\":\"list\"}\r");
	char *list = next_line(&c);
	has(list, "ok", "true");
	free(list);
	hang_up(&c);
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

/* Sends as much as is taken without reading; how many whole lines that were. */
static int send_all_that_goes(const struct caller *c, const char *line)
{
	size_t length = strlen(line), sent = 0;
	int idle = 0;

	(void)fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
	while (idle < 3) {
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
	sent = send_all_that_goes(&c, "{\"command\":\"list\"}\n");
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
	tcase_add_test(
	    c, the_inbox_says_what_an_approval_lets_happen_and_a_long_command_needs_its_digest);
	tcase_add_test(c, each_answer_is_a_decision_from_the_socket);
	tcase_add_test(c, each_order_is_a_command_and_each_word_to_an_agent_a_steering);
	tcase_add_test(c, sessions_and_questions_are_listed);
	tcase_add_test(c, an_agent_is_started_and_its_session_restarted_and_ended);
	tcase_add_test(c, an_answer_reaches_the_agent_that_waits);
	tcase_add_test(c, what_is_said_twice_is_done_once_and_the_second_is_told_how_it_stands);
	tcase_add_test(c, in_remote_mode_only_slack_answers);
	tcase_add_test(c, nonsense_is_answered_and_the_connection_goes_on);
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
