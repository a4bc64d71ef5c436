/* disk: looks at what may lie on a disk that does not answer (a mount that hangs): in a process of
 * its own, which is left behind if need be. It ends when the disk answers, or is killed. */
#ifndef DISK_H
#define DISK_H

#include "str.h"

enum {
	DISK_QUICK_MS = 1000, /* where nothing depends on the answer */
	DISK_PATIENCE_MS = 5000, /* where work does: disks spin up, mounts are made */
};

/* Runs look, which writes what it finds to out, the only descriptor that is open there; nothing
 * else that it does may be seen here. 1 it has ended, and what it wrote is appended to answer; 0
 * not within ms: *ret_left hangs up when it does, the caller closes it; -1 it cannot be run, with
 * errno.
 */
int disk_ask(void (*look)(const void *arg, int out), const void *arg, int ms, struct str *answer,
             int *ret_left);

/* The real path of a directory. 1; 0 there is none, with errno, and *ret_real is what it is instead
 * or NULL; -1 its disk does not answer. The caller frees *ret_real. */
int disk_real_dir(const char *path, char **ret_real);

#endif
