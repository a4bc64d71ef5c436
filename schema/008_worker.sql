-- Who runs, since when, and when the machine slept.

-- One row per incarnation of a worker process.
-- rings: agent-intercom
CREATE TABLE worker (
  seq          INTEGER PRIMARY KEY CHECK (seq > 0),
  id           TEXT NOT NULL UNIQUE,        -- UUID of the incarnation
  name         TEXT NOT NULL,               -- the binary: mcp-front, applier, ...
  host         TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  version      TEXT NOT NULL,               -- build, must equal the supervisor's
  state        TEXT NOT NULL CHECK (state IN ('starting', 'ready', 'stopped', 'died')),
  detail       TEXT,                        -- what it serves: an address, a reason
  started_at   TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  heartbeat_at TEXT NOT NULL CHECK (heartbeat_at GLOB '????-??-??T??:??:??.???Z'),
  stopped_at   TEXT CHECK (stopped_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX worker_live ON worker (host, name) WHERE state IN ('starting', 'ready');
CREATE INDEX worker_heartbeat ON worker (heartbeat_at);

-- Time that does not count for those who wait: downtime, suspend, steps of the clock.
CREATE TABLE time_gap (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  host       TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('downtime', 'suspend', 'clock_step')),
  started_at TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at   TEXT NOT NULL CHECK (ended_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
