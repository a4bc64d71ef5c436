/* elicitation: questions that a legacy client shows to its user, sent as a request on the stream of
 * the waiting call. A modern client gets the question in a result instead: see ask.c. */
#ifndef ELICITATION_H
#define ELICITATION_H

#include "hold.h"
#include "request.h"

enum { ELICITATION_ID_BYTES = 40 }; /* id of such a request, as a JSON token */

/* The open question of a call that waits, of the connection of p; NULL: of any. 1 it is in r, which
 * the caller clears, 0 there is none, -1. */
int elicitation_question(struct front *f, int64_t call_seq, const struct peer *p, struct request *r,
                         struct err *e);

/* Asks the client to show the question of a waiting call to its user, if it can and may. */
void elicitation_begin(struct front *f, struct sink *sink, int64_t call_seq);
/* Asks the client to take the question back. */
void elicitation_withdraw(const struct waiter *w, int64_t call_seq);
/* Whether a message from a client answers one of these requests. */
bool elicitation_answers(const struct rpc_message *m);

/* Stores what the client's user answered; nothing is left to withdraw. What does not count is asked
 * again. For JOBS. */
int elicitation_run(struct front *f, struct job *job, struct err *e);
bool elicitation_reply(struct front *f, struct job *job);

#endif
