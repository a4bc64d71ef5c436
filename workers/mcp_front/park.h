/* park: calls of paused sessions. They have no row yet: nothing happened. The caller is held, and
 * told that it waits, until the session is resumed (then the call is run as if it came now) or
 * stopped (then it is refused). */
#ifndef PARK_H
#define PARK_H

#include "hold.h"

/* Takes over the job. */
void park_call(struct front *f, struct job *job);
/* Releases calls whose session is no longer paused, or that have waited long enough. */
void park_look(struct front *f);

#endif
