-- A session is a logical piece of agent work: it owns the channel, the thread, the workspace, the
-- mode and the stall clock.
-- moves: status
-- fixed: who a session is and where it works do not change
CREATE TABLE session (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: order of birth;
                                            -- referenced by other tables; never reused: events
                                            -- outlive it
  id                  TEXT NOT NULL UNIQUE, -- fixed: UUID
  machine             TEXT NOT NULL,        -- fixed: the machine that the workspace is on
  owner_user_id       TEXT NOT NULL,        -- fixed: its operator, 'local:<user>' for direct agents
  agent_uid           INTEGER CHECK (agent_uid >= 0), -- once: of the user whose agent it is, as the kernel
                                            -- says; NULL: it is our own
  agent_user          TEXT,                 -- once: the name of that user then
  workspace_root      TEXT NOT NULL,        -- fixed: absolute path
  status              TEXT NOT NULL,        -- free: see session_move
  prompt              TEXT,                 -- free: initial task, if one was given
  mode                TEXT NOT NULL CHECK (mode IN ('remote', 'local', 'hybrid')), -- free
  protocol_mode       TEXT NOT NULL DEFAULT 'mcp' CHECK (protocol_mode IN ('mcp', 'acp')), -- fixed
  origin              TEXT NOT NULL DEFAULT 'direct' CHECK (origin IN ('direct', 'started', 'folder')), -- fixed:
                                            -- folder: no agent: a folder in which a checkpoint is put
                                            -- back, so that there is a session to ask in
  channel_id          TEXT,                 -- free: Slack channel
  thread_ts           TEXT,                 -- once: Slack thread
  connectivity_status TEXT NOT NULL DEFAULT 'online' -- free
                      CHECK (connectivity_status IN ('online', 'offline', 'stalled')),
  client_name         TEXT,                 -- free: clientInfo.name, unverified
  label               TEXT,                 -- free: ?agent= / INTERCOM_AGENT
  last_tool           TEXT,                 -- free
  nudge_count         INTEGER NOT NULL DEFAULT 0, -- free: carried over to the next stall
  stall_paused        INTEGER NOT NULL DEFAULT 0 CHECK (stall_paused IN (0, 1)), -- free: stall detection is off
  wait_limit_ms       INTEGER,              -- free: learned: its client gives up soon after this
  progress_snapshot   TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)), -- free
  restart_of          TEXT REFERENCES session (id), -- fixed
  idle_since          TEXT CHECK (idle_since GLOB '????-??-??T??:??:??.???Z'), -- free: since when it is the
                                            -- agent's turn. Set by its calls and by whatever may
                                            -- give it the turn; NULL once the watchdog has found
                                            -- that somebody else has the turn, or that the silence
                                            -- has had all its consequences
  created_at          TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  updated_at          TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'), -- free
  last_activity_at    TEXT CHECK (last_activity_at GLOB '????-??-??T??:??:??.???Z'), -- free
  terminated_at       TEXT CHECK (terminated_at GLOB '????-??-??T??:??:??.???Z'), -- once
  CHECK (origin <> 'folder' OR status = 'terminated')
) STRICT;
CREATE INDEX session_live ON session (workspace_root, machine) WHERE status <> 'terminated';
CREATE INDEX session_interrupted ON session (updated_at) WHERE status = 'interrupted';
CREATE INDEX session_terminated ON session (terminated_at, seq) WHERE terminated_at IS NOT NULL;
CREATE INDEX session_started ON session (status) WHERE origin = 'started' AND status <> 'terminated';
CREATE INDEX session_restart ON session (restart_of) WHERE restart_of IS NOT NULL;
CREATE INDEX session_idle ON session (idle_since) WHERE idle_since IS NOT NULL;
-- A reply in a thread is for the session of the thread.
CREATE INDEX session_thread ON session (thread_ts) WHERE thread_ts IS NOT NULL;
-- The most recently active session.
CREATE INDEX session_recent ON session (last_activity_at) WHERE status <> 'terminated';

-- small
-- closed
CREATE TABLE session_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO session_move VALUES
  ('', 'created'), ('', 'active'), ('', 'terminated'),
  ('created', 'active'), ('created', 'interrupted'), ('created', 'terminated'),
  -- Paused before its agent has begun: that waits, too.
  ('created', 'paused'), ('paused', 'created'),
  ('active', 'paused'), ('active', 'terminated'), ('active', 'interrupted'),
  ('paused', 'active'), ('paused', 'terminated'), ('paused', 'interrupted'),
  ('interrupted', 'active'), ('interrupted', 'terminated'),
  -- Its process has ended while its question waits.
  ('active', 'parked'), ('paused', 'parked'),
  ('parked', 'active'), ('parked', 'paused'), ('parked', 'interrupted'), ('parked', 'terminated');
