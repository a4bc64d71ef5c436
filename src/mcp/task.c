#include "task.h"

#include <stdio.h>
#include <string.h>

int task_find(struct store *st, const char *id, int64_t *ret_call, struct err *e)
{
	stmt *s = store_stmt(st, SQL_TOOL_CALL_BY_TASK);
	int got;

	bind_text(s, ":task", id);
	got = stmt_row(s, e);
	*ret_call = got > 0 ? col_int(s, TOOL_CALL_BY_TASK_SEQ) : 0;
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

/* A call whose wait has ended is completed, whether or not its client has fetched the result. */
static enum mcp_task_status status_of(const char *state)
{
	if (strcmp(state, "waiting") == 0)
		return MCP_TASK_WORKING;
	return strcmp(state, "cancelled") == 0 ? MCP_TASK_CANCELLED : MCP_TASK_COMPLETED;
}

int task_read(struct store *st, int64_t call_seq, struct task *t, struct err *e)
{
	stmt *s = store_stmt(st, SQL_TOOL_CALL_TASK);
	int got;

	bind_int(s, ":seq", call_seq);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *state = col_text(s, TOOL_CALL_TASK_STATE);

		str_add(&t->id, col_text(s, TOOL_CALL_TASK_TASK_ID));
		t->status = status_of(state);
		t->untold = strcmp(state, "answered") == 0;
		t->ttl_ms = col_is_null(s, TOOL_CALL_TASK_TASK_TTL_MS)
		                ? -1
		                : col_int(s, TOOL_CALL_TASK_TASK_TTL_MS);
		(void)snprintf(t->created_at, sizeof(t->created_at), "%s",
		               col_text(s, TOOL_CALL_TASK_CREATED_AT));
		(void)snprintf(t->updated_at, sizeof(t->updated_at), "%s",
		               col_text(s, TOOL_CALL_TASK_UPDATED_AT));
	}
	stmt_reset(s);
	return got;
}

void task_clear(struct task *t)
{
	str_clear(&t->id);
	*t = (struct task)TASK_INIT;
}

void task_outcome(struct str *out, const struct telling *t)
{
	mcp_tool_result(out, MCP_MODERN, t->result.bytes, telling_said(&t->steering), t->is_error);
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
