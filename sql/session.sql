-- Every statement on `session` and `connection`.

-- name: session_insert :insert
INSERT INTO session (id, machine, owner_user_id, agent_uid, agent_user, workspace_root, status, mode,
  channel_id, client_name, label, stall_paused, created_at, updated_at, last_activity_at, idle_since)
VALUES (:id, :machine, coalesce((SELECT id FROM operator WHERE is_default = 1), 'local:'),
  :uid, :user, :workspace, 'active', coalesce((SELECT value FROM setting WHERE name = 'mode'), 'local'),
  :channel, :client, :label, :stall_paused, :now, :now, :now, :now);

-- name: session_by_id :one
-- row: session
SELECT seq, id, machine, workspace_root, status, mode, channel_id, last_tool, stall_paused,
       wait_limit_ms, agent_uid
  FROM session WHERE id = :id;

-- name: session_by_seq :one
-- row: session
SELECT seq, id, machine, workspace_root, status, mode, channel_id, last_tool, stall_paused,
       wait_limit_ms, agent_uid
  FROM session WHERE seq = :seq;

-- name: session_of_program :one
-- For a hook: the session of the MCP client in the same program, unless it has the hooks of another
-- session of that program, or is another agent's, or asks in another channel than is named. Without
-- :is_hook, the other way round.
-- row: session
-- type: :is_hook bool
-- type: :label text
-- type: :channel text
SELECT s.seq, s.id, s.machine, s.workspace_root, s.status, s.mode, s.channel_id, s.last_tool,
       s.stall_paused, s.wait_limit_ms, s.agent_uid
  FROM connection AS c JOIN session AS s ON s.seq = c.session_seq
 WHERE c.host_process = :program AND c.state = 'open' AND (c.transport = 'hook') <> :is_hook
   AND s.status <> 'terminated'
   AND (:label IS NULL OR coalesce(s.label, :label) = :label)
   AND (:channel IS NULL OR :channel = coalesce(s.channel_id, (SELECT value FROM setting
                                                                WHERE name = 'slack.channel_id')))
   AND NOT EXISTS (SELECT 1 FROM connection AS o
                    WHERE o.session_seq = s.seq AND o.state = 'open' AND (o.transport = 'hook') = :is_hook)
 ORDER BY c.seq DESC LIMIT 1;

-- name: session_set_label :exec
-- What the other connection of its program calls the agent.
UPDATE session SET label = :label, updated_at = :now WHERE seq = :seq AND label IS NULL;

-- name: session_set_user :exec
-- As whom the agent of a session that we start runs.
UPDATE session SET agent_uid = :uid, agent_user = :user WHERE seq = :seq AND agent_uid IS NULL;

-- name: session_workspaces :many
-- Where sessions of this machine work.
SELECT DISTINCT workspace_root FROM session WHERE status <> 'terminated' AND machine = :machine;

-- name: session_folders :many
-- Where sessions of this machine worked, those that have ended included.
-- scan ok: once, at an uninstall
SELECT DISTINCT workspace_root FROM session WHERE machine = :machine;

-- name: session_is_touched :any
-- Its row says already that its agent called this tool a moment ago.
SELECT 1 AS yes FROM session
 WHERE seq = :seq AND last_tool IS :tool AND last_activity_at >= :recently
   AND connectivity_status = 'online' AND idle_since IS NOT NULL
   AND status NOT IN ('interrupted', 'created');

-- name: session_touch :exec
-- Its agent called a tool; an interrupted session is active again.
UPDATE session
   SET last_tool = :tool, last_activity_at = :now, updated_at = :now, idle_since = :now,
       connectivity_status = 'online', nudge_count = 0,
       status = CASE WHEN status IN ('interrupted', 'created') THEN 'active' ELSE status END
 WHERE seq = :seq;

-- name: session_set_progress :exec
UPDATE session SET progress_snapshot = :progress WHERE seq = :seq;

-- name: session_offline :exec
-- Its last connection is gone.
UPDATE session SET connectivity_status = 'offline', updated_at = :now
 WHERE seq = :seq AND connectivity_status <> 'offline'
   AND NOT EXISTS (SELECT 1 FROM connection WHERE session_seq = :seq AND state = 'open');

