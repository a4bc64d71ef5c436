/* park: calls of paused sessions. They have no row yet: nothing has happened. The caller is held,
 * with keep-alives, until the session is resumed (then the call runs as if it had just arrived) or
 * stopped (then it is refused). */
#ifndef PARK_H
#define PARK_H

#include "hold.h"

/* Takes over the job. */
void park_call(struct front *f, struct job *job);
/* Releases calls whose session is not paused any longer, or whose time is up. */
void park_look(struct front *f);

#endif
