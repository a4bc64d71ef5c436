/* returning: an agent that is back after an interruption: what it is told, and what it asks again.
 */
#ifndef RETURNING_H
#define RETURNING_H

#include "acp.h"
#include "runner.h"
#include "sql/agent_question.h"

/* Writes the prompt that says where it was and what it missed: what was left unsent or in doubt,
 * and what was decided meanwhile. is_new: it remembers nothing, and is told what is known. In a
 * transaction. */
int returning_write(struct runner *r, const struct agent_talk_row *row, bool is_new, struct err *e);

/* The next decision on a question of an earlier run becomes a prompt. 1, 0 there is none, -1. */
int returning_add_late(struct runner *r, const struct agent_talk_row *row, struct err *e);

/* A question with this digest: if an earlier run asked the same and was not answered, the request
 * is that one, decided or not. 1 it is, 0 it is a new one, -1 error. In a transaction. */
int returning_ask_again(struct runner *r, const struct acp_inquiry *q, const char *digest,
                        struct err *e);

/* The agent waits for the answer to this request. In a transaction. */
int returning_put_question(struct runner *r, int64_t request, const struct acp_inquiry *q,
                           const char *digest, struct err *e);

#endif
