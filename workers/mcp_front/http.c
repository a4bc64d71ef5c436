/* Streamable HTTP on evhttp (MCP 2025-11-25, "Transports"): POST /mcp, GET /mcp to resume, DELETE
 * /mcp to end a session; the transport before it: GET /sse, POST /message; GET /health,
 * and GET /metrics for monitoring. Loopback only. */
#include "http.h"

#include "front.h"
#include "guests.h"
#include "header.h"
#include "hold.h"
#include "http_arrivals.h"
#include "http_callers.h"
#include "http_reply.h"
#include "http_token.h"
#include "id.h"
#include "log.h"
#include "metric.h"
#include "peer_user.h"
#include "take.h"
#include "unread.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BACKLOG = 1024,
	STREAMS_PER_USER = 1000, /* event streams of revision 2024-11-05 */
	BODY_SLACK = 4096, /* evhttp reads this much beyond our limit, so that we can say why */
};

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
			take_message(s->front, s, &messages[i]);
		http_reply_status(s, 202);
	} else {
		sink_hold(s);
		for (int i = 0; i < count; i++)
			if (wrong[i].code)
				sink_refuse(s, messages[i].id, wrong[i].code, wrong[i].text);
			else
				take_message(s->front, s, &messages[i]);
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
	if (mcp_is_modern(m->params) || (http_callers_are_modern(s) && !initializes)) {
		if (http_callers_identify_modern(s, m))
			take_message(s->front, s, m);
		return;
	}
	if (initializes && http_callers_are_modern(s)) {
		http_reply_error(s, 400, m->id, MCP_HEADER_MISMATCH,
		                 "initialize is not a method of this MCP-Protocol-Version");
		return;
	}
	if (initializes) {
		struct secret key = id_new_secret();

		(void)snprintf(s->peer->key, sizeof(s->peer->key), "%s", key.text);
		s->initializes = true;
		if (!http_callers_find_process(s, m->id))
			return;
	} else if (!http_callers_identify(s, m->id)) {
		return;
	}
	take_message(s->front, s, m);
}

/* Notifications and responses are only acknowledged, with 202. */
static void take_note(struct sink *s, struct rpc_message *m)
{
	if (http_callers_are_modern(s)) {
		if (m->kind == RPC_RESPONSE)
			http_reply_error(s, 400, NULL, RPC_INVALID_REQUEST,
			                 "this revision has no responses of clients");
		else
			http_reply_status(s, 202);
		return;
	}
	if (!http_callers_identify(s, NULL))
		return;
	sink_hold(s);
	take_message(s->front, s, m);
	http_reply_status(s, 202);
	sink_drop(s);
}

static void take_many(struct sink *s, const struct rpc_message *m)
{
	if (http_callers_are_modern(s)) {
		http_reply_error(s, 400, NULL, RPC_INVALID_REQUEST, "this revision has no batches");
		return;
	}
	if (!http_callers_identify(s, NULL))
		return;
	if (cJSON_GetArraySize(m->root) > RPC_MAX_BATCH)
		http_reply_error(s, 413, NULL, RPC_INVALID_REQUEST,
		                 "a batch holds at most 100 messages");
	else if (cJSON_GetArraySize(m->root) == 0 ||
	         (s->peer->version && strcmp(s->peer->version, "2025-03-26") != 0))
		http_reply_error(s, 400, NULL, RPC_INVALID_REQUEST,
		                 "batches exist in revision 2025-03-26 only, and are not empty");
	else
		take_batch(s, m);
}

static void take_any(struct sink *s, struct rpc_message *m)
{
	if (m->kind == RPC_BATCH)
		take_many(s, m);
	else if (m->kind == RPC_REQUEST)
		take_request(s, m);
	else
		take_note(s, m);
}

/* A browser sends a cross-origin request without Content-Type without asking us first, so a caller
 * with an Origin must set it. */
static bool is_json(struct sink *s)
{
	const char *type = http_callers_header(s, "Content-Type");

	if (type ? header_is_json(type) : !http_callers_header(s, "Origin"))
		return true;
	http_reply_error(s, 415, NULL, RPC_INVALID_REQUEST, "send application/json");
	return false;
}

/* evhttp would keep the body until the reply. */
static int parse(struct sink *s, struct rpc_message *m, struct rpc_error *wrong)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(s->http);
	size_t length = evbuffer_get_length(in);
	int failed =
	    rpc_parse(length ? (const char *)evbuffer_pullup(in, -1) : "", length, m, wrong);

	(void)evbuffer_drain(in, length);
	front_count(s->front, &s->unfinished, 0);
	return failed;
}

static void on_post(struct sink *s)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(s->http);
	size_t length = evbuffer_get_length(in);
	struct rpc_message m = { 0 };
	struct rpc_error wrong;

	if (!is_json(s))
		return;
	if (length > FRONT_MAX_MESSAGE) {
		http_reply_error(s, 413, NULL, RPC_INVALID_REQUEST,
		                 "the body is longer than 4 MiB; send a smaller message");
		return;
	}
	if (parse(s, &m, &wrong)) {
		http_reply_error(s, 400, m.id, wrong.code, wrong.text);
	} else {
		take_any(s, &m);
	}
	rpc_message_clear(&m);
}

