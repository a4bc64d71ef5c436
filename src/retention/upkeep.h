/* upkeep: maintenance of the database other than purging. Both kinds are rows of `upkeep`.
 * - check, weekly and first: an integrity check, one table at a time, so that the log is never held
 *   for longer than one table takes; no writer waits for it.
 * - optimize, daily: statistics for the planner. Not while the last check found damage. If it finds
 *   damage itself, it starts a check, which records it. */
#ifndef UPKEEP_H
#define UPKEEP_H

#include "clock.h"
#include "err.h"
#include "store.h"
#include "str.h"

#include <stdbool.h>

enum { UPKEEP_TABLE_BYTES = 64 };

struct upkeep {
	bool checking;
	char table[UPKEEP_TABLE_BYTES]; /* the last one checked */
	struct instant began;
	struct str found; /* what is damaged; "": nothing yet */
};

/* Does the next thing that is due: 1 did something, 0 nothing is due, -1. *ret_damaged: a check has
 * just ended, and this is its finding (valid until the next call); otherwise NULL. */
int upkeep_some(struct upkeep *u, struct store *st, const char **ret_damaged, struct err *e);

#endif
