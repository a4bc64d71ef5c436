-- Calls whose wait has ended, in order: mcp-front reads them with a cursor.
-- rings: mcp-front first
-- fixed: the cursor of the front does not change
CREATE TABLE ended_call (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  call_seq   INTEGER NOT NULL,
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
