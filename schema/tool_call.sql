-- Every MCP tool call: who asked what, what it waits for, what it was told.
--
-- With a task_id it is a task (MCP extension io.modelcontextprotocol/tasks): answered at once, its
-- client fetches the result with tasks/get.
-- moves: state
-- fixed: what was called does not change
CREATE TABLE tool_call (
  seq            INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed: never reused (seq_floor): event ids carry it
  connection_seq INTEGER NOT NULL REFERENCES connection (seq), -- fixed
  session_seq    INTEGER NOT NULL REFERENCES session (seq), -- fixed
  rpc_id         TEXT NOT NULL,             -- fixed: JSON token of the request's id, canonical
  progress_token TEXT,                      -- fixed: JSON token, if the caller wants progress
  traceparent    TEXT,                      -- fixed: W3C Trace Context of its client, version 00;
                                            -- NULL: it sent none, or a malformed one
  era            TEXT NOT NULL CHECK (era IN ('legacy', 'modern')), -- fixed
  tool           TEXT NOT NULL,             -- fixed
  arguments      TEXT,                      -- fixed: JSON
  arguments_seq  INTEGER REFERENCES content (seq), -- fixed: arguments over 2 KiB
  digest         TEXT NOT NULL,             -- fixed: SHA-256 of tool and canonical arguments
  task_id        TEXT,                      -- fixed: unguessable: it suffices to fetch the result;
                                            -- NULL: the call itself waits
  task_ttl_ms    INTEGER,                   -- fixed: promised to the client, since created_at; NULL: no end
  state          TEXT NOT NULL,             -- free: see tool_call_move
  request_seq    INTEGER REFERENCES request (seq), -- fixed: what it waits for: a person's answer
  apply_seq      INTEGER REFERENCES apply (seq),   -- fixed: or a file write
  wait_until     TEXT CHECK (wait_until GLOB '????-??-??T??:??:??.???Z'), -- free: then it is told 'pending'
  listener       TEXT,                      -- free: worker.id of the front that holds the caller; NULL: nobody listens
  result         TEXT,                      -- free: JSON of the tool's result, once done
  result_seq     INTEGER REFERENCES content (seq), -- free: result over 2 KiB
  is_error       INTEGER NOT NULL DEFAULT 0 CHECK (is_error IN (0, 1)), -- free
  told_answer    INTEGER NOT NULL DEFAULT 0 CHECK (told_answer IN (0, 1)), -- free: result is the person's answer, not 'pending'
  taken_back     INTEGER NOT NULL DEFAULT 0 CHECK (taken_back IN (0, 1)), -- free: its client cancelled it after
                                            -- its result had been sent
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  answered_at    TEXT CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'), -- free: the wait ended
  finished_at    TEXT CHECK (finished_at GLOB '????-??-??T??:??:??.???Z'), -- once: the result was sent
  CHECK ((state = 'done') = (finished_at IS NOT NULL)),
  CHECK (state <> 'answered' OR answered_at IS NOT NULL),
  CHECK (state <> 'waiting' OR request_seq IS NOT NULL OR apply_seq IS NOT NULL),
  CHECK (traceparent IS NULL
         OR (traceparent GLOB '00-????????????????????????????????-????????????????-??'
             AND traceparent NOT GLOB '*[^-0-9a-f]*' AND traceparent NOT GLOB '*-*-*-*-*'
             AND traceparent NOT GLOB '*-00000000000000000000000000000000-*'
             AND traceparent NOT GLOB '*-0000000000000000-*'))
) STRICT;
-- refuses: exists: a row with this seq or task_id is there already
CREATE UNIQUE INDEX tool_call_task ON tool_call (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX tool_call_rpc ON tool_call (connection_seq, rpc_id);
-- Those of a request or a write are few: which of them waits needs no index of its own.
CREATE INDEX tool_call_request ON tool_call (request_seq, seq) WHERE request_seq IS NOT NULL;
CREATE INDEX tool_call_apply ON tool_call (apply_seq) WHERE apply_seq IS NOT NULL;
-- What is open; statements that end a call end its listener, too.
CREATE INDEX tool_call_open ON tool_call (session_seq) WHERE state IN ('waiting', 'answered');
CREATE INDEX tool_call_due ON tool_call (wait_until) WHERE state = 'waiting' AND wait_until IS NOT NULL;
CREATE INDEX tool_call_taken_back ON tool_call (connection_seq) WHERE taken_back = 1;
-- For retention: rows of a session, and references to a text.
CREATE INDEX tool_call_session ON tool_call (session_seq);
CREATE INDEX tool_call_arguments ON tool_call (arguments_seq) WHERE arguments_seq IS NOT NULL;
CREATE INDEX tool_call_result ON tool_call (result_seq) WHERE result_seq IS NOT NULL;

-- small
-- closed
CREATE TABLE tool_call_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO tool_call_move VALUES
  ('', 'waiting'), ('', 'done'), ('waiting', 'answered'), ('waiting', 'done'),
  ('waiting', 'cancelled'), ('answered', 'done'), ('answered', 'cancelled');
