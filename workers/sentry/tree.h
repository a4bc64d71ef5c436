/* tree: the folders of a workspace under inotify, without those that git would ignore. */
#ifndef TREE_H
#define TREE_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>

struct tree;

/* Watches root, an absolute path, on an inotify descriptor, which trees may share; at most `most`
 * folders. Links and other mounts are not followed. NULL: root cannot be read. */
struct tree *tree_open(int inotify, const char *root, size_t most);
void tree_free(struct tree *t);

const char *tree_root(const struct tree *t);
/* How many folders are watched, and whether there are more. */
size_t tree_count(const struct tree *t, bool *ret_more);

/* An event of inotify(7): 1 something changed that git does not ignore, and path has been filled
 * with where, relative to the root; 0 nothing did, or it is of another tree. */
struct inotify_event;
struct str;
int tree_hear(struct tree *t, const struct inotify_event *event, struct str *path);

#endif
