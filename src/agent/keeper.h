/* keeper: a process between us and a program that we started, of which nothing shall survive. The
 * keeper is the program's parent and the subreaper of all that it starts, wherever that goes
 * (setsid), and ends all of it: when it is told to, and when we are gone, however we were ended. */
#ifndef KEEPER_H
#define KEEPER_H

#include "err.h"
#include "launch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct keeper {
	pid_t pid; /* our child, unless is_owners; 0: none */
	int line; /* to it, non-blocking: readable when the program has ended; -1: closed */
	int ended; /* pidfd: readable when the keeper has ended; -1: closed */
	bool is_owners; /* it runs as another user, by as-owner: keeper_owner.h */
	int64_t started; /* group_started of such a one */
};

#define KEEPER_INIT                                                                                \
	{                                                                                          \
		.line = -1, .ended = -1                                                            \
	}

/* As launch_hold, in a keeper. The process is the keeper's child, not ours. If launch_go fails,
 * keeper_release and keeper_reap. */
int keeper_hold(struct keeper *k, struct launch *l, const struct launch_plan *plan, struct err *e);
/* Sends a signal (SIGTERM, SIGCONT or SIGKILL) to the group of its program. */
void keeper_signal(const struct keeper *k, pid_t pid, int number);
/* Whether the program has ended: *ret_status is as waitpid(2) says. Until keeper_release nobody
 * gets its pid. */
bool keeper_has_status(struct keeper *k, int *ret_status);
/* Has the keeper end all that is left, for KEEPER_END_MS at most, and leave. */
void keeper_release(struct keeper *k);
enum { KEEPER_END_MS = 10000 };
/* Whether it has left, or was killed; then the rest of the program, if there is any, is our child
 * if we called group_adopt. */
bool keeper_reap(struct keeper *k);
/* Closes what is open, which releases it. */
void keeper_clear(struct keeper *k);

#endif
