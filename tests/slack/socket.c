/* socket: the WebSocket connections of Socket Mode: tickets, frames, hellos, pings, and their ends.
 *
 * evhttp handles the upgrade; after it the connection's bufferevent is ours, and wslay writes and
 * parses the frames on it. evhttp still owns the connection: freeing that closes it. */
#include "fake.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

enum {
	SOCKETS = 256, /* per run of the fake */
	SOCKETS_AT_ONCE = 10,
	FRAME_BYTES = 20480,
	TICKET_MS = 30000,
	REFRESH_MS = 360000, /* with debug_reconnects */
	DISCONNECT_MS = 10000,
	CODE_BYTES = 2,
	MESSAGE_BYTES = 1 << 20,
};

struct sock {
	struct evhttp_connection *connection; /* NULL: gone */
	struct bufferevent *bytes;
	wslay_frame_context_ptr frames;
	struct wslay_frame_iocb frame; /* the one being read */
	uint64_t got; /* bytes of its payload received so far */
	struct str message;
	int64_t last_ping_ms, hello_ms, refresh_ms, close_ms; /* the fake's clock; 0: never */
	size_t control_length;
	int number;
	char control[126]; /* payload of a control frame */
	bool in_frame, fragmented;
	bool hello, silent, close_sent, keep_tcp;
	bool refused; /* what still arrives is discarded */
};

static struct sock sockets[SOCKETS];
static int count;
static cJSON *tickets; /* by ticket: unix ms when it was issued, or 0: used */

static struct sock *sock_of(int number)
{
	return number >= 1 && number <= count ? &sockets[number - 1] : NULL;
}

static bool is_open(const struct sock *s)
{
	return s->connection != NULL;
}

static bool takes_envelopes(const struct sock *s)
{
	return is_open(s) && s->hello && !s->close_sent;
}

static int open_sockets(void)
{
	int n = 0;

	for (int i = 0; i < count; i++)
		n += is_open(&sockets[i]) && !sockets[i].close_sent;
	return n;
}

static cJSON *note(const struct sock *s, const char *name)
{
	cJSON *entry = calls_add("socket", name);

	json_set_int(entry, "socket", s->number);
	return entry;
}

/* ---- frames out ---- */

static ssize_t frame_out(const uint8_t *data, size_t length, int flags, void *arg)
{
	const struct sock *s = arg;

	(void)flags;
	return bufferevent_write(s->bytes, data, length) == 0 ? (ssize_t)length : -1;
}

static void send_frame(struct sock *s, uint8_t opcode, bool final, const void *data, size_t length)
{
	struct wslay_frame_iocb frame = { .fin = final,
		                          .opcode = opcode,
		                          .payload_length = length,
		                          .data = data,
		                          .data_length = length };

	if (is_open(s) && !s->silent)
		(void)wslay_frame_send(s->frames, &frame);
}

static void send_message(struct sock *s, const char *text, int fragments)
{
	size_t length = strlen(text), step = length / (size_t)fragments + 1;
	uint8_t opcode = WSLAY_TEXT_FRAME;

	for (size_t at = 0; at == 0 || at < length; at += step) {
		size_t left = length - at;

		send_frame(s, opcode, left <= step, text + at, left < step ? left : step);
		opcode = WSLAY_CONTINUATION_FRAME;
	}
}

static void send_json(struct sock *s, cJSON *message)
{
	OWNED(char_ptr) char *text = cJSON_PrintUnformatted(message);

	send_message(s, text, 1);
	cJSON_Delete(message);
}

static void send_close(struct sock *s, int code)
{
	uint8_t bytes[CODE_BYTES] = { (uint8_t)(code >> 8), (uint8_t)code };

	if (!s->close_sent)
		send_frame(s, WSLAY_CONNECTION_CLOSE, true, bytes, sizeof(bytes));
	s->close_sent = true;
}

static void send_ping(struct sock *s)
{
	const char *text = text_of("Ping from applink-%d", s->number);

	s->last_ping_ms = fake_now_ms();
	send_frame(s, WSLAY_PING, true, text, strlen(text));
}

