/* elicitation: questions that a client of the legacy era shows to its user: a request of ours on
 * the stream of the call that waits. A modern client is asked with a result instead: see ask.c. */
#ifndef ELICITATION_H
#define ELICITATION_H

#include "hold.h"

enum { ELICITATION_ID_BYTES = 40 }; /* of a request of ours, as a JSON token */

/* Has the client show the question of a call that waits to its user, if it can and may. */
void elicitation_begin(struct front *f, struct sink *sink, int64_t call_seq, const char *version);
/* Has it take the question away again. */
void elicitation_withdraw(struct sink *sink, int64_t call_seq);
/* Whether a message of a client answers a request of ours. */
bool elicitation_answers(const struct rpc_message *m);

/* Takes what the client's user said; then there is nothing to withdraw. For JOBS. */
int elicitation_run(struct front *f, struct job *job, struct err *e);
bool elicitation_reply(struct front *f, struct job *job);

#endif
