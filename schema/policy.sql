-- The versions of each workspace's policy file, as mcp-front and runners found them: the basis of
-- decisions with source `policy`.
-- fixed: a version of a file does not change
CREATE TABLE policy (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never reused: events outlive it
  machine        TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('loaded', 'broken', 'gone')),
  hash           TEXT NOT NULL,             -- SHA-256 of the file, '' if it could not be read
  why            TEXT,                      -- why it is broken and denies everything
  content_seq    INTEGER REFERENCES content (seq), -- its content, if it is loaded
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state = 'broken') = (why IS NOT NULL))
) STRICT;
CREATE INDEX policy_newest ON policy (workspace_root, machine, seq);
CREATE INDEX policy_content ON policy (content_seq) WHERE content_seq IS NOT NULL;

-- The versions that a person trusted. A policy that does not count by itself (setting policy.trust)
-- allows only what the newest of these allows, too.
-- fixed: what was trusted does not change
CREATE TABLE policy_trust (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never reused: events outlive it
  machine        TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  hash           TEXT NOT NULL CHECK (length(hash) = 64), -- SHA-256 of the file
  content_seq    INTEGER NOT NULL REFERENCES content (seq), -- its content
  operator_id    TEXT NOT NULL,             -- who trusted it
  request_seq    INTEGER,                   -- the request that was answered; NULL: none
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX policy_trust_newest ON policy_trust (workspace_root, machine, seq);
CREATE INDEX policy_trust_content ON policy_trust (content_seq);
