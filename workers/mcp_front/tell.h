/* tell: delivers answers to held callers. A commit that ends the wait of a call appends its seq to
 * the table ended_call; this is the cursor over that table. */
#ifndef TELL_H
#define TELL_H

#include "call.h"

#include <sys/queue.h>

struct front;

/* A result that was sent; the next turn records that. */
struct told {
	STAILQ_ENTRY(told) next;
	STAILQ_ENTRY(told) with_words; /* of those that carry steering */
	int64_t call_seq;
	struct telling telling;
};

STAILQ_HEAD(told_queue, told);

/* Sends new answers, a batch at a time. Returns whether there may be more. The bytes leave first;
 * the next turn, which runs when the transports have nothing more to do, records that they were
 * sent. */
bool tell_answers(struct front *f);
/* Sends the answer of an answered call to those who wait for it. -1: the database could not be
 * read; try again. */
int tell_call(struct front *f, int64_t call_seq);
/* We are stopping: callers that wait over HTTP are told that nothing is decided yet instead of
 * being cut off, because few hosts reconnect by themselves. A relay does. Returns how many were
 * told. */
int tell_pending(struct front *f);
/* The call was cancelled: its waiters get no reply, its subscriptions are notified. */
void tell_cancelled(struct front *f, int64_t call_seq);

/* Records what was sent. Call in a transaction. A call that cannot be recorded stays 'answered',
 * and a client that asks again gets the answer again. */
void tell_write(struct front *f);
/* The transaction has committed. */
void tell_written(struct front *f);

#endif
