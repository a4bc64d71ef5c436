/* pending: what an agent asks and waits for, from its request to the one answer it gets. */
#ifndef ACP_PENDING_H
#define ACP_PENDING_H

#include "talk.h"

/* A request of the standard that asks something. */
void acp_pending_take_permission(struct acp *a, const struct acp_message *m);
void acp_pending_take_form(struct acp *a, const struct acp_message *m);
/* Takes over a question that is complete (owned, of the heap). */
void acp_pending_add(struct acp *a, struct acp_inquiry *ask);

/* No question needs an answer from a person any longer: each gets the one that says so. */
void acp_pending_withdraw_all(struct acp *a, const char *why);
/* The same where nobody is there to be answered. */
void acp_pending_lose_all(struct acp *a, const char *why);
/* $/cancel_request: the agent gives up the question with that id. */
void acp_pending_take_cancel(struct acp *a, const cJSON *params);

#endif
