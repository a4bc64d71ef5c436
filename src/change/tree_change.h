/* tree_change: many names of a workspace, brought to what a checkpoint has: regular files with
 * their permissions, symlinks, directories. All of them or none. No rows here: its caller journals
 * what this module is about to do.
 *
 * Everything new is made in a hidden directory at the top of the workspace, and synced:
 *
 *   .intercom-<16 digits>.tmp/new/<n>   what step n puts in place
 *   .intercom-<16 digits>.tmp/old/<n>   what step n has taken away
 *   .intercom-<16 digits>.tmp/list      the inode numbers of new/<n>
 *
 * Then names are moved, one at a time and each back again if something fails: what has no successor
 * is renamed to old/; directories that stand where a file goes are, too, once they contain nothing
 * but directories; what is replaced is exchanged (RENAME_EXCHANGE), so that its name always stands
 * for the old or the new; what is created gets a name that nobody has. Whatever has been moved away
 * is read once more: if it is not what was to be replaced, it gets its name back, and so does
 * everything else. So nobody else's change is overwritten. The inode numbers tell after a crash how
 * far it got.
 *
 * Once all names are in place and synced, and the caller has recorded that, tree_change_finish does
 * what can be repeated but not reverted: it sets the permissions of directories, removes those that
 * became empty, and the hidden directory. Until then, tree_change_put_back restores what was there,
 * but never over what somebody has made in the meantime; a new directory that must stay for that
 * gets its permissions.
 *
 * A replaced file gets the owner (where permitted) and the extended attributes of the old one;
 * without that owner it gets no set-id bits. Of a directory only the permissions change; one that
 * is not to stay stays if there is something in it that no step takes away. */
#ifndef TREE_CHANGE_H
#define TREE_CHANGE_H

#include "own_places.h"
#include "refusal.h"
#include "str.h"
#include "thing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TREE_NAME_BYTES = 48 };

/* One name. before and after differ. */
struct tree_step {
	char *path; /* relative to the workspace */
	struct thing before, after;
	int64_t size; /* of a file afterwards */
	char *target; /* of a link afterwards, or NULL */
	bool leaves_set_id; /* what it goes back to had set-id bits; after has none */
	/* Filled by the functions below: */
	ino_t staged; /* inode of what is put in place; 0: nothing is */
	bool taken; /* old/<n> is what was there */
	bool placed; /* the name is the new thing's */
	/* After tree_change_put_back: */
	bool left; /* the name is what somebody else has made there meanwhile */
	bool gone; /* what was there before is not back, because of that */
};

/* Where content comes from. */
struct tree_source {
	/* Writes the content with this hash to fd, and checks it. 0 or -1. */
	int (*copy)(void *context, const char *hash, int fd, struct err *e);
	void *context;
};

struct tree_change {
	int root_fd; /* the workspace; borrowed */
	struct tree_source source;
	const struct own_places *ours; /* are not touched; or NULL */
	bool leave_attributes; /* extended attributes are not copied */
	char stage_name[TREE_NAME_BYTES];
	struct tree_step *steps; /* in the order of tree_order */
	size_t count;
	int stage_fd, new_fd, old_fd; /* -1: not open */
};

#define TREE_CHANGE_INIT                                                                           \
	{                                                                                          \
		.root_fd = -1, .stage_fd = -1, .new_fd = -1, .old_fd = -1                          \
	}

void tree_change_clear(struct tree_change *t);
void tree_step_clear(struct tree_step *s);

/* The order of paths: as strcmp, but "/" is below all other bytes, so that what is below a
 * directory follows it. */
int tree_order(const char *a, const char *b);

/* Adds a step, after all that sort before it; the caller sets size and target. Valid until the next
 * call. */
struct tree_step *tree_change_add(struct tree_change *t, const char *path,
                                  const struct thing *before, const struct thing *after);

/* The step of a path, or NULL. */
struct tree_step *tree_change_step(const struct tree_change *t, const char *path);

/* Chooses stage_name. */
void tree_change_name(struct tree_change *t);

/* Checks that each name is what its step begins with, that nothing else is in the way, and that no
 * path is protected. Refused as workspace_changed, in_the_way or path_violation. 0 or -1. */
int tree_change_check(struct tree_change *t, struct refusal *why);

/* Makes everything new, and syncs it. On failure the hidden directory may be left. 0 or -1. */
int tree_change_stage(struct tree_change *t, struct refusal *why);

/* After a crash, once staged: how far it got. 1 found; 0 nothing is in place, it was put back; -1.
 */
int tree_change_find(struct tree_change *t, struct refusal *why);

/* Puts in place what is not in place yet, checks all that was taken away, and syncs. After a
 * failure: tree_change_put_back. 0 or -1. */
int tree_change_place(struct tree_change *t, struct refusal *why);

/* Puts back what is in place, in reverse order, and syncs. What somebody else has made of a name in
 * the meantime stays as it is (left), and what was there before is then not put back (gone): nor is
 * what was below it. 0, or -1: how far it got is found by tree_change_find. */
int tree_change_put_back(struct tree_change *t, struct refusal *why);

/* Appends the paths that are left, or gone, in one line: the first of them, and of what is below
 * one only how many there are. */
void tree_change_name_left(const struct tree_change *t, struct str *out);
void tree_change_name_gone(const struct tree_change *t, struct str *out);

/* Nothing is in place, or everything is for good: removes the hidden directory, if it is there. */
int tree_change_remove_stage(struct tree_change *t, struct refusal *why);

/* Everything is in place for good: does the rest, as often as it takes. 0 or -1. */
int tree_change_finish(struct tree_change *t, struct refusal *why);

#endif
