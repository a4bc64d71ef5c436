#include "texts.h"

#include "str.h"

#include <stdlib.h>
#include <string.h>

void texts_add(struct texts *t, const char *text)
{
	t->items = xrealloc(t->items, (t->count + 2) * sizeof(*t->items));
	t->items[t->count++] = xstrdup(text);
	t->items[t->count] = NULL;
}

bool texts_has(const struct texts *t, const char *text)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->items[i], text) == 0)
			return true;
	return false;
}

bool texts_name(const char *const *list, const char *text)
{
	for (; text && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

bool texts_has_word(const char *words, const char *word)
{
	size_t length = strcspn(word, " ");

	if (!length || word[length])
		return false;
	for (const char *at = words; (at = strstr(at, word)); at += length)
		if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

bool texts_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

int texts_order(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

void texts_clear(struct texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->items[i]);
	free(t->items);
	*t = (struct texts){ 0 };
}
