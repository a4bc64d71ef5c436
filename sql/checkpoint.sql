-- Every statement on `checkpoint`.

-- name: checkpoint_last :one
SELECT id, label, created_at FROM checkpoint
 WHERE session_id = :session_id ORDER BY created_at DESC LIMIT 1;

-- name: checkpoint_delete :rows
DELETE FROM checkpoint WHERE id IN (
  SELECT c.id FROM json_each(:sessions) AS g CROSS JOIN session AS s ON s.seq = g.value
    JOIN checkpoint AS c ON c.session_id = s.id LIMIT :limit);
