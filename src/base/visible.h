/* visible: what in the text of others a person would not see, or would see elsewhere than it is.
 * One list for all that shows such text: terminal, Slack, forms, notifications. */
#ifndef VISIBLE_H
#define VISIBLE_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VISIBLE_BAD UINT32_MAX /* a byte that is no UTF-8 */

enum { VISIBLE_BLANKS_MAX = 40 }; /* a longer run of blanks pushes what follows out of sight */

/* Reads one character: its length in bytes; of a byte that begins none 1, and *ret VISIBLE_BAD. */
size_t visible_read(const char *bytes, size_t left, uint32_t *ret);

/* Whether c is not seen: controls (newline and tab too, which the caller may let pass), what hides,
 * turns or joins text, and blanks that look like none. before: the character before it, 0: none; a
 * variation selector behind a symbol is how emoji are written. */
bool visible_hides(uint32_t c, uint32_t before);

/* The bytes of the run of blanks at text, and in *ret_count how many there are, if they are too
 * many to be seen; else 0. Newlines are none. */
size_t visible_blanks(const char *text, size_t left, size_t *ret_count);

/* Appends a text with \u{202E} for what is not seen, \x{FF} for bytes that are no UTF-8, and
 * "[7000 blanks]" for such runs. lines: newlines and tabs stay. */
void visible_add(struct str *out, const char *bytes, size_t length, bool lines);

/* Appends a command as it stands, but with blanks that a shell takes for none, and those at the
 * ends of its lines, as \u{A0}. Runs that are too long to be seen stay. */
void visible_add_command(struct str *out, const char *bytes, size_t length);

/* Appends a name (of a file) as it stands, but with blanks at the ends of its parts as \u{20}. */
void visible_add_name(struct str *out, const char *name);

/* Appends the first line of a text that is not empty, of at most `most` bytes, with such runs
 * counted, and what of the text it leaves out: "(+214 lines)", "(+6900 characters)". */
void visible_add_first_line(struct str *out, const char *text, size_t most);

#endif