-- name: session_end :exec
-- Its agent says that it has ended: nobody is connected, nothing waits for an answer, and it was not
-- started here.
UPDATE session SET status = 'terminated', terminated_at = :now, updated_at = :now
 WHERE seq = :seq AND status <> 'terminated' AND origin = 'direct'
   AND NOT EXISTS (SELECT 1 FROM connection WHERE session_seq = :seq AND state = 'open')
   AND NOT EXISTS (SELECT 1 FROM request AS r
                    WHERE r.session_seq = :seq AND r.state IN ('pending', 'interrupted')
                      AND r.kind NOT IN ('trust', 'restore'));

-- name: session_interrupt_all :rows
-- A graceful stop on :machine, or a restore (NULL): nobody serves these sessions. A session that an
-- operator has paused stays paused, and a silent agent stays silent: its time resumes after the
-- next start.
-- scan ok: once, at the stop
UPDATE session SET status = CASE status WHEN 'paused' THEN status ELSE 'interrupted' END,
       connectivity_status = CASE connectivity_status WHEN 'stalled' THEN 'stalled' ELSE 'offline' END,
       updated_at = :now
 WHERE (:machine IS NULL OR machine = :machine) AND status IN ('created', 'active', 'paused');

-- name: session_has_started :any
-- Whether a session that we had started may be one for session_interrupt_started.
-- scan ok: once, at the start
SELECT 1 AS one FROM session
 WHERE machine = :machine AND origin = 'started' AND status IN ('created', 'active', 'paused') LIMIT 1;

-- name: session_interrupt_started :exec
-- At the start: the processes of sessions that we had started have ended with the system, except
-- those that still have a runner, or wait for one.
-- scan ok: once, at the start
UPDATE session SET status = 'interrupted', connectivity_status = 'offline', updated_at = :now
 WHERE machine = :machine AND origin = 'started' AND status IN ('created', 'active', 'paused')
   AND seq NOT IN (SELECT session_seq FROM parked_session)
   AND NOT EXISTS (SELECT 1 FROM agent_run AS r WHERE r.session_seq = session.seq AND r.ended_at IS NULL);

-- name: session_list :many
-- scan ok: for a person
-- type: parked_with text
-- type: paused_why text
-- type: only_hooks bool
-- type: hook_process text
-- type: input_tokens integer
-- type: output_tokens integer
-- type: total_tokens integer
-- type: cost_micros integer
-- type: currency text
SELECT s.id, s.status, s.mode, s.workspace_root, s.last_tool, s.updated_at, s.client_name, s.label,
       s.agent_user, s.connectivity_status, s.owner_user_id, s.prompt, s.last_activity_at, s.created_at,
       (SELECT request_id FROM parked_session WHERE session_seq = s.seq) AS parked_with,
       (SELECT why FROM pause WHERE session_seq = s.seq AND ended_at IS NULL) AS paused_why,
       (SELECT max(c.transport = 'hook') AND min(c.transport = 'hook') FROM connection AS c
         WHERE c.session_seq = s.seq AND c.state = 'open') AS only_hooks,
       (SELECT c.process FROM connection AS c
         WHERE c.session_seq = s.seq AND c.state = 'open' AND c.transport = 'hook'
         ORDER BY c.seq DESC LIMIT 1) AS hook_process,
       (SELECT sum(u.input_tokens) FROM session_usage AS u WHERE u.session_seq = s.seq) AS input_tokens,
       (SELECT sum(u.output_tokens) FROM session_usage AS u WHERE u.session_seq = s.seq) AS output_tokens,
       (SELECT sum(u.total_tokens) FROM session_usage AS u WHERE u.session_seq = s.seq) AS total_tokens,
       (SELECT sum(u.cost_micros) FROM session_usage AS u WHERE u.session_seq = s.seq) AS cost_micros,
       (SELECT max(u.currency) FROM session_usage AS u WHERE u.session_seq = s.seq) AS currency,
       (SELECT u.context_used FROM session_usage AS u
         WHERE u.session_seq = s.seq AND u.context_size > 0 ORDER BY u.seq DESC LIMIT 1) AS context_used,
       (SELECT u.context_size FROM session_usage AS u
         WHERE u.session_seq = s.seq AND u.context_size > 0 ORDER BY u.seq DESC LIMIT 1) AS context_size
  FROM session AS s WHERE s.status <> 'terminated' ORDER BY s.seq;

