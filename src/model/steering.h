/* steering: what an operator says to an agent without being asked. It goes with the result of the
 * agent's next tool call: read with steering_read when the result is made, written down with
 * steering_deliver in the transaction that says that the result was told. */
#ifndef STEERING_H
#define STEERING_H

#include "store.h"
#include "str.h"

enum {
	STEERING_ROWS = 20, /* that go with one result */
	STEERING_BYTES = 64 << 10, /* and about as much text; the rest goes with the next one */
};

/* What goes with one result. */
struct steering {
	struct str text; /* for the agent, as a paragraph each; empty: nothing */
	struct str says; /* JSON array of these paragraphs, empty if there is none */
	struct str
	    steers; /* JSON array of the texts that are for a session, empty if there is none */
	struct str tasks; /* JSON array of {task_id, message, source, created_at}, the same */
	int64_t seqs[STEERING_ROWS];
	int count;
};

void steering_clear(struct steering *s);

/* What became of a row that sql_steering_insert has just written: 0 it is on its way; -1 and e says
 * why not (ERR_INPUT: the rules refused it), or that the database failed. To be committed either
 * way: refused ones are part of the audit. */
int steering_check(struct store *st, int64_t seq, struct err *e);

/* Reads what a session is to be told next, in order; after: the seq of what is on its way already.
 * s is empty. 0, or -1 if the database failed. */
int steering_read(struct store *st, int64_t session_seq, int64_t after, struct steering *s,
                  struct err *e);
/* Reads what went with the result of a call. */
int steering_of_call(struct store *st, int64_t call_seq, struct steering *s, struct err *e);
/* Writes that it went with the result of a call. Inside a transaction. */
int steering_deliver(struct store *st, const struct steering *s, int64_t call_seq, struct err *e);
/* The agent acts upon the answer to a request, so the result that gave it has arrived, with what
 * went with it, even if its client has said otherwise. */
int steering_arrived(struct store *st, int64_t request_seq, struct err *e);
/* The seq of the last one, 0 if there is none. */
int64_t steering_last(const struct steering *s);

#endif
