-- What an agent that a runner talks to is told unasked: each row is one prompt. It is sent once: the
-- row says so before the bytes go. What a crash left in doubt, or unsent, is repeated as such to
-- the next run.
-- fixed: what an agent is told does not change
CREATE TABLE agent_input (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  session_seq  INTEGER NOT NULL REFERENCES session (seq), -- fixed
  kind         TEXT NOT NULL CHECK (kind IN ( -- fixed
    'task',                                 -- what its session was started for
    'return',                               -- to an agent that is back: where it was, what it missed
    'decision',                             -- an answer to a process that had ended
    'words',                                -- what the operator said beside an answer
    'steer')),                              -- a row of steering
  text         TEXT,                        -- fixed: NULL: that of the row of steering
  steering_seq INTEGER UNIQUE REFERENCES steering (seq), -- fixed
  request_seq  INTEGER REFERENCES request (seq), -- fixed: of words: what they answered
  run_seq      INTEGER REFERENCES agent_run (seq), -- later, once: whose agent was sent it
  sent_at      TEXT CHECK (sent_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: on disk before the bytes go
  ended_at     TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: the turn that it began is over
  told_in      INTEGER REFERENCES agent_input (seq), -- later, once: the prompt of a later run that repeats it
  created_at   TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  CHECK ((text IS NULL) = (kind = 'steer')),
  CHECK ((steering_seq IS NULL) = (kind <> 'steer')),
  CHECK (request_seq IS NULL OR kind = 'words'),
  CHECK ((run_seq IS NULL) = (sent_at IS NULL)),
  CHECK (ended_at IS NULL OR sent_at IS NOT NULL)
) STRICT;
CREATE INDEX agent_input_session ON agent_input (session_seq, seq);
-- What is to be sent, and what a turn has not ended of.
CREATE INDEX agent_input_open ON agent_input (session_seq, seq) WHERE ended_at IS NULL AND told_in IS NULL;
CREATE INDEX agent_input_run ON agent_input (run_seq) WHERE run_seq IS NOT NULL;
CREATE INDEX agent_input_told ON agent_input (told_in) WHERE told_in IS NOT NULL; -- for retention
CREATE INDEX agent_input_request ON agent_input (request_seq) WHERE request_seq IS NOT NULL; -- likewise
