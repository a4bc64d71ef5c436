#include "mcp_task.h"
#include "json_writer.h"

static void add_member(struct str *out, const char *name, const char *text)
{
	str_addf(out, ",\"%s\":", name);
	json_quote(out, text);
}

/* The members that every task has, without enclosing brackets. */
static void add_task(struct str *out, const struct mcp_task *t)
{
	static const char *const NAMES[] = {
		[MCP_TASK_WORKING] = "working",     [MCP_TASK_INPUT_REQUIRED] = "input_required",
		[MCP_TASK_COMPLETED] = "completed", [MCP_TASK_FAILED] = "failed",
		[MCP_TASK_CANCELLED] = "cancelled",
	};

	str_add(out, "\"taskId\":");
	json_quote(out, t->id);
	add_member(out, "status", NAMES[t->status]);
	if (t->message)
		add_member(out, "statusMessage", t->message);
	add_member(out, "createdAt", t->created_at);
	add_member(out, "lastUpdatedAt", t->updated_at);
	if (t->ttl_ms < 0)
		str_add(out, ",\"ttlMs\":null");
	else
		str_addf(out, ",\"ttlMs\":%lld", (long long)t->ttl_ms);
	str_addf(out, ",\"pollIntervalMs\":%lld", (long long)t->poll_ms);
}

static void add_outcome(struct str *out, const struct mcp_task *t)
{
	static const char *const MEMBERS[] = { [MCP_TASK_INPUT_REQUIRED] = "inputRequests",
		                               [MCP_TASK_COMPLETED] = "result",
		                               [MCP_TASK_FAILED] = "error",
		                               [MCP_TASK_CANCELLED] = NULL };

	if (!MEMBERS[t->status] || !t->outcome)
		return;
	str_addf(out, ",\"%s\":", MEMBERS[t->status]);
	str_add(out, t->outcome);
}

void mcp_task_created(struct str *out, const struct mcp_task *t, const char *traceparent)
{
	str_add(out, "{\"resultType\":\"task\",");
	add_task(out, t);
	if (traceparent)
		str_addf(out, ",\"_meta\":{\"traceparent\":\"%s\"}", traceparent);
	str_add_char(out, '}');
}

void mcp_task_result(struct str *out, const struct mcp_task *t)
{
	str_add_char(out, '{');
	add_task(out, t);
	add_outcome(out, t);
	mcp_end_result(out, MCP_MODERN, MCP_NOT_CACHEABLE);
}

void mcp_task_notification(struct str *out, const struct mcp_task *t, const char *listen_id)
{
	str_addf(out,
	         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\",\"params\":{\"_meta\":{"
	         "\"io.modelcontextprotocol/subscriptionId\":%s},",
	         listen_id);
	add_task(out, t);
	add_outcome(out, t);
	str_add(out, "}}");
}
