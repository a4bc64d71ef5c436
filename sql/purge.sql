-- What retention deletes (src/retention/purge.c), in the order of its parts. :sessions: a JSON list of
-- the seq of sessions that are purged together.

-- name: $_after :number
-- for: worker time_gap file_look gate_lapse fence_refusal alias_run command decision steering policy
-- for: upkeep content seal
-- The end of the next stretch of rows to examine.
SELECT max(seq) AS seq FROM (SELECT seq FROM $ WHERE seq > :after ORDER BY seq LIMIT :limit);

-- name: content_delete_unused :rows
-- Texts in (:after, :upto] that no row refers to. A table that refers to content must be named
-- here.
DELETE FROM content
 WHERE seq > :after AND seq <= :upto
   AND NOT EXISTS (SELECT 1 FROM request WHERE description_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM request WHERE body_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM request WHERE effect_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM decision WHERE edited_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM tool_call WHERE arguments_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM tool_call WHERE result_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM slack_message WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM file_look WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM alias_run WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM policy WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM policy_trust WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM file_change WHERE before_seq = content.seq);

-- name: worker_delete_old :rows
-- Ended incarnations that nothing refers to. The last one that served stays: it tells since when
-- nobody has. A runner serves one run, whose row says all this.
-- scan ok: what is open
DELETE FROM worker
 WHERE seq > :after AND seq <= :upto AND heartbeat_at < :cutoff AND state IN ('stopped', 'died')
   AND NOT EXISTS (SELECT 1 FROM tool_call INDEXED BY tool_call_open
                    WHERE state IN ('waiting', 'answered') AND listener = worker.id)
   AND NOT EXISTS (SELECT 1 FROM apply
                    WHERE machine = worker.machine AND state IN ('queued', 'claimed')
                      AND worker_id = worker.id)
   AND (name GLOB 'runner-*'
        OR EXISTS (SELECT 1 FROM worker AS n
                    WHERE n.seq > worker.seq AND n.name = worker.name AND n.machine = worker.machine
                      AND n.heartbeat_at > n.started_at));

-- name: $_delete_old :rows
-- for: time_gap gate_lapse
-- (Deadlines were moved when a gap was recorded.)
DELETE FROM $ WHERE seq > :after AND seq <= :upto AND ended_at < :cutoff;

-- name: file_look_delete_old :rows
DELETE FROM file_look
 WHERE seq > :after AND seq <= :upto AND settled_at < :cutoff;

-- name: fence_refusal_delete_old :rows
DELETE FROM fence_refusal WHERE seq > :after AND seq <= :upto AND created_at < :cutoff;

-- name: alias_run_delete_old :rows
-- Runs in (:after, :upto] without a session that ended before the cutoff.
DELETE FROM alias_run
 WHERE seq > :after AND seq <= :upto AND session_seq IS NULL AND ended_at < :cutoff
   AND NOT EXISTS (SELECT 1 FROM slack_message WHERE alias_run_seq = alias_run.seq);

-- name: command_delete_old :rows
-- Orders for no session, or for one that is gone. One with an invalid time is as old as the orders
-- after it.
DELETE FROM command
 WHERE seq > :after AND seq <= :upto
   AND NOT EXISTS (SELECT 1 FROM apply WHERE command_seq = command.seq)
   AND NOT EXISTS (SELECT 1 FROM agent_run WHERE command_seq = command.seq)
   AND NOT EXISTS (SELECT 1 FROM file_look WHERE command_seq = command.seq)
   AND NOT EXISTS (SELECT 1 FROM alias_run WHERE command_seq = command.seq)
   AND NOT EXISTS (SELECT 1 FROM checkpoint WHERE command_seq = command.seq)
   AND CASE WHEN typeof(created_at) = 'text' AND created_at GLOB '????-??-??T??:??:??.???Z'
            THEN created_at < :cutoff
            ELSE EXISTS (SELECT 1 FROM command AS n
                          WHERE n.seq > command.seq AND typeof(n.created_at) = 'text'
                            AND n.created_at GLOB '????-??-??T??:??:??.???Z'
                            AND n.created_at < :cutoff) END
   AND NOT EXISTS (SELECT 1 FROM session WHERE id = command.session_id);

