-- What the hook of an agent's own program told us: a tool that the agent is about to use, or has used,
-- the end of a turn, a notice. The hook's call is the row of tool_call; here is what it was about and
-- what it was answered.
-- moves: decision
-- fixed: what a hook said and what it was told do not change
CREATE TABLE gate_call (
  seq          INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed: never reused (seq_floor)
  call_seq     INTEGER NOT NULL REFERENCES tool_call (seq), -- fixed: the call of the hook
  session_seq  INTEGER NOT NULL REFERENCES session (seq), -- fixed
  host         TEXT NOT NULL,               -- fixed: the agent's program: claude, codex, ...
  version      TEXT,                        -- fixed: of that program, as it or its MCP client says (gate_client);
                                            -- NULL: neither does
  helper       TEXT NOT NULL,               -- fixed: version of the program `hook`
  host_session TEXT,                        -- fixed: the host's own id of its session
  event        TEXT NOT NULL,               -- fixed: in the host's words: PreToolUse
  moment       TEXT NOT NULL CHECK (moment IN ('pre_tool', 'post_tool', 'permission', 'prompt',
                 'notification', 'stop', 'stop_failure', 'session_start', 'session_end')), -- fixed: in ours
  tool         TEXT,                        -- fixed: in the host's words: Bash
  class        TEXT CHECK (class IN ('read', 'edit', 'execute', 'network', 'mcp', 'agent', 'question',
                 'plan', 'other')),         -- fixed: what such a tool does
  tool_use_id  TEXT,                        -- fixed: the host's own id of this use
  cwd          TEXT,                        -- fixed: where the tool works
  digest       TEXT NOT NULL CHECK (length(digest) = 64), -- fixed: SHA-256 of host, tool, arguments, cwd
  pre_seq      INTEGER REFERENCES gate_call (seq), -- fixed: post_tool, permission: the row of what was allowed
  request_seq  INTEGER REFERENCES request (seq), -- fixed: what a person is asked; NULL: nobody
  transcript   TEXT,                        -- fixed: if it is about no tool: the file in which the host writes
                                            -- down what its agent does
  detail       TEXT CHECK (detail IS NULL OR json_valid(detail)), -- fixed: what else the event said: {"type": ..}
  options      TEXT CHECK (options IS NULL OR json_valid(options)), -- fixed: what may be chosen, unless that
                                            -- is plainly yes or no: as in agent_question
  parks        INTEGER NOT NULL DEFAULT 0 CHECK (parks IN (0, 1)), -- fixed: if nobody answers in time, its
                                            -- program ends, and is started again for the answer
  decision     TEXT NOT NULL DEFAULT 'open', -- free: see gate_call_move
  reason       TEXT,                        -- once: told to the agent
  created_at   TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  decided_at   TEXT CHECK (decided_at GLOB '????-??-??T??:??:??.???Z'), -- once
  took_ms      INTEGER CHECK (took_ms >= 0), -- once: from its arrival to the decision
  withheld_at  TEXT CHECK (withheld_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: denied although a
                                            -- person had approved it; reason says why
  seen         TEXT CHECK (seen IN ('same', 'differs', 'failed', 'unknown')), -- later, once: what was done,
                                            -- compared with what was allowed
  seen_at      TEXT CHECK (seen_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  seen_why     TEXT,                        -- later, once: what differs, in words
  CHECK ((decision = 'open') = (decided_at IS NULL)),
  CHECK ((seen IS NULL) = (seen_at IS NULL)),
  CHECK (decision <> 'open' OR request_seq IS NOT NULL),
  CHECK (parks = 0 OR (request_seq IS NOT NULL AND host_session IS NOT NULL AND moment = 'pre_tool')),
  CHECK (decision <> 'defer' OR parks = 1),
  CHECK (withheld_at IS NULL OR (decision = 'deny' AND request_seq IS NOT NULL))
) STRICT;
-- refuses: call: this call has such a row already
CREATE UNIQUE INDEX gate_call_call ON gate_call (call_seq);
-- refuses: used: this approval was used already; it is for one use
CREATE UNIQUE INDEX gate_call_used ON gate_call (request_seq)
  WHERE decision = 'allow' AND request_seq IS NOT NULL;
CREATE INDEX gate_call_session ON gate_call (session_seq, seq);
-- What a tool's end belongs to.
CREATE INDEX gate_call_allowed ON gate_call (session_seq, digest, seq)
  WHERE moment = 'pre_tool' AND decision = 'allow' AND seen IS NULL;
-- What its transcript says has run.
CREATE INDEX gate_call_transcript ON gate_call (session_seq, seq) WHERE transcript IS NOT NULL;
-- For retention, and for what a person is shown.
CREATE INDEX gate_call_request ON gate_call (request_seq) WHERE request_seq IS NOT NULL;
CREATE INDEX gate_call_pre ON gate_call (pre_seq) WHERE pre_seq IS NOT NULL;
-- What was not as it was allowed.
CREATE INDEX gate_call_amiss ON gate_call (seq) WHERE seen = 'differs';
CREATE INDEX gate_call_unasked ON gate_call (seq)
  WHERE moment = 'post_tool' AND pre_seq IS NULL AND class <> 'read';

-- small
-- closed
CREATE TABLE gate_call_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO gate_call_move VALUES
  ('', 'open'), ('', 'allow'), ('', 'deny'), ('', 'noted'),
  ('open', 'allow'), ('open', 'deny'), ('open', 'defer'), ('open', 'noted');

-- A file that an allowed tool writes: what it was and what it is to become.
-- fixed: what was allowed does not change
CREATE TABLE gate_file (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  gate_seq      INTEGER NOT NULL REFERENCES gate_call (seq), -- fixed
  path          TEXT NOT NULL,              -- fixed: relative to the workspace
  target        TEXT NOT NULL,              -- fixed: the file that it stands for
  original_hash TEXT NOT NULL,              -- fixed: SHA-256 when asked, or 'new_file'
  result_hash   TEXT NOT NULL,              -- fixed: SHA-256 of the result, or 'new_file' if no file is left
  seen_hash     TEXT                        -- later, once: what was found afterwards
) STRICT;
-- refuses: exists: this path is there already
CREATE UNIQUE INDEX gate_file_path ON gate_file (gate_seq, path);