-- name: session_last_interrupted :one
-- The same of those that have left nothing.
-- type: :uid integer?
-- row: session
SELECT s.seq, s.id FROM session AS s
 WHERE s.status = 'interrupted' AND s.machine = :machine AND s.workspace_root = :workspace
   AND s.agent_uid IS :uid
   AND (s.seq = :session
        OR NOT EXISTS (SELECT 1 FROM connection AS c
                        WHERE c.session_seq = s.seq AND c.state = 'open'
                          AND c.transport IN ('stdio', 'hook')))
 ORDER BY s.label IS NOT :label, s.updated_at DESC, s.seq DESC LIMIT 1;

-- name: session_left :one
-- The session of this workspace that has left something, and whose agent is gone or is the caller:
-- preferably our own, then one with our label, then the newest. Left is what is open, what was
-- answered but not told, what was approved but not written yet; and what the operator said to an
-- agent that was gone before its next call. :uid: of that user's agents; NULL: of ours.
-- type: :uid integer?
-- row: session
SELECT s.seq, s.id FROM session AS s
 WHERE s.workspace_root = :workspace AND s.machine = :machine AND s.status <> 'terminated'
   AND s.agent_uid IS :uid
   AND (s.seq = :session
        OR (s.status <> 'parked'
            AND NOT EXISTS (SELECT 1 FROM connection AS c
                             WHERE c.session_seq = s.seq AND c.state = 'open'
                               AND c.transport IN ('stdio', 'hook'))))
   AND (EXISTS (
     SELECT 1 FROM request AS r
      WHERE r.session_seq = s.seq AND r.kind NOT IN ('trust', 'restore')
        AND (r.state IN ('pending', 'interrupted')
             OR (r.state = 'approved' AND r.kind = 'clearance')
             OR (r.state IN ('approved', 'rejected', 'answered') AND r.delivered_at IS NULL
                 AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                                  WHERE t.request_seq = r.seq AND t.told_answer = 1)))
        -- Over HTTP its agent may still be at work: then it was told, or it listens.
        AND (s.seq = :session OR s.status = 'interrupted' OR s.label = :label
             OR (r.state IN ('pending', 'interrupted')
                 AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                                  WHERE t.request_seq = r.seq AND t.state = 'waiting'
                                    AND t.listener IS NOT NULL))
             OR EXISTS (SELECT 1 FROM tool_call AS t
                         WHERE t.request_seq = r.seq AND t.state IN ('waiting', 'answered')
                           AND t.listener IS NULL AND t.task_id IS NULL)
             OR NOT EXISTS (SELECT 1 FROM connection AS c
                             WHERE c.session_seq = s.seq AND c.state = 'open'
                               AND s.last_activity_at > :live_after)))
    OR (s.seq <> :session
        AND EXISTS (SELECT 1 FROM steering_untold WHERE session_seq = s.seq AND is_usual = 0)
        AND (s.status = 'interrupted' OR s.label = :label
             OR NOT EXISTS (SELECT 1 FROM connection AS c
                             WHERE c.session_seq = s.seq AND c.state = 'open'
                               AND s.last_activity_at > :live_after))))
 ORDER BY s.seq <> :session, s.label IS NOT :label, s.seq DESC LIMIT 1;

-- name: session_progress :one
SELECT progress_snapshot FROM session WHERE seq = :seq;

-- name: connection_insert :insert
INSERT INTO connection (key, machine, transport, protocol_version, client_name, client_version,
  process, host_process, identity, elicits, uid, created_at)
VALUES (:key, :machine, :transport, :version, :client, :client_version, :process, :host_process,
  :identity, :elicits, :uid, :now);

-- name: connection_by_key :one
-- type: :uid integer?
-- :uid: of that user only; NULL: of anyone.
SELECT seq, transport, protocol_version, client_name, process, session_seq, identity, elicits, state
  FROM connection WHERE key = :key AND (:uid IS NULL OR uid = :uid);

-- name: connection_process_of_session :many
-- Open connections, with their processes.
-- row: connection_process
SELECT seq, process, session_seq FROM connection
 WHERE session_seq = :session AND state = 'open' AND process IS NOT NULL LIMIT :limit;

-- name: connection_process_of_question :many
-- The same for sessions with a certain request.
-- row: connection_process
SELECT c.seq, c.process, c.session_seq
  FROM request AS r JOIN connection AS c ON c.session_seq = r.session_seq
 WHERE r.digest = :digest AND c.state = 'open' AND c.process IS NOT NULL LIMIT :limit;

