-- Every statement on `steering`.

-- name: steering_insert :insert
INSERT INTO steering (kind, session_id, channel_id, text, operator_id, source, created_at)
VALUES (:kind, :session_id, :channel_id, :text, :operator_id, :source, :now);

-- name: steering_outcome :one
-- is_inherited: another agent is told if this one does not come back. is_kept: it waits until its
-- session is resumed, or begun afresh. prompts: it is a prompt, told
-- now, when the agent's turn ends, or after what was said before.
-- type: prompts text
-- type: is_kept bool
SELECT t.outcome, t.why, s.id AS session_id, s.connectivity_status, s.status,
       EXISTS (SELECT 1 FROM steering_untold AS u WHERE u.seq = t.seq AND u.is_usual = 0)
       AND s.origin <> 'started' AS is_inherited,
       coalesce(s.origin = 'started' AND s.status IN ('interrupted', 'parked'), 0) AS is_kept,
       CASE r.protocol
         WHEN 'acp-stream' THEN 'now'
         WHEN 'acp' THEN
           CASE WHEN EXISTS (SELECT 1 FROM steering_untold AS u
                              WHERE u.session_seq = t.session_seq AND u.seq < t.seq) THEN 'later'
                WHEN (SELECT n.ended_at FROM agent_turn AS n WHERE n.run_seq = r.seq
                       ORDER BY n.number DESC LIMIT 1) IS NULL THEN 'turn'
                ELSE 'now' END END AS prompts
  FROM steering AS t LEFT JOIN session AS s ON s.seq = t.session_seq
  LEFT JOIN agent_run AS r ON r.session_seq = s.seq AND r.ended_at IS NULL
 WHERE t.seq = :seq;

-- name: steering_waiting :many
-- What a session is to be told next. is_left: it was said to its predecessor.
-- row: steering_said
-- type: :session integer
-- type: :after integer
SELECT t.seq, t.kind, t.text, t.source, t.created_at,
       t.session_id IS NOT NULL
       AND t.session_id IS NOT (SELECT id FROM session WHERE seq = t.session_seq) AS is_left
  FROM steering_untold AS t
 WHERE t.session_seq = :session AND t.seq > :after
 ORDER BY t.seq LIMIT :limit;

-- name: steering_together :many
-- Those of steering_waiting that are told together, in the order in which they were said: the words of
-- an answer become a row only when they are inherited, behind what was said after them.
-- row: steering_said
-- type: :session integer
-- type: :after integer
-- type: :upto integer
SELECT t.seq, t.kind, t.text, t.source, t.created_at,
       t.session_id IS NOT NULL
       AND t.session_id IS NOT (SELECT id FROM session WHERE seq = t.session_seq) AS is_left
  FROM steering_untold AS t
 WHERE t.session_seq = :session AND t.seq > :after AND t.seq <= :upto
 ORDER BY t.created_at, t.seq;

-- name: steering_left_with :number
-- type: :after integer
-- The next session after :after that was not told everything and may be the predecessor of
-- :session: of the same user, in the same workspace with the same label; without a label, one that
-- has made no call since :session began. What was said to a session that was started here waits for its own agent.
SELECT t.session_seq AS seq FROM steering_untold AS t CROSS JOIN session AS s ON s.seq = t.session_seq
 CROSS JOIN session AS n ON n.seq = :session
 WHERE t.session_seq > :after AND t.session_seq < :session AND t.source <> 'clock' AND t.is_usual = 0
   AND s.workspace_root = n.workspace_root AND s.machine = n.machine AND s.status <> 'terminated'
   AND s.agent_uid IS n.agent_uid
   AND s.origin <> 'started' AND s.label IS n.label
   AND (s.label IS NOT NULL OR coalesce(s.last_activity_at, s.created_at) <= n.created_at)
 ORDER BY t.session_seq LIMIT 1;

