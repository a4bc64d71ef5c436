-- Every statement on `checkpoint`.

-- name: checkpoint_last
SELECT id, label, created_at FROM checkpoint
 WHERE session_id = :session_id ORDER BY created_at DESC LIMIT 1;
