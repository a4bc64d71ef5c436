-- The versions of each workspace's policy file, as mcp-front found them: what decisions of source
-- `policy` rest on.
-- fixed: a version of a file does not change
CREATE TABLE policy (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never reused: events outlive it
  host           TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('loaded', 'broken', 'gone')),
  hash           TEXT NOT NULL,             -- SHA-256 of the file, '' where it could not be read
  why            TEXT,                      -- why it is broken, and denies everything
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state = 'broken') = (why IS NOT NULL))
) STRICT;
CREATE INDEX policy_newest ON policy (workspace_root, host, seq);