-- name: decision_delete_old :rows
-- Answers to no request, or to one that is gone. One with an invalid time is as old as those after
-- it.
DELETE FROM decision
 WHERE seq > :after AND seq <= :upto
   AND NOT EXISTS (SELECT 1 FROM request WHERE id = decision.request_id)
   AND CASE WHEN typeof(created_at) = 'text' AND created_at GLOB '????-??-??T??:??:??.???Z'
            THEN created_at < :cutoff
            ELSE EXISTS (SELECT 1 FROM decision AS n
                          WHERE n.seq > decision.seq AND n.seq <= :upto AND n.created_at < :cutoff
                            AND n.created_at GLOB '????-??-??T??:??:??.???Z') END;

-- name: steering_delete_old :rows
-- What was said to nobody. A task that waits for its session stays.
DELETE FROM steering
 WHERE seq > :after AND seq <= :upto AND session_seq IS NULL AND outcome IS NOT 'accepted'
   AND CASE WHEN typeof(created_at) = 'text' AND created_at GLOB '????-??-??T??:??:??.???Z'
            THEN created_at < :cutoff
            ELSE EXISTS (SELECT 1 FROM steering AS n
                          WHERE n.seq > steering.seq AND n.seq <= :upto AND n.created_at < :cutoff
                            AND n.created_at GLOB '????-??-??T??:??:??.???Z') END;

-- name: policy_delete_old :rows
-- The newest one of each workspace stays: it is in force.
DELETE FROM policy
 WHERE seq > :after AND seq <= :upto AND created_at < :cutoff
   AND EXISTS (SELECT 1 FROM policy AS n
                WHERE n.workspace_root = policy.workspace_root AND n.machine = policy.machine
                  AND n.seq > policy.seq);

-- name: upkeep_delete_old :rows
-- The newest one of each kind stays: it determines when the next one is due.
DELETE FROM upkeep
 WHERE seq > :after AND seq <= :upto AND ended_at < :cutoff
   AND EXISTS (SELECT 1 FROM upkeep AS n WHERE n.kind = upkeep.kind AND n.seq > upkeep.seq);

-- name: $_delete :rows
-- for: auto_approval auto_notice steering stall pause agent_run gate_rewrite tool_call workspace_restore
-- for: connection alias_run file_look gate_lapse
DELETE FROM $ WHERE seq IN (
  SELECT x.seq FROM json_each(:sessions) AS g CROSS JOIN $ AS x ON x.session_seq = g.value LIMIT :limit);

-- name: $_delete :rows
-- for: agent_line agent_turn agent_question agent_usage
DELETE FROM $ WHERE seq IN (
  SELECT x.seq FROM json_each(:sessions) AS g CROSS JOIN agent_run AS r ON r.session_seq = g.value
    CROSS JOIN $ AS x ON x.run_seq = r.seq LIMIT :limit);

-- name: apply_delete :rows
DELETE FROM apply WHERE seq IN (
  SELECT a.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
    CROSS JOIN apply AS a ON a.request_seq = r.seq LIMIT :limit);

-- name: slack_outbox_delete_of :rows
DELETE FROM slack_outbox WHERE seq IN (
  SELECT o.seq FROM json_each(:sessions) AS g CROSS JOIN slack_message AS m ON m.session_seq = g.value
   CROSS JOIN slack_outbox AS o ON o.message_seq = m.seq
   UNION ALL
  SELECT o.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
   CROSS JOIN slack_message AS m ON m.request_seq = r.seq
   CROSS JOIN slack_outbox AS o ON o.message_seq = m.seq LIMIT :limit);

-- name: slack_message_delete :rows
-- Those of its requests, too: an adopted one is in the thread of another session.
DELETE FROM slack_message WHERE seq IN (
  SELECT m.seq FROM json_each(:sessions) AS g CROSS JOIN slack_message AS m ON m.session_seq = g.value
   UNION ALL
  SELECT m.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
   CROSS JOIN slack_message AS m ON m.request_seq = r.seq LIMIT :limit);

