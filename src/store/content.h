/* content: texts that may be long. Up to CONTENT_INLINE_BYTES are stored in the row itself; a
 * longer one is stored once, in the table content, and the row has its seq. */
#ifndef CONTENT_H
#define CONTENT_H

#include "store.h"
#include "str.h"

enum { CONTENT_INLINE_BYTES = 2048 };

/* Stores bytes and returns the seq of the content row, -1 on error. Inside a transaction. */
int64_t content_put(struct store *st, const void *bytes, size_t length, struct err *e);

/* Appends the bytes of content seq to out. */
int content_get(struct store *st, int64_t seq, struct str *out, struct err *e);

/* How a row stores a text: itself, or the seq of its content; neither: NULL. */
struct placed {
	const char *text; /* borrowed */
	int64_t seq;
};

/* Stores a long text. Inside a transaction. */
int content_place(struct store *st, const char *text, size_t length, struct placed *out,
                  struct err *e);

#endif
