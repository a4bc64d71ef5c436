-- Broadcasts whose caller waits to be told where in Slack it stands: mcp-front inserts one with the call
-- and deletes it when the caller has been told. It lives for seconds.
-- rings: mcp-front
-- fixed: where a broadcast stands is told once
CREATE TABLE broadcast_wait (
  call_seq INTEGER NOT NULL PRIMARY KEY REFERENCES tool_call (seq) ON DELETE CASCADE, -- fixed
  ts       TEXT,                            -- later, once: Slack's name of the message that says it
  refused  INTEGER NOT NULL DEFAULT 0 CHECK (refused IN (0, 1)) -- later, grows: Slack takes it in no form
) STRICT;
