#include "front.h"

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

void front_drop(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

void front_in(struct event *timer, int64_t ms)
{
	int64_t due = ms < 1 ? 1 : ms;
	const struct timeval t = { .tv_sec = due / 1000, .tv_usec = (due % 1000) * 1000 };

	(void)event_add(timer, &t);
}

void front_deafen(struct evconnlistener **listener)
{
	if (*listener)
		evconnlistener_free(*listener);
	*listener = NULL;
}
