-- Calls as tasks (MCP extension io.modelcontextprotocol/tasks): such a call is answered at once,
-- its client fetches the result with tasks/get. The task is the call's row.
ALTER TABLE tool_call ADD COLUMN task_id TEXT; -- unguessable: who knows it may fetch the result; NULL: a call that waits itself
ALTER TABLE tool_call ADD COLUMN task_ttl_ms INTEGER; -- promised to the client, from created_at on; NULL: for ever
CREATE UNIQUE INDEX tool_call_task ON tool_call (task_id) WHERE task_id IS NOT NULL;
