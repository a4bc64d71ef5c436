/* One WebSocket. Messages are collected whole and handed on; acks are queued and written one per
 * callback, each as one frame (Slack does not reassemble fragments). */
#include "listener.h"

#include "clock.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

/* machine.c checks liveness, on our clock; this disables libwebsockets' own check. */
static const lws_retry_bo_t NO_POLICY = { .secs_since_valid_ping = 3600,
	                                  .secs_since_valid_hangup = 7200 };

static void clear(struct link *link)
{
	struct ack *a;

	while ((a = STAILQ_FIRST(&link->out)) != NULL) {
		STAILQ_REMOVE_HEAD(&link->out, next);
		free(a);
	}
	str_clear(&link->in);
	str_clear(&link->tail);
	link->wsi = NULL;
	link->state = LINK_FREE;
	link->replace = link->ping = false;
}

/* ---- connecting ---- */

static bool is_loopback(const char *host)
{
	return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "localhost") == 0 ||
	       strcmp(host, "::1") == 0;
}

/* url is cut in pieces. */
static int connect_to(struct link *link, char *url, struct err *e)
{
	struct listener *l = link->listener;
	OWNED(str) struct str path = { 0 };
	const char *scheme, *host, *rest;
	bool secure;
	int port;

	if (lws_parse_uri(url, &scheme, &host, &port, &rest))
		return err_set(e, ERR_AGAIN, "Slack gave an invalid address");
	secure = strcmp(scheme, "wss") == 0;
	if (!secure && !(strcmp(scheme, "ws") == 0 && l->web.loopback && is_loopback(host)))
		return err_set(e, ERR_AGAIN, "the address that Slack gave is not wss");
	str_addf(&path, "/%s", rest);
	const struct lws_client_connect_info info = {
		.context = l->context,
		.address = host,
		.host = host,
		.origin = host,
		.port = port,
		.path = path.bytes,
		.ssl_connection = secure ? LCCSCF_USE_SSL : 0,
		.local_protocol_name = "slack",
		.opaque_user_data = link,
		.retry_and_idle_policy = &NO_POLICY,
		.pwsi = &link->wsi,
	};
	STAILQ_INIT(&link->out);
	link->state = LINK_CONNECTING;
	link->since_ms = link->heard_ms = clock_monotonic_ms();
	link->pinged_ms = 0;
	link->number = ++l->opened;
	(void)lws_client_connect_via_info(&info); /* failures are reported by callback */
	explicit_bzero(path.bytes, path.length);
	return 0;
}

int link_connect(struct link *link, const char *url, struct err *e)
{
	OWNED(char_ptr) char *copy = xstrdup(url);
	int failed = connect_to(link, copy, e);

	explicit_bzero(copy, strlen(url)); /* it has the ticket */
	return failed;
}

/* ---- writing ---- */

void link_send(struct link *link, const char *text, size_t length)
{
	struct ack *a = xmalloc(sizeof(*a) + LWS_PRE + length);

	a->length = length;
	memcpy(a->bytes + LWS_PRE, text, length);
	STAILQ_INSERT_TAIL(&link->out, a, next);
	(void)lws_callback_on_writable(link->wsi);
}

void link_ping(struct link *link)
{
	link->ping = true;
	link->pinged_ms = clock_monotonic_ms();
	(void)lws_callback_on_writable(link->wsi);
}

void link_close(struct link *link)
{
	link->state = LINK_CLOSING;
	link->since_ms = clock_monotonic_ms();
	(void)lws_callback_on_writable(link->wsi);
}

