/* Streamable HTTP on evhttp (MCP 2025-11-25, "Transports"): POST /mcp, GET /mcp to resume, DELETE
 * /mcp to end a session; the transport before it: GET /sse, POST /message; GET /health. Loopback
 * only; Host and Origin must be loopback names.
 *
 * A held answer is an event stream. Its socket stands in an epoll set of its own, because evhttp
 * does not see a peer that hangs up behind unread bytes. */
#include "front.h"

#include "header.h"
#include "id.h"
#include "log.h"
#include "peer_uid.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HELD_SECONDS = 86400, /* evhttp's own timeout for a held stream: ours ends it */
	BACKLOG = 1024,
	HELD_READ_BYTES = 4096, /* what a client may send behind an open stream */
	BODY_SLACK = 4096, /* over our limit evhttp still reads, so that we can say why */
	SWEEP_MS = 100, /* between two looks at all arrivals */
	ACCEPT_PAUSE_MS = 100, /* while no descriptors are left */
	KEEPALIVE_IDLE_S = 30,
	KEEPALIVE_INTERVAL_S = 10,
	KEEPALIVE_COUNT = 3,
	USER_TIMEOUT_MS = 20000,
};

/* ---- connections ---- */

/* evhttp's timeout begins anew with each byte: a client that sends one now and then would be held
 * for ever. The inode tells a new connection from an old one with the same descriptor. */
struct arrival {
	ino_t inode;
	int64_t began_ms; /* monotonic; 0: nothing of a request has come */
	size_t unfinished; /* bytes of a request that has not come whole; in front.unfinished */
	bool held; /* a request has come whole and is not answered: what comes now has time */
	bool turned_away; /* nothing it sends is looked at any more */
	bool looked; /* who is at the other end has been asked */
	bool refused; /* and it is somebody else */
};

static struct arrival *arrival_of(struct front *f, int fd)
{
	enum { STEP = 64 };

	if (fd >= f->arrival_count) {
		int count = fd + STEP;

		f->arrivals = xrealloc(f->arrivals, (size_t)count * sizeof(*f->arrivals));
		memset(f->arrivals + f->arrival_count, 0,
		       (size_t)(count - f->arrival_count) * sizeof(*f->arrivals));
		f->arrival_count = count;
	}
	return &f->arrivals[fd];
}

/* ---- answers ---- */

static void header(struct sink *s, const char *name, const char *value)
{
	(void)evhttp_add_header(evhttp_request_get_output_headers(s->http), name, value);
}

static const char *reason_of(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 202:
		return "Accepted";
	case 204:
		return "No Content";
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 413:
		return "Content Too Large";
	case 415:
		return "Unsupported Media Type";
	case 503:
		return "Service Unavailable";
	default:
		return "Error";
	}
}

/* The end of an exchange: nothing of it may stay on the connection, which serves on. */
static void let_go(struct sink *s)
{
	struct evhttp_connection *c = evhttp_request_get_connection(s->http);

	if (c)
		evhttp_connection_set_closecb(c, NULL, NULL);
	if (s->streaming && c) {
		(void)epoll_ctl(s->front->hang_up_fd, EPOLL_CTL_DEL, s->fd, NULL);
		bufferevent_setwatermark(evhttp_connection_get_bufferevent(c), EV_READ, 0, 0);
		evhttp_connection_set_timeout(c, FRONT_READ_SECONDS);
		arrival_of(s->front, s->fd)->held = false;
	}
}

static void answer(struct sink *s, int status, const char *type, const void *body, size_t length)
{
	struct evhttp_request *request = s->http;
	struct evbuffer *b = evbuffer_new();

	header(s, "Content-Type", type ? type : "text/plain");
	if (length && evhttp_request_get_command(request) != EVHTTP_REQ_HEAD)
		(void)evbuffer_add(b, body, length);
	let_go(s);
	sink_hold(s);
	front_gone(s);
	evhttp_send_reply(request, status, reason_of(status), b);
	evbuffer_free(b);
	sink_drop(s);
}

static void answer_status(struct sink *s, int status)
{
	answer(s, status, NULL, NULL, 0);
}

static void answer_error(struct sink *s, int status, const char *id, int code, const char *text)
{
	OWNED(str) struct str message = STR_INIT;

	rpc_failure(&message, id, code, text, NULL);
	answer(s, status, "application/json", message.bytes, message.length);
}

/* Sends on an open stream. A reader that is too slow is cut off: it can come back and resume. */
static void send_chunk(struct sink *s, const struct str *bytes)
{
	struct evhttp_connection *c = evhttp_request_get_connection(s->http);
	struct evbuffer *b;

	if (evbuffer_get_length(bufferevent_get_output(evhttp_connection_get_bufferevent(c))) >
	    FRONT_MAX_OUTPUT) {
		log_warn("a client does not read its stream: cut off");
		evhttp_connection_free(c); /* runs on_close */
		return;
	}
	b = evbuffer_new();
	(void)evbuffer_add(b, bytes->bytes, bytes->length);
	evhttp_send_reply_chunk(s->http, b);
	evbuffer_free(b);
}

