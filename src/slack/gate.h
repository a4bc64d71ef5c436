/* slack_gate: when Slack may be called again, by method and channel ("slack": all of it); see
 * schema/slack_outbox.sql. But for slack_gate_close_all and slack_gate_open_all, in a transaction.
 */
#ifndef SLACK_GATE_H
#define SLACK_GATE_H

#include "sql/slack_outbox.h"
#include "store.h"

enum {
	SLACK_POST_GAP_MS = 1000, /* between two messages in one channel */
	SLACK_PARKED_MS = 60000, /* between tries of what a person must mend */
};

/* Refusals in a row, -1. */
int slack_gate_strikes(struct store *st, const char *gate, struct err *e);
/* Closed for ms after one more. why: NULL where a person need not know. */
int slack_gate_close(struct store *st, const char *gate, int64_t ms, const char *why,
                     struct err *e);
/* The intent went through: its gate closes as Slack's limits ask for, that of all opens. */
int slack_gate_pass(struct store *st, const struct slack_intent_row *i, struct err *e);

/* All is closed for a minute, and a person told why; or open again. */
int slack_gate_close_all(struct store *st, const char *why, struct err *e);
int slack_gate_open_all(struct store *st, struct err *e);

#endif
