-- The orders that there are, and the pauses of sessions.

-- small
CREATE TABLE command_verb (
  verb TEXT NOT NULL PRIMARY KEY,
  does TEXT NOT NULL CHECK (does IN (
    'switch',                               -- where sessions are answered
    'session',                              -- something to the session it names
    'undo',                                 -- the applier takes back what it wrote
    'read',                                 -- nothing: whoever gives it shows what the rows say
    'later'))                               -- nothing yet: it needs sessions that we start ourselves
) STRICT, WITHOUT ROWID;
INSERT INTO command_verb VALUES
  ('mode', 'switch'),
  ('pause', 'session'), ('resume', 'session'), ('stop', 'session'),
  ('undo', 'undo'),
  ('help', 'read'), ('sessions', 'read'),
  ('session-start', 'later'), ('session-restart', 'later'), ('session-cleanup', 'later'),
  ('session-checkpoint', 'later'), ('session-restore', 'later'), ('session-checkpoints', 'later'),
  ('list-files', 'later'), ('show-file', 'later'), ('run', 'later');

-- While a session is paused, calls of its agent are parked.
-- rings: mcp-front
CREATE TABLE pause (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  session_seq INTEGER NOT NULL REFERENCES session (seq),
  operator_id TEXT,                         -- who paused it
  paused_at   TEXT NOT NULL CHECK (paused_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at    TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z') -- resumed, stopped or interrupted
) STRICT;
CREATE UNIQUE INDEX pause_open ON pause (session_seq) WHERE ended_at IS NULL;
CREATE INDEX pause_session ON pause (session_seq);