static void end_stream(struct sink *s)
{
	struct evhttp_request *request = s->http;

	let_go(s);
	sink_hold(s);
	front_gone(s);
	evhttp_send_reply_end(request);
	sink_drop(s);
}

static void finish(struct sink *s, int status)
{
	if (!s->http)
		return;
	if (s->streaming)
		end_stream(s);
	else
		answer_status(s, status);
}

static void notify(struct sink *s, const struct str *message, const char *event_id)
{
	OWNED(str) struct str bytes = STR_INIT;

	if (!s->http || !s->streaming)
		return;
	if (message->length)
		sse_event(&bytes, event_id, message->bytes);
	else
		str_add(&bytes, ": waiting\n\n");
	send_chunk(s, &bytes);
}

static void hold(struct sink *s, const char *event_id);

static void reply(struct sink *s, const struct str *message, const char *event_id)
{
	if (!s->http)
		return;
	s->expected--;
	if (!s->streaming && s->expected <= 0) {
		answer(s, 200, "application/json", message->bytes, message->length);
		return;
	}
	sink_hold(s);
	if (!s->streaming)
		hold(s, NULL);
	notify(s, message, event_id);
	if (s->http && s->expected <= 0)
		end_stream(s);
	sink_drop(s);
}

/* The status belongs to a single reply; a stream and a batch have said 200 already. */
static void refuse(struct sink *s, const char *rpc_id, const struct mcp_fault *fault)
{
	OWNED(str) struct str message = STR_INIT;

	if (!s->http)
		return;
	rpc_failure(&message, rpc_id, fault->code, fault->text,
	            fault->data[0] ? fault->data : NULL);
	if (s->streaming || s->expected > 1)
		reply(s, &message, NULL);
	else
		answer(s, fault->status, "application/json", message.bytes, message.length);
}

/* ---- holding ---- */

/* The connection is gone, whoever closed it. The only place where a held request ends early. */
static void on_close(struct evhttp_connection *c, void *arg)
{
	struct sink *s = arg;
	struct evhttp_request *request = s->http;

	(void)c;
	if (s->streaming)
		(void)epoll_ctl(s->front->hang_up_fd, EPOLL_CTL_DEL, s->fd, NULL);
	if (s->ends_session)
		LIST_REMOVE(s, in_pipes);
	front_gone(s);
	/* Where evhttp has seen the hang-up itself, it leaves a request that we hold to us. */
	if (request && !evhttp_request_get_connection(request))
		evhttp_request_free(request);
}

/* A next request may stand behind one that is held. Who sends more than we read meanwhile is cut:
 * behind it we could not see him hang up. */
static bool is_flooded(const struct sink *s)
{
	struct evhttp_connection *c = evhttp_request_get_connection(s->http);
	struct bufferevent *bev = evhttp_connection_get_bufferevent(c);
	int unread = 0;

	(void)ioctl(s->fd, FIONREAD, &unread);
	return evbuffer_get_length(bufferevent_get_input(bev)) + (size_t)unread > HELD_READ_BYTES;
}

static void on_hang_up(evutil_socket_t fd, short what, void *arg)
{
	struct epoll_event events[64];
	int n = epoll_wait(fd, events, COUNT(events), 0);

	(void)what;
	(void)arg;
	for (int i = 0; i < n; i++) {
		struct sink *s = events[i].data.ptr;

		if (s->http &&
		    (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) || is_flooded(s)))
			evhttp_connection_free(evhttp_request_get_connection(s->http));
	}
}

/* Of a held connection: a peer that is gone is noticed; and an answer soon after the start of the
 * stream does not wait for its acknowledgement (Nagle against delayed ACK: 40 ms). */
static void tune(int fd)
{
	const int on = 1;
	const struct {
		int option, value;
	} options[] = { { TCP_KEEPIDLE, KEEPALIVE_IDLE_S },
		        { TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S },
		        { TCP_KEEPCNT, KEEPALIVE_COUNT },
		        { TCP_USER_TIMEOUT, USER_TIMEOUT_MS } };

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	for (size_t i = 0; i < COUNT(options); i++)
		(void)setsockopt(fd, IPPROTO_TCP, options[i].option, &options[i].value,
		                 sizeof(options[i].value));
}

