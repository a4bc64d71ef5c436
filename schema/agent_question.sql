-- What an agent asked over its stdin and stdout, in addition to the request that a person sees:
-- where the answer goes. It goes to the process that asked, once; when that process ends, so does
-- the question.
-- fixed: a question does not become another one
CREATE TABLE agent_question (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  request_seq  INTEGER NOT NULL UNIQUE REFERENCES request (seq), -- fixed
  run_seq      INTEGER NOT NULL REFERENCES agent_run (seq), -- fixed: the asker
  rpc_id       TEXT NOT NULL,               -- fixed: the agent's id, as the JSON token that it sent
  tool_call_id TEXT,                        -- fixed: the call that it is about
  options      TEXT CHECK (options IS NULL OR json_valid(options)), -- fixed: what may be chosen, if more
                                            -- than one yes and one no: JSON [{id, name, kind}]
  answered_at  TEXT CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: the agent is told
  withdrawn_at TEXT CHECK (withdrawn_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: no answer is needed
  why          TEXT,                        -- later, once: why not, in words
  CHECK (answered_at IS NULL OR withdrawn_at IS NULL)
) STRICT;
CREATE INDEX agent_question_open ON agent_question (run_seq)
  WHERE answered_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX agent_question_run ON agent_question (run_seq); -- for retention
