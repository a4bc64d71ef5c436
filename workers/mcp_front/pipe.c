/* The Unix socket of the relays (mcp-stdio), and of hooks (hook_pipe.h): one JSON message per line
 * in both directions. A relay's first line identifies it: {"agent-intercom":1, "workspace":"/abs",
 * ..., "resume":"key"}. The reply is {"agent-intercom":1,"key":"...","http":"http://..."}, and with
 * that key the relay may reconnect after this process has died. */
#include "pipe.h"

#include "front.h"
#include "guests.h"
#include "hold.h"
#include "hook_pipe.h"
#include "http_arrivals.h"
#include "id.h"
#include "log.h"
#include "socket.h"
#include "take.h"
#include "unread.h"

#include <event2/buffer.h>
#include <event2/listener.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char SOCKET_NAME[] = "mcp.sock";

enum {
	DRAINED_BYTES = FRONT_FULL_OUTPUT / 4, /* unread, below which it is read from again */
	SLICE_BYTES = 4096, /* of requests, between two looks at that */
	UNREAD_SECONDS = 30, /* within which it must read some */
	GREETING_BYTES = 65536,
};

static const char DEAF[] = "a relay does not read its answers: cut off";

static void close_pipe(struct sink *s)
{
	struct bufferevent *pipe = s->pipe;

	if (!pipe)
		return;
	LIST_REMOVE(s, in_pipes);
	hold_gone(s); /* s may be freed */
	bufferevent_free(pipe);
}

/* Not all that was sent has been read: what was to tell an answer is taken back. */
static void close_unread(struct sink *s)
{
	job_untold(s);
	close_pipe(s);
}

/* A relay takes from its socket what it has written to its agent. Of one that has gone the kernel
 * knows no more what it left: so that is looked at last. */
static bool has_read(const struct sink *s)
{
	int waiting = 0;

	return s->pipe && evbuffer_get_length(bufferevent_get_output(s->pipe)) == 0 &&
	       ioctl(bufferevent_getfd(s->pipe), SIOCOUTQ, &waiting) == 0 && waiting == 0 &&
	       !sink_has_hung_up(s);
}

static void send_bytes(struct sink *s, const struct str *bytes, const char *end)
{
	struct evbuffer *out;

	if (!s->pipe || bytes->length == 0)
		return;
	out = bufferevent_get_output(s->pipe);
	if (evbuffer_get_length(out) > FRONT_MAX_OUTPUT) {
		log_warn("%s", DEAF);
		close_unread(s);
		return;
	}
	(void)evbuffer_add(out, bytes->bytes, bytes->length);
	(void)evbuffer_add(out, end, strlen(end));
}

static void reply(struct sink *s, const struct str *message, const char *event_id)
{
	OWNED(str) struct str words = { 0 };

	(void)event_id;
	if (s->hook_event)
		hook_pipe_word(s, message, &words);
	send_bytes(s, s->hook_event ? &words : message, s->hook_event ? "" : "\n");
}

static void notify(struct sink *s, const struct str *message, const char *event_id)
{
	sink_look(s);
	reply(s, message, event_id);
}

static void refuse(struct sink *s, const char *rpc_id, const struct mcp_fault *fault)
{
	OWNED(str) struct str message = { 0 };

	rpc_failure(&message, rpc_id, fault->code, fault->text,
	            fault->data[0] ? fault->data : NULL);
	reply(s, &message, NULL);
}

static const struct transport PIPE = {
	.reply = reply, .notify = notify, .refuse = refuse, .looks = true, .has_read = has_read
};

/* ---- the first line ---- */

/* With the key that its relay had before. If we do not know it, or another user has it, the new one
 * stays, and the relay says once more how its agent has begun. */
static int resume_as(struct sink *s, const char *resume, struct err *e)
{
	struct peer *p = s->peer;
	char ours[PEER_KEY_BYTES];
	int got;

	(void)snprintf(ours, sizeof(ours), "%s", p->key);
	(void)snprintf(p->key, sizeof(p->key), "%s", resume);
	got = peer_load(&s->front->worker.store, p, e);
	if (got < 0)
		return -1;
	if (!got)
		(void)snprintf(p->key, sizeof(p->key), "%s", ours);
	p->transport = CONNECTION_TRANSPORT_STDIO;
	p->resumed = true;
	p->closed = false;
	if (p->seq)
		job_queue_note(s->front, JOB_REOPEN, s, 0);
	return 0;
}

