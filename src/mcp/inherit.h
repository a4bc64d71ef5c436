/* inherit: what the operator said to an agent that was already gone goes to the next agent in its
 * workspace, whatever tool that calls. */
#ifndef INHERIT_H
#define INHERIT_H

#include "peer.h"
#include "store.h"

/* Gives the session of p the words that its predecessors were not told. Agents that may still call
 * keep theirs. Inside a transaction. 0 or -1. */
int inherit_words(struct store *st, const struct peer *p, struct err *e);

/* Says as steering the words that answered questions of p's predecessors, which are gone: p asks
 * something else, with this digest, and would never get them. Before inherit_words, in the same
 * transaction. 0 or -1. */
int inherit_answers(struct store *st, const struct peer *p, const char *digest, struct err *e);

/* Both for one session: that of p, or one that p recovers. 1: its agent may still call, and keeps
 * them; 0 or -1. */
int inherit_of(struct store *st, const struct peer *p, int64_t session, struct err *e);

#endif
