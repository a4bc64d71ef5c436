-- Who may answer. The supervisor inserts 'local:<user>', and where several users are served, each
-- operator's first command theirs; Slack operators are keyed by team and user; 'system:*' stand for
-- the clock, the policy file, the outcome of a write and another owner of a folder.
-- small
-- upserts: each start puts those of its configuration
-- fixed: who an operator is does not change; insert another one
CREATE TABLE operator (
  id         TEXT NOT NULL PRIMARY KEY,   -- fixed
  kind       TEXT NOT NULL CHECK (kind IN ('local', 'slack', 'system')), -- fixed
  team_id    TEXT,                        -- fixed: Slack team, if kind is slack
  user_id    TEXT NOT NULL,               -- fixed: Slack user, login name, or the name of the system part
  active     INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)), -- free
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)), -- free: stands for hand-typed rows
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) -- free: of the last insert
             CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (kind <> 'slack' OR team_id IS NOT NULL)
) STRICT;
-- refuses: default: there is a default operator; set its is_default to 0 first
CREATE UNIQUE INDEX operator_default ON operator (is_default) WHERE is_default = 1;

-- Since ever: the pages of a new database do not depend on when they were made.
INSERT INTO operator (id, kind, user_id, created_at) VALUES
  ('system:applier', 'system', 'applier', '1970-01-01T00:00:00.000Z'),
  ('system:clock', 'system', 'clock', '1970-01-01T00:00:00.000Z'),
  ('system:owner', 'system', 'owner', '1970-01-01T00:00:00.000Z'),
  ('system:policy', 'system', 'policy', '1970-01-01T00:00:00.000Z');
