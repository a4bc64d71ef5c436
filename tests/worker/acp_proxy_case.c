#include "acp_proxy_case.h"

#include "instance.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { TEXTS = 8 };

/* The agent: what the proxy says goes into one FIFO, what it hears comes from the other. */
static const char AGENT[] = "exec 3<&0; cat <&3 >\"$1\" & exec cat \"$0\"";

static const char *text_of(struct str *made)
{
	static char *texts[TEXTS];
	static size_t next;
	char **at = &texts[next++ % TEXTS];

	free(*at);
	*at = str_take(made);
	return *at;
}

const char COMMAND[] =
    "{\"toolCallId\":\"c1\",\"kind\":\"execute\",\"title\":\"Run\",\"rawInput\":{\"command\":"
    "\"npm test\"}}";

/* ---- the front's socket ---- */

static int listen_at(const char *folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/%.25s", folder, name);
	(void)unlink(address.sun_path);
	ck_assert_msg(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0, "%s: %s",
	              address.sun_path, strerror(errno));
	ck_assert_int_eq(listen(listener, 200), 0);
	return listener;
}

void front_returns(struct trio *a)
{
	a->listener = listen_at(a->run, "mcp.sock");
}

void front_leaves(struct trio *a)
{
	int run = open(a->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = { 0 };

	ck_assert_msg(instance_mark_stopped(run, "", &e) == 0, "%s", e.text);
	(void)close(run);
	(void)close(a->listener);
	(void)unlink(below(a->run, "mcp.sock"));
	a->listener = -1;
}

/* ---- starting ---- */

static void run_proxy(const struct trio *a, const int in[2], const int out[2], const int err[2],
                      const char *option, const char *to, const char *from)
{
	char path[PROGRAM_BYTES], db[400];
	const char *argv[12] = { "agent-intercom", "acp" };
	int n = 2;

	(void)snprintf(db, sizeof(db), "--db=%s", a->database);
	if (a->database[0])
		argv[n++] = db;
	if (option)
		argv[n++] = option;
	argv[n++] = "sh";
	argv[n++] = "-c";
	argv[n++] = AGENT;
	argv[n++] = from;
	argv[n++] = to;
	test_program("agent-intercom", path);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chdir(a->folder) != 0 || dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 ||
	    dup2(err[1], 2) < 0)
		_exit(126);
	(void)execv(path, (char *const *)argv);
	_exit(127);
}

struct trio trio_start(const char *folder, const char *database, const char *option)
{
	struct trio a = { .listener = -1 };
	const char *fifos = short_scratch();
	OWNED(str) struct str to = { 0 };
	OWNED(str) struct str from = { 0 };
	int in[2], out[2], err[2];

	(void)signal(SIGPIPE, SIG_IGN);
	(void)snprintf(a.folder, sizeof(a.folder), "%s", folder);
	(void)snprintf(a.database, sizeof(a.database), "%s", database);
	str_addf(&to, "%s/to", fifos);
	str_addf(&from, "%s/from", fifos);
	ck_assert(mkfifo(to.bytes, 0600) == 0 && mkfifo(from.bytes, 0600) == 0);
	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
	          pipe2(err, O_CLOEXEC) == 0);
	a.pid = fork();
	ck_assert_int_ge(a.pid, 0);
	if (a.pid == 0)
		run_proxy(&a, in, out, err, option, to.bytes, from.bytes);
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(err[1]);
	a.err = err[0];
	a.editor = (struct party){ .in = in[1], .out = out[0] };
	a.agent.out = open(to.bytes, O_RDONLY | O_CLOEXEC);
	a.agent.in = open(from.bytes, O_WRONLY | O_CLOEXEC);
	ck_assert(a.agent.out >= 0 && a.agent.in >= 0);
	return a;
}

