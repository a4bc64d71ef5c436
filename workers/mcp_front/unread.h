/* unread: big messages that have arrived whole and are not parsed yet. Parsing 4 MiB takes long
 * enough to be felt, so each is a step of its own (big.h). */
#ifndef UNREAD_H
#define UNREAD_H

#include "sink.h"

/* Has take called once, in a later step, when all that waited before have had theirs; never, if the
 * caller is gone by then. length: bytes that it keeps waiting, which count as an incomplete
 * message; 0: the caller counts them. */
void unread_add(struct sink *s, size_t length, sink_take *take);
/* Whether it waits. */
bool unread_has(const struct sink *s);

/* Takes the next; when none is left, gives memory back. False: there is nothing to do. */
bool unread_take(struct front *f);

void unread_start(struct front *f);
/* Drops what waits. */
void unread_stop(struct front *f);

#endif
