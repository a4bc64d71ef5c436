-- Every statement on `agent_question`, and what else a runner reads and writes for an agent that it
-- talks to.

-- name: agent_talk :one
-- How to talk to the agent of a run. previous: the agent's own id of the session, from its last
-- run.
SELECT r.protocol, r.prompt, r.generation, s.seq AS session_seq, s.machine, s.workspace_root, a.acp_version,
       s.progress_snapshot, a.auth_method, a.asking, a.refused_modes, a.startup_timeout_ms, a.max_line_length, a.framing,
       (SELECT p.peer_session FROM agent_run AS p
         WHERE p.session_seq = r.session_seq AND p.agent = r.agent AND p.generation < r.generation
           AND p.peer_session IS NOT NULL
         ORDER BY p.generation DESC LIMIT 1) AS previous
  FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq JOIN agent AS a ON a.name = r.agent
 WHERE r.seq = :run;

-- name: agent_talk_opened :exec
UPDATE agent_run SET peer_session = :peer_session WHERE seq = :run AND peer_session IS NULL;

-- name: agent_talk_heard :exec
-- The agent is alive. works: it is its turn. progress, tool: NULL keeps the old value.
-- type: :works bool
-- type: :tool text
-- type: :progress text
UPDATE session
   SET last_activity_at = :now, updated_at = :now, connectivity_status = 'online',
       idle_since = CASE WHEN :works THEN :now END, last_tool = coalesce(:tool, last_tool),
       progress_snapshot = coalesce(:progress, progress_snapshot)
 WHERE seq = :session AND status <> 'terminated';

-- name: agent_talk_is_paused :any
SELECT 1 AS yes FROM session WHERE seq = :session AND status = 'paused';

-- name: agent_talk_next :one
-- What the operator has said to it and it has not been told.
-- type: :session integer
SELECT seq, kind, text FROM steering_untold WHERE session_seq = :session ORDER BY seq LIMIT 1;

-- name: agent_talk_nudged :any
-- Whether it was nudged since its last turn began, and has not been told.
-- type: :session integer
SELECT 1 AS yes FROM steering_untold AS u
 WHERE u.session_seq = :session AND u.kind = 'nudge'
   AND u.created_at >= (SELECT began_at FROM agent_turn WHERE run_seq = :run
                         ORDER BY number DESC LIMIT 1) LIMIT 1;

-- name: agent_talk_tell :rows
UPDATE steering SET run_seq = :run, delivered_at = :now WHERE seq = :seq AND delivered_at IS NULL;

-- name: agent_question_insert :exec
INSERT INTO agent_question (request_seq, run_seq, rpc_id, tool_call_id, options, form, digest)
VALUES (:request, :run, :rpc_id, :tool_call_id, :options, :form, :digest);

-- name: agent_question_again :one
-- The same question of an earlier run of the session, whose answer nobody was given.
SELECT q.seq, q.request_seq, r.state, r.remaining_ms
  FROM agent_run AS n CROSS JOIN agent_run AS p ON p.session_seq = n.session_seq AND p.seq < n.seq
 CROSS JOIN agent_question AS q ON q.run_seq = p.seq
  JOIN request AS r ON r.seq = q.request_seq
 WHERE n.seq = :run AND q.digest = :digest AND q.answered_at IS NULL AND q.withdrawn_at IS NULL
   AND r.state IN ('pending', 'interrupted', 'approved', 'rejected', 'answered')
 ORDER BY q.seq LIMIT 1;

-- name: agent_question_replace :exec
-- The process of another run waits for the answer.
UPDATE agent_question SET withdrawn_at = :now, why = 'asked again' WHERE seq = :seq;

-- name: agent_question_missed :many
-- What earlier runs asked, as far as their agent may not know the answer: it has none yet, came
-- after their end, was sent in a turn that did not end, or is told in a return that was left. words:
-- beside the answer, unless they are a prompt of their own.
-- type: decision request_verdict
-- type: words text
-- type: chosen text
-- type: is_sent bool
WITH RECURSIVE lost (seq, is_sent) AS (
  SELECT i.seq, i.sent_at IS NOT NULL FROM agent_run AS n CROSS JOIN agent_input AS i
      ON i.session_seq = n.session_seq
   WHERE n.seq = :run AND i.ended_at IS NULL AND i.told_in IS NULL AND i.kind = 'return'
     AND i.run_seq IS NOT n.seq
   UNION ALL
  SELECT i.seq, l.is_sent OR i.sent_at IS NOT NULL
    FROM lost AS l CROSS JOIN agent_input AS i ON i.told_in = l.seq WHERE i.kind = 'return')
