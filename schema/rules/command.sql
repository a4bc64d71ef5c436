-- What an order does. `mode` switches sessions, `pause`, `resume` and `stop` are for one; they are
-- carried out here, in the same transaction. `undo` is a job for the applier, whose end is the
-- outcome: until then there is none.

CREATE TRIGGER command_takes_effect AFTER INSERT ON command BEGIN
  UPDATE command
     SET operator_id = coalesce(NEW.operator_id, (SELECT id FROM operator WHERE is_default = 1)),
         (outcome, why, reply) = (
           SELECT o.outcome, o.why, o.reply FROM (
             SELECT 1 AS rank, 'malformed' AS outcome, 'there is no such verb' AS why, NULL AS reply
              WHERE NOT EXISTS (SELECT 1 FROM command_verb WHERE verb = NEW.verb)
             UNION ALL
             SELECT 2, 'malformed', 'created_at must look like 2026-02-08T09:30:00.123Z', NULL
              WHERE typeof(NEW.created_at) <> 'text'
                 OR NEW.created_at NOT GLOB '????-??-??T??:??:??.???Z'
             UNION ALL
             SELECT 3, 'unauthorized', 'this operator may not give orders from this source', NULL
              WHERE NOT EXISTS (
                SELECT 1 FROM source AS f JOIN operator AS p ON p.kind = f.operator_kind
                 WHERE f.name = NEW.source AND f.orders IS NOT NULL AND p.active = 1
                   AND p.id = coalesce(NEW.operator_id,
                                       (SELECT id FROM operator WHERE is_default = 1)))
             UNION ALL
             SELECT 3, 'unauthorized', 'this order may not be given from this source', NULL
               FROM source WHERE name = NEW.source AND orders NOT IN ('*', NEW.verb)
             UNION ALL
             SELECT 4, 'malformed', 'mode must be remote, local or hybrid', NULL
              WHERE NEW.verb = 'mode'
                AND coalesce(NEW.argument, '') NOT IN ('remote', 'local', 'hybrid')
             UNION ALL
             SELECT 4, 'malformed', 'stall takes on or off', NULL
              WHERE NEW.verb = 'stall' AND coalesce(NEW.argument, '') NOT IN ('on', 'off')
             UNION ALL
             SELECT 5, 'not_found', 'there is no such session', NULL
              WHERE (NEW.session_id IS NOT NULL OR NEW.verb = 'stall'
                     OR NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session'))
                AND NOT EXISTS (SELECT 1 FROM session
                                 WHERE id = NEW.session_id AND status <> 'terminated')
             UNION ALL
             SELECT 6, 'refused', NEW.argument || ' mode needs Slack, which is not configured', NULL
              WHERE NEW.verb = 'mode' AND NEW.argument <> 'local'
                AND coalesce((SELECT value FROM setting WHERE name = 'slack.configured'), 'false')
                    <> 'true'
             UNION ALL
             SELECT 6, 'refused',
                    'an agent may not leave ' || o.mode || ' mode for ' || NEW.argument
                    || ' mode (setting modes.agent_may_loosen): the operator may', NULL
               FROM (SELECT coalesce((SELECT mode FROM session WHERE id = NEW.session_id),
                                     (SELECT value FROM setting WHERE name = 'mode')) AS mode) AS o
              WHERE NEW.source = 'agent' AND NEW.verb = 'mode'
                AND (SELECT value FROM setting WHERE name = 'modes.agent_may_loosen') = 'false'
                AND CASE NEW.argument WHEN 'remote' THEN 2 WHEN 'hybrid' THEN 1 ELSE 0 END
                    < CASE o.mode WHEN 'remote' THEN 2 WHEN 'hybrid' THEN 1 ELSE 0 END
             UNION ALL
             SELECT 7, 'refused',
                    'this needs sessions that agent-intercom starts itself, which it does not do yet',
                    NULL
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'later')
             UNION ALL
             SELECT 7, 'refused', 'nothing is done to a session by ' || NEW.verb, NULL
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session')
                AND NEW.verb NOT IN ('pause', 'resume', 'stop')
             UNION ALL
             SELECT 8, 'refused', 'the session is in ' || s.mode || ' mode', NULL
               FROM session AS s
              WHERE (NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session')
                     OR NEW.verb = 'stall')
                AND s.id = NEW.session_id
                AND s.mode = (SELECT shut_in_mode FROM source WHERE name = NEW.source)
             UNION ALL
             SELECT 9, 'refused', 'the session is ' || s.status, NULL
               FROM session AS s
              WHERE s.id = NEW.session_id
                AND s.status <> CASE NEW.verb WHEN 'pause' THEN 'active' WHEN 'resume' THEN 'paused'
                                ELSE s.status END
             UNION ALL
             SELECT 10, 'done', NULL, NULL
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'read')
             UNION ALL
             SELECT 11, 'done', NULL,
                    json_object('session_id', s.id, 'previous_status', s.status, 'current_status',
                                CASE NEW.verb WHEN 'pause' THEN 'paused' WHEN 'resume' THEN 'active'
                                              WHEN 'stop' THEN 'terminated' END)
               FROM session AS s
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session')
                AND s.id = NEW.session_id
             UNION ALL
             SELECT 11, 'done', NULL,
                    json_object('session_id', s.id, 'stall_detection_enabled',
                                json(CASE NEW.argument WHEN 'on' THEN 'true' ELSE 'false' END))
               FROM session AS s WHERE NEW.verb = 'stall' AND s.id = NEW.session_id
             UNION ALL
             SELECT 12, 'not_found', 'there is no such request', NULL
              WHERE NEW.verb = 'undo' AND NOT EXISTS (SELECT 1 FROM request
                                                       WHERE id = NEW.argument)
             UNION ALL
             SELECT 13, 'refused', coalesce('this was undone already, at ' || w.undone_at,
                                            'nothing was written for this request'), NULL
               FROM (SELECT EXISTS (SELECT 1 FROM apply AS a JOIN request AS r ON r.seq = a.request_seq
                                     WHERE r.id = NEW.argument AND a.state = 'applied') AS written,
                            (SELECT a.updated_at FROM apply AS a JOIN request AS r ON r.seq = a.request_seq
                              WHERE r.id = NEW.argument AND a.state = 'undone') AS undone_at) AS w
              WHERE NEW.verb = 'undo' AND (w.written = 0 OR w.undone_at IS NOT NULL)
             UNION ALL
             SELECT 14, 'refused', 'the applier is at it already', NULL
              WHERE NEW.verb = 'undo'
                AND EXISTS (SELECT 1 FROM apply AS a JOIN request AS r ON r.seq = a.request_seq
                             WHERE r.id = NEW.argument AND a.state IN ('queued', 'claimed'))
             UNION ALL
             SELECT 15, NULL, NULL, NULL WHERE NEW.verb = 'undo'
             UNION ALL
             SELECT 16, 'done', NULL,
                    json_object('previous_mode',
                                coalesce((SELECT mode FROM session WHERE id = NEW.session_id),
                                         (SELECT value FROM setting WHERE name = 'mode'), 'local'),
                                'current_mode',
                                CASE WHEN typeof(NEW.argument) = 'text' THEN NEW.argument END)
           ) AS o ORDER BY o.rank LIMIT 1)
   WHERE seq = NEW.seq;
  UPDATE setting SET value = NEW.argument, source = 'ctl', updated_at = NEW.created_at
   WHERE name = 'mode' AND NEW.session_id IS NULL AND NEW.verb = 'mode'
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  UPDATE session SET mode = NEW.argument, updated_at = NEW.created_at
   WHERE seq IN (SELECT seq FROM session WHERE status <> 'terminated' AND NEW.session_id IS NULL
                 UNION ALL SELECT seq FROM session WHERE id = NEW.session_id)
     AND mode <> NEW.argument AND NEW.verb = 'mode'
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  -- A stop answers what its session asks, so that nobody waits for it any more.
  INSERT INTO decision (request_id, verdict, reason, operator_id, source, created_at)
  SELECT r.id, k.stop_verdict,
         CASE WHEN typeof(NEW.argument) = 'text' THEN substr(NEW.argument, 1, 65536)
              ELSE k.stop_reason END,
         NEW.operator_id, NEW.source, NEW.created_at
    FROM session AS s JOIN request AS r ON r.session_seq = s.seq
    JOIN request_kind AS k ON k.kind = r.kind
   WHERE s.id = NEW.session_id AND r.state IN ('pending', 'interrupted') AND NEW.verb = 'stop'
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done'
   ORDER BY r.seq;
  INSERT INTO pause (session_seq, operator_id, paused_at)
  SELECT s.seq, c.operator_id, NEW.created_at
    FROM command AS c JOIN session AS s ON s.id = +c.session_id
   WHERE c.seq = NEW.seq AND c.outcome = 'done' AND c.verb = 'pause';
  UPDATE session
     SET status = CASE NEW.verb WHEN 'pause' THEN 'paused' WHEN 'resume' THEN 'active'
                                WHEN 'stop' THEN 'terminated' END,
         terminated_at = CASE WHEN NEW.verb = 'stop' THEN NEW.created_at END,
         connectivity_status = CASE connectivity_status WHEN 'stalled' THEN 'online'
                               ELSE connectivity_status END,
         idle_since = CASE WHEN NEW.verb = 'resume' THEN NEW.created_at END,
         updated_at = NEW.created_at
   WHERE id = NEW.session_id
     AND NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session')
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  UPDATE session
     SET stall_paused = NEW.argument = 'off',
         connectivity_status = CASE WHEN connectivity_status = 'stalled' AND NEW.argument = 'off'
                               THEN 'online' ELSE connectivity_status END,
         idle_since = CASE WHEN NEW.argument = 'on' THEN NEW.created_at ELSE idle_since END,
         updated_at = NEW.created_at
   WHERE id = NEW.session_id AND NEW.verb = 'stall'
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  -- Who gave the order, also where it was refused. Looking changes nothing and is not told.
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT CASE WHEN typeof(c.created_at) = 'text' AND c.created_at GLOB '????-??-??T??:??:??.???Z'
              THEN c.created_at ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END,
         'command.' || c.outcome, (SELECT seq FROM session WHERE id = NEW.session_id),
         CASE WHEN typeof(c.operator_id) = 'text' THEN c.operator_id END,
         json_object('command', c.seq,
                     'verb', CASE WHEN typeof(c.verb) = 'text' THEN substr(c.verb, 1, 40) END,
                     'argument', CASE WHEN c.verb IN ('mode', 'stall', 'undo')
                                       AND typeof(c.argument) = 'text'
                                      THEN substr(c.argument, 1, 40) END,
                     'source', CASE WHEN typeof(c.source) = 'text' THEN substr(c.source, 1, 40) END,
                     'why', c.why)
    FROM command AS c
   WHERE c.seq = NEW.seq AND c.outcome IS NOT NULL
     AND NOT (c.outcome = 'done' AND c.verb IN (SELECT verb FROM command_verb WHERE does = 'read'));
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT NEW.created_at, 'undo.ordered', r.session_seq, r.seq, c.operator_id,
         json_object('source', c.source)
    FROM command AS c JOIN request AS r ON r.id = c.argument
   WHERE c.seq = NEW.seq AND c.verb = 'undo' AND c.outcome IS NULL;
  INSERT INTO apply (request_seq, machine, kind, command_seq, state, created_at, updated_at)
  SELECT r.seq, a.machine, 'undo', NEW.seq, 'queued', NEW.created_at, NEW.created_at
    FROM command AS c JOIN request AS r ON r.id = c.argument
    JOIN apply AS a ON a.request_seq = r.seq AND a.state = 'applied'
   WHERE c.seq = NEW.seq AND c.verb = 'undo' AND c.outcome IS NULL;
END;
