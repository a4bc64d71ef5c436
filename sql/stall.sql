-- Every statement on `stall`, and on the clock of silence in `session`.

-- name: stall_idle_first :one
-- The longest silence of an agent that, as far as is known, has the turn. While a command of ours
-- runs in its session, its clocks stand still.
-- row: instant
SELECT s.idle_since AS at FROM session AS s
 WHERE s.idle_since IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM alias_run AS r WHERE r.session_seq = s.seq AND r.state = 'running')
 ORDER BY s.idle_since LIMIT 1;

-- name: stall_step_first :one
-- row: instant
SELECT t.waits_since AS at FROM stall AS t
 WHERE t.waits_since IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM stall_at_work WHERE session_seq = t.session_seq)
 ORDER BY t.waits_since LIMIT 1;

-- name: stall_idle_due :many
-- type: :skip integer
-- Silent since at least :before, with what decides whether that is a stall. (The indexes of
-- what is open have both states.) A client is certainly connected if its connection ends with
-- it: on stdio, and on the transport of 2024-11-05, whose stream is the connection; so is an agent
-- that we started, while its process runs. For others this is unknown: it has left if its session was
-- interrupted, if nobody fetched an answer, or if it keeps no session.
SELECT s.seq, s.id, s.idle_since, s.status, s.stall_paused, s.last_activity_at,
       EXISTS (SELECT 1 FROM request AS r
                WHERE r.session_seq = s.seq AND r.state IN ('pending', 'interrupted')
                  AND r.state = 'pending' AND r.kind NOT IN ('trust', 'restore'))
         OR EXISTS (SELECT 1 FROM tool_call AS c
                     WHERE c.session_seq = s.seq AND c.state IN ('waiting', 'answered')
                       AND c.state = 'waiting')
         AS is_asking,
       EXISTS (SELECT 1 FROM connection AS c
                WHERE c.session_seq = s.seq AND c.state = 'open'
                  AND (c.transport = 'stdio' OR c.protocol_version = '2024-11-05'))
         OR EXISTS (SELECT 1 FROM agent_run AS r
                     WHERE r.session_seq = s.seq AND r.ended_at IS NULL) AS is_there,
       s.status <> 'interrupted'
         AND EXISTS (SELECT 1 FROM connection AS c
                      WHERE c.session_seq = s.seq AND c.state = 'open'
                        AND c.transport IN ('http', 'hook'))
         AND NOT EXISTS (SELECT 1 FROM request AS r
                          WHERE r.session_seq = s.seq AND r.delivered_at IS NULL
                            AND r.state IN ('approved', 'rejected', 'answered')
                            AND r.kind NOT IN ('trust', 'restore')
                            AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                                             WHERE t.request_seq = r.seq AND t.told_answer = 1))
         AS may_be_there,
       EXISTS (SELECT 1 FROM stall AS t WHERE t.session_seq = s.seq AND t.ended_at IS NULL)
         AS is_stalled
  FROM session AS s
 WHERE s.idle_since IS NOT NULL AND s.idle_since <= :before
   AND NOT EXISTS (SELECT 1 FROM alias_run AS r WHERE r.session_seq = s.seq AND r.state = 'running')
 ORDER BY s.idle_since, s.seq LIMIT :limit OFFSET :skip;

-- name: stall_stop_clock :exec
-- The silence has no further consequences, until the next call or answer.
UPDATE session SET idle_since = NULL WHERE seq = :session AND idle_since IS NOT NULL;

-- name: stall_client_gone :rows
-- Nobody has been connected for a long time: its agent has left.
UPDATE session
   SET status = CASE status WHEN 'active' THEN 'interrupted' ELSE status END,
       connectivity_status = 'offline', updated_at = :now
 WHERE seq = :session AND (status = 'active' OR connectivity_status <> 'offline');

-- name: stall_tell_left :exec
-- type: :session seq
-- Whoever said something to it learns that nobody has been told yet.
INSERT INTO slack_notice (kind, session_seq, text, at)
SELECT 'reply', :session,
       'The agent has left without being told: ' || words
       || '. The next agent that starts in this workspace is told.', :now
  FROM (SELECT group_concat('“' || CASE WHEN length(t.text) > 300 THEN substr(t.text, 1, 300) || '…'
                                        ELSE t.text END || '”', ', ') AS words
          FROM steering_untold AS t
          JOIN source AS f ON f.name = t.source AND f.operator_kind <> 'system'
          JOIN session AS s ON s.seq = t.session_seq
         WHERE t.session_seq = :session AND t.is_usual = 0
           AND (t.source = 'slack' OR s.mode <> 'local'))
 WHERE words IS NOT NULL;

-- name: stall_last :one
-- The previous stall, with how often the agent was nudged then.
SELECT status, nudge_count, auto_count, ended_at FROM stall
 WHERE session_seq = :session ORDER BY seq DESC LIMIT 1;

-- name: stall_insert :exec
-- It has no further steps if the client may have ended.
INSERT INTO stall (id, session_seq, is_there, last_tool, last_activity_at, idle_seconds, cause,
  progress_snapshot, nudge_count, auto_count, told_count, waits_since, created_at, updated_at)
