-- Who owned the folder of a workspace when an agent of another user was first served there: as that
-- user its files are read and written. Whoever owns it later gets a row that an operator must accept;
-- until then nobody is served there. The last row that was accepted counts. Rows stay: one for each
-- owner that a folder ever had.
-- fixed: another owner is another row
CREATE TABLE workspace_owner (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  machine        TEXT NOT NULL,             -- fixed
  workspace_root TEXT NOT NULL,             -- fixed: as in session
  uid            INTEGER NOT NULL CHECK (uid > 0), -- fixed: never root
  name           TEXT NOT NULL,             -- fixed: of the user when the row was made
  found_at       TEXT NOT NULL CHECK (found_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  accepted_at    TEXT CHECK (accepted_at GLOB '????-??-??T??:??:??.???Z'), -- once: NULL: it waits
  accepted_by    TEXT,                      -- once: operator.id; NULL: it was the first
  CHECK (accepted_by IS NULL OR accepted_at IS NOT NULL)
) STRICT;
-- refuses: open: this owner waits for an operator already
CREATE UNIQUE INDEX workspace_owner_open ON workspace_owner (machine, workspace_root, uid)
 WHERE accepted_at IS NULL;
CREATE INDEX workspace_owner_of ON workspace_owner (machine, workspace_root, accepted_at);
