/* pack: numbers and texts between two of our processes, which are of one build. Who reads takes
 * nothing for granted: what is too short, too long or malformed makes all that follows empty. */
#ifndef PACK_H
#define PACK_H

#include "str.h"

#include <stdint.h>

enum { PACK_HEAD_BYTES = 4 }; /* the length of what follows, before each message */

/* ---- writing ---- */

/* Begins a message; pack_end puts its length before it. */
void pack_begin(struct str *out);
void pack_end(struct str *out);

void pack_add_int(struct str *out, int64_t number);
void pack_add_bytes(struct str *out, const void *bytes, size_t length);
/* text may be NULL. */
void pack_add_text(struct str *out, const char *text);

/* ---- reading ---- */

struct pack {
	const char *at;
	size_t left;
	bool bad;
};

/* The length of a message, of whose head these are the bytes. */
size_t pack_length(const char head[PACK_HEAD_BYTES]);

int64_t pack_int(struct pack *w);
/* A number from least to most, else bad. */
int64_t pack_int_in(struct pack *w, int64_t least, int64_t most);
/* Points into the message. */
const char *pack_bytes(struct pack *w, size_t most, size_t *ret_length);
/* A copy, which the caller frees; NULL where that was said, or bad: a text holds no NUL and is no
 * longer than most. */
char *pack_text(struct pack *w, size_t most);
/* The same, and NULL is bad; "" then. */
char *pack_some_text(struct pack *w, size_t most);
/* Whether the message was read whole, to its end. */
bool pack_is_whole(const struct pack *w);

#endif
