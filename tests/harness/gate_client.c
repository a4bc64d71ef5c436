#include "gate_client.h"

#include "agent.h"
#include "json.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void gate_connect(struct gate_client *h)
{
	gate_greet(h, "{\"agent-intercom\":1}\n");
}

void gate_greet(struct gate_client *h, const char *greeting)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int run = open(test_run(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *key;

	*h = (struct gate_client){ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/mcp.sock", run);
	ck_assert_int_eq(connect(h->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	(void)close(run);
	ck_assert_int_eq(send(h->fd, greeting, strlen(greeting), MSG_NOSIGNAL),
	                 (int)strlen(greeting));
	key = gate_line(h);
	ck_assert_ptr_nonnull(key);
	free(key);
}

void gate_send(struct gate_client *h, const char *host, const char *event, const char *input,
               int deadline_ms, const char *env)
{
	OWNED(str) struct str line = { 0 };
	size_t sent = 0;

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"intercom/hook\",\"params\":{\"host\":"
	         "\"%s\",\"event\":\"%s\",\"helper\":\"test\",\"deadline_ms\":%d,\"env\":%s,"
	         "\"input\":",
	         host, event, deadline_ms, env ? env : "{}");
	str_add(&line, input);
	str_add(&line, "}}\n");
	while (sent < line.length) {
		ssize_t n = send(h->fd, line.bytes + sent, line.length - sent, MSG_NOSIGNAL);

		ck_assert_int_gt(n, 0);
		sent += (size_t)n;
	}
}

char *gate_line(struct gate_client *h)
{
	struct pollfd p = { .fd = h->fd, .events = POLLIN };
	char *end, *line;

	while (!h->bytes.length || !(end = memchr(h->bytes.bytes, '\n', h->bytes.length))) {
		char bytes[8192];
		ssize_t n;

		ck_assert_msg(poll(&p, 1, 2 * AGENT_PATIENCE_MS) == 1, "the front says nothing");
		n = recv(h->fd, bytes, sizeof(bytes), 0);
		if (n <= 0)
			return NULL;
		str_add_bytes(&h->bytes, bytes, (size_t)n);
	}
	line = strndup(h->bytes.bytes, (size_t)(end - h->bytes.bytes));
	drop(&h->bytes, (size_t)(end - h->bytes.bytes) + 1);
	return line;
}

char *gate_reply(struct gate_client *h)
{
	OWNED(char_ptr) char *line = gate_line(h);
	OWNED(cJSON_ptr) cJSON *all = NULL;
	const cJSON *result;

	ck_assert_msg(line != NULL, "the front has gone without an answer");
	all = cJSON_Parse(line);
	result = cJSON_GetObjectItemCaseSensitive(all, "result");
	return cJSON_PrintUnformatted(result ? result
	                                     : cJSON_GetObjectItemCaseSensitive(all, "error"));
}

void gate_close(struct gate_client *h)
{
	(void)close(h->fd);
	str_clear(&h->bytes);
	h->fd = -1;
}

struct gate_client gate_begin(const char *event, const char *input)
{
	struct gate_client h;

	gate_connect(&h);
	gate_send(&h, "claude", event, input, GATE_PATIENCE_MS, NULL);
	return h;
}

char *gate_end(struct gate_client *h)
{
	char *answer = gate_reply(h);

	gate_close(h);
	return answer;
}

char *gate_ask(const char *event, const char *input)
{
	struct gate_client h = gate_begin(event, input);

	return gate_end(&h);
}

const char *tool_of(const char *session, const char *cwd, const char *tool, const char *arguments)
{
	enum { MOST = 8 };
	static struct str texts[MOST];
	static int next;
	struct str *text = &texts[next++ % MOST];

	str_reset(text);
	str_addf(text, "{\"session_id\":\"%s\",\"cwd\":\"%s\",\"tool_name\":\"%s\",\"tool_input\":",
	         session, cwd, tool);
	str_add(text, arguments);
	str_add(text, "}");
	return text->bytes;
}
