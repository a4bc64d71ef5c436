#include "wire.h"

#include "harness.h"
#include "process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10 };

void wire_open(struct wire *w, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)port),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*w = (struct wire){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	ck_assert_int_ge(w->fd, 0);
	ck_assert_msg(connect(w->fd, (struct sockaddr *)&to, sizeof(to)) == 0, "port %d: %s", port,
	              strerror(errno));
}

void wire_send_bytes(struct wire *w, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t n = send(w->fd, at, length, MSG_NOSIGNAL);

		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return; /* refused half-way: the answer is what counts */
		ck_assert_msg(n > 0, "send: %s", strerror(errno));
		at += n;
		length -= (size_t)n;
	}
}

void wire_send(struct wire *w, const char *text)
{
	wire_send_bytes(w, text, strlen(text));
}

/* Reads more into w->in; false at the end. */
static bool more(struct wire *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	char *bytes;
	ssize_t n;

	ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "nothing comes; so far: %s%s",
	              str_text(&w->head), str_text(&w->in));
	bytes = xmalloc(READ_BYTES);
	n = recv(w->fd, bytes, READ_BYTES, 0);
	if (n > 0)
		str_add_bytes(&w->in, bytes, (size_t)n);
	free(bytes);
	return n > 0;
}

static void take(struct wire *w, size_t n)
{
	str_add_bytes(&w->body, w->in.bytes, n);
	drop(&w->in, n);
}

int wire_head(struct wire *w)
{
	const char *end;

	do {
		while (!(end = strstr(str_text(&w->in), "\r\n\r\n")))
			ck_assert_msg(more(w), "the connection ends before an answer: %s",
			              str_text(&w->in));
		str_reset(&w->head);
		str_add_bytes(&w->head, w->in.bytes, (size_t)(end - w->in.bytes) + 2);
		drop(&w->in, w->head.length + 2);
		ck_assert_msg(sscanf(w->head.bytes, "HTTP/1.%*d %d", &w->status) == 1,
		              "no HTTP: %s", w->head.bytes);
	} while (w->status == 100);
	str_reset(&w->body);
	w->ended = false;
	w->chunked = wire_header(w, "Transfer-Encoding") != NULL;
	w->left = w->chunked                             ? 0
	          : wire_header(w, "Content-Length")     ? atol(wire_header(w, "Content-Length"))
	          : w->status == 204 || w->status == 202 ? 0
	                                                 : -1;
	return w->status;
}

const char *wire_header(const struct wire *w, const char *name)
{
	static char value[1000];
	const char *line = str_text(&w->head);
	size_t n = strlen(name);

	while ((line = strstr(line, "\r\n")) != NULL && line[2]) {
		line += 2;
		if (strncasecmp(line, name, n) == 0 && line[n] == ':') {
			line += n + 1;
			line += strspn(line, " ");
			(void)snprintf(value, sizeof(value), "%.*s", (int)strcspn(line, "\r"),
			               line);
			return value;
		}
	}
	return NULL;
}

/* Moves what has arrived of the body from in to body. False: nothing has. */
static bool body_step(struct wire *w)
{
	const char *end;

	if (w->left < 0 && w->in.length) {
		take(w, w->in.length);
		return true;
	}
	if (w->left > 0 && w->in.length) {
		size_t n = (size_t)w->left < w->in.length ? (size_t)w->left : w->in.length;

		take(w, n);
		w->left -= (long)n;
		return true;
	}
	if (w->left == 0 && !w->chunked) {
		w->ended = true;
		return true;
	}
	/* between two chunks: [CRLF] size CRLF */
	if (w->left == 0 && w->in.length > 1 && w->in.bytes[0] == '\r')
		drop(&w->in, 2);
	if (w->left == 0 && w->in.length && (end = strstr(w->in.bytes, "\r\n")) != NULL) {
		w->left = strtol(w->in.bytes, NULL, 16);
		drop(&w->in, (size_t)(end - w->in.bytes) + 2);
		w->ended = w->left == 0;
		if (w->ended) {
			while (w->in.length < 2 && more(w))
				continue;
			if (w->in.length >= 2)
				drop(&w->in, 2);
		}
		return true;
	}
	return false;
}

static void read_body(struct wire *w)
{
	while (!w->ended)
		if (!body_step(w) && !more(w))
			w->ended = true;
}

bool wire_is_stream(const struct wire *w)
{
	const char *type = wire_header(w, "Content-Type");

	return type && strcmp(type, "text/event-stream") == 0;
}

int wire_answer(struct wire *w)
{
	(void)wire_head(w);
	read_body(w);
	return w->status;
}

int wire_plain(struct wire *w)
{
	(void)wire_head(w);
	if (!wire_is_stream(w))
		read_body(w);
	return w->status;
}

/* Takes the first event out of body; false if none is complete. */
static bool cut_event(struct wire *w, struct event *e)
{
	const char *end = strstr(str_text(&w->body), "\n\n");
	char *text, *line, *rest = NULL;
	bool is_event = false;

	if (!end)
		return false;
	text = strndup(w->body.bytes, (size_t)(end - w->body.bytes));
	drop(&w->body, (size_t)(end - w->body.bytes) + 2);
	e->id[0] = '\0';
	str_reset(&e->data);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "id: ", 4) == 0)
			(void)snprintf(e->id, sizeof(e->id), "%s", line + 4);
		if (strncmp(line, "data: ", 6) == 0)
			str_add(&e->data, line + 6);
		is_event |= line[0] != ':';
	}
	free(text);
	return is_event ? true : cut_event(w, e);
}

bool wire_event(struct wire *w, struct event *e)
{
	for (;;) {
		if (cut_event(w, e))
			return true;
		if (w->ended)
			return false;
		if (!body_step(w) && !more(w))
			w->ended = true;
	}
}

bool wire_is_cut_within(struct wire *w, int ms)
{
	for (int64_t end = agent_ms() + ms; agent_ms() < end;) {
		struct pollfd p = { .fd = w->fd, .events = POLLIN };
		char bytes[4096];

		if (poll(&p, 1, (int)(end - agent_ms())) == 1 &&
		    recv(w->fd, bytes, sizeof(bytes), 0) <= 0)
			return true;
	}
	return false;
}

void wire_close(struct wire *w)
{
	if (w->fd >= 0)
		(void)close(w->fd);
	str_clear(&w->in);
	str_clear(&w->head);
	str_clear(&w->body);
	w->fd = -1;
}

void wire_break(struct wire *w)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	wire_close(w);
}

void event_clear(struct event *e)
{
	str_clear(&e->data);
}
