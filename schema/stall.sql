-- One silence of an agent that had the turn, starting with its alert. The view stall_alert shows it
-- under the names of the original specification.
-- rings: mcp-front
-- moves: status
-- fixed: what was found does not change
CREATE TABLE stall (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused
  id                TEXT NOT NULL UNIQUE,   -- fixed: UUID; carried by the buttons in Slack
  session_seq       INTEGER NOT NULL REFERENCES session (seq), -- fixed
  status            TEXT NOT NULL DEFAULT 'pending', -- free: see stall_move
  is_there          INTEGER NOT NULL DEFAULT 1 CHECK (is_there IN (0, 1)), -- fixed: its client was
                                            -- certainly connected; otherwise it may simply have
                                            -- ended
  last_tool         TEXT,                   -- fixed: the agent's last call before the alert
  last_activity_at  TEXT NOT NULL CHECK (last_activity_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  idle_seconds      INTEGER NOT NULL CHECK (idle_seconds >= 0), -- fixed: of its own turn, at the alert
  cause             TEXT,                   -- fixed: why, as far as its hook has said
  progress_snapshot TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)), -- fixed
  nudge_count       INTEGER NOT NULL DEFAULT 0, -- grows: nudges, including those of stalls right before it
  auto_count        INTEGER NOT NULL DEFAULT 0, -- grows: of these, the watchdog's
  told_count        INTEGER NOT NULL DEFAULT 0, -- grows: of these, those where mcp-front has checked
                                            -- whether the agent has an open stream
  streamed_at       TEXT CHECK (streamed_at GLOB '????-??-??T??:??:??.???Z'), -- free: the last one was sent there
  nudge_message     TEXT,                   -- free: the last one
  nudged_by         TEXT,                   -- free: operator.id, of the last one
  waits_since       TEXT CHECK (waits_since GLOB '????-??-??T??:??:??.???Z'), -- free: the next nudge or the
                                            -- call for the operator comes escalation_threshold_seconds
                                            -- after this; NULL: nothing more comes
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  updated_at        TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'), -- free
  ended_at          TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  CHECK ((status IN ('self_recovered', 'dismissed')) = (ended_at IS NOT NULL)),
  CHECK (waits_since IS NULL OR status IN ('pending', 'nudged')),
  CHECK (is_there = 1 OR waits_since IS NULL)
) STRICT;
-- refuses: open: there is an alert for this session already
CREATE UNIQUE INDEX stall_open ON stall (session_seq) WHERE ended_at IS NULL;
CREATE INDEX stall_session ON stall (session_seq, seq);
CREATE INDEX stall_waiting ON stall (waits_since) WHERE waits_since IS NOT NULL;
CREATE INDEX stall_untold ON stall (seq) WHERE ended_at IS NULL AND told_count < nudge_count;

-- small
-- closed
CREATE TABLE stall_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO stall_move VALUES
  ('', 'pending'),
  ('pending', 'nudged'), ('pending', 'escalated'), ('pending', 'self_recovered'), ('pending', 'dismissed'),
  ('nudged', 'escalated'), ('nudged', 'self_recovered'), ('nudged', 'dismissed'),
  ('escalated', 'nudged'), ('escalated', 'self_recovered'), ('escalated', 'dismissed');
