-- Every statement on `apply` and `file_change`, in the order of a write's life.

-- name: apply_insert
INSERT INTO apply (request_seq, host, force, state, created_at, updated_at)
VALUES (:request, :host, :force, 'queued', :now, :now);

-- name: apply_of_request
-- The newest job of a request.
SELECT seq, state, force FROM apply WHERE request_seq = :request ORDER BY seq DESC LIMIT 1;

-- name: apply_done
-- The one that succeeded.
SELECT seq FROM apply WHERE request_seq = :request AND state = 'applied';

-- name: apply_read
SELECT seq, request_seq, state, force, forced, error_code, error_message FROM apply WHERE seq = :seq;

-- name: file_change_list
SELECT seq, path, action, hash_before, hash_after, bytes, temp_name, state
  FROM file_change WHERE apply_seq = :apply ORDER BY seq;
