#include "socket_client.h"

#include "agent.h"
#include "io.h"
#include "rpc.h"
#include "slack_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_BYTES = 2000, ABNORMAL = 1006 };

static ssize_t bytes_out(const uint8_t *data, size_t length, int flags, void *client)
{
	(void)flags;
	return io_write_all(((struct client *)client)->fd, data, length) == 0 ? (ssize_t)length
	                                                                      : -1;
}

static ssize_t bytes_in(uint8_t *data, size_t length, int flags, void *client)
{
	struct client *c = client;
	struct pollfd ready = { .fd = c->fd, .events = POLLIN };
	ssize_t n;

	(void)flags;
	ck_assert_msg(poll(&ready, 1, AGENT_PATIENCE_MS) == 1, "the socket stays silent");
	n = recv(c->fd, data, length, 0);
	if (n <= 0)
		c->code = c->code ? c->code : ABNORMAL;
	return n;
}

static int mask(uint8_t *data, size_t length, void *client)
{
	(void)client;
	memset(data, 0x5A, length);
	return 0;
}

/* ---- opening ---- */

char *client_path(void)
{
	struct wire w = { 0 };
	OWNED(str) struct str request = { 0 };
	const char *at;
	char *path;

	str_add(&request, "POST /api/apps.connections.open HTTP/1.1\r\nHost: fake\r\n"
	                  "Authorization: Bearer " SLACK_FAKE_APP_TOKEN "\r\n"
	                  "Content-Length: 0\r\n\r\n");
	wire_open(&w, slack_port());
	wire_send(&w, request.bytes);
	ck_assert_int_eq(wire_answer(&w), 200);
	at = strstr(member(str_text(&w.body), "url"), "/link/");
	ck_assert_msg(at != NULL, "no socket URL: %s", str_text(&w.body));
	path = xstrdup(at);
	wire_close(&w);
	return path;
}

/* Byte by byte, so that the first frame stays in the socket. */
static int read_head(struct client *c)
{
	char head[HEAD_BYTES] = "";
	size_t length = 0;
	int status = 0;

	while (length + 1 < sizeof(head) && !strstr(head, "\r\n\r\n") &&
	       recv(c->fd, head + length, 1, 0) == 1)
		head[++length] = '\0';
	ck_assert_msg(sscanf(head, "HTTP/1.1 %d", &status) == 1, "no answer: %s", head);
	return status;
}

int client_try(struct client *c, const char *path)
{
	static const struct wslay_frame_callbacks HOW = { bytes_out, bytes_in, mask };
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)slack_port()) };
	OWNED(str) struct str request = { 0 };

	(void)signal(SIGPIPE, SIG_IGN); /* some tests are about a server that closes */
	*c = (struct client){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	str_addf(&request,
	         "GET %s HTTP/1.1\r\nHost: fake\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
	         path);
	ck_assert_int_eq(io_write_all(c->fd, request.bytes, request.length), 0);
	ck_assert_int_eq(wslay_frame_context_init(&c->frames, &HOW, c), 0);
	return read_head(c);
}

void client_open(struct client *c)
{
	OWNED(char_ptr) char *path = client_path();
	OWNED(char_ptr) char *hello = NULL;

	ck_assert_int_eq(client_try(c, path), 101);
	hello = client_message(c);
	has(hello, "type", "hello");
}

/* ---- frames ---- */

void client_frame(struct client *c, uint8_t opcode, bool final, const void *bytes, size_t length)
{
	struct wslay_frame_iocb frame = { .fin = final,
		                          .opcode = opcode,
		                          .payload_length = length,
		                          .mask = !c->bare,
		                          .data = bytes,
		                          .data_length = length };
	ssize_t n;

	do {
		n = wslay_frame_send(c->frames, &frame);
		if (n < 0)
			return; /* the server is gone: the test notices when it reads */
		frame.data += n;
		frame.data_length -= (size_t)n;
	} while (frame.data_length > 0);
}

/* Reads a whole frame into payload (cleared before); false: the connection has ended. */
static bool read_frame(struct client *c, struct wslay_frame_iocb *frame, struct str *payload)
{
	str_reset(payload);
	do {
		ssize_t n = wslay_frame_recv(c->frames, frame);

		if (n == WSLAY_ERR_WANT_READ && !c->code)
			continue;
		if (n < 0)
			return false;
		str_add_bytes(payload, frame->data, (size_t)n);
		if (payload->length == frame->payload_length)
			return true;
	} while (true);
}

char *client_message(struct client *c)
{
	OWNED(str) struct str payload = { 0 };
	struct str message = { 0 };
	struct wslay_frame_iocb frame;

	while (read_frame(c, &frame, &payload)) {
		if (frame.opcode == WSLAY_PING) {
			c->pings++;
			client_frame(c, WSLAY_PONG, true, payload.bytes, payload.length);
		} else if (frame.opcode == WSLAY_CONNECTION_CLOSE) {
			c->code = payload.length < 2 ? 1005
			                             : ((uint8_t)payload.bytes[0] << 8) +
			                                   (uint8_t)payload.bytes[1];
			break;
		} else if (frame.opcode != WSLAY_PONG) {
			str_add_bytes(&message, payload.bytes, payload.length);
			if (frame.fin)
				return str_take(&message);
		}
	}
	str_clear(&message);
	return NULL;
}

void client_say(struct client *c, const char *text)
{
	client_frame(c, WSLAY_TEXT_FRAME, true, text, strlen(text));
}

void client_ack(struct client *c, const char *envelope_id, const char *payload)
{
	OWNED(str) struct str ack = { 0 };

	str_addf(&ack, "{\"envelope_id\":\"%s\"%s%s}", envelope_id, payload ? ",\"payload\":" : "",
	         payload ? payload : "");
	client_say(c, ack.bytes);
}

bool client_hears_nothing(struct client *c, int ms)
{
	struct pollfd ready = { .fd = c->fd, .events = POLLIN };

	return poll(&ready, 1, ms) == 0;
}

void client_close(struct client *c)
{
	wslay_frame_context_free(c->frames);
	(void)close(c->fd);
}