/* ---- GET, DELETE ---- */

static void on_get(struct sink *s)
{
	const char *last = http_callers_header(s, "Last-Event-ID");
	int64_t call_seq = last ? header_event_call(last) : 0;

	if (!last) {
		http_reply_header(s, "Allow", "POST, DELETE");
		http_reply_error(
		    s, 405, NULL, RPC_INVALID_REQUEST,
		    "there is no stream to listen to; GET resumes one with Last-Event-ID");
		return;
	}
	if (!http_callers_identify(s, NULL))
		return;
	if (call_seq == 0) {
		http_reply_header(s, "Allow", "POST, DELETE");
		http_reply_error(s, 405, NULL, RPC_INVALID_REQUEST,
		                 "there is no stream with this Last-Event-ID");
		return;
	}
	s->expected = 1;
	job_queue_note(s->front, JOB_RESUME, s, call_seq);
}

static void on_delete(struct sink *s)
{
	if (!http_callers_header(s, "Mcp-Session-Id")) {
		http_reply_error(s, 400, NULL, RPC_INVALID_REQUEST, "Mcp-Session-Id is missing");
		return;
	}
	if (http_callers_identify(s, NULL))
		job_queue_note(s->front, JOB_END, s, 0);
}

/* ---- HTTP with SSE, the transport of revision 2024-11-05 ---- */

/* GET /sse opens a stream whose first event names the URL to post messages to; everything we send
 * goes over the stream. When it ends, so does the connection. */
static void on_stream(struct sink *s)
{
	struct secret key = id_new_secret();
	OWNED(str) struct str address = { 0 };

	if (http_arrivals_streams(s->front, s->http) >= STREAMS_PER_USER) {
		http_reply_error(s, 503, NULL, RPC_INTERNAL_ERROR,
		                 "too many event streams of this user are open");
		return;
	}

	(void)snprintf(s->peer->key, sizeof(s->peer->key), "%s", key.text);
	sink_wait(s, NULL);
	if (!s->http)
		return;
	s->by = &HTTP_REPLY_STREAM;
	s->ends_session = true;
	LIST_INSERT_HEAD(&s->front->streams, s, in_pipes);
	str_addf(&address, "/message?sessionId=%s", s->peer->key);
	http_reply_event(s, "endpoint", address.bytes);
	if (s->http) /* for the keep-alives */
		hold_caller(s->front, s, --s->front->listen_seq, clock_now_ms(), "null", NULL,
		            false);
}

/* The stream that a request names, if its own user has opened it. */
static struct sink *find_stream(const struct sink *by)
{
	OWNED(cJSON_ptr) cJSON *query = header_query(evhttp_request_get_uri(by->http));
	const char *key = json_text(query, "sessionId");
	const int64_t *only_of = peer_only_of(by->peer);
	struct sink *s = NULL;

	if (key)
		LIST_FOREACH (s, &by->front->streams, in_pipes)
			if (strlen(key) == strlen(s->peer->key) &&
			    CRYPTO_memcmp(key, s->peer->key, strlen(key)) == 0)
				break;
	return s && (!only_of || s->peer->uid == *only_of) ? s : NULL;
}

/* POST /message: handled as if it had arrived over the stream, where its reply goes. */
static void on_message(struct sink *s)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(s->http);
	struct sink *stream = find_stream(s);
	struct rpc_message m = { 0 };
	size_t length = evbuffer_get_length(in);
	struct rpc_error wrong;

	if (!is_json(s)) {
		/* is_json has replied */
	} else if (!stream ||
	           (s->peer->token_session &&
	            (!stream->peer->identity.session_id ||
	             strcmp(s->peer->token_session, stream->peer->identity.session_id) != 0))) {
		http_reply_error(s, 404, NULL, RPC_INVALID_REQUEST,
		                 "there is no stream with this sessionId; open one with GET /sse");
	} else if (length > FRONT_MAX_MESSAGE) {
		http_reply_error(s, 413, NULL, RPC_INVALID_REQUEST,
		                 "the body is longer than 4 MiB; send a smaller message");
	} else if (http_reply_is_full(stream)) {
		http_reply_error(
		    s, 503, NULL, RPC_INTERNAL_ERROR,
		    "the answers on this stream are not read; read them, and send it again");
	} else if (parse(s, &m, &wrong)) {
		http_reply_error(s, 400, m.id, wrong.code, wrong.text);
	} else if (m.kind == RPC_BATCH) {
		http_reply_error(s, 400, NULL, RPC_INVALID_REQUEST,
		                 "this transport takes no batches");
	} else {
		sink_hold(stream);
		http_reply(s, 202, "text/plain", "Accepted", 8);
		take_message(stream->front, stream, &m);
		sink_drop(stream);
	}
	rpc_message_clear(&m);
}

