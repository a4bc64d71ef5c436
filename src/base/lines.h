/* lines: splits a stream of bytes into messages, one per line, however the bytes arrive. */
#ifndef LINES_H
#define LINES_H

#include "json_peek.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>

struct lines {
	size_t most; /* maximum length of a line, without its end */
	struct str rest; /* the start of a line that has not ended */
	struct json_peek *peek; /* inside a line that is too long: what it asked; else NULL */
};

#define LINES_INIT(limit)                                                                          \
	{                                                                                          \
		.most = (limit)                                                                    \
	}

/* Gets a line without its "\n". length > most: it was too long and is gone, line is NULL, and peek
 * says what it asked. Both are valid during the call. Returns whether to continue. */
typedef bool lines_take(void *arg, const char *line, size_t length);

/* Passes each completed line to take. Returns false when take does; the bytes after that line are
 * lost. */
bool lines_feed(struct lines *l, const char *bytes, size_t length, lines_take *take, void *arg);
/* Ends the stream, which completes a last line without its "\n". */
bool lines_end(struct lines *l, lines_take *take, void *arg);
/* Drops a partial line, as if it were too long. */
void lines_skip(struct lines *l);

/* For a stream whose messages end otherwise: a piece of one. Of what is too long only peek is kept.
 */
void lines_add(struct lines *l, const char *piece, size_t length);
/* The message has been taken. */
void lines_forget(struct lines *l);
/* Frees the memory; l can be used again. */
void lines_clear(struct lines *l);

#endif
