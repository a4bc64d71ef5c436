/* fences: what each process of the system may reach, as one table, and the fence made of its row.
 */
#ifndef FENCES_H
#define FENCES_H

#include "err.h"
#include "roots.h"

#include <stdbool.h>

enum { FENCE_STATE_BYTES = 200 };

/* Where this system is. Paths are borrowed; NULL: there is none. */
struct fence_ground {
	const char *database; /* the file; its folder counts */
	const char *run_dir;
	const char *exports; /* the folder for what retention exports */
	const char *programs; /* the folder of hand */
	const char *shared; /* the folder of the sockets for other users */
	const char *moves_to[2]; /* where the next run directory may be made */
	struct roots *workspaces; /* that are known; NULL: none */
	bool any_port; /* Slack is not where it usually is */
};

/* Puts up the fence of the worker `name`. setting: `fence` (test builds: $INTERCOM_FENCE takes
 * the place of "auto"). Writes what is in force to
 * state: "landlock 7, seccomp" (the ABI; without the second word system calls are not restricted),
 * "seccomp, no Landlock: " and why, "none: " and why, "off", or "open" (its row in the table says
 * that it has none). Leaves no core file either, and if it needs no other process, starts none.
 * What it refuses is counted (refusals.h). -1: it is "require", and there is none: ERR_INPUT, the
 * kernel offers none that suffices; ERR_AGAIN. */
int fence_worker(const char *name, const char *setting, const struct fence_ground *ground,
                 char state[FENCE_STATE_BYTES], struct err *e);

/* The same for a process that looks into one workspace: it reads root, and objects if that is not
 * NULL; is_kept: it writes into objects. Its system calls are restricted, too (calls.h). 0; -1:
 * it is "require", and there is none. e may say why there is none with "auto", too. */
struct fence_view {
	const char *root, *objects;
	bool is_kept;
};
int fence_workspace(const char *setting, const struct fence_view *view, struct err *e);

/* The same for a process that changes files in one workspace: root is open. */
int fence_files(const char *setting, int root, struct err *e);

/* For children of workers: the mode with which this process, or one that it was forked from, has
 * put up a fence; "off": none. */
const char *fence_mode_of_child(void);

#endif