static void hold(struct sink *s, const char *event_id)
{
	struct evhttp_connection *c;
	struct bufferevent *bev;
	struct epoll_event hang_up = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = s };
	OWNED(str) struct str priming = STR_INIT;

	if (!s->http)
		return;
	if (!s->streaming) {
		c = evhttp_request_get_connection(s->http);
		bev = evhttp_connection_get_bufferevent(c);
		s->fd = bufferevent_getfd(bev);
		s->streaming = true;
		arrival_of(s->front, s->fd)->held = true;
		tune(s->fd);
		evhttp_connection_set_timeout(c, HELD_SECONDS);
		(void)epoll_ctl(s->front->hang_up_fd, EPOLL_CTL_ADD, s->fd, &hang_up);
		header(s, "Content-Type", "text/event-stream");
		header(s, "Cache-Control", "no-cache, no-transform");
		header(s, "X-Accel-Buffering", "no");
		evhttp_send_reply_start(s->http, 200, "OK");
		bufferevent_setwatermark(bev, EV_READ, 0, HELD_READ_BYTES);
	}
	if (!event_id) {
		str_add(&priming, ": open\n\n");
		send_chunk(s, &priming);
		return;
	}
	str_addf(&priming, "id: %s\nretry: %d\ndata: \n\n", event_id, FRONT_RETRY_MS);
	send_chunk(s, &priming);
}

static const struct transport HTTP = {
	.reply = reply, .notify = notify, .wait = hold, .refuse = refuse, .finish = finish
};

/* ---- who may ask ---- */

static int count_headers(const struct evkeyvalq *headers, const char *name)
{
	const struct evkeyval *h;
	int count = 0;

	TAILQ_FOREACH (h, headers, next)
		count += strcasecmp(h->key, name) == 0;
	return count;
}

/* What evhttp would read otherwise than others do, some of it only before
 * Debian's 2.1.12-8+deb12u1: a name that is not one, lengths that are no number, not one, or beside
 * an encoding, and an encoding that it does not know. */
static bool is_framed_well(const struct evkeyvalq *headers)
{
	const char *length = evhttp_find_header(headers, "Content-Length");
	const char *encoding = evhttp_find_header(headers, "Transfer-Encoding");
	const struct evkeyval *h;

	TAILQ_FOREACH (h, headers, next)
		if (!*h->key || strpbrk(h->key, " \t"))
			return false;
	if (length && (encoding || count_headers(headers, "Content-Length") > 1 ||
	               strspn(length, "0123456789") != strlen(length)))
		return false;
	return !encoding || (count_headers(headers, "Transfer-Encoding") == 1 &&
	                     strcasecmp(encoding, "chunked") == 0);
}

/* 0 or the status to refuse with. */
static int check_headers(struct evhttp_request *request, const char **ret_why)
{
	const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
	const char *host = evhttp_find_header(headers, "Host");
	const char *origin = evhttp_find_header(headers, "Origin");
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *named = uri ? evhttp_uri_get_host(uri) : NULL; /* GET http://... */

	if (named && !header_host_is_loopback(named)) {
		*ret_why = "only localhost, 127.0.0.1 and [::1] are served";
		return 403;
	}
	if (!host || count_headers(headers, "Host") != 1 || !header_host_is_loopback(host)) {
		*ret_why = "Host not allowed: only localhost, 127.0.0.1 and [::1]";
		return 403;
	}
	if (origin && !header_origin_is_loopback(origin)) {
		*ret_why = "Origin not allowed";
		return 403;
	}
	if (!is_framed_well(headers)) {
		*ret_why = "the length of the body is not clear: send one Content-Length, or "
		           "Transfer-Encoding: chunked";
		return 400;
	}
	return 0;
}

/* ---- who it is ---- */

static bool is_yes(const char *text)
{
	return strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
}

/* What the URL says of its caller; false: it cannot be read. A path is not taken from a URL. */
static bool take_query(struct identity *i, const char *uri)
{
	OWNED(cJSON_ptr) cJSON *query = header_query(uri);
	const char *wait = json_text(query, "wait");
	const char *tasks = json_text(query, "tasks");

	if (!query)
		return false;
	cJSON_DeleteItemFromObjectCaseSensitive(query, "workspace");
	if (wait)
		(void)cJSON_ReplaceItemInObjectCaseSensitive(
		    query, "wait", cJSON_CreateNumber(strtod(wait, NULL)));
	if (tasks)
		(void)cJSON_ReplaceItemInObjectCaseSensitive(query, "tasks",
		                                             cJSON_CreateBool(is_yes(tasks)));
	identity_read(i, query);
	return true;
}

/* A caller without a session: the same connection row for whoever says the same of itself. */
static void stateless_key(struct peer *p, const char *host)
{
	OWNED(str) struct str said = STR_INIT;
	const struct identity *i = &p->identity;
	const char *const texts[] = { host,          i->workspace_id, i->channel_id,
		                      i->session_id, i->agent,        p->client_name };

	for (size_t k = 0; k < COUNT(texts); k++) {
		str_add(&said, texts[k] ? texts[k] : "");
		str_add_char(&said, '\n');
	}
	(void)snprintf(p->key, sizeof(p->key), "stateless-%s",
	               sha256_of(said.bytes, said.length).text);
}

