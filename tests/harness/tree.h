/* tree: a workspace as a checkpoint would hold it, and as one text, for comparison. */
#ifndef TREE_H
#define TREE_H

#include "object.h"
#include "str.h"

/* Stores what is in a directory, except .git, .intercom and hidden files of ours, and returns its
 * manifest. database: whose objects. */
struct sha256 tree_store(const char *database, const char *directory);

/* Appends what is in a directory, one line each: kind, permissions, path, content or target. */
void tree_list(const char *directory, struct str *out);

/* Makes random changes below a directory: creates, changes and removes files, links and directories
 * of a few names. *seed: the state of the random numbers. */
void tree_edit(const char *directory, unsigned *seed, unsigned times);

#endif
