/* mcp_task: the messages of the extension io.modelcontextprotocol/tasks (SEP-2663) of revision
 * 2026-07-28: a tools/call is answered with a task, whose result is fetched later. No rows here:
 * see task.h. */
#ifndef MCP_TASK_H
#define MCP_TASK_H

#include "mcp.h"

enum mcp_task_status {
	MCP_TASK_WORKING,
	MCP_TASK_INPUT_REQUIRED,
	MCP_TASK_COMPLETED,
	MCP_TASK_FAILED,
	MCP_TASK_CANCELLED,
};

/* A task as its client sees it. Texts are borrowed. */
struct mcp_task {
	const char *id; /* unguessable: knowing it is enough to ask for the result */
	enum mcp_task_status status;
	const char *message; /* for people, NULL: none */
	const char *created_at, *updated_at; /* instants */
	int64_t ttl_ms; /* from created_at on; negative: unlimited */
	int64_t poll_ms; /* how often the client should poll */
	const char *outcome; /* JSON object: the tool's whole result, as without a task (completed),
	                        the error (failed), or the open requests (input_required);
	                        otherwise NULL */
};

/* Appends the result of a tools/call that has become a task. traceparent: as in mcp_tool_result. */
void mcp_task_created(struct str *out, const struct mcp_task *t, const char *traceparent);

/* Appends the result of tasks/get. */
void mcp_task_result(struct str *out, const struct mcp_task *t);

/* Appends notifications/tasks for a subscriptions/listen. listen_id: JSON token of its id. */
void mcp_task_notification(struct str *out, const struct mcp_task *t, const char *listen_id);

#endif
