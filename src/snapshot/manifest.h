/* manifest: what a checkpoint holds: one entry for each path of a workspace, sorted. It is stored
 * as objects (object.h), and named by the hash of its root:
 *
 *   root   "manifest 1 <files> <links> <dirs> <left out> <bytes> <1: with what .gitignore ignores,
 *          or 0>\0", then for each part, in order: "<hash> <path of its first entry>\0"
 *   part   for each entry: "<kind> <mode, octal> <size> <hash or ->\0<path>\0<text>\0"
 *
 * Where a part ends depends on the path of its last entry alone, so that manifests of almost the
 * same tree share almost all parts: a change costs one part and the root.
 *
 * Paths are relative to the workspace, without "." and "..", and may contain any other byte but
 * NUL. They are sorted as a walk finds them: by their components (manifest_order), so that what is
 * below a directory follows it directly. */
#ifndef MANIFEST_H
#define MANIFEST_H

#include "object.h"

#include <sys/types.h>

enum entry_kind {
	ENTRY_FILE = 'f', /* a regular file */
	ENTRY_LINK = 'l', /* a symbolic link, never followed */
	ENTRY_DIR = 'd', /* any directory, empty or not, so that its mode comes back, too */
	ENTRY_LEFT_OUT = 'x', /* it was there, but is not held, nor is anything below it */
};

struct entry {
	enum entry_kind kind;
	mode_t mode; /* permissions, 07777; 0 of a link or what was left out */
	uint64_t size; /* of a file, bytes */
	struct sha256 hash; /* of a file; otherwise "" */
	const char *path;
	const char *text; /* of a link: its target; left out: why, in words; otherwise "" */
};

/* What a manifest has, by kind. */
struct manifest_sum {
	uint64_t files, links, dirs, left_out;
	uint64_t bytes; /* of all files */
	bool ignored; /* it holds what .gitignore ignores, too */
};

/* Below 0, 0, above 0: the order of two paths: as strcmp, but with "/" below all other bytes. */
int manifest_order(const char *a, const char *b);
/* Whether path is dir, or lies below it. */
bool manifest_is_within(const char *path, const char *dir);

/* ---- writing ---- */

struct manifest_writer {
	struct objects *objects; /* borrowed */
	struct str part, parts;
	struct str first, last; /* paths: of the part's first entry, of the last entry added */
	struct manifest_sum sum;
};

/* Begins: w must be fresh but for objects. Entries are added in order; another order is ERR_BUG. 0
 * or -1. */
int manifest_add(struct manifest_writer *w, const struct entry *entry, struct err *e);
/* Stores the rest and the root, and flushes: afterwards a row may name *hash, if what the entries
 * name was put into the same objects. 0 or -1. */
int manifest_finish(struct manifest_writer *w, struct sha256 *hash, struct err *e);
void manifest_writer_clear(struct manifest_writer *w);

/* ---- reading ---- */

struct manifest {
	const struct objects *objects; /* borrowed */
	struct manifest_sum sum;
	struct str root, part;
	size_t next_part; /* in root: where the next part is named */
	size_t at; /* in part: the next entry */
};

/* Opens a manifest, before its first entry; memory holds the root and a part (about 100 bytes per
 * 256 entries, and 32 KB). m must be fresh. 0; or -1: missing, damaged or no manifest
 * (ERR_INPUT). */
int manifest_open(const struct objects *o, const char *hash, struct manifest *m, struct err *e);
void manifest_clear(struct manifest *m);

/* The next entry, borrowed until the next call on m. 1, 0 at the end, -1. */
int manifest_next(struct manifest *m, struct entry *entry, struct err *e);

/* Finds a path, wherever m stands, and reads one part for it; manifest_next then continues behind
 * that path. 1 found, 0 not, -1. */
int manifest_find(struct manifest *m, const char *path, struct entry *entry, struct err *e);

/* Calls each for the root, the parts and the files of a manifest: all objects that must stay while
 * a row names it. Some are named several times. Until each returns other than 0. 0, what each
 * returned, or -1. */
int manifest_objects(const struct objects *o, const char *hash,
                     int (*each)(const char *hash, void *arg), void *arg, struct err *e);

/* ---- comparing ---- */

enum change_kind {
	CHANGE_MODIFIED, /* content, target or kind */
	CHANGE_DELETED,
	CHANGE_ADDED,
	CHANGE_MODE, /* only the mode */
};

struct manifest_change {
	enum change_kind kind;
	const struct entry *before; /* NULL: added */
	const struct entry *after; /* NULL: deleted */
};

/* Calls each for every difference, in order, until it returns other than 0. What one of the two
 * left out, and what lies below it, is not compared: nothing is known about it. Equal parts are not
 * read. a and b must be fresh from manifest_open. 0, what each returned, or -1. */
int manifest_compare(struct manifest *a, struct manifest *b,
                     int (*each)(const struct manifest_change *change, void *arg), void *arg,
                     struct err *e);

#endif
