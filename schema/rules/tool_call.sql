-- Legal moves of a tool call; a call whose wait has ended is appended to answer.

CREATE TRIGGER tool_call_is_born BEFORE INSERT ON tool_call BEGIN
  SELECT RAISE(ABORT, 'tool_call: exists: a row with this seq or task_id is there already')
   WHERE EXISTS (SELECT 1 FROM tool_call WHERE seq = NEW.seq)
      OR EXISTS (SELECT 1 FROM tool_call WHERE task_id = NEW.task_id);
  SELECT RAISE(ABORT, 'tool_call: move: a call is born waiting or done')
   WHERE NOT EXISTS (SELECT 1 FROM tool_call_move WHERE src = '' AND dst = NEW.state);
END;

CREATE TRIGGER tool_call_moves BEFORE UPDATE OF state ON tool_call
WHEN OLD.state <> NEW.state BEGIN
  SELECT RAISE(ABORT, 'tool_call: move: see tool_call_move for the legal moves of state')
   WHERE NOT EXISTS (SELECT 1 FROM tool_call_move WHERE src = OLD.state AND dst = NEW.state);
END;

CREATE TRIGGER tool_call_is_fixed BEFORE UPDATE ON tool_call BEGIN
  SELECT RAISE(ABORT, 'tool_call: fixed: what was called does not change')
   WHERE OLD.seq IS NOT NEW.seq OR OLD.rpc_id IS NOT NEW.rpc_id OR OLD.tool IS NOT NEW.tool
      OR OLD.arguments IS NOT NEW.arguments OR OLD.arguments_seq IS NOT NEW.arguments_seq
      OR OLD.digest IS NOT NEW.digest OR OLD.created_at IS NOT NEW.created_at
      OR OLD.connection_seq IS NOT NEW.connection_seq OR OLD.session_seq IS NOT NEW.session_seq
      OR OLD.request_seq IS NOT NEW.request_seq OR OLD.apply_seq IS NOT NEW.apply_seq
      OR OLD.task_id IS NOT NEW.task_id OR OLD.task_ttl_ms IS NOT NEW.task_ttl_ms;
END;

CREATE TRIGGER tool_call_answered AFTER UPDATE OF state ON tool_call
WHEN OLD.state = 'waiting' AND NEW.state = 'answered' BEGIN
  INSERT INTO answer (call_seq, created_at) VALUES (NEW.seq, NEW.answered_at);
END;

CREATE TRIGGER answer_is_born BEFORE INSERT ON answer BEGIN
  SELECT RAISE(ABORT, 'answer: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM answer WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'answer: unanswered: the wait of this call has not ended')
   WHERE NOT EXISTS (SELECT 1 FROM tool_call WHERE seq = NEW.call_seq AND state = 'answered');
END;

CREATE TRIGGER answer_is_fixed BEFORE UPDATE ON answer BEGIN
  SELECT RAISE(ABORT, 'answer: fixed: the cursor of the front does not change');
END;

-- What an agent tells without asking is for the timeline, and is said in Slack: a broadcast, and the
-- status_message of a ping.
CREATE TRIGGER tool_call_said AFTER INSERT ON tool_call
WHEN NEW.tool IN ('broadcast', 'ping') AND NEW.is_error = 0 BEGIN
  INSERT INTO event (at, kind, session_seq, call_seq)
  SELECT NEW.created_at, 'agent.said', NEW.session_seq, NEW.seq
   WHERE NEW.tool = 'broadcast'
      OR EXISTS (SELECT 1 FROM (
           SELECT coalesce(NEW.arguments, (SELECT CAST(bytes AS TEXT) FROM content
                                            WHERE seq = NEW.arguments_seq)) AS text) AS a
          WHERE CASE WHEN json_valid(a.text)
                     THEN json_extract(a.text, '$.status_message') END IS NOT NULL);
  INSERT INTO slack_notice (kind, session_seq, call_seq, thread_ts, at)
  SELECT 'said', NEW.session_seq, NEW.seq,
         CASE WHEN json_valid(a.text) THEN nullif(json_extract(a.text, '$.thread_ts'), '') END,
         NEW.created_at
    FROM (SELECT coalesce(NEW.arguments, (SELECT CAST(bytes AS TEXT) FROM content
                                           WHERE seq = NEW.arguments_seq)) AS text) AS a
   WHERE NEW.tool = 'broadcast'
      OR CASE WHEN json_valid(a.text)
              THEN trim(coalesce(json_extract(a.text, '$.status_message'), '')) END <> '';
END;
