-- The effective configuration and who may decide, as rows. Only the supervisor reads TOML.

-- One row per setting, written at each start; names as in config.toml ("timeouts.approval_seconds").
-- small
CREATE TABLE setting (
  name       TEXT NOT NULL PRIMARY KEY,
  value      TEXT NOT NULL,               -- as text; lists and maps as JSON
  source     TEXT NOT NULL CHECK (source IN ('default', 'file', 'flag', 'env', 'ctl', 'system')),
  updated_at TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;

-- Who may answer. 'local:<user>' is made by the supervisor; Slack operators are keyed by team and
-- user; 'system:*' stand for the clock and the policy file.
-- small
CREATE TABLE operator (
  id         TEXT NOT NULL PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('local', 'slack', 'system')),
  team_id    TEXT,                        -- Slack team, where kind is slack
  user_id    TEXT NOT NULL,               -- Slack user, login name, or the name of the system part
  active     INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)), -- stands for hand-typed rows
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
             CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (kind <> 'slack' OR team_id IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX operator_default ON operator (is_default) WHERE is_default = 1;

INSERT INTO operator (id, kind, user_id) VALUES
  ('system:clock', 'system', 'clock'),
  ('system:policy', 'system', 'policy');

-- Which rules (schema/rules/) are in force: the hash over their text. They are dropped and made
-- anew whenever it differs from the program's.
-- small
CREATE TABLE rule_set (
  id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  hash TEXT NOT NULL
) STRICT;
