/* policy_trust: policies that count only as far as a person has trusted them (setting
 * policy.trust).
 *
 * A repository brings its own policy file, and an agent may be able to write it. So, except in
 * workspaces that the configuration names, a policy allows only what both the current file and the
 * version that a person last trusted allow: narrowing it takes effect at once, widening it waits
 * for approval. That is a separate request, made when it first matters. */
#ifndef POLICY_TRUST_H
#define POLICY_TRUST_H

#include "policy_file.h"
#include "store.h"

enum policy_trust {
	POLICY_TRUST_LISTED, /* the file counts where the configuration names the folder */
	POLICY_TRUST_ASK, /* nowhere */
	POLICY_TRUST_OFF, /* everywhere */
};

enum {
	POLICY_SHOWN_BYTES = 2000, /* of what a policy newly allows; only a command shows more */
	POLICY_TRIED = 2000, /* requests, of everybody, searched for some to test it against */
	POLICY_TRIED_MS = 100, /* and for at most this long, */
	POLICY_TRIED_LEAST = 100, /* but never fewer than these */
};

/* The setting as in its row. */
enum policy_trust policy_trust_read(struct store *st);

/* Refreshes f->trusted. 0 or -1. */
int policy_trust_load(struct store *st, const char *machine, struct policy_file *f, struct err *e);

/* Appends what f newly allows, a rule a line, visible (visible.h), and what that would have changed
 * in the decisions made here. shown: everything new fits in POLICY_SHOWN_BYTES. known, always_ask:
 * as in struct policy_question. */
int policy_trust_describe(struct store *st, const struct policy_file *f, const cJSON *known,
                          const cJSON *always_ask, struct str *out, bool *ret_shown, struct err *e);

/* Before the transaction that asks: determines what f newly allows, since that may take
 * POLICY_TRIED_MS. 0, also if it has been asked already, or -1. */
int policy_trust_look(struct store *st, const char *machine, struct policy_file *f,
                      const cJSON *known, const cJSON *always_ask, struct err *e);

/* Asks about what was looked at, as a request of this session; this settles the request about
 * another version. Inside a transaction. 0, also if it has been asked already or cannot be asked
 * yet, or -1. */
int policy_trust_ask(struct store *st, const char *machine, int64_t session_seq,
                     struct policy_file *f, struct err *e);

/* The operator trusts this version, or does not: this answers the request about it, and a yes
 * settles the requests about other versions. Inside a transaction. 0, or -1. */
int policy_trust_give(struct store *st, const char *machine, const struct policy_file *f,
                      struct err *e);
int policy_trust_deny(struct store *st, const char *machine, const struct policy_file *f,
                      struct err *e);

#endif
