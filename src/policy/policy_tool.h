/* policy_tool: what the policy of a workspace is asked about a tool of an agent's own program, as
 * its hook tells it (gate_input.h). */
#ifndef POLICY_TOOL_H
#define POLICY_TOOL_H

#include "gate_input.h"
#include "policy.h"

enum policy_tool {
	POLICY_TOOL_ALLOWED, /* whatever the policy says: it only reads, or is a tool of ours */
	POLICY_TOOL_JUDGED, /* the policy is asked */
	POLICY_TOOL_ASKED, /* a person is, whatever the policy says */
};

/* Fills q but for its paths, and appends to why what a person should know. reads_by_policy: setting
 * gate.reads. */
enum policy_tool policy_tool_take(const struct gate_input *in, bool reads_by_policy,
                                  struct policy_question *q, struct str *why);

#endif
