/* inherit: what the operator said to an agent that was gone by then is for the next one of its
 * workspace, whatever that calls. */
#ifndef INHERIT_H
#define INHERIT_H

#include "peer.h"
#include "store.h"

/* Gives the session of p what those before it were not told. Agents that may still call keep what
 * is theirs. Inside a transaction. 0 or -1. */
int inherit_words(struct store *st, const struct peer *p, struct err *e);

#endif
