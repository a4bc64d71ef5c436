/* looker_owner: a hand that runs as the owner of the workspace, by way of as-owner, and looks at
 * files for the runner of an agent of theirs. It is started at the first question and forks for
 * each. What it says is checked as foreign bytes (hand.h). */
#ifndef LOOKER_OWNER_H
#define LOOKER_OWNER_H

#include "hand.h"

#include <stdbool.h>
#include <sys/types.h>

struct looker_owner;

/* socket: of as-owner; fence: the setting, for the hand's own. Nothing is started yet. */
struct looker_owner *looker_owner_new(const char *socket, uid_t uid, const char *fence);
void looker_owner_free(struct looker_owner *o);

/* Whether as-owner is there, which is looked at anew: without it our own user looks. */
bool looker_owner_is_there(const struct looker_owner *o);
/* As looker_ask. */
bool looker_owner_ask(struct looker_owner *o, const struct hand_ask *ask, struct hand_found *found);
/* The hand ends; the next question starts another. */
void looker_owner_rest(struct looker_owner *o);

#endif
