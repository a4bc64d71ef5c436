/* disk: examines paths on a disk that may not answer (a hung mount), in a separate process that is
 * left behind if it hangs. It ends when the disk answers, or is killed. */
#ifndef DISK_H
#define DISK_H

#include "str.h"

enum {
	DISK_QUICK_MS = 1000, /* nothing depends on the answer */
	DISK_PATIENCE_MS = 5000, /* work depends on it: disks spin up, mounts appear */
};

typedef void disk_look(const void *arg, int out);

/* Runs look in the separate process. It writes its findings to out, the only open descriptor there;
 * none of its other effects are visible here. 1: it has ended, and its output is appended to
 * answer. 0: not within ms; *ret_left hangs up when it ends, and the caller closes it. -1: it
 * cannot be run, with errno. */
int disk_ask(disk_look *look, const void *arg, int ms, struct str *answer, int *ret_left);
/* The same; the descriptor kept is open there, too. */
int disk_ask_with(disk_look *look, const void *arg, int kept, int ms, struct str *answer,
                  int *ret_left);

/* The real path of a directory. 1: *ret_real is it. 0: it is not a directory; errno says why, and
 * *ret_real is the real path of what is there, or NULL. -1: its disk does not answer. The caller
 * frees *ret_real. */
int disk_real_dir(const char *path, char **ret_real);

#endif
