/* slack_outbox: intents to say something in Slack, and how they are claimed; settle.h ends what was
 * claimed. The rows' side of slack-poster; see schema/slack_outbox.sql. */
#ifndef SLACK_OUTBOX_H
#define SLACK_OUTBOX_H

#include "settle.h"

/* Takes the next intent for a slot (post, call, view) in hand: 1, 0 nothing is due, -1. What it
 * says leaves this machine only after this. */
int slack_outbox_claim(struct store *st, const char *worker_id, const char *slot,
                       struct slack_intent_row *i, struct err *e);
/* The next intent in doubt whose time to be looked for has come: 1, 0, -1. */
int slack_outbox_doubtful(struct store *st, struct slack_intent_row *i, struct err *e);
/* When a look is worth it again, unix ms; INT64_MAX: at a bell. -1 on error. */
int64_t slack_outbox_due(struct store *st, struct err *e);

#endif
