-- What an agent asked over its stdin and stdout, in addition to the request that a person sees:
-- where the answer goes. It goes to the process that asked, once. When that process is interrupted,
-- the request can still be answered: the next run is told, or asks the same again.
-- fixed: a question does not become another one
CREATE TABLE agent_question (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  request_seq  INTEGER NOT NULL REFERENCES request (seq), -- fixed
  run_seq      INTEGER NOT NULL REFERENCES agent_run (seq), -- fixed: the asker
  rpc_id       TEXT NOT NULL,               -- fixed: the agent's id, as the JSON token that it sent
  tool_call_id TEXT,                        -- fixed: the call that it is about
  options      TEXT CHECK (options IS NULL OR json_valid(options)), -- fixed: what may be chosen, unless that
                                            -- is one yes and one no that are called so: JSON [{id, name, kind}]
  form         TEXT CHECK (form IS NULL OR json_valid(form)), -- fixed: the fields to be filled in: JSON
                                            -- [{name, title, kind, required, choices}]
  digest       TEXT NOT NULL CHECK (length(digest) = 64), -- fixed: SHA-256 of what is asked, whoever asks
  answered_at  TEXT CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: the agent is told
  withdrawn_at TEXT CHECK (withdrawn_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: no answer is needed
  why          TEXT,                        -- later, once: why not, in words
  told_seq     INTEGER REFERENCES agent_input (seq), -- later, once: the prompt that told a later run of
                                            -- the decision
  CHECK (answered_at IS NULL OR withdrawn_at IS NULL)
) STRICT;
CREATE INDEX agent_question_open ON agent_question (run_seq)
  WHERE answered_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX agent_question_run ON agent_question (run_seq);
-- refuses: open: a process waits for the answer to this request already
CREATE UNIQUE INDEX agent_question_request ON agent_question (request_seq)
  WHERE answered_at IS NULL AND withdrawn_at IS NULL;
-- For retention: references to a row.
CREATE INDEX agent_question_of ON agent_question (request_seq);
CREATE INDEX agent_question_told ON agent_question (told_seq) WHERE told_seq IS NOT NULL;
