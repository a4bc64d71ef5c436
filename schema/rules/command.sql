-- What an order does. `mode` switches sessions; it is carried out here, in the same transaction.
-- `undo` is a job for the applier, whose end is the outcome: until then there is none.

CREATE TRIGGER command_is_born BEFORE INSERT ON command BEGIN
  SELECT RAISE(ABORT, 'command: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM command WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'command: outcome: outcome, reply and why are found here, not given')
   WHERE NEW.outcome IS NOT NULL OR NEW.reply IS NOT NULL OR NEW.why IS NOT NULL;
END;

CREATE TRIGGER command_takes_effect AFTER INSERT ON command BEGIN
  UPDATE command
     SET operator_id = coalesce(NEW.operator_id, (SELECT id FROM operator WHERE is_default = 1)),
         (outcome, why, reply) = (
           SELECT o.outcome, o.why, o.reply FROM (
             SELECT 1 AS rank, 'malformed' AS outcome, 'verb must be mode or undo' AS why,
                    NULL AS reply
              WHERE NEW.verb IS NOT 'mode' AND NEW.verb IS NOT 'undo'
             UNION ALL
             SELECT 2, 'malformed', 'created_at must look like 2026-02-08T09:30:00.123Z', NULL
              WHERE typeof(NEW.created_at) <> 'text'
                 OR NEW.created_at NOT GLOB '????-??-??T??:??:??.???Z'
             UNION ALL
             SELECT 3, 'unauthorized', 'this operator may not give orders from this source', NULL
              WHERE NOT EXISTS (
                SELECT 1 FROM operator AS p
                 WHERE p.id = coalesce(NEW.operator_id,
                                       (SELECT id FROM operator WHERE is_default = 1))
                   AND p.active = 1
                   AND p.kind = CASE WHEN NEW.source = 'slack' THEN 'slack'
                                     WHEN NEW.source IN ('ctl', 'sql', 'socket', 'agent')
                                     THEN 'local' END)
             UNION ALL
             SELECT 4, 'malformed', 'mode must be remote, local or hybrid', NULL
              WHERE NEW.verb = 'mode'
                AND coalesce(NEW.argument, '') NOT IN ('remote', 'local', 'hybrid')
             UNION ALL
             SELECT 5, 'not_found', 'there is no such session', NULL
              WHERE NEW.session_id IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM session
                                 WHERE id = NEW.session_id AND status <> 'terminated')
             UNION ALL
             SELECT 6, 'refused', NEW.argument || ' mode needs Slack, which is not configured', NULL
              WHERE NEW.verb = 'mode' AND NEW.argument <> 'local'
                AND coalesce((SELECT value FROM setting WHERE name = 'slack.configured'), 'false')
                    <> 'true'
             UNION ALL
             SELECT 7, 'not_found', 'there is no such request', NULL
              WHERE NEW.verb = 'undo' AND NOT EXISTS (SELECT 1 FROM request
                                                       WHERE id = NEW.argument)
             UNION ALL
             SELECT 8, 'refused', CASE w.undone WHEN 1 THEN 'this was undone already'
                                                ELSE 'nothing was written for this request' END, NULL
               FROM (SELECT EXISTS (SELECT 1 FROM apply AS a JOIN request AS r ON r.seq = a.request_seq
                                     WHERE r.id = NEW.argument AND a.state = 'applied') AS written,
                            EXISTS (SELECT 1 FROM apply AS a JOIN request AS r ON r.seq = a.request_seq
                                     WHERE r.id = NEW.argument AND a.state = 'undone') AS undone) AS w
              WHERE NEW.verb = 'undo' AND (w.written = 0 OR w.undone = 1)
             UNION ALL
             SELECT 9, 'refused', 'the applier is at it already', NULL
              WHERE NEW.verb = 'undo'
                AND EXISTS (SELECT 1 FROM apply AS a JOIN request AS r ON r.seq = a.request_seq
                             WHERE r.id = NEW.argument AND a.state IN ('queued', 'claimed'))
             UNION ALL
             SELECT 10, NULL, NULL, NULL WHERE NEW.verb = 'undo'
             UNION ALL
             SELECT 11, 'done', NULL,
                    json_object('previous_mode',
                                coalesce((SELECT mode FROM session WHERE id = NEW.session_id),
                                         (SELECT value FROM setting WHERE name = 'mode'), 'local'),
                                'current_mode',
                                CASE WHEN typeof(NEW.argument) = 'text' THEN NEW.argument END)
           ) AS o ORDER BY o.rank LIMIT 1)
   WHERE seq = NEW.seq;
  UPDATE setting SET value = NEW.argument, source = 'ctl', updated_at = NEW.created_at
   WHERE name = 'mode' AND NEW.session_id IS NULL
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  UPDATE session SET mode = NEW.argument, updated_at = NEW.created_at
   WHERE seq IN (SELECT seq FROM session WHERE status <> 'terminated' AND NEW.session_id IS NULL
                 UNION ALL SELECT seq FROM session WHERE id = NEW.session_id)
     AND mode <> NEW.argument
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT NEW.created_at, 'undo.ordered', r.session_seq, r.seq, c.operator_id,
         json_object('source', c.source)
    FROM command AS c JOIN request AS r ON r.id = c.argument
   WHERE c.seq = NEW.seq AND c.verb = 'undo' AND c.outcome IS NULL;
  INSERT INTO apply (request_seq, host, kind, command_seq, state, created_at, updated_at)
  SELECT r.seq, a.host, 'undo', NEW.seq, 'queued', NEW.created_at, NEW.created_at
    FROM command AS c JOIN request AS r ON r.id = c.argument
    JOIN apply AS a ON a.request_seq = r.seq AND a.state = 'applied'
   WHERE c.seq = NEW.seq AND c.verb = 'undo' AND c.outcome IS NULL;
END;

CREATE TRIGGER command_is_fixed BEFORE UPDATE ON command BEGIN
  SELECT RAISE(ABORT, 'command: fixed: an order is not rewritten; insert another one')
   WHERE OLD.outcome IS NOT NULL OR OLD.seq IS NOT NEW.seq OR OLD.verb IS NOT NEW.verb
      OR OLD.session_id IS NOT NEW.session_id OR OLD.argument IS NOT NEW.argument
      OR OLD.source IS NOT NEW.source OR OLD.created_at IS NOT NEW.created_at;
END;
