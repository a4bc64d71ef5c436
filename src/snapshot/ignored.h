/* ignored: what the .gitignore files that a manifest holds left out of it. */
#ifndef IGNORED_H
#define IGNORED_H

#include "ignore.h"
#include "manifest.h"

enum { IGNORED_DEPTH = 200 /* folders below each other, as of a walk (walk.h) */ };

struct ignored {
	struct manifest m;
	struct ignore levels[IGNORED_DEPTH + 1]; /* of the directories on the way */
	struct str dir; /* the deepest of them */
	int depth; /* how many there are */
};

/* Opens it; i must be fresh. 0 or -1. */
int ignored_open(struct ignored *i, const struct objects *o, const char *hash, struct err *e);
void ignored_clear(struct ignored *i);

/* Whether a path would not have been held, although it was there: 1, 0, -1. Cheap for paths in
 * order. */
int ignored_judge(struct ignored *i, const char *path, bool is_dir, struct err *e);

#endif
