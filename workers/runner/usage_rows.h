/* usage_rows: what an agent says that it uses becomes rows, and budgets are kept: where one is used
 * up, the session is paused and the operator is told. An agent that says nothing has no rows. */
#ifndef USAGE_ROWS_H
#define USAGE_ROWS_H

#include "acp.h"
#include "runner.h"
#include "sql/agent_question.h"

/* What has been counted. */
struct usage_count {
	int64_t input, output, total, micros;
};

/* All zero: nothing was said. */
struct usage_rows {
	struct usage_count last, all; /* the tokens said last, and the sum of what was said */
	bool by_turn; /* it counts each turn, not the session */
	int64_t cost_last, cost_before; /* money said last, and before its count began again */
	struct usage_count written;
	char currency[4];
	int64_t used, size; /* of the context */
	bool is_new; /* there is something to be written */
	bool is_told; /* that little of the context is left */
	char day[11]; /* as of the last write; "": none */
	int64_t day_times; /* how often the budget of that day was used up, by all sessions */
};

/* Takes ACP_USAGE. line: appends what the operator has to be told. */
void usage_rows_take(struct usage_rows *u, const struct acp_event *event, struct str *line);

/* Writes it, in a transaction; line as above. 1 a budget is used up, and the session paused; 0;
 * -1. */
int usage_rows_write(struct usage_rows *u, struct runner *r, const struct agent_talk_row *row,
                     struct str *line, struct err *e);
/* The transaction is on disk. */
void usage_rows_written(struct usage_rows *u);

#endif
