/* editor: questions that an editor shows to its user, too (workers/acp_proxy). The proxy asks with
 * HOOK_METHOD, host "acp", one question on a connection. Beyond what a hook says and hears:
 *
 *   "before" in the params of HOOK_METHOD, optional
 *     from the proxy: the digest (below) of what it last had asked in this one's place, by a front
 *     that is gone. If this is another question, that one ends.
 *   "told" in the params of HOOK_METHOD, optional
 *     from the proxy: what the agent was told while no front was there (mcp/hook_settle.h).
 *   notification intercom/asked {"editor": bool, "digest"}
 *     to the proxy: a person is asked. Unless false, the editor may show the question. digest: of
 *     what is asked (request.digest): another one than before means that it has changed.
 *   request intercom/decide {"verdict": "approve" | "reject" | "withdraw", "always"?, "chosen"?}
 *     from the proxy: what the editor's user answered to the question of this connection, or that
 *     nobody needs an answer. always: true if the agent need not ask again, or will not; chosen:
 * the name of the answer, where several say yes. The result is {"outcome", "why"?}: of the decision
 *     (schema/decision.sql; source "editor"), or not_found while nothing waits. If it was applied,
 *     the reply to the question follows, as for every answer. */
#ifndef EDITOR_H
#define EDITOR_H

#include "hold.h"

#define EDITOR_METHOD "intercom/decide"

/* The call of this job waits: tells the proxy so, if it is one. */
void editor_begin(struct front *f, const struct job *job);

/* Stores what the editor's user answered. For JOBS. */
int editor_run(struct front *f, struct job *job, struct err *e);
bool editor_reply(struct front *f, struct job *job);

#endif
