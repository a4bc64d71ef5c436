#include "config_guess.h"

#include "config_field.h"

#include <stdio.h>
#include <string.h>

enum { TYPO_DISTANCE_MAX = 3 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein: the insertions, deletions and replacements from a to b. */
static size_t distance(const char *a, const char *b)
{
	size_t row[CONFIG_KEY_BYTES_MAX + 1];
	size_t width = strlen(b);

	if (strlen(a) > CONFIG_KEY_BYTES_MAX || width > CONFIG_KEY_BYTES_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < width; j++) {
			size_t above = row[j + 1];

			row[j + 1] =
			    least(least(above, row[j]) + 1, corner + (a[i] != b[j] ? 1 : 0));
			corner = above;
		}
	}
	return row[width];
}

void config_guess_try(struct config_guess *best, const char *unknown, const char *known,
                      size_t length)
{
	char name[CONFIG_KEY_BYTES_MAX + 1];
	size_t d;

	(void)snprintf(name, sizeof(name), "%.*s", (int)length, known);
	d = distance(unknown, name);
	if (d < best->distance) {
		best->distance = d;
		memcpy(best->name, name, sizeof(name));
	}
}

bool config_guess_is_near(const struct config_guess *best, const char *unknown)
{
	return best->distance <= least(TYPO_DISTANCE_MAX, strlen(config_field_leaf(unknown)) / 3);
}
