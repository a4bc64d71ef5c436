/* decision: a person's answer as a row, and what became of it. Also command: an order (`mode`,
 * `undo`), and saying: a word to an agent (a row of `steering`).
 * What they do is in schema/rules/; here a row is inserted and its outcome read back. */
#ifndef DECISION_H
#define DECISION_H

#include "proof.h"
#include "sql/decision.h"
#include "store.h"

/* Who says what of which request. Texts are borrowed; NULL where there is none. */
struct decision {
	const char *request_id, *verdict;
	const char *reason, *instruction;
	const char *digest; /* of what the person saw; NULL: as it stands */
	const char *operator_id; /* NULL: the default operator */
	const char *source; /* ctl, socket, elicitation, slack, timeout, policy */
	const struct proof_key *key; /* with which the answer is proved; NULL: it is not */
};

/* What became of it, and how the request stands now: empty if there is none. */
struct decision_result {
	struct decision_outcome_row is;
	struct decision_state_row request;
};

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

/* What became of it; the outcome is NONE while a worker has yet to carry it out. */
struct command_result {
	int64_t seq; /* of its row */
	struct command_outcome_row is;
};

/* Inserts the order and reads its outcome: to be committed whatever that is, as above. 0, or -1 if
 * the database failed. */
int command_insert(struct store *st, const struct command *c, struct command_result *result,
                   struct err *e);
void command_result_clear(struct command_result *r);

/* Reads the outcome of an order of before into a fresh result. */
int command_read(struct store *st, int64_t seq, struct command_result *result, struct err *e);

/* 0 if it was done or is to be done yet, else -1 and e says why not. */
int command_check(const struct command_result *r, struct err *e);

/* Texts are borrowed. */
struct saying {
	const char *kind; /* steer, nudge: to a session; task: to the next one that begins */
	const char *session_id; /* of a steer or a nudge */
	const char *channel_id; /* of a task that is for this Slack channel's agents, or NULL */
	const char *text; /* NULL in a nudge: the configured one */
	const char *operator_id; /* NULL: the default operator */
	const char *source;
};

/* Inserts the row: its seq, -1 on error. */
int64_t saying_put(struct store *st, const struct saying *w, struct err *e);
/* What became of it: 0 it is on its way; -1 and e says why not (ERR_INPUT: the rules refused it),
 * or that the database failed. */
int saying_check(struct store *st, int64_t seq, struct err *e);

/* Both: to be committed whatever comes of it, as above. */
int saying_insert(struct store *st, const struct saying *w, struct err *e);

#endif
