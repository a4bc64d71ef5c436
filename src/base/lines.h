/* lines: messages out of a stream of bytes, one to a line, whatever pieces the bytes come in. */
#ifndef LINES_H
#define LINES_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>

struct lines {
	size_t most; /* bytes of a line, its end not counted */
	struct str rest; /* of a line that has not ended */
	bool skips; /* inside a line that is too long */
};

#define LINES_INIT(limit)                                                                          \
	{                                                                                          \
		.most = (limit)                                                                    \
	}

/* Is given a line without its "\n". length > most: the line is longer than that, and line is its
 * first most + 1 bytes; the remainder is discarded. The bytes are valid during the call. Returns
 * whether there is more to be taken. */
typedef bool lines_take(void *arg, const char *line, size_t length);

/* Hands each line that these bytes end to take, a line that is too long as soon as it is. Returns
 * false when take does; what stands behind that line is lost then. */
bool lines_feed(struct lines *l, const char *bytes, size_t length, lines_take *take, void *arg);
/* The bytes are at an end: so is a last line without its "\n". */
bool lines_end(struct lines *l, lines_take *take, void *arg);
/* Drops a partial line; the remainder is skipped. */
void lines_skip(struct lines *l);
/* Frees the memory; l starts over. */
void lines_clear(struct lines *l);

#endif
