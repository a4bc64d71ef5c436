/* visible: what a person would not see in other people's text, or would see in the wrong place. One
 * list for everything that shows such text: terminal, Slack, forms, notifications. */
#ifndef VISIBLE_H
#define VISIBLE_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VISIBLE_BAD UINT32_MAX /* a byte that is not UTF-8 */

enum { VISIBLE_BLANKS_MAX = 40 }; /* a longer run of blanks pushes what follows out of view */

/* Reads one character and returns its length in bytes; for a byte that begins none, 1 and *ret is
 * VISIBLE_BAD. */
size_t visible_read(const char *bytes, size_t left, uint32_t *ret);

struct visible_range {
	uint32_t first, last; /* characters, both included */
};

bool visible_is_in(uint32_t c, const struct visible_range *ranges, size_t count);

/* Whether c is invisible: a control (newline and tab too, which the caller may accept), a character
 * that hides, turns or joins text, or a blank that does not look like one. before: the character
 * before it, 0: none; after: the bytes that follow. Where a variation selector is part of an emoji
 * (after its symbol, or between a digit, # or * and the keycap around it) it hides nothing. */
bool visible_hides(uint32_t c, uint32_t before, const char *after, size_t left);

/* The bytes of the run of blanks at text if it is too long to be seen, with the number of blanks in
 * *ret_count; otherwise 0. Newlines do not count. */
size_t visible_blanks(const char *text, size_t left, size_t *ret_count);

/* Appends a text with invisible characters as \u{202E}, bytes that are not UTF-8 as \x{FF}, and
 * long runs of blanks as "[7000 blanks]". lines: newlines and tabs stay. */
void visible_add(struct str *out, const char *bytes, size_t length, bool lines);

/* Appends a command as it is, except that blanks which a shell does not treat as blanks, and blanks
 * at the ends of its lines, become \u{A0}. Long runs of blanks stay. */
void visible_add_command(struct str *out, const char *bytes, size_t length);

/* Appends a (file) name as it is, except that blanks at the ends of its parts become \u{20}. A name
 * that could be taken for one with our words beside it, such as "n (mode 100755)", is quoted, with
 * \ before its quotes and backslashes. */
void visible_add_name(struct str *out, const char *name);

/* Appends the first non-empty line of a text, at most `most` bytes, with long runs of blanks
 * counted, and how much of the text is left out: "(+214 lines)", "(+6900 characters)". */
void visible_add_first_line(struct str *out, const char *text, size_t most);

#endif
