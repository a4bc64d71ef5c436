-- What an operator says to an agent: taken if he may and if there is such an agent; delivered once.

CREATE TRIGGER steering_is_born BEFORE INSERT ON steering BEGIN
  SELECT RAISE(ABORT, 'steering: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM steering WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'steering: outcome: outcome, why and delivery are found here, not given')
   WHERE NEW.outcome IS NOT NULL OR NEW.why IS NOT NULL OR NEW.session_seq IS NOT NULL
      OR NEW.call_seq IS NOT NULL OR NEW.delivered_at IS NOT NULL;
END;

CREATE TRIGGER steering_is_judged AFTER INSERT ON steering BEGIN
  UPDATE steering
     SET operator_id = coalesce(NEW.operator_id, (SELECT id FROM operator WHERE is_default = 1)),
         session_seq = CASE WHEN NEW.kind = 'steer'
                            THEN (SELECT seq FROM session WHERE id = NEW.session_id) END,
         (outcome, why) = (
           SELECT o.outcome, o.why FROM (
             SELECT 1 AS rank, 'malformed' AS outcome, 'kind must be steer or task' AS why
              WHERE coalesce(NEW.kind, '') NOT IN ('steer', 'task')
             UNION ALL
             SELECT 2, 'malformed', 'text must be a text of 1 to 65536 characters'
              WHERE typeof(NEW.text) <> 'text' OR trim(NEW.text) = '' OR length(NEW.text) > 65536
             UNION ALL
             SELECT 3, 'malformed', 'created_at must look like 2026-02-08T09:30:00.123Z'
              WHERE typeof(NEW.created_at) <> 'text'
                 OR NEW.created_at NOT GLOB '????-??-??T??:??:??.???Z'
             UNION ALL
             SELECT 4, 'malformed', 'source must be ctl, sql, socket or slack'
              WHERE coalesce(NEW.source, '') NOT IN ('ctl', 'sql', 'socket', 'slack')
             UNION ALL
             SELECT 5, 'unauthorized', 'this operator may not steer from this source'
              WHERE NOT EXISTS (
                SELECT 1 FROM operator AS p
                 WHERE p.id = coalesce(NEW.operator_id,
                                       (SELECT id FROM operator WHERE is_default = 1))
                   AND p.active = 1
                   AND p.kind = CASE WHEN NEW.source = 'slack' THEN 'slack' ELSE 'local' END)
             UNION ALL
             SELECT 6, 'not_found', 'there is no such session'
              WHERE NEW.kind = 'steer'
                AND NOT EXISTS (SELECT 1 FROM session
                                 WHERE id = NEW.session_id AND status <> 'terminated')
             UNION ALL
             SELECT 7, 'not_in_this_mode', 'the session is in ' || s.mode || ' mode'
               FROM session AS s
              WHERE NEW.kind = 'steer' AND s.id = NEW.session_id
                AND s.mode = CASE WHEN NEW.source = 'slack' THEN 'local' ELSE 'remote' END
             UNION ALL
             SELECT 8, 'accepted', NULL
           ) AS o ORDER BY o.rank LIMIT 1)
   WHERE seq = NEW.seq;
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT CASE WHEN typeof(d.created_at) = 'text' AND d.created_at GLOB '????-??-??T??:??:??.???Z'
              THEN d.created_at ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END,
         'steering.' || d.outcome, d.session_seq,
         CASE WHEN typeof(d.operator_id) = 'text' THEN d.operator_id END,
         json_object('steering', d.seq,
                     'source', CASE WHEN typeof(d.source) = 'text' THEN substr(d.source, 1, 40) END,
                     'why', d.why)
    FROM steering AS d WHERE d.seq = NEW.seq;
END;

CREATE TRIGGER steering_is_fixed BEFORE UPDATE ON steering BEGIN
  SELECT RAISE(ABORT, 'steering: fixed: what was said is not rewritten; say something else')
   WHERE OLD.seq IS NOT NEW.seq OR OLD.kind IS NOT NEW.kind OR OLD.session_id IS NOT NEW.session_id
      OR OLD.channel_id IS NOT NEW.channel_id OR OLD.text IS NOT NEW.text
      OR OLD.source IS NOT NEW.source OR OLD.created_at IS NOT NEW.created_at
      OR (OLD.outcome IS NOT NULL
          AND (OLD.outcome IS NOT NEW.outcome OR OLD.why IS NOT NEW.why
               OR OLD.operator_id IS NOT NEW.operator_id))
      OR (OLD.session_seq IS NOT NULL AND OLD.session_seq IS NOT NEW.session_seq);
  SELECT RAISE(ABORT, 'steering: delivered: an agent is told once')
   WHERE OLD.delivered_at IS NOT NULL
     AND (OLD.delivered_at IS NOT NEW.delivered_at OR OLD.call_seq IS NOT NEW.call_seq);
  SELECT RAISE(ABORT, 'steering: undeliverable: it was not accepted, or is for nobody yet')
   WHERE OLD.delivered_at IS NULL AND NEW.delivered_at IS NOT NULL
     AND (OLD.outcome IS NOT 'accepted' OR OLD.session_seq IS NULL);
  SELECT RAISE(ABORT, 'steering: order: something was said before that is not delivered yet')
   WHERE OLD.delivered_at IS NULL AND NEW.delivered_at IS NOT NULL
     AND EXISTS (SELECT 1 FROM steering
                  WHERE session_seq = OLD.session_seq AND seq < OLD.seq
                    AND outcome = 'accepted' AND delivered_at IS NULL);
END;
