-- Agents that went silent while it was their turn: since when, the alert, and what was done about it.

-- Since when it is the agent's turn. Set by its calls and by whatever may give it the turn; NULL once
-- the watchdog has found that it is somebody else's (an open question, a call that waits, a pause), or
-- that all was done which silence leads to.
ALTER TABLE session ADD COLUMN idle_since TEXT CHECK (idle_since GLOB '????-??-??T??:??:??.???Z');
CREATE INDEX session_idle ON session (idle_since) WHERE idle_since IS NOT NULL;
CREATE INDEX tool_call_waiting_session ON tool_call (session_seq) WHERE state = 'waiting';

-- One silence of a session, from its alert on. The seeds' table stall_alert is a view of it.
-- rings: mcp-front
CREATE TABLE stall (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never used again
  id                TEXT NOT NULL UNIQUE,   -- UUID; what the buttons in Slack carry
  session_seq       INTEGER NOT NULL REFERENCES session (seq),
  status            TEXT NOT NULL DEFAULT 'pending', -- see stall_move
  last_tool         TEXT,                   -- what the agent called last, as of the alert
  last_activity_at  TEXT NOT NULL CHECK (last_activity_at GLOB '????-??-??T??:??:??.???Z'),
  idle_seconds      INTEGER NOT NULL CHECK (idle_seconds >= 0), -- of its own turn, as of the alert
  progress_snapshot TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)),
  nudge_count       INTEGER NOT NULL DEFAULT 0, -- nudges, with those of stalls right before this one
  auto_count        INTEGER NOT NULL DEFAULT 0, -- of these, the watchdog's
  told_count        INTEGER NOT NULL DEFAULT 0, -- of these, said on the agent's open stream
  nudge_message     TEXT,                   -- the last one
  nudged_by         TEXT,                   -- operator.id, of the last one
  waits_since       TEXT CHECK (waits_since GLOB '????-??-??T??:??:??.???Z'), -- the next nudge, or the
                                            -- call for the operator, comes so and so long after this;
                                            -- NULL: nothing more comes
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at        TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at          TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((status IN ('self_recovered', 'dismissed')) = (ended_at IS NOT NULL)),
  CHECK (waits_since IS NULL OR status IN ('pending', 'nudged'))
) STRICT;
CREATE UNIQUE INDEX stall_open ON stall (session_seq) WHERE ended_at IS NULL;
CREATE INDEX stall_session ON stall (session_seq, seq);
CREATE INDEX stall_waiting ON stall (waits_since) WHERE waits_since IS NOT NULL;
CREATE INDEX stall_untold ON stall (seq) WHERE ended_at IS NULL AND told_count < nudge_count;

-- small
CREATE TABLE stall_move (
  src TEXT NOT NULL, -- '' = birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO stall_move VALUES
  ('', 'pending'),
  ('pending', 'nudged'), ('pending', 'escalated'), ('pending', 'self_recovered'), ('pending', 'dismissed'),
  ('nudged', 'escalated'), ('nudged', 'self_recovered'), ('nudged', 'dismissed'),
  ('escalated', 'nudged'), ('escalated', 'self_recovered'), ('escalated', 'dismissed');

-- A nudge is steering of kind 'nudge'.
ALTER TABLE steering ADD COLUMN stall_seq INTEGER REFERENCES stall (seq); -- the silence that it was to end
CREATE INDEX steering_stall ON steering (stall_seq) WHERE stall_seq IS NOT NULL;

INSERT INTO slack_part VALUES
  ('nudged', 'post', 5, 6, 0),    -- the watchdog has nudged; detail: alert_id, nudge
  ('escalated', 'post', 3, 2, 0); -- nudges did not help: everybody is called; detail: alert_id
CREATE INDEX slack_message_stall ON slack_message (session_seq, seq)
  WHERE kind IN ('stall', 'escalated');

-- `stall on|off` of a session.
INSERT INTO command_verb VALUES ('stall', 'switch');