static void send_hello(struct sock *s)
{
	cJSON *hello = json_literal("{'type': 'hello', 'debug_info': {'host': 'applink-fake',"
	                            " 'build_number': 10}, 'connection_info': {}}");

	json_set_int(hello, "num_connections", open_sockets());
	json_set_int(member_of(hello, "debug_info"), "approximate_connection_time",
	             setting_int("approximate_connection_time"));
	json_set_text(member_of(hello, "connection_info"), "app_id", APP);
	s->hello = true;
	s->hello_ms = 0;
	json_set_int(note(s, "hello"), "num_connections", open_sockets());
	send_json(s, hello);
	envelope_flush();
}

static void send_disconnect(struct sock *s, const char *reason, int64_t close_after_ms)
{
	cJSON *message = json_literal("{'type': 'disconnect',"
	                              " 'debug_info': {'host': 'applink-fake'}}");

	json_set_text(message, "reason", reason);
	json_set_text(note(s, "disconnect"), "reason", reason);
	send_json(s, message);
	s->close_ms = fake_now_ms() + close_after_ms;
}

/* ---- the end ---- */

static void gone(struct sock *s, bool by_us)
{
	if (!is_open(s))
		return;
	json_set_bool(note(s, "close"), "by_us", by_us);
	bufferevent_setcb(s->bytes, NULL, NULL, NULL, NULL);
	http_drop(s->connection);
	s->connection = NULL;
	wslay_frame_context_free(s->frames);
	str_clear(&s->message);
	envelope_socket_gone(s->number);
}

/* Closes without a close frame: the peer sees a reset. */
static void cut(struct sock *s)
{
	static const struct linger NONE = { .l_onoff = 1 };

	(void)setsockopt(bufferevent_getfd(s->bytes), SOL_SOCKET, SO_LINGER, &NONE, sizeof(NONE));
	gone(s, true);
}

void socket_close(int socket, int code)
{
	struct sock *s = sock_of(socket);

	if (s && is_open(s))
		send_close(s, code);
}

/* The peer's close frame: we answer it, unless it is the answer to ours. */
static void close_received(struct sock *s)
{
	json_set_int(note(s, "closing"), "code",
	             s->control_length >= CODE_BYTES
	                 ? ((uint8_t)s->control[0] << 8) + (uint8_t)s->control[1]
	                 : 1005);
	send_close(s, WSLAY_CODE_NORMAL_CLOSURE);
	s->close_ms = 0;
	s->refused = true;
	if (!s->keep_tcp && evbuffer_get_length(bufferevent_get_output(s->bytes)) == 0)
		gone(s, true);
}

/* ---- frames in ---- */

static ssize_t frame_in(uint8_t *data, size_t length, int flags, void *arg)
{
	const struct sock *s = arg;
	int n = evbuffer_remove(bufferevent_get_input(s->bytes), data, length);

	(void)flags;
	return n > 0 ? n : -1;
}

static void frame_begins(struct sock *s)
{
	s->in_frame = true;
	s->got = 0;
	s->control_length = 0;
	if (!s->frame.mask)
		police("frame_kind", NULL, s->number, "frame of a client without mask");
	if (wslay_is_ctrl_frame(s->frame.opcode))
		return;
	if (s->frame.payload_length > FRAME_BYTES) {
		police("ack_too_large", NULL, s->number,
		       text_of("Max frame length of %d has been exceeded", FRAME_BYTES));
		send_close(s, WSLAY_CODE_MESSAGE_TOO_BIG);
		s->refused = true;
	}
	if (s->frame.opcode == WSLAY_BINARY_FRAME)
		police("frame_kind", NULL, s->number, "binary frame");
	s->fragmented = s->frame.opcode == WSLAY_CONTINUATION_FRAME || !s->frame.fin;
}

static void frame_bytes(struct sock *s, size_t length)
{
	s->got += length;
	if (!wslay_is_ctrl_frame(s->frame.opcode)) {
		if (s->message.length + length <= MESSAGE_BYTES)
			str_add_bytes(&s->message, s->frame.data, length);
	} else if (s->control_length + length <= sizeof(s->control)) {
		memcpy(s->control + s->control_length, s->frame.data, length);
		s->control_length += length;
	}
}

/* Slack does not reassemble fragments: such an ack is lost, silently. */
static void frame_ends(struct sock *s)
{
	s->in_frame = false;
	if (s->frame.opcode == WSLAY_PING) {
		send_frame(s, WSLAY_PONG, true, s->control, s->control_length);
	} else if (s->frame.opcode == WSLAY_CONNECTION_CLOSE) {
		close_received(s);
	} else if (!wslay_is_ctrl_frame(s->frame.opcode)) {
		if (s->fragmented && s->frame.fin)
			police("ack_fragmented", NULL, s->number, "a message in several frames");
		else if (!s->fragmented)
			envelope_received(s->number, str_text(&s->message), s->message.length);
		str_reset(&s->message);
	}
}

