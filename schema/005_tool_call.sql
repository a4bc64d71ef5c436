-- Every MCP tool call: who asked what, what it waits for, what it was told.

CREATE TABLE tool_call (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never used again: event ids carry it
  connection_seq INTEGER NOT NULL REFERENCES connection (seq),
  session_seq    INTEGER NOT NULL REFERENCES session (seq),
  rpc_id         TEXT NOT NULL,             -- JSON token of the request's id, as it came
  progress_token TEXT,                      -- JSON token, where the caller wants progress
  era            TEXT NOT NULL CHECK (era IN ('legacy', 'modern')),
  tool           TEXT NOT NULL,
  arguments      TEXT,                      -- JSON
  arguments_seq  INTEGER REFERENCES content (seq), -- arguments over 2 KiB
  digest         TEXT NOT NULL,             -- SHA-256 over tool and canonical arguments
  state          TEXT NOT NULL,             -- waiting, answered, done, cancelled
  request_seq    INTEGER REFERENCES request (seq), -- what it waits for: a person's answer
  apply_seq      INTEGER REFERENCES apply (seq),   -- or a file write
  wait_until     TEXT CHECK (wait_until GLOB '????-??-??T??:??:??.???Z'), -- then it is told 'pending'
  listener       TEXT,                      -- worker.id of the front that holds the caller; NULL: nobody listens
  result         TEXT,                      -- JSON of the tool's result, once done
  result_seq     INTEGER REFERENCES content (seq), -- result over 2 KiB
  is_error       INTEGER NOT NULL DEFAULT 0 CHECK (is_error IN (0, 1)),
  told_answer    INTEGER NOT NULL DEFAULT 0 CHECK (told_answer IN (0, 1)), -- result is the person's answer, not 'pending'
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  answered_at    TEXT CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'), -- the wait ended
  finished_at    TEXT CHECK (finished_at GLOB '????-??-??T??:??:??.???Z'), -- the result was handed over
  CHECK ((state = 'done') = (finished_at IS NOT NULL)),
  CHECK (state <> 'answered' OR answered_at IS NOT NULL),
  CHECK (state <> 'waiting' OR request_seq IS NOT NULL OR apply_seq IS NOT NULL)
) STRICT;
CREATE INDEX tool_call_rpc ON tool_call (connection_seq, rpc_id);
CREATE INDEX tool_call_request ON tool_call (request_seq, seq) WHERE request_seq IS NOT NULL;
CREATE INDEX tool_call_apply ON tool_call (apply_seq) WHERE apply_seq IS NOT NULL;
CREATE INDEX tool_call_waiting_request ON tool_call (request_seq) WHERE state = 'waiting';
CREATE INDEX tool_call_waiting_apply ON tool_call (apply_seq) WHERE state = 'waiting';
CREATE INDEX tool_call_due ON tool_call (wait_until) WHERE state = 'waiting' AND wait_until IS NOT NULL;
CREATE INDEX tool_call_listener ON tool_call (listener) WHERE listener IS NOT NULL;
-- For retention: what belongs to a session, and who holds on to a text.
CREATE INDEX tool_call_session ON tool_call (session_seq);
CREATE INDEX tool_call_arguments ON tool_call (arguments_seq) WHERE arguments_seq IS NOT NULL;
CREATE INDEX tool_call_result ON tool_call (result_seq) WHERE result_seq IS NOT NULL;

-- small
CREATE TABLE tool_call_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO tool_call_move VALUES
  ('', 'waiting'), ('', 'done'), ('waiting', 'answered'), ('waiting', 'done'),
  ('waiting', 'cancelled'), ('answered', 'done'), ('answered', 'cancelled');

-- Calls whose wait has ended, in order: the front's cursor.
-- rings: mcp-front
CREATE TABLE answer (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  call_seq   INTEGER NOT NULL REFERENCES tool_call (seq),
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX answer_call ON answer (call_seq);
