/* order: what an accepted envelope does. Buttons, forms, commands and messages become words at the
 * operator's desk (src/operator/say.h); its answer is shown where the person can see it. */
#ifndef SLACK_ORDER_H
#define SLACK_ORDER_H

#include "payload.h"
#include "proof.h"
#include "store.h"

struct slack_thread_row; /* sql/slack_envelope.h */

/* Does what a means, on behalf of an operator (operator.id). key: proves the answers. t: the thread
 * of a reply. reply: gets the JSON payload of the ack, if there is one. Inside a transaction. */
int slack_order_run(struct store *st, const struct slack_intent *a,
                    const struct slack_thread_row *t, const char *operator_id,
                    const struct proof_key *key, struct str *reply, struct err *e);

#endif
