#include "http_arrivals.h"

#include "front.h"
#include "log.h"
#include "peer_process.h"
#include "peer_uid.h"

#include <event2/buffer.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct front *the_front; /* for callbacks without an argument of ours */

enum {
	SWEEP_MS = 100, /* between two sweeps over all arrivals */
	LOOKS = 10, /* at those that are to send something, in the time that a request may take */
	ACCEPT_PAUSE_MS = 100, /* while no descriptors are left */
	REFUSED_LOG_MS = 60000,
	KEEPALIVE_IDLE_S = 30,
	KEEPALIVE_INTERVAL_S = 10,
	KEEPALIVE_COUNT = 3,
	/* The kernel goes by this, not by the count: were it less, one lost probe would end a
	 * connection. */
	USER_TIMEOUT_MS = (KEEPALIVE_IDLE_S + KEEPALIVE_COUNT * KEEPALIVE_INTERVAL_S) * 1000,
};

/* evhttp restarts its timeout with each byte, so a client that sends one now and then would stay
 * connected for ever; and it ends who was idle when we stood still for so long, though a request
 * has come. The inode tells a new connection from an old one on the same descriptor. */
struct arrival {
	ino_t inode; /* 0: there is no connection */
	int64_t began_ms; /* monotonic; since when it is to send a request, or sends one */
	bool begun; /* a byte of a request has arrived */
	size_t unfinished; /* bytes of an incomplete request; its share of front.unfinished */
	bool held; /* a complete request is unanswered: no time limit for the next one */
	bool turned_away; /* what it still sends is discarded */
	bool looked; /* the uid at the other end was asked for */
	bool refused; /* and belongs to another user */
	uid_t uid; /* of the caller, unless refused */
	bool sought; /* the calling process was looked up */
	char process[PEER_PROCESS_BYTES]; /* "": unknown */
	struct sink *sent; /* whose answer has left, and may not have arrived yet */
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

struct sink **http_arrivals_sent(struct front *f, int fd)
{
	return &arrival_of(f, fd)->sent;
}

/* ---- slow clients ---- */

static bool is_there(int fd, const struct arrival *a)
{
	struct stat about;

	return a->inode && fstat(fd, &about) == 0 && about.st_ino == a->inode;
}

/* evhttp does not report the end of a connection that never sent a complete request; its bytes stay
 * counted until this sweep. */
static void sweep(struct front *f)
{
	if (clock_monotonic_ms() - f->swept_ms < SWEEP_MS)
		return;
	f->swept_ms = clock_monotonic_ms();
	for (int fd = 0; fd < f->arrival_count; fd++) {
		struct arrival *a = &f->arrivals[fd];

		if (a->unfinished && !is_there(fd, a))
			front_count(f, &a->unfinished, 0);
	}
}

/* Refuses a connection without a complete request, bypassing evhttp, which hears nothing more of
 * it. What the client still sends is read and discarded for a while, because after a reset it would
 * not see the reason. */
static void send_away(int fd, struct arrival *a, const char *status, int code, const char *why)
{
	OWNED(str) struct str body = { 0 };
	OWNED(str) struct str bytes = { 0 };

	a->turned_away = true;
	rpc_failure(&body, NULL, code, why, NULL);
	str_addf(&bytes,
	         "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
	         "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
	         status, body.length, body.bytes);
	(void)send(fd, bytes.bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)shutdown(fd, SHUT_WR);
}

static void turn_away(int fd, struct arrival *a, const char *why)
{
	log_warn("refused a caller: %s", why);
	send_away(fd, a, "503 Service Unavailable", RPC_INTERNAL_ERROR, why);
}

/* Checks a connection whose request is incomplete. */
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

static void look_later(struct front *f)
{
	if (!evtimer_pending(f->look, NULL))
		front_in(f->look, f->request_seconds * 1000 / LOOKS);
}

/* Cuts off who has taken too long to send a request. The delay may be ours, so what has already
 * arrived is read first. */
static void on_look(evutil_socket_t unused, short what, void *arg)
{
	struct front *f = arg;
	int64_t now_ms = clock_monotonic_ms();
	bool more = false;

	(void)unused;
	(void)what;
	for (int fd = 0; fd < f->arrival_count; fd++) {
		struct arrival *a = &f->arrivals[fd];
		int unread = 0;

		if (a->held || !a->inode)
			continue;
		if (!is_there(fd, a)) {
			a->inode = 0;
			continue;
		}
		more = true;
		if (now_ms - a->began_ms > f->request_seconds * 1000 &&
		    ioctl(fd, FIONREAD, &unread) == 0 && unread == 0)
			(void)shutdown(fd, SHUT_RDWR);
	}
	if (more)
		look_later(f);
}

/* It is the client's turn: it has the whole time for its next request. */
static void await(struct front *f, struct arrival *a)
{
	a->began_ms = clock_monotonic_ms();
	look_later(f);
}

void http_arrivals_set_held(struct front *f, int fd, bool held)
{
	struct arrival *a = arrival_of(f, fd);

	a->held = held;
	if (!held)
		await(f, a);
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
	if (!a->begun)
		await(f, a);
	a->begun = true;
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
	int next = fcntl(f->hang_up_fd, F_DUPFD_CLOEXEC, 0); /* the lowest free one */

	if (next >= 0)
		(void)close(next);
	return next >= 0 && next < f->max_fd + FRONT_SPARE_FDS / 2;
}

static void pause_accepting(struct front *f)
{
	(void)evconnlistener_disable(f->http_listener);
	front_in(f->accept, ACCEPT_PAUSE_MS);
}

static void accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;

