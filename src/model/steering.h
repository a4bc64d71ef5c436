/* steering: what an operator says to an agent unasked. It travels with the result of the agent's
 * next tool call: steering_read reads it when the result is made, and steering_deliver records it
 * in the transaction that records that the result was told. */
#ifndef STEERING_H
#define STEERING_H

#include "store.h"
#include "str.h"

enum {
	STEERING_ROWS = 20, /* per result */
	/* About as much text; the rest goes with the next one. Hosts show their models 10,000
	 * characters of a hook's and 12,000 of a result, in which it may stand twice. */
	STEERING_BYTES = 5 << 10,
};

/* The steering of one result. */
struct steering {
	struct str text; /* for the agent, one paragraph each; empty: none */
	struct str says; /* JSON array of these paragraphs; empty: none */
	struct str steers; /* JSON array of the texts for a session; empty: none */
	struct str tasks; /* JSON array of {task_id, message, source, created_at}; empty: none */
	int64_t seqs[STEERING_ROWS]; /* ascending */
	int count;
};

void steering_clear(struct steering *s);

/* The outcome of a row that sql_steering_insert has just written: 0 it is queued; -1 and e says why
 * not (ERR_INPUT: the rules refused it), or that the database failed. Commit in either case:
 * refused rows are part of the audit. */
int steering_check(struct store *st, int64_t seq, struct err *e);

/* Reads what a session is to be told next, in the order in which it was said; after: the last seq
 * that is already under way. s is empty. 0, or -1 if the database failed. */
int steering_read(struct store *st, int64_t session_seq, int64_t after, struct steering *s,
                  struct err *e);
/* Reads what was sent with the result of a call. */
int steering_of_call(struct store *st, int64_t call_seq, struct steering *s, struct err *e);
/* Records that it was sent with the result of a call. Inside a transaction. */
int steering_deliver(struct store *st, const struct steering *s, int64_t call_seq, struct err *e);
/* The agent acts on the answer to a request, so the result with that answer has arrived, with its
 * steering, even if the client reported otherwise. */
int steering_arrived(struct store *st, int64_t request_seq, struct err *e);
/* The words that answered a request go with another result, and the answer counts as delivered. */
int steering_repeat(struct store *st, int64_t request_seq, struct err *e);
/* The seq of the last one, 0: none. */
int64_t steering_last(const struct steering *s);

#endif
