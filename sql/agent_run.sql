-- Every statement on `agent_run`.

-- name: agent_run_delete :rows
DELETE FROM agent_run WHERE seq IN (
  SELECT r.seq FROM json_each(:sessions) AS g CROSS JOIN agent_run AS r ON r.session_seq = g.value
   LIMIT :limit);

-- name: agent_run_last_event :number
-- From here on somebody watches.
SELECT max(seq) AS seq FROM event;

-- name: agent_run_since :many
-- What became of agents that we started: each that runs, and each that ended.
SELECT e.seq, e.kind = 'agent.running' AS is_running, s.id AS session_id, r.agent, r.prompt, r.outcome,
       r.exit_code, r.exit_signal, r.why, r.stderr_tail
  FROM event AS e CROSS JOIN agent_run AS r ON r.seq = json_extract(e.detail, '$.run')
  CROSS JOIN session AS s ON s.seq = r.session_seq
 WHERE e.seq > :after AND e.kind GLOB 'agent.*' ORDER BY e.seq;
