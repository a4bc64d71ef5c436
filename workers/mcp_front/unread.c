#include "unread.h"

#include "big.h"
#include "front.h"

#include <malloc.h>

void unread_add(struct sink *s, size_t length, sink_take *take)
{
	struct front *f = s->front;

	sink_hold(s);
	s->take = take;
	if (length) /* 0: the transport has counted them */
		front_count(f, &s->unfinished, length);
	f->has_read_big = true;
	STAILQ_INSERT_TAIL(&f->unread, s, in_unread);
	big_soon(f);
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

bool unread_take(struct front *f)
{
	struct sink *s = next_caller(f);

	if (s)
		take_big(f, s);
	else if (f->has_read_big)
		trim(f);
	else
		return false;
	return true;
}

void unread_start(struct front *f)
{
	STAILQ_INIT(&f->unread);
}

void unread_stop(struct front *f)
{
	struct sink *s;

	while ((s = STAILQ_FIRST(&f->unread)) != NULL) {
		(void)end_wait(f, s);
		sink_drop(s);
	}
}
