#include "task.h"

#include "sql/tool_call.h"

#include <stdio.h>

/* A call whose wait has ended is completed, whether its client has fetched the result or not. */
static enum mcp_task_status status_of(enum tool_call_state state)
{
	switch (state) {
	case TOOL_CALL_STATE_WAITING:
		return MCP_TASK_WORKING;
	case TOOL_CALL_STATE_CANCELLED:
		return MCP_TASK_CANCELLED;
	case TOOL_CALL_STATE_ANSWERED:
	case TOOL_CALL_STATE_DONE:
	case TOOL_CALL_STATE_NONE:
		break;
	}
	return MCP_TASK_COMPLETED;
}

int task_read(struct store *st, int64_t call_seq, struct task *t, struct err *e)
{
	OWNED(tool_call_task_row) struct tool_call_task_row row = { 0 };
	int got = sql_tool_call_task(st, call_seq, &row, e);

	if (got <= 0)
		return got;
	str_add(&t->id, row.task_id);
	t->status = status_of(row.state);
	t->untold = row.state == TOOL_CALL_STATE_ANSWERED;
	t->ttl_ms = row.has_task_ttl_ms ? row.task_ttl_ms : -1;
	(void)snprintf(t->created_at, sizeof(t->created_at), "%s", row.created_at);
	(void)snprintf(t->updated_at, sizeof(t->updated_at), "%s", row.updated_at);
	return 1;
}

void task_clear(struct task *t)
{
	str_clear(&t->id);
	*t = (struct task){ 0 };
}

void task_outcome(struct str *out, const struct telling *t)
{
	mcp_tool_result(out, MCP_MODERN, t->result.bytes, telling_said(&t->steering), t->is_error,
	                t->traceparent);
}

struct mcp_task task_message(const struct task *t, const char *outcome)
{
	bool waits = t->status == MCP_TASK_WORKING;

	return (struct mcp_task){
		.id = t->id.bytes,
		.status = t->status,
		.message = waits ? "waiting for the operator; do not go on with it before this "
		                   "task is completed and its result says so"
		                 : NULL,
		.created_at = t->created_at,
		.updated_at = t->updated_at,
		.ttl_ms = t->ttl_ms,
		.poll_ms = TASK_POLL_MS,
		.outcome = outcome,
	};
}
