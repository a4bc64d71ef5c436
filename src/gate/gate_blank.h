/* gate_blank: white space and typographic signs of Unicode in UTF-8, as Codex sees them when it
 * looks for the lines of a patch. */
#ifndef GATE_BLANK_H
#define GATE_BLANK_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes of white space text begins with. */
size_t gate_blank_start(const char *text, size_t length);
/* The length of text without the white space at its end. */
size_t gate_blank_end(const char *text, size_t length);

/* Whether two texts are the same if dashes, quotes and blanks of any kind are as in ASCII. */
bool gate_blank_same_ascii(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
