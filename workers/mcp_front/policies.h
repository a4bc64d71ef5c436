/* policies: the policy files of the workspaces in use, watched, so that a change is told (and a
 * broken file warned of) when it is made; each question looks for itself anyway. */
#ifndef POLICIES_H
#define POLICIES_H

#include "hand.h"

struct front;

int policies_start(struct front *f, struct err *e);
void policies_stop(struct front *f);
/* The policy of a workspace as a hand has found it; never NULL. From here on its changes are
 * noticed. */
struct policy_file *policies_take(struct front *f, const char *workspace_root,
                                  struct hand_found *found);
/* Writes which versions were found. Inside a transaction. */
void policies_write(struct front *f);
/* It is on disk. */
void policies_written(struct front *f);

#endif
