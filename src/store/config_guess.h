/* config_guess: which known key, or alias of [commands], an unknown one probably means. */
#ifndef CONFIG_GUESS_H
#define CONFIG_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONFIG_KEY_BYTES_MAX = 64 /* a longer key is not compared */ };

struct config_guess {
	char name[CONFIG_KEY_BYTES_MAX + 1]; /* the best so far */
	size_t distance; /* edits from the unknown key to it */
};

#define CONFIG_GUESS_INIT                                                                          \
	{                                                                                          \
		.distance = SIZE_MAX                                                               \
	}

/* Takes the first length bytes of known, if they are closer to the unknown key than the best so
 * far. */
void config_guess_try(struct config_guess *best, const char *unknown, const char *known,
                      size_t length);
/* Whether the best is at most a few typing errors away. */
bool config_guess_is_near(const struct config_guess *best, const char *unknown);

#endif
