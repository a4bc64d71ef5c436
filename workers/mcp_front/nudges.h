/* nudges: said on open streams: the agent of a stalled session that keeps a connection open on
 * which the server may speak (stdio, the event stream of 2024-11-05) is sent the nudge as a log
 * message at once. Whether its host shows that to the model is the host's affair, so the nudge goes
 * with the result of its next call all the same; only that is its delivery. */
#ifndef NUDGES_H
#define NUDGES_H

struct front;

void nudges_tell(struct front *f);

#endif