-- name: connection_process_of_workspace :many
-- The same for a folder, newest first.
-- row: connection_process
SELECT c.seq, c.process, c.session_seq
  FROM session AS s JOIN connection AS c ON c.session_seq = s.seq
 WHERE s.workspace_root = :workspace AND s.machine = :machine AND s.status <> 'terminated'
   AND c.state = 'open' AND c.process IS NOT NULL
 ORDER BY s.seq DESC LIMIT :limit;

-- name: session_programs :many
-- The programs that work in a session: the agent that we started, and, for a caller who is not :apart
-- in another workspace, of its open connections. Names of processes, or how they begin.
-- type: program text
-- type: :apart bool
-- type: :session integer
SELECT coalesce(c.host_process, c.process) AS program FROM connection AS c
 WHERE c.session_seq = :session AND c.state = 'open' AND NOT :apart
   AND coalesce(c.host_process, c.process) IS NOT NULL
 UNION ALL
SELECT r.pid || '.' || r.process_start || '.' FROM agent_run AS r
 WHERE r.session_seq = :session AND r.ended_at IS NULL AND r.pid IS NOT NULL;

-- name: session_before :one
-- Of the connections whose keys begin so, the newest with a session. :end is :start with its last
-- byte incremented.
SELECT c.process, c.state, c.session_seq, s.status
  FROM connection AS c JOIN session AS s ON s.seq = c.session_seq
 WHERE c.key >= :start AND c.key < :end ORDER BY c.seq DESC LIMIT 1;

-- name: connection_set_session :exec
UPDATE connection SET session_seq = :session WHERE seq = :seq;

-- name: connection_close :exec
UPDATE connection SET state = 'closed', closed_at = :now WHERE seq = :seq AND state <> 'closed';

-- name: connection_lose :exec
-- Its process has ended. Another one may continue with it.
UPDATE connection SET state = 'lost' WHERE seq = :seq AND state = 'open';

-- name: connection_reopen :exec
-- Its process came back after its front died, or another process continues.
UPDATE connection SET state = 'open', closed_at = NULL WHERE seq = :seq AND state <> 'open';

-- name: connection_move_process :exec
-- The session of a host was resumed in another process.
UPDATE connection SET process = :process, host_process = :process WHERE seq = :seq;

-- name: session_client_is_back :exec
-- So it is there, though silent: its silence counts again.
UPDATE session
   SET idle_since = coalesce(idle_since, :now),
       connectivity_status = CASE connectivity_status WHEN 'offline' THEN 'online'
                             ELSE connectivity_status END
 WHERE seq = :seq AND status <> 'terminated'
   AND (idle_since IS NULL OR connectivity_status = 'offline');

-- name: connection_lose_unknown :exec
-- A front starts: whether the relays of its predecessor still run cannot be known of these until they
-- come back.
UPDATE connection SET state = 'lost'
 WHERE machine = :machine AND state = 'open' AND transport = 'stdio' AND process IS NULL;

-- name: connection_process_of_relays :many
-- row: connection_process
-- type: :after integer
-- type: :machine text
SELECT seq, process, session_seq FROM connection
 WHERE machine = :machine AND state = 'open' AND transport = 'stdio' AND process IS NOT NULL
   AND seq > :after
 ORDER BY seq LIMIT :limit;

-- name: session_by_prefix :many
-- Up to two, to tell whether a shortened id is unambiguous. :end is :start with its last byte
-- incremented.
-- row: prefixed
SELECT seq, id FROM session WHERE id >= :start AND id < :end ORDER BY id LIMIT 2;

-- name: session_is_connected :any
-- A row if somebody else is connected to this session: a stdio process, or recent HTTP calls
-- without our label; but not an earlier run of our own process.
SELECT 1 AS yes FROM session AS s
 WHERE s.seq = :seq AND s.status <> 'interrupted'
   AND EXISTS (SELECT 1 FROM connection AS c
                WHERE c.session_seq = s.seq AND c.state = 'open'
                  AND (c.transport = 'stdio'
                       OR (s.last_activity_at > :live_after AND s.label IS NOT :label)
                       OR (s.last_activity_at > :live_after AND s.label IS NULL
                           AND NOT EXISTS (SELECT 1 FROM connection AS o
                                            WHERE o.seq = :connection AND o.process = c.process
                                              AND :label IS NULL
                                              AND o.created_at > s.last_activity_at))));

-- name: session_learn_wait :exec
-- Its client has given up on a call: later ones are told 'pending' before that time.
UPDATE session SET wait_limit_ms = min(coalesce(wait_limit_ms, :limit_ms), :limit_ms)
 WHERE seq = :seq;
