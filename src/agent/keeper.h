/* keeper: a process between us and a program that we started, of which nothing shall survive. The
 * keeper is the program's parent and the subreaper of all that it starts, wherever that goes
 * (setsid), and ends all of it: when it is told to, and when we are gone, however we were ended. */
#ifndef KEEPER_H
#define KEEPER_H

#include "err.h"
#include "launch.h"

#include <stdbool.h>
#include <sys/types.h>

struct keeper {
	pid_t pid; /* our child; 0: none */
	int line; /* to it, non-blocking: readable when the program has ended; -1: closed */
	int ended; /* pidfd: readable when the keeper has ended; -1: closed */
};

#define KEEPER_INIT                                                                                \
	{                                                                                          \
		.line = -1, .ended = -1                                                            \
	}

/* As launch_hold, in a keeper. The process is the keeper's child, not ours. If launch_go fails,
 * keeper_release and keeper_reap. */
int keeper_hold(struct keeper *k, struct launch *l, const struct launch_plan *plan, struct err *e);
/* Whether the program has ended: *ret_status is as waitpid(2) says. Until keeper_release nobody
 * gets its pid. */
bool keeper_has_status(struct keeper *k, int *ret_status);
/* Has the keeper end all that is left, for GROUP_END_MS at most, and leave. */
void keeper_release(struct keeper *k);
/* Whether it has left, or was killed; then the rest of the program, if there is any, is our child
 * if we called group_adopt. */
bool keeper_reap(struct keeper *k);
/* Closes what is open, which releases it. */
void keeper_clear(struct keeper *k);

#endif
