-- Every path that a proposal touches; and what the applier needs to write many files as one, and to
-- put them back.

-- A path of a clearance as it was when asked, and what is to become of it. Part of the digest.
CREATE TABLE request_file (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0), -- the order in the diff
  request_seq   INTEGER NOT NULL REFERENCES request (seq),
  path          TEXT NOT NULL,              -- relative to the workspace
  action        TEXT NOT NULL CHECK (action IN ('create', 'modify', 'delete', 'read')),
  other_path    TEXT,                       -- create, modify: renamed or copied from; delete: renamed to
  mode          INTEGER NOT NULL DEFAULT 0, -- as the diff says, 33188 is 100644 and 33261 100755; 0: not said
  original_hash TEXT NOT NULL               -- SHA-256 of the file when asked, or 'new_file'
) STRICT;
CREATE UNIQUE INDEX request_file_path ON request_file (request_seq, path);

ALTER TABLE apply ADD COLUMN kind TEXT NOT NULL DEFAULT 'write' CHECK (kind IN ('write', 'undo'));
ALTER TABLE apply ADD COLUMN command_seq INTEGER REFERENCES command (seq); -- who ordered the undo
CREATE INDEX apply_command ON apply (command_seq) WHERE command_seq IS NOT NULL; -- for retention
-- A write is undone once.
CREATE UNIQUE INDEX apply_undone ON apply (request_seq) WHERE state = 'undone';
INSERT INTO apply_move VALUES ('claimed', 'undone');

ALTER TABLE file_change ADD COLUMN other_path TEXT;      -- as in request_file
ALTER TABLE file_change ADD COLUMN backup_name TEXT;     -- hidden name of the old file
ALTER TABLE file_change ADD COLUMN mode_before INTEGER;  -- permissions; NULL: there was no file
ALTER TABLE file_change ADD COLUMN mode_after INTEGER;   -- permissions; NULL: none is left
ALTER TABLE file_change ADD COLUMN made_from INTEGER NOT NULL DEFAULT 0; -- directories of path longer than this were made
ALTER TABLE file_change ADD COLUMN before_seq INTEGER REFERENCES content (seq); -- the bytes before, for undo
-- For retention.
CREATE INDEX file_change_image ON file_change (updated_at) WHERE before_seq IS NOT NULL;
CREATE INDEX file_change_before ON file_change (before_seq) WHERE before_seq IS NOT NULL;
