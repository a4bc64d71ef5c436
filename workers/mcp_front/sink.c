/* Where replies go, whatever the transport. */
#include "front.h"

#include <stdlib.h>

struct sink *sink_new(struct front *f, struct peer *peer)
{
	struct sink *s = xcalloc(1, sizeof(*s));

	s->front = f;
	s->peer = peer;
	s->holds = 1;
	s->fd = -1;
	LIST_INIT(&s->waiters);
	f->sinks++;
	return s;
}

void sink_hold(struct sink *s)
{
	s->holds++;
}

void sink_drop(struct sink *s)
{
	if (--s->holds > 0)
		return;
	s->front->sinks--;
	peer_free(s->peer);
	free(s);
}

void sink_gone(struct sink *s)
{
	struct front *f = s->front;
	struct waiter *w;

	if (s->gone)
		return;
	s->gone = true;
	s->http = NULL;
	s->pipe = NULL;
	while ((w = LIST_FIRST(&s->waiters)) != NULL) {
		int64_t call_seq = w->held->seq;

		if (front_forget(f, w))
			front_queue(f, JOB_HANG_UP, s, NULL)->call_seq = call_seq;
	}
	if (s->peer->transport == PEER_STDIO)
		(void)front_queue(f, JOB_END, s, NULL);
	sink_drop(s);
}

void sink_reply(struct sink *s, const struct str *message, const char *event_id)
{
	if (s->http)
		http_reply(s, message, event_id);
	else if (s->pipe)
		pipe_send(s, message);
}

void sink_notify(struct sink *s, const struct str *message, const char *event_id)
{
	if (s->http)
		http_notify(s, message, event_id);
	else if (s->pipe && message->length)
		pipe_send(s, message);
}

void sink_wait(struct sink *s, const char *event_id)
{
	if (s->http)
		http_wait(s, event_id);
}

void sink_refuse(struct sink *s, const char *rpc_id, int code, const char *text)
{
	OWNED(str) struct str message = STR_INIT;

	rpc_failure(&message, rpc_id, code, text, NULL);
	sink_reply(s, &message, NULL);
}
