-- Files that an operator asks to see in full, in their current state: slack-listener inserts a row
-- for a request; mcp-front reads its files, has them shown and deletes it.
-- small
-- rings: mcp-front
-- fixed: what was asked for does not change
CREATE TABLE file_view (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  request_seq INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
  channel_id  TEXT,                         -- where to show them; NULL: in the session's thread
  thread_ts   TEXT,
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
