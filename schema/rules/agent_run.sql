-- Sessions that we start: what an order to start one means, how many there may be, and what the end
-- of an agent's process means for its session.

-- The [[workspace]] of the configuration.
CREATE VIEW configured_workspace AS
SELECT json_extract(w.value, '$.id') AS id, nullif(json_extract(w.value, '$.path'), '') AS path,
       nullif(json_extract(w.value, '$.channel_id'), '') AS channel
  FROM setting AS s, json_each(s.value) AS w
 WHERE s.name = 'workspace' AND json_valid(s.value);

-- What session-start and session-restart request. The argument is the prompt, or {"prompt",
-- "agent", "workspace", "channel", "park": seconds after which a question parks it, or "never"}.
-- Whatever is omitted is as in the session that is restarted; otherwise the agent is the default one,
-- and the workspace that of the agent, of the channel, or the default.
CREATE VIEW start_order AS
WITH said AS (
  SELECT c.seq, c.source, c.verb, c.session_id, c.argument,
         CASE WHEN typeof(c.argument) = 'text' AND json_valid(c.argument)
              THEN CASE WHEN json_type(c.argument, '$.prompt') IS NOT NULL THEN c.argument END END AS parts
    FROM command AS c JOIN command_verb AS v ON v.verb = c.verb AND v.does = 'start'),
asked AS (
  SELECT c.seq, c.source, c.verb, o.id AS restart_of, o.channel_id AS old_channel,
         o.workspace_root AS old_root, o.mode AS old_mode, o.thread_ts,
         coalesce(CASE WHEN c.parts IS NULL THEN c.argument ELSE json_extract(c.parts, '$.prompt') END,
                  o.prompt) AS prompt,
         json_extract(c.parts, '$.agent') AS named_agent,
         (SELECT r.agent FROM agent_run AS r WHERE r.session_seq = o.seq
           ORDER BY r.generation DESC LIMIT 1) AS old_agent,
         json_extract(c.parts, '$.workspace') AS named_workspace,
         json_extract(c.parts, '$.channel') AS channel,
         json_extract(c.parts, '$.park') AS park,
         (SELECT r.park_after_ms FROM agent_run AS r WHERE r.session_seq = o.seq
           ORDER BY r.generation DESC LIMIT 1) AS old_park_ms,
         CASE WHEN c.parts IS NULL THEN typeof(c.argument) IN ('text', 'null')
              ELSE coalesce(json_type(c.parts, '$.prompt'), 'null') IN ('text', 'null')
                   AND coalesce(json_type(c.parts, '$.agent'), 'null') IN ('text', 'null')
                   AND coalesce(json_type(c.parts, '$.workspace'), 'null') IN ('text', 'null')
                   AND coalesce(json_type(c.parts, '$.channel'), 'null') IN ('text', 'null')
              END AS is_text
    FROM said AS c LEFT JOIN session AS o ON o.id = +c.session_id AND c.verb = 'session-restart')
