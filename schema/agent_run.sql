-- A run is one process of the agent of a session that we started: an order requests it, a runner
-- starts it, watches it and records its outcome.
-- rings: agent-intercom, runner, applier
-- moves: state
-- fixed: a run does not become another one
CREATE TABLE agent_run (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused; names its runner
  session_seq    INTEGER NOT NULL REFERENCES session (seq), -- fixed
  generation     INTEGER NOT NULL CHECK (generation > 0), -- fixed: 1 is the first of its session
  machine        TEXT NOT NULL,             -- fixed: the machine that it runs on
  agent          TEXT NOT NULL,             -- fixed: agent.name
  protocol       TEXT NOT NULL CHECK (protocol IN ('mcp', 'acp', 'acp-stream')), -- fixed
  command_seq    INTEGER REFERENCES command (seq), -- fixed: the order
  prompt         TEXT,                      -- fixed: its task; NULL: continue
  park_after_ms  INTEGER CHECK (park_after_ms >= 0), -- fixed: a question of its hook that waits for longer
                                            -- ends its process, and the answer starts the next
                                            -- run; NULL: never
  resumes_seq    INTEGER REFERENCES gate_call (seq), -- fixed: the call that it makes again: its
                                            -- session was parked with it
  state          TEXT NOT NULL,             -- free: see agent_run_move
  pid            INTEGER CHECK (pid > 1),   -- later, once: of the agent, and of its process group
  process_start  INTEGER,                   -- later, once: its start time in /proc, which identifies it
  uid            INTEGER CHECK (uid > 0),   -- later, once: the user as whom it runs; NULL: our own
  fence          TEXT,                      -- later, once: what holds it: landlock 7 (the ABI); NULL: nothing
  stop_wanted_at TEXT CHECK (stop_wanted_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: it is to end
  stop_why       TEXT,                      -- later, once: in words
  stop_keeps     INTEGER NOT NULL DEFAULT 0 CHECK (stop_keeps IN (0, 1)), -- later, grows: its session can be
                                            -- resumed, what it asked stays open
  peer_session   TEXT,                      -- later, once: the agent's own id of the session
  token_hash     TEXT CHECK (length(token_hash) = 64), -- later, once: SHA-256 of the token with which its
                                            -- agent calls our MCP server
  outcome        TEXT CHECK (outcome IN (   -- later, once: how it ended
    'exited',                               -- by itself: exit_code or exit_signal says how
    'failed',                               -- it could not be started: why says what failed
    'stopped',                              -- because a stop was ordered
    'parked',                               -- because its question waits: the answer starts the next one
    'interrupted')),                        -- with its runner, or because the system stopped
  parked_seq     INTEGER REFERENCES gate_call (seq), -- later, once: the call that waits
  exit_code      INTEGER,                   -- later, once
  exit_signal    INTEGER,                   -- later, once
  why            TEXT,                      -- later, once: in words: why it did not start, or ended
  stderr_tail    TEXT,                      -- later, once: the last lines of its stderr, without secrets
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  started_at     TEXT CHECK (started_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: its process runs
  ended_at       TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK ((outcome IS 'parked') = (parked_seq IS NOT NULL)),
  CHECK (state <> 'running' OR (pid IS NOT NULL AND started_at IS NOT NULL))
) STRICT;
-- refuses: open: the agent of this session runs already
CREATE UNIQUE INDEX agent_run_open ON agent_run (session_seq) WHERE ended_at IS NULL;
-- refuses: token: another run has this token
CREATE UNIQUE INDEX agent_run_token ON agent_run (token_hash) WHERE token_hash IS NOT NULL;
-- refuses: generation: this session has a run of this number already
CREATE UNIQUE INDEX agent_run_session ON agent_run (session_seq, generation);
CREATE INDEX agent_run_live ON agent_run (machine, seq) WHERE ended_at IS NULL;
CREATE INDEX agent_run_command ON agent_run (command_seq) WHERE command_seq IS NOT NULL; -- for retention
CREATE INDEX agent_run_resumes ON agent_run (resumes_seq) WHERE resumes_seq IS NOT NULL; -- for retention
CREATE INDEX agent_run_parked ON agent_run (parked_seq) WHERE parked_seq IS NOT NULL;

-- small
-- closed
CREATE TABLE agent_run_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_run_move VALUES
  ('', 'wanted'), ('wanted', 'starting'), ('wanted', 'ended'),
  ('starting', 'running'), ('starting', 'ended'), ('running', 'ended');
