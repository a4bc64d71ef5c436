/* guests_place: where agents work, and whose they are. */
#ifndef GUESTS_PLACE_H
#define GUESTS_PLACE_H

#include "err.h"

struct front;
struct hand_found;
struct peer;

/* As peer_place, and as the owner of the workspace, if the agent is of another user
 * (workspace_owner.h); learns that user's name. Outside of transactions. */
int guests_place(struct front *f, struct peer *p, const struct hand_found *found, struct err *e);

#endif
