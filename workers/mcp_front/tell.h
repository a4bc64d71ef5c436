/* tell: what callers that are held are told in the end. A commit that ends the wait of a call
 * appends its seq to the table answer; here the cursor over it. */
#ifndef TELL_H
#define TELL_H

#include "call.h"

#include <sys/queue.h>

struct front;

/* A result that has been handed over, until the next turn writes that down. */
struct told {
	STAILQ_ENTRY(told) next;
	STAILQ_ENTRY(told) with_words; /* of those that carry the operator's */
	int64_t call_seq;
	struct telling telling;
};

STAILQ_HEAD(told_queue, told);

/* Looks for new answers and hands them over, some of them: whether there may be more. The bytes
 * leave first; the next turn, which comes when the transports have nothing more to do, writes that
 * they have left. */
bool tell_answers(struct front *f);
/* Hands over the answer of a call that has one to those who wait for it. -1: the database could not
 * be read, and it is to be tried again. */
int tell_call(struct front *f, int64_t call_seq);
/* We stop: callers waiting over HTTP are told that nothing is decided yet, rather than cut off:
 * few hosts come back by themselves. A relay does. How many were told. */
int tell_pending(struct front *f);
/* The call was cancelled: its waiters get no reply, its subscriptions are told. */
void tell_cancelled(struct front *f, int64_t call_seq);

/* Writes down what was handed over. Inside a transaction; a call of which that cannot be written
 * stays 'answered', and a client that asks again is told again. */
void tell_write(struct front *f);
/* It is on disk. */
void tell_written(struct front *f);

#endif
