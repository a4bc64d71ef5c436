/* hook_rewrite: an approval that says what is to be done instead (decision.edited): the host is
 * handed that in its own form or, where it takes nothing, its agent is told what to call. */
#ifndef HOOK_REWRITE_H
#define HOOK_REWRITE_H

#include "hook.h"

/* A member of a result, for hook_rewrite_note: what was made of the operator's text. */
#define HOOK_REWRITE "rewrite"

/* What of a call an approval may replace. */
enum request_editable hook_editable(const struct call *c);

/* Puts the operator's text into the result of a call, if the request was approved with one and the
 * result allows. What cannot be passed on, or is denied by the workspace's policy, becomes a deny.
 * Inside a transaction. */
int hook_rewrite(struct store *st, int64_t request_seq, const cJSON *kept, struct str *result,
                 struct err *e);

/* Records what the result of a call passes on, if that is an operator's text; its row of gate_call
 * is decided. Inside a transaction. */
int hook_rewrite_note(struct store *st, int64_t call_seq, const char *result, struct err *e);

/* Whether an agent was told to call this, for a host that takes no other input, and its file or
 * folder is still as it was: then c->request_seq is the approval. 1, 0, -1. */
int hook_was_told(struct store *st, struct call *c, const struct peer *p, struct err *e);

/* Whether a host was handed this, with the same, and now asks for permission to do it. 1, 0, -1. */
int hook_was_handed(struct store *st, const struct call *c, const struct peer *p, struct err *e);

#endif
