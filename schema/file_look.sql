-- Looks into a workspace that an operator orders: a folder as a tree, or a file. The rules insert
-- one with its order; reader does it and settles it. Also what has changed since a checkpoint: then
-- the workspace is read for another one first.
-- rings: reader, mcp-front
-- moves: state
-- fixed: what was ordered does not change
CREATE TABLE file_look (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: messages name it
  command_seq    INTEGER NOT NULL REFERENCES command (seq), -- fixed: the order
  what           TEXT NOT NULL CHECK (what IN ('folder', 'file', 'diff')), -- fixed
  machine        TEXT NOT NULL,             -- fixed: the machine whose reader does it
  workspace_root TEXT NOT NULL,             -- fixed
  session_seq    INTEGER REFERENCES session (seq), -- fixed: whose workspace it is; NULL: of none
  path           TEXT NOT NULL,             -- fixed: as given; '' the workspace itself
  depth          INTEGER CHECK (depth BETWEEN 1 AND 10), -- fixed: of a folder
  first_line     INTEGER CHECK (first_line > 0), -- fixed: of a file; NULL: all of it
  last_line      INTEGER CHECK (last_line >= first_line), -- fixed
  checkpoint_id  TEXT,                      -- fixed: diff: what is compared
  now_id         TEXT,                      -- fixed: diff: with this checkpoint, which is taken for it
  channel_id     TEXT,                      -- fixed: where in Slack to answer; NULL: nowhere
  thread_ts      TEXT,                      -- fixed: NULL: in the channel
  state          TEXT NOT NULL DEFAULT 'queued', -- free: see file_look_move
  claim          INTEGER NOT NULL DEFAULT 0, -- grows: number of the claim; a settle must name it
  worker_id      TEXT,                      -- free: worker.id of the claimer
  attempts       INTEGER NOT NULL DEFAULT 0, -- grows: in the claim's own commit
  content_seq    INTEGER REFERENCES content (seq), -- later, once: what was found
  is_long        INTEGER NOT NULL DEFAULT 0 CHECK (is_long IN (0, 1)), -- later, grows: too long for a message
  detail         TEXT CHECK (detail IS NULL OR json_valid(detail)), -- later, once: what is said beside it; the order's reply
  why            TEXT,                      -- later, once: why it was refused
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  settled_at     TEXT CHECK (settled_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  CHECK ((state IN ('done', 'refused')) = (settled_at IS NOT NULL)),
  CHECK ((state = 'done') = (content_seq IS NOT NULL)),
  CHECK ((state = 'done') = (detail IS NOT NULL)),
  CHECK ((state = 'refused') = (why IS NOT NULL)),
  CHECK ((what = 'diff') = (checkpoint_id IS NOT NULL)),
  CHECK ((what = 'diff') = (now_id IS NOT NULL))
) STRICT;
-- refuses: once: an order is one look
CREATE UNIQUE INDEX file_look_command ON file_look (command_seq);
CREATE INDEX file_look_queue ON file_look (machine, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX file_look_session ON file_look (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX file_look_content ON file_look (content_seq) WHERE content_seq IS NOT NULL;

-- small
-- closed
CREATE TABLE file_look_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO file_look_move VALUES
  ('', 'queued'), ('queued', 'claimed'), ('claimed', 'claimed'),
  ('claimed', 'done'), ('claimed', 'refused');
