-- What agents read of a Slack channel: mcp-front asks with a slack_read, slack-poster answers with
-- a slack_history. Both live for seconds.

-- rings: slack-poster
-- fixed: what was asked does not change
CREATE TABLE slack_read (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never reused: a late answer finds nothing
  channel_id TEXT NOT NULL,
  most       INTEGER NOT NULL CHECK (most BETWEEN 1 AND 100), -- messages
  asked_at   TEXT NOT NULL CHECK (asked_at GLOB '????-??-??T??:??:??.???Z'),
  expires_at TEXT NOT NULL CHECK (expires_at GLOB '????-??-??T??:??:??.???Z') -- the caller gives up then
) STRICT;
CREATE INDEX slack_read_of ON slack_read (channel_id, most, seq);
CREATE INDEX slack_read_expires ON slack_read (expires_at);

-- rings: mcp-front
-- fixed: an answer does not change
CREATE TABLE slack_history (
  read_seq    INTEGER NOT NULL PRIMARY KEY REFERENCES slack_read (seq) ON DELETE CASCADE,
  messages    TEXT CHECK (messages IS NULL OR json_valid(messages)), -- as the resource shows them
  why         TEXT,                         -- why there are none, in words
  answered_at TEXT NOT NULL CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((messages IS NULL) <> (why IS NULL))
) STRICT;
