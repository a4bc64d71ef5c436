/* wire: numbers and texts between two of our processes, which are of one build. Who reads takes
 * nothing for granted: what is too short, too long or malformed makes all that follows empty. */
#ifndef WIRE_H
#define WIRE_H

#include "str.h"

#include <stdint.h>

enum { WIRE_HEAD_BYTES = 4 }; /* the length of what follows, before each message */

/* ---- writing ---- */

/* Begins a message; wire_end puts its length before it. */
void wire_begin(struct str *out);
void wire_end(struct str *out);

void wire_add_int(struct str *out, int64_t number);
void wire_add_bytes(struct str *out, const void *bytes, size_t length);
/* text may be NULL. */
void wire_add_text(struct str *out, const char *text);

/* ---- reading ---- */

struct wire {
	const char *at;
	size_t left;
	bool bad;
};

/* The length of a message, of whose head these are the bytes. */
size_t wire_length(const char head[WIRE_HEAD_BYTES]);

int64_t wire_int(struct wire *w);
/* A number from least to most, else bad. */
int64_t wire_int_in(struct wire *w, int64_t least, int64_t most);
/* Points into the message. */
const char *wire_bytes(struct wire *w, size_t most, size_t *ret_length);
/* A copy, which the caller frees; NULL where that was said, or bad: a text holds no NUL and is no
 * longer than most. */
char *wire_text(struct wire *w, size_t most);
/* The same, and NULL is bad; "" then. */
char *wire_some_text(struct wire *w, size_t most);
/* Whether the message was read whole, to its end. */
bool wire_is_whole(const struct wire *w);

#endif
