/* unread: big messages that have arrived whole and are not parsed yet. Parsing 4 MiB takes long
 * enough to be felt, so one is parsed in a pass of the loop, and what others sent meanwhile is read
 * and answered before the next. */
#ifndef UNREAD_H
#define UNREAD_H

#include "sink.h"

/* Has take called once, in a later pass, when all that waited before have had theirs; never, if the
 * caller is gone by then. length: bytes that it keeps waiting, which count as an incomplete
 * message; 0: the caller counts them. */
void unread_add(struct sink *s, size_t length, sink_take *take);
/* Whether it waits. */
bool unread_has(const struct sink *s);

void unread_start(struct front *f);
/* Drops what waits. */
void unread_stop(struct front *f);

#endif
