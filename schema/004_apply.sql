-- Writing what was approved: a job per check_diff, and the applier's journal, a row per file.

-- rings: applier
CREATE TABLE apply (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0),
  request_seq   INTEGER NOT NULL REFERENCES request (seq),
  host          TEXT NOT NULL,              -- the machine whose applier does it
  force         INTEGER NOT NULL DEFAULT 0 CHECK (force IN (0, 1)),
  state         TEXT NOT NULL,              -- queued, claimed, applied, refused, dead
  claim         INTEGER NOT NULL DEFAULT 0, -- number of the claim; a settle must name it
  worker_id     TEXT,                       -- worker.id of the claimer
  attempts      INTEGER NOT NULL DEFAULT 0, -- rises in the claim's own commit
  forced        INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)), -- a changed file was overwritten
  error_code    TEXT,                       -- path_violation, patch_conflict, invalid_diff, ...
  error_message TEXT,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at    TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state IN ('refused', 'dead')) = (error_code IS NOT NULL))
) STRICT;
-- One job at a time for a request, and only one that ever succeeds.
CREATE UNIQUE INDEX apply_open ON apply (request_seq) WHERE state IN ('queued', 'claimed');
CREATE UNIQUE INDEX apply_once ON apply (request_seq) WHERE state = 'applied';
CREATE INDEX apply_queue ON apply (host, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX apply_request ON apply (request_seq, seq);

-- small
CREATE TABLE apply_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO apply_move VALUES
  ('', 'queued'), ('queued', 'claimed'), ('claimed', 'claimed'), ('claimed', 'queued'),
  ('claimed', 'applied'), ('claimed', 'refused'), ('claimed', 'dead');

-- The intent of one file's change, committed before the file is touched, and how far it got.
CREATE TABLE file_change (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  apply_seq   INTEGER NOT NULL REFERENCES apply (seq),
  path        TEXT NOT NULL,                -- relative to the workspace, symlinks inside it resolved
  action      TEXT NOT NULL CHECK (action IN ('create', 'modify', 'delete')),
  hash_before TEXT NOT NULL,                -- SHA-256, or 'new_file' where there is none
  hash_after  TEXT NOT NULL,                -- SHA-256, or 'new_file' where none is left
  bytes       INTEGER NOT NULL,             -- size afterwards
  temp_name   TEXT,                         -- staged bytes, a name beside the target
  state       TEXT NOT NULL,                -- planned, staged, done, undone
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at  TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX file_change_apply ON file_change (apply_seq, seq);

-- small
CREATE TABLE file_change_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO file_change_move VALUES
  ('', 'planned'), ('planned', 'staged'), ('planned', 'done'), ('planned', 'undone'),
  ('staged', 'done'), ('staged', 'undone');
