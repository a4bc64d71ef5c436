/* roots: the folders that a fence lets write although they may lie on a disk that does not answer:
 * workspaces. */
#ifndef ROOTS_H
#define ROOTS_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roots {
	struct root {
		char *path; /* owned */
		bool
		    is_held; /* the fence lets it be written, as it was when the fence was put up */
		bool is_silent; /* its disk did not answer then */
	} * items;
	size_t count;
	bool is_fenced; /* a fence stands, and lets no other folder be written */
	int64_t asked_ms; /* monotonic: when it was put up */
};

void roots_clear(struct roots *r);

/* Adds an absolute path, unless it is there. */
void roots_add(struct roots *r, const char *path);

/* NULL: there is no such root. */
const struct root *roots_find(const struct roots *r, const char *path);

/* Gives a set of Landlock's rules these rights on each root and what is below it, and sets is_held
 * and is_silent. Not on one that is no folder, that lies behind a symlink, or whose disk does not
 * answer within a second for all of them: other processes do this, and are left behind at such a
 * disk. 0; -1 ERR_AGAIN: they cannot be started. */
int roots_allow(struct roots *r, int ruleset, uint64_t rights, struct err *e);

#endif