-- name: agent_input_delete :rows
-- Oldest first: an older one refers to a newer one.
DELETE FROM agent_input WHERE seq IN (
  SELECT i.seq FROM json_each(:sessions) AS g CROSS JOIN agent_input AS i ON i.session_seq = g.value
   ORDER BY i.seq LIMIT :limit);

-- name: gate_file_delete :rows
DELETE FROM gate_file WHERE seq IN (
  SELECT f.seq FROM json_each(:sessions) AS g CROSS JOIN gate_call AS c ON c.session_seq = g.value
   CROSS JOIN gate_file AS f ON f.gate_seq = c.seq LIMIT :limit);

-- name: gate_call_delete :rows
-- Newest first: the end of a tool refers to its beginning.
DELETE FROM gate_call WHERE seq IN (
  SELECT c.seq FROM json_each(:sessions) AS g CROSS JOIN gate_call AS c ON c.session_seq = g.value
   ORDER BY c.seq DESC LIMIT :limit);

-- name: file_change_delete :rows
DELETE FROM file_change WHERE seq IN (
  SELECT f.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
    JOIN apply AS a ON a.request_seq = r.seq JOIN file_change AS f ON f.apply_seq = a.seq
   LIMIT :limit);

-- name: checkpoint_delete :rows
DELETE FROM checkpoint WHERE seq IN (
  SELECT c.seq FROM json_each(:sessions) AS g CROSS JOIN session AS s ON s.seq = g.value
    JOIN checkpoint AS c ON c.session_id = s.id LIMIT :limit);

-- name: decision_delete :rows
-- (+ : the indexes are on a column without a type.)
DELETE FROM decision WHERE seq IN (
  SELECT d.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
   CROSS JOIN decision AS d ON (d.request_id = +r.id AND d.outcome = 'applied')
                            OR (d.request_id = +r.id AND d.outcome <> 'applied') LIMIT :limit);

-- name: request_newest :number
-- The first of the newest requests that go together, with their files: about :limit rows. Newest
-- first, because a request may refer to the same one asked before.
SELECT min(seq) FROM (
  SELECT r.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
    LEFT JOIN request_file AS f ON f.request_seq = r.seq
   ORDER BY r.seq DESC LIMIT :limit);

-- name: request_file_delete :rows
-- type: :first integer
DELETE FROM request_file WHERE seq IN (
  SELECT f.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
    CROSS JOIN request_file AS f ON f.request_seq = r.seq WHERE r.seq >= :first);

-- name: request_delete :rows
-- type: :first integer
DELETE FROM request WHERE seq IN (
  SELECT r.seq FROM json_each(:sessions) AS g CROSS JOIN request AS r ON r.session_seq = g.value
   WHERE r.seq >= :first);

-- name: session_delete :rows
DELETE FROM session
 WHERE seq IN (SELECT value FROM json_each(:sessions)) AND status = 'terminated';

