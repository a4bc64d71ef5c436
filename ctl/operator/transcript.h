/* transcript: one entry after the other, in the form that was asked for. */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include "ctl.h"

enum { ENTRY_BLOCKS = 2 };

/* Something that happened. All texts are borrowed, and as they came: who prints them makes them
 * harmless. */
struct entry {
	const char *at, *what; /* what: transcript.sql */
	const char *who; /* an operator, or NULL */
	const char *head; /* one line */
	struct block {
		const char *bytes; /* NULL: none */
		size_t length;
		bool is_diff;
	} blocks[ENTRY_BLOCKS];
};

/* One page without anything from elsewhere. */
void transcript_html_begin(struct str *out, const char *title);
void transcript_html_add(struct str *out, const struct entry *entry);
void transcript_html_end(struct str *out);

#endif
