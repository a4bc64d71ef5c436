/* restore_show: what a person reads before a checkpoint is put back. */
#ifndef RESTORE_SHOW_H
#define RESTORE_SHOW_H

#include "restore_plan.h"

enum {
	RESTORE_LIST_BYTES = 512 << 10, /* of the list of paths: all of them are shown, or none */
	RESTORE_DIFF_BYTES = 512 << 10, /* of the diffs */
	RESTORE_FILE_BYTES = 256 << 10, /* larger files are named, without a diff */
};

/* Appends all paths, by what has happened to them since the checkpoint, and what is left as it is.
 * 0, or -1: the list would be too long (ERR_INPUT). */
int restore_list(const struct tree_change *t, const struct restore_left *left, struct str *out,
                 struct err *e);

/* Appends the first most of them in one line, and how many there are besides. */
void restore_name(const struct tree_change *t, size_t most, struct str *out);

/* Appends what the files will change by, as a diff from the workspace to the checkpoint; says what
 * it leaves out. 0 or -1. */
int restore_diff(const struct objects *objects, const struct tree_change *t, struct str *out,
                 struct err *e);

#endif
