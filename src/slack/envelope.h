/* slack_envelope: stores what Slack sent as rows. One envelope is one transaction: the row, and all
 * its consequences (decision, command, steering, messages). The rules in schema/ judge permissions,
 * first answers and duplicates; slack_payload reads the meaning. */
#ifndef SLACK_ENVELOPE_H
#define SLACK_ENVELOPE_H

#include "payload.h"
#include "proof.h"
#include "sql/sets.h"
#include "store.h"

enum {
	SLACK_ACK_BYTES = 20000, /* an ack is one frame of less than 20,480 bytes */
	SLACK_REPLY_UNITS = 3800, /* of a reply to a person */
	SLACK_TRIGGER_MS = 3000, /* how long a trigger_id can open a form */
	SLACK_WHISPER_MS = 30 * 60 * 1000, /* a reply that is later than this is useless */
};

struct slack_stored {
	enum slack_envelope_outcome outcome;
	struct str why; /* empty: accepted */
	struct str reply; /* JSON payload of the ack; empty: none */
};

/* Stores an envelope with its effects; the payload of f loses its secrets. key: proves the answers.
 * Inside a transaction, which must be committed whatever the outcome. 0, or -1 if the database
 * failed. */
int slack_envelope_store(struct store *st, struct slack_frame *f, const struct slack_intent *a,
                         const struct proof_key *key, struct slack_stored *out, struct err *e);
void slack_stored_clear(struct slack_stored *s);

/* The ack of an envelope: {"envelope_id":"...","payload":{...}}. payload: JSON text or NULL;
 * omitted if it would make the frame too long. */
void slack_ack(struct str *out, const char *envelope_id, const char *payload);

#endif
