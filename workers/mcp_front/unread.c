#include "unread.h"

#include "front.h"

#include <malloc.h>

static const struct timeval NEXT_PASS = { 0 };

void unread_add(struct sink *s, size_t length, sink_take *take)
{
	struct front *f = s->front;

	sink_hold(s);
	s->take = take;
	if (length) /* 0: the transport has counted them */
		front_count(f, &s->unfinished, length);
	f->has_read_big = true;
	STAILQ_INSERT_TAIL(&f->unread, s, in_unread);
	if (!evtimer_pending(f->read_big, NULL))
		(void)evtimer_add(f->read_big, &NEXT_PASS);
}

bool unread_has(const struct sink *s)
{
	return s->take;
}

/* Takes it out of the line; the caller drops its hold. */
static sink_take *end_wait(struct front *f, struct sink *s)
{
	sink_take *take = s->take;

	STAILQ_REMOVE_HEAD(&f->unread, in_unread);
	s->take = NULL;
	return take;
}

static struct sink *next_caller(struct front *f)
{
	struct sink *s;

	while ((s = STAILQ_FIRST(&f->unread)) != NULL && s->gone) {
		(void)end_wait(f, s);
		sink_drop(s);
	}
	return s;
}

/* What was read in this pass has its turn first. */
static bool lets_others_go(struct front *f)
{
	f->read_big_waited = !f->read_big_waited && evtimer_pending(f->turn, NULL);
	return f->read_big_waited;
}

/* Gives back the many small pieces in which they have arrived: at the end, since each time takes as
 * long as a message. */
static void trim(struct front *f)
{
	(void)malloc_trim(0);
	f->has_read_big = false;
}

static void take_big(struct front *f, struct sink *s)
{
	sink_take *take = end_wait(f, s);

	take(s);
	sink_drop(s);
}

static void read_next(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	struct sink *s = next_caller(f);

	(void)fd;
	(void)what;
	if (!lets_others_go(f) && s)
		take_big(f, s);
	else if (!f->read_big_waited && f->has_read_big)
		trim(f);
	if (!STAILQ_EMPTY(&f->unread) || f->has_read_big)
		(void)evtimer_add(f->read_big, &NEXT_PASS);
}

void unread_start(struct front *f)
{
	STAILQ_INIT(&f->unread);
	f->read_big = evtimer_new(f->base, read_next, f);
}

void unread_stop(struct front *f)
{
	struct sink *s;

	if (f->read_big)
		event_free(f->read_big);
	f->read_big = NULL;
	while ((s = STAILQ_FIRST(&f->unread)) != NULL) {
		(void)end_wait(f, s);
		sink_drop(s);
	}
}