static const char *in_header(const struct sink *s, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(s->http), name);
}

static bool load_peer(struct sink *s, const char *id, bool must_exist)
{
	struct peer *p = s->peer;
	struct err e = ERR_INIT;
	int got = peer_load(&s->front->worker.store, p, &e);

	if (got < 0) {
		answer_error(s, 503, id, RPC_INTERNAL_ERROR, e.text);
		return false;
	}
	if (must_exist && (!got || p->closed || p->transport != PEER_HTTP)) {
		answer_error(s, 404, id, RPC_INVALID_REQUEST,
		             "there is no such session; send initialize without Mcp-Session-Id");
		return false;
	}
	return true;
}

static bool identify_stateless(struct sink *s, const char *id, const char *version)
{
	struct peer *p = s->peer;

	p->transport = PEER_STATELESS;
	stateless_key(p, s->front->settings.places.host);
	if (!load_peer(s, id, false))
		return false;
	if (!p->version && version)
		p->version = xstrdup(version);
	return true;
}

/* The peer behind a legacy message that is no initialize; refuses and returns false if there is
 * none. id: JSON token of the request, NULL if it is none. */
static bool identify(struct sink *s, const char *id)
{
	const char *session = in_header(s, "Mcp-Session-Id");
	const char *version = in_header(s, "MCP-Protocol-Version");

	if (version && !mcp_version_known(version)) {
		answer_error(s, 400, id, RPC_INVALID_REQUEST,
		             "unsupported MCP-Protocol-Version; send initialize to negotiate one");
		return false;
	}
	if (!session)
		return identify_stateless(s, id, version);
	(void)snprintf(s->peer->key, sizeof(s->peer->key), "%s", session);
	return load_peer(s, id, true);
}

/* ---- modern requests ---- */

/* Whoever asks says who it is in each request. */
static bool identify_modern(struct sink *s, const struct rpc_message *m)
{
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(m->params, "_meta");
	const cJSON *client =
	    cJSON_GetObjectItemCaseSensitive(meta, "io.modelcontextprotocol/clientInfo");
	const char *name = json_text(client, "name");

	s->peer->client_name = name ? xstrdup(name) : NULL;
	return identify_stateless(s, m->id, MCP_MODERN);
}

static bool check_modern(struct sink *s, const struct rpc_message *m)
{
	const struct mcp_headers headers = { .version = in_header(s, "MCP-Protocol-Version"),
		                             .method = in_header(s, "Mcp-Method"),
		                             .name = in_header(s, "Mcp-Name") };
	struct mcp_fault fault;

	if (mcp_check_modern(m, &headers, &fault) == 0)
		return true;
	refuse(s, m->id, &fault);
	return false;
}

/* Whether the headers speak of a revision that has no initialize: one that we do not know as a
 * legacy one, from a caller without a session. */
static bool has_modern_header(const struct sink *s)
{
	const char *version = in_header(s, "MCP-Protocol-Version");

	return version && !mcp_version_known(version) && !in_header(s, "Mcp-Session-Id");
}

/* ---- POST ---- */

static void take_batch(struct sink *s, const struct rpc_message *batch)
{
	int count = cJSON_GetArraySize(batch->root);
	struct rpc_message *messages = xcalloc((size_t)count, sizeof(*messages));
	struct rpc_error *wrong = xcalloc((size_t)count, sizeof(*wrong));

	for (int i = 0; i < count; i++) {
		bool bad = rpc_batch_item(batch, i, &messages[i], &wrong[i]) != 0;

		if (!bad && mcp_is_modern(messages[i].params)) {
			wrong[i] = (struct rpc_error){ .code = RPC_INVALID_REQUEST,
				                       .text = "a batch holds no modern request" };
			bad = true;
		}
		s->expected += bad || messages[i].kind == RPC_REQUEST;
		if (!bad)
			wrong[i].code = 0;
	}
	if (s->expected == 0) {
		for (int i = 0; i < count; i++)
			front_take(s->front, s, &messages[i]);
		answer_status(s, 202);
	} else {
		sink_hold(s);
		for (int i = 0; i < count; i++)
			if (wrong[i].code)
				sink_refuse(s, messages[i].id, wrong[i].code, wrong[i].text);
			else
				front_take(s->front, s, &messages[i]);
		sink_drop(s);
	}
	for (int i = 0; i < count; i++)
		rpc_message_clear(&messages[i]);
	free(messages);
	free(wrong);
}

