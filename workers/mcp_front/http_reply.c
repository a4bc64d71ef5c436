#include "http_reply.h"

#include "front.h"
#include "hold.h"
#include "http_arrivals.h"
#include "io.h"
#include "log.h"

#include <event2/buffer.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <linux/sockios.h>
#include <poll.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
	SENT_SECONDS = 120, /* longer than the kernel keeps a connection that takes nothing */
	HELD_READ_BYTES = 4096, /* how much a client may send behind an open stream */
};

/* ---- answers ---- */

void http_reply_header(struct sink *s, const char *name, const char *value)
{
	(void)evhttp_add_header(evhttp_request_get_output_headers(s->http), name, value);
}

/* Ends an exchange: removes everything of it from the connection, which stays in use. */
static void let_go(struct sink *s)
{
	struct evhttp_connection *c = evhttp_request_get_connection(s->http);

	if (c)
		evhttp_connection_set_closecb(c, NULL, NULL);
	if (s->streaming && c) {
		(void)epoll_ctl(s->front->hang_up_fd, EPOLL_CTL_DEL, s->fd, NULL);
		bufferevent_setwatermark(evhttp_connection_get_bufferevent(c), EV_READ, 0, 0);
	}
}

/* ---- whether an answer arrives ---- */

static bool has(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP | events));
}

static int fd_of(struct evhttp_connection *c)
{
	return bufferevent_getfd(evhttp_connection_get_bufferevent(c));
}

static size_t unsent(struct evhttp_connection *c)
{
	return evbuffer_get_length(bufferevent_get_output(evhttp_connection_get_bufferevent(c)));
}

/* The kernel's word that the caller has closed, or that the connection was lost. */
static bool is_broken(struct evhttp_connection *c)
{
	return has(fd_of(c), 0);
}

/* Whether all that was written has reached the caller's machine. */
static bool is_taken(struct evhttp_connection *c)
{
	int waiting = 0;

	return unsent(c) == 0 && ioctl(fd_of(c), SIOCOUTQ, &waiting) == 0 && waiting == 0;
}

/* The same, and the caller has not gone with some of it unread: then its kernel resets the
 * connection. */
static bool arrived(struct evhttp_connection *c)
{
	return is_taken(c) && !is_broken(c);
}

/* Whether libevent closes the connection as soon as the answer has left. */
static bool closes(struct evhttp_request *r)
{
	const char *in = evhttp_find_header(evhttp_request_get_input_headers(r), "Connection");
	const char *out = evhttp_find_header(evhttp_request_get_output_headers(r), "Connection");

	return r->minor == 0 || (in && strcasecmp(in, "close") == 0) ||
	       (out && strcasecmp(out, "close") == 0);
}

/* Nothing of the answer is left to be looked after. */
static void settle(struct sink *s, struct evhttp_connection *c, bool has_arrived)
{
	if (!has_arrived)
		job_untold(s);
	*http_arrivals_sent(s->front, fd_of(c)) = NULL;
	evhttp_connection_set_closecb(c, NULL, NULL);
	evhttp_connection_set_timeout(c, HTTP_ARRIVALS_TIMEOUT_SECONDS);
	http_arrivals_set_held(s->front, fd_of(c), false);
	sink_drop(s);
}

static void on_unsent(struct evhttp_connection *c, void *arg)
{
	settle(arg, c, false);
}

static void on_end(struct evhttp_connection *c, void *arg)
{
	settle(arg, c, arrived(c));
}

/* The last byte has left for the kernel. What the caller's has not confirmed may still be lost:
 * with the connection, which the kernel ends if it takes nothing for USER_TIMEOUT_MS. Its next
 * request says that the answer was read. If the caller has closed, the kernel reports that at once;
 * one that has only shut down its sending side may still read. */
static void on_sent(struct evhttp_request *request, void *arg)
{
	struct evhttp_connection *c = evhttp_request_get_connection(request);
	struct sink *s = arg;
	bool broken = is_broken(c);

	if (s->told_count && !broken && !closes(request) && !is_taken(c)) {
		*http_arrivals_sent(s->front, fd_of(c)) = s;
		evhttp_connection_set_closecb(c, on_end, s);
		evhttp_connection_set_timeout(c, SENT_SECONDS);
		return;
	}
	settle(s, c, !broken);
}

