/* update: what an agent tells of a running session (session/update), kind by kind. */
#ifndef ACP_UPDATE_H
#define ACP_UPDATE_H

#include "events.h"
#include "gather.h"
#include "mode.h"

/* What its updates add up to. */
struct acp_told {
	struct acp_gather gather;
	struct acp_tool_calls tools;
	struct acp_modes modes;
	cJSON *plans; /* v2: the plans by id, each as it was told last; NULL: none */
};

enum acp_turn { ACP_TURN_SAME, ACP_TURN_RUNS, ACP_TURN_IDLE };

/* Takes in one update and tells sink what came of it. What it says of the turn itself (v2 alone)
 * is returned; *ret_stop: with ACP_TURN_IDLE, valid as long as update. */
enum acp_turn acp_update_take(struct acp_told *told, const cJSON *update, int version,
                              int64_t now_ms, const struct acp_sink *sink, const char **ret_stop);

void acp_told_clear(struct acp_told *told);

/* What a turn, or the session, has used: tells it, where the agent said so. */
void acp_update_tell_tokens(const cJSON *usage, const struct acp_sink *sink);

#endif
