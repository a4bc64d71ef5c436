-- Every statement on `checkpoint`.

-- name: checkpoint_last
SELECT id, label, created_at FROM checkpoint
 WHERE session_id = :session_id ORDER BY created_at DESC LIMIT 1;

-- name: checkpoint_delete
DELETE FROM checkpoint WHERE id IN (
  SELECT c.id FROM session AS s JOIN checkpoint AS c ON c.session_id = s.id
   WHERE s.seq = :session LIMIT :limit);
