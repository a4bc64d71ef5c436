/* capture: the output of a command, of which the first and the last part are kept, in memory of a
 * fixed size however much it is. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "str.h"
#include "tail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CAPTURE_LINES = 30, /* that capture_show shows: the first 10 and the last 20, */
	CAPTURE_CHARACTERS = 2400, /* in so many bytes at most */
};

struct capture {
	size_t
	    limit; /* bytes kept, at least 2: half of them of the beginning. Set before the first */
	char *head; /* NULL until the first byte */
	struct tail rest; /* of what follows it */
	int64_t total; /* bytes added */
	int64_t lines; /* line ends among them */
	char last; /* byte; tells whether the last line is complete */
};

void capture_add(struct capture *x, const char *bytes, size_t length);
/* Bytes that were not kept. */
int64_t capture_cut(const struct capture *x);
/* Appends all that was kept, cleaned (tail.h), with a line that says what is missing. */
void capture_text(const struct capture *x, struct str *out);
/* Appends the first and the last lines, cleaned, for a message. Returns whether that is all of it,
 * as capture_text has it. */
bool capture_show(const struct capture *x, struct str *out);
void capture_clear(struct capture *x);

#endif
