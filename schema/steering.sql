-- What an operator says to an agent unasked. It reaches the agent once, in order, with the result
-- of its next tool call, or on its stdin if a runner talks to it.
--
-- An INSERT never fails because of its content. By hand, two columns are enough:
--   INSERT INTO steering (session_id, text) VALUES ('0190…', 'leave the tests alone');
-- rings: runner
-- fixed: what was said is not rewritten; say something else
CREATE TABLE steering (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  kind         ANY DEFAULT 'steer',         -- fixed: steer: to a session; task: to the next one that begins;
                                            -- nudge: to a silent session
  session_id   ANY,                         -- fixed: session.id (steer, nudge)
  channel_id   ANY,                         -- fixed: task: only for a session of this channel; NULL: any
  text         ANY,                         -- until outcome
  operator_id  ANY,                         -- until outcome: operator.id; NULL: the default operator
  source       ANY DEFAULT 'sql',           -- fixed: source.name
  created_at   ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), -- fixed
  session_seq  INTEGER REFERENCES session (seq), -- later, until delivered_at: who gets it: the session that
                                            -- it was said to or, if its agent is gone, the next one
                                            -- of its workspace; for a task NULL until a session
                                            -- begins
  stall_seq    INTEGER REFERENCES stall (seq), -- later, until outcome: nudge: the silence that it should end
  call_seq     INTEGER REFERENCES tool_call (seq), -- later: the call whose result carried it; without
                                            -- delivered_at, its arrival is in doubt
  run_seq      INTEGER REFERENCES agent_run (seq), -- later, once: the run whose agent was told on its stdin
  delivered_at TEXT CHECK (delivered_at GLOB '????-??-??T??:??:??.???Z'), -- later
  outcome      TEXT CHECK (outcome IN ('accepted', 'unauthorized', 'not_found', 'not_in_this_mode', -- later, once
                           'malformed')),
  why          TEXT,                        -- later, until outcome: in words, if it was not accepted
  CHECK (delivered_at IS NULL OR call_seq IS NOT NULL OR run_seq IS NOT NULL)
) STRICT;
CREATE INDEX steering_waiting ON steering (session_seq, seq)
  WHERE outcome = 'accepted' AND delivered_at IS NULL;
CREATE INDEX steering_task ON steering (seq)
  WHERE outcome = 'accepted' AND session_seq IS NULL;
-- What a later session may have to be told.
CREATE INDEX steering_left ON steering (session_seq)
  WHERE outcome = 'accepted' AND delivered_at IS NULL AND source <> 'clock';
CREATE INDEX steering_call ON steering (call_seq, seq) WHERE call_seq IS NOT NULL;
CREATE INDEX steering_session ON steering (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX steering_run ON steering (run_seq) WHERE run_seq IS NOT NULL;
CREATE INDEX steering_stall ON steering (stall_seq) WHERE stall_seq IS NOT NULL;
