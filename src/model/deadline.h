/* deadline: what ends by the clock: requests that nobody answered in time, tool calls that have
 * waited for the longest time that a call may wait (their requests stay open), and the collection
 * of notices about what policies allowed. */
#ifndef DEADLINE_H
#define DEADLINE_H

#include "store.h"

/* A batch holds the write lock for a few milliseconds at most; the caller comes back for more. */
enum { DEADLINE_BATCH = 100 };

/* The instants at which the next request expires and the next call's wait ends, in unix ms;
 * INT64_MAX: none. */
int deadline_next(struct store *st, int64_t *ret_question_ms, int64_t *ret_call_ms, struct err *e);

/* A row that its rules refuse is counted in refused, and the others are moved. It stays due: the
 * caller must not come back at once. */

/* Answers up to DEADLINE_BATCH requests whose deadline is not later than at_ms with `timeout`;
 * schema/rules/ has the consequences. Returns how many expired, -1 on error. All are refused if the
 * operator system:clock is missing or inactive. */
int deadline_expire(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e);

/* Ends the waits that last no longer than at_ms. Returns how many, -1 on error. */
int deadline_end_waits(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e);

/* The instant at which the next notice about what a policy allowed is due, as above. */
int deadline_next_notice(struct store *st, int64_t *ret_ms, struct err *e);

/* Sends the notices that are due by at_ms. Returns how many, -1 on error. */
int deadline_tell(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e);

#endif
