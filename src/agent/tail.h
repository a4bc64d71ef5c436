/* tail: the end of a program's stderr, to show a person why it ended. */
#ifndef TAIL_H
#define TAIL_H

#include "str.h"

#include <stddef.h>

enum {
	TAIL_KEPT_BYTES = 64 << 10,
	TAIL_LINES = 20,
	TAIL_LINE_BYTES = 500, /* a longer line is cut */
};

struct tail {
	size_t kept; /* bytes, at most; 0: TAIL_KEPT_BYTES. Set before the first */
	char *ring; /* NULL until then */
	size_t total; /* bytes added so far */
};

void tail_add(struct tail *t, const char *bytes, size_t length);
/* Appends what is kept, as it came. */
void tail_raw(const struct tail *t, struct str *out);
/* Appends the last lines without terminal sequences or invisible characters (visible.h), with words
 * that look like secrets as "[redacted]", and without a final "\n". */
void tail_text(const struct tail *t, struct str *out);
void tail_clear(struct tail *t);

/* Appends a text for a person to read, cleaned like that, with all of its lines; of a line longer
 * than `most` bytes the beginning. */
void tail_add_clean(struct str *out, const char *bytes, size_t length, size_t most);

#endif
