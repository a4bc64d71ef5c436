-- Every statement on `content`.

-- name: content_put
INSERT INTO content (hash, size, bytes) VALUES (:hash, :size, :bytes) ON CONFLICT (hash) DO NOTHING;

-- name: content_seq
SELECT seq FROM content WHERE hash = :hash;

-- name: content_get
SELECT bytes FROM content WHERE seq = :seq;
