#include "budget.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { MICROS = 1000000 };

/* A number with up to six decimals, in millionths. The rest, NULL: it is none. */
static const char *read_micros(const char *text, int64_t *ret)
{
	int64_t whole = 0, part = 0, unit = MICROS;
	int digits = 0;

	for (; isdigit((unsigned char)*text) && digits < 12; text++, digits++)
		whole = whole * 10 + (*text - '0');
	if (digits == 0)
		return NULL;
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text) && unit > 1; text++) {
			unit /= 10;
			part += (*text - '0') * unit;
		}
	*ret = whole * MICROS + part;
	return text;
}

bool budget_read(const char *text, struct budget *ret)
{
	const char *unit = read_micros(text, &ret->micros);

	*ret = (struct budget){ .micros = unit ? ret->micros : 0 };
	if (!unit || *unit != ' ' || ret->micros <= 0)
		return false;
	unit++;
	if (strcmp(unit, "tokens") == 0) {
		ret->tokens = ret->micros / MICROS;
		ret->micros = 0;
		return ret->tokens > 0;
	}
	if (strspn(unit, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3 || unit[3])
		return false;
	memcpy(ret->currency, unit, sizeof(ret->currency));
	return true;
}

int64_t budget_times(const struct budget *b, int64_t tokens, int64_t micros)
{
	return b->tokens ? tokens / b->tokens : b->micros ? micros / b->micros : 0;
}