	(void)fd;
	(void)what;
	if (has_descriptors(f))
		(void)evconnlistener_enable(f->http_listener);
	else
		pause_accepting(f);
}

static void accept_error(struct evconnlistener *listener, void *arg)
{
	(void)listener;
	(void)arg; /* evhttp's own */
	pause_accepting(the_front);
}

/* Its descriptor is known at the end of this pass of the loop, before anything is read from it. */
static void remember(struct front *f, struct bufferevent *bev)
{
	f->newcomers =
	    xrealloc(f->newcomers, (f->newcomer_count + 1) * sizeof(struct bufferevent *));
	f->newcomers[f->newcomer_count++] = bev;
	bufferevent_incref(bev);
	event_active(f->newcomer_event, EV_TIMEOUT, 1);
}

struct bufferevent *http_arrivals_connect(struct event_base *base, void *arg)
{
	struct bufferevent *bev = bufferevent_socket_new(base, -1, 0);

	if (!has_descriptors(arg))
		pause_accepting(arg);
	if (bev) {
		(void)evbuffer_add_cb(bufferevent_get_input(bev), on_bytes, bev);
		remember(arg, bev);
	}
	return bev;
}

/* ---- other users of this machine ---- */

static bool uid_is_allowed(const struct front *f, uid_t uid)
{
	return guests_have(f, uid) || uid == geteuid() || uid == 0;
}

void http_arrivals_tell(struct front *f)
{
	if (f->refused_count == 0 || clock_monotonic_ms() < f->refused_ms)
		return;
	log_warn("refused %d caller(s); the last one %s", f->refused_count,
	         str_text(&f->refused_why));
	f->refused_count = 0;
	f->refused_ms = clock_monotonic_ms() + REFUSED_LOG_MS;
}