-- name: answer_left_with :number
-- type: :after integer
-- As steering_left_with: the next session that may be the predecessor of :session, that was not told
-- the words that answered a question, and that did not ask what is asked now, with :digest.
SELECT a.session_seq AS seq FROM answer_untold AS a CROSS JOIN session AS s ON s.seq = a.session_seq
 CROSS JOIN session AS n ON n.seq = :session
 WHERE a.session_seq > :after AND a.session_seq < :session
   AND s.workspace_root = n.workspace_root AND s.machine = n.machine AND s.status <> 'terminated'
   AND s.agent_uid IS n.agent_uid
   AND s.label IS n.label
   AND (s.label IS NOT NULL OR coalesce(s.last_activity_at, s.created_at) <= n.created_at)
   AND NOT EXISTS (SELECT 1 FROM request AS r WHERE r.session_seq = s.seq AND r.digest = :digest)
 ORDER BY a.session_seq LIMIT 1;

-- name: answer_say :exec
-- type: :before integer
-- Says them to the session as steering. Then answer_said: they are not given as an answer, too.
INSERT INTO steering (kind, session_id, text, operator_id, source, created_at)
SELECT 'steer', session_id, text, operator_id, source, decided_at
  FROM answer_untold WHERE session_seq = :before ORDER BY seq;

-- name: answer_said :exec
-- type: :before integer
UPDATE request SET delivered_at = :now
 WHERE seq IN (SELECT seq FROM answer_untold WHERE session_seq = :before);

-- name: answer_repeat :exec
-- Says the words of one answer as steering, once: its agent has not heard them, or may not have, or
-- they went with a result that has no place for them.
INSERT INTO steering (kind, session_id, text, operator_id, source, created_at)
SELECT 'steer', session_id, text, operator_id, source, decided_at FROM answer_words AS a
 WHERE seq = :request
   AND NOT EXISTS (SELECT 1 FROM steering AS o
                    WHERE o.session_seq = a.session_seq AND o.created_at = a.decided_at
                      AND o.text = a.text);

-- name: answer_uncollected :number
-- type: :session integer
-- type: :digest text
-- type: :at text
-- The next question of :session that was answered with words, and whose caller had stopped waiting
-- before it was told (it had cancelled, had hung up, or was told 'pending'), has not asked again since
-- :at, nor asks now, with :digest.
SELECT a.seq FROM answer_words AS a
 WHERE a.session_seq = :session AND a.delivered_at IS NULL AND a.digest <> :digest
   AND a.decided_at <= :at
   AND EXISTS (SELECT 1 FROM tool_call AS t
                WHERE t.seq = (SELECT max(seq) FROM tool_call WHERE request_seq = a.seq)
                  AND coalesce(t.finished_at, t.answered_at) <= :at)
   AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                    WHERE t.request_seq = a.seq
                      AND (t.told_answer = 1
                           OR (t.state IN ('waiting', 'answered')
                               AND (t.listener IS NOT NULL OR t.task_id IS NOT NULL))))
 LIMIT 1;

-- name: steering_agent_is_there :any
-- Whether the agent of a session may still call: it listens; or it is on stdio, or has hooks, or is
-- over HTTP in a running process other than ours (the connection of one that has ended is lost or closed
-- by now). One over HTTP in our own process may be an earlier run of ours, unless it has called since
-- we came; so may one of an unknown process if it has our :label, and without that if it has not called
-- recently.
SELECT 1 AS yes FROM session AS s JOIN connection AS c ON c.session_seq = s.seq
  LEFT JOIN connection AS o ON o.seq = :connection
 WHERE s.seq = :session AND c.state = 'open'
   AND (c.transport IN ('stdio', 'hook')
        OR (c.process IS NOT NULL AND c.process IS NOT o.process)
        OR ((c.process IS NOT NULL OR s.last_activity_at > :live_after)
            AND coalesce(s.last_activity_at, s.created_at) > o.created_at)
        OR (c.process IS NULL AND s.last_activity_at > :live_after
            AND (s.label IS NULL OR s.label IS NOT :label)))
UNION ALL
SELECT 1 FROM tool_call
 WHERE session_seq = :session AND state IN ('waiting', 'answered') AND state = 'waiting'
   AND listener IS NOT NULL
 LIMIT 1;

-- name: steering_inherit :exec
-- The agent of a session is gone: what it was not told goes to another one.
UPDATE steering SET session_seq = :session, call_seq = NULL
 WHERE session_seq = :before
   AND seq IN (SELECT seq FROM steering_untold WHERE session_seq = :before AND is_usual = 0)
   AND EXISTS (SELECT 1 FROM session AS s JOIN session AS n
                  ON n.workspace_root = s.workspace_root AND n.machine = s.machine AND n.seq > s.seq
                WHERE s.seq = :before AND n.seq = :session);