SELECT q.seq, r.kind, r.title, r.state, r.decision,
       CASE WHEN NOT EXISTS (SELECT 1 FROM agent_input WHERE request_seq = r.seq)
            THEN coalesce(r.instruction, r.reason) END AS words,
       (SELECT name FROM request_chosen WHERE request_seq = r.seq) AS chosen,
       q.answered_at IS NOT NULL OR coalesce(l.is_sent, 0) AS is_sent
  FROM agent_run AS n CROSS JOIN agent_run AS p ON p.session_seq = n.session_seq AND p.seq < n.seq
 CROSS JOIN agent_question AS q ON q.run_seq = p.seq
  JOIN request AS r ON r.seq = q.request_seq
  LEFT JOIN lost AS l ON l.seq = q.told_seq
 WHERE n.seq = :run AND q.withdrawn_at IS NULL AND (q.told_seq IS NULL OR l.seq IS NOT NULL)
   AND (q.answered_at IS NULL
        OR NOT EXISTS (SELECT 1 FROM agent_input AS i
                        WHERE i.run_seq = q.run_seq AND i.ended_at >= q.answered_at))
 ORDER BY q.seq;

-- name: agent_call_missed :many
-- What people said with an answer to a call of an earlier run, and no result or return told.
-- type: decision request_verdict
SELECT r.title, r.state, r.decision, a.text
  FROM agent_run AS n CROSS JOIN answer_lost AS a ON a.session_seq = n.session_seq
  JOIN request AS r ON r.seq = a.seq
 WHERE n.seq = :run AND NOT EXISTS (SELECT 1 FROM agent_question WHERE request_seq = a.seq)
 ORDER BY a.created_at, a.seq;

-- name: agent_question_late :one
-- The next of them that has been answered meanwhile.
-- type: decision request_verdict
-- type: chosen text
SELECT q.seq, q.request_seq, r.kind, r.title, r.state, r.decision, r.reason, r.instruction,
       (SELECT name FROM request_chosen WHERE request_seq = r.seq) AS chosen
  FROM agent_run AS n CROSS JOIN agent_run AS p ON p.session_seq = n.session_seq AND p.seq < n.seq
 CROSS JOIN agent_question AS q ON q.run_seq = p.seq
  JOIN request AS r ON r.seq = q.request_seq
 WHERE n.seq = :run AND q.withdrawn_at IS NULL AND q.told_seq IS NULL AND q.answered_at IS NULL
   AND r.state NOT IN ('pending', 'interrupted')
   AND (SELECT stop_wanted_at FROM agent_run WHERE seq = :run) IS NULL
 ORDER BY q.seq LIMIT 1;

-- name: agent_question_tell :exec
-- Its decision is told in a prompt.
UPDATE agent_question SET told_seq = :input WHERE seq = :seq AND told_seq IS NULL;

-- name: agent_question_decided :one
-- The next one of a run that has been answered. is_told: a prompt tells the decision, with its
-- words. Of a run that is to end none: what ends it has answered them, and its agent is told that
-- they are cancelled.
-- type: decision request_verdict
-- type: choice text
-- type: chosen text
SELECT q.seq, q.request_seq, q.rpc_id, r.kind, r.title, r.state, r.decision, r.reason, r.instruction,
       (SELECT name FROM request_chosen WHERE request_seq = r.seq) AS chosen,
       (SELECT choice FROM decision WHERE seq = r.decision_seq) AS choice,
       EXISTS (SELECT 1 FROM agent_question AS o
                WHERE o.request_seq = q.request_seq AND o.told_seq IS NOT NULL) AS is_told
  FROM agent_question AS q JOIN request AS r ON r.seq = q.request_seq
 WHERE q.run_seq = :run AND q.answered_at IS NULL AND q.withdrawn_at IS NULL
   AND r.state NOT IN ('pending', 'interrupted')
 ORDER BY q.seq LIMIT 1;

-- name: agent_question_answer :exec
UPDATE agent_question SET answered_at = :now WHERE seq = :seq;

-- name: agent_question_delivered :exec
UPDATE request SET delivered_at = :now WHERE seq = :request AND delivered_at IS NULL;

-- name: agent_question_withdraw :exec
UPDATE agent_question SET withdrawn_at = :now, why = :why
 WHERE run_seq = :run AND rpc_id = :rpc_id AND answered_at IS NULL AND withdrawn_at IS NULL;

-- name: agent_question_expire :exec
-- Nobody needs the answer to a question that is being withdrawn: it expires now.
UPDATE request SET deadline_at = :now
 WHERE state = 'pending'
   AND seq IN (SELECT request_seq FROM agent_question
                WHERE run_seq = :run AND rpc_id = :rpc_id AND answered_at IS NULL AND withdrawn_at IS NULL);

-- name: agent_question_settle :exec
INSERT INTO decision (request_id, verdict, operator_id, source, created_at)
SELECT r.id, 'timeout', 'system:clock', 'timeout', :now
  FROM agent_question AS q JOIN request AS r ON r.seq = q.request_seq
 WHERE q.run_seq = :run AND q.rpc_id = :rpc_id AND q.withdrawn_at IS NOT NULL
   AND r.state = 'pending' AND r.deadline_at <= :now;