static void on_bytes(struct bufferevent *bytes, void *arg)
{
	struct sock *s = arg;

	if (s->silent)
		return;
	while (is_open(s) && !s->refused) {
		ssize_t n = wslay_frame_recv(s->frames, &s->frame);

		if (n == WSLAY_ERR_WANT_READ)
			return;
		if (n < 0) {
			police("frame_kind", NULL, s->number, "what came is no frame");
			send_close(s, WSLAY_CODE_PROTOCOL_ERROR);
			s->refused = true;
			break;
		}
		if (!s->in_frame)
			frame_begins(s);
		frame_bytes(s, (size_t)n);
		if (s->got == s->frame.payload_length)
			frame_ends(s);
	}
	(void)evbuffer_drain(bufferevent_get_input(bytes),
	                     evbuffer_get_length(bufferevent_get_input(bytes)));
}

static void on_written(struct bufferevent *bytes, void *arg)
{
	struct sock *s = arg;

	(void)bytes;
	if (s->refused && s->close_sent && !s->keep_tcp)
		gone(s, true);
}

static void on_event(struct bufferevent *bytes, short what, void *arg)
{
	(void)bytes;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		gone(arg, false);
}

/* ---- tickets and the upgrade ---- */

void connections_open(struct call *c)
{
	const char *ticket = world_id("ticket");

	if (!tickets)
		tickets = cJSON_CreateObject();
	json_set_int(tickets, ticket, fake_now_ms());
	json_set_text(
	    call_ok(c), "url",
	    text_of("ws%s/link/?ticket=%s&app_id=%s", fake_origin() + strlen("http"), ticket, APP));
}

/* Uses up the ticket; returns whether it was valid. */
static bool ticket_is_good(const char *ticket)
{
	int64_t made = json_int(tickets, ticket, -1);

	if (made == 0)
		police("ticket_again", NULL, 0, "a socket URL is for one connection");
	if (made > 0)
		json_set_int(tickets, ticket, 0);
	return made > 0 && made + TICKET_MS >= fake_now_ms();
}

