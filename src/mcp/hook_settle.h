/* hook_settle: a question that the proxy of an editor's agent (workers/acp_proxy) has answered
 * while no front was there: by what the editor's user chose, or because nobody could be asked. A
 * front that is back hears of it by HOOK_METHOD with, in its params,
 *
 *   "told": "approve" or "reject": the editor's user chose that; "refuse": nobody could be asked;
 *     "withdraw": nobody needs an answer
 *   "before": the digest of the question (mcp_front/editor.h), if a front has said it
 *   "always", "chosen": as of EDITOR_METHOD
 *
 * and asks nobody. What a person says of that question counts for no other call; where the agent
 * was told otherwise, there is an event, and a message in Slack. */
#ifndef HOOK_SETTLE_H
#define HOOK_SETTLE_H

#include "call.h"

/* How the editor's user has chosen, as the reason of a decision. */
void hook_settle_add_how(struct str *out, const cJSON *params);

/* Reads what a call that settles says; of others nothing. 0, or -1 with what is wrong. */
int hook_settle_read(struct hook *h, const cJSON *params, struct err *e);

/* The tool's run of such a call. Inside the transaction. */
int hook_settle(struct store *st, struct call *c, const struct peer *p, struct err *e);

#endif
