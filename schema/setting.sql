-- The configuration in force. Only the supervisor reads TOML; everybody else reads these rows.

-- One row per setting, written at each start; names as in config.toml
-- ("timeouts.approval_seconds").
-- small
-- free: rewritten at each start
CREATE TABLE setting (
  name       TEXT NOT NULL PRIMARY KEY,
  value      TEXT NOT NULL,               -- as text; lists and maps as JSON
  source     TEXT NOT NULL CHECK (source IN ('default', 'file', 'flag', 'env', 'ctl', 'system')),
  updated_at TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
