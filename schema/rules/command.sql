-- What an order does. `mode` switches sessions; `pause`, `resume` and `stop` affect one. They are
-- carried out here, in the same transaction. `session-start` inserts a session and the run that a
-- runner will start; `run` inserts the run of a command, for commander. `undo` is a job for the
-- applier, a look one for reader; its end is the outcome: until then there is none.

-- What an order for a checkpoint asks for.
CREATE VIEW checkpoint_order AS
SELECT c.seq, c.session_id, c.is_text,
       CASE WHEN c.parts IS NULL THEN c.argument ELSE json_extract(c.parts, '$.label') END AS label,
       CASE WHEN c.session_id IS NULL AND json_extract(c.parts, '$.workspace') GLOB '/*'
            THEN json_extract(c.parts, '$.workspace') END AS workspace_root,
       CASE WHEN c.session_id IS NULL
            THEN (SELECT value FROM setting WHERE name = 'system.machine') END AS machine
  FROM (SELECT seq, session_id, argument, parts,
               CASE WHEN parts IS NULL THEN typeof(argument) IN ('text', 'null')
                    ELSE coalesce(json_type(parts, '$.label'), 'null') IN ('text', 'null')
                     AND coalesce(json_type(parts, '$.workspace'), 'null') IN ('text', 'null')
                    END AS is_text
          FROM (SELECT seq, session_id, argument,
                       CASE WHEN typeof(argument) = 'text' AND json_valid(argument)
                            THEN CASE WHEN json_type(argument) = 'object' THEN argument END END
                         AS parts
                  FROM command WHERE verb = 'session-checkpoint')) AS c;

