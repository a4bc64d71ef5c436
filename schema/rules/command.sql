-- What an order does. `mode` switches sessions; it is carried out here, in the same transaction.

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
             SELECT 1 AS rank, 'malformed' AS outcome, 'verb must be mode' AS why, NULL AS reply
              WHERE NEW.verb IS NOT 'mode'
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
              WHERE coalesce(NEW.argument, '') NOT IN ('remote', 'local', 'hybrid')
             UNION ALL
             SELECT 5, 'not_found', 'there is no such session', NULL
              WHERE NEW.session_id IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM session
                                 WHERE id = NEW.session_id AND status <> 'terminated')
             UNION ALL
             SELECT 6, 'refused', NEW.argument || ' mode needs Slack, which is not configured', NULL
              WHERE NEW.argument <> 'local'
                AND coalesce((SELECT value FROM setting WHERE name = 'slack.configured'), 'false')
                    <> 'true'
             UNION ALL
             SELECT 7, 'done', NULL,
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
END;

CREATE TRIGGER command_is_fixed BEFORE UPDATE ON command BEGIN
  SELECT RAISE(ABORT, 'command: fixed: an order is not rewritten; insert another one')
   WHERE OLD.outcome IS NOT NULL OR OLD.seq IS NOT NEW.seq OR OLD.verb IS NOT NEW.verb
      OR OLD.session_id IS NOT NEW.session_id OR OLD.argument IS NOT NEW.argument
      OR OLD.source IS NOT NEW.source OR OLD.created_at IS NOT NEW.created_at;
END;
