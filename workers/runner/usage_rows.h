/* usage_rows: what an agent says that it uses becomes rows, of which the rules keep budgets. An
 * agent that says nothing has no rows. */
#ifndef USAGE_ROWS_H
#define USAGE_ROWS_H

#include "acp.h"
#include "runner.h"

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
};

/* Takes ACP_USAGE. line: appends what the operator has to be told. */
void usage_rows_take(struct usage_rows *u, const struct acp_event *event, struct str *line);

/* Writes it, in a transaction. 0 or -1. */
int usage_rows_write(struct usage_rows *u, struct runner *r, struct err *e);
/* The transaction is on disk. */
void usage_rows_written(struct usage_rows *u);

#endif
