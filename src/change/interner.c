#include "interner.h"

#include "random.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	const char *text;
	size_t length;
	uint64_t hash;
	bool newline;
};

void interner_init(struct interner *in)
{
	*in = (struct interner){ .slot_count = 256 };
	in->slots = xcalloc(in->slot_count, sizeof(*in->slots));
	random_bytes(&in->seed, sizeof(in->seed));
}

void interner_clear(struct interner *in)
{
	free(in->slots);
	free(in->entries);
	*in = (struct interner){ .slots = NULL };
}

static uint64_t hash_text(uint64_t seed, const char *text, size_t length, bool newline)
{
	const uint64_t prime = 0x9FB21C651E98DF25U;
	uint64_t hash = seed ^ (length * 2 + newline), word;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * prime;
		hash ^= hash >> 29;
	}
	word = 0;
	if (length > 0)
		memcpy(&word, text, length);
	hash = (hash ^ word) * prime;
	hash ^= hash >> 32;
	hash *= prime;
	return hash ^ (hash >> 29);
}

/* The slot of a line, or the free slot where it belongs. */
static uint32_t *find_slot(const struct interner *in, const struct entry *line)
{
	size_t mask = in->slot_count - 1;

	for (size_t at = line->hash & mask;; at = (at + 1) & mask) {
		const struct entry *there;

		if (in->slots[at] == 0)
			return &in->slots[at];
		there = &in->entries[in->slots[at] - 1];
		if (there->hash == line->hash && there->length == line->length &&
		    there->newline == line->newline &&
		    (line->length == 0 || memcmp(there->text, line->text, line->length) == 0))
			return &in->slots[at];
	}
}

static void grow_slots(struct interner *in)
{
	size_t mask = 2 * in->slot_count - 1;

	free(in->slots);
	in->slot_count *= 2;
	in->slots = xcalloc(in->slot_count, sizeof(*in->slots));
	for (uint32_t i = 0; i < in->count; i++) {
		size_t at = in->entries[i].hash & mask;

		while (in->slots[at] != 0)
			at = (at + 1) & mask;
		in->slots[at] = i + 1;
	}
}

uint32_t interner_number(struct interner *in, const char *text, size_t length, bool newline,
                         bool add)
{
	struct entry line = { text, length, hash_text(in->seed, text, length, newline), newline };
	uint32_t *slot = find_slot(in, &line);

	if (*slot != 0)
		return *slot - 1;
	if (!add)
		return INTERNER_NONE;
	in->entries = xgrow(in->entries, in->count, sizeof(*in->entries));
	in->entries[in->count++] = line;
	*slot = in->count;
	if (2 * (size_t)in->count > in->slot_count)
		grow_slots(in);
	return in->count - 1;
}