void link_drop(struct link *link)
{
	struct lws *wsi = link->wsi;

	clear(link);
	if (!wsi)
		return;
	lws_set_opaque_user_data(wsi, NULL); /* its end is not reported */
	lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

/* What libwebsockets cannot send at once it keeps, and writes before its next callback. */
static int write_next(struct link *link)
{
	unsigned char nothing[LWS_PRE + 1];
	struct ack *a = STAILQ_FIRST(&link->out);
	int n = 0;

	if (a) {
		STAILQ_REMOVE_HEAD(&link->out, next);
		n = lws_write(link->wsi, a->bytes + LWS_PRE, a->length, LWS_WRITE_TEXT);
		free(a);
	} else if (link->ping) {
		link->ping = false;
		n = lws_write(link->wsi, nothing + LWS_PRE, 0, LWS_WRITE_PING);
	} else if (link->state == LINK_CLOSING) {
		lws_close_reason(link->wsi, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
		return -1;
	}
	if (n < 0)
		return -1;
	if (!STAILQ_EMPTY(&link->out) || link->ping || link->state == LINK_CLOSING)
		(void)lws_callback_on_writable(link->wsi);
	return 0;
}

/* ---- reading ---- */

/* Keeps the end of a message that is too long, in a sliding window. */
static void keep_tail(struct link *link, const char *bytes, size_t length)
{
	struct str *t = &link->tail;

	str_add_bytes(t, bytes, length);
	if (t->length <= (size_t)LISTENER_TAIL_BYTES * 2)
		return;
	memmove(t->bytes, t->bytes + t->length - LISTENER_TAIL_BYTES, LISTENER_TAIL_BYTES);
	t->length = LISTENER_TAIL_BYTES;
	t->bytes[t->length] = '\0';
}

static void deliver(struct link *link)
{
	OWNED(str) struct str whole = link->in;
	OWNED(str) struct str tail = link->tail;
	bool too_long = tail.length > 0;

	link->in = link->tail = (struct str){ 0 };
	if (too_long) {
		whole.length = LISTENER_TAIL_BYTES;
		str_add_char(&whole, (char)0xFF); /* so that the two parts never form valid JSON */
		str_add_bytes(&whole, tail.bytes, tail.length);
	}
	link->listener->events->message(link, str_text(&whole), whole.length, too_long);
}

static void hear(struct link *link)
{
	link->heard_ms = clock_monotonic_ms();
	link->listener->heard_at_ms = clock_now_ms();
}

static void receive(struct link *link, const char *bytes, size_t length)
{
	if (link->tail.length || link->in.length + length > LISTENER_MESSAGE_BYTES)
		keep_tail(link, bytes, length);
	else
		str_add_bytes(&link->in, bytes, length);
	if (lws_is_final_fragment(link->wsi) && !lws_remaining_packet_payload(link->wsi))
		deliver(link);
}

/* ---- libwebsockets ---- */

static void gone(struct link *link, const char *why)
{
	OWNED(char_ptr) char *reason = xstrdup(why);

	link->wsi = NULL;
	link->listener->events->gone(link, reason);
	clear(link);
}

static void peer_closes(const struct link *link, const unsigned char *in, size_t length)
{
	unsigned code = length >= 2 ? (unsigned)in[0] << 8 | in[1] : 1005;

	if (code == 1009)
		log_error("Slack found an ack of ours too long (close 1009)");
	else
		log_info("connection %u: Slack closes it (%u)", link->number, code);
}

int link_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t length)
{
	struct link *link = lws_get_opaque_user_data(wsi);
	struct listener *l;

	(void)user;
	if (reason == LWS_CALLBACK_RAW_RX_FILE) {
		l = lws_context_user(lws_get_context(wsi));
		l->events->wake(l);
		return 0;
	}
	if (!link || link->state == LINK_FREE)
		return reason == LWS_CALLBACK_CLIENT_WRITEABLE ? -1 : 0;
	switch ((int)reason) {
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		link->state = LINK_WAIT_HELLO;
		link->since_ms = link->heard_ms = clock_monotonic_ms();
		break;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		hear(link);
		receive(link, in, length);
		break;
	case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
		hear(link);
		break;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		return write_next(link);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		peer_closes(link, in, length);
		break;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		gone(link, in ? in : "no connection");
		break;
	case LWS_CALLBACK_CLIENT_CLOSED:
		gone(link, "the connection ended");
		break;
	default:
		break;
	}
	return 0;
}