SELECT :id, s.seq, :is_there, s.last_tool, coalesce(s.last_activity_at, s.created_at), :idle_seconds,
       (SELECT c.cause FROM gate_cause AS c WHERE c.session_seq = s.seq ORDER BY c.seq DESC LIMIT 1),
       s.progress_snapshot, :nudge_count, :auto_count, :nudge_count,
       CASE WHEN :is_there THEN :now END, :now, :now
  FROM session AS s WHERE s.seq = :session;

-- name: stall_mark_session :exec
-- What a session shows about its silence: whether it is stalled, and how often it was nudged.
UPDATE session
   SET nudge_count = coalesce((SELECT nudge_count FROM stall
                                WHERE session_seq = session.seq AND ended_at IS NULL), 0),
       connectivity_status = CASE WHEN EXISTS (SELECT 1 FROM stall
                                                WHERE session_seq = session.seq AND ended_at IS NULL)
                             THEN 'stalled' ELSE connectivity_status END
 WHERE id = :session_id;

-- name: stall_step_due :many
-- type: :skip integer
SELECT t.seq, t.auto_count, s.id AS session_id,
       EXISTS (SELECT 1 FROM steering AS n WHERE n.stall_seq = t.seq AND n.delivered_at IS NULL
                                             AND n.outcome = 'accepted') AS is_undelivered
  FROM stall AS t CROSS JOIN session AS s ON s.seq = t.session_seq
 WHERE t.waits_since IS NOT NULL AND t.waits_since <= :before
   AND NOT EXISTS (SELECT 1 FROM stall_at_work WHERE session_seq = t.session_seq)
 ORDER BY t.waits_since, t.seq LIMIT :limit OFFSET :skip;

-- name: stall_nudge_again :exec
-- What was said before still waits for the agent; it is not said twice.
UPDATE stall
   SET status = 'nudged', nudge_count = nudge_count + 1, auto_count = auto_count + 1,
       nudged_by = 'system:clock', waits_since = :now, updated_at = :now
 WHERE seq = :seq AND ended_at IS NULL;

-- name: stall_escalate :exec
UPDATE stall SET status = 'escalated', waits_since = NULL, updated_at = :now
 WHERE seq = :seq AND ended_at IS NULL;

-- name: stall_idle_running :many
-- For a gap: every clock of silence. One set after the gap already uses the new time.
-- scan ok: after a gap
-- row: running
SELECT seq, idle_since AS at, idle_since AS since FROM session
 WHERE idle_since IS NOT NULL AND machine = :machine AND seq > :after ORDER BY seq LIMIT 500;

-- name: stall_set_idle :exec
UPDATE session SET idle_since = :at WHERE seq = :seq;

-- name: stall_steps_running :many
-- scan ok: after a gap
-- row: running
SELECT t.seq, t.waits_since AS at, t.waits_since AS since
  FROM stall AS t CROSS JOIN session AS s ON s.seq = t.session_seq
 WHERE t.waits_since IS NOT NULL AND s.machine = :machine AND t.seq > :after ORDER BY t.seq LIMIT 500;

-- name: stall_set_step :exec
UPDATE stall SET waits_since = :at WHERE seq = :seq AND waits_since IS NOT NULL;

-- name: stall_by_id :one
-- The subject of an alert's buttons and messages.
SELECT t.seq, t.id, t.status, t.is_there, t.last_tool, t.last_activity_at, t.idle_seconds, t.cause, t.progress_snapshot,
       t.nudge_count, t.auto_count, t.nudged_by, t.nudge_message, t.created_at, t.ended_at,
       s.id AS session_id, s.prompt, s.workspace_root, s.client_name, s.label, s.agent_user,
       s.protocol_mode,
       (SELECT max(n.delivered_at) FROM steering AS n WHERE n.stall_seq = t.seq) AS delivered_at
  FROM stall AS t JOIN session AS s ON s.seq = t.session_seq WHERE t.id = :id;

-- name: stall_is_open :any
-- Its agent is silent, and an alert says so.
SELECT 1 AS one FROM stall WHERE session_seq = :session AND ended_at IS NULL;

-- name: stall_list :many
-- scan ok: those that are open, for a person
SELECT t.id, t.status, t.last_tool, t.last_activity_at, t.idle_seconds, t.cause, t.nudge_count,
       t.progress_snapshot, t.created_at, s.id AS session_id, s.workspace_root, s.client_name,
       s.label, s.agent_user, s.prompt
  FROM stall AS t CROSS JOIN session AS s ON s.seq = t.session_seq
 WHERE t.ended_at IS NULL ORDER BY t.seq;

-- name: stall_since :many
-- Alerts that are new to a watcher.
SELECT t.seq, t.last_tool, t.last_activity_at, s.id AS session_id, s.client_name, s.label,
       s.agent_user, s.workspace_root
  FROM stall AS t CROSS JOIN session AS s ON s.seq = t.session_seq
 WHERE t.seq > :after AND t.ended_at IS NULL ORDER BY t.seq;

-- name: stall_untold :many
-- Nudges for which nobody has checked whether their agent has an open stream.
SELECT t.seq, t.session_seq, t.nudge_count, t.nudge_message FROM stall AS t
 WHERE t.ended_at IS NULL AND t.told_count < t.nudge_count ORDER BY t.seq LIMIT 100;

-- name: stall_tell :exec
-- type: :streamed bool
UPDATE stall SET told_count = :count, streamed_at = CASE WHEN :streamed THEN :now ELSE streamed_at END
 WHERE seq = :seq AND told_count < :count;
