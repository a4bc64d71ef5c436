-- What the agent of a run says that it has used, by day. Nothing is here of what an agent does not
-- say; what is 0 was never said.
-- fixed: usage is added to, not rewritten
CREATE TABLE agent_usage (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  run_seq       INTEGER NOT NULL REFERENCES agent_run (seq), -- fixed
  day           TEXT NOT NULL CHECK (day GLOB '????-??-??'), -- fixed: in the calendar of its machine
  input_tokens  INTEGER NOT NULL DEFAULT 0, -- grows
  output_tokens INTEGER NOT NULL DEFAULT 0, -- grows
  total_tokens  INTEGER NOT NULL DEFAULT 0, -- grows: with those that were cached
  cost_micros   INTEGER NOT NULL DEFAULT 0, -- grows: in millionths of the currency
  currency      TEXT,                       -- once: ISO 4217
  context_used  INTEGER,                    -- free: tokens in the context, as last said
  context_size  INTEGER,                    -- free: and how many fit
  updated_at    TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z') -- free
) STRICT;
-- refuses: day: this run has a row of this day already
CREATE UNIQUE INDEX agent_usage_run ON agent_usage (run_seq, day);
CREATE INDEX agent_usage_day ON agent_usage (day);
