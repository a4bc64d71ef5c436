/* diff: unified diffs, git style or plain: parse one, apply it to a file's bytes, compute one from
 * two files.
 *
 * Sources: git-apply(1) for finding a hunk that has moved, GNU diffutils "Detailed Unified". Lines
 * are bytes: neither encoding nor NUL matters inside a hunk. All errors are ERR_INPUT. */
#ifndef DIFF_H
#define DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "str.h"

struct diff_line {
	const char *text; /* without sign and newline; includes a CR; not terminated */
	size_t length; /* bytes of text */
	char kind; /* ' ' context, '-' removed, '+' added */
	bool no_newline; /* "\ No newline at end of file" follows */
};

struct diff_hunk {
	size_t old_start; /* line number, from 1; if old_count is 0, the line before, from 0 */
	size_t old_count;
	size_t new_start;
	size_t new_count;
	size_t at; /* line number of the @@ line in the diff text, from 1 */
	const char *section; /* the text after the second @@, without its blank; not terminated */
	size_t section_length;
	struct diff_line *lines;
	size_t line_count;
};

struct diff_file {
	char *old_path; /* NULL: /dev/null, the diff creates the file */
	char *new_path; /* NULL: /dev/null, the diff deletes the file */
	unsigned old_mode; /* as in "old mode 100644"; 0: not given */
	unsigned new_mode;
	bool is_create;
	bool is_delete;
	bool is_rename; /* git style only: a plain diff with two names is not a rename */
	bool is_copy;
	struct diff_hunk *hunks;
	size_t hunk_count; /* 0 only in git style: a rename, a mode change, an empty file */
};

/* The way out, where what looks like a diff is refused. */
#define DIFF_AS_CONTENT                                                                            \
	"if this is the content itself, send it as a diff that adds its lines (--- /dev/null, "    \
	"+++ b/path)"

/* A parsed diff text. Owns everything it points to (the lines point into `text`, a copy). */
struct diff {
	struct diff_file *files;
	size_t file_count;
	char *text;
};

/* Whether content starts like a diff: "--- " with "+++ " in the next line, "diff " with a line of a
 * diff somewhere behind it, or "@@ -" (a diff without its file, which is refused and not written as
 * text). Leading blank lines are not skipped. */
bool diff_looks_like(const char *bytes, size_t length);

/* Appends the name in the C string that begins at text[0] == '"'. The bytes used; 0: malformed. */
size_t diff_unquote(const char *text, size_t length, struct str *name);

/* Reads a diff of one or more files. Text before the first header is skipped, and so is text
 * between files that follows a "-- ", "From ", "commit ", "Index: " or "Only in " line; any other
 * text after a hunk means that its counts are wrong. The prefixes a/ and b/ are removed from the
 * names when both names (or the only one) have them, or when removing them makes the names equal.
 * Empty context lines may lack their space, and the last line its newline. Refused: binary and
 * combined diffs, wrong counts, headers that disagree about names, names with NUL bytes. Paths are
 * not checked otherwise: see safe_path. out must be empty (zeroed) and is filled only on success;
 * the caller clears it. 0, or -1 with a text that names the line and the hunk. */
int diff_parse(const char *bytes, size_t length, struct diff *out, struct err *e);

/* Where a hunk should have been and where it was found: its first changed line, from 1. */
struct diff_place {
	size_t said, found;
};

/* How hunks are placed. */
struct diff_how {
	size_t fuzz; /* lines of context at each end of a hunk that may differ */
	bool unique; /* a hunk that fits at a second line is refused */
	bool silent; /* a conflict says no more of what is in the file than that there is one */
	struct diff_place *places; /* filled, one per hunk; or NULL */
};

/* Applies the hunks of f to old (old_length bytes; NULL: no such file) and puts the new content
 * into result (its old content is freed; untouched on failure).
 *
 * A hunk is looked for at its line, shifted as the previous hunk was, then at growing distances in
 * both directions, never before the end of the previous hunk, with every line equal. A hunk that
 * fits at two places equally far away does not apply. Unlike in git, missing context does not tie a
 * hunk to an edge of the file. Only if a hunk fits nowhere may up to how->fuzz lines of context at
 * each end differ, as in patch(1), except that at least one existing line must remain to
 * locate the hunk. A diff whose lines all end in LF matches CRLF lines, and one whose lines all end
 * in CRLF matches LF lines; added lines then get the line ending of their neighbour in the file. A
 * diff with both is matched byte for byte. A missing final newline must be the same in the diff and
 * in the file.
 *
 * how may be NULL. 0, or -1 with "patch conflict: <path>: ...". */
int diff_apply(const struct diff_file *f, const char *old, size_t old_length,
               const struct diff_how *how, struct str *result, struct err *e);

/* Appends to out the diff that turns old into new (each with its length in bytes), with 3 lines of
 * context and the headers a/path and b/path; nothing when they are equal. NULL means no file: its
 * name is /dev/null, and an empty file that appears or disappears gets a git header without hunks.
 * The diff is minimal unless that takes too long: then larger blocks are replaced as a whole. After
 * the second @@ of a hunk stands the last line before its first change that begins with a letter, _
 * or $, as in git. Applied to old, the diff gives new, byte for byte. */
void diff_compute(const char *path, const char *old, size_t old_length, const char *new,
                  size_t new_length, struct str *out);

/* What a diff says about a file in addition to its lines. */
struct diff_heading {
	const char *old_path, *new_path; /* as in diff_file */
	unsigned old_mode,
	    new_mode; /* where they differ; of a new file only new_mode; 0: not given */
	bool is_rename, is_copy;
	const struct diff_place *places; /* of the hunks that produce it, if they have moved */
	size_t place_count;
};

/* The same, with a git header where there is more to say than the names. Hunks whose changes have
 * moved say so: "@@ -203,7 +203,7 @@ [moved from line 2 to 206] main(void)". */
void diff_compute_file(const struct diff_heading *h, const char *old, size_t old_length,
                       const char *new, size_t new_length, struct str *out);

/* Whether two diffs that diff_compute_file made have the same effect on the same files: the same
 * removed and added lines in the same sections, at any position. */
bool diff_is_same(const char *a, size_t a_length, const char *b, size_t b_length);

void diff_clear(struct diff *d);

#endif
