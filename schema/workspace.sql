-- The folders from which a person has answered a question. What is asked first from another one shows
-- its full path. Rows stay: there is one for each folder that agents ever worked in.
-- fixed: the first answer was the first
CREATE TABLE workspace (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  machine     TEXT NOT NULL,
  root        TEXT NOT NULL,                -- as in session.workspace_root
  answered_at TEXT NOT NULL CHECK (answered_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
-- refuses: exists: a row with this seq or folder is there already
CREATE UNIQUE INDEX workspace_of ON workspace (machine, root);
