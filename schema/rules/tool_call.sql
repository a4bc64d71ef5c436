-- A call whose wait has ended is appended to ended_call.

CREATE TRIGGER tool_call_answered AFTER UPDATE OF state ON tool_call
WHEN OLD.state = 'waiting' AND NEW.state = 'answered' BEGIN
  INSERT INTO ended_call (call_seq, created_at) VALUES (NEW.seq, NEW.answered_at);
END;

CREATE TRIGGER ended_call_is_due BEFORE INSERT ON ended_call BEGIN
  SELECT RAISE(ABORT, 'ended_call: unanswered: the wait of this call has not ended')
   WHERE NOT EXISTS (SELECT 1 FROM tool_call WHERE seq = NEW.call_seq AND state = 'answered');
END;

-- What an agent reports unasked goes to the timeline and to Slack: a broadcast, and the
-- status_message of a ping. (Most pings say nothing.) And no call has the seq of an earlier one.
CREATE TRIGGER tool_call_came AFTER INSERT ON tool_call
WHEN NEW.tool IN ('broadcast', 'ping') AND NEW.is_error = 0 AND NEW.arguments IS NOT '{}'
  OR NEW.seq <= (SELECT seq FROM seq_floor WHERE noun = 'tool_call') BEGIN
  SELECT RAISE(ABORT, 'tool_call: given: a row that was deleted had this seq; take that of tool_call_next')
   WHERE NEW.seq <= (SELECT seq FROM seq_floor WHERE noun = 'tool_call');
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
