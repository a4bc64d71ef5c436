/* command: an order (`mode`, `pause`, `undo`) as a row, and its outcome. Its effect is in
 * schema/rules/command.sql; here the row is inserted and its outcome read back. */
#ifndef COMMAND_H
#define COMMAND_H

#include "sql/decision.h"
#include "store.h"

/* Texts are borrowed; NULL: none. */
struct command {
	const char *verb, *session_id, *argument;
	const char *operator_id; /* NULL: the default operator */
	const char *source;
};

/* Its outcome; NONE until a worker has carried it out. */
struct command_result {
	int64_t seq; /* of its row */
	struct command_outcome_row is;
};

/* Inserts the order and reads its outcome. Inside a transaction, which must be committed whatever
 * the outcome: refused orders are part of the audit. 0, or -1 if the database failed. */
int command_insert(struct store *st, const struct command *c, struct command_result *result,
                   struct err *e);
void command_result_clear(struct command_result *r);

/* Reads the outcome of an earlier order into a fresh result. */
int command_read(struct store *st, int64_t seq, struct command_result *result, struct err *e);

/* 0 if it is done or still to be done; otherwise -1, and e says why not. */
int command_check(const struct command_result *r, struct err *e);

#endif