SELECT q.seq, q.restart_of, q.thread_ts, q.prompt,
       CASE WHEN q.verb = 'session-start' AND trim(coalesce(q.prompt, ''), ' ' || char(9, 10, 13)) = ''
            THEN q.verb || ' needs a prompt: what the agent is to do'
            WHEN q.is_text = 0 THEN 'prompt, agent, workspace and channel must be text'
            WHEN NOT (q.park IS NULL OR q.park = 'never'
                      OR (typeof(q.park) = 'integer' AND q.park BETWEEN 0 AND 2592000))
            THEN 'park takes seconds, 0 to 2592000, or never'
            WHEN length(q.prompt) > 65536 THEN 'a prompt may have 65536 characters' END AS wrong,
       CASE WHEN q.park IS NOT NULL
            THEN CASE WHEN typeof(q.park) = 'integer' THEN q.park * 1000 END
            WHEN q.restart_of IS NOT NULL AND q.named_agent IS NULL THEN q.old_park_ms
            ELSE a.park_after_ms END AS park_after_ms,
       coalesce(q.named_agent, q.old_agent) AS wanted_agent, a.name AS agent, a.protocol,
       coalesce(q.named_workspace, a.workspace) AS wanted_workspace,
       coalesce(q.old_root,
                CASE WHEN coalesce(q.named_workspace, a.workspace) IS NOT NULL
                     THEN (SELECT path FROM configured_workspace
                            WHERE id = coalesce(q.named_workspace, a.workspace))
                     ELSE coalesce((SELECT path FROM configured_workspace WHERE channel = q.channel),
                                   (SELECT nullif(value, '') FROM setting
                                     WHERE name = 'default_workspace_root')) END) AS workspace_root,
       coalesce(q.old_channel, nullif(q.channel, ''),
                (SELECT channel FROM configured_workspace WHERE id = coalesce(q.named_workspace, a.workspace)))
         AS channel_id,
       -- Whoever starts it in Slack answers there.
       coalesce(q.old_mode,
                CASE WHEN q.source = 'slack' AND m.value = 'local' THEN 'remote' ELSE m.value END,
                'local') AS mode,
       (SELECT value FROM setting WHERE name = 'system.machine') AS machine
  FROM asked AS q
  LEFT JOIN agent AS a ON a.name = coalesce(q.named_agent, q.old_agent,
                                            (SELECT name FROM agent WHERE is_default = 1))
  LEFT JOIN setting AS m ON m.name = 'mode';

-- The sessions that are parked, also while they are paused, and the questions that they wait for. (+:
-- there are few sessions, and many runs.)
CREATE VIEW parked_session AS
SELECT s.seq AS session_seq, s.id AS session_id, s.status, s.machine, r.seq AS run_seq, q.seq AS request_seq,
       q.id AS request_id, q.title, q.state IN ('pending', 'interrupted') AS is_open, q.decided_at
  FROM session AS s JOIN agent_run AS r ON r.session_seq = s.seq AND +r.outcome = 'parked'
  JOIN gate_call AS g ON g.seq = r.parked_seq JOIN request AS q ON q.seq = g.request_seq
 WHERE s.origin = 'started' AND s.status <> 'terminated' AND s.status IN ('parked', 'paused')
   AND r.generation = (SELECT max(l.generation) FROM agent_run AS l WHERE l.session_seq = s.seq);

-- The sessions whose agent has not begun yet.
CREATE VIEW session_ahead AS
SELECT session_seq FROM agent_run WHERE ended_at IS NULL AND generation = 1 AND state IN ('wanted', 'starting');

-- The sessions that count against the limits: we started them, and their agent runs or is about to.
CREATE VIEW started_session AS
SELECT s.seq, s.protocol_mode FROM session AS s
 WHERE s.origin = 'started' AND s.status <> 'terminated'
   AND ((s.status <> 'interrupted'
         AND NOT EXISTS (SELECT 1 FROM parked_session AS p WHERE p.session_seq = s.seq))
        OR EXISTS (SELECT 1 FROM agent_run AS r WHERE r.session_seq = s.seq AND r.ended_at IS NULL));

-- The run that follows the last one of a session: it makes the call again with which the session was
-- parked, unless an earlier one did so or could not; otherwise it has the task.
CREATE VIEW next_run AS
SELECT n.session_seq, n.generation, n.machine, n.agent, n.protocol, n.park_after_ms, n.resumes_seq,
       CASE WHEN n.resumes_seq IS NULL THEN n.task END AS prompt
  FROM (SELECT s.seq AS session_seq, l.generation + 1 AS generation, s.machine AS machine, l.agent, l.protocol,
               l.park_after_ms, s.prompt AS task,
               CASE WHEN l.outcome = 'parked' THEN l.parked_seq
                    WHEN l.outcome = 'interrupted' AND l.exit_code IS NULL
                     AND NOT EXISTS (SELECT 1 FROM gate_call AS g
                                      WHERE g.session_seq = s.seq AND g.seq > l.resumes_seq
                                        AND g.moment = 'pre_tool')
                    THEN l.resumes_seq END AS resumes_seq
          FROM session AS s JOIN agent_run AS l ON l.session_seq = s.seq
           AND l.generation = (SELECT max(generation) FROM agent_run WHERE session_seq = s.seq)) AS n;