/* ---- GET /metrics ---- */

static void on_metrics(struct sink *s)
{
	const char *accept = http_callers_header(s, "Accept");
	enum metric_form form = metric_form_of(accept);
	struct worker *w = &s->front->worker;
	OWNED(str) struct str text = { 0 };
	struct err e = { 0 };

	if (metric_print(&w->store, w->db_path, form, &text, &e)) {
		log_warn("metrics: %s", e.text);
		http_reply_error(s, 503, NULL, RPC_INTERNAL_ERROR, e.text);
	} else {
		http_reply(s, 200, metric_form_type(form), text.bytes, text.length);
	}
}

/* ---- requests ---- */

/* Its body stays with the request meanwhile. */
static void post(struct sink *s, sink_take *take)
{
	size_t length = evbuffer_get_length(evhttp_request_get_input_buffer(s->http));

	if (length > FRONT_BIG_CALL)
		unread_add(s, length, take);
	else
		take(s);
}

static void route(struct sink *s, const char *path)
{
	enum evhttp_cmd_type method = evhttp_request_get_command(s->http);

	if (strcmp(path, "/health") == 0 && method == EVHTTP_REQ_GET) {
		http_reply(s, 200, "text/plain", "ok", 2);
	} else if (strcmp(path, "/metrics") == 0 && method == EVHTTP_REQ_GET) {
		on_metrics(s);
	} else if (strcmp(path, "/sse") == 0 && method == EVHTTP_REQ_GET) {
		on_stream(s);
	} else if (strcmp(path, "/message") == 0 && method == EVHTTP_REQ_POST) {
		post(s, on_message);
	} else if (strcmp(path, "/mcp") != 0) {
		http_reply_error(s, 404, NULL, RPC_INVALID_REQUEST,
		                 "there is nothing here; MCP is served at /mcp");
	} else if (method == EVHTTP_REQ_POST) {
		post(s, on_post);
	} else if (method == EVHTTP_REQ_GET) {
		on_get(s);
	} else if (method == EVHTTP_REQ_DELETE) {
		on_delete(s);
	} else {
		http_reply_header(s, "Allow", "GET, POST, DELETE");
		http_reply_error(s, 405, NULL, RPC_INVALID_REQUEST, "method not allowed");
	}
}

/* ---- the server ---- */

static void on_request(struct evhttp_request *request, void *arg)
{
	struct front *f = arg;
	struct sink *s = sink_new(f, peer_new(CONNECTION_TRANSPORT_HTTP, ""), &HTTP_REPLY);
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	const char *why = NULL;
	int status = http_callers_check(request, &why);
	bool may_ask = http_arrivals_let_in(f, request);

	if (may_ask)
		guests_mark(f, s->peer, http_arrivals_user(f, request));
	http_reply_take(s, request);
	sink_hold(s);
	if (status) /* where the next request would start is uncertain */
		http_reply_header(s, "Connection", "close");
	if (!may_ask)
		http_reply_error(s, 403, NULL, RPC_INVALID_REQUEST, guests_refusal(f));
	else if (status)
		http_reply_error(s, status, NULL, RPC_INVALID_REQUEST, why);
	else if (!http_callers_take_query(&s->peer->identity, evhttp_request_get_uri(request),
	                                  &why))
		http_reply_error(s, 400, NULL, RPC_INVALID_REQUEST, why);
	else if (http_token_take(s))
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

	http_reply_start(f);
	http_arrivals_start(f);
	f->http = evhttp_new(f->base);
	evhttp_set_gencb(f->http, on_request, f);
	evhttp_set_bevcb(f->http, http_arrivals_connect, f);
	evhttp_set_timeout(f->http, HTTP_ARRIVALS_TIMEOUT_SECONDS);
	evhttp_set_max_headers_size(f->http, FRONT_HEADER_BYTES);
	evhttp_set_max_body_size(f->http, FRONT_MAX_MESSAGE * 2 + BODY_SLACK);
	evhttp_set_allowed_methods(f->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE |
	                                        EVHTTP_REQ_PUT | EVHTTP_REQ_OPTIONS |
	                                        EVHTTP_REQ_HEAD | EVHTTP_REQ_PATCH);
	listener = f->activation.http_fd >= 0
	               ? evconnlistener_new(f->base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC, 0,
	                                    f->activation.http_fd)
	               : evconnlistener_new_bind(f->base, NULL, NULL,
	                                         LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE |
	                                             LEV_OPT_CLOSE_ON_EXEC,
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
	http_arrivals_listen(f, listener);
	return 0;
}

void http_stop(struct front *f)
{
	if (f->http)
		evhttp_free(f->http); /* closes every connection; a callback tells the sinks */
	f->http = NULL;
	http_reply_stop(f);
	http_arrivals_stop(f);
}
