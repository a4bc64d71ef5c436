-- Channels that agents name (?channel_id=): mcp-front asks with a slack_check whether the bot is in
-- one, slack-poster answers with a slack_checked. Both live for minutes.

-- rings: slack-poster
-- fixed: what was asked does not change
CREATE TABLE slack_check (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never reused: a late answer finds nothing
  channel_id TEXT NOT NULL,
  asked_at   TEXT NOT NULL CHECK (asked_at GLOB '????-??-??T??:??:??.???Z'),
  expires_at TEXT NOT NULL CHECK (expires_at GLOB '????-??-??T??:??:??.???Z') -- asked again then
) STRICT;
CREATE INDEX slack_check_of ON slack_check (channel_id, seq);
CREATE INDEX slack_check_expires ON slack_check (expires_at);

-- rings: mcp-front
-- fixed: an answer does not change
CREATE TABLE slack_checked (
  check_seq   INTEGER NOT NULL PRIMARY KEY REFERENCES slack_check (seq) ON DELETE CASCADE,
  why         TEXT,                         -- why agents cannot use it; NULL: the bot is in it
  answered_at TEXT NOT NULL CHECK (answered_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
