-- A session is a logical piece of agent work; a connection is one transport attachment of it.

CREATE TABLE session (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- order of birth; what other
                                            -- tables refer to; never used again: events outlive it
  id                  TEXT NOT NULL UNIQUE, -- UUID
  host                TEXT NOT NULL,        -- the machine that the workspace is on
  owner_user_id       TEXT NOT NULL,        -- operator that owns it, 'local:<user>' for direct agents
  workspace_root      TEXT NOT NULL,        -- absolute path
  status              TEXT NOT NULL,        -- created, active, paused, terminated, interrupted
  prompt              TEXT,                 -- initial task, where one was given
  mode                TEXT NOT NULL CHECK (mode IN ('remote', 'local', 'hybrid')),
  protocol_mode       TEXT NOT NULL DEFAULT 'mcp' CHECK (protocol_mode IN ('mcp', 'acp')),
  origin              TEXT NOT NULL DEFAULT 'direct' CHECK (origin IN ('direct', 'started')),
  channel_id          TEXT,                 -- Slack channel
  thread_ts           TEXT,                 -- Slack thread; does not change once set
  connectivity_status TEXT NOT NULL DEFAULT 'online'
                      CHECK (connectivity_status IN ('online', 'offline', 'stalled')),
  client_name         TEXT,                 -- clientInfo.name, unverified
  label               TEXT,                 -- ?agent= / INTERCOM_AGENT
  last_tool           TEXT,
  nudge_count         INTEGER NOT NULL DEFAULT 0,
  stall_paused        INTEGER NOT NULL DEFAULT 0 CHECK (stall_paused IN (0, 1)),
  wait_limit_ms       INTEGER,              -- learned: its client gives up soon after this
  progress_snapshot   TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)),
  restart_of          TEXT REFERENCES session (id),
  created_at          TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at          TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  last_activity_at    TEXT CHECK (last_activity_at GLOB '????-??-??T??:??:??.???Z'),
  terminated_at       TEXT CHECK (terminated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX session_live ON session (workspace_root, host) WHERE status <> 'terminated';
CREATE INDEX session_interrupted ON session (updated_at) WHERE status = 'interrupted';
CREATE INDEX session_terminated ON session (terminated_at, seq) WHERE terminated_at IS NOT NULL;
CREATE INDEX session_restart ON session (restart_of) WHERE restart_of IS NOT NULL;

-- small
CREATE TABLE session_move (
  src TEXT NOT NULL, -- '' = birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO session_move VALUES
  ('', 'created'), ('', 'active'),
  ('created', 'active'), ('created', 'interrupted'), ('created', 'terminated'),
  ('active', 'paused'), ('active', 'terminated'), ('active', 'interrupted'),
  ('paused', 'active'), ('paused', 'terminated'), ('paused', 'interrupted'),
  ('interrupted', 'active'), ('interrupted', 'terminated');

-- One transport attachment: a stdio process, an Mcp-Session-Id, or one stateless caller.
CREATE TABLE connection (
  seq              INTEGER PRIMARY KEY CHECK (seq > 0),
  key              TEXT NOT NULL UNIQUE,    -- unguessable; Mcp-Session-Id, or what a relay resumes with
  host             TEXT NOT NULL,
  transport        TEXT NOT NULL CHECK (transport IN ('stdio', 'http', 'stateless')),
  protocol_version TEXT NOT NULL,           -- negotiated MCP revision
  client_name      TEXT,
  client_version   TEXT,
  session_seq      INTEGER REFERENCES session (seq), -- set by the first tool call
  identity         TEXT NOT NULL,           -- JSON: what the caller said of workspace, channel, session, agent
  state            TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'lost', 'closed')),
  created_at       TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  closed_at        TEXT CHECK (closed_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX connection_session ON connection (session_seq) WHERE state = 'open';
CREATE INDEX connection_of ON connection (session_seq, created_at);
CREATE INDEX connection_stdio ON connection (host) WHERE state = 'open' AND transport = 'stdio';
