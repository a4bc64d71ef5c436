-- Legal moves of a tool call; a call whose wait has ended is appended to answer.

CREATE TRIGGER tool_call_is_born BEFORE INSERT ON tool_call BEGIN
  SELECT RAISE(ABORT, 'tool_call: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM tool_call WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'tool_call: move: a call is born waiting or done')
   WHERE NOT EXISTS (SELECT 1 FROM tool_call_move WHERE src = '' AND dst = NEW.state);
END;

CREATE TRIGGER tool_call_moves BEFORE UPDATE OF state ON tool_call
WHEN OLD.state <> NEW.state BEGIN
  SELECT RAISE(ABORT, 'tool_call: move: see tool_call_move for the legal moves of state')
   WHERE NOT EXISTS (SELECT 1 FROM tool_call_move WHERE src = OLD.state AND dst = NEW.state);
END;

CREATE TRIGGER tool_call_answered AFTER UPDATE OF state ON tool_call
WHEN OLD.state = 'waiting' AND NEW.state = 'answered' BEGIN
  INSERT INTO answer (call_seq, created_at) VALUES (NEW.seq, NEW.answered_at);
END;

-- What an agent tells without asking is for the timeline.
CREATE TRIGGER tool_call_said AFTER INSERT ON tool_call
WHEN NEW.tool IN ('broadcast', 'ping') BEGIN
  INSERT INTO event (at, kind, session_seq, call_seq)
  SELECT NEW.created_at, 'agent.said', NEW.session_seq, NEW.seq
   WHERE NEW.is_error = 0
     AND (NEW.tool = 'broadcast' OR json_extract(NEW.arguments, '$.status_message') IS NOT NULL);
END;
