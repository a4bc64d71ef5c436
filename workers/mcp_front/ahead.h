/* ahead: writes the long texts of a big call before the call itself, one in each turn of the loop,
 * so that the calls of others come in between and no turn is long. */
#ifndef AHEAD_H
#define AHEAD_H

#include "job.h"

/* Whether a job has so long a text that it commits alone. */
bool ahead_is_big(const struct job *job);

/* CALL whose hand is done: writes the next of its texts in a transaction of its own, and puts the
 * job behind the others. False: none is left, the call may be recorded. A text that cannot be
 * written, or that retention has deleted again, is written with the call. */
bool ahead_put(struct front *f, struct job *job);

#endif
