/* proposal: what an agent proposes, as what becomes of each path. Asking and applying judge it by
 * the same functions, and the digest binds what was shown to what is written.
 *
 * A proposal is a diff (see diff.h) or the whole content of one file. A diff may touch many paths;
 * file_path must be one of them, and every one is listed: a rename touches two,
 * a copy reads one. All parts of a diff are about the files as they are: a path may be renamed
 * away and made anew, but two parts that write or take away the same path are refused, other than
 * by git, which lays the second on the first. A file does not become a directory within one
 * proposal, directories that become empty stay, symlinks and submodules are not made: here too git
 * does otherwise. */
#ifndef PROPOSAL_H
#define PROPOSAL_H

#include "diff.h"
#include "refusal.h"
#include "sha256.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum {
	PROPOSAL_FILE_BYTES = 100 << 20, /* of a file, before and after */
	PROPOSAL_TOTAL_BYTES = 256 << 20, /* of all files, before and after */
	PROPOSAL_FILES = 500, /* each has a descriptor open while it is written */
};

#define NO_FILE "new_file" /* stands for the hash of a file that is not there */

/* One path and what becomes of it: what is shown, stored with the question, and compared. */
struct touched {
	char *path; /* relative to the workspace, as it was said; symlinks are not resolved */
	char *target; /* the file that it stands for, symlinks resolved: mostly the path itself */
	const char *action; /* create, modify, delete, read (the source of a copy) */
	char *other; /* create, modify: where the content comes from; delete: where it goes; or NULL
	              */
	unsigned mode; /* as the diff says: 0100644 or 0100755; 0: it does not */
	char hash[SHA256_BYTES]; /* of the file, or NO_FILE */
	char result_hash[SHA256_BYTES]; /* of what it becomes, or NO_FILE; after proposal_work */
};

void touched_clear(struct touched *t);

/* Whether the path stands for another file: then both are shown, and both must be allowed. */
bool proposal_touched_is_link(const struct touched *t);

/* "docs/notes.md", or "docs/notes.md → src/auth.c". */
void proposal_touched_add_name(struct str *out, const struct touched *t);

/* What is proposed. Texts are borrowed. */
struct proposal {
	const char *workspace_root;
	const char *file_path; /* as the agent says it */
	const char *body; /* a diff or the whole content */
	size_t body_length;
	const char *database; /* canonical path: it, its companions and what is beneath ... */
	char *const
	    *ours; /* ... these canonical paths, and beneath them, are not touched; NULL at */
	/* the end. Each of the two may be NULL */
	size_t fuzz; /* as diff_apply_file takes it: setting apply.fuzz_lines */
	bool unique; /* as in diff_how */
	size_t most; /* bytes of all files, before and after; 0: PROPOSAL_TOTAL_BYTES */
	const struct touched
	    *asked; /* when it is written: the paths as they were when it was asked; */
	size_t asked_count; /* one that leads to another file now is refused as patch_conflict */
};

struct planned {
	struct touched is;
	bool exists;
	struct stat st; /* where it exists */
	struct str old; /* content */
	struct str new; /* content afterwards, after proposal_work */
	mode_t new_mode; /* of a new file less the umask */
	/* Of the diff: */
	const struct diff_file *by; /* what writes the path, or NULL */
	size_t from; /* the file whose content that begins with, or PLAN_NONE */
	const struct diff_file *taken_by; /* what deletes or renames it away, or NULL */
	struct diff_place *places; /* where the hunks of `by` went, after proposal_work */
	size_t place_count;
};

#define PLAN_NONE ((size_t)-1)

/* Owns all it points to. */
struct plan {
	struct planned *files; /* in the order of the diff */
	size_t count;
	size_t primary; /* which of them file_path is */
	bool is_diff;
	bool replaces_file; /* whole content over an existing file */
	struct diff diff;
	size_t bytes; /* of all files so far */
};

/* Finds every path that p touches and reads the files as they are. plan must be fresh; the caller
 * clears it, also after a failure. Changes nothing. 0, or -1 with a refusal. */
int proposal_look(int root_fd, const struct proposal *p, struct plan *plan, struct refusal *why);

/* Computes what the files are to become. 0, or -1 with a refusal: patch_conflict, too_large. */
int proposal_work(const struct proposal *p, struct plan *plan, struct refusal *why);

void plan_clear(struct plan *plan);

/* What a person is shown of a clearance. Texts are borrowed, NULL where there is none. */
struct shown {
	const char *title, *description, *risk_level, *file_path;
	const char *body;
	size_t body_length;
	const char *effect;
	size_t effect_length;
	bool replaces_file;
	const struct touched *files;
	size_t file_count;
};

/* The digest of the question: of all that is shown, with each path, action and hash. Never of
 * session, request id or _meta. The same whenever it is computed from the same
 * rows; the applier does that before it writes. */
struct sha256 proposal_digest(const struct shown *s);

#endif
