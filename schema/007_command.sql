-- Orders of an operator (ctl verbs, later Slack slash commands) and their replies.

CREATE TABLE command (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  verb        ANY,                          -- mode
  session_id  ANY,                          -- the session it is for; NULL: all, and the default
  argument    ANY,                          -- mode: remote, local, hybrid
  operator_id ANY,
  source      ANY DEFAULT 'sql',
  created_at  ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  outcome     TEXT CHECK (outcome IN ('done', 'unauthorized', 'not_found', 'malformed', 'refused')),
  reply       TEXT,                         -- JSON where outcome is done
  why         TEXT
) STRICT;
