-- Every statement on `workspace_restore`, in the order of a restore's life.

-- name: workspace_restore_apply :rows
-- What was approved becomes a job, once the agent that we started there has ended.
INSERT INTO apply (request_seq, kind, machine, state, created_at, updated_at)
SELECT w.request_seq, 'restore', s.machine, 'queued', :now, :now
  FROM workspace_restore AS w JOIN session AS s ON s.seq = w.session_seq
 WHERE w.state = 'approved' AND s.machine = :machine
   AND NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = w.request_seq)
   AND NOT EXISTS (SELECT 1 FROM agent_run
                    WHERE session_seq = w.session_seq AND ended_at IS NULL);

-- name: workspace_restore_ready :number
-- The oldest that may become a job.
SELECT w.seq FROM workspace_restore AS w JOIN session AS s ON s.seq = w.session_seq
 WHERE w.state = 'approved' AND s.machine = :machine
   AND NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = w.request_seq)
   AND NOT EXISTS (SELECT 1 FROM agent_run
                    WHERE session_seq = w.session_seq AND ended_at IS NULL)
 ORDER BY w.seq LIMIT 1;

-- name: workspace_restore_of_request :one
SELECT seq, state, from_hash, to_hash, paths, stage_name FROM workspace_restore
 WHERE request_seq = :request;

-- name: workspace_restore_planned :rows
-- 0 rows: the job is no longer ours. Likewise below.
UPDATE workspace_restore SET state = 'planned', stage_name = :stage_name, updated_at = :now
 WHERE request_seq = (SELECT request_seq FROM apply
                       WHERE seq = :apply AND claim = :claim AND state = 'claimed');

-- name: workspace_restore_staged :rows
-- Everything new is complete.
UPDATE workspace_restore SET state = 'staged', updated_at = :now
 WHERE request_seq = (SELECT request_seq FROM apply
                       WHERE seq = :apply AND claim = :claim AND state = 'claimed');

-- name: workspace_restore_placed :rows
-- Everything is in place, for good.
UPDATE workspace_restore SET state = 'placed', updated_at = :now
 WHERE request_seq = (SELECT request_seq FROM apply
                       WHERE seq = :apply AND claim = :claim AND state = 'claimed');

-- name: workspace_restore_delete :rows
-- Retention.
DELETE FROM workspace_restore WHERE seq IN (
  SELECT w.seq FROM json_each(:sessions) AS g
    CROSS JOIN workspace_restore AS w ON w.session_seq = g.value LIMIT :limit);
