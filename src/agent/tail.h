/* tail: the end of what a program wrote to stderr, for a person who wants to know why it ended. */
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
	char *ring; /* NULL until there is anything */
	size_t total; /* bytes ever added */
};

void tail_add(struct tail *t, const char *bytes, size_t length);
/* Appends the last lines: no terminal sequences, nothing unseen (visible.h), words that look like
 * secrets as "[redacted]"; without "\n" at the end. */
void tail_text(const struct tail *t, struct str *out);
void tail_clear(struct tail *t);

#endif
