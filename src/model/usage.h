/* usage: what agents say that they have used, for a person. */
#ifndef USAGE_H
#define USAGE_H

#include "store.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdint.h>

enum { USAGE_DAY_BYTES = 11 }; /* "2026-02-08" and its NUL */

/* The day of agent_usage.day: that of the machine's time zone. */
void usage_today(char day[USAGE_DAY_BYTES]);

/* 0 and NULL: not said. */
struct usage_told {
	int64_t input_tokens, output_tokens, total_tokens;
	int64_t cost_micros;
	const char *currency;
	int64_t context_used, context_size;
};

/* Of a row that has these columns. */
#define USAGE_OF(row)                                                                              \
	(struct usage_told)                                                                        \
	{                                                                                          \
		(row)->input_tokens, (row)->output_tokens, (row)->total_tokens,                    \
		    (row)->cost_micros, (row)->currency, (row)->context_used, (row)->context_size  \
	}

/* "1.2M tokens, 0.42 USD, context 61 %"; nothing where nothing was said. */
void usage_add(struct str *out, const struct usage_told *told);
/* The same as member "usage", an object; null where nothing was said. */
void usage_put(cJSON *to, const struct usage_told *told);

#endif
