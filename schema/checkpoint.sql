-- Snapshots of a session, made by the runner; `reboot` returns the last one.
-- fixed: a snapshot does not change
CREATE TABLE checkpoint (
  id                TEXT NOT NULL PRIMARY KEY,
  session_id        TEXT NOT NULL REFERENCES session (id),
  label             TEXT,
  session_state     TEXT NOT NULL CHECK (json_valid(session_state)),
  file_hashes       TEXT NOT NULL CHECK (json_valid(file_hashes)), -- path -> SHA-256
  workspace_root    TEXT NOT NULL,
  progress_snapshot TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)),
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX checkpoint_session ON checkpoint (session_id, created_at);
