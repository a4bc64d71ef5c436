/* shared: the folder of the sockets for other users of this machine (shared.directory). It belongs
 * to the system's user, and nobody else writes there; the mode of a socket says who may connect. */
#ifndef SHARED_H
#define SHARED_H

#include "err.h"
#include "store.h"
#include "str.h"

#include <stdbool.h>
#include <sys/types.h>

/* Opens the folder. 1; 0: the system serves its own user only; -1: ERR_INPUT, it is not as it must
 * be. */
int shared_open(struct store *st, int *ret_fd, struct err *e);

/* The group that a setting (shared.agents, shared.operators) names. 0 or -1. */
int shared_group(struct store *st, const char *setting, gid_t *ret, struct err *e);

/* Where as-owner listens that starts agents and commands as the owners of their workspaces. 1; 0:
 * the system serves its own user only, and starts them itself; -1: ERR_INPUT also where it is
 * missing. */
int shared_start_socket(struct store *st, struct str *out, struct err *e);

/* Who may connect to a socket of this type: the group, or everybody. */
struct shared_door {
	int type;
	gid_t group;
	bool is_wide;
};

/* A socket that listens under this name, in place of what was there; -1 on error. */
int shared_listen(int dir, const char *name, const struct shared_door *door, struct err *e);

#endif