static void take_request(struct sink *s, struct rpc_message *m)
{
	bool initializes = strcmp(m->method, "initialize") == 0;

	s->expected = 1;
	if (mcp_is_modern(m->params) || (has_modern_header(s) && !initializes)) {
		if (check_modern(s, m) && identify_modern(s, m))
			front_take(s->front, s, m);
		return;
	}
	if (initializes && has_modern_header(s)) {
		answer_error(s, 400, m->id, MCP_HEADER_MISMATCH,
		             "initialize is not a method of this MCP-Protocol-Version");
		return;
	}
	if (initializes) {
		struct secret key = secret_new();

		(void)snprintf(s->peer->key, sizeof(s->peer->key), "%s", key.text);
		header(s, "Mcp-Session-Id", s->peer->key);
	} else if (!identify(s, m->id)) {
		return;
	}
	front_take(s->front, s, m);
}

/* Notifications and responses: nothing is said to them but 202. */
static void take_note(struct sink *s, struct rpc_message *m)
{
	if (has_modern_header(s)) {
		if (m->kind == RPC_RESPONSE)
			answer_error(s, 400, NULL, RPC_INVALID_REQUEST,
			             "this revision has no responses of clients");
		else
			answer_status(s, 202);
		return;
	}
	if (!identify(s, NULL))
		return;
	sink_hold(s);
	front_take(s->front, s, m);
	answer_status(s, 202);
	sink_drop(s);
}

static void take_many(struct sink *s, const struct rpc_message *m)
{
	if (has_modern_header(s)) {
		answer_error(s, 400, NULL, RPC_INVALID_REQUEST, "this revision has no batches");
		return;
	}
	if (!identify(s, NULL))
		return;
	if (cJSON_GetArraySize(m->root) > FRONT_MAX_BATCH)
		answer_error(s, 413, NULL, RPC_INVALID_REQUEST,
		             "a batch holds at most 100 messages");
	else if (cJSON_GetArraySize(m->root) == 0 ||
	         (s->peer->version && strcmp(s->peer->version, "2025-03-26") != 0))
		answer_error(s, 400, NULL, RPC_INVALID_REQUEST,
		             "batches exist in revision 2025-03-26 only, and are not empty");
	else
		take_batch(s, m);
}

static void take_message(struct sink *s, struct rpc_message *m)
{
	if (m->kind == RPC_BATCH)
		take_many(s, m);
	else if (m->kind == RPC_REQUEST)
		take_request(s, m);
	else
		take_note(s, m);
}

static void on_post(struct sink *s)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(s->http);
	size_t length = evbuffer_get_length(in);
	struct rpc_message m = RPC_MESSAGE_INIT;
	const char *type = in_header(s, "Content-Type");
	struct rpc_error wrong;

	if (type && !header_is_json(type)) {
		answer_error(s, 415, NULL, RPC_INVALID_REQUEST, "send application/json");
		return;
	}
	if (length > FRONT_MAX_MESSAGE) {
		answer_error(s, 413, NULL, RPC_INVALID_REQUEST,
		             "the body is longer than 4 MiB; send a smaller message");
		return;
	}
	if (rpc_parse(length ? (const char *)evbuffer_pullup(in, -1) : "", length, &m, &wrong)) {
		answer_error(s, 400, m.id, wrong.code, wrong.text);
	} else {
		take_message(s, &m);
	}
	rpc_message_clear(&m);
}

/* ---- GET, DELETE ---- */

static void on_get(struct sink *s)
{
	const char *last = in_header(s, "Last-Event-ID");
	int64_t call_seq = last ? header_event_call(last) : 0;

	if (!last) {
		header(s, "Allow", "POST, DELETE");
		answer_error(s, 405, NULL, RPC_INVALID_REQUEST,
		             "there is no stream to listen to; GET resumes one with Last-Event-ID");
		return;
	}
	if (!identify(s, NULL))
		return;
	if (call_seq == 0) {
		answer_error(s, 404, NULL, RPC_INVALID_REQUEST,
		             "there is no stream with this Last-Event-ID");
		return;
	}
	s->expected = 1;
	front_queue(s->front, JOB_RESUME, s, NULL)->call_seq = call_seq;
}

static void on_delete(struct sink *s)
{
	if (!in_header(s, "Mcp-Session-Id")) {
		answer_error(s, 400, NULL, RPC_INVALID_REQUEST, "Mcp-Session-Id is missing");
		return;
	}
	if (identify(s, NULL))
		(void)front_queue(s->front, JOB_END, s, NULL);
}

/* ---- HTTP with SSE, the transport of revision 2024-11-05 ---- */

/* GET /sse opens a stream, whose first event names the address that messages are posted to; all
 * that we say goes over the stream. Its end is the end of the connection. */
