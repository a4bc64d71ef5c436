/* slack_settle: what came of an intent that was claimed. Every settle is fenced by the claim's
 * number, is one transaction, and moves the gates and the message along. */
#ifndef SLACK_SETTLE_H
#define SLACK_SETTLE_H

#include "gate.h"
#include "web.h"

enum {
	SLACK_BACKOFF_MS = 1000, /* of the first failure; doubles, */
	SLACK_BACKOFF_MAX_MS = 30000, /* up to this */
	SLACK_LOOK_MS = 5000, /* after an attempt in doubt: the first look for it, */
	SLACK_LOOK_AGAIN_MS = 15000, /* the second, */
	SLACK_BLIND_MS = 60000, /* and when looking itself is refused: until it is said once more */
	SLACK_DEATHS_MAX = 3, /* posters that died with an intent in hand */
	SLACK_BURST_MAX = 50, /* broadcasts that one message says */
	SLACK_BURST_BYTES = 2000, /* of their arguments: five units each are within a message */
};

/* It has been said. ts: of the message, NULL for what has none. */
int slack_settle_sent(struct store *st, const struct slack_intent_row *i, const char *ts,
                      struct err *e);
/* There was nothing (left) to say: no call was made. */
int slack_settle_needless(struct store *st, const struct slack_intent_row *i, struct err *e);
/* It was not, for the reason in c: back into the queue, in doubt, or dead; gates close. */
int slack_settle_failed(struct store *st, const struct slack_intent_row *i,
                        const struct slack_call *c, struct err *e);
/* Nothing is left to try. words: what the person who waits for it is told, or NULL. */
int slack_settle_dead(struct store *st, const struct slack_intent_row *i, const char *why,
                      const char *words, struct err *e);
/* It was looked for and is not there (yet). */
int slack_settle_missing(struct store *st, const struct slack_intent_row *i, struct err *e);
/* Looking for it failed, for the reason in c. */
int slack_settle_blind(struct store *st, const struct slack_intent_row *i,
                       const struct slack_call *c, struct err *e);
/* What a poster before this one had in hand: what can be repeated is queued, what cannot is dead,
 * the rest is in doubt. Once, before the first claim. */
int slack_settle_left(struct store *st, const char *worker_id, struct err *e);

/* Not settled yet: the upload that is about to be shared. */
int slack_settle_upload(struct store *st, const struct slack_intent_row *i, const char *file_id,
                        struct err *e);
/* What a person is told whose form could not be opened in time. */
void slack_settle_add_late(const struct slack_intent_row *i, struct str *out);
/* A word to a person that only they see. Does nothing without a channel and a user. */
int slack_settle_tell(struct store *st, const struct slack_intent_row *i, const char *words,
                      struct err *e);

#endif
