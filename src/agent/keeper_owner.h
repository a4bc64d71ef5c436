/* keeper_owner: a keeper that runs as the owner of a workspace, in a system that serves several
 * users, who may not signal them. */
#ifndef KEEPER_OWNER_H
#define KEEPER_OWNER_H

#include "group.h"
#include "keeper.h"
#include "keeper_line.h"
#include "owner.h"
#include "recipe.h"
#include "str.h"

#include <stdbool.h>

enum {
	KEEPER_OWNER_MS = 10000, /* to make a process, on whatever disk its user's home is */
	KEEPER_SWEEP_MS = GROUP_END_MS + 3000,
};

/* As keeper_hold, by as-owner at this socket, for the user whose workspace it is; but the program
 * is held only when keeper_owner_hear says so, since its user may stop every process of theirs.
 * asked: what as-owner says of it; the caller clears it. */
int keeper_owner_ask(struct keeper *k, struct launch *l, struct owner_process *asked,
                     const char *socket, uid_t uid, const struct recipe *recipe, struct err *e);
/* Once k->line or asked->fd is readable, or KEEPER_OWNER_MS are over (late). holds: what fences the
 * program in. 1 it is held, 0 not yet, -1 it will not be; ERR_REFUSED: as-owner says why not. */
int keeper_owner_hear(struct keeper *k, struct launch *l, struct owner_process *asked, bool late,
                      struct str *holds, struct err *e);
/* Once l->failed is readable after launch_let_go, or KEEPER_OWNER_MS are over: launch_went. */
int keeper_owner_went(struct launch *l, const struct recipe *recipe, struct err *e);

/* For who may wait. The first two; -1: nothing is left open. */
int keeper_owner_hold(struct keeper *k, struct launch *l, const char *socket, uid_t uid,
                      const struct recipe *recipe, struct str *holds, struct err *e);
/* launch_go of what was held, for KEEPER_OWNER_MS at most. */
int keeper_owner_go(struct launch *l, const struct recipe *recipe, struct err *e);

/* A process of the user's that ends what is left of a program. */
struct keeper_sweep {
	struct owner_process asked;
	int line; /* readable when it is done; -1: there is none */
};

#define KEEPER_SWEEP_INIT                                                                          \
	{                                                                                          \
		.asked = OWNER_PROCESS_INIT, .line = -1                                            \
	}

/* Begins to have all killed that is left of a program whose keeper is gone, or hangs. */
int keeper_owner_sweep_begin(struct keeper_sweep *s, const char *socket, uid_t uid,
                             const struct keeper_rest *rest, struct err *e);
/* Once its line is readable, or KEEPER_SWEEP_MS are over. Returns how many processes were killed;
 * -1: not known. */
int keeper_owner_sweep_end(struct keeper_sweep *s, struct err *e);
void keeper_sweep_clear(struct keeper_sweep *s);
/* Both, waiting in between. */
int keeper_owner_sweep(const char *socket, uid_t uid, const struct keeper_rest *rest,
                       struct err *e);

#endif
