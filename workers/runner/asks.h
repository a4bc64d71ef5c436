/* asks: the questions of an agent, from its asking to the one answer that it gets.
 *
 * A question is judged by the policy of the workspace (judge.h), then it is a row of `request` and
 * beside it one of `agent_question`. What the policy allows has its decision in the transaction
 * that asks it. An answer is on disk before it is told. */
#ifndef ASKS_H
#define ASKS_H

#include "acp.h"
#include "judge.h"
#include "runner.h"
#include "sql/agent_question.h"

struct asked; /* one that was judged and is not written yet */

/* All zero: nothing was asked. */
struct asks {
	struct judge judge;
	struct asked *first;
};

/* Judges what waits and was not judged yet. Before the transaction: it looks at files. */
void asks_judge(struct asks *s, struct runner *r, const struct agent_talk_row *row, struct acp *a);

/* In the transaction: asks a person, or writes what the policy decided. */
int asks_write(const struct asks *s, struct runner *r, const struct agent_talk_row *row,
               const struct acp_inquiry *q, struct err *e);
/* The same: the agent needs no answer to a question any longer, for this reason. */
int asks_withdraw(struct runner *r, const char *rpc_id, const char *why, struct err *e);
/* The transaction is on disk; or it never will be, and a is NULL. */
void asks_written(struct asks *s, struct acp *a);

/* Tells the agent the next answer; works: whether its session's row says that it works, which the
 * last answer changes in its own transaction; line: appends what the operator has to be told of
 * that. 1 told, 0 there is none, -1 error. */
int asks_answer(struct runner *r, const struct agent_talk_row *row, struct acp *a, bool *works,
                struct str *line, struct err *e);

/* Nobody can be asked: each question is answered so. */
void asks_refuse(struct acp *a);

void asks_clear(struct asks *s);

#endif
