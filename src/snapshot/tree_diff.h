/* tree_diff: what changed between two manifests, as a unified diff. */
#ifndef TREE_DIFF_H
#define TREE_DIFF_H

#include "manifest.h"

enum {
	TREE_DIFF_FILE_BYTES = 4 << 20 /* a longer file is named with its size, like a binary one */
};

/* Appends the differences in the order of their paths: text as diff_compute shows it; binary and
 * long files, those that are no UTF-8, links, folders and modes by a line each. All of it is UTF-8:
 * other bytes in names are escaped. Until out has most bytes: then one line says so. a and b must
 * be fresh from manifest_open. 0 or -1. */
int tree_diff(struct manifest *a, struct manifest *b, size_t most, struct str *out, struct err *e);

#endif
