/* order: what an accepted envelope does. Buttons, forms, commands and messages become words at the
 * operator's desk (src/operator/say.h); what that answers is told where the person can see it. */
#ifndef SLACK_ORDER_H
#define SLACK_ORDER_H

#include "payload.h"
#include "proof.h"
#include "store.h"

/* The thread that a reply stands in. */
struct slack_thread {
	int64_t session_seq; /* 0: it is none of ours */
	char session_id[40], request_id[40]; /* the latter: one question's own thread, else "" */
	char status[16];
};

/* Finds whose thread a's is. 0, or -1 if the database failed. */
int slack_thread_find(struct store *st, const struct slack_act *a, struct slack_thread *t,
                      struct err *e);

/* Does what a means in the name of an operator (operator.id). key: proves the answers. t: of
 * slack_thread_find. reply: gets the JSON payload of the ack, if there is to be one. Inside a
 * transaction. */
int slack_order_run(struct store *st, const struct slack_act *a, const struct slack_thread *t,
                    const char *operator_id, const struct proof_key *key, struct str *reply,
                    struct err *e);

#endif
