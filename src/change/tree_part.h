/* tree_part: shared by the files of tree_change, and only by them. */
#ifndef TREE_PART_H
#define TREE_PART_H

#include "tree_change.h"

enum {
	INDEX_NAME_BYTES = 24, /* of new/<n> */
	TREE_STAGE_MODE = 0700, /* of directories that are not in place for good */
};

static inline bool tree_is_entry(enum thing_kind kind)
{
	return kind == THING_FILE || kind == THING_LINK;
}

/* Whether something new gets the name. */
static inline bool tree_is_made(const struct tree_step *s)
{
	return tree_is_entry(s->after.kind) ||
	       (s->after.kind == THING_DIRECTORY && s->before.kind != THING_DIRECTORY);
}

/* Whether new and old exchange names. */
static inline bool tree_is_exchange(const struct tree_step *s)
{
	return tree_is_entry(s->before.kind) && s->after.kind != THING_NONE;
}

void tree_index_name(char name[INDEX_NAME_BYTES], size_t index);

/* Opens the directory of a path, and puts the rest into name. 1 open, 0 there is none, -1. */
int tree_parent(const struct tree_change *t, const char *path, struct str *name, int *ret_dir_fd,
                struct refusal *why);

/* Calls each for all that is below a directory and is no directory, until it returns other than
 * 0. path: of the directory, for each. 0, what each returned, or -1 with errno. */
int tree_below(int dir_fd, const char *name, const char *path,
               int (*each)(const char *path, void *context), void *context);

#endif
