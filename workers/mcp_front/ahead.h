/* ahead: writes the long texts of a big call before the call itself, one in each step (big.h), so
 * that the calls of others come in between. */
#ifndef AHEAD_H
#define AHEAD_H

#include "job.h"

/* CALL whose hand is done: writes the next of its texts in a transaction of its own, and puts the
 * job first for the next step. False: none is left, the call may be recorded. A text that cannot be
 * written, or that retention has deleted again, is written with the call. */
bool ahead_put(struct front *f, struct job *job);

#endif
