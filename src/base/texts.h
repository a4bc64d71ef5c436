/* texts: a growing list of texts, such as a process's arguments. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct texts {
	char **items; /* owned, as the texts; NULL-terminated; NULL while empty */
	size_t count;
};

/* Appends a copy. */
void texts_add(struct texts *t, const char *text);
/* Whether it has this text. */
bool texts_has(const struct texts *t, const char *text);

/* Whether a NULL-terminated list contains the text (false for NULL). */
bool texts_name(const char *const *list, const char *text);

/* Whether a text of words, with a blank between each two, has this word; "" is none. */
bool texts_has_word(const char *words, const char *word);

/* Whether both have the same text, or are NULL. */
bool texts_same(const char *a, const char *b);

/* For qsort and bsearch of pointers to texts: the order of their bytes. */
int texts_order(const void *a, const void *b);

/* Frees the texts; t is then empty and may be used again. */
void texts_clear(struct texts *t);

#endif
