/* hand_edit: what an edit tool of a host's own makes of the files of a workspace. Parts of the work
 * of a hand. */
#ifndef HAND_EDIT_H
#define HAND_EDIT_H

#include "hand.h"

/* Fills plan and effect of found, or why: "not_computed" if nobody can say what the tool makes of
 * the files. */
void hand_edit_look(const struct hand_ask *ask, struct hand_found *found);

#endif
