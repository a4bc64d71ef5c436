/* policy_gate: whether the policy of a workspace allows something at this moment, for whoever asks
 * before a person is asked: by its file and, where that does not count by itself, by what was
 * trusted of it (policy_trust.h). And the rows on which such an approval rests. */
#ifndef POLICY_GATE_H
#define POLICY_GATE_H

#include "policy_trust.h"

#include <cjson/cJSON.h>

/* Takes the findings of a look. is_listed: the configuration names the folder. 0; -1: what was
 * trusted before could not be read, and counts on. */
int policy_gate_take(struct store *st, const char *machine, enum policy_trust trust, bool is_listed,
                     struct policy_file *f, struct err *e);

/* What was said about one thing, and what has to be written down about an approval. */
struct policy_verdict {
	bool allowed;
	bool is_untrusted; /* the file allows it, and only lacks the trust of a person */
	struct str rule; /* "command:make *" */
	struct str why; /* for people, on one line */
	struct str reason; /* of an approval, for the audit: "command:make * (policy 01234567)" */
	char hash[SHA256_BYTES]; /* of the version */
	bool logs; /* what is allowed is reported, */
	int64_t summary_ms; /* at most this much later */
};

/* Judges; v is fresh, the caller clears it. */
void policy_gate_judge(const struct policy_file *f, const struct policy_question *asked,
                       struct policy_verdict *v);
void policy_verdict_clear(struct policy_verdict *v);

/* Has an approval reported, if the file asks for that. subject: its first line is shown. request: 0
 * if nobody would have been asked. Inside a transaction. */
int policy_gate_note(struct store *st, const struct policy_verdict *v, int64_t session,
                     int64_t request, const char *subject, struct err *e);

/* Answers a request with what v allows: word is approve, or continue; digest of the request, or
 * NULL. 1 it is the answer, 0 a person decides, -1 error. Inside a transaction. */
int policy_gate_approve(struct store *st, const struct policy_verdict *v, int64_t session,
                        int64_t request, const char *word, const char *digest, const char *subject,
                        struct err *e);

/* The configured commands, where a policy may allow no others; NULL: any. The caller frees it. */
cJSON *policy_gate_commands(struct store *st);

/* Records the version that was found. Inside a transaction. */
int policy_gate_record(struct store *st, const char *machine, const struct policy_file *f,
                       struct err *e);

#endif
