/* restore_plan: what puts a workspace back to what a checkpoint holds: from two manifests to the
 * steps of a tree_change. The same manifests and paths always give the same steps, so that their
 * hashes bind what a person was shown. No rows here. */
#ifndef RESTORE_PLAN_H
#define RESTORE_PLAN_H

#include "object.h"
#include "tree_change.h"

enum {
	RESTORE_STEPS_MAX = 200000, /* about 100 MB of memory */
	RESTORE_COMPARE_MS = 10000, /* nobody else's write is done meanwhile */
};

/* What is to be done. Texts are borrowed. */
struct restore_order {
	const char *from_hash; /* the manifest of the workspace as it is */
	const char *to_hash; /* that of the checkpoint */
	const char *paths; /* a JSON list: only these, and what is below them; NULL: all */
};

/* Names an order: SHA-256 of its parts. */
struct sha256 restore_digest(const struct restore_order *order);

/* What is left as it is, because nothing is known about it on one side: what could not be read, and
 * what was ignored when the checkpoint was taken. */
struct restore_left {
	size_t count; /* paths; what is below them does not count */
	struct str list; /* lines, "  <path>: <why>" */
	struct str named; /* the first RESTORE_NAMED: "<path> (<why>), ..." */
};

enum { RESTORE_NAMED = 20 };

void restore_left_clear(struct restore_left *left);

/* What could not be read on one side at least, of two manifests. left is fresh. 0 or -1. */
int restore_left_out(const struct objects *objects, const char *from_hash, const char *to_hash,
                     struct restore_left *left, struct err *e);

/* Adds the steps of an order to t, which is fresh; its content comes from objects, which must stay
 * as long as t. Protected places are left as they are, and what left says (NULL: it is not said).
 * With a path come the directories above it that are missing. 0 or -1: an object is missing or
 * damaged, or there are too many steps (ERR_INPUT). */
int restore_plan(const struct objects *objects, const struct restore_order *order,
                 struct tree_change *t, struct restore_left *left, struct err *e);

/* The first path of an order that is nothing on either side, neither there nor left out. 1 found
 * and put into path, 0, -1. */
int restore_unknown(const struct objects *objects, const struct restore_order *order,
                    struct str *path, struct err *e);

/* Counts the steps by what has happened to their paths since the checkpoint. */
struct restore_count {
	int64_t modified, deleted, added;
};
struct restore_count restore_count(const struct tree_change *t);

#endif