static int greet(struct sink *s, const char *line, size_t length, struct err *e)
{
	const struct timeval unread = { .tv_sec = UNREAD_SECONDS };

	if (length > GREETING_BYTES)
		return err_set(e, ERR_INPUT, "a relay's greeting has more than %d bytes",
		               GREETING_BYTES);
	OWNED(cJSON_ptr) cJSON *hello = json_read_strictly(line, length, "a relay's greeting", e);
	OWNED(str) struct str answer = { 0 };
	const char *resume = json_text(hello, "resume");

	if (!hello)
		return -1;
	if (!cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(hello, "agent-intercom")))
		return err_set(e, ERR_INPUT, "a relay did not begin with its greeting");
	peer_identity_read(&s->peer->identity, hello);
	if (resume && strlen(resume) < PEER_KEY_BYTES && *resume && resume_as(s, resume, e))
		return -1;
	str_addf(&answer, "{\"agent-intercom\":1,\"key\":\"%s\"", s->peer->key);
	if (s->front->http) /* for `where` of a user who can read no row of ours */
		str_addf(&answer, ",\"http\":\"http://127.0.0.1:%lld/mcp\"",
		         (long long)s->front->http_port);
	str_add_char(&answer, '}');
	send_bytes(s, &answer, "\n");
	(void)bufferevent_set_timeouts(s->pipe, NULL, &unread);
	hook_pipe_greet(s, hello);
	s->greeted = true;
	return 0;
}

/* ---- lines ---- */

/* On stdio a modern message has no headers; the other checks apply. */
static void take_checked(struct sink *s, struct rpc_message *m)
{
	struct mcp_fault fault;

	if (m->kind == RPC_REQUEST && mcp_is_modern(m->params) &&
	    mcp_check_modern(m, NULL, &fault)) {
		refuse(s, m->id, &fault);
		rpc_message_clear(m);
		return;
	}
	take_message(s->front, s, m);
}

static void take_batch(struct sink *s, const struct rpc_message *batch)
{
	int count = cJSON_GetArraySize(batch->root);

	if (count == 0 || count > RPC_MAX_BATCH) {
		sink_refuse(s, NULL, RPC_INVALID_REQUEST, "a batch holds 1 to 100 messages");
		return;
	}
	for (int i = 0; i < count && !s->gone; i++) {
		struct rpc_message m = { 0 };
		struct rpc_error wrong;

		if (rpc_batch_item(batch, i, &m, &wrong)) {
			sink_refuse(s, m.id, wrong.code, wrong.text);
			rpc_message_clear(&m);
		} else {
			take_checked(s, &m);
		}
	}
}

static void take_line(struct sink *s, const char *line, size_t length)
{
	struct rpc_message m = { 0 };
	struct rpc_error wrong;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0)
		return;
	if (rpc_parse(line, length, &m, &wrong)) {
		sink_refuse(s, m.id, wrong.code, wrong.text);
		rpc_message_clear(&m);
	} else if (m.kind == RPC_BATCH) {
		take_batch(s, &m);
		rpc_message_clear(&m);
	} else {
		take_checked(s, &m);
	}
}

/* A message that was too long to be kept: whoever waits for its answer gets one. */
static void refuse_over(struct sink *s)
{
	const struct json_peek *asked = s->lines.peek;
	const char *id = asked->method[0] && asked->id[0] ? asked->id : NULL;

	if (s->overfull)
		sink_refuse(s, id, RPC_INTERNAL_ERROR, FRONT_OVERFULL);
	else
		sink_refuse(s, id, RPC_PARSE_ERROR,
		            "the message is longer than 4 MiB; send a smaller one");
	s->overfull = false;
}

static bool take_any(void *arg, const char *line, size_t length)
{
	struct sink *s = arg;
	struct err e = { 0 };

	if (!s->greeted) {
		if (greet(s, line ? line : "", line ? length : 0, &e)) {
			http_arrivals_refuse(s->front, "was refused: %s", e.text);
			close_pipe(s);
		}
	} else if (s->hook_event) {
		hook_pipe_take(s, line, length);
	} else if (length > FRONT_MAX_MESSAGE) {
		refuse_over(s);
	} else {
		take_line(s, line, length);
	}
	return !s->gone;
}

/* Whether these bytes complete a big message. */
static bool completes_big(const struct sink *s, const char *bytes, size_t n)
{
	return s->lines.rest.length > FRONT_BIG_CALL && memchr(bytes, '\n', n);
}

static void read_big(struct sink *s);

/* Whether it has so many answers to read that no message of it is taken until they are. */
static bool is_full(const struct sink *s)
{
	return evbuffer_get_length(bufferevent_get_output(s->pipe)) > FRONT_FULL_OUTPUT;
}

/* Takes what has arrived, up to the end of a big message: that waits until read_big takes it, and
 * so does what follows. Stops while the answers are not read: on_drained goes on. */