static void stream_event(struct sink *s, const char *event, const char *data)
{
	OWNED(str) struct str bytes = STR_INIT;

	if (!s->http)
		return;
	str_addf(&bytes, "event: %s\n", event);
	sse_event(&bytes, NULL, data);
	send_chunk(s, &bytes);
}

static void stream_reply(struct sink *s, const struct str *message, const char *event_id)
{
	OWNED(str) struct str alive = STR_INIT;

	(void)event_id;
	if (message->length) {
		stream_event(s, "message", message->bytes);
	} else if (s->http) {
		str_add(&alive, ": waiting\n\n");
		send_chunk(s, &alive);
	}
}

static void stream_wait(struct sink *s, const char *event_id)
{
	(void)s;
	(void)event_id;
}

static void stream_refuse(struct sink *s, const char *rpc_id, const struct mcp_fault *fault)
{
	OWNED(str) struct str message = STR_INIT;

	rpc_failure(&message, rpc_id, fault->code, fault->text,
	            fault->data[0] ? fault->data : NULL);
	stream_event(s, "message", message.bytes);
}

static void stream_finish(struct sink *s, int status)
{
	(void)s;
	(void)status;
}

static const struct transport STREAM = { .reply = stream_reply,
	                                 .notify = stream_reply,
	                                 .wait = stream_wait,
	                                 .refuse = stream_refuse,
	                                 .finish = stream_finish };

static void on_stream(struct sink *s)
{
	struct secret key = secret_new();
	OWNED(str) struct str address = STR_INIT;

	(void)snprintf(s->peer->key, sizeof(s->peer->key), "%s", key.text);
	hold(s, NULL);
	if (!s->http)
		return;
	s->by = &STREAM;
	s->ends_session = true;
	LIST_INSERT_HEAD(&s->front->streams, s, in_pipes);
	str_addf(&address, "/message?sessionId=%s", s->peer->key);
	stream_event(s, "endpoint", address.bytes);
	if (s->http) /* for the signs of life */
		front_hold(s->front, s, --s->front->listen_seq, clock_now_ms(), "null", NULL,
		           false);
}

static struct sink *find_stream(struct front *f, const char *uri)
{
	OWNED(cJSON_ptr) cJSON *query = header_query(uri);
	const char *key = json_text(query, "sessionId");
	struct sink *s = NULL;

	if (key)
		LIST_FOREACH (s, &f->streams, in_pipes)
			if (strlen(key) == strlen(s->peer->key) &&
			    CRYPTO_memcmp(key, s->peer->key, strlen(key)) == 0)
				break;
	return s;
}

/* POST /message: taken as if it had come over the stream, where its reply goes. */
static void on_message(struct sink *s)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(s->http);
	struct sink *stream = find_stream(s->front, evhttp_request_get_uri(s->http));
	struct rpc_message m = RPC_MESSAGE_INIT;
	size_t length = evbuffer_get_length(in);
	struct rpc_error wrong;

	if (!stream) {
		answer_error(s, 404, NULL, RPC_INVALID_REQUEST,
		             "there is no stream with this sessionId; open one with GET /sse");
	} else if (length > FRONT_MAX_MESSAGE) {
		answer_error(s, 413, NULL, RPC_INVALID_REQUEST,
		             "the body is longer than 4 MiB; send a smaller message");
	} else if (rpc_parse(length ? (const char *)evbuffer_pullup(in, -1) : "", length, &m,
	                     &wrong)) {
		answer_error(s, 400, m.id, wrong.code, wrong.text);
	} else if (m.kind == RPC_BATCH) {
		answer_error(s, 400, NULL, RPC_INVALID_REQUEST, "this transport takes no batches");
	} else {
		sink_hold(stream);
		answer(s, 202, "text/plain", "Accepted", 8);
		front_take(stream->front, stream, &m);
		sink_drop(stream);
	}
	rpc_message_clear(&m);
}

/* ---- requests ---- */

static void route(struct sink *s, const char *path)
{
	enum evhttp_cmd_type method = evhttp_request_get_command(s->http);

	if (strcmp(path, "/health") == 0 && method == EVHTTP_REQ_GET) {
		answer(s, 200, "text/plain", "ok", 2);
	} else if (strcmp(path, "/sse") == 0 && method == EVHTTP_REQ_GET) {
		on_stream(s);
	} else if (strcmp(path, "/message") == 0 && method == EVHTTP_REQ_POST) {
		on_message(s);
	} else if (strcmp(path, "/mcp") != 0) {
		answer_error(s, 404, NULL, RPC_INVALID_REQUEST,
		             "there is nothing here; MCP is served at /mcp");
	} else if (method == EVHTTP_REQ_POST) {
		on_post(s);
	} else if (method == EVHTTP_REQ_GET) {
		on_get(s);
	} else if (method == EVHTTP_REQ_DELETE) {
		on_delete(s);
	} else {
		header(s, "Allow", "GET, POST, DELETE");
		answer_error(s, 405, NULL, RPC_INVALID_REQUEST, "method not allowed");
	}
}

