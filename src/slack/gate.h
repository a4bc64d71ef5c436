/* slack_gate: when Slack may be called again, per method and channel ("slack": all calls); see
 * schema/slack_outbox.sql. Inside a transaction, except slack_gate_close_all and
 * slack_gate_open_all. */
#ifndef SLACK_GATE_H
#define SLACK_GATE_H

#include "sql/slack_outbox.h"
#include "store.h"

enum {
	SLACK_POST_GAP_MS = 1000, /* between two messages in one channel */
	SLACK_PARKED_MS = 60000, /* between retries of what a person must fix */
};

/* The number of refusals in a row, -1. */
int slack_gate_strikes(struct store *st, const char *gate, struct err *e);
/* Closes for ms after one more refusal. why: NULL if no person needs to know. */
int slack_gate_close(struct store *st, const char *gate, int64_t ms, const char *why,
                     struct err *e);
/* The intent went through: its gate closes as Slack's limits require, the gate of all calls
 * opens. */
int slack_gate_pass(struct store *st, const struct slack_intent_row *i, struct err *e);

/* Closes everything for a minute and tells a person why; or opens it again. */
int slack_gate_close_all(struct store *st, const char *why, struct err *e);
int slack_gate_open_all(struct store *st, struct err *e);

#endif
