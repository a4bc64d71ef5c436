-- Who is running, and since when: one row per incarnation of a worker process.
-- rings: agent-intercom
-- moves: state
-- fixed: an incarnation does not become another one
CREATE TABLE worker (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: metric_cursor
                                            -- counts by it
  id           TEXT NOT NULL UNIQUE,        -- fixed: UUID of the incarnation
  name         TEXT NOT NULL,               -- fixed: the binary: mcp-front, applier, ...
  machine      TEXT NOT NULL,               -- fixed
  pid          INTEGER NOT NULL,            -- fixed
  version      TEXT NOT NULL,               -- fixed: build, must equal the supervisor's
  state        TEXT NOT NULL CHECK (state IN ('starting', 'ready', 'stopped', 'died')), -- free
  detail       TEXT,                        -- free: what it serves: an address, a reason
  fence        TEXT,                        -- once: what holds it: landlock 7 (the ABI), none, off, open
  started_at   TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  ready_at     TEXT CHECK (ready_at GLOB '????-??-??T??:??:??.???Z'), -- once
  heartbeat_at TEXT NOT NULL CHECK (heartbeat_at GLOB '????-??-??T??:??:??.???Z'), -- free
  stopped_at   TEXT CHECK (stopped_at GLOB '????-??-??T??:??:??.???Z') -- once
) STRICT;
CREATE INDEX worker_live ON worker (machine, name) WHERE state IN ('starting', 'ready');
CREATE INDEX worker_heartbeat ON worker (heartbeat_at);

-- small
-- closed
CREATE TABLE worker_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO worker_move VALUES
  ('', 'starting'), ('starting', 'ready'), ('starting', 'stopped'), ('starting', 'died'),
  ('ready', 'stopped'), ('ready', 'died');
