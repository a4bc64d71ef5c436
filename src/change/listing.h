/* listing: a folder as a tree of names, for people. Only names and types are read; nothing is
 * followed: no symlink, no mount point, no folder that is ours, hidden or full of what tools made.
 */
#ifndef LISTING_H
#define LISTING_H

#include "err.h"
#include "own_places.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	LISTING_DEPTH_MAX = 10,
	LISTING_FOLDER_MAX = 1000, /* entries of a folder further down: above that only counted */
	LISTING_LINES_MAX = 5000, /* in all: more than anybody reads */
	LISTING_SEEN_MAX = 1000000, /* entries of one folder that are counted */
};

/* What is listed. */
struct listed {
	int root_fd;
	const char *relative; /* "" is the workspace */
	const char *name; /* shown on the first line */
	int depth; /* 1 to LISTING_DEPTH_MAX */
	const struct own_places *ours; /* folders that are only named; or NULL */
};

struct listing {
	struct str text; /* lines: the folder's name with "├── ", "└── ", "│   " below; UTF-8, with
	                    invisible characters as \u{202E} */
	size_t lines;
	size_t folders, files, others; /* in the tree; others: links, sockets, devices, ... */
	bool is_cut; /* not all is shown; the tree says where */
};

/* l must be fresh. 1 listed, 0 it does not exist, -1. */
int listing_read(const struct listed *what, struct listing *l, struct err *e);
void listing_clear(struct listing *l);

#endif
