/* slack_envelope: what Slack sent as rows. One envelope is one transaction: the row, and all that
 * follows from it (decision, command, steering, what is to be said). Rights, first answers and
 * duplicates are judged by the rules in schema/; what is meant is read by slack_payload. */
#ifndef SLACK_ENVELOPE_H
#define SLACK_ENVELOPE_H

#include "payload.h"
#include "proof.h"
#include "sql/sets.h"
#include "store.h"

enum {
	SLACK_ACK_BYTES = 20000, /* an ack is one frame of less than 20,480 bytes */
	SLACK_REPLY_UNITS = 3800, /* of words to a person */
	SLACK_TRIGGER_MS = 3000, /* how long a trigger_id can open a form */
	SLACK_WHISPER_MS = 30 * 60 * 1000, /* later, nobody wants to know */
};

struct slack_stored {
	enum slack_envelope_outcome outcome;
	struct str why; /* empty where it was accepted */
	struct str reply; /* JSON payload of the ack; empty: none */
};

/* Stores an envelope with what it does; f loses the secrets of its payload. key: proves the
 * answers. Inside a transaction, which is to be committed whatever the outcome is. 0, or -1 if the
 * database failed. */
int slack_envelope_store(struct store *st, struct slack_frame *f, const struct slack_intent *a,
                         const struct proof_key *key, struct slack_stored *out, struct err *e);
void slack_stored_clear(struct slack_stored *s);

/* The ack of an envelope: {"envelope_id":"...","payload":{...}}. payload: JSON text or NULL; one
 * that would make the frame too long is left out. */
void slack_ack(struct str *out, const char *envelope_id, const char *payload);

#endif
