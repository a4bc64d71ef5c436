/* prompts: what an agent is told unasked, each a row of `agent_input`: its task, what the operator
 * says to it, what it missed while it was away. A prompt is sent once: its row says so, on disk,
 * before the bytes go. One whose runner was killed in between is in doubt: it is not sent again,
 * but the next run is told of it. */
#ifndef PROMPTS_H
#define PROMPTS_H

#include "acp.h"
#include "runner.h"
#include "said.h"
#include "sql/agent_question.h"

/* The session is open at the agent, which remembers it unless is_new: what it is told first becomes
 * a row. In a transaction. */
int prompts_begin(struct runner *r, const struct agent_talk_row *row, bool is_new, struct err *e);

/* Sends the next one if the agent takes one: with it a turn begins. 1 did something, 0 nothing to
 * do, -1 error. */
int prompts_next(struct runner *r, const struct agent_talk_row *row, struct acp *a, struct said *s,
                 struct err *e);

/* What the operator said beside an answer, or that nobody answered: the standard has no place for
 * that in the answer itself. In the transaction of the answer. */
int prompts_add_words(struct runner *r, const struct agent_talk_row *row,
                      const struct agent_question_decided_row *q, struct err *e);

/* A turn is over. In a transaction. */
int prompts_ended(struct runner *r, struct err *e);

#endif
