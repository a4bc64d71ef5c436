-- Jobs that write what was approved, undo it, or put a checkpoint back: one per check_diff, undo or
-- approved restore.
-- rings: applier
-- moves: state
-- fixed: what was ordered does not change
CREATE TABLE apply (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  request_seq   INTEGER NOT NULL REFERENCES request (seq), -- fixed
  kind          TEXT NOT NULL DEFAULT 'write' CHECK (kind IN ('write', 'undo', 'restore')), -- fixed
  command_seq   INTEGER REFERENCES command (seq), -- fixed: the order to undo
  machine       TEXT NOT NULL,              -- fixed: the machine whose applier does it
  force         INTEGER NOT NULL DEFAULT 0 CHECK (force IN (0, 1)), -- fixed
  question_seq  INTEGER REFERENCES request (seq), -- later, once: apply.force asks: the request about the changed file
  state         TEXT NOT NULL,              -- free: see apply_move
  claim         INTEGER NOT NULL DEFAULT 0, -- grows: number of the claim; a settle must name it
  worker_id     TEXT,                       -- free: worker.id of the claimer
  attempts      INTEGER NOT NULL DEFAULT 0, -- grows: in the claim's own commit
  forced        INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)), -- grows: a changed file was overwritten
  error_code    TEXT,                       -- once: path_violation, patch_conflict, invalid_diff, ...
  why           TEXT,                       -- once
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  updated_at    TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'), -- free
  CHECK ((state IN ('refused', 'dead')) = (error_code IS NOT NULL))
) STRICT;
-- One job at a time for a request, and only one that ever succeeds.
-- refuses: queued: the request has a job already
CREATE UNIQUE INDEX apply_open ON apply (request_seq) WHERE state IN ('queued', 'claimed');
-- refuses: once: what was approved is written once
CREATE UNIQUE INDEX apply_once ON apply (request_seq) WHERE state = 'applied';
-- refuses: once: a write is undone once
CREATE UNIQUE INDEX apply_undone ON apply (request_seq) WHERE state = 'undone';
CREATE INDEX apply_queue ON apply (machine, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX apply_request ON apply (request_seq, seq);
CREATE INDEX apply_question ON apply (question_seq) WHERE question_seq IS NOT NULL;
CREATE INDEX apply_command ON apply (command_seq) WHERE command_seq IS NOT NULL; -- for retention

-- small
-- closed
CREATE TABLE apply_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO apply_move VALUES
  ('', 'queued'), ('queued', 'claimed'), ('claimed', 'claimed'), ('claimed', 'queued'),
  ('claimed', 'applied'), ('claimed', 'refused'), ('claimed', 'dead'), ('claimed', 'undone');
