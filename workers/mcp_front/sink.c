/* Where replies go, whatever the transport. */
#include "front.h"

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
	peer_free(s->peer);
	free(s);
}

void sink_refuse(struct sink *s, const char *rpc_id, int code, const char *text)
{
	struct mcp_fault fault = { .status = 200, .code = code };

	(void)snprintf(fault.text, sizeof(fault.text), "%s", text);
	s->by->refuse(s, rpc_id, &fault);
}

void front_fail(struct front *f, const struct err *e)
{
	if (f->failure->kind == ERR_NONE)
		*f->failure = *e;
	(void)event_base_loopbreak(f->base);
}

const char FRONT_OVERFULL[] =
    "too many big messages are being sent at once (64 MiB); send it again later";

void front_count(struct front *f, size_t *before, size_t now)
{
	f->unfinished += now - *before;
	*before = now;
}

bool front_is_overfull(const struct front *f, size_t own)
{
	return f->unfinished > FRONT_MAX_UNFINISHED && own > FRONT_SMALL_MESSAGE;
}