static void look_after(struct sink *s, struct evhttp_request *request)
{
	struct evhttp_connection *c = evhttp_request_get_connection(request);

	if (!c) {
		job_untold(s);
		return;
	}
	sink_hold(s);
	evhttp_request_set_on_complete_cb(request, on_sent, s);
	evhttp_connection_set_closecb(c, on_unsent, s);
}

/* ---- one answer ---- */

void http_reply(struct sink *s, int status, const char *type, const void *body, size_t length)
{
	struct evhttp_request *request = s->http;
	struct evbuffer *b = evbuffer_new();

	http_reply_header(s, "Content-Type", type ? type : "text/plain");
	if (length && evhttp_request_get_command(request) != EVHTTP_REQ_HEAD)
		(void)evbuffer_add(b, body, length);
	let_go(s);
	sink_hold(s);
	hold_gone(s);
	look_after(s, request);
	evhttp_send_reply(request, status, NULL, b);
	evbuffer_free(b);
	sink_drop(s);
}

void http_reply_status(struct sink *s, int status)
{
	http_reply(s, status, NULL, NULL, 0);
}

void http_reply_error(struct sink *s, int status, const char *id, int code, const char *text)
{
	OWNED(str) struct str message = { 0 };

	rpc_failure(&message, id, code, text, NULL);
	http_reply(s, status, "application/json", message.bytes, message.length);
}

bool http_reply_is_full(const struct sink *stream)
{
	return unsent(evhttp_request_get_connection(stream->http)) > FRONT_FULL_OUTPUT;
}