/* ---- slow clients ---- */

/* Evhttp does not say when a connection ends that has sent no whole request: what it had sent is
 * still counted then, until this is looked at. */
static void sweep(struct front *f)
{
	if (clock_monotonic_ms() - f->swept_ms < SWEEP_MS)
		return;
	f->swept_ms = clock_monotonic_ms();
	for (int fd = 0; fd < f->arrival_count; fd++) {
		struct arrival *a = &f->arrivals[fd];
		struct stat about;

		if (a->unfinished && (fstat(fd, &about) != 0 || about.st_ino != a->inode))
			front_count(f, &a->unfinished, 0);
	}
}

/* Ends a connection of which no whole request has come, past evhttp: it hears no more of it. What
 * the client still sends is read and thrown away for a while: at a reset it would not see why. */
static void turn_away(int fd, struct arrival *a, const char *why)
{
	OWNED(str) struct str body = STR_INIT;
	OWNED(str) struct str bytes = STR_INIT;

	log_warn("turned a caller away: %s", why);
	a->turned_away = true;
	rpc_failure(&body, NULL, RPC_INTERNAL_ERROR, why, NULL);
	str_addf(&bytes,
	         "HTTP/1.1 503 %s\r\nContent-Type: application/json\r\nConnection: close\r\n"
	         "Content-Length: %zu\r\n\r\n%s",
	         reason_of(503), body.length, body.bytes);
	(void)send(fd, bytes.bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)shutdown(fd, SHUT_WR);
}

static struct front *the_front; /* of this process, for callbacks that are not given it */

/* Of a connection whose request is not whole. */
static void look_at(struct front *f, int fd, struct arrival *a)
{
	if (front_is_overfull(f, a->unfinished))
		sweep(f);
	if (front_is_overfull(f, a->unfinished))
		turn_away(fd, a, FRONT_OVERFULL);
	else if (fd >= f->max_fd)
		turn_away(fd, a, "too many callers: no file descriptors are left; raise ulimit -n");
	if (a->turned_away)
		front_count(f, &a->unfinished, 0);
}

static void on_bytes(struct evbuffer *in, const struct evbuffer_cb_info *info, void *arg)
{
	int fd = bufferevent_getfd(arg);
	struct front *f = the_front;
	struct stat about;
	struct arrival *a;

	if (info->n_added == 0 || fd < 0 || fstat(fd, &about) != 0)
		return;
	a = arrival_of(f, fd);
	if (a->inode != about.st_ino) {
		front_count(f, &a->unfinished, 0);
		*a = (struct arrival){ .inode = about.st_ino };
	}
	if (!a->began_ms || a->held)
		a->began_ms = clock_monotonic_ms();
	else if (clock_monotonic_ms() - a->began_ms > FRONT_REQUEST_SECONDS * 1000)
		(void)shutdown(fd, SHUT_RDWR);
	front_count(f, &a->unfinished, a->unfinished + info->n_added);
	if (!a->turned_away)
		look_at(f, fd, a);
	if (a->turned_away) {
		front_count(f, &a->unfinished, 0);
		(void)evbuffer_drain(in, evbuffer_get_length(in));
	}
}

/* ---- more callers than descriptors ---- */

static bool has_descriptors(const struct front *f)
{
	int next = fcntl(f->hang_up_fd, F_DUPFD_CLOEXEC, 0); /* the lowest that is free */

	if (next >= 0)
		(void)close(next);
	return next >= 0 && next < f->max_fd + FRONT_SPARE_FDS / 2;
}

static void pause_accepting(struct front *f)
{
	static const struct timeval PAUSE = { .tv_usec = ACCEPT_PAUSE_MS * 1000 };

	(void)evconnlistener_disable(f->http_listener);
	(void)event_add(f->accept, &PAUSE);
}

static void on_accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;

	(void)fd;
	(void)what;
	if (has_descriptors(f))
		(void)evconnlistener_enable(f->http_listener);
	else
		pause_accepting(f);
}

static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	(void)listener;
	(void)arg; /* evhttp's own */
	pause_accepting(the_front);
}

static struct bufferevent *on_connect(struct event_base *base, void *arg)
{
	struct bufferevent *bev = bufferevent_socket_new(base, -1, 0);

	if (!has_descriptors(arg))
		pause_accepting(arg);
	if (bev)
		(void)evbuffer_add_cb(bufferevent_get_input(bev), on_bytes, bev);
	return bev;
}

/* ---- other users of this machine ---- */

static bool uid_is_allowed(const struct front *f, uid_t uid)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, f->allow_uids)
		if (cJSON_IsNumber(one) && one->valuedouble == (double)uid)
			return true;
	return uid == geteuid() || uid == 0;
}

