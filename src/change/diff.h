/* diff: unified diffs, git style or plain: parsed, applied to a file's bytes, computed from two.
 *
 * Sources: seeds 000 section 5 (check_diff: "diff_content"), decisions A10 (a proposal shows its
 * effect), git-apply(1) for the search of a hunk that moved, GNU diffutils "Detailed Unified".
 * Lines are bytes: neither encoding nor NUL matters inside a hunk. All errors are ERR_INPUT. */
#ifndef DIFF_H
#define DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "str.h"

struct diff_line {
	const char *text; /* without sign and newline, with a CR if there is one; not terminated */
	size_t length; /* bytes of text */
	char kind; /* ' ' context, '-' removed, '+' added */
	bool no_newline; /* "\ No newline at end of file" follows */
};

struct diff_hunk {
	size_t old_start; /* line number, from 1; with old_count 0 the line before, from 0 */
	size_t old_count;
	size_t new_start;
	size_t new_count;
	size_t at; /* line number of the @@ line in the diff text, from 1 */
	const char
	    *section; /* what stands behind the second @@, without its blank; not terminated */
	size_t section_length;
	struct diff_line *lines;
	size_t line_count;
};

struct diff_file {
	char *old_path; /* NULL: /dev/null, the diff creates the file */
	char *new_path; /* NULL: /dev/null, the diff deletes the file */
	unsigned old_mode; /* as in "old mode 100644", 0: not said */
	unsigned new_mode;
	bool is_create;
	bool is_delete;
	bool is_rename; /* git style only: a plain diff with two names is not a rename */
	bool is_copy;
	struct diff_hunk *hunks;
	size_t hunk_count; /* 0 only in git style: a rename, a mode change, an empty file */
};

/* What a diff text says. Owns all it points to (the lines point into `text`, a copy). */
struct diff {
	struct diff_file *files;
	size_t file_count;
	char *text;
};

/* Why a diff does not fit. hunk 0: the file as a whole (it exists, it does not exist, ...). */
struct diff_conflict {
	size_t hunk; /* from 1 */
	size_t hunk_count;
	size_t line; /* of the file as it is, from 1: where the first difference is */
	struct str expected; /* the diff's line there, raw bytes without newline */
	struct str found; /* the file's line there; empty at the end of the file */
	bool at_end; /* the file ended before that line */
};

/* Whether content begins like a diff: "--- " or "diff ". Leading blank lines are not skipped. */
bool diff_looks_like(const char *bytes, size_t length);

/* Reads a diff of one or more files. Text before the first header, and between files behind a
 * "-- ", "From ", "commit ", "Index: " or "Only in " line, is skipped; any other text behind a
 * hunk means that its counts are wrong. a/ and b/ are taken off the names when both (or the only
 * one) have them, or when the names are then equal. Empty context lines may lack their space and
 * the last line its newline. Refused: binary and combined diffs, wrong counts, headers that
 * disagree about names, names with NUL bytes. Paths are NOT checked otherwise: see safe_path.
 * out must be empty (zeroed) and is filled only on success; the caller clears it.
 * 0, or -1 with a text that names line and hunk. */
int diff_parse(const char *bytes, size_t length, struct diff *out, struct err *e);

/* Applies the hunks of f to old (old_length bytes; NULL: there is no such file) and puts the new
 * content into result (its old content is given up; untouched on failure).
 * A hunk is looked for at its line, moved as the hunk before it moved, then ever farther away in
 * both directions, never before the end of the previous hunk, with every line equal. Where it
 * stands at two places equally far away, it does not fit. Context need not reach the file's edges
 * as git wants it. Only where it is nowhere, up to `fuzz` lines of context at each end need not be
 * equal (0: all must), as in patch(1), but for one: a line that is there must be left to find the
 * hunk by. A diff whose lines all end in LF matches CRLF lines, and one whose lines all end in CRLF
 * matches LF lines; what it adds then gets the line ending of its neighbour in the file. A diff
 * with both is taken to the byte. A missing final newline must be in the diff exactly as it is in
 * the file. conflict may be NULL; else it is filled when the diff does not fit, and the caller
 * clears it. 0, or -1 with "patch conflict: <path>: ...". */
int diff_apply_file(const struct diff_file *f, const char *old, size_t old_length, size_t fuzz,
                    struct str *result, struct diff_conflict *conflict, struct err *e);

/* Where a hunk was said to be and where it was found, by its first line that changes, from 1. */
struct diff_place {
	size_t said, found;
};

/* How hunks are placed. */
struct diff_how {
	size_t fuzz;
	bool unique; /* a hunk that would stand at another line too does not fit */
	struct diff_place *places; /* filled, one for each hunk; or NULL */
};

/* The same; how: may be NULL. */
int diff_apply_how(const struct diff_file *f, const char *old, size_t old_length,
                   const struct diff_how *how, struct str *result, struct diff_conflict *conflict,
                   struct err *e);

/* Appends to out the diff that turns old into new (byte lengths beside them), with 3 lines of
 * context and headers a/path and b/path; nothing when they are equal. NULL is no file: its name is
 * /dev/null, and a file that appears or vanishes empty gets a git header without hunks.
 * The diff is the smallest one unless that takes too long: then larger blocks are replaced whole.
 * Behind the second @@ of a hunk stands the last line before its first change that begins with a
 * letter, _ or $, as git shows it. Applying it to old gives new, to the byte. */
void diff_compute(const char *path, const char *old, size_t old_length, const char *new,
                  size_t new_length, struct str *out);

/* What a diff says of a file apart from its lines. */
struct diff_heading {
	const char *old_path, *new_path; /* as in diff_file */
	unsigned old_mode,
	    new_mode; /* where they differ; of a new file new_mode alone; 0: not said */
	bool is_rename, is_copy;
	const struct diff_place *places; /* of the hunks that make it, for those that have moved */
	size_t place_count;
};

/* The same with a git header where there is more to say than names. The hunks that changes with a
 * new place belong to say so: "@@ -203,7 +203,7 @@ [moved from line 2 to 206] main(void)". */
void diff_compute_file(const struct diff_heading *h, const char *old, size_t old_length,
                       const char *new, size_t new_length, struct str *out);

/* Whether two diffs that diff_compute_file made do the same to the same files: the lines that go
 * and come, in the same sections, wherever they are. */
bool diff_is_same(const char *a, size_t a_length, const char *b, size_t b_length);

void diff_clear(struct diff *d);
void diff_conflict_clear(struct diff_conflict *c);

#endif
