/* slack_settle: the outcome of a claimed intent. Every settlement is fenced by the claim's number,
 * is one transaction, and updates gates and message. */
#ifndef SLACK_SETTLE_H
#define SLACK_SETTLE_H

#include "gate.h"
#include "web.h"

enum {
	SLACK_BACKOFF_MS = 1000, /* after the first failure; doubles, */
	SLACK_BACKOFF_MAX_MS = 30000, /* up to this */
	SLACK_LOOK_MS = 5000, /* after a doubtful attempt: the first look for it, */
	SLACK_LOOK_AGAIN_MS = 15000, /* the second, */
	SLACK_BLIND_MS = 60000, /* if looking itself is refused: until it is sent once more */
	SLACK_DEATHS_MAX = 3, /* posters that died while sending an intent */
	SLACK_BURST_MAX = 50, /* broadcasts in one message */
	SLACK_BURST_BYTES = 2000, /* of their arguments: at five units each they fit in a message */
};

/* Why somebody does not see a form. */
#define SLACK_TOO_LATE "That took too long."

/* It was sent. ts: of the message, NULL if there is none. */
int slack_settle_sent(struct store *st, const struct slack_intent_row *i, const char *ts,
                      struct err *e);
/* There was nothing (left) to send: no call was made. */
int slack_settle_needless(struct store *st, const struct slack_intent_row *i, struct err *e);
/* It was not sent, for the reason in c: queued again, doubtful, or dead; gates close. */
int slack_settle_failed(struct store *st, const struct slack_intent_row *i,
                        const struct slack_call *c, struct err *e);
/* Nothing is left to try. words: for the person who waits for it, or NULL. Of a form, only why they
 * do not see it: what they can do instead is added. */
int slack_settle_dead(struct store *st, const struct slack_intent_row *i, const char *why,
                      const char *words, struct err *e);
/* It was looked for and is not there (yet). */
int slack_settle_missing(struct store *st, const struct slack_intent_row *i, struct err *e);
/* Looking for it failed, for the reason in c. */
int slack_settle_blind(struct store *st, const struct slack_intent_row *i,
                       const struct slack_call *c, struct err *e);
/* What a predecessor was sending: repeatable calls are queued, others that cannot be repeated are
 * dead, the rest is doubtful. Once, before the first claim. */
int slack_settle_left(struct store *st, const char *worker_id, struct err *e);

/* Not settled yet: records the upload that is about to be shared. */
int slack_settle_upload(struct store *st, const struct slack_intent_row *i, const char *file_id,
                        struct err *e);
/* A message to a person that only they see. No effect without a channel and a user. */
int slack_settle_tell(struct store *st, const struct slack_intent_row *i, const char *words,
                      struct err *e);

#endif