/* The run directory of a database that nobody serves yet: there the test is the front. */
static void open_run(struct trio *a, const char *database)
{
	struct paths paths = { 0 };
	struct err e = { 0 };

	ck_assert_msg(paths_open(database, true, &paths, &e) == 0, "%s", e.text);
	(void)snprintf(a->run, sizeof(a->run), "%s", paths.run);
	paths_clear(&paths);
	front_returns(a);
}

/* A workspace "w" and a runtime directory "r". */
static void make_home(struct str *home)
{
	str_add(home, short_scratch());
	ck_assert_int_eq(mkdir(below(home->bytes, "w"), 0755), 0);
	ck_assert_int_eq(mkdir(below(home->bytes, "r"), 0700), 0);
	ck_assert(setenv("XDG_RUNTIME_DIR", below(home->bytes, "r"), 1) == 0);
}

struct trio given_activated_trio(void)
{
	static const char *const OTHERS[] = { "XDG_CONFIG_HOME", "XDG_STATE_HOME",
		                              "INTERCOM_CONFIG" };
	OWNED(str) struct str home = { 0 };
	struct trio a;
	int listener;

	make_home(&home);
	ck_assert_int_eq(setenv("HOME", home.bytes, 1), 0);
	for (size_t i = 0; i < COUNT(OTHERS); i++)
		(void)unsetenv(OTHERS[i]);
	listener = listen_at(below(home.bytes, "r"), "agent-intercom.sock");
	a = trio_start(below(home.bytes, "w"), "", NULL);
	a.listener = listener;
	opened(&a, a.folder, "s1");
	return a;
}

struct trio given_trio_without_session(const char *option)
{
	OWNED(str) struct str home = { 0 };
	OWNED(str) struct str database = { 0 };
	struct trio front = { .listener = -1 }, a;

	make_home(&home);
	str_addf(&database, "%s/s/t.db", home.bytes);
	open_run(&front, database.bytes);
	a = trio_start(below(home.bytes, "w"), database.bytes, option);
	memcpy(a.run, front.run, sizeof(a.run));
	a.listener = front.listener;
	return a;
}

struct trio given_trio(const char *option)
{
	struct trio a = given_trio_without_session(option);

	opened(&a, a.folder, "s1");
	return a;
}

/* ---- parties ---- */

static void say(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);

		ck_assert_msg(n > 0, "nobody reads: %s", strerror(errno));
		bytes += n;
		length -= (size_t)n;
	}
}

void party_say(struct party *p, const char *line)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "%s\n", line);
	say(p->in, text.bytes, text.length);
}

static char *hear(int fd, struct str *bytes, const char *who)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *end, *line;

	while (!bytes->length || !(end = memchr(bytes->bytes, '\n', bytes->length))) {
		char piece[65536];
		ssize_t n;

		ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "the %s hears nothing", who);
		n = read(fd, piece, sizeof(piece));
		if (n <= 0)
			return NULL;
		str_add_bytes(bytes, piece, (size_t)n);
	}
	line = strndup(bytes->bytes, (size_t)(end - bytes->bytes));
	drop(bytes, (size_t)(end - bytes->bytes) + 1);
	return line;
}

char *party_hear(struct party *p)
{
	return hear(p->out, &p->bytes, "editor or the agent");
}

void hears(struct party *p, const char *line)
{
	OWNED(char_ptr) char *got = party_hear(p);

	ck_assert_ptr_nonnull(got);
	ck_assert_str_eq(got, line);
}

void hears_part(struct party *p, const char *part)
{
	OWNED(char_ptr) char *got = party_hear(p);

	ck_assert_ptr_nonnull(got);
	says(got, part);
}

