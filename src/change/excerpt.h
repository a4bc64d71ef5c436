/* excerpt: a text file, or some of its lines, for people. Whatever the size of the file, memory
 * holds only what is shown. */
#ifndef EXCERPT_H
#define EXCERPT_H

#include "err.h"
#include "str.h"

#include <stddef.h>
#include <stdint.h>

enum {
	EXCERPT_BYTES = 1000000, /* that are shown: Slack accepts no larger snippet */
	EXCERPT_FILE_BYTES =
	    1 << 30, /* of a file of which lines are shown: it is read to its end */
};

struct excerpt {
	struct str text; /* as in the file: valid UTF-8, without NUL */
	size_t first, last; /* its lines, from 1; 0, 0 of an empty file */
	size_t lines; /* of the file; a last one without its newline counts */
	int64_t bytes; /* of the file */
	int64_t modified_ms; /* Unix time */
};

/* Reads the lines from first to last, or all (first 0). x must be fresh. 1 read; 0 the file does
 * not exist; -1: it is no regular file, no text, too large, or has fewer lines. */
int excerpt_read(int root_fd, const char *relative, size_t first, size_t last, struct excerpt *x,
                 struct err *e);
void excerpt_clear(struct excerpt *x);

#endif
