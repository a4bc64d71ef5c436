-- The turns of an agent that we started, and what Slack shows of them.

-- The one before is over: what came next is this one.
CREATE TRIGGER agent_turn_began AFTER INSERT ON agent_turn BEGIN
  UPDATE agent_turn
     SET ended_at = coalesce(ended_at, NEW.began_at), followed_at = coalesce(followed_at, NEW.began_at)
   WHERE run_seq = NEW.run_seq AND number = NEW.number - 1
     AND (ended_at IS NULL OR followed_at IS NULL);
END;

CREATE TRIGGER agent_turn_changed AFTER UPDATE OF ended_at, followed_at, shown_at ON agent_turn BEGIN
  INSERT INTO agent_line (run_seq, turn_seq, kind, text, detail, at, over_at)
  SELECT NEW.run_seq, NEW.seq, 'turn', NEW.why, json_object('stop', NEW.stop), NEW.ended_at, NEW.ended_at
   WHERE OLD.ended_at IS NULL AND NEW.stop IS NOT NULL;
  -- Its buttons go.
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.followed_at
   WHERE turn_seq = NEW.seq AND kind = 'turn' AND state IN ('queued', 'sent')
     AND OLD.followed_at IS NULL AND NEW.followed_at IS NOT NULL;
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.shown_at
   WHERE turn_seq = NEW.seq AND kind = 'activity' AND state IN ('queued', 'sent')
     AND NEW.shown_at IS NOT NULL AND OLD.shown_at IS NOT NEW.shown_at;
END;

CREATE TRIGGER agent_line_is_known BEFORE INSERT ON agent_line BEGIN
  SELECT RAISE(ABORT, 'agent_line: kind: see agent_line_kind for what a line can be')
   WHERE NOT EXISTS (SELECT 1 FROM agent_line_kind WHERE kind = NEW.kind);
  SELECT RAISE(ABORT, 'agent_line: turn: it is of another run')
   WHERE NEW.turn_seq IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM agent_turn WHERE seq = NEW.turn_seq AND run_seq = NEW.run_seq);
END;

-- All activity of a turn is one message, which is edited. That a stop of the system ends a turn is told
-- once for all sessions, not in each thread.
CREATE TRIGGER agent_line_said AFTER INSERT ON agent_line BEGIN
  INSERT INTO slack_notice (kind, session_seq, turn_seq, detail, at)
  SELECT k.part, r.session_seq, NEW.turn_seq,
         CASE WHEN k.part <> 'activity' THEN json_object('line', NEW.seq) END, NEW.at
    FROM agent_line_kind AS k JOIN agent_run AS r ON r.seq = NEW.run_seq
   WHERE k.kind = NEW.kind AND k.part IS NOT NULL
     AND NOT (NEW.kind = 'turn' AND r.stop_wanted_at IS NULL
              AND EXISTS (SELECT 1 FROM agent_turn
                           WHERE seq = NEW.turn_seq AND stop <> 'error'
                             AND followed_at IS NOT NULL AND followed_by IS NULL))
     AND NOT (k.part = 'activity'
              AND (NEW.turn_seq IS NULL
                   OR EXISTS (SELECT 1 FROM slack_message
                               WHERE turn_seq = NEW.turn_seq AND kind = 'activity')));
END;
