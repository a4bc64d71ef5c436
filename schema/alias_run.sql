-- A run of a command of [commands], which an operator ordered by its alias. commander runs it in a
-- process group of its own. Runs of the same lane wait for each other.
-- rings: commander, agent-intercom-ctl
-- moves: state
-- fixed: a run does not become another one
CREATE TABLE alias_run (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: orders and
                                            -- buttons carry it
  command_seq    INTEGER REFERENCES command (seq), -- fixed: the order
  alias          TEXT NOT NULL,             -- fixed
  command        TEXT NOT NULL,             -- fixed: the shell's line for it, as configured at the order
  session_seq    INTEGER REFERENCES session (seq), -- fixed: NULL: none
  workspace_root TEXT NOT NULL,             -- fixed: the folder that it runs in
  lane           TEXT NOT NULL,             -- fixed: the session's id, or else the workspace
  machine        TEXT NOT NULL,             -- fixed: the machine that it runs on
  operator_id    TEXT NOT NULL,             -- fixed: operator.id
  channel_id     TEXT,                      -- fixed: where in Slack it was ordered; NULL: not there
  state          TEXT NOT NULL DEFAULT 'queued', -- free: see alias_run_move
  worker_id      TEXT,                      -- later, once: worker.id of the commander that claimed it
  pid            INTEGER CHECK (pid > 1),   -- later, once: of the command's shell, and of its process group
  process_start  INTEGER,                   -- later, once: its start time in /proc, which identifies it
  uid            INTEGER CHECK (uid > 0),   -- later, once: the user as whom it runs; NULL: our own
  stop_wanted_at TEXT CHECK (stop_wanted_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: it is to end
  stopped_by     TEXT,                      -- later, once: operator.id
  outcome        TEXT CHECK (outcome IN (   -- later, once: how it ended
    'done',                                 -- exit status 0
    'failed',                               -- another one, or a signal; or why says that it did not begin
    'stopped',                              -- because a stop was ordered
    'timeout',                              -- it ran for command_timeout_seconds
    'interrupted')),                        -- with commander, or because the system stopped
  exit_code      INTEGER,                   -- later, once
  exit_signal    INTEGER,                   -- later, once
  why            TEXT,                      -- later, once: in words: why it did not begin, or was ended
  bytes          INTEGER NOT NULL DEFAULT 0, -- later, grows: of output so far
  shown          TEXT,                      -- later: of the output, the first and the last lines so far
  shown_at       TEXT CHECK (shown_at GLOB '????-??-??T??:??:??.???Z'), -- later: when they were those
  content_seq    INTEGER REFERENCES content (seq), -- later, once: the output, if shown is not all of it
  cut_bytes      INTEGER NOT NULL DEFAULT 0, -- later, grows: of output that was not kept, from its middle
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  started_at     TEXT CHECK (started_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  ended_at       TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK (state <> 'running' OR (pid IS NOT NULL AND started_at IS NOT NULL))
) STRICT;
-- refuses: lane: another run of this session or workspace is not over
CREATE UNIQUE INDEX alias_run_busy ON alias_run (machine, lane) WHERE state IN ('starting', 'running');
CREATE INDEX alias_run_lane ON alias_run (machine, lane, seq) WHERE ended_at IS NULL;
CREATE INDEX alias_run_open ON alias_run (machine, seq) WHERE ended_at IS NULL;
CREATE INDEX alias_run_session ON alias_run (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX alias_run_command ON alias_run (command_seq) WHERE command_seq IS NOT NULL;
CREATE INDEX alias_run_content ON alias_run (content_seq) WHERE content_seq IS NOT NULL;

-- small
-- closed
CREATE TABLE alias_run_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO alias_run_move VALUES
  ('', 'queued'), ('queued', 'starting'), ('queued', 'ended'),
  ('starting', 'running'), ('starting', 'ended'), ('running', 'ended');
