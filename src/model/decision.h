/* decision: a person's answer as a row, and its outcome. Its effect is in
 * schema/rules/decision.sql; here the row is inserted and its outcome read back. */
#ifndef DECISION_H
#define DECISION_H

#include "proof.h"
#include "sql/decision.h"
#include "store.h"

/* Who answers which request, and how. Texts are borrowed; NULL: none. */
struct decision {
	const char *request_id, *verdict;
	const char *reason, *instruction;
	const char *choice; /* the agent's own option that it is (agent_question.options) */
	const char *digest; /* of what the person saw; NULL: the current one */
	const char *operator_id; /* NULL: the default operator */
	const char *source; /* ctl, socket, elicitation, editor, slack, timeout, policy */
	const struct proof_key *key; /* proves the answer; NULL: no proof */
};

/* Its outcome, and the resulting state of the request: empty if there is none. */
struct decision_result {
	struct decision_outcome_row is;
	struct decision_state_row request;
};

/* Inserts the row and reads its outcome. Inside a transaction, which must be committed whatever the
 * outcome: refused answers are part of the audit. 0, or -1 if the database failed. */
int decision_insert(struct store *st, const struct decision *d, struct decision_result *result,
                    struct err *e);
void decision_result_clear(struct decision_result *r);

/* 0 if it was applied; otherwise -1, and e says why not, for the person who answered: "already
 * approved by local:ann at 2026-02-08T09:30:00.123Z". */
int decision_check(const struct decision_result *r, struct err *e);

#endif