-- name: session_bound :many
-- :session, and all sessions that refer to a row of it or, in turn, of one of them: they are purged
-- together. is_old: whether this one may be deleted: images of files that its writes replaced are
-- deleted first. CROSS JOIN fixes the order of the tables: SQLite 3.46 may otherwise begin at
-- tool_call, based on statistics.
-- scan ok: walks what it has found
-- type: :session integer
WITH RECURSIVE bound (seq) AS (
  SELECT :session
  UNION
  SELECT n.seq FROM bound AS b CROSS JOIN session AS s ON s.seq = b.seq
    CROSS JOIN session AS n ON n.restart_of = s.id
  UNION
  SELECT n.session_seq FROM bound AS b CROSS JOIN request AS r ON r.session_seq = b.seq
    CROSS JOIN request AS n ON n.previous_seq = r.seq
  UNION
  SELECT t.session_seq FROM bound AS b CROSS JOIN request AS r ON r.session_seq = b.seq
    CROSS JOIN tool_call AS t ON t.request_seq = r.seq
  UNION
  SELECT t.session_seq FROM bound AS b CROSS JOIN request AS r ON r.session_seq = b.seq
    CROSS JOIN apply AS a ON a.request_seq = r.seq CROSS JOIN tool_call AS t ON t.apply_seq = a.seq
  UNION
  SELECT n.session_seq FROM bound AS b CROSS JOIN stall AS t ON t.session_seq = b.seq
    CROSS JOIN steering AS n ON n.stall_seq = t.seq
  UNION
  SELECT t.session_seq FROM bound AS b CROSS JOIN connection AS c ON c.session_seq = b.seq
    CROSS JOIN tool_call AS t ON t.connection_seq = c.seq
)
SELECT b.seq,
       s.terminated_at IS NOT NULL AND s.terminated_at < :cutoff
       AND NOT EXISTS (SELECT 1 FROM request AS r JOIN apply AS a ON a.request_seq = r.seq
                         JOIN file_change AS f ON f.apply_seq = a.seq
                        WHERE r.session_seq = b.seq AND f.before_seq IS NOT NULL) AS is_old
  FROM bound AS b CROSS JOIN session AS s ON s.seq = b.seq;

-- name: session_cut_off :any
-- Whether a purge has begun to delete a session that ended before :cutoff: an answer of it is gone.
SELECT 1 AS yes FROM session AS s CROSS JOIN request AS r ON r.session_seq = s.seq
 WHERE s.terminated_at IS NOT NULL AND s.terminated_at < :cutoff AND r.decision_seq IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM decision WHERE seq = r.decision_seq) LIMIT 1;

-- name: session_old :one
-- The next session that ended before :cutoff, in the order of their ends.
SELECT seq, terminated_at FROM session
 WHERE terminated_at IS NOT NULL AND terminated_at < :cutoff
   AND (terminated_at, seq) > (:after_at, :after)
 ORDER BY terminated_at, seq LIMIT 1;

-- name: file_change_forget_these :rows
-- :rows: a JSON list of seq.
UPDATE file_change SET before_seq = NULL WHERE seq IN (SELECT value FROM json_each(:rows));

-- name: file_change_image_old :any
-- Whether an image is older than :cutoff.
SELECT 1 AS any FROM file_change WHERE before_seq IS NOT NULL AND updated_at < :cutoff LIMIT 1;

-- name: file_change_forget :rows
-- Retention: the bytes before a write are only kept for a while. Then it cannot be undone.
UPDATE file_change SET before_seq = NULL WHERE seq IN (
  SELECT seq FROM file_change WHERE before_seq IS NOT NULL AND updated_at < :cutoff LIMIT :limit);

-- name: slack_outbox_old :any
SELECT 1 AS any FROM slack_outbox WHERE settled_at < :cutoff AND form <> 'line' LIMIT 1;

-- name: slack_outbox_delete_old :rows
-- What was sent long ago; the messages stay with their sessions, and with them that Slack shows
-- only a line about a request.
DELETE FROM slack_outbox WHERE seq IN (
  SELECT seq FROM slack_outbox WHERE settled_at < :cutoff AND form <> 'line'
   ORDER BY settled_at LIMIT :limit);

-- name: slack_message_old :any
SELECT 1 AS any FROM slack_message AS m
 WHERE m.session_seq IS NULL AND m.created_at < :cutoff
   AND NOT EXISTS (SELECT 1 FROM slack_outbox WHERE message_seq = m.seq) LIMIT 1;

-- name: slack_message_delete_old :rows
-- Those without a session, once they have been sent.
DELETE FROM slack_message WHERE seq IN (
  SELECT m.seq FROM slack_message AS m
   WHERE m.session_seq IS NULL AND m.created_at < :cutoff
     AND NOT EXISTS (SELECT 1 FROM slack_outbox WHERE message_seq = m.seq) LIMIT :limit);

-- name: slack_read_old :any
-- Whatever its age: it has served its purpose.
SELECT 1 AS any FROM slack_read WHERE expires_at < max(:cutoff, :now) LIMIT 1;