void http_arrivals_refuse(struct front *f, const char *format, ...)
{
	char why[ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	str_reset(&f->refused_why);
	str_add(&f->refused_why, why);
	f->refused_count++;
	http_arrivals_tell(f);
}

/* Asks the kernel, once per connection. */
static void ask_who(struct front *f, int fd, struct arrival *a)
{
	struct err e = { 0 };

	a->looked = true;
	a->refused = true;
	if (peer_uid(fd, &a->uid, &e))
		http_arrivals_refuse(f, "is unknown: %s", e.text);
	else if (uid_is_allowed(f, a->uid))
		a->refused = false;
	else
		http_arrivals_refuse(f, RUNS_AS, (unsigned)a->uid);
}

/* Sets up the socket of a new connection: keepalive notices a dead peer, the time-out one that does
 * not read, and an answer soon after the start of a stream does not wait for an acknowledgement
 * (Nagle against delayed ACK: 40 ms). */
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

static void meet(struct front *f, int fd)
{
	struct stat about;
	struct arrival *a;

	if (fd < 0 || fstat(fd, &about) != 0)
		return;
	a = arrival_of(f, fd);
	front_count(f, &a->unfinished, 0);
	*a = (struct arrival){ .inode = about.st_ino };
	await(f, a);
	tune(fd);
	ask_who(f, fd, a);
	if (a->refused)
		send_away(fd, a, "403 Forbidden", RPC_INVALID_REQUEST, guests_refusal(f));
}

static void on_newcomers(evutil_socket_t unused, short what, void *arg)
{
	struct front *f = arg;

	(void)unused;
	(void)what;
	for (size_t i = 0; i < f->newcomer_count; i++) {
		meet(f, bufferevent_getfd(f->newcomers[i]));
		(void)bufferevent_decref(f->newcomers[i]);
	}
	f->newcomer_count = 0;
}

static struct bufferevent *stream_of(struct evhttp_request *request)
{
	return evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
}

uid_t http_arrivals_user(struct front *f, struct evhttp_request *request)
{
	int fd = bufferevent_getfd(stream_of(request));

	return fd < 0 ? (uid_t)-1 : arrival_of(f, fd)->uid;
}

int http_arrivals_streams(struct front *f, struct evhttp_request *request)
{
	int fd = bufferevent_getfd(stream_of(request)), count = 0;
	const struct sink *s;

	if (fd < 0)
		return 0;
	LIST_FOREACH (s, &f->streams, in_pipes)
		count += s->fd >= 0 && arrival_of(f, s->fd)->uid == arrival_of(f, fd)->uid;
	return count;
}

bool http_arrivals_process(struct front *f, struct evhttp_request *request, const char **ret)
{
	static struct peer_process_hint hint;
	int fd = bufferevent_getfd(stream_of(request)), got;
	struct arrival *a;

	*ret = NULL;
	if (fd < 0)
		return true;
	a = arrival_of(f, fd);
	if (!a->sought) {
		got = peer_process_name(fd, &hint, a->process);
		if (got <= 0)
			a->process[0] = '\0';
		a->sought = got >= 0;
	}
	if (*a->process)
		*ret = a->process;
	return a->sought;
}

bool http_arrivals_let_in(struct front *f, struct evhttp_request *request)
{
	struct bufferevent *bev = stream_of(request);
	int fd = bufferevent_getfd(bev);
	struct arrival *a;

	if (fd < 0)
		return false;
	a = arrival_of(f, fd);
	a->begun = false;
	front_count(f, &a->unfinished,
	            evbuffer_get_length(bufferevent_get_input(bev))); /* of the next request */
	if (!a->looked)
		ask_who(f, fd, a);
	return !a->refused;
}

void http_arrivals_start(struct front *f)
{
	the_front = f;
	f->accept = evtimer_new(f->base, accept_again, f);
	f->newcomer_event = event_new(f->base, -1, 0, on_newcomers, f);
	f->look = evtimer_new(f->base, on_look, f);
}

void http_arrivals_listen(struct front *f, struct evconnlistener *listener)
{
	evconnlistener_set_error_cb(listener, accept_error);
	f->http_listener = listener;
}

void http_arrivals_stop(struct front *f)
{
	front_drop(&f->accept);
	for (size_t i = 0; i < f->newcomer_count; i++)
		(void)bufferevent_decref(f->newcomers[i]);
	free(f->newcomers);
	f->newcomers = NULL;
	f->newcomer_count = 0;
	front_drop(&f->newcomer_event);
	front_drop(&f->look);
	str_clear(&f->refused_why);
	free(f->arrivals);
	f->arrivals = NULL;
	f->arrival_count = 0;
}