-- A new id for what an order makes, with the layout of a version-7 UUID: it sorts by time, and
-- cannot be guessed.
CREATE VIEW command_fresh_id AS
SELECT t.seq, printf('%s-%s-7%s-9%s-%s', substr(t.ms, 1, 8), substr(t.ms, 9), substr(t.random, 1, 3),
                     substr(t.random, 4, 3), substr(t.random, 7, 12)) AS id
  FROM (SELECT seq, printf('%012x', strftime('%s', created_at) * 1000 + substr(created_at, 21, 3)) AS ms,
               lower(hex(randomblob(9))) AS random
          FROM command) AS t;

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
             SELECT 3, 'unauthorized',
                    coalesce((SELECT why FROM operator_fault
                               WHERE id IS coalesce(NEW.operator_id,
                                                    (SELECT id FROM operator WHERE is_default = 1))),
                             'this operator may not give orders from this source'), NULL
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
             SELECT 4, 'malformed', o.wrong, NULL
               FROM start_order AS o WHERE o.seq = NEW.seq AND o.wrong IS NOT NULL
             UNION ALL
             SELECT 4, 'malformed', o.wrong, NULL
               FROM look_order AS o WHERE o.seq = NEW.seq AND o.wrong IS NOT NULL
             UNION ALL
             SELECT 4, 'malformed',
                    CASE WHEN o.is_text = 0 THEN 'label and workspace must be text'
                         WHEN length(o.label) > 200 THEN 'a label may have 200 characters'
                         WHEN lower(trim(o.label)) = 'start'
                         THEN '`start` names the checkpoint with which a session began; another label, please'
                         ELSE 'session-checkpoint needs a session, or the absolute path of a workspace' END,
                    NULL
               FROM checkpoint_order AS o
              WHERE o.seq = NEW.seq
                AND (o.is_text = 0 OR length(o.label) > 200 OR lower(trim(o.label)) = 'start'
                     OR (NEW.session_id IS NULL AND o.workspace_root IS NULL))
             UNION ALL
             SELECT 4, 'malformed', 'run needs the alias of a command of [commands]', NULL
               FROM run_order AS o
              WHERE o.seq = NEW.seq AND coalesce(o.alias, '') = ''
             UNION ALL
             SELECT 5, 'not_found',
                    coalesce((SELECT why FROM session_over WHERE id = NEW.session_id),
                             'there is no such session'), NULL
              WHERE (NEW.session_id IS NOT NULL OR NEW.verb IN ('stall', 'session-restart')
                     OR NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session'))
                AND NOT EXISTS (SELECT 1 FROM session
                                 WHERE id = NEW.session_id
                                   AND (status <> 'terminated' OR NEW.verb = 'session-restart'
                                        OR NEW.verb IN (SELECT verb FROM command_verb
                                                         WHERE does IN ('look', 'restore'))))
             UNION ALL
             SELECT 5, 'unauthorized',
                    'this session belongs to ' || s.owner_user_id || ', who alone may '
                    || CASE NEW.verb WHEN 'run' THEN 'run commands in'
                            ELSE replace(NEW.verb, 'session-', '') END || ' it', NULL
               FROM session AS s JOIN stranger AS t ON t.session_seq = s.seq
              WHERE s.id = NEW.session_id
                AND NEW.verb IN ('pause', 'resume', 'stop', 'session-restart', 'run')
                AND t.operator_id = coalesce(NEW.operator_id,
                                             (SELECT id FROM operator WHERE is_default = 1))
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
             SELECT 6, 'refused',
                    'a system that serves several users starts no agents and no commands: they would '
                    || 'run as its own user, who may do everything', NULL
              WHERE EXISTS (SELECT 1 FROM setting WHERE name = 'shared.directory' AND value <> '')
                AND NOT EXISTS (SELECT 1 FROM setting WHERE name = 'shared.starts' AND value = 'true')
                AND (NEW.verb = 'run' OR NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'start')
                     OR (NEW.verb = 'resume' AND EXISTS (SELECT 1 FROM session WHERE id = NEW.session_id
                                                            AND origin = 'started')))
             UNION ALL
             SELECT 7, 'refused', 'this version does not have ' || NEW.verb, NULL
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'later')
             UNION ALL
             SELECT 7, 'refused', 'nothing is done to a session by ' || NEW.verb, NULL
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session')
                AND NEW.verb NOT IN ('pause', 'resume', 'stop')
             UNION ALL
             SELECT 8, 'refused',
                    'the session is in ' || s.mode || ' mode: order it '
                    || CASE s.mode WHEN 'remote' THEN 'in Slack, or switch with `mode hybrid --session '
                                   ELSE 'at its machine, or switch with `mode hybrid ' END
                    || substr(s.id, 1, 13) || '` first', NULL
               FROM session AS s
              WHERE (NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session')
                     OR NEW.verb IN ('stall', 'session-restart', 'run'))
                AND s.id = NEW.session_id
                AND s.mode = (SELECT shut_in_mode FROM source WHERE name = NEW.source)
             UNION ALL
             SELECT 9, 'refused',
                    'the session is ' || s.status
                    || coalesce(': the answer to question ' || substr(p.request_id, 1, 13)
                                || ' resumes it', ''), NULL
               FROM session AS s
               LEFT JOIN parked_session AS p
                 ON p.session_seq = s.seq AND p.is_open AND NEW.verb = 'resume'
              WHERE s.id = NEW.session_id
                AND s.status <> CASE NEW.verb WHEN 'pause' THEN 'active' WHEN 'resume' THEN 'paused'
                                ELSE s.status END
                AND NOT (NEW.verb = 'resume' AND s.status = 'interrupted' AND s.origin = 'started')
                AND NOT (NEW.verb = 'resume' AND s.status = 'parked' AND p.is_open IS NULL)
                AND NOT (NEW.verb = 'pause' AND s.status = 'parked')
                AND NOT (NEW.verb = 'pause' AND s.status = 'created' AND s.origin = 'started')
             UNION ALL
             SELECT 9, 'refused', 'its agent is being started, or runs already', NULL
               FROM session AS s JOIN agent_run AS r ON r.session_seq = s.seq AND r.ended_at IS NULL
              WHERE s.id = NEW.session_id AND NEW.verb = 'resume' AND s.status IN ('interrupted', 'parked')
             UNION ALL
             SELECT 9, 'refused', 'its agent never ran; `session-restart` starts it', NULL
               FROM session AS s
              WHERE s.id = NEW.session_id AND NEW.verb = 'resume' AND s.status = 'interrupted'
                AND NOT EXISTS (SELECT 1 FROM agent_run WHERE session_seq = s.seq)
             UNION ALL
             SELECT 9, 'refused', 'only a session that agent-intercom started can be restarted; '
                    || 'start this one''s agent where you started it before', NULL
               FROM session AS s
              WHERE s.id = NEW.session_id AND NEW.verb = 'session-restart' AND s.origin <> 'started'
             UNION ALL
             SELECT 9, 'refused', 'it was restarted already, as session ' || n.id, NULL
               FROM session AS n
              WHERE n.restart_of = NEW.session_id AND n.status <> 'terminated'
                AND NEW.verb = 'session-restart'
             UNION ALL
             SELECT 9, 'refused',
                    CASE WHEN o.wanted_agent IS NULL THEN 'there is no default agent: set default_agent or host_cli'
                         ELSE 'there is no agent ''' || o.wanted_agent || '''' END
                    || coalesce('; there are: ' || (SELECT group_concat(name, ', ')
                                                      FROM (SELECT name FROM agent ORDER BY name)), ''),
                    NULL
               FROM start_order AS o
              WHERE o.seq = NEW.seq AND o.agent IS NULL
             UNION ALL
             SELECT 10, 'refused',
                    CASE WHEN o.workspace_root IS NOT NULL
                         THEN 'agent-intercom has not run on this machine yet: start it there'
                         WHEN o.wanted_workspace IS NULL
                         THEN 'there is no workspace: set default_workspace_root'
                         ELSE 'there is no workspace ''' || substr(o.wanted_workspace, 1, 200)
                              || ''' with a path' END
                    || CASE WHEN o.workspace_root IS NULL
                            THEN coalesce('; there are: ' || (SELECT group_concat(id, ', ')
                                                               FROM configured_workspace
                                                              WHERE path IS NOT NULL), '')
                            ELSE '' END, NULL
               FROM (SELECT seq, wanted_workspace, workspace_root, machine FROM start_order
                     UNION ALL
                     SELECT seq, wanted_workspace, workspace_root, machine FROM look_order
                     UNION ALL
                     SELECT seq, wanted_workspace, workspace_root, machine FROM run_order) AS o
              WHERE o.seq = NEW.seq AND (o.workspace_root IS NULL OR o.machine IS NULL)
             UNION ALL
             -- Reading at the machine needs no permission of ours.
             SELECT 8, 'refused',
                    CASE WHEN o.session_seq IS NULL THEN 'new sessions are' ELSE 'the session is' END
                    || ' in local mode: Slack is shown no files', NULL
               FROM look_order AS o
              WHERE o.seq = NEW.seq AND o.operator_kind = 'slack' AND o.mode = 'local'
             UNION ALL
             SELECT 8, 'not_found', 'there is no such checkpoint', NULL
               FROM look_order AS o WHERE o.seq = NEW.seq AND o.is_unknown = 1
             UNION ALL
             SELECT 8, 'refused', 'this checkpoint is ' || o.state || coalesce(': ' || o.why, ''), NULL
               FROM look_order AS o WHERE o.seq = NEW.seq AND o.state <> 'done'
             UNION ALL
             SELECT 10, 'refused',
                    'no agent of this system has worked in ' || substr(o.workspace_root, 1, 300)
                    || ', and its configuration does not name that folder (default_workspace_root, '
                    || '[[workspace]]): where several users are served, no other folders are kept or '
                    || 'shown', NULL
               FROM unknown_folder AS o WHERE o.command_seq = NEW.seq
             UNION ALL
             SELECT 10, 'refused',
                    'the budget of the day (' || d.value || ') is used up: '
                    || CASE d.unit WHEN 'tokens' THEN d.used || ' tokens'
                                   ELSE printf('%.2f %s', d.used / 1000000.0, d.unit) END
                    || '. Tomorrow, or with a higher budget.day in the configuration, a session can be '
                    || 'started', NULL
               FROM day_used AS d
              WHERE d.day = date(NEW.created_at, 'localtime') AND d.used >= d.amount
                AND NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'start')
             UNION ALL
             SELECT 10, 'refused',
                    'the limit is exceeded: ' || n.live || ' sessions that agent-intercom started run'
                    || ' (setting ' || n.name || ' is ' || n.value || ')', NULL
               FROM (SELECT l.name, l.value,
                            (SELECT count(*) FROM started_session AS s
                              WHERE (l.name = 'max_concurrent_sessions' OR s.protocol_mode = 'acp')
                                AND s.seq IS NOT (SELECT seq FROM session WHERE id = NEW.session_id))
                              AS live
                       FROM setting AS l
                      WHERE l.name = 'max_concurrent_sessions'
                         OR (l.name = 'acp.max_sessions'
                             AND coalesce((SELECT protocol FROM start_order WHERE seq = NEW.seq),
                                          (SELECT protocol_mode FROM session
                                            WHERE id = NEW.session_id)) <> 'mcp')) AS n
              WHERE n.live >= CAST(n.value AS INTEGER)
                AND (NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'start')
                     OR (NEW.verb = 'resume'
                         AND EXISTS (SELECT 1 FROM session
                                      WHERE id = NEW.session_id
                                        AND status IN ('interrupted', 'parked'))))
             UNION ALL
             SELECT 9, 'not_found', 'command not found: ' || substr(o.alias, 1, 40), NULL
               FROM run_order AS o
              WHERE o.seq = NEW.seq AND o.command IS NULL
             UNION ALL
             -- So many that nobody orders them on purpose.
             SELECT 11, 'refused', 'the limit is exceeded: 100 commands wait already', NULL
              WHERE NEW.verb = 'run'
                AND (SELECT count(*) FROM alias_run AS r
                      WHERE r.machine = (SELECT machine FROM run_order WHERE seq = NEW.seq)
                        AND r.ended_at IS NULL) >= 100
             UNION ALL
             SELECT 12, 'done', NULL,
                    json_object('alias', o.alias, 'command', o.command, 'workspace_root',
                                o.workspace_root, 'session_id', o.session_id)
               FROM run_order AS o WHERE o.seq = NEW.seq
             UNION ALL
             SELECT 12, 'not_found', 'there is no such run of a command', NULL
              WHERE NEW.verb = 'run-stop'
                AND NOT EXISTS (SELECT 1 FROM alias_run WHERE seq = CAST(NEW.argument AS INTEGER))
             UNION ALL
             SELECT 13, 'refused', 'it has ended already, at ' || r.ended_at, NULL
               FROM alias_run AS r
              WHERE NEW.verb = 'run-stop' AND r.seq = CAST(NEW.argument AS INTEGER)
                AND r.ended_at IS NOT NULL
             UNION ALL
             SELECT 14, 'done', NULL, json_object('run', r.seq, 'alias', r.alias)
               FROM alias_run AS r
              WHERE NEW.verb = 'run-stop' AND r.seq = CAST(NEW.argument AS INTEGER)
             UNION ALL
             SELECT 10, 'done', NULL, NULL
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'read')
             UNION ALL
             SELECT 11, 'done', NULL,
                    json_object('session_id', s.id, 'previous_status', s.status, 'current_status',
                                CASE WHEN NEW.verb = 'pause' THEN 'paused'
                                     WHEN NEW.verb = 'stop' THEN 'terminated'
                                     WHEN s.status = 'interrupted' THEN s.status
                                     WHEN EXISTS (SELECT 1 FROM parked_session
                                                   WHERE session_seq = s.seq) THEN 'parked'
                                     WHEN EXISTS (SELECT 1 FROM session_ahead
                                                   WHERE session_seq = s.seq) THEN 'created'
                                     ELSE 'active' END)
               FROM session AS s
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'session')
                AND s.id = NEW.session_id
             UNION ALL
             SELECT 11, 'done', NULL,
                    json_object('session_id', s.id, 'stall_detection_enabled',
                                json(CASE NEW.argument WHEN 'on' THEN 'true' ELSE 'false' END))
               FROM session AS s WHERE NEW.verb = 'stall' AND s.id = NEW.session_id
             UNION ALL
             SELECT 11, 'done', NULL,
                    json_object('session_id', u.id, 'agent', o.agent, 'workspace_root', o.workspace_root,
                                'mode', o.mode, 'restart_of', o.restart_of)
               FROM start_order AS o
               JOIN command_fresh_id AS u ON u.seq = o.seq
              WHERE o.seq = NEW.seq
             UNION ALL
             SELECT 11, 'done', NULL,
                    json_object('terminated', (SELECT count(*) FROM ended_by_command
                                                WHERE command_seq = NEW.seq))
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'clean')
             UNION ALL
             SELECT 12, 'not_found', 'there is no such request', NULL
              WHERE NEW.verb = 'undo' AND NOT EXISTS (SELECT 1 FROM request
                                                       WHERE id = NEW.argument)
             UNION ALL
             SELECT 12, 'refused',
                    'this put a checkpoint back; `session-restore ' || substr(done.before_id, 1, 13)
                    || '` takes it back', NULL
               FROM request AS r JOIN workspace_restore AS done ON done.request_seq = r.seq
              WHERE NEW.verb = 'undo' AND r.id = NEW.argument AND done.state = 'done'
             UNION ALL
             SELECT 12, 'refused',
                    'the agent''s own program does what it was allowed here, and agent-intercom cannot undo '
                    || 'that; a checkpoint can be restored: `'
                    || CASE NEW.source WHEN 'slack' THEN 'session-checkpoints' ELSE 'checkpoint list' END
                    || '` lists them', NULL
               FROM request AS r
              WHERE NEW.verb = 'undo' AND r.id = NEW.argument AND r.kind = 'permission'
                AND r.state = 'approved'
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
             SELECT 12, 'not_found', 'there is no such checkpoint', NULL
               FROM restore_order AS o WHERE o.seq = NEW.seq AND o.checkpoint_id IS NULL
             UNION ALL
             SELECT 13, 'malformed', 'paths must be a list of texts', NULL
               FROM restore_order AS o WHERE o.seq = NEW.seq AND o.is_text = 0
             UNION ALL
             SELECT 13, 'unauthorized',
                    'this checkpoint is of a session of ' || s.owner_user_id
                    || ', who alone may restore it', NULL
               FROM restore_order AS o JOIN session AS s ON s.seq = o.own_seq
               JOIN stranger AS t ON t.session_seq = s.seq
              WHERE o.seq = NEW.seq
                AND t.operator_id = coalesce(NEW.operator_id,
                                             (SELECT id FROM operator WHERE is_default = 1))
             UNION ALL
             SELECT 13, 'unauthorized',
                    'an agent of ' || s.owner_user_id || ' works in ' || s.workspace_root
                    || ': ' || s.owner_user_id || ' alone may put something back there', NULL
               FROM restore_order AS o JOIN session AS s INDEXED BY session_live
                 ON instr(s.workspace_root || '/', o.workspace_root || '/') = 1
                AND s.machine = o.machine AND s.status <> 'terminated'
               JOIN stranger AS t ON t.session_seq = s.seq
              WHERE o.seq = NEW.seq
                AND t.operator_id = coalesce(NEW.operator_id,
                                             (SELECT id FROM operator WHERE is_default = 1))
             UNION ALL
             SELECT 13, 'refused',
                    'this checkpoint is ' || o.state || coalesce(': ' || o.why, ''), NULL
               FROM restore_order AS o WHERE o.seq = NEW.seq AND o.state <> 'done'
             UNION ALL
             SELECT 13, 'refused',
                    CASE WHEN o.asked_seq IS NULL THEN 'what belongs to no session is'
                         ELSE 'the session is' END || ' in ' || o.mode || ' mode: order it '
                    || CASE o.mode WHEN 'remote' THEN 'in Slack' ELSE 'at its machine' END
                    || ', or switch with `mode hybrid'
                    || coalesce(CASE o.mode WHEN 'remote' THEN ' --session ' ELSE ' ' END
                                || substr(o.asked_id, 1, 13), '') || '` first', NULL
               FROM restore_order AS o
              WHERE o.seq = NEW.seq
                AND o.mode = (SELECT shut_in_mode FROM source WHERE name = NEW.source)
             UNION ALL
             SELECT 14, 'refused',
                    coalesce('a checkpoint is being put back, and is not finished: ' || u.why,
                             'a checkpoint is being put back already; answer its question first, '
                             || held.question,
                             'a checkpoint is being put back already'), NULL
               FROM restore_order AS o JOIN restore_open AS held
                 ON held.workspace_root = o.workspace_root AND held.machine = o.machine
               LEFT JOIN restore_unfinished AS u ON u.seq = held.seq
              WHERE o.seq = NEW.seq
             UNION ALL
             SELECT 15, 'done', NULL,
                    json_object('checkpoint_id', o.checkpoint_id, 'label', o.label,
                                'session_id', o.session_id, 'asked_in', coalesce(o.asked_id, u.id),
                                'workspace_root', o.workspace_root)
               FROM restore_order AS o
               JOIN command_fresh_id AS u ON u.seq = o.seq
              WHERE o.seq = NEW.seq
             UNION ALL
             SELECT 15, NULL, NULL, NULL
              WHERE NEW.verb = 'undo'
                 OR NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'checkpoint')
             UNION ALL
             SELECT 15, NULL, NULL, NULL
              WHERE NEW.verb IN (SELECT verb FROM command_verb WHERE does = 'look')
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
  -- A stop answers the session's requests, so that nobody keeps waiting for it.
  INSERT INTO decision (request_id, verdict, reason, operator_id, source, created_at)
  SELECT r.id, k.stop_verdict,
         CASE WHEN typeof(NEW.argument) = 'text' AND NEW.verb = 'stop'
              THEN substr(NEW.argument, 1, 65536) ELSE k.stop_reason END,
         NEW.operator_id, NEW.source, NEW.created_at
    FROM ended_by_command AS c JOIN request AS r ON r.session_seq = c.session_seq
    JOIN request_kind AS k ON k.kind = r.kind
   WHERE c.command_seq = NEW.seq AND r.state IN ('pending', 'interrupted')
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done'
   ORDER BY r.seq;
  -- A runner ends the process that an order ends; one that has not been started never will be.
  UPDATE agent_run
     SET stop_wanted_at = NEW.created_at,
         stop_why = NEW.verb || ' by ' || (SELECT operator_id FROM command WHERE seq = NEW.seq),
         outcome = CASE state WHEN 'wanted' THEN 'stopped' END,
         ended_at = CASE state WHEN 'wanted' THEN NEW.created_at END,
         state = CASE state WHEN 'wanted' THEN 'ended' ELSE state END
   WHERE session_seq IN (SELECT session_seq FROM ended_by_command WHERE command_seq = NEW.seq)
     AND ended_at IS NULL AND stop_wanted_at IS NULL
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  -- Before another one begins in its thread.
  UPDATE session
     SET status = 'terminated', terminated_at = NEW.created_at, idle_since = NULL,
         connectivity_status = CASE connectivity_status WHEN 'stalled' THEN 'online'
                               ELSE connectivity_status END,
         updated_at = NEW.created_at
   WHERE seq IN (SELECT session_seq FROM ended_by_command WHERE command_seq = NEW.seq)
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  INSERT INTO session (id, machine, owner_user_id, workspace_root, status, prompt, mode, protocol_mode,
                       origin, channel_id, thread_ts, client_name, restart_of, created_at, updated_at)
  SELECT json_extract(c.reply, '$.session_id'), o.machine, c.operator_id, o.workspace_root, 'created',
         o.prompt, o.mode, CASE o.protocol WHEN 'mcp' THEN 'mcp' ELSE 'acp' END, 'started',
         o.channel_id, o.thread_ts, o.agent, o.restart_of, NEW.created_at, NEW.created_at
    FROM command AS c JOIN start_order AS o ON o.seq = c.seq
   WHERE c.seq = NEW.seq AND c.outcome = 'done';
  INSERT INTO agent_run (session_seq, generation, machine, agent, protocol, command_seq, prompt,
                         park_after_ms, resumes_seq, state, created_at)
  SELECT s.seq, 1, s.machine, o.agent, o.protocol, c.seq, o.prompt, o.park_after_ms, NULL, 'wanted',
         NEW.created_at
    FROM command AS c JOIN start_order AS o ON o.seq = c.seq
    JOIN session AS s ON s.id = json_extract(c.reply, '$.session_id')
   WHERE c.seq = NEW.seq AND c.outcome = 'done'
   UNION ALL
  SELECT s.seq, n.generation, n.machine, n.agent, n.protocol, c.seq, n.prompt, n.park_after_ms,
         n.resumes_seq, 'wanted', NEW.created_at
    FROM command AS c JOIN session AS s ON s.id = +c.session_id
    JOIN next_run AS n ON n.session_seq = s.seq
   WHERE c.seq = NEW.seq AND c.outcome = 'done' AND c.verb = 'resume'
     AND s.status IN ('interrupted', 'parked');
  INSERT INTO alias_run (command_seq, alias, command, session_seq, workspace_root, lane, machine,
                         operator_id, channel_id, created_at)
  SELECT c.seq, o.alias, o.command, o.session_seq, o.workspace_root,
         coalesce(o.session_id, o.workspace_root), o.machine, c.operator_id,
         CASE WHEN c.source = 'slack'
              THEN coalesce(o.channel_id, (SELECT nullif(value, '') FROM setting
                                            WHERE name = 'slack.channel_id')) END, NEW.created_at
    FROM command AS c JOIN run_order AS o ON o.seq = c.seq
   WHERE c.seq = NEW.seq AND c.outcome = 'done';
  -- commander ends a command that runs; one that waits will never begin.
  UPDATE alias_run
     SET stop_wanted_at = NEW.created_at,
         stopped_by = (SELECT operator_id FROM command WHERE seq = NEW.seq),
         outcome = CASE state WHEN 'queued' THEN 'stopped' END,
         ended_at = CASE state WHEN 'queued' THEN NEW.created_at END,
         state = CASE state WHEN 'queued' THEN 'ended' ELSE state END
   WHERE seq = CAST(NEW.argument AS INTEGER) AND NEW.verb = 'run-stop' AND stop_wanted_at IS NULL
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  INSERT INTO pause (session_seq, operator_id, why, paused_at)
  SELECT s.seq, c.operator_id, CASE c.source WHEN 'budget' THEN c.argument END, NEW.created_at
    FROM command AS c JOIN session AS s ON s.id = +c.session_id
   WHERE c.seq = NEW.seq AND c.outcome = 'done' AND c.verb = 'pause';
  -- Where a budget is used up, the person who started it is asked.
  INSERT INTO agent_line (run_seq, turn_seq, kind, text, detail, at, over_at)
  SELECT r.seq, (SELECT max(seq) FROM agent_turn WHERE run_seq = r.seq), 'note',
         c.argument || CASE s.status
                         WHEN 'created' THEN '. The session has not begun; `session-resume` begins it all the same.'
                         ELSE '. The session is paused; `session-resume` goes on until as much is used again.' END,
         '{"paused":true}', NEW.created_at, NEW.created_at
    FROM command AS c JOIN session AS s ON s.id = +c.session_id
    JOIN agent_run AS r ON r.session_seq = s.seq AND r.ended_at IS NULL
   WHERE c.seq = NEW.seq AND c.outcome = 'done' AND c.verb = 'pause' AND c.source = 'budget';
  UPDATE session
     SET status = CASE WHEN NEW.verb = 'pause' THEN 'paused'
                       WHEN seq IN (SELECT session_seq FROM parked_session) THEN 'parked'
                       WHEN seq IN (SELECT session_seq FROM session_ahead) THEN 'created'
                       ELSE 'active' END,
         connectivity_status = CASE connectivity_status WHEN 'stalled' THEN 'online'
                               ELSE connectivity_status END,
         idle_since = CASE WHEN NEW.verb = 'resume' AND seq NOT IN (SELECT session_seq FROM session_ahead)
                      THEN NEW.created_at END,
         updated_at = NEW.created_at
   WHERE id = NEW.session_id AND NEW.verb IN ('pause', 'resume') AND status <> 'interrupted'
     AND NOT (NEW.verb = 'resume' AND status = 'parked')
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  UPDATE session
     SET stall_paused = NEW.argument = 'off',
         connectivity_status = CASE WHEN connectivity_status = 'stalled' AND NEW.argument = 'off'
                               THEN 'online' ELSE connectivity_status END,
         idle_since = CASE WHEN NEW.argument = 'on' THEN NEW.created_at ELSE idle_since END,
         updated_at = NEW.created_at
   WHERE id = NEW.session_id AND NEW.verb = 'stall'
     AND (SELECT outcome FROM command WHERE seq = NEW.seq) = 'done';
  -- Who gave the order, even if it was refused. Orders that only read change nothing and are not
  -- recorded.
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT CASE WHEN typeof(c.created_at) = 'text' AND c.created_at GLOB '????-??-??T??:??:??.???Z'
              THEN c.created_at ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END,
         'command.' || c.outcome,
         coalesce((SELECT seq FROM session WHERE id = NEW.session_id),
                  (SELECT session_seq FROM agent_run WHERE command_seq = NEW.seq)),
         CASE WHEN typeof(c.operator_id) = 'text' THEN c.operator_id END,
         json_object('command', c.seq,
                     'verb', CASE WHEN typeof(c.verb) = 'text' THEN substr(c.verb, 1, 40) END,
                     'argument', CASE WHEN c.verb IN ('mode', 'stall', 'undo', 'run-stop')
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
  -- A folder where no session is: the question needs one, and it has ended before it began.
  INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode, origin, channel_id,
                       created_at, updated_at, terminated_at)
  SELECT json_extract(c.reply, '$.asked_in'), o.machine, c.operator_id, o.workspace_root,
         'terminated', o.mode, 'folder',
         (SELECT channel FROM configured_workspace WHERE path = o.workspace_root LIMIT 1),
         NEW.created_at, NEW.created_at, NEW.created_at
    FROM command AS c JOIN restore_order AS o ON o.seq = c.seq
   WHERE c.seq = NEW.seq AND c.outcome = 'done' AND o.asked_seq IS NULL;
  INSERT INTO workspace_restore (session_seq, command_seq, checkpoint_id, paths, to_hash, state,
                                 created_at, updated_at)
  SELECT s.seq, NEW.seq, o.checkpoint_id, o.paths, o.manifest, 'wanted', NEW.created_at,
         NEW.created_at
    FROM command AS c JOIN restore_order AS o ON o.seq = c.seq
    JOIN session AS s ON s.id = json_extract(c.reply, '$.asked_in')
   WHERE c.seq = NEW.seq AND c.outcome = 'done';
  INSERT INTO checkpoint_wanted (kind, session_id, label, machine, workspace_root, command_seq, at)
  SELECT 'ordered', o.session_id, o.label, o.machine, o.workspace_root, NEW.seq, NEW.created_at
    FROM command AS c JOIN checkpoint_order AS o ON o.seq = c.seq
   WHERE c.seq = NEW.seq AND c.outcome IS NULL;
  INSERT INTO file_look (command_seq, what, machine, workspace_root, session_seq, path, depth,
                         first_line, last_line, checkpoint_id, now_id, channel_id, thread_ts,
                         created_at)
  SELECT NEW.seq, o.what, o.machine, o.workspace_root, o.session_seq, o.path, o.depth, o.first_line,
         o.last_line, o.checkpoint_id,
         CASE o.what WHEN 'diff' THEN u.id END,
         o.channel_id, o.thread_ts, NEW.created_at
    FROM command AS c JOIN look_order AS o ON o.seq = c.seq
    JOIN command_fresh_id AS u ON u.seq = c.seq
   WHERE c.seq = NEW.seq AND c.outcome IS NULL;
  INSERT INTO checkpoint_wanted (id, kind, machine, workspace_root, at)
  SELECT now_id, 'diff', machine, workspace_root, NEW.created_at FROM file_look
   WHERE command_seq = NEW.seq AND what = 'diff';
END;
