/* gate_replace: one text of a file replaced by another, as the hosts' edit tools do it. */
#ifndef GATE_REPLACE_H
#define GATE_REPLACE_H

#include "err.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>

enum { GATE_REPLACE_BYTES_MAX = 100 << 20 }; /* of a result */

struct gate_replace {
	const char *old_text; /* "": the file is created */
	const char *new_text;
	bool all; /* otherwise the old text must be there once */
	size_t expected; /* it must be there so often, and all are replaced; 0: not said */
	/* As in struct gate_host: */
	bool deletes_line_ends, keeps_last_end, trims_lines;
};

/* Puts what becomes of file (NULL: there is none) into out, which is empty. In a file whose lines
 * end in CRLF, the texts are taken to mean the same. 0, or -1 (ERR_INPUT): the old text is not
 * there, is there more than once, or is the new one; the result is too long; or hosts differ about
 * such files. */
int gate_replace(const struct gate_replace *r, const struct str *file, struct str *out,
                 struct err *e);

/* Whether hosts write content in place of such a file as it is: the file is UTF-8 without a
 * byte-order mark, and its lines end alike. 0 or -1 (ERR_INPUT). */
int gate_replace_check_whole(const struct str *file, const char *content, struct err *e);

/* Whether a line of text ends with a blank. */
bool gate_replace_has_loose_end(const char *text);

/* Puts text as lines of its own after line (0: before the first). 0, or -1: there is no such line.
 */
int gate_replace_insert(const struct str *file, size_t line, const char *text, struct str *out,
                        struct err *e);

#endif
