/* lines: splits a stream of bytes into messages, one per line, however the bytes arrive. */
#ifndef LINES_H
#define LINES_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>

struct lines {
	size_t most; /* maximum length of a line, without its end */
	struct str rest; /* the start of a line that has not ended */
	bool skips; /* inside a line that is too long */
};

#define LINES_INIT(limit)                                                                          \
	{                                                                                          \
		.most = (limit)                                                                    \
	}

/* Gets a line without its "\n". length > most: the line is too long, and line is its first most + 1
 * bytes; the remainder is discarded. The bytes are valid during the call. Returns whether to
 * continue. */
typedef bool lines_take(void *arg, const char *line, size_t length);

/* Passes each completed line to take; an overlong line, as soon as it is known to be one. Returns
 * false when take does; the bytes after that line are lost. */
bool lines_feed(struct lines *l, const char *bytes, size_t length, lines_take *take, void *arg);
/* Ends the stream, which completes a last line without its "\n". */
bool lines_end(struct lines *l, lines_take *take, void *arg);
/* Drops a partial line; its remainder is skipped. */
void lines_skip(struct lines *l);
/* Frees the memory; l can be used again. */
void lines_clear(struct lines *l);

#endif
