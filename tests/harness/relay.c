#include "relay.h"

#include "agent.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void start(struct relay *r, const char *folder, const char *path, const char *const *argv,
                  char *const *environment)
{
	int in[2], out[2];

	*r = (struct relay){ .id = 0 };
	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	r->pid = fork();
	ck_assert_int_ge(r->pid, 0);
	if (r->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(folder) != 0 || dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0)
			_exit(126);
		(void)execvpe(path, (char *const *)argv, environment ? environment : environ);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	r->in = in[1];
	r->out = out[0];
}

void relay_start(struct relay *r, const char *folder, char *const *environment,
                 const char *const *arguments)
{
	const char *argv[20] = { "agent-intercom", "mcp" };
	char path[PROGRAM_BYTES];
	int n = 2;

	test_program("agent-intercom", path);
	while (arguments && *arguments && n < 19)
		argv[n++] = *arguments++;
	start(r, folder, path, argv, environment);
}

void relay_start_as(struct relay *r, const char *folder, const char *const *argv)
{
	start(r, folder, argv[0], argv, NULL);
}

void relay_send(struct relay *r, const char *line)
{
	size_t left = strlen(line);

	(void)signal(SIGPIPE, SIG_IGN);
	while (left > 0) {
		ssize_t n = write(r->in, line, left);

		ck_assert_msg(n > 0, "the relay takes nothing: %s", strerror(errno));
		line += n;
		left -= (size_t)n;
	}
	ck_assert_int_eq(write(r->in, "\n", 1), 1);
}

char *relay_line(struct relay *r)
{
	struct pollfd p = { .fd = r->out, .events = POLLIN };
	char *end, *line;

	while (!r->bytes.length || !(end = memchr(r->bytes.bytes, '\n', r->bytes.length))) {
		char bytes[8192];
		ssize_t n;

		ck_assert_msg(poll(&p, 1, 2 * AGENT_PATIENCE_MS) == 1, "the relay says nothing");
		n = read(r->out, bytes, sizeof(bytes));
		if (n <= 0)
			return NULL;
		str_add_bytes(&r->bytes, bytes, (size_t)n);
	}
	line = strndup(r->bytes.bytes, (size_t)(end - r->bytes.bytes));
	drop(&r->bytes, (size_t)(end - r->bytes.bytes) + 1);
	return line;
}

void relay_hello(struct relay *r)
{
	OWNED(char_ptr) char *answer = NULL;

	relay_send(r, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	              "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
	              "\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}}");
	answer = relay_line(r);
	ck_assert_ptr_nonnull(answer);
	has(answer, "result.protocolVersion", "2025-06-18");
	relay_send(r, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

void relay_begin(struct relay *r, const char *tool, const char *arguments)
{
	OWNED(str) struct str json = { 0 };

	str_addf(&json, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{",
	         ++r->id);
	str_addf(&json, "\"name\":\"%s\",\"arguments\":", tool);
	str_add(&json, arguments);
	str_add(&json, "}}");
	relay_send(r, json.bytes);
}

char *relay_end(struct relay *r)
{
	OWNED(char_ptr) char *line = relay_line(r);

	ck_assert_msg(line != NULL, "the relay has gone without an answer");
	return tool_result(line);
}

char *relay_call(struct relay *r, const char *tool, const char *arguments)
{
	relay_begin(r, tool, arguments);
	return relay_end(r);
}

struct relay given_relay(const struct site *s)
{
	struct relay r;

	relay_start(&r, s->workspace, NULL, NULL);
	relay_hello(&r);
	return r;
}

void begin_asking(struct relay *r, const char *path, const char *content)
{
	OWNED(char_ptr) char *arguments = proposal(path, content);
	char sql[200];

	relay_begin(r, "check_clearance", arguments);
	(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM request WHERE file_path = '%s'",
	               path);
	expect_soon(sql, "1\n");
}

void decide_all(const char *verdict)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO decision (request_id, verdict) SELECT id, '%s' FROM request"
	         " WHERE state IN ('pending', 'interrupted')",
	         verdict);
	given(sql.bytes);
}

void approve_all(void)
{
	decide_all("approve");
}

void relay_clear(struct relay *r)
{
	if (r->in >= 0)
		(void)close(r->in);
	(void)close(r->out);
	str_clear(&r->bytes);
	r->in = r->out = -1;
}

int relay_stop(struct relay *r)
{
	int status;

	(void)close(r->in);
	r->in = -1;
	status = end_of(r->pid);
	relay_clear(r);
	return status;
}

void relay_kill(struct relay *r)
{
	(void)kill(r->pid, SIGKILL);
	(void)end_of(r->pid);
	relay_clear(r);
}

void ends_approved_once(struct relay *r, struct site *s)
{
	OWNED(char_ptr) char *result = NULL;

	approve_all();
	result = relay_end(r);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(relay_stop(r), 0);
	ck_assert_int_eq(site_stop(s), 0);
}

int front_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int run = open(test_run(), O_PATH | O_CLOEXEC);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/mcp.sock", run);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	(void)close(run);
	return fd;
}
