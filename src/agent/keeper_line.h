/* keeper_line: what a keeper that runs as the owner of a workspace, and whoever asked for it, say
 * to each other, over a socket with messages (SOCK_SEQPACKET), of which the keeper has one end as
 * OWNER_FIRST_FD. The asker closing it ends all that the keeper keeps.
 *
 * keep:  asker -> keeper  one byte, with KEEPER_FDS descriptors: a file with the recipe (recipe.h),
 *                         and the ends of the program's pipes
 *        keeper -> asker  struct keeper_hello; then as keep.h says
 * sweep: asker -> keeper  struct keeper_rest
 *        keeper -> asker  int32_t: how many processes it has killed. It ends with that
 *
 * What a keeper says is not to be trusted: its user can be an agent's. */
#ifndef KEEPER_LINE_H
#define KEEPER_LINE_H

#include "launch.h"

#include <stdint.h>

enum {
	KEEPER_FDS = 1 + LAUNCH_ENDS,
	KEEPER_WHY_BYTES = 700,
	KEEPER_HOLDS_BYTES = 40,
	KEEPER_MARK_BYTES = 200,
};

struct keeper_hello {
	int32_t pid; /* the program's, which waits; 0: there is none, and why */
	int32_t may_try_again;
	int64_t started; /* group_started */
	char holds[KEEPER_HOLDS_BYTES]; /* as in struct fenced */
	char why[KEEPER_WHY_BYTES];
};

/* What may be left of a program: its group, what carries the mark, and its keeper. */
struct keeper_rest {
	int32_t pid, keeper; /* 0: not known */
	int64_t started, keeper_started;
	char mark[KEEPER_MARK_BYTES]; /* a variable and its value */
};

#endif
