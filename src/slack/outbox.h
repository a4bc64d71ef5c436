/* slack_outbox: intents to say something in Slack: claimed, and settled with their outcome.
 * The rows' side of slack-poster; see schema/slack_outbox.sql.
 *
 * Every settle is fenced by the claim's number, is one transaction, and moves the gates and the
 * message along. */
#ifndef SLACK_OUTBOX_H
#define SLACK_OUTBOX_H

#include "store.h"
#include "str.h"
#include "web.h"

enum {
	SLACK_POST_GAP_MS = 1000, /* between two messages in one channel */
	SLACK_BACKOFF_MS = 1000, /* of the first failure; doubles, */
	SLACK_BACKOFF_MAX_MS = 30000, /* up to this */
	SLACK_PARKED_MS = 60000, /* between tries of what a person must mend */
	SLACK_LOOK_MS = 5000, /* after an attempt in doubt: the first look for it, */
	SLACK_LOOK_AGAIN_MS = 15000, /* the second, */
	SLACK_BLIND_MS = 60000, /* and when looking itself is refused: until it is said once more */
	SLACK_DEATHS_MAX = 3, /* posters that died with an intent in hand */
	SLACK_BURST_MAX = 50, /* broadcasts that one message says */
	SLACK_BURST_BYTES = 2000, /* of their arguments: five units each are within a message */
};

/* An intent in hand, with its message. Texts are owned, NULL where the row has NULL. */
struct slack_intent {
	int64_t seq, claim, message_seq, session_seq, request_seq, apply_seq, call_seq, root_seq;
	int64_t content_seq, generation, sent_generation, lane_seq;
	int attempts, deaths, lookups;
	bool replaces, may_repeat;
	char *kind, *class, *gate; /* gate: whole, with its channel */
	char *state, *form, *view, *to_channel, *to_thread, *user_id, *words;
	char *trigger_id, *response_url, *expires_at, *started_at;
	char *marker, *part, *channel_id, *thread, *text, *detail, *file_name, *file_id, *ts;
	char *message_state, *head_kind;
};

#define SLACK_INTENT_INIT                                                                          \
	{                                                                                          \
		.seq = 0                                                                           \
	}

struct slack_outbox {
	struct store *store;
	const char *worker_id;
};

/* Takes the next intent for a slot (post, call, view) in hand: 1, 0 nothing is due, -1. What it
 * says leaves this machine only after this. */
int slack_outbox_claim(const struct slack_outbox *o, const char *slot, struct slack_intent *i,
                       struct err *e);
/* The next intent in doubt whose time to be looked for has come: 1, 0, -1. */
int slack_outbox_doubtful(const struct slack_outbox *o, struct slack_intent *i, struct err *e);
/* When a look is worth it again, unix ms; INT64_MAX: at a bell. -1 on error. */
int64_t slack_outbox_due(const struct slack_outbox *o, struct err *e);

/* What a poster before us had in hand: what can be repeated is queued, what cannot is dead, the
 * rest is in doubt. Once, before the first claim. */
int slack_outbox_recover(const struct slack_outbox *o, struct err *e);

/* Reads an intent and its message again: 1 there is one, 0, -1. */
int slack_intent_read(struct store *st, int64_t seq, struct slack_intent *i, struct err *e);
void slack_intent_clear(struct slack_intent *i);

/* It has been said. ts: of the message, NULL for what has none. */
int slack_settle_sent(const struct slack_outbox *o, const struct slack_intent *i, const char *ts,
                      struct err *e);
/* There was nothing (left) to say: no call was made. */
int slack_settle_needless(const struct slack_outbox *o, const struct slack_intent *i,
                          struct err *e);
/* It was not, for the reason in c: back into the queue, in doubt, or dead; gates close. */
int slack_settle_failed(const struct slack_outbox *o, const struct slack_intent *i,
                        const struct slack_call *c, struct err *e);
/* Nothing is left to try. words: what the person who waits for it is told, or NULL. */
int slack_settle_dead(const struct slack_outbox *o, const struct slack_intent *i, const char *why,
                      const char *words, struct err *e);
/* It was looked for and is not there (yet). */
int slack_settle_missing(const struct slack_outbox *o, const struct slack_intent *i, struct err *e);
/* Looking for it failed, for the reason in c. */
int slack_settle_blind(const struct slack_outbox *o, const struct slack_intent *i,
                       const struct slack_call *c, struct err *e);

/* The upload that is about to be shared. */
int slack_outbox_note_file(const struct slack_outbox *o, const struct slack_intent *i,
                           const char *file_id, struct err *e);
/* A word to a person that only they see. Does nothing without a channel and a user. */
int slack_outbox_tell(const struct slack_outbox *o, const struct slack_intent *i, const char *words,
                      struct err *e);
/* All is closed for a minute, and a person told why; or open again. */
int slack_outbox_close(const struct slack_outbox *o, const char *why, struct err *e);
int slack_outbox_open(const struct slack_outbox *o, struct err *e);

#endif
