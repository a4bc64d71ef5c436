/* shown: which parts of a request are in its message and which in an attached file: nothing can be
 * approved that cannot be seen. */
#ifndef SLACK_SHOWN_H
#define SLACK_SHOWN_H

#include "request.h"
#include "store.h"
#include "text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	SLACK_INLINE_LINES = 20, /* of a diff or command in the message */
	SLACK_INLINE_UNITS = 2500,
	SLACK_TITLE_UNITS = 1200,
	SLACK_DESCRIPTION_UNITS = 2000,
	SLACK_PROMPT_UNITS = 6000, /* of a prompt, which needs no approval */
	SLACK_PATH_UNITS = 600, /* of what happens to a file */
	SLACK_PATHS_MAX = 20, /* of a larger diff, the rest is counted */
	SLACK_PATHS_UNITS = 1500, /* or fewer paths, if they are this long together */
};

/* Whether the request asks for an approval. */
bool slack_is_approved(const struct request *r);

/* What is to be approved or answered: the effect on files, a command, a prompt. */
const struct str *slack_proposal(const struct request *r);

/* How it is shown: of what is approved, line ends are seen, too. */
enum slack_escaping slack_exactness(const struct request *r);

/* Whether that is in the message itself, along with title and description. Otherwise there is a
 * file. */
bool slack_is_inline(const struct request *r);
bool slack_is_whole(const struct request *r);

/* The file of a request that is not whole, as last sent. */
enum slack_file {
	SLACK_FILE_THERE,
	SLACK_FILE_AWAITED, /* Slack does not have it yet */
	SLACK_FILE_MISSING, /* nor will it */
};

int slack_file_find(struct store *st, int64_t request_seq, enum slack_file *ret, struct err *e);

/* As much of it as is in the message: how many bytes; *ret_lines is the number of whole lines in
 * them. */
size_t slack_beginning(const struct request *r, size_t *ret_lines);

/* The contents of the file: everything that the message does not show in full, cleaned likewise. */
void slack_add_file(struct str *out, const struct request *r);

/* Appends the name of that file; of a file itself, which keeps its extension. */
void slack_diff_name(const char *file_path, struct str *out);
void slack_file_name(const char *file_path, struct str *out);

/* Every path of a clearance except the requested one, and how many lines it changes. */
struct slack_gist {
	size_t added, removed;
	bool uncounted; /* the lines are not known */
	size_t files; /* with the requested one */
	struct str paths; /* one line each: what happens to it */
	size_t more; /* further paths, not listed */
};

void slack_gist_take(const struct request *r, struct slack_gist *g);
/* "40 files, +12 −3"; without the number of a single one, and without lines that are not known. */
void slack_gist_add_size(struct str *out, const struct slack_gist *g);
void slack_gist_clear(struct slack_gist *g);

/* What happens to the requested file: only its name if it is just modified. */
void slack_add_asked(struct str *out, const struct request *r);

#endif
