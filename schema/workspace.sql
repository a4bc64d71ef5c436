-- The folders from which a person has answered a request. The first request from any other folder
-- shows its full path. Rows stay: one for each folder in which agents ever worked.
-- fixed: the first answer was the first
CREATE TABLE workspace (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  machine     TEXT NOT NULL,
  root        TEXT NOT NULL,                -- as in session.workspace_root
  answered_at TEXT NOT NULL CHECK (answered_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
-- refuses: exists: a row with this seq or folder is there already
CREATE UNIQUE INDEX workspace_of ON workspace (machine, root);