void passes(struct party *from, const char *bytes, size_t length, struct party *to)
{
	int flags = fcntl(from->in, F_GETFL);
	size_t sent = 0, got = 0;

	(void)fcntl(from->in, F_SETFL, flags | O_NONBLOCK);
	while (got < length) {
		struct pollfd p[] = { { .fd = sent < length ? from->in : -1, .events = POLLOUT },
			              { .fd = to->out, .events = POLLIN } };
		char piece[65536];
		ssize_t n;

		ck_assert_msg(poll(p, 2, AGENT_PATIENCE_MS) > 0, "%zu of %zu bytes come", got,
		              length);
		if (p[0].revents) {
			n = write(from->in, bytes + sent, length - sent);
			ck_assert(n > 0 || errno == EAGAIN);
			sent += n > 0 ? (size_t)n : 0;
		}
		if (!p[1].revents)
			continue;
		n = read(to->out, piece, sizeof(piece));
		ck_assert_int_gt(n, 0);
		ck_assert_msg((size_t)n <= length - got &&
		                  memcmp(piece, bytes + got, (size_t)n) == 0,
		              "other bytes come after %zu", got);
		got += (size_t)n;
	}
	(void)fcntl(from->in, F_SETFL, flags);
}

void hears_nothing_but_marks(struct trio *a)
{
	static int count;
	OWNED(str) struct str mark = { 0 };

	str_addf(&mark, "{\"method\":\"_mark\",\"params\":{\"n\":%d}}", ++count);
	party_say(&a->agent, mark.bytes);
	hears(&a->editor, mark.bytes);
	party_say(&a->editor, mark.bytes);
	hears(&a->agent, mark.bytes);
}

void party_close(struct party *p)
{
	if (p->in >= 0)
		(void)close(p->in);
	p->in = -1;
}

void editor_opens(struct trio *a, const char *folder, const char *answer)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/new\",\"params\":{"
	         "\"cwd\":\"%s\",\"mcpServers\":[]}}",
	         folder);
	party_say(&a->editor, line.bytes);
	hears(&a->agent, line.bytes);
	party_say(&a->agent, answer);
}

void opened(struct trio *a, const char *folder, const char *session)
{
	OWNED(str) struct str answer = { 0 };

	str_addf(&answer, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"sessionId\":\"%s\"}}",
	         session);
	editor_opens(a, folder, answer.bytes);
	hears(&a->editor, answer.bytes);
}

/* ---- the front ---- */

struct asked front_hears(struct trio *a)
{
	static const char GREETING[] = "{\"agent-intercom\":1,\"key\":\"k\"}\n";
	struct pollfd p = { .fd = a->listener, .events = POLLIN };
	OWNED(char_ptr) char *greeting = NULL;
	OWNED(char_ptr) char *line = NULL;
	struct asked q = { .fd = -1 };

	ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "the front is asked nothing");
	q.fd = accept4(a->listener, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(q.fd, 0);
	greeting = hear(q.fd, &q.bytes, "front");
	has(greeting, "hook", "acp");
	say(q.fd, GREETING, sizeof(GREETING) - 1);
	line = hear(q.fd, &q.bytes, "front");
	has(line, "method", "intercom/hook");
	has(line, "params.host", "acp");
	q.params = xstrdup(line);
	return q;
}

void front_asks(struct asked *q, bool editor)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"method\":\"intercom/asked\",\"params\":{\"editor\":%s}}\n",
	         editor ? "true" : "false");
	say(q->fd, line.bytes, line.length);
}

void front_decides(struct asked *q, const char *decision, const char *reason)
{
	OWNED(str) struct str line = { 0 };

	str_addf(
	    &line,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":\"%s\",\"reason\":\"%s\"}}\n",
	    decision, reason);
	say(q->fd, line.bytes, line.length);
}

void front_says(struct asked *q, const char *line)
{
	say(q->fd, line, strlen(line));
	say(q->fd, "\n", 1);
}

void front_takes(struct asked *q, const char *verdict, const char *outcome)
{
	OWNED(char_ptr) char *line = hear(q->fd, &q->bytes, "front");
	OWNED(str) struct str reply = { 0 };

	ck_assert_msg(line != NULL, "the question was given up");
	has(line, "method", "intercom/decide");
	has(line, "params.verdict", verdict);
	str_addf(&reply, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"outcome\":\"%s\"}}\n",
	         outcome);
	say(q->fd, reply.bytes, reply.length);
}