static bool is_somebody_else(const struct front *f, int fd)
{
	struct err e = ERR_INIT;
	uid_t uid;

	if (peer_uid(fd, &uid, &e)) {
		log_warn("refused a caller: %s", e.text);
		return true;
	}
	if (uid_is_allowed(f, uid))
		return false;
	log_warn("refused a caller that runs as user %u", (unsigned)uid);
	return true;
}

/* A whole request is there. Returns whether its caller may ask: it is looked at once for each
 * connection, by the kernel's word. */
static bool has_arrived(struct front *f, struct evhttp_request *request)
{
	struct evhttp_connection *c = evhttp_request_get_connection(request);
	struct bufferevent *bev = evhttp_connection_get_bufferevent(c);
	int fd = bufferevent_getfd(bev);
	struct arrival *a;

	if (fd < 0)
		return false;
	a = arrival_of(f, fd);
	a->began_ms = 0;
	front_count(f, &a->unfinished,
	            evbuffer_get_length(bufferevent_get_input(bev))); /* of the next request */
	if (!a->looked) {
		a->looked = true;
		a->refused = is_somebody_else(f, fd);
	}
	return !a->refused;
}

static void on_request(struct evhttp_request *request, void *arg)
{
	struct front *f = arg;
	struct sink *s = sink_new(f, peer_new(PEER_HTTP, ""), &HTTP);
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	const char *why = NULL;
	int status = check_headers(request, &why);
	bool may_ask = has_arrived(f, request);

	s->http = request;
	evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_close, s);
	sink_hold(s);
	if (status) /* where the next request of this connection begins is not sure */
		header(s, "Connection", "close");
	if (!may_ask)
		answer_error(s, 403, NULL, RPC_INVALID_REQUEST,
		             "this agent-intercom belongs to another user; mcp.allow_uids in its "
		             "config.toml lets others in");
	else if (status)
		answer_error(s, status, NULL, RPC_INVALID_REQUEST, why);
	else if (!take_query(&s->peer->identity, evhttp_request_get_uri(request)))
		answer_error(s, 400, NULL, RPC_INVALID_REQUEST,
		             "the query of the URL is malformed, no UTF-8, or too long");
	else
		route(s, path ? path : "");
	sink_drop(s);
}

int http_start(struct front *f, struct err *e)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		                 .sin_port = htons((uint16_t)f->http_port),
		                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	struct evconnlistener *listener;

	f->hang_up_fd = epoll_create1(EPOLL_CLOEXEC);
	f->hang_up = event_new(f->base, f->hang_up_fd, EV_READ | EV_PERSIST, on_hang_up, f);
	(void)event_add(f->hang_up, NULL);
	the_front = f;
	f->accept = evtimer_new(f->base, on_accept_again, f);
	f->http = evhttp_new(f->base);
	evhttp_set_gencb(f->http, on_request, f);
	evhttp_set_bevcb(f->http, on_connect, f);
	evhttp_set_timeout(f->http, FRONT_READ_SECONDS);
	evhttp_set_max_headers_size(f->http, FRONT_HEADER_BYTES);
	evhttp_set_max_body_size(f->http, FRONT_MAX_MESSAGE * 2 + BODY_SLACK);
	evhttp_set_allowed_methods(f->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE |
	                                        EVHTTP_REQ_PUT | EVHTTP_REQ_OPTIONS |
	                                        EVHTTP_REQ_HEAD | EVHTTP_REQ_PATCH);
	listener = evconnlistener_new_bind(
	    f->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC,
	    BACKLOG, (struct sockaddr *)&a, (int)sizeof(a));
	if (!listener)
		return err_errno(e, ERR_INPUT,
		                 "cannot listen on 127.0.0.1:%lld; set http_port in config.toml to "
		                 "a free port",
		                 (long long)f->http_port);
	if (getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&a, &size) == 0)
		f->http_port = ntohs(a.sin_port);
	if (!evhttp_bind_listener(f->http, listener)) {
		evconnlistener_free(listener);
		return err_set(e, ERR_AGAIN, "evhttp takes no listener");
	}
	evconnlistener_set_error_cb(listener, on_accept_error);
	f->http_listener = listener;
	return 0;
}

void http_stop(struct front *f)
{
	if (f->http)
		evhttp_free(f->http); /* closes every connection; on_close tells the sinks */
	if (f->hang_up)
		event_free(f->hang_up);
	if (f->accept)
		event_free(f->accept);
	if (f->hang_up_fd >= 0)
		(void)close(f->hang_up_fd);
	free(f->arrivals);
	f->arrivals = NULL;
	f->arrival_count = 0;
	f->http = NULL;
	f->hang_up = NULL;
	f->accept = NULL;
	f->hang_up_fd = -1;
}
