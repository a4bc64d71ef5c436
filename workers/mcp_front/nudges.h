/* nudges: sent on open streams. If the agent of a stalled session keeps a connection open on which
 * the server may speak (stdio, the event stream of 2024-11-05), it is sent the nudge as a log
 * message at once. Its host may not show that to the model, so the nudge also goes with the result
 * of the agent's next call; only that counts as delivery. */
#ifndef NUDGES_H
#define NUDGES_H

struct front;

void nudges_tell(struct front *f);

#endif