-- The call with which the agent of a run has ended its process: the last thing that its hooks asked.
CREATE VIEW deferred_call AS
SELECT r.seq AS run_seq, g.seq AS gate_seq
  FROM agent_run AS r JOIN gate_call AS g
    ON g.seq = (SELECT max(l.seq) FROM gate_call AS l
                 WHERE l.session_seq = r.session_seq AND l.seq > coalesce(r.resumes_seq, 0)
                   AND l.moment NOT IN ('session_start', 'session_end', 'notification'))
 WHERE r.park_after_ms IS NOT NULL AND g.decision = 'defer' AND g.created_at >= r.created_at;

-- Whose orders a session that we started obeys: its owner's. A person has one name in Slack and
-- another on the machine, so only names of one kind are compared.
CREATE VIEW stranger AS
SELECT s.seq AS session_seq, p.id AS operator_id
  FROM session AS s JOIN operator AS w ON w.id = s.owner_user_id
  JOIN operator AS p ON p.kind = w.kind AND p.id <> w.id
 WHERE s.origin = 'started';

-- The sessions that an order ends when it is carried out: for session-cleanup, those whose agent is
-- gone.
CREATE VIEW ended_by_command AS
SELECT c.seq AS command_seq, s.seq AS session_seq
  FROM command AS c JOIN session AS s ON s.id = +c.session_id AND s.status <> 'terminated'
 WHERE c.verb IN ('stop', 'session-restart')
UNION ALL
SELECT c.seq, s.seq
  FROM command AS c JOIN source AS f ON f.name = c.source
  JOIN session AS s ON s.origin = 'started' AND s.status = 'interrupted'
 WHERE c.verb = 'session-cleanup' AND s.mode IS NOT f.shut_in_mode
   AND NOT EXISTS (SELECT 1 FROM stranger AS t
                    WHERE t.session_seq = s.seq
                      AND t.operator_id = coalesce(c.operator_id,
                                                   (SELECT id FROM operator WHERE is_default = 1)))
   AND NOT EXISTS (SELECT 1 FROM agent_run AS r WHERE r.session_seq = s.seq AND r.ended_at IS NULL);

-- What the agents of a session asked, when a run has ended with which the session ends.
CREATE VIEW unneeded_question AS
SELECT n.seq AS run_seq, q.request_seq
  FROM agent_run AS n JOIN agent_run AS p ON p.session_seq = n.session_seq
  JOIN agent_question AS q ON q.run_seq = p.seq AND q.answered_at IS NULL AND q.withdrawn_at IS NULL
 WHERE n.state = 'ended'
   AND (n.outcome IN ('exited', 'stopped') OR (n.outcome = 'failed' AND n.generation = 1));

-- A session is parked with a call that waits.
CREATE TRIGGER agent_run_is_parked BEFORE UPDATE OF parked_seq ON agent_run
WHEN NEW.parked_seq IS NOT OLD.parked_seq BEGIN
  SELECT RAISE(ABORT, 'agent_run: parked: no call of this run waits')
   WHERE NEW.parked_seq IS NOT NEW.resumes_seq
     AND NOT EXISTS (SELECT 1 FROM deferred_call
                      WHERE run_seq = NEW.seq AND gate_seq = NEW.parked_seq);
END;

