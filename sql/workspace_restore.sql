-- Every statement on `workspace_restore`, in the order of a restore's life.

-- name: checkpoint_named :one
-- The first checkpoint whose id begins with :prefix, and comes after :after. Those of a diff are
-- nobody's.
-- row: held
-- type: :prefix text
-- type: :after text
SELECT id, label, kind, session_id, workspace_root, created_at FROM checkpoint
 WHERE id >= :prefix AND id < :prefix || 'g' AND id > :after AND kind <> 'diff'
 ORDER BY id LIMIT 1;

-- name: workspace_restore_ordered :one
-- What has become of an order: after a refusal because the workspace had changed, the newest.
SELECT w.seq, w.state, w.error_code, w.why, w.checkpoint_id, w.before_id, w.request_seq,
       w.modified, w.deleted, w.added, w.left_out, w.left_named, r.id AS request_id,
       p.why AS previous_why
  FROM workspace_restore AS w LEFT JOIN request AS r ON r.seq = w.request_seq
  LEFT JOIN workspace_restore AS p ON p.seq = w.previous_seq
 WHERE w.command_seq = :command ORDER BY w.seq DESC LIMIT 1;

-- name: workspace_restore_wanted :one
-- The oldest order whose workspace has been read, or could not be read.
SELECT w.seq, w.session_seq, w.previous_seq, w.checkpoint_id, w.paths, w.to_hash, w.before_id,
       w.attempts, b.manifest AS from_hash, b.why, c.label, p.why AS previous_why
  FROM workspace_restore AS w
  JOIN checkpoint AS b ON b.id = w.before_id AND b.state IN ('done', 'refused', 'lost')
  LEFT JOIN checkpoint AS c ON c.id = w.checkpoint_id
  LEFT JOIN workspace_restore AS p ON p.seq = w.previous_seq
 WHERE w.state = 'wanted' AND b.machine = :machine
 ORDER BY w.seq LIMIT 1;

-- name: workspace_restore_compares :rows
-- Committed before it is compared: whoever dies of that leaves the number of attempts.
UPDATE workspace_restore SET attempts = :attempts WHERE seq = :seq AND state = 'wanted';

-- name: workspace_restore_running :one
-- The agents that would have to end first: how many, and the beginnings of their sessions' ids.
-- type: :restore seq
-- type: count integer
-- type: ids text
SELECT count(*) AS count, group_concat(id, ', ') AS ids
  FROM (SELECT substr(s.id, 1, 13) AS id
          FROM restore_agent AS a JOIN agent_run AS r ON r.seq = a.run_seq
          JOIN session AS s ON s.seq = r.session_seq
         WHERE a.restore_seq = :restore ORDER BY r.seq);

-- name: workspace_restore_asked :rows
UPDATE workspace_restore
   SET state = 'asked', from_hash = :from_hash, request_seq = :request, modified = :modified,
       deleted = :deleted, added = :added, named = :named, left_out = :left_out,
       left_named = :left_named, updated_at = :now
 WHERE seq = :seq AND state = 'wanted';

-- name: workspace_restore_same :rows
UPDATE workspace_restore
   SET state = 'same', why = :why, left_out = :left_out, left_named = :left_named, updated_at = :now
 WHERE seq = :seq AND state = 'wanted';

-- name: workspace_restore_refused :rows
UPDATE workspace_restore SET state = 'refused', error_code = :code, why = :why, updated_at = :now
 WHERE seq = :seq AND state = 'wanted';

-- name: workspace_restore_stop_agent :rows
-- type: :machine text
-- The agents that we started there end first; their sessions can be resumed, and what they asked
-- stays.
UPDATE agent_run
   SET stop_wanted_at = :now, stop_why = 'a checkpoint is put back', stop_keeps = 1,
       outcome = CASE state WHEN 'wanted' THEN 'interrupted' END,
       ended_at = CASE state WHEN 'wanted' THEN :now END,
       state = CASE state WHEN 'wanted' THEN 'ended' ELSE state END
 WHERE seq IN (SELECT a.run_seq FROM workspace_restore AS w CROSS JOIN restore_agent AS a
                WHERE w.state = 'approved' AND a.restore_seq = w.seq AND a.machine = :machine)
   AND stop_wanted_at IS NULL;

-- name: workspace_restore_agent :number
-- type: :machine text
-- An agent that must end first, and has not been told.
SELECT a.run_seq FROM workspace_restore AS w CROSS JOIN restore_agent AS a
 WHERE w.state = 'approved' AND a.restore_seq = w.seq AND a.machine = :machine
   AND a.stop_wanted_at IS NULL
 LIMIT 1;

-- name: workspace_restore_apply :rows
-- What was approved becomes a job, once the agents that we started there have ended.
INSERT INTO apply (request_seq, kind, machine, state, created_at, updated_at)
SELECT w.request_seq, 'restore', s.machine, 'queued', :now, :now
  FROM workspace_restore AS w JOIN session AS s ON s.seq = w.session_seq
 WHERE w.state = 'approved' AND s.machine = :machine
   AND NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = w.request_seq)
   AND NOT EXISTS (SELECT 1 FROM restore_agent WHERE restore_seq = w.seq);

-- name: workspace_restore_ready :number
-- The oldest that may become a job.
SELECT w.seq FROM workspace_restore AS w JOIN session AS s ON s.seq = w.session_seq
 WHERE w.state = 'approved' AND s.machine = :machine
   AND NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = w.request_seq)
   AND NOT EXISTS (SELECT 1 FROM restore_agent WHERE restore_seq = w.seq)
 ORDER BY w.seq LIMIT 1;

-- name: workspace_restore_of_request :one
SELECT seq, state, from_hash, to_hash, before_id, paths, stage_name FROM workspace_restore
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

-- name: workspace_restore_half :one
-- How far an open one got, once something of it may be in the workspace.
SELECT state, stage_name FROM workspace_restore
 WHERE request_seq = :request AND state IN ('planned', 'staged', 'placed');

-- name: workspace_restore_unfinished :rows
-- It can be neither done nor taken back now. The first reason stays.
UPDATE workspace_restore SET why = coalesce(why, :why), updated_at = :now
 WHERE request_seq = (SELECT request_seq FROM apply
                       WHERE seq = :apply AND claim = :claim AND state = 'claimed')
   AND state IN ('planned', 'staged', 'placed');
