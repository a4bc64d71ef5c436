-- Checkpoints that are put back: the order, what it would change, and how far the write got. The
-- question about it is a request, the write a job of the applier.
-- rings: applier
-- moves: state
-- fixed: what is put back does not change
CREATE TABLE workspace_restore (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  session_seq   INTEGER NOT NULL REFERENCES session (seq), -- fixed: its operator is asked, its agent is told
  command_seq   INTEGER REFERENCES command (seq), -- fixed: the order
  previous_seq  INTEGER REFERENCES workspace_restore (seq), -- fixed: the same, refused because the
                                            -- workspace had changed
  checkpoint_id TEXT NOT NULL,              -- fixed: what is put back
  paths         TEXT CHECK (paths IS NULL OR json_valid(paths)), -- fixed: a list: only these; NULL: all
  to_hash       TEXT NOT NULL CHECK (length(to_hash) = 64), -- fixed: the manifest of checkpoint_id
  before_id     TEXT NOT NULL DEFAULT (      -- fixed: the checkpoint that is taken just before; UUID
    printf('%s-%s-7%s-9%s-%s',
           substr(printf('%012x', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), 1, 8),
           substr(printf('%012x', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), 9),
           substr(lower(hex(randomblob(2))), 2), substr(lower(hex(randomblob(2))), 2),
           lower(hex(randomblob(6))))),
  from_hash     TEXT CHECK (length(from_hash) = 64), -- later, once: its manifest: what the workspace has
  request_seq   INTEGER REFERENCES request (seq), -- later, once: the question
  modified      INTEGER,                    -- later, once: how many paths
  deleted       INTEGER,                    -- later, once
  added         INTEGER,                    -- later, once
  named         TEXT,                       -- later, once: the first of them, in words
  left_out      INTEGER,                    -- later, once: paths that could not be compared, and stay
  left_named    TEXT,                       -- later, once: the first of them, with the reason
  attempts      INTEGER NOT NULL DEFAULT 0, -- free: comparisons that were begun, and have not failed
  stage_name    TEXT,                       -- later, free: the hidden directory of the write
  state         TEXT NOT NULL,              -- free: see workspace_restore_move
  error_code    TEXT,                       -- later, once
  why           TEXT,                       -- later, free: of a refusal; while it is open: why it can
                                            -- neither be done nor be taken back now
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  updated_at    TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'), -- free
  CHECK (state NOT IN ('asked', 'approved', 'planned', 'staged', 'placed', 'done')
         OR (request_seq IS NOT NULL AND from_hash IS NOT NULL)),
  CHECK (state NOT IN ('planned', 'staged', 'placed') OR stage_name IS NOT NULL),
  CHECK ((state = 'refused') = (error_code IS NOT NULL))
) STRICT;
-- refuses: open: a checkpoint is being put back for this session already
CREATE UNIQUE INDEX workspace_restore_open ON workspace_restore (session_seq)
  WHERE state IN ('wanted', 'asked', 'approved', 'planned', 'staged', 'placed');
-- refuses: asked: this question is about another one
CREATE UNIQUE INDEX workspace_restore_request ON workspace_restore (request_seq)
  WHERE request_seq IS NOT NULL;
CREATE INDEX workspace_restore_wanted ON workspace_restore (seq) WHERE state = 'wanted';
CREATE INDEX workspace_restore_approved ON workspace_restore (seq) WHERE state = 'approved';
CREATE INDEX workspace_restore_done ON workspace_restore (updated_at) WHERE state = 'done';
-- For retention.
CREATE INDEX workspace_restore_session ON workspace_restore (session_seq, seq);
CREATE INDEX workspace_restore_command ON workspace_restore (command_seq)
  WHERE command_seq IS NOT NULL;
CREATE INDEX workspace_restore_previous ON workspace_restore (previous_seq)
  WHERE previous_seq IS NOT NULL;

-- approved: the applier makes a job of it. planned: nothing is in place. staged: everything new is complete, any of it may be in place.
-- placed: all of it is, for good.
-- small
-- closed
CREATE TABLE workspace_restore_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO workspace_restore_move VALUES
  ('', 'wanted'), ('wanted', 'asked'), ('wanted', 'same'), ('wanted', 'refused'),
  ('asked', 'cancelled'), ('asked', 'approved'), ('asked', 'refused'),
  ('approved', 'planned'), ('approved', 'refused'),
  ('planned', 'staged'), ('planned', 'refused'),
  ('staged', 'planned'), ('staged', 'placed'), ('staged', 'refused'),
  ('placed', 'done'), ('placed', 'refused');