-- A session follows its process: active while it runs; interrupted, so that it can be resumed, if
-- it ended with the system or its runner; likewise if its agent did not start again.
CREATE TRIGGER agent_run_changed AFTER UPDATE OF state ON agent_run WHEN OLD.state <> NEW.state BEGIN
  -- What has not been taken by then, or is being taken just then, may hold what the agent changes: it is no
  -- checkpoint before it.
  UPDATE checkpoint
     SET state = 'refused', why = 'the agent did not wait for it',
         updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
   WHERE NEW.state = 'starting' AND kind = 'start' AND state IN ('queued', 'claimed')
     AND session_id = (SELECT id FROM session WHERE seq = NEW.session_seq);
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT coalesce(NEW.ended_at, NEW.started_at), 'agent.' || coalesce(NEW.outcome, NEW.state),
         NEW.session_seq, NULL,
         json_object('run', NEW.seq, 'generation', NEW.generation, 'agent', NEW.agent, 'pid', NEW.pid,
                     'exit_code', NEW.exit_code, 'exit_signal', NEW.exit_signal,
                     'why', substr(coalesce(NEW.why, NEW.stop_why), 1, 200))
   WHERE NEW.state IN ('running', 'ended');
  UPDATE session
     SET status = 'active', connectivity_status = 'online', idle_since = NEW.started_at,
         last_activity_at = NEW.started_at, updated_at = NEW.started_at
   WHERE seq = NEW.session_seq AND NEW.state = 'running' AND status IN ('created', 'interrupted', 'parked');
  UPDATE session
     SET status = CASE status WHEN 'paused' THEN status ELSE 'parked' END, connectivity_status = 'offline',
         idle_since = NULL, updated_at = NEW.ended_at
   WHERE seq = NEW.session_seq AND status IN ('active', 'parked', 'paused') AND NEW.outcome = 'parked';
  UPDATE session
     SET status = 'interrupted', connectivity_status = 'offline', updated_at = NEW.ended_at
   WHERE seq = NEW.session_seq
     AND CASE NEW.outcome WHEN 'interrupted' THEN status IN ('created', 'active', 'paused', 'parked')
                          WHEN 'failed' THEN status = 'parked' AND NEW.generation > 1 END;
  UPDATE session
     SET status = 'terminated', terminated_at = NEW.ended_at, connectivity_status = 'offline',
         idle_since = NULL, updated_at = NEW.ended_at
   WHERE seq = NEW.session_seq AND status <> 'terminated'
     AND (NEW.outcome IN ('exited', 'stopped') OR (NEW.outcome = 'failed' AND NEW.generation = 1));
  -- Nobody will need the answers to what the agent of this session asked: they expire now. (If it was
  -- interrupted, they can still be given.)
  UPDATE request SET state = 'pending', deadline_at = NEW.ended_at, remaining_ms = NULL
   WHERE state IN ('pending', 'interrupted')
     AND seq IN (SELECT request_seq FROM unneeded_question WHERE run_seq = NEW.seq);
  INSERT INTO decision (request_id, verdict, operator_id, source, created_at)
  SELECT r.id, 'timeout', 'system:clock', 'timeout', NEW.ended_at
    FROM unneeded_question AS u JOIN request AS r ON r.seq = u.request_seq
   WHERE u.run_seq = NEW.seq AND r.state = 'pending'
   ORDER BY r.seq;
  -- Its last turn is over, and nothing follows it.
  UPDATE agent_turn
     SET ended_at = coalesce(ended_at, NEW.ended_at), followed_at = coalesce(followed_at, NEW.ended_at),
         shown_at = NEW.ended_at
   WHERE NEW.state = 'ended' AND run_seq = NEW.seq AND (ended_at IS NULL OR followed_at IS NULL);
  -- A stop of the system is told once, in the channel; the head of the thread resumes the session.
  INSERT INTO slack_notice (kind, session_seq, detail, at)
  SELECT 'run', NEW.session_seq, json_object('run', NEW.seq), NEW.ended_at
   WHERE (NEW.outcome = 'interrupted' AND NEW.why IS NOT 'the system stopped')
      OR (NEW.outcome = 'failed' AND NEW.generation > 1);
END;
