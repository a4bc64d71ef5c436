/* policy_trust: policies that count only as far as a person has trusted them (setting
 * policy.trust).
 *
 * A repository brings its policy file along, and an agent may be able to write it. So, but in
 * workspaces that the configuration names, a policy allows only what both the file as it is and the
 * version that a person trusted last allow: narrowing it acts at once, widening it waits for a
 * yes. That is a question of its own, asked when it first matters. */
#ifndef POLICY_TRUST_H
#define POLICY_TRUST_H

#include "policy_file.h"
#include "store.h"

enum policy_trust {
	POLICY_TRUST_LISTED, /* the file counts by itself where the configuration names the folder
	                      */
	POLICY_TRUST_ASK, /* nowhere */
	POLICY_TRUST_OFF, /* everywhere */
};

enum {
	POLICY_SHOWN_BYTES =
	    2000, /* of what a policy newly allows; more is shown by a command only */
	POLICY_TRIED = 2000, /* questions, of everybody, among which those to try it on are */
	POLICY_TRIED_MS = 100, /* and so long */
};

/* The setting as it stands in its row. */
enum policy_trust policy_trust_read(struct store *st);

/* Brings f->trusted up to date. 0 or -1. */
int policy_trust_load(struct store *st, const char *machine, struct policy_file *f, struct err *e);

/* Appends what f newly allows, and how that would have decided what people decided here. shown: all
 * that is new fits in POLICY_SHOWN_BYTES. known, always_ask: as in struct policy_question. */
int policy_trust_describe(struct store *st, const struct policy_file *f, const cJSON *known,
                          const cJSON *always_ask, struct str *out, bool *ret_shown, struct err *e);

/* Before the transaction in which it is asked: sees what f newly allows, since that may take
 * POLICY_TRIED_MS. 0, also where it is asked already, or -1. */
int policy_trust_look(struct store *st, const char *machine, struct policy_file *f,
                      const cJSON *known, const cJSON *always_ask, struct err *e);

/* Asks what was looked at, as a question of this session; the question about another version is
 * settled by that. Inside a transaction. 0, also where it is asked already or cannot be yet, or
 * -1. */
int policy_trust_ask(struct store *st, const char *machine, int64_t session_seq,
                     struct policy_file *f, struct err *e);

/* The operator trusts this version, or does not: the question about it is answered with that, and
 * questions about other versions are settled by a yes. Inside a transaction. 0, or -1. */
int policy_trust_give(struct store *st, const char *machine, const struct policy_file *f,
                      struct err *e);
int policy_trust_deny(struct store *st, const char *machine, const struct policy_file *f,
                      struct err *e);

#endif
