-- Every statement on `workspace_owner`.

-- name: workspace_owner_now :one
-- As whom files of a workspace are read and written.
SELECT seq, uid, name FROM workspace_owner
 WHERE machine = :machine AND workspace_root = :workspace AND accepted_at IS NOT NULL
 ORDER BY accepted_at DESC, seq DESC LIMIT 1;

-- name: workspace_owner_first :exec
INSERT INTO workspace_owner (machine, workspace_root, uid, name, found_at, accepted_at)
VALUES (:machine, :workspace, :uid, :name, :now, :now);

-- name: workspace_owner_waits :any
SELECT 1 FROM workspace_owner
 WHERE machine = :machine AND workspace_root = :workspace AND uid = :uid AND accepted_at IS NULL;

-- name: workspace_owner_found :exec
INSERT INTO workspace_owner (machine, workspace_root, uid, name, found_at)
VALUES (:machine, :workspace, :uid, :name, :now);

-- name: workspace_owner_list :many
-- Those that wait for an operator, and whose the folder is so far.
-- scan ok: an operator asks
SELECT w.seq, w.workspace_root, w.uid, w.name, w.found_at,
       (SELECT o.name FROM workspace_owner AS o
         WHERE o.machine = w.machine AND o.workspace_root = w.workspace_root
           AND o.accepted_at IS NOT NULL
         ORDER BY o.accepted_at DESC, o.seq DESC LIMIT 1) AS so_far
  FROM workspace_owner AS w
 WHERE w.machine = :machine AND w.accepted_at IS NULL
 ORDER BY w.seq;

-- name: workspace_owner_accept :rows
-- The last that waits. Without :operator, the default operator accepts it.
-- type: :operator text
UPDATE workspace_owner
   SET accepted_at = :now,
       accepted_by = coalesce(:operator, (SELECT id FROM operator WHERE is_default = 1))
 WHERE seq = (SELECT max(w.seq) FROM workspace_owner AS w
               WHERE w.machine = :machine AND w.workspace_root = :workspace
                 AND w.accepted_at IS NULL);