/* Sends on an open stream. A reader that is too slow is cut off: it can reconnect and resume. */
static void send_chunk(struct sink *s, const struct str *bytes)
{
	struct evhttp_connection *c = evhttp_request_get_connection(s->http);
	struct evbuffer *b;

	if (unsent(c) > FRONT_MAX_OUTPUT) {
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
	hold_gone(s);
	look_after(s, request);
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
		http_reply_status(s, status);
}

static void notify(struct sink *s, const struct str *message, const char *event_id)
{
	OWNED(str) struct str bytes = { 0 };

	if (!s->http || !s->streaming)
		return;
	if (message->length)
		mcp_sse_event(&bytes, event_id, message->bytes);
	else
		str_add(&bytes, ": waiting\n\n");
	send_chunk(s, &bytes);
}

static void begin_stream(struct sink *s, const char *event_id);

static void reply(struct sink *s, const struct str *message, const char *event_id)
{
	if (!s->http)
		return;
	s->expected--;
	if (!s->streaming && s->expected <= 0) {
		if (s->initializes)
			http_reply_header(s, "Mcp-Session-Id", s->peer->key);
		http_reply(s, 200, "application/json", message->bytes, message->length);
		return;
	}
	sink_hold(s);
	if (s->streaming && has(s->fd, POLLRDHUP)) { /* hung up during a long turn: unnoticed yet */
		job_untold(s);
		evhttp_connection_free(evhttp_request_get_connection(s->http));
	}
	if (!s->streaming)
		begin_stream(s, NULL);
	notify(s, message, event_id);
	if (s->http && s->expected <= 0)
		end_stream(s);
	sink_drop(s);
}

/* The status applies to a single reply; a stream or a batch has already sent 200. */
static void refuse(struct sink *s, const char *rpc_id, const struct mcp_fault *fault)
{
	OWNED(str) struct str message = { 0 };

	if (!s->http)
		return;
	rpc_failure(&message, rpc_id, fault->code, fault->text,
	            fault->data[0] ? fault->data : NULL);
	if (s->streaming || s->expected > 1)
		reply(s, &message, NULL);
	else
		http_reply(s, fault->status, "application/json", message.bytes, message.length);
}

/* ---- holding ---- */

/* The connection is gone, whoever closed it. Only here does a held request end early. */
static void on_close(struct evhttp_connection *c, void *arg)
{
	struct sink *s = arg;
	struct evhttp_request *request = s->http;

	if (s->told_count && !arrived(c))
		job_untold(s);
	if (s->streaming)
		(void)epoll_ctl(s->front->hang_up_fd, EPOLL_CTL_DEL, s->fd, NULL);
	if (s->ends_session)
		LIST_REMOVE(s, in_pipes);
	hold_gone(s);
	/* If evhttp noticed the hang-up itself, it leaves the held request to us to free. */
	if (request && !evhttp_request_get_connection(request))
		evhttp_request_free(request);
}

/* From here until the last byte of the answer has left, the caller waits for us: were its time to
 * run on, a turn that takes longer would cut it off with its answer unsent. */
void http_reply_take(struct sink *s, struct evhttp_request *request)
{
	struct evhttp_connection *c = evhttp_request_get_connection(request);
	struct sink *before = *http_arrivals_sent(s->front, fd_of(c));

	if (before)
		settle(before, c, true);
	s->http = request;
	evhttp_connection_set_closecb(c, on_close, s);
	http_arrivals_set_held(s->front, fd_of(c), true);
}

/* The next request may queue up behind a held one. A client that sends more than we read meanwhile
 * is cut off: behind unread bytes we could not see it hang up. */
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

/* Drops the headers that evhttp needs no more once it has sent those of the answer, for as long as
 * it is held: all but those that say whether the connection closes with it. */
static void drop_headers(struct evkeyvalq *headers)
{
	struct evkeyval *h, *next;

	for (h = TAILQ_FIRST(headers); h; h = next) {
		next = TAILQ_NEXT(h, next);
		if (strcasecmp(h->key, "Connection") != 0 &&
		    strcasecmp(h->key, "Proxy-Connection") != 0)
			(void)evhttp_remove_header(headers, h->key);
	}
}

static void begin_stream(struct sink *s, const char *event_id)
{
	struct evhttp_connection *c;
	struct bufferevent *bev;
	struct epoll_event hang_up = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = s };
	OWNED(str) struct str priming = { 0 };

	if (!s->http)
		return;
	if (!s->streaming) {
		c = evhttp_request_get_connection(s->http);
		bev = evhttp_connection_get_bufferevent(c);
		s->fd = bufferevent_getfd(bev);
		s->streaming = true;
		(void)epoll_ctl(s->front->hang_up_fd, EPOLL_CTL_ADD, s->fd, &hang_up);
		http_reply_header(s, "Content-Type", "text/event-stream");
		http_reply_header(s, "Cache-Control", "no-cache, no-transform");
		http_reply_header(s, "X-Accel-Buffering", "no");
		evhttp_send_reply_start(s->http, 200, "OK");
		drop_headers(evhttp_request_get_input_headers(s->http));
		drop_headers(evhttp_request_get_output_headers(s->http));
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

static void wait_for_reply(struct sink *s, const char *event_id)
{
	if (!s->initializes)
		begin_stream(s, event_id);
}

const struct transport HTTP_REPLY = { .reply = reply,
	                              .notify = notify,
	                              .wait = wait_for_reply,
	                              .refuse = refuse,
	                              .finish = finish,
	                              .looks = true };

/* ---- the stream of revision 2024-11-05 ---- */

void http_reply_event(struct sink *s, const char *event, const char *data)
{
	OWNED(str) struct str bytes = { 0 };

	if (!s->http)
		return;
	str_addf(&bytes, "event: %s\n", event);
	mcp_sse_event(&bytes, NULL, data);
	send_chunk(s, &bytes);
}

static void stream_reply(struct sink *s, const struct str *message, const char *event_id)
{
	OWNED(str) struct str alive = { 0 };

	(void)event_id;
	if (message->length) {
		http_reply_event(s, "message", message->bytes);
	} else if (s->http) {
		str_add(&alive, ": waiting\n\n");
		send_chunk(s, &alive);
	}
}

static void stream_refuse(struct sink *s, const char *rpc_id, const struct mcp_fault *fault)
{
	OWNED(str) struct str message = { 0 };

	rpc_failure(&message, rpc_id, fault->code, fault->text,
	            fault->data[0] ? fault->data : NULL);
	http_reply_event(s, "message", message.bytes);
}

static bool stream_has_read(const struct sink *s)
{
	return s->http && arrived(evhttp_request_get_connection(s->http));
}

const struct transport HTTP_REPLY_STREAM = { .reply = stream_reply,
	                                     .notify = stream_reply,
	                                     .refuse = stream_refuse,
	                                     .looks = true,
	                                     .has_read = stream_has_read };

/* ---- hang-ups ---- */

void http_reply_start(struct front *f)
{
	f->hang_up_fd = epoll_create1(EPOLL_CLOEXEC);
	f->hang_up = event_new(f->base, f->hang_up_fd, EV_READ | EV_PERSIST, on_hang_up, f);
	(void)event_add(f->hang_up, NULL);
}

void http_reply_stop(struct front *f)
{
	front_drop(&f->hang_up);
	io_shut(&f->hang_up_fd);
}
