#include "hook_case.h"

#include "err.h"
#include "gate_wire.h"
#include "io.h"
#include "json.h"

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

enum { ARGUMENTS_MAX = 20 };

const char WRITE[] = "{\"session_id\":\"s1\",\"cwd\":\"/w\",\"hook_event_name\":\"PreToolUse\","
                     "\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"/w/a\","
                     "\"content\":\"one\\n\"},\"tool_use_id\":\"t1\"}";

char run_directory[200];
static char folder[120];
static char program[PROGRAM_BYTES]; /* instead of the built one, or "" */

static void remove_run_directory(void)
{
	(void)remove_tree(folder);
}

void given_run_directory(void)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(folder, sizeof(folder), "%.80s/hook-XXXXXX", base && *base ? base : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(run_directory, sizeof(run_directory), "%s/run", folder);
	ck_assert_int_eq(mkdir(run_directory, 0700), 0);
	(void)atexit(remove_run_directory);
	(void)signal(SIGPIPE, SIG_IGN);
}

/* ---- the hook ---- */

static _Noreturn void become_hook(const char *arguments, const int in[2], const int out[2],
                                  const int err[2])
{
	char path[PROGRAM_BYTES], words[2000];
	char run[] = "--run", *argv[ARGUMENTS_MAX] = { path }, *rest = words, *word;
	int n = 1;

	if (program[0])
		(void)snprintf(path, sizeof(path), "%s", program);
	else
		test_program("hook", path);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)snprintf(words, sizeof(words), "%s", arguments);
	while ((word = strsep(&rest, " ")) && n < ARGUMENTS_MAX - 3)
		if (*word)
			argv[n++] = word;
	if (!strstr(arguments, "--db") && !strstr(arguments, "--config") &&
	    !strstr(arguments, "--usual")) {
		argv[n++] = run;
		argv[n++] = run_directory;
	} else if (strstr(arguments, "--usual")) {
		n--; /* the last word, which is not for the hook */
	}
	argv[n] = NULL;
	if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0)
		_exit(126);
	(void)execv(path, argv);
	_exit(127);
}

struct hook hook_start(const char *arguments)
{
	struct hook h = { .status = -1 };
	int in[2], out[2], err[2];

	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
	          pipe2(err, O_CLOEXEC) == 0);
	h.pid = fork();
	ck_assert_int_ge(h.pid, 0);
	if (h.pid == 0)
		become_hook(arguments, in, out, err);
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(err[1]);
	h.in = in[1];
	h.out = out[0];
	h.err = err[0];
	return h;
}

void hook_feed_bytes(struct hook *h, const void *bytes, size_t length)
{
	(void)io_write_all(h->in, bytes, length); /* it may have ended */
}

void hook_feed(struct hook *h, const char *text)
{
	hook_feed_bytes(h, text, strlen(text));
}

static void shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void hook_feed_end(struct hook *h)
{
	shut(&h->in);
}

static void drain(int fd, struct str *out)
{
	char bytes[4096];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (fd < 0)
		return;
	for (;;) {
		ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "the hook does not end");
		n = read(fd, bytes, sizeof(bytes));
		if (n <= 0)
			return;
		str_add_bytes(out, bytes, (size_t)n);
	}
}

int hook_end(struct hook *h)
{
	drain(h->out, &h->said);
	drain(h->err, &h->why);
	h->status = end_of(h->pid);
	return h->status;
}

void hook_clear(struct hook *h)
{
	shut(&h->in);
	shut(&h->out);
	shut(&h->err);
	str_clear(&h->said);
	str_clear(&h->why);
}

struct hook given_hook(const char *arguments, const char *input)
{
	struct hook h = hook_start(arguments);

	hook_feed(&h, input);
	hook_feed_end(&h);
	return h;
}

struct hook given_hook_beside(const char *script, const char *arguments, const char *input)
{
	char built[PROGRAM_BYTES], command[3 * PROGRAM_BYTES];
	struct hook h;

	test_program("hook", built);
	(void)snprintf(command, sizeof(command),
	               "cp -f '%s' '%s/hook' && cd '%s' && printf '#!/bin/sh\\n%%s\\n' '%s' "
	               ">agent-intercom && chmod +x agent-intercom",
	               built, folder, folder, script);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
	(void)snprintf(program, sizeof(program), "%s/hook", folder);
	h = given_hook(arguments, input);
	program[0] = '\0';
	return h;
}