void front_sees_it_closed(struct asked *q)
{
	OWNED(char_ptr) char *line = hear(q->fd, &q->bytes, "front");

	ck_assert_msg(line == NULL, "not closed: %s", line);
}

void asked_clear(struct asked *q)
{
	if (q->fd >= 0)
		(void)close(q->fd);
	free(q->params);
	str_clear(&q->bytes);
}

struct asked given_permission(struct trio *a, const char *id)
{
	const char *line = permission(id, COMMAND);
	struct asked q;

	party_say(&a->agent, line);
	q = front_hears(a);
	front_asks(&q, true);
	hears(&a->editor, line);
	return q;
}

void is_asked_once_more(struct trio *a, struct asked *q, const char *line)
{
	struct asked again;

	front_decides(q, "allow", "");
	again = front_hears(a);
	hears_nothing_but_marks(a);
	front_decides(&again, "allow", "");
	hears(&a->editor, line);
	asked_clear(q);
	asked_clear(&again);
}

/* ---- a whole system ---- */

struct trio given_trio_on(const struct site *s)
{
	struct trio a = trio_start(s->workspace, s->database, NULL);

	opened(&a, a.folder, "s1");
	return a;
}

void waits(int count)
{
	char text[20];

	(void)snprintf(text, sizeof(text), "%d\n", count);
	expect_soon("SELECT count(*) FROM request AS r JOIN tool_call AS t ON t.request_seq = r.seq"
	            " WHERE r.state = 'pending' AND t.state = 'waiting'",
	            text);
}

void given_command_that_waits(struct trio *a)
{
	const char *line = permission("0", COMMAND);

	party_say(&a->agent, line);
	hears(&a->editor, line);
	waits(1);
}

/* ---- messages ---- */

const char *permission(const char *id, const char *tool_call)
{
	struct str text = { 0 };

	str_addf(&text,
	         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"session/request_permission\","
	         "\"params\":{\"sessionId\":\"s1\",\"toolCall\":%s,\"options\":["
	         "{\"optionId\":\"always\",\"name\":\"Always\",\"kind\":\"allow_always\"},"
	         "{\"optionId\":\"yes\",\"name\":\"Yes\",\"kind\":\"allow_once\"},"
	         "{\"optionId\":\"no\",\"name\":\"No\",\"kind\":\"reject_once\"}]}}",
	         id, tool_call);
	return text_of(&text);
}

const char *path_in(const struct trio *a, const char *name)
{
	struct str text = { 0 };

	str_addf(&text, "%s/%s", a->folder, name);
	return text_of(&text);
}

const char *write_of(const struct trio *a, const char *id, const char *name, const char *content)
{
	struct str text = { 0 };

	str_addf(&text,
	         "{ \"id\":%s, \"jsonrpc\":\"2.0\", \"method\":\"fs/write_text_file\",\"params\":{"
	         "\"sessionId\":\"s1\",\"path\":\"%s/%s\",\"content\":\"%s\"}}",
	         id, a->folder, name, content);
	return text_of(&text);
}

const char *terminal(const char *id, const char *rest)
{
	struct str text = { 0 };

	str_addf(&text,
	         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"terminal/create\",\"params\":{"
	         "\"sessionId\":\"s1\",%s}}",
	         id, rest);
	return text_of(&text);
}

const char *chosen(const char *id, const char *option)
{
	struct str text = { 0 };

	str_addf(&text,
	         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"outcome\":{\"outcome\":\"selected\","
	         "\"optionId\":\"%s\"}}}",
	         id, option);
	return text_of(&text);
}

void trio_ends(struct trio *a, int status)
{
	party_close(&a->editor);
	party_close(&a->agent);
	ck_assert_int_eq(end_of(a->pid), status);
	(void)close(a->editor.out);
	(void)close(a->agent.out);
	(void)close(a->err);
	if (a->listener >= 0)
		(void)close(a->listener);
	str_clear(&a->editor.bytes);
	str_clear(&a->agent.bytes);
}
