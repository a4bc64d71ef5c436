/* pack: numbers and texts between two of our processes, which have the same build. The reader
 * trusts nothing: after a field that is too short, too long or malformed, everything else reads as
 * empty. */
#ifndef PACK_H
#define PACK_H

#include "str.h"

#include <stdint.h>

enum { PACK_HEAD_BYTES = 4 }; /* the length of what follows, before each message */

/* ---- writing ---- */

/* Begins a message; pack_end writes its length. */
void pack_begin(struct str *out);
void pack_end(struct str *out);

void pack_add_int(struct str *out, int64_t number);
void pack_add_bytes(struct str *out, const void *bytes, size_t length);
/* text may be NULL. */
void pack_add_text(struct str *out, const char *text);
/* Their number, and each of them. */
void pack_add_texts(struct str *out, const char *const *texts, size_t count);

/* ---- reading ---- */

struct pack {
	const char *at;
	size_t left;
	bool bad;
};

/* The length of a message, from its head. */
size_t pack_length(const char head[PACK_HEAD_BYTES]);

int64_t pack_int(struct pack *w);
/* A number from least to most; anything else is bad. */
int64_t pack_int_in(struct pack *w, int64_t least, int64_t most);
/* Points into the message. */
const char *pack_bytes(struct pack *w, size_t most, size_t *ret_length);
/* A copy, which the caller frees; NULL if NULL was sent, or bad: a text contains no NUL and is no
 * longer than most. */
char *pack_text(struct pack *w, size_t most);
/* The same, but NULL is bad and becomes "". */
char *pack_some_text(struct pack *w, size_t most);
/* Whether the message was read completely, to its end. */
bool pack_is_whole(const struct pack *w);

#endif
