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

/* Judges; a is fresh, the caller clears it. Returns whether the file allows it and only lacks the
 * trust of a person. */
bool policy_gate_judge(const struct policy_file *f, const struct policy_question *q,
                       struct policy_answer *a);

/* Appends why it was allowed, for the audit: "command:make * (policy 01234567)". */
void policy_gate_add_reason(struct str *out, const struct policy_file *f,
                            const struct policy_answer *a);

/* The configured commands, where a policy may allow no others; NULL: any. The caller frees it. */
cJSON *policy_gate_commands(struct store *st);

/* Records the version that was found. Inside a transaction. */
int policy_gate_record(struct store *st, const char *machine, const struct policy_file *f,
                       struct err *e);

#endif
