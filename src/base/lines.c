#include "lines.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 64 << 10 }; /* of memory, between two lines */

static void stop_peeking(struct lines *l)
{
	free(l->peek);
	l->peek = NULL;
}

void lines_forget(struct lines *l)
{
	stop_peeking(l);
	if (l->rest.capacity > KEPT_BYTES)
		str_clear(&l->rest);
	else
		str_reset(&l->rest);
}

void lines_add(struct lines *l, const char *piece, size_t length)
{
	if (!l->peek && length > l->most - l->rest.length)
		lines_skip(l);
	if (l->peek)
		json_peek_feed(l->peek, piece, length);
	else
		str_add_bytes(&l->rest, piece, length);
}

/* The end of a line. */
static bool end(struct lines *l, lines_take *take, void *arg)
{
	bool more =
	    l->peek ? take(arg, NULL, l->most + 1) : take(arg, str_text(&l->rest), l->rest.length);

	lines_forget(l);
	return more;
}

bool lines_feed(struct lines *l, const char *bytes, size_t length, lines_take *take, void *arg)
{
	bool more = true;

	while (more && length > 0) {
		const char *newline = memchr(bytes, '\n', length);
		size_t n = newline ? (size_t)(newline - bytes) : length;

		if (newline && !l->peek && l->rest.length == 0 && n <= l->most) {
			more = take(arg, bytes, n); /* whole: not copied */
		} else {
			lines_add(l, bytes, n);
			more = !newline || end(l, take, arg);
		}
		n += newline != NULL;
		bytes += n;
		length -= n;
	}
	return more;
}

bool lines_end(struct lines *l, lines_take *take, void *arg)
{
	return (l->rest.length == 0 && !l->peek) || end(l, take, arg);
}

void lines_skip(struct lines *l)
{
	stop_peeking(l);
	l->peek = xcalloc(1, sizeof(*l->peek));
	json_peek_feed(l->peek, str_text(&l->rest), l->rest.length);
	str_clear(&l->rest);
}

void lines_clear(struct lines *l)
{
	stop_peeking(l);
	str_clear(&l->rest);
}
