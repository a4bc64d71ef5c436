/* event: the timeline, and whether it is sealed as it grows. */
#ifndef EVENT_H
#define EVENT_H

#include "err.h"
#include "store.h"

#include <inttypes.h>
#include <stdint.h>

enum { EVENT_LATE_MS = 60000 }; /* a heartbeat is each 30 s, and a busy machine may stand still */

/* How many events have no seal, though the watchdog went on for EVENT_LATE_MS after them: changes
 * of them are not noticed. It may be stopped by now; one that has just begun is given that time.
 * -1 on error. */
int64_t event_late(struct store *st, struct err *e);
/* What is said of so many. */
#define EVENT_LATE                                                                                 \
	"%" PRId64 " events were not sealed within a minute: what is changed in them is not "      \
	"noticed; the system's log says why"

#endif
