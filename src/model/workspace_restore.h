/* workspace_restore: an order to put a checkpoint back, until it has been asked about: what differs
 * between the workspace and the checkpoint becomes a question. The write is the applier's
 * (apply.h). */
#ifndef WORKSPACE_RESTORE_H
#define WORKSPACE_RESTORE_H

#include "store.h"

/* Takes the oldest order whose workspace has been read (the checkpoint before it is done, or was
 * refused): asks, or settles it as the same or refused. database: canonical path. *ret_seq is its
 * number. 1 did one, 0 there is none, -1. */
int workspace_restore_next(struct store *st, const char *database, const char *machine,
                           int64_t *ret_seq, struct err *e);

#endif
