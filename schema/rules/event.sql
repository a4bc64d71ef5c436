-- The timeline only grows at its end; at its start, retention cuts off what is sealed.

-- A number that is given with the row may be before what is sealed, or so high that later events could not be sealed.
CREATE TRIGGER event_comes_last BEFORE INSERT ON event WHEN NEW.seq > 0 BEGIN
  SELECT RAISE(ABORT, 'event: numbered: leave out its seq, it gets the next one');
END;

CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN
  SELECT RAISE(ABORT, 'event: stays: the timeline is cut only by retention, at its beginning')
   WHERE OLD.seq > coalesce((SELECT max(upto) FROM audit_cut), 0)
      OR NOT EXISTS (SELECT 1 FROM seal WHERE seq = OLD.seq)
      OR EXISTS (SELECT 1 FROM event WHERE seq < OLD.seq);
END;

-- What happened, oldest first, with the names that people use.
CREATE VIEW timeline AS
SELECT e.seq, e.at, e.kind, e.actor, s.id AS session_id, r.id AS request_id,
       coalesce(r.title, CASE WHEN e.kind = 'agent.said' AND json_valid(t.arguments) THEN
         coalesce(json_extract(t.arguments, '$.message'),
                  json_extract(t.arguments, '$.status_message')) END) AS title,
       r.file_path, e.detail,
       -- Of the call itself, or of the newest that asked.
       (SELECT traceparent FROM tool_call
         WHERE seq = coalesce(e.call_seq, (SELECT max(seq) FROM tool_call
                                            WHERE request_seq = e.request_seq))) AS traceparent,
       s.agent_user
  FROM event AS e
  LEFT JOIN session AS s ON s.seq = e.session_seq
  LEFT JOIN request AS r ON r.seq = e.request_seq
  LEFT JOIN (SELECT c.seq, coalesce(c.arguments, (SELECT CAST(bytes AS TEXT) FROM content
                                                   WHERE seq = c.arguments_seq)) AS arguments
               FROM tool_call AS c) AS t ON t.seq = e.call_seq;
