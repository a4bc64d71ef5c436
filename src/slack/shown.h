/* shown: which parts of a question are in its message, and which in an attached file: nothing is
 * approved that cannot be seen. */
#ifndef SLACK_SHOWN_H
#define SLACK_SHOWN_H

#include "request.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	SLACK_INLINE_LINES =
	    20, /* of a diff or command that stands in the message (seeds 001, 4) */
	SLACK_INLINE_UNITS = 2500,
	SLACK_TITLE_UNITS = 1200,
	SLACK_DESCRIPTION_UNITS = 2000,
	SLACK_PROMPT_UNITS = 6000, /* of a prompt, which nobody approves */
	SLACK_PATH_UNITS = 600, /* of what becomes of a file */
	SLACK_PATHS_MAX = 20, /* of a diff that touches more, the rest is counted */
};

/* What is to be approved or answered: the effect on files, a command, a prompt. */
const struct str *slack_proposal(const struct request *r);

/* Whether that stands in the message itself; and whether title and description do, too. Else there
 * is a file. */
bool slack_is_inline(const struct request *r);
bool slack_is_whole(const struct request *r);

/* As much of it as stands in the message: how many bytes, and in *ret_lines how many whole lines
 * that are. */
size_t slack_beginning(const struct request *r, size_t *ret_lines);

/* What stands in the file: all that the message does not show whole, cleaned as there. */
void slack_add_file(struct str *out, const struct request *r);

/* Names of that file, and of a file itself, which keeps its ending; appended. */
void slack_diff_name(const char *file_path, struct str *out);
void slack_file_name(const char *file_path, struct str *out);

/* Every path of a clearance but the one that was asked for, and how many lines it changes. */
struct slack_gist {
	size_t added, removed;
	struct str paths; /* a line each: what becomes of it */
	size_t more; /* paths that are not in there */
};

void slack_gist_take(const struct request *r, struct slack_gist *g);
void slack_gist_clear(struct slack_gist *g);

/* What becomes of the file that was asked for: its name alone where it is just changed. */
void slack_add_asked(struct str *out, const struct request *r);

#endif