static void accept_key(const char *key, char out[40])
{
	OWNED(str) struct str text = { 0 };
	unsigned char digest[SHA_DIGEST_LENGTH];

	str_addf(&text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
	(void)SHA1((const unsigned char *)text.bytes, text.length, digest);
	(void)EVP_EncodeBlock((unsigned char *)out, digest, sizeof(digest));
}

/* Takes the connection over: evhttp waits for an answer that never comes. */
static struct sock *take_over(struct evhttp_request *http)
{
	static const struct wslay_frame_callbacks HOW = { frame_out, frame_in, NULL };
	struct sock *s = &sockets[count++];

	s->number = count;
	s->connection = evhttp_request_get_connection(http);
	s->bytes = evhttp_connection_get_bufferevent(s->connection);
	(void)wslay_frame_context_init(&s->frames, &HOW, s);
	bufferevent_setcb(s->bytes, on_bytes, on_written, on_event, s);
	bufferevent_set_timeouts(s->bytes, NULL, NULL);
	(void)bufferevent_enable(s->bytes, EV_READ | EV_WRITE);
	s->last_ping_ms = fake_now_ms();
	return s;
}

static void greet(struct sock *s)
{
	if (setting_is("hello", "late"))
		s->hello_ms = fake_now_ms() + setting_int("hello_delay_ms");
	else if (!setting_is("hello", "never"))
		send_hello(s);
	if (setting_is("hello", "twice"))
		send_hello(s);
}

void socket_upgrade(struct evhttp_request *http, const char *ticket, bool debug_reconnects)
{
	const struct evkeyvalq *headers = evhttp_request_get_input_headers(http);
	const char *key = evhttp_find_header(headers, "Sec-WebSocket-Key");
	bool good = ticket_is_good(ticket);
	char accept[40];
	struct sock *s;

	if (!key || count == SOCKETS || (!good && !setting_is("stale_ticket", "1008"))) {
		(void)calls_add("socket", "refused");
		evhttp_send_error(http, key ? HTTP_NOTFOUND : HTTP_BADREQUEST, NULL);
		return;
	}
	accept_key(key, accept);
	s = take_over(http);
	(void)evbuffer_add_printf(bufferevent_get_output(s->bytes),
	                          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
	                          "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
	                          accept);
	(void)note(s, "open");
	if (!good) {
		send_close(s, WSLAY_CODE_POLICY_VIOLATION);
	} else if (open_sockets() > SOCKETS_AT_ONCE) {
		send_disconnect(s, "too_many_websockets", 0);
	} else {
		s->refresh_ms = debug_reconnects ? fake_now_ms() + REFRESH_MS : 0;
		greet(s);
	}
}

/* ---- for the envelopes ---- */

int socket_choose(int wanted)
{
	static int last;

	if (wanted)
		return sock_of(wanted) && takes_envelopes(sock_of(wanted)) ? wanted : 0;
	for (int i = 0; i < count; i++) {
		int number = (last + i) % count + 1;

		if (takes_envelopes(sock_of(number)))
			return last = number;
	}
	return 0;
}

void socket_write(int socket, const char *text, int fragments)
{
	struct sock *s = sock_of(socket);

	if (s && is_open(s))
		send_message(s, text, fragments < 1 ? 1 : fragments);
}

bool socket_is_heard(int socket)
{
	const struct sock *s = sock_of(socket);

	return s && is_open(s) && !s->silent && !s->close_sent;
}

/* ---- on demand, and by the clock ---- */

static const char *obey(struct sock *s, const cJSON *order)
{
	const char *what = json_str(order, "do");

	if (strcmp(what, "disconnect") == 0) {
		send_disconnect(s,
		                json_text(order, "reason") ? json_str(order, "reason") : "warning",
		                json_int(order, "close_after_ms", DISCONNECT_MS));
	} else if (strcmp(what, "close") == 0) {
		s->keep_tcp = json_true(order, "keep_tcp");
		send_close(s, (int)json_int(order, "code", WSLAY_CODE_NORMAL_CLOSURE));
	} else if (strcmp(what, "cut") == 0) {
		cut(s);
	} else if (strcmp(what, "silence") == 0) {
		s->silent = true;
	} else if (strcmp(what, "ping") == 0) {
		send_ping(s);
	} else if (strcmp(what, "hello") == 0) {
		send_hello(s);
	} else {
		return "do: one of disconnect, close, cut, silence, ping, hello";
	}
	return NULL;
}

const char *socket_order(const cJSON *order, int *reached)
{
	int wanted = (int)json_int(order, "socket", 0), known = count;
	const char *wrong = NULL;

	*reached = 0;
	for (int i = 0; i < known && !wrong; i++) {
		if (!is_open(&sockets[i]) || (wanted && sockets[i].number != wanted))
			continue;
		wrong = obey(&sockets[i], order);
		++*reached;
	}
	return wrong;
}

static void tick_one(struct sock *s)
{
	int64_t now = fake_now_ms(), every = setting_int("ping_every_ms");

	if (s->hello_ms && now >= s->hello_ms)
		send_hello(s);
	if (s->refresh_ms && now >= s->refresh_ms) {
		s->refresh_ms = 0;
		send_disconnect(s, "refresh_requested", DISCONNECT_MS);
	}
	if (s->close_ms && now >= s->close_ms) {
		s->close_ms = 0;
		send_close(s, WSLAY_CODE_NORMAL_CLOSURE);
	}
	if (every > 0 && !s->close_sent && now >= s->last_ping_ms + every)
		send_ping(s);
}

void socket_tick(void)
{
	for (int i = 0; i < count; i++)
		if (is_open(&sockets[i]))
			tick_one(&sockets[i]);
}

static const char *state_of(const struct sock *s)
{
	return !is_open(s)     ? "closed"
	       : s->close_sent ? "closing"
	       : s->hello      ? "ready"
	                       : "connected";
}

cJSON *sockets_all(void)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < count; i++) {
		cJSON *one = cJSON_CreateObject();

		json_set_int(one, "socket", sockets[i].number);
		json_set_text(one, "state", state_of(&sockets[i]));
		json_set_int(one, "unacked", envelope_unacked(sockets[i].number));
		(void)cJSON_AddItemToArray(list, one);
	}
	return list;
}
