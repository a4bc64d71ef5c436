-- While a session is paused, its agent's calls are held.
-- rings: mcp-front, runner, agent-intercom
-- fixed: a pause begins and ends once
CREATE TABLE pause (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  session_seq INTEGER NOT NULL REFERENCES session (seq), -- fixed
  operator_id TEXT,                         -- fixed: who paused it
  why         TEXT,                         -- fixed: in words, if that was no person
  paused_at   TEXT NOT NULL CHECK (paused_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  ended_at    TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z') -- later, once: resumed, stopped or interrupted
) STRICT;
-- refuses: open: this session is paused already
CREATE UNIQUE INDEX pause_open ON pause (session_seq) WHERE ended_at IS NULL;
CREATE INDEX pause_session ON pause (session_seq);
