-- A path of a clearance, or of an agent's own edit, at the time of the request, and its intended result. Part of the digest.
-- fixed: what was asked does not change
CREATE TABLE request_file (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0), -- the order in the diff
  request_seq   INTEGER NOT NULL REFERENCES request (seq),
  path          TEXT NOT NULL,              -- relative to the workspace
  target        TEXT NOT NULL DEFAULT '',   -- the file that path stands for, symlinks resolved
  action        TEXT NOT NULL CHECK (action IN ('create', 'modify', 'delete', 'read')),
  other_path    TEXT,                       -- create, modify: renamed or copied from; delete: renamed to
  mode          INTEGER NOT NULL DEFAULT 0, -- from the diff, 33188 is 100644 and 33261 100755; 0: not given
  original_hash TEXT NOT NULL,              -- SHA-256 of the file when asked, or 'new_file'
  result_hash   TEXT NOT NULL DEFAULT ''    -- SHA-256 of the result, or 'new_file' if no file is left
) STRICT;
-- refuses: exists: a row with this seq or path is there already
CREATE UNIQUE INDEX request_file_path ON request_file (request_seq, path);
CREATE INDEX request_file_target ON request_file (target);
