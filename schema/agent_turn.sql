-- What an agent that we started says and does, turn by turn. Slack's thread, `watch` and
-- `transcript` are made from these rows; they are written whether or not anybody looks.

-- A turn: from a prompt to its end. An agent may also begin one by itself.
-- fixed: a turn does not become another one
CREATE TABLE agent_turn (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: buttons in Slack carry it
  run_seq      INTEGER NOT NULL REFERENCES agent_run (seq), -- fixed
  number       INTEGER NOT NULL CHECK (number > 0), -- fixed: 1 is the first of its run
  input_seq    INTEGER REFERENCES agent_input (seq), -- fixed: what the agent was told; NULL: it began by
                                            -- itself
  began_at     TEXT NOT NULL CHECK (began_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  stop         TEXT CHECK (stop IN (        -- later, once: how the agent ended it; NULL: it did not
    'end_turn', 'max_turn_requests', 'max_tokens', 'refusal', 'cancelled', 'error', 'other')),
  why          TEXT,                        -- later, once: of an error, in words
  ended_at     TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  followed_at  TEXT CHECK (followed_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: since when it is
                                            -- decided what comes next
  followed_by  INTEGER,                     -- later, once: steering.seq of the words that come next
  shown_at     TEXT CHECK (shown_at GLOB '????-??-??T??:??:??.???Z'), -- later: when its activity
                                            -- was last to be shown in Slack
  CHECK (stop IS NULL OR ended_at IS NOT NULL),
  CHECK (followed_by IS NULL OR followed_at IS NOT NULL)
) STRICT;
-- refuses: number: this run has a turn of this number already
CREATE UNIQUE INDEX agent_turn_run ON agent_turn (run_seq, number);
-- refuses: input: a prompt begins one turn
CREATE UNIQUE INDEX agent_turn_input ON agent_turn (input_seq) WHERE input_seq IS NOT NULL;

-- The kinds of lines, and the messages in Slack that show them.
-- small
-- closed
CREATE TABLE agent_line_kind (
  kind TEXT NOT NULL PRIMARY KEY,
  part TEXT                                 -- slack_part.kind; NULL: none
) STRICT;
INSERT INTO agent_line_kind VALUES
  ('text', 'agent'),     -- what the agent says, in whole paragraphs
  ('status', 'agent'),   -- what it says about what it does
  ('note', 'agent'),     -- what its runner says about it; detail: {"paused": true}: it asks whether the session is
                         -- to go on; {"waits": true}: an answered one waits for a place or a budget
  ('tool', 'activity'),  -- text: the title of a call of its own; detail: kind, status, path
  ('plan', 'activity'),  -- detail: its plan as it is now, [{"label", "status"}]
  ('turn', 'turn');      -- the end of a turn; detail: stop, as agent_turn has it; text: of an error

-- One thing that an agent said or did, in order. What goes on, such as a call of a tool, is one
-- row that changes until it is over.
-- rings: agent-intercom-ctl
-- fixed: what was said is not rewritten
CREATE TABLE agent_line (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: messages in Slack name it
  run_seq  INTEGER NOT NULL REFERENCES agent_run (seq), -- fixed
  turn_seq INTEGER REFERENCES agent_turn (seq), -- fixed: NULL: before the first turn
  kind     TEXT NOT NULL,                   -- fixed: see agent_line_kind
  key      TEXT,                            -- fixed: what goes on: which one, as the agent calls it
  text     TEXT,                            -- until over_at
  detail   TEXT CHECK (detail IS NULL OR json_valid(detail)), -- until over_at
  at       TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  over_at  TEXT CHECK (over_at GLOB '????-??-??T??:??:??.???Z'), -- once: it does not change any more
  CHECK (key IS NOT NULL OR over_at IS NOT NULL)
) STRICT;
CREATE INDEX agent_line_run ON agent_line (run_seq, seq);
CREATE INDEX agent_line_turn ON agent_line (turn_seq) WHERE turn_seq IS NOT NULL; -- for retention
-- refuses: key: this turn has a line about that already
CREATE UNIQUE INDEX agent_line_key ON agent_line (turn_seq, kind, key) WHERE key IS NOT NULL;
