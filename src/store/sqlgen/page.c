/* Text printed between markers of a page. */
#include "sqlgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_put(const char *page, const char *name, const char *text, bool write)
{
	char begin[NAME_BYTES], end[NAME_BYTES];
	char *old = source_text(page), *from, *to;
	OWNED(str) struct str new = { 0 };

	(void)snprintf(begin, sizeof(begin), "<!-- %s: written by sqlgen -->\n", name);
	(void)snprintf(end, sizeof(end), "<!-- end of %s -->", name);
	from = old ? strstr(old, begin) : NULL;
	to = from ? strstr(from, end) : NULL;
	if (!to) {
		complain("%s: the place for the %s is missing: '%.*s' and '%s'", page, name,
		         (int)strlen(begin) - 1, begin, end);
		free(old);
		return;
	}
	from += strlen(begin);
	str_add_bytes(&new, old, (size_t)(from - old));
	str_add(&new, text);
	str_add(&new, to);
	if (write)
		source_write(source_dir, page, new.bytes);
	else if (strcmp(old, new.bytes) != 0)
		complain("%s: the %s is out of date; `cmake --build --preset dev --target schema` "
		         "rewrites it",
		         page, name);
	free(old);
}
