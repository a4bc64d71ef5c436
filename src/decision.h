/* decision: a person's answer as a row, and what became of it. Also command: an order (`mode`,
 * `undo`).
 * What they do is in schema/rules/; here a row is inserted and its outcome read back. */
#ifndef DECISION_H
#define DECISION_H

#include "store.h"

/* Who says what of which request. Texts are borrowed; NULL where there is none. */
struct decision {
	const char *request_id, *verdict;
	const char *reason, *instruction;
	const char *digest; /* of what the person saw; NULL: as it stands */
	const char *operator_id; /* NULL: the default operator */
	const char *source; /* ctl, socket, slack, timeout, policy */
};

/* What became of it, and how the request stands now (the last four; NULL if there is none).
 * Texts are owned. */
struct decision_result {
	char *outcome; /* applied, duplicate, unauthorized, ... */
	char *why; /* NULL where it was applied */
	char *state, *verdict, *decided_by, *decided_at;
};

#define DECISION_RESULT_INIT                                                                       \
	{                                                                                          \
		.outcome = NULL                                                                    \
	}

/* Inserts the row and reads its outcome. Inside a transaction, which is to be committed whatever
 * the outcome is: refused answers are part of the audit. 0, or -1 if the database failed. */
int decision_insert(struct store *st, const struct decision *d, struct decision_result *result,
                    struct err *e);
void decision_result_clear(struct decision_result *r);

/* 0 if it was applied, else -1 and e says why not, for the person who answered:
 * "already approved by local:ann at 2026-02-08T09:30:00.123Z". */
int decision_check(const struct decision_result *r, struct err *e);

struct command {
	const char *verb, *session_id, *argument;
	const char *operator_id; /* NULL: the default operator */
	const char *source;
};

/* Inserts the order and hands out its reply, a JSON text (the caller frees it); NULL: a worker will
 * give it, the order's seq is store_last_seq. -1 and e if the database failed or the order was
 * refused: commit in either case, as above. */
int command_insert(struct store *st, const struct command *c, char **ret_reply, struct err *e);

/* The reply to an order of before. 1 done, 0 a worker has not done it yet, -1 refused or failed. */
int command_reply(struct store *st, int64_t seq, char **ret_reply, struct err *e);

#endif
