-- Broadcasts whose caller waits for their place in Slack: mcp-front inserts one with the call and
-- deletes it once the caller has been told. A row lives for seconds.
-- rings: mcp-front
-- fixed: where a broadcast stands is told once
CREATE TABLE broadcast_wait (
  call_seq INTEGER NOT NULL PRIMARY KEY REFERENCES tool_call (seq) ON DELETE CASCADE, -- fixed
  ts       TEXT,                            -- later, once: Slack's timestamp of the message
  refused  INTEGER NOT NULL DEFAULT 0 CHECK (refused IN (0, 1)) -- later, grows: Slack accepts no form
) STRICT;
