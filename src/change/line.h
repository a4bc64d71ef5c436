/* line: the lines of a text, with or without a final newline; for parsing, applying and computing a
 * diff. */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct span {
	const char *bytes;
	size_t size; /* with its newline, if any */
};

static inline bool ended(struct span line)
{
	return line.size > 0 && line.bytes[line.size - 1] == '\n';
}

static inline size_t text_size(struct span line)
{
	return line.size - (ended(line) ? 1 : 0);
}

static inline bool has_cr(const char *text, size_t length)
{
	return length > 0 && text[length - 1] == '\r';
}

/* The line at bytes, of which at least one must be left. */
static inline struct span line_at(const char *bytes, size_t left)
{
	const char *newline = memchr(bytes, '\n', left);

	return (struct span){ bytes, newline ? (size_t)(newline - bytes) + 1 : left };
}

#endif
