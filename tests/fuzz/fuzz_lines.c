/* libFuzzer target for the framing of stdio and of the relays' socket: whatever pieces the bytes
 * come in, the lines are those that one look at all of them finds.
 *
 * Input: how long a line may be, where the reader stops, how the pieces are cut, then the bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

enum { HEAD = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What remains to be found. */
struct rest {
	const char *at;
	size_t length, most;
	unsigned stop_after; /* lines; 0: never */
	bool over;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool take(void *arg, const char *line, size_t length)
{
	struct rest *r = arg;
	const char *end = memchr(r->at, '\n', r->length);
	size_t whole = end ? (size_t)(end - r->at) : r->length;

	must(!r->over);
	must(length == (whole > r->most ? r->most + 1 : whole));
	must((length > r->most) == !line);
	must(!line || memcmp(line, r->at, length) == 0);
	whole += end != NULL;
	r->at += whole;
	r->length -= whole;
	r->over = r->stop_after && --r->stop_after == 0;
	return !r->over;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rest r = { .most = size ? data[0] : 0 };
	struct lines l = LINES_INIT(r.most);
	unsigned cut;
	bool more = true;

	if (size < HEAD)
		return 0;
	r.stop_after = data[1] % 16;
	cut = data[2];
	r.at = (const char *)data + HEAD;
	r.length = size - HEAD;
	for (size_t i = HEAD; more && i < size;) {
		size_t n = 1 + cut % 97;
		char *piece;

		cut = cut * 1103515245 + 12345;
		n = n < size - i ? n : size - i;
		piece = xmalloc(n);
		memcpy(piece, data + i, n);
		more = lines_feed(&l, piece, n, take, &r);
		must(l.rest.length <= l.most);
		free(piece);
		i += n;
	}
	must(more == !r.over);
	if (more) {
		(void)lines_end(&l, take, &r);
		must(r.over || r.length == 0);
	}
	lines_clear(&l);
	return 0;
}
