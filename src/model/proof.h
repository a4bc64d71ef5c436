/* proof: that an answer in the name of Slack came through slack-listener. Only that process and the
 * supervisor hold the app token, so a hand in the sqlite3 shell cannot make the proof of a row.
 *
 * It shows what was done, it does not hinder: who may read the supervisor's memory can make one. */
#ifndef PROOF_H
#define PROOF_H

#include "err.h"
#include "sha256.h"
#include "store.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROOF_BYTES = 8 + 1 + SHA256_BYTES }; /* "<name of the key>.<hex>" */

struct proof_key {
	struct sha256 secret;
	char name[9]; /* of the key, no secret: answers given under another token are told apart */
};

struct decision;

struct proof {
	char text[PROOF_BYTES];
};

struct proof_key proof_key_of(const char *token);
/* Covers who answers what, and with which words. */
struct proof proof_of(const struct proof_key *key, const struct decision *d);

struct proof_look {
	int64_t after; /* decisions up to this one were looked at */
	bool watching; /* all that was there at the start was: from then on no other key counts */
	int64_t other_keys; /* answers under another token than ours, which cannot be judged */
	int64_t forged;
};

/* Looks at the next answers in the name of Slack; one without proof is told in the timeline and in
 * Slack. Before all were looked at once, a proof under another key is an old one's. 1 there may be
 * more, 0 all were looked at, -1. */
int proof_look_on(struct proof_look *look, struct store *st, const struct proof_key *key,
                  struct err *e);

/* Appends "01a202e3 by slack:T1:U1 at 2026-02-08T09:30:00.123Z" for each question that is known to
 * have such an answer, ", " between them. How many, -1 on error. Needs no key. */
int64_t proof_forged(struct store *st, struct str *out, struct err *e);

#endif
