-- Every statement on `content`.

-- name: content_put :exec
INSERT INTO content (hash, size, bytes) VALUES (:hash, :size, :bytes) ON CONFLICT (hash) DO NOTHING;

-- name: content_seq :number
SELECT seq FROM content WHERE hash = :hash;

-- name: content_get :many
-- One row, borrowed: it may be large.
SELECT bytes FROM content WHERE seq = :seq;