static void take_bytes(struct sink *s, bool takes_big)
{
	struct bufferevent *pipe = s->pipe;
	struct evbuffer *in = bufferevent_get_input(pipe);
	size_t n;

	sink_hold(s);
	while (!s->gone && (n = evbuffer_get_contiguous_space(in)) > 0) {
		const char *bytes;

		if (is_full(s)) {
			s->full = true;
			(void)bufferevent_disable(pipe, EV_READ);
			break;
		}
		n = n < SLICE_BYTES ? n : SLICE_BYTES;
		bytes = (const char *)evbuffer_pullup(in, (ssize_t)n);
		if (!takes_big && completes_big(s, bytes, n)) {
			(void)bufferevent_disable(pipe, EV_READ);
			unread_add(s, 0, read_big);
			break;
		}
		takes_big = false;
		if (lines_feed(&s->lines, bytes, n, take_any, s))
			(void)evbuffer_drain(in, n);
	}
	front_count(s->front, &s->unfinished, s->lines.rest.length);
	if (!s->gone && !unread_has(s) && front_is_overfull(s->front, s->unfinished)) {
		lines_skip(&s->lines);
		s->overfull = true;
		front_count(s->front, &s->unfinished, 0);
	}
	sink_drop(s);
}

static void read_big(struct sink *s)
{
	(void)bufferevent_enable(s->pipe, EV_READ);
	take_bytes(s, true);
}

static void on_read(struct bufferevent *pipe, void *arg)
{
	(void)pipe;
	sink_look(arg);
	take_bytes(arg, false);
}

static void on_drained(struct bufferevent *pipe, void *arg)
{
	struct sink *s = arg;

	if (!s->full)
		return;
	s->full = false;
	(void)bufferevent_enable(pipe, EV_READ);
	take_bytes(s, false);
}

static void on_event(struct bufferevent *pipe, short what, void *arg)
{
	struct sink *s = arg;

	if ((what & BEV_EVENT_TIMEOUT) && (what & BEV_EVENT_WRITING))
		log_warn("%s", DEAF);
	/* A reader that leaves something unread ends with an error. */
	if ((what & BEV_EVENT_EOF) && evbuffer_get_length(bufferevent_get_output(pipe)) == 0)
		close_pipe(s);
	else
		close_unread(s);
}

/* ---- the listener ---- */

/* Told, so that it looks for another system. */
static void turn_away(struct front *f, int fd, uid_t uid)
{
	static const char WHY[] = "{\"error\":\"this agent-intercom does not serve your user\"}\n";

	(void)send(fd, WHY, sizeof(WHY) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)close(fd);
	http_arrivals_refuse(f, RUNS_AS, (unsigned)uid);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int size, void *arg)
{
	struct front *f = arg;
	struct secret key = id_new_secret();
	struct timeval patience = { .tv_sec = f->request_seconds };
	struct bufferevent *pipe;
	uid_t uid = (uid_t)-1;
	struct sink *s;

	(void)listener;
	(void)address;
	(void)size;
	if (fd >= f->max_fd) {
		http_arrivals_refuse(f, "found no descriptor left");
		(void)close(fd);
		return;
	}
	if (!guests_admit(f, fd, &uid)) {
		turn_away(f, fd, uid);
		return;
	}
	pipe = bufferevent_socket_new(f->base, fd, BEV_OPT_CLOSE_ON_FREE);
	s = sink_new(f, peer_new(CONNECTION_TRANSPORT_STDIO, key.text), &PIPE);
	guests_mark(f, s->peer, uid);
	s->pipe = pipe;
	LIST_INSERT_HEAD(&f->pipes, s, in_pipes);
	bufferevent_setcb(pipe, on_read, on_drained, on_event, s);
	bufferevent_setwatermark(pipe, EV_WRITE, DRAINED_BYTES, 0);
	(void)bufferevent_set_timeouts(pipe, &patience, NULL);
	(void)bufferevent_enable(pipe, EV_READ | EV_WRITE);
}

int pipe_listen(struct front *f, struct err *e)
{
	front_deafen(&f->pipe_listener);
	f->pipe_listener = socket_listen(f, SOCKET_NAME, on_accept, e);
	if (!f->pipe_listener)
		return -1;
	return activation_listen(&f->activation, f->base, on_accept, f, e) ||
	               guests_listen(f, on_accept, e)
	           ? -1
	           : 0;
}

void pipe_stop(struct front *f)
{
	front_deafen(&f->pipe_listener);
	activation_stop(&f->activation);
	guests_stop(f);
	/* The connections stay open in their rows: the relays reconnect to our successor. One that
	 * does not may have read nothing of this. */
	while (!LIST_EMPTY(&f->pipes)) {
		struct sink *s = LIST_FIRST(&f->pipes);

		s->peer->transport = CONNECTION_TRANSPORT_STATELESS;
		sink_look(s);
		close_unread(s);
	}
	(void)unlinkat(f->worker.run_fd, SOCKET_NAME, 0);
}
