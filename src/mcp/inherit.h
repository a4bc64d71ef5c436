/* inherit: what the operator said to an agent that was already gone goes to the next agent in its
 * workspace, whatever tool that calls. */
#ifndef INHERIT_H
#define INHERIT_H

#include "peer.h"
#include "store.h"

/* Gives the session of p the words that its predecessors were not told. Agents that may still call
 * keep theirs. Inside a transaction. 0 or -1. */
int inherit_words(struct store *st, const struct peer *p, struct err *e);

#endif
