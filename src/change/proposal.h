/* proposal: an agent's proposal, as what happens to each path. Asking and applying judge it with
 * the same functions, and the digest binds what was shown to what is written.
 *
 * A proposal is a diff (see diff.h) or the whole content of one file. A diff may touch many paths;
 * file_path must be one of them, and all are listed: a rename touches two, a copy reads one. All
 * parts of a diff refer to the files as they are: a path may be renamed away and created again, but
 * two parts that write or remove the same path are refused (git applies the second on top of the
 * first). A file does not become a directory within one proposal, directories that become empty
 * stay, and symlinks and submodules are not created; git differs here, too. */
#ifndef PROPOSAL_H
#define PROPOSAL_H

#include "diff.h"
#include "own_places.h"
#include "refusal.h"
#include "sha256.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum {
	PROPOSAL_FILE_BYTES = 100 << 20, /* of a file, before and after */
	PROPOSAL_TOTAL_BYTES = 256 << 20, /* of all files, before and after */
	PROPOSAL_FILES = 500, /* each has an open descriptor while it is written */
};

#define NO_FILE "new_file" /* stands for the hash of a file that does not exist */

/* One path and what happens to it: shown, stored with the request, and compared. */
struct touched {
	char *path; /* relative to the workspace, as given; symlinks are not resolved */
	char *target; /* the file it stands for, symlinks resolved: usually the path itself */
	const char *action; /* create, modify, delete, read (the source of a copy) */
	char *other; /* create, modify: content source; delete: new path; or NULL */
	unsigned mode; /* from the diff: 0100644 or 0100755; 0: not given */
	char hash[SHA256_BYTES]; /* of the file, or NO_FILE */
	char result_hash[SHA256_BYTES]; /* of the result, or NO_FILE; after proposal_work */
};

void touched_clear(struct touched *t);

/* Whether the path stands for another file: then both are shown, and both must be allowed. */
bool proposal_touched_is_link(const struct touched *t);

/* "docs/notes.md", or "docs/notes.md → src/auth.c". */
void proposal_touched_add_name(struct str *out, const struct touched *t);

/* The proposal. Texts are borrowed. */
struct proposal {
	const char *workspace_root;
	const char *file_path; /* as the agent gives it */
	const char *body; /* a diff or the whole content */
	size_t body_length;
	const struct own_places *ours; /* are not touched; or NULL */
	size_t fuzz; /* of diff_how: setting apply.fuzz_lines */
	bool unique; /* as in diff_how */
	bool silent; /* likewise, of all files: who asks does not know which are always asked about
	              */
	size_t most; /* bytes of all files, before and after; 0: PROPOSAL_TOTAL_BYTES */
	/* For writing: the paths at the time of the request; one that leads to another file by now
	 * is refused as patch_conflict. */
	const struct touched *asked;
	size_t asked_count;
};

struct planned {
	struct touched is;
	bool exists;
	struct stat st; /* if it exists */
	int links; /* names of that file, if it has several (hard links); else 0 */
	bool is_symlink; /* the path is one itself, not only behind one */
	char *reaches; /* one of its names, relative to the workspace, that is always asked about
	                  (always_ask.h); NULL: none; or: */
	bool is_vast; /* the workspace has too many files to know all of its names */
	struct str old; /* content */
	struct str new; /* content afterwards, after proposal_work */
	mode_t new_mode; /* of a new file less the umask */
	/* From the diff: */
	const struct diff_file *by; /* the part that writes the path, or NULL */
	size_t from; /* the file whose content it starts from, or PLAN_NONE */
	const struct diff_file *taken_by; /* the part that deletes or renames it, or NULL */
	struct diff_place *places; /* where the hunks of `by` went, after proposal_work */
	size_t place_count;
};

#define PLAN_NONE ((size_t)-1)

/* Owns everything it points to. */
struct plan {
	struct planned *files; /* in the order of the diff */
	size_t count;
	size_t primary; /* index of file_path */
	bool is_diff;
	bool replaces_file; /* whole content replaces an existing file */
	struct diff diff;
	size_t bytes; /* of all files so far */
};

/* Finds every path that p touches and reads the current files. plan must be fresh; the caller
 * clears it, even after a failure. Changes nothing. 0, or -1 with a refusal. */
int proposal_look(int root_fd, const struct proposal *p, struct plan *plan, struct refusal *why);

/* The parts of a proposal that is neither: files whose results somebody else computes. The path is
 * as an agent gives it; *ret is its number in the plan, where the file is read on first use. 0, or
 * -1 with a refusal. */
int proposal_touch(int root_fd, const struct proposal *p, struct plan *plan, const char *path,
                   size_t *ret, struct refusal *why);
/* What becomes of file number at; bytes NULL: there is none afterwards. 0, or -1 with a refusal. */
int proposal_set_result(const struct proposal *p, struct plan *plan, size_t at,
                        const struct str *bytes, struct refusal *why);
/* The same as after proposal_look: no file is another one's folder. Files without a result are
 * only read. */
int proposal_check_results(struct plan *plan, struct refusal *why);

/* Computes the new contents. A conflict tells nothing of what is in a file that is always asked
 * about, nor that the diff matches it. 0, or -1 with a refusal: patch_conflict, too_large. */
int proposal_work(const struct proposal *p, struct plan *plan, struct refusal *why);

void plan_clear(struct plan *plan);

/* What a person is shown of a clearance. Texts are borrowed; NULL: none. */
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

/* The digest of the request: of everything that is shown, with each path, action and hash; never of
 * session, request id or _meta. Computing it again from the same rows gives the same digest; the
 * applier does so before it writes. */
struct sha256 proposal_digest(const struct shown *s);

#endif
