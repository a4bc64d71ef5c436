-- What an agent asked over its stdin and stdout, beside the request that a person sees: where the answer
-- goes. It goes to the process that asked, once; with that process the question ends.
-- fixed: a question does not become another one
CREATE TABLE agent_question (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  request_seq  INTEGER NOT NULL UNIQUE REFERENCES request (seq), -- fixed
  run_seq      INTEGER NOT NULL REFERENCES agent_run (seq), -- fixed: who asked
  rpc_id       TEXT NOT NULL,               -- fixed: the agent's id, as the JSON token that it wrote
  tool_call_id TEXT,                        -- fixed: the call that it asked about
  answered_at  TEXT CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: the agent is told
  withdrawn_at TEXT CHECK (withdrawn_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: no answer is needed
  why          TEXT,                        -- later, once: it is not, in words
  CHECK (answered_at IS NULL OR withdrawn_at IS NULL)
) STRICT;
CREATE INDEX agent_question_open ON agent_question (run_seq)
  WHERE answered_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX agent_question_run ON agent_question (run_seq); -- for retention
