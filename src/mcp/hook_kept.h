/* hook_kept: what is kept of the input of a hook's call (call.arguments), and the call as its hook
 * would tell it, made from that again. */
#ifndef HOOK_KEPT_H
#define HOOK_KEPT_H

#include "hook.h"

/* What was kept of a call. The caller deletes it; NULL: error. */
cJSON *hook_kept(struct store *st, int64_t call_seq, struct err *e);

/* Fills in, folder and digest of a zeroed hook for the use of a tool with this input, where and for
 * whom as in kept. 0, or -1 with what is wrong; hook_use_clear either way. */
int hook_use(struct hook *h, const cJSON *kept, const char *tool, const cJSON *input,
             struct err *e);
void hook_use_clear(struct hook *h);

/* Fills hook and arguments of a call whose tool is TOOL_HOOK from its row, to be looked at as the
 * first time (call_look); the caller clears it. 0 or -1. */
int hook_kept_open(struct store *st, int64_t call_seq, struct call *c, struct err *e);

#endif
