/* fence: what a process takes away from itself, for good, before it reads what others wrote:
 * Landlock (paths, TCP, devices, signals, ptrace). Processes that it starts inherit it.
 *
 * Not restricted by Landlock: looking at names and attributes (stat, readlink, realpath), files
 * that are open already, Unix sockets that have a path, UDP. */
#ifndef FENCE_H
#define FENCE_H

#include "err.h"
#include "roots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FENCE_READ = 1, /* read files, list folders */
	FENCE_WRITE = 2, /* also write, make, rename and remove them; no devices */
	FENCE_RUN = 4, /* execute programs */
	FENCE_DEVICES = 8, /* also control devices (ioctl) */
	FENCE_PATHS = 48,
	FENCE_PORTS = 4,
};

/* What remains allowed. Everything else that Landlock knows of is refused. */
struct fence {
	struct fence_path {
		const char *path; /* borrowed; with all that is below it */
		unsigned may;
	} paths[FENCE_PATHS];
	size_t path_count;
	struct roots *roots; /* borrowed; may be written, too; NULL: none */
	uint16_t ports[FENCE_PORTS]; /* for outgoing TCP connections */
	size_t port_count;
	bool any_port;
	bool listens; /* on TCP, whatever port */
	bool moves; /* renames from one folder to another, which needs ABI 2 (Linux 5.19) */
};

/* Adds a path; one that does not exist stays out of reach. */
void fence_allow(struct fence *f, const char *path, unsigned may);
void fence_allow_port(struct fence *f, uint16_t port);

/* The version of Landlock's ABI that this kernel offers; 0: none, or it is switched off. */
int fence_abi(void);

/* Puts the fence up around the calling thread and all that it starts; sets no_new_privs. With an
 * older ABI it holds less: renames between folders need 2, truncation 3, TCP 4, ioctl on devices 5,
 * signals and abstract sockets 6. Returns the ABI in force; 0: the kernel offers none that
 * suffices, and nothing changed but no_new_privs; -1: ERR_AGAIN, or ERR_BUG: more was allowed than
 * there is room for. */
int fence_raise(const struct fence *f, struct err *e);

#endif
