/* interner: gives equal lines equal numbers, so that comparing lines means comparing integers. */
#ifndef INTERNER_H
#define INTERNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERNER_NONE UINT32_MAX

struct interner {
	uint64_t seed; /* random, so that nobody can construct lines that collide */
	uint32_t *slots; /* entry number + 1, 0: free */
	size_t slot_count;
	struct entry *entries;
	uint32_t count;
};

void interner_init(struct interner *in);
void interner_clear(struct interner *in);

/* The number of a line; a new line gets the next one, or INTERNER_NONE if add is false. Its text is
 * borrowed. */
uint32_t interner_number(struct interner *in, const char *text, size_t length, bool newline,
                         bool add);

#endif
