/* proof: shows that an answer in the name of Slack came through slack-listener. Only that process
 * and the supervisor hold the app token, so a row inserted with the sqlite3 shell has no valid
 * proof.
 *
 * It detects, it does not prevent: whoever can read the supervisor's memory can make a proof. */
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
	char name[9]; /* of the key, not secret: identifies answers given under another token */
};

struct decision;

struct proof {
	char text[PROOF_BYTES];
};

struct proof_key proof_key_of(const char *token);
/* Covers who answers which request, and with which words. */
struct proof proof_of(const struct proof_key *key, const struct decision *d);

struct proof_look {
	int64_t after; /* decisions up to this one have been checked */
	bool watching; /* all earlier answers have been checked: from now on no other key counts */
	int64_t other_keys; /* answers under another token than ours, which cannot be judged */
	int64_t forged;
};

/* Checks the next answers in the name of Slack; one without proof is reported in the timeline and
 * in Slack. Until all have been checked once, a proof under another key counts as an old key's. 1
 * there may be more, 0 all have been checked, -1. */
int proof_look_on(struct proof_look *look, struct store *st, const struct proof_key *key,
                  struct err *e);

/* Appends "01a202e3-6b1f by slack:T1:U1 at 2026-02-08T09:30:00.123Z" for each request that is known
 * to have such an answer, separated by ", ", up to 100, and how many more there are. Returns how
 * many there are in all, -1 on error. Needs no key. */
int64_t proof_forged(struct store *st, struct str *out, struct err *e);

/* Appends the ids of the questions that are not what was asked and answered, by what the timeline
 * says of them, and what of them is not: "01a202e3-6b1f (its answer)"; as above. */
int64_t proof_swapped(struct store *st, struct str *out, struct err *e);

#endif
