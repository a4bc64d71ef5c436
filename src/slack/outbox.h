/* slack_outbox: intents to say something in Slack, and their claims; settle.h ends what was
 * claimed. The database side of slack-poster; see schema/slack_outbox.sql. */
#ifndef SLACK_OUTBOX_H
#define SLACK_OUTBOX_H

#include "settle.h"

/* Claims the next intent for a slot (post, call, view): 1, 0 nothing is due, -1. Its content leaves
 * this machine only after this. */
int slack_outbox_claim(struct store *st, const char *worker_id, const char *slot,
                       struct slack_intent_row *i, struct err *e);
/* The next doubtful intent that is due to be looked for: 1, 0, -1. */
int slack_outbox_doubtful(struct store *st, struct slack_intent_row *i, struct err *e);
/* When to look again, in unix ms; INT64_MAX: at a bell. -1 on error. */
int64_t slack_outbox_due(struct store *st, struct err *e);

#endif
