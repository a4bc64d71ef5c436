#include "budget.h"

#include <string.h>

enum { WHOLE_MOST = 12, PART_MOST = 6 }; /* digits */

#define DIGITS "0123456789"

/* Passes a number that is more than 0; NULL: it is none. */
static const char *skip_number(const char *text)
{
	size_t whole = strspn(text, DIGITS), part = 0;
	size_t zeros = strspn(text, "0.");

	if (text[whole] == '.')
		part = strspn(text + whole + 1, DIGITS) + 1;
	if (whole == 0 || whole > WHOLE_MOST || part == 1 || part > PART_MOST + 1 ||
	    zeros >= whole + part)
		return NULL;
	return text + whole + part;
}

bool budget_is_valid(const char *text)
{
	const char *unit = skip_number(text);

	if (!unit || *unit != ' ')
		return false;
	unit++;
	if (strcmp(unit, "tokens") == 0)
		return text[strspn(text, "0")] != '.'; /* one at least */
	return strspn(unit, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3 && !unit[3];
}