void is_denied(struct hook *h, const char *part)
{
	OWNED(cJSON_ptr) cJSON *said = NULL;
	const cJSON *specific;
	const char *end = NULL;
	int status = hook_end(h);

	ck_assert_msg(status == 2, "status %d: %s%s", status, str_text(&h->said),
	              str_text(&h->why));
	said = cJSON_ParseWithOpts(str_text(&h->said), &end, false);
	ck_assert_msg(said && strcmp(end, "\n") == 0, "not one line of JSON: %s",
	              str_text(&h->said));
	ck_assert_ptr_eq(strchr(str_text(&h->said), '\n'), str_text(&h->said) + h->said.length - 1);
	specific = cJSON_GetObjectItemCaseSensitive(said, "hookSpecificOutput");
	ck_assert_str_eq(json_text(specific, "permissionDecision"), "deny");
	ck_assert_msg(strstr(json_text(specific, "permissionDecisionReason"), part) != NULL, "%s",
	              str_text(&h->said));
	ck_assert_msg(strstr(str_text(&h->why), part) != NULL, "%s", str_text(&h->why));
	hook_clear(h);
}

void is_said(struct hook *h, const char *said)
{
	int status = hook_end(h);

	if (h->said.length && h->said.bytes[h->said.length - 1] == '\n')
		h->said.bytes[--h->said.length] = '\0';
	ck_assert_str_eq(str_text(&h->said), said);
	ck_assert_msg(status == 0, "status %d: %s", status, str_text(&h->why));
	ck_assert_str_eq(str_text(&h->why), "");
	hook_clear(h);
}

/* ---- the front ---- */

struct front given_front(void)
{
	struct front f = { .fd = -1 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.90s/mcp.sock", run_directory);
	(void)unlink(a.sun_path);
	f.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert(bind(f.listener, (const struct sockaddr *)&a, sizeof(a)) == 0);
	ck_assert(listen(f.listener, 8) == 0);
	return f;
}

/* The next line in f->in, which is cut off the front by the caller. */
static char *next_line(struct front *f)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };
	char bytes[65536];
	char *end, *line;
	ssize_t n;

	while (!(end = f->in.length ? memchr(f->in.bytes, '\n', f->in.length) : NULL)) {
		ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "the hook asks nothing");
		n = read(f->fd, bytes, sizeof(bytes));
		ck_assert_msg(n > 0, "the hook has hung up: %s", str_text(&f->in));
		str_add_bytes(&f->in, bytes, (size_t)n);
	}
	line = strndup(f->in.bytes, (size_t)(end - f->in.bytes));
	drop(&f->in, (size_t)(end - f->in.bytes) + 1);
	return line;
}

/* Whose hook it is, from its greeting. */
static void know(struct front *f, const char *greeting)
{
	OWNED(cJSON_ptr) cJSON *hello = cJSON_Parse(greeting);

	ck_assert_msg(cJSON_HasObjectItem(hello, "agent-intercom"), "%s", greeting);
	f->host = gate_host_named(json_text(hello, "hook"));
	ck_assert_ptr_nonnull(f->host);
	(void)snprintf(f->event, sizeof(f->event), "%s", json_text(hello, "event"));
}

const char *front_hears(struct front *f)
{
	static struct str question;
	OWNED(char_ptr) char *hello = NULL, *params = NULL, *input = NULL;
	struct pollfd p = { .fd = f->listener, .events = POLLIN };

	ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "no hook comes");
	f->fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(f->fd, 0);
	hello = next_line(f);
	know(f, hello);
	front_says(f, "{\"agent-intercom\":1,\"key\":\"k\"}\n");
	params = next_line(f);
	input = next_line(f);
	str_clear(&question);
	gate_wire_add_question(&question, params, strlen(params));
	question.length -= strlen("}}");
	str_addf(&question, ",\"input\":%s}}", input);
	return question.bytes;
}

void front_says(const struct front *f, const char *bytes)
{
	(void)io_write_all(f->fd, bytes, strlen(bytes));
}

void front_words(const struct front *f, const char *message)
{
	OWNED(str) struct str words = { 0 };

	gate_wire_add_message(&words, f->host, f->event, message, strlen(message));
	front_says(f, str_text(&words));
}

void front_answers(const struct front *f, const char *result)
{
	OWNED(str) struct str message = { 0 };

	str_addf(&message, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}", result);
	front_words(f, str_text(&message));
}

void front_hangs_up(struct front *f)
{
	shut(&f->fd);
	str_clear(&f->in);
}

void front_ends(struct front *f)
{
	front_hangs_up(f);
	shut(&f->listener);
}
