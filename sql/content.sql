-- Every statement on `content`.

-- name: content_put :exec
INSERT INTO content (hash, size, bytes) VALUES (:hash, :size, :bytes) ON CONFLICT (hash) DO NOTHING;

-- name: content_seq :number
SELECT seq FROM content WHERE hash = :hash;

-- name: content_get :many
-- One row, borrowed: it may be large.
SELECT bytes FROM content WHERE seq = :seq;

-- name: content_after :number
-- The end of the next stretch of texts to examine.
SELECT max(seq) AS seq FROM (SELECT seq FROM content WHERE seq > :after ORDER BY seq LIMIT :limit);

-- name: content_delete_unused :rows
-- Texts in (:after, :upto] that no row refers to. A table that refers to content must be named
-- here.
DELETE FROM content
 WHERE seq > :after AND seq <= :upto
   AND NOT EXISTS (SELECT 1 FROM request WHERE description_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM request WHERE body_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM request WHERE effect_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM decision WHERE edited_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM tool_call WHERE arguments_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM tool_call WHERE result_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM slack_message WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM file_look WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM alias_run WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM policy WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM policy_trust WHERE content_seq = content.seq)
   AND NOT EXISTS (SELECT 1 FROM file_change WHERE before_seq = content.seq);
