/* gate_patch: the patch language of apply_patch ("*** Begin Patch"), as Codex takes it: sections
 * that add, delete, update and move files; the hunks of an update are found by their lines, not by
 * numbers. */
#ifndef GATE_PATCH_H
#define GATE_PATCH_H

#include "err.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	GATE_PATCH_FILES_MAX = 500, /* as PROPOSAL_FILES */
	GATE_PATCH_HUNKS_MAX = 10000, /* of one file */
	GATE_PATCH_STEPS_MAX = 100000000, /* comparisons of lines, of one file */
};

enum gate_patch_kind { GATE_PATCH_ADD, GATE_PATCH_DELETE, GATE_PATCH_UPDATE };

/* A line without its end; points into the patch, or the file. */
struct gate_patch_line {
	const char *text;
	size_t length;
	const char *end; /* of a line of the file; NULL: what its new lines get */
	bool is_context; /* of a hunk, before and after it */
};

struct gate_patch_lines {
	struct gate_patch_line *lines;
	size_t count;
};

struct gate_patch_hunk {
	bool has_context;
	struct gate_patch_line context; /* after "@@ ": the hunk is below this line */
	struct gate_patch_lines before, after;
	bool at_end; /* "*** End of File" follows */
	size_t at; /* line number in the patch, from 1 */
};

struct gate_patch_part {
	enum gate_patch_kind kind;
	char *path;
	char *to; /* of an update: where the file is moved; NULL: nowhere */
	struct gate_patch_lines added; /* of GATE_PATCH_ADD */
	struct gate_patch_hunk *hunks; /* of GATE_PATCH_UPDATE, at least one */
	size_t hunk_count;
};

/* Owns what it points to, but for the bytes of the lines. */
struct gate_patch {
	struct gate_patch_part *parts;
	size_t count;
};

/* Reads a patch; text must stay valid as long as out. Blank space around it is allowed, and a
 * here-document ("<<'EOF'") around that. out must be zeroed; the caller clears it, also after a
 * failure. 0, or -1 (ERR_INPUT) with the line at fault. */
int gate_patch_parse(const char *text, size_t length, struct gate_patch *out, struct err *e);
void gate_patch_clear(struct gate_patch *p);

/* Appends what an update makes of a file, as Codex 0.169.0 does it: LF, CRLF and CR end a line; new
 * lines, and a last one without an end, get that of the file's first line; lines of context stay as
 * they are in the file. A line is looked for as it is, then without trailing blanks, then without
 * blanks around it, then with typographic signs as ASCII.
 * exactly: as other hosts do it, as far as that is known: lines are found only as they are, and of
 * two empty ones at the end one is lost; a file with CR or without LF at its end, and additions
 * alone, are refused. 0, or -1 (ERR_INPUT): so, or the file is not UTF-8, or a hunk is not found.
 */
int gate_patch_update(const struct gate_patch_part *part, const char *old, size_t old_length,
                      bool exactly, struct str *out, struct err *e);
/* Appends the file that a GATE_PATCH_ADD makes. */
void gate_patch_add(const struct gate_patch_part *part, struct str *out);

/* Whether a shell command is nothing but a patch given to apply_patch in a here-document, perhaps
 * after "cd DIR &&": then *ret_patch is its text and *ret_dir is DIR (NULL: none); the caller frees
 * both. If a shell could expand anything in it, it is an ordinary command. */
bool gate_patch_in_command(const char *command, char **ret_patch, char **ret_dir);

#endif
