#include "lines.h"

#include <string.h>

enum { KEPT_BYTES = 64 << 10 }; /* of memory, between two lines */

static void forget(struct lines *l)
{
	if (l->rest.capacity > KEPT_BYTES)
		str_clear(&l->rest);
	else
		str_reset(&l->rest);
}

/* A piece of a line, without its end. */
static bool add(struct lines *l, const char *piece, size_t length, lines_take *take, void *arg)
{
	size_t room = l->most + 1 - l->rest.length;
	bool more;

	if (l->skips)
		return true;
	str_add_bytes(&l->rest, piece, length < room ? length : room);
	if (l->rest.length <= l->most)
		return true;
	l->skips = true;
	more = take(arg, l->rest.bytes, l->rest.length);
	forget(l);
	return more;
}

/* The end of a line. */
static bool end(struct lines *l, lines_take *take, void *arg)
{
	bool more = true;

	if (!l->skips)
		more = take(arg, str_text(&l->rest), l->rest.length);
	l->skips = false;
	forget(l);
	return more;
}

bool lines_feed(struct lines *l, const char *bytes, size_t length, lines_take *take, void *arg)
{
	bool more = true;

	while (more && length > 0) {
		const char *newline = memchr(bytes, '\n', length);
		size_t n = newline ? (size_t)(newline - bytes) : length;

		if (newline && !l->skips && l->rest.length == 0 && n <= l->most)
			more = take(arg, bytes, n); /* whole: not copied */
		else
			more = add(l, bytes, n, take, arg) && (!newline || end(l, take, arg));
		n += newline != NULL;
		bytes += n;
		length -= n;
	}
	return more;
}

bool lines_end(struct lines *l, lines_take *take, void *arg)
{
	if (l->rest.length == 0) {
		l->skips = false;
		return true;
	}
	return end(l, take, arg);
}

void lines_skip(struct lines *l)
{
	l->skips = true;
	str_clear(&l->rest);
}

void lines_clear(struct lines *l)
{
	l->skips = false;
	str_clear(&l->rest);
}
