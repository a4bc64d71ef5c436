/* question: what an agent asks and waits for, from its request to the one answer it gets. */
#ifndef ACP_QUESTION_H
#define ACP_QUESTION_H

#include "talk.h"

/* A request of the standard that asks something. */
void acp_question_take_permission(struct acp *a, const struct acp_message *m);
void acp_question_take_form(struct acp *a, const struct acp_message *m);
/* Takes over a question that is complete (owned, of the heap). */
void acp_question_add(struct acp *a, struct acp_ask *ask);

/* The question needs no answer from a person any longer: it gets the one that says so. */
void acp_question_withdraw(struct acp *a, struct acp_ask *ask, const char *why);
void acp_question_withdraw_all(struct acp *a, const char *why);
/* The same where nobody is there to be answered. */
void acp_question_lose_all(struct acp *a, const char *why);
/* $/cancel_request: the agent gives up the question with that id. */
void acp_question_take_cancel(struct acp *a, const cJSON *params);

#endif
