-- The applier's journal: the intended change of one file, committed before the file is touched, and
-- how far it got.
-- moves: state
-- fixed: the intent of a change does not change
CREATE TABLE file_change (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  apply_seq   INTEGER NOT NULL REFERENCES apply (seq), -- fixed
  path        TEXT NOT NULL,                -- fixed: relative to the workspace, symlinks inside it resolved
  action      TEXT NOT NULL CHECK (action IN ('create', 'modify', 'delete')), -- fixed
  other_path  TEXT,                         -- fixed: as in request_file
  hash_before TEXT NOT NULL,                -- fixed: SHA-256, or 'new_file' if there was none
  hash_after  TEXT NOT NULL,                -- fixed: SHA-256, or 'new_file' if none is left
  mode_before INTEGER,                      -- fixed: permissions; NULL: there was no file
  mode_after  INTEGER,                      -- fixed: permissions; NULL: none is left
  bytes       INTEGER NOT NULL,             -- fixed: size afterwards
  before_seq  INTEGER REFERENCES content (seq), -- forgets: the bytes before, for undo
  made_from   INTEGER NOT NULL DEFAULT 0,   -- fixed: directories of path longer than this are ours
  temp_name   TEXT,                         -- once: staged bytes, a name next to the target
  backup_name TEXT,                         -- once: hidden name of the old file
  state       TEXT NOT NULL,                -- free: see file_change_move
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  updated_at  TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z') -- free
) STRICT;
CREATE INDEX file_change_apply ON file_change (apply_seq, seq);
-- For retention.
CREATE INDEX file_change_image ON file_change (updated_at) WHERE before_seq IS NOT NULL;
CREATE INDEX file_change_before ON file_change (before_seq) WHERE before_seq IS NOT NULL;

-- After a crash the hashes decide whether a file is finished or undone.
-- small
-- closed
CREATE TABLE file_change_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO file_change_move VALUES
  ('', 'planned'), ('planned', 'staged'), ('planned', 'done'), ('planned', 'undone'),
  ('staged', 'done'), ('staged', 'undone');
