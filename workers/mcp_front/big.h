/* big: the work on big messages, a step at a time: one is parsed, or one long text of a call is
 * written. What others sent comes before each step, and after it they have the loop for twice as
 * long as it took: however many messages are big, the others wait for one step at most. */
#ifndef BIG_H
#define BIG_H

#include "job.h"

/* Whether a job is done in steps: a call with a long text whose files were looked at. */
bool big_is(const struct job *job);
/* Queues such a job behind the others; first: between two of its steps, ahead of them. */
void big_add(struct front *f, struct job *job, bool first);
/* Says that there is a step to do. */
void big_soon(struct front *f);

/* step: does the next one, if there is one. */
void big_start(struct front *f, bool (*step)(struct front *f));
void big_stop(struct front *f);

#endif
