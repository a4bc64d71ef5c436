/* budget: what agents may use until a person is asked, as it is configured. */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* A budget: so many tokens, or so much money. */
struct budget {
	int64_t tokens;
	int64_t micros; /* millionths */
	char currency[4]; /* "": it is in tokens */
};

/* Reads "2000000 tokens" or "5.00 USD". false: it is neither. */
bool budget_read(const char *text, struct budget *ret);
/* How often it is used up. */
int64_t budget_times(const struct budget *b, int64_t tokens, int64_t micros);

#endif
