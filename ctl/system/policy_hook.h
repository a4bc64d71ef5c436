/* policy_hook: what a policy is asked about the JSON of an agent's hook, for people who try it. */
#ifndef POLICY_HOOK_H
#define POLICY_HOOK_H

#include "policy_tool.h"

enum { POLICY_HOOK_PATHS = 2 * GATE_PATHS_MAX };

/* Owns what it points to; at first zeroed. */
struct policy_hook {
	struct gate_input in;
	enum policy_tool as;
	struct policy_question question; /* as POLICY_TOOL_JUDGED */
	char *paths[POLICY_HOOK_PATHS]; /* of the question: names, and what they stand for */
	struct str folder; /* where a command runs */
	struct str why; /* for POLICY_TOOL_ASKED */
};

/* Reads the input of a hook before a tool. host: NULL: claude. 0, or -1 with what is wrong. */
int policy_hook_read(struct policy_hook *h, const char *host, const char *json,
                     const char *workspace, bool reads_by_policy, struct err *e);
void policy_hook_clear(struct policy_hook *h);

#endif
