/* deadline: what ends by the clock: questions that nobody answered in time, tool calls that have
 * waited as long as a call may wait (their questions wait on), and the time in which what policies
 * allowed is gathered. */
#ifndef DEADLINE_H
#define DEADLINE_H

#include "store.h"

/* A batch takes the write lock for a few milliseconds at most; the caller comes again. */
enum { DEADLINE_BATCH = 100 };

/* The instants at which the next question expires and the next call's wait ends, as unix ms;
 * INT64_MAX where nothing runs. */
int deadline_next(struct store *st, int64_t *ret_question_ms, int64_t *ret_call_ms, struct err *e);

/* A row that its rules refuse is counted in refused, and the others are moved. It is due still: the
 * caller does not come again at once. */

/* Answers up to DEADLINE_BATCH questions whose deadline is not later than at_ms with `timeout`;
 * what follows from that is in schema/rules/. Returns how many expired, -1 on error. All are
 * refused where the operator system:clock is gone or inactive. */
int deadline_expire(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e);

/* Ends the waits that last until at_ms at most. Returns how many, -1 on error. */
int deadline_end_waits(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e);

/* The instant at which the next notice of what a policy allowed is due, as above. */
int deadline_next_notice(struct store *st, int64_t *ret_ms, struct err *e);

/* Tells those that are due until at_ms. Returns how many, -1 on error. */
int deadline_tell(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e);

#endif
