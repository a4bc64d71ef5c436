/* str: a growing byte string that is always NUL-terminated; it may contain NUL bytes. */
#ifndef STR_H
#define STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *bytes; /* NULL while empty */
	size_t length;
	size_t capacity;
};

/* Running out of memory ends the process with a message: the supervisor restarts it, and the rows
 * say where it was. None of these functions fails. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
/* A list that grows item by item, with room for one more behind its `count` items, of `size` bytes
 * each: there is always room up to the next power of two. */
void *xgrow(void *items, size_t count, size_t size);
char *xstrdup(const char *text);
/* The same; NULL of NULL. */
char *xstrdup_if(const char *text);
/* *to, which is freed, becomes a copy of text; NULL of NULL. */
void xreplace(char **to, const char *text);
/* From here on, end is called instead of the message; it must not return. */
void str_on_exhaustion(void (*end)(void));

/* The text, "" while empty. Valid until s changes. */
const char *str_text(const struct str *s);
void str_add(struct str *s, const char *text);
void str_add_bytes(struct str *s, const void *bytes, size_t length);
void str_add_char(struct str *s, char c);
void str_addf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes room for this many bytes behind the text, for a caller that knows how much will come, or
 * writes them there itself, adds to s->length and ends the text with a NUL. Returns where they
 * begin; valid until s changes. */
char *str_room(struct str *s, size_t more);
/* Appends untrusted bytes for a message to a person: on one line, valid UTF-8, with control bytes
 * and bytes that are not UTF-8 as \x1b, cut with "..." once it has more than most bytes: at most
 * STR_SHOWN_MORE more in all. */
enum { STR_SHOWN_MORE = 7 };
void str_add_shown(struct str *s, const char *bytes, size_t length, size_t most);
/* Appends a word for a shell: as it is where no shell reads more into it, else in single quotes. */
void str_add_shell_word(struct str *s, const char *word);
/* Empties s but keeps its memory. */
void str_reset(struct str *s);
/* Frees the memory; s is then empty and may be used again. */
void str_clear(struct str *s);
/* *to, which is freed, becomes *from, which is then empty. */
void str_move(struct str *to, struct str *from);
/* Hands the memory to the caller, who frees it; s is then empty. Never NULL. */
char *str_take(struct str *s);

/* Whether bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool utf8_valid(const void *bytes, size_t length);
/* The characters of valid UTF-8. */
size_t utf8_count(const char *bytes, size_t length);
/* How many bytes of valid UTF-8 are at most `most` and end with a whole character. */
size_t utf8_cut(const char *bytes, size_t length, size_t most);

/* Free function for OWNED(char_ptr): `OWNED(char_ptr) char *x`. */
void char_ptr_clear(char **text);

#endif