-- name: slack_read_delete_old :rows
DELETE FROM slack_read WHERE seq IN (
  SELECT seq FROM slack_read WHERE expires_at < max(:cutoff, :now) ORDER BY expires_at LIMIT :limit);

-- name: slack_envelope_old :any
-- scan ok: reads the first entry
SELECT 1 AS any FROM (SELECT created_at FROM slack_envelope ORDER BY seq LIMIT 1)
 WHERE typeof(created_at) <> 'text' OR created_at < :cutoff;

-- name: slack_envelope_delete_old :rows
-- scan ok: reads the first :limit entries
DELETE FROM slack_envelope
 WHERE (typeof(created_at) <> 'text' OR created_at < :cutoff)
   AND seq IN (SELECT seq FROM slack_envelope ORDER BY seq LIMIT :limit);

-- name: session_abandoned :any
-- Whether a session was interrupted before :cutoff and never came back, or has been silent since
-- then although its agent, over HTTP, may still be there.
SELECT 1 AS one FROM session AS s
 WHERE s.status = 'interrupted' AND s.updated_at < :cutoff
   AND NOT EXISTS (SELECT 1 FROM agent_run AS r WHERE r.session_seq = s.seq AND r.ended_at IS NULL)
UNION ALL
SELECT 1 FROM session AS s
 WHERE s.status <> 'terminated' AND s.last_activity_at < :cutoff AND s.status <> 'interrupted'
   AND NOT EXISTS (SELECT 1 FROM connection AS c
                    WHERE c.session_seq = s.seq AND c.state = 'open' AND c.transport = 'stdio')
   AND NOT EXISTS (SELECT 1 FROM tool_call AS c
                    WHERE c.session_seq = s.seq AND c.state IN ('waiting', 'answered')
                      AND c.state = 'waiting')
   AND NOT EXISTS (SELECT 1 FROM agent_run AS r WHERE r.session_seq = s.seq AND r.ended_at IS NULL)
 LIMIT 1;

-- name: session_terminate_abandoned :rows
UPDATE session SET status = 'terminated', terminated_at = :now, updated_at = :now
 WHERE seq IN (
  SELECT s.seq FROM session AS s
   WHERE s.status = 'interrupted' AND s.updated_at < :cutoff
     AND NOT EXISTS (SELECT 1 FROM agent_run AS r WHERE r.session_seq = s.seq AND r.ended_at IS NULL)
  UNION ALL
  SELECT s.seq FROM session AS s
   WHERE s.status <> 'terminated' AND s.last_activity_at < :cutoff AND s.status <> 'interrupted'
     AND NOT EXISTS (SELECT 1 FROM connection AS c
                      WHERE c.session_seq = s.seq AND c.state = 'open' AND c.transport = 'stdio')
     AND NOT EXISTS (SELECT 1 FROM tool_call AS c
                      WHERE c.session_seq = s.seq AND c.state IN ('waiting', 'answered')
                        AND c.state = 'waiting')
     AND NOT EXISTS (SELECT 1 FROM agent_run AS r WHERE r.session_seq = s.seq AND r.ended_at IS NULL)
   LIMIT :limit);

-- name: answer_old :any
-- scan ok: reads the first entry
SELECT 1 AS any FROM (SELECT created_at FROM ended_call ORDER BY seq LIMIT 1) WHERE created_at < :cutoff;

-- name: answer_delete_old :rows
-- scan ok: reads the first :limit entries
DELETE FROM ended_call
 WHERE created_at < :cutoff AND seq IN (SELECT seq FROM ended_call ORDER BY seq LIMIT :limit);

-- name: connection_unused :any
-- Whether one from before :cutoff never called a tool.
SELECT 1 AS one FROM connection
 WHERE session_seq IS NULL AND created_at < :cutoff AND state <> 'open' LIMIT 1;

-- name: connection_delete_unused :rows
DELETE FROM connection WHERE seq IN (
  SELECT seq FROM connection
   WHERE session_seq IS NULL AND created_at < :cutoff AND state <> 'open' LIMIT :limit);
