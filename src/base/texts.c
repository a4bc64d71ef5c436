#include "texts.h"

#include "str.h"

#include <stdlib.h>

void texts_add(struct texts *t, const char *text)
{
	t->items = xrealloc(t->items, (t->count + 2) * sizeof(*t->items));
	t->items[t->count++] = xstrdup(text);
	t->items[t->count] = NULL;
}

void texts_clear(struct texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->items[i]);
	free(t->items);
	*t = (struct texts){ 0 };
}
