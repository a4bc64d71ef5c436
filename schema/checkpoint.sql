-- Checkpoints: what a workspace held at an instant. A row is an order to the archivist, and then
-- what it found; the content is in objects next to the database (src/snapshot/object.h), under the
-- hash of its manifest. To take one: INSERT INTO checkpoint_wanted. `reboot` returns the last one.
-- rings: archivist, agent-intercom, applier, reader
-- moves: state
-- fixed: a snapshot does not change
CREATE TABLE checkpoint (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  id                TEXT NOT NULL UNIQUE,   -- fixed: UUID
  session_id        TEXT REFERENCES session (id), -- fixed: NULL: of a folder, without a session
  label             TEXT,                   -- fixed
  session_state     TEXT NOT NULL CHECK (json_valid(session_state)), -- fixed: the session, and what
                                            -- it had asked
  file_hashes       TEXT CHECK (file_hashes IS NULL OR json_valid(file_hashes)), -- later, once: path ->
                                            -- SHA-256; NULL: too long for a row, see manifest
  workspace_root    TEXT NOT NULL,          -- fixed: absolute path
  progress_snapshot TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)), -- fixed
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  kind              TEXT NOT NULL CHECK (kind IN ('ordered', 'start', 'apply', 'restore', 'diff')), -- fixed:
                                            -- by an operator; before an agent, a write or a
                                            -- restore; to be compared once
  machine           TEXT NOT NULL,          -- fixed: whose archivist takes it
  command_seq       INTEGER REFERENCES command (seq), -- fixed: the order
  apply_seq         INTEGER REFERENCES apply (seq), -- fixed: the write that comes after it
  state             TEXT NOT NULL,          -- free: see checkpoint_move
  claim             INTEGER NOT NULL DEFAULT 0, -- grows: number of the claim
  attempts          INTEGER NOT NULL DEFAULT 0, -- grows: in the claim's own commit
  worker_id         TEXT,                   -- free: worker.id of the claimer; a settle must name it
  manifest          TEXT CHECK (length(manifest) = 64), -- later, once: its hash; the objects are on disk
  files             INTEGER,                -- later, once: regular files
  links             INTEGER,                -- later, once
  folders           INTEGER,                -- later, once
  left_out          INTEGER,                -- later, once: paths that are named and not held
  bytes             INTEGER,                -- later, once: of all files
  added_bytes       INTEGER,                -- later, once: that no checkpoint before had
  why               TEXT,                   -- later, once: it was refused, or lost
  updated_at        TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'), -- free
  CHECK (state NOT IN ('done', 'lost') OR (manifest IS NOT NULL AND files IS NOT NULL)),
  CHECK (state NOT IN ('refused', 'lost') OR why IS NOT NULL)
) STRICT;
CREATE INDEX checkpoint_session ON checkpoint (session_id, seq);
CREATE INDEX checkpoint_queue ON checkpoint (machine, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX checkpoint_held ON checkpoint (seq) WHERE state = 'done';
CREATE INDEX checkpoint_old ON checkpoint (created_at);
CREATE INDEX checkpoint_command ON checkpoint (command_seq) WHERE command_seq IS NOT NULL; -- for retention
CREATE INDEX checkpoint_apply ON checkpoint (apply_seq) WHERE apply_seq IS NOT NULL;

-- claimed again: the archivist died, or the workspace could not be read just then. refused while it
-- is queued: the write that it was to precede has begun. lost: objects are missing or damaged.
-- small
-- closed
CREATE TABLE checkpoint_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO checkpoint_move VALUES
  ('', 'queued'), ('queued', 'claimed'), ('queued', 'refused'), ('claimed', 'claimed'),
  ('claimed', 'queued'), ('claimed', 'done'), ('claimed', 'refused'), ('done', 'lost');
