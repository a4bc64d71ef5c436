/* tool_call: what an agent does with tools of its own, call by call. Its messages name what has
 * changed; here stands the whole. */
#ifndef ACP_TOOL_CALL_H
#define ACP_TOOL_CALL_H

#include "json.h"

#include <stdbool.h>

struct acp_tool_call {
	char *id;
	cJSON *fields; /* as they came: title, kind, status, content, locations, rawInput, ... */
	struct acp_tool_call *next; /* an older one */
};

/* Of a session. All zero: none. */
struct acp_tool_calls {
	struct acp_tool_call *first;
	int count;
};

/* Takes over the members of update. clears: null removes a member (v2), else it changes nothing
 * (v1). The call as it is now, NULL if update has no toolCallId; *ret_new: it was not there. */
struct acp_tool_call *acp_tool_call_merge(struct acp_tool_calls *calls, const cJSON *update,
                                          bool clears, bool *ret_new);
/* Appends an item to the content of a call. */
void acp_tool_call_append(struct acp_tool_calls *calls, const char *id, const cJSON *item);

/* Its title, else its name, else NULL. */
const char *acp_tool_call_title(const struct acp_tool_call *call);
/* What it says of itself, "other" and "pending" where it says nothing. */
const char *acp_tool_call_kind(const struct acp_tool_call *call);
const char *acp_tool_call_status(const struct acp_tool_call *call);
/* Whether it is over: completed, failed or cancelled. */
bool acp_tool_call_is_over(const struct acp_tool_call *call);

/* Forgets those that are over. */
void acp_tool_calls_sweep(struct acp_tool_calls *calls);
void acp_tool_calls_clear(struct acp_tool_calls *calls);

#endif
