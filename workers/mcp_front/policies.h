/* policies: watches the policy files of the workspaces in use, so that a change is reported (and a
 * broken file warned about) as soon as it is made. Each question reads its policy anyway. */
#ifndef POLICIES_H
#define POLICIES_H

#include "hand.h"

struct front;

int policies_start(struct front *f, struct err *e);
void policies_stop(struct front *f);
/* The policy of a workspace as a hand found it; never NULL. Its changes are watched from here
 * on. */
struct policy_file *policies_take(struct front *f, const char *workspace_root,
                                  struct hand_found *found);
/* Writes which versions were found. Call in a transaction. */
void policies_write(struct front *f);
/* The transaction has committed. */
void policies_written(struct front *f);

#endif