-- name: steering_of_call :many
-- What was sent with the result of a call.
-- row: steering_said
SELECT t.seq, t.kind, t.text, t.source, t.created_at,
       t.session_id IS NOT NULL
       AND t.session_id IS NOT (SELECT id FROM session WHERE seq = t.session_seq) AS is_left
  FROM steering AS t WHERE t.call_seq = :call ORDER BY t.created_at, t.seq;

-- name: steering_deliver :exec
UPDATE steering SET call_seq = :call, delivered_at = :now
 WHERE seq = :seq AND delivered_at IS NULL;

-- name: steering_untell :rows
-- The result of a call did not arrive, or the call was cancelled after its result had been sent: what
-- went with it goes with the next one.
UPDATE steering SET delivered_at = NULL WHERE call_seq = :call;

-- name: steering_heard :rows
-- The result of a call has arrived after all, or is sent again.
UPDATE steering SET delivered_at = :now
 WHERE delivered_at IS NULL AND call_seq = :call
   AND NOT EXISTS (SELECT 1 FROM steering AS o
                    WHERE o.session_seq = steering.session_seq AND o.seq < steering.seq
                      AND o.outcome = 'accepted' AND o.delivered_at IS NULL
                      AND o.call_seq IS NOT steering.call_seq);

-- name: steering_arrived :rows
-- The agent acts on an answer, so the result with it has arrived, whatever its client reported.
UPDATE steering SET delivered_at = :now
 WHERE delivered_at IS NULL
   AND call_seq IN (SELECT seq FROM tool_call WHERE request_seq = :request AND taken_back = 1)
   AND NOT EXISTS (SELECT 1 FROM steering AS o
                    WHERE o.session_seq = steering.session_seq AND o.seq < steering.seq
                      AND o.outcome = 'accepted' AND o.delivered_at IS NULL
                      AND o.call_seq IS NOT steering.call_seq);

-- name: steering_lost :many
-- What the agents of the sessions that an order ended are never told.
WITH ended (seq) AS (
  SELECT s.seq FROM command AS c CROSS JOIN session AS s ON s.id = +c.session_id
   WHERE c.seq = :command AND s.status = 'terminated'
   UNION ALL
  SELECT s.seq FROM command AS c CROSS JOIN session AS s ON s.terminated_at = +c.created_at
   WHERE c.seq = :command AND c.verb = 'session-cleanup' AND s.origin = 'started')
SELECT l.text, l.created_at, l.seq FROM ended AS g CROSS JOIN steering_lost AS l ON l.session_seq = g.seq
 UNION ALL
SELECT u.text, u.created_at, u.seq FROM ended AS g CROSS JOIN words_untold AS u ON u.session_seq = g.seq
 UNION ALL
SELECT a.text, a.created_at, a.seq FROM ended AS g CROSS JOIN answer_lost AS a ON a.session_seq = g.seq
 ORDER BY 2, 3;

-- name: steering_lost_since :many
-- The same of all sessions that ended after an event, for `watch`.
SELECT e.seq, s.id AS session_id, l.text, l.operator_id
  FROM event AS e CROSS JOIN steering_lost AS l ON l.seq = json_extract(e.detail, '$.steering')
  CROSS JOIN session AS s ON s.seq = l.session_seq
 WHERE e.seq > :after AND e.kind = 'steering.lost'
 UNION ALL
SELECT e.seq, s.id, u.text, u.operator_id
  FROM event AS e CROSS JOIN words_untold AS u ON u.seq = json_extract(e.detail, '$.input')
  CROSS JOIN session AS s ON s.seq = u.session_seq
 WHERE e.seq > :after AND e.kind = 'steering.lost'
 UNION ALL
SELECT e.seq, s.id, a.text, a.operator_id
  FROM event AS e CROSS JOIN answer_lost AS a ON a.seq = json_extract(e.detail, '$.request')
  CROSS JOIN session AS s ON s.seq = a.session_seq
 WHERE e.seq > :after AND e.kind = 'steering.lost'
 ORDER BY 1;
