-- Every statement on `agent_run`.

-- name: agent_run_delete :rows
DELETE FROM agent_run WHERE seq IN (
  SELECT r.seq FROM json_each(:sessions) AS g CROSS JOIN agent_run AS r ON r.session_seq = g.value
   LIMIT :limit);
