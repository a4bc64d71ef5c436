/* last_word: what a hook says if it is stopped before it has an answer. Hosts run the tool when
 * their hook is killed or breaks; so a signal, also that of a mistake of ours, says no first. Only
 * SIGKILL cannot be answered. */
#ifndef LAST_WORD_H
#define LAST_WORD_H

#include "str.h"

#include <stdint.h>

enum { LAST_WORD_BYTES = 4096 };

/* From here on running out of memory ends us with why on stderr, which the caller keeps, and with
 * status: the one no that needs no memory and no host's dialect. */
void last_word_begin(const char *why, int status);

/* From here on every signal that would end us, and an exit, writes out to stdout and why to stderr,
 * and ends us with status. Longer texts are refused by an assertion. */
void last_word_prepare(const struct str *out, const struct str *why, int status);

/* Ends us so at a time (clock_monotonic_ms), whatever we do then. */
void last_word_at(int64_t ms);

/* The answer is about to be written: from here on signals do nothing, except for mistakes of
 * ours. */
void last_word_withhold(void);

#endif
