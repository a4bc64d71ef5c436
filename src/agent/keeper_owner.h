/* keeper_owner: a keeper that runs as the owner of a workspace, in a system that serves several
 * users, who may not signal them. */
#ifndef KEEPER_OWNER_H
#define KEEPER_OWNER_H

#include "keeper.h"
#include "keeper_line.h"
#include "recipe.h"
#include "str.h"

#include <stdbool.h>

/* As keeper_hold, by as-owner at this socket, for the user whose workspace it is. holds: what
 * fences the program in. ERR_REFUSED: as-owner says why not. */
int keeper_owner_hold(struct keeper *k, struct launch *l, const char *socket, uid_t uid,
                      const struct recipe *recipe, struct str *holds, struct err *e);
/* launch_go of what was held. */
int keeper_owner_go(struct launch *l, const struct recipe *recipe, struct err *e);

/* Has all killed that is left of a program whose keeper is gone, or hangs, as its user, and waits
 * for that. Returns how many processes were killed; -1: not known. */
int keeper_owner_sweep(const char *socket, uid_t uid, const struct keeper_rest *rest,
                       struct err *e);

#endif
