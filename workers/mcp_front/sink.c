#include "sink.h"

#include "front.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

struct sink *sink_new(struct front *f, struct peer *peer, const struct transport *by)
{
	struct sink *s = xcalloc(1, sizeof(*s));

	s->by = by;
	s->front = f;
	s->peer = peer;
	s->holds = 1;
	s->fd = -1;
	s->lines = (struct lines)LINES_INIT(FRONT_MAX_MESSAGE);
	LIST_INIT(&s->waiters);
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
	front_count(s->front, &s->unfinished, 0);
	lines_clear(&s->lines);
	str_clear(&s->hook_params);
	free(s->told);
	peer_free(s->peer);
	free(s);
}

bool sink_has_hung_up(const struct sink *s)
{
	struct pollfd p = { .fd = s->pipe ? bufferevent_getfd(s->pipe) : s->fd,
		            .events = POLLRDHUP };

	if (s->gone)
		return true;
	return p.fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

void sink_tells(struct sink *s, int64_t call_seq)
{
	sink_look(s);
	if (!s->by->looks || call_seq <= 0)
		return;
	s->told = xrealloc(s->told, (s->told_count + 1) * sizeof(*s->told));
	s->told[s->told_count++] = call_seq;
}

void sink_look(struct sink *s)
{
	if (s->told_count && s->by->has_read && s->by->has_read(s))
		s->told_count = 0;
}

void sink_reply(struct sink *s, const char *rpc_id, const struct str *result)
{
	OWNED(str) struct str message = { 0 };

	rpc_result(&message, rpc_id, result->bytes);
	s->by->reply(s, &message, NULL);
}

void sink_owes_less(struct sink *s)
{
	if (--s->expected <= 0 && s->by->finish)
		s->by->finish(s, 202);
}

void sink_wait(struct sink *s, const char *event_id)
{
	if (s->by->wait)
		s->by->wait(s, event_id);
}

void sink_refuse(struct sink *s, const char *rpc_id, int code, const char *text)
{
	struct mcp_fault fault = { .status = 200, .code = code };

	(void)snprintf(fault.text, sizeof(fault.text), "%s", text);
	s->by->refuse(s, rpc_id, &fault);
}
