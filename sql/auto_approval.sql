-- Every statement on `auto_approval` and `auto_notice`.

-- name: auto_approval_insert :exec
INSERT INTO auto_approval (session_seq, request_seq, subject, rule, hash, due_at, created_at)
VALUES (:session, :request, :subject, :rule, :hash, :due_at, :now);

-- name: auto_notice_next_due :one
-- row: instant
SELECT min(due_at) AS at FROM auto_notice WHERE told_at IS NULL;

-- name: auto_notice_due :rows
UPDATE auto_notice SET told_at = :at
 WHERE seq IN (SELECT seq FROM auto_notice
                WHERE told_at IS NULL AND due_at <= :at ORDER BY due_at LIMIT 100);

-- name: auto_notice_due_list :many
-- type: :skip integer
-- The same, row by row, if the rules refuse one of them.
-- row: due
SELECT seq FROM auto_notice
 WHERE told_at IS NULL AND due_at <= :at ORDER BY due_at, seq LIMIT 100 OFFSET :skip;

-- name: auto_notice_due_one :rows
UPDATE auto_notice SET told_at = :at WHERE seq = :seq AND told_at IS NULL;

-- name: auto_approval_count :number
SELECT count(*) AS approvals FROM auto_approval WHERE notice_seq = :notice;

-- name: auto_approval_of_notice :many
-- The contents of a summary: each thing once, with its count.
SELECT subject, rule, count(*) AS times FROM auto_approval
 WHERE notice_seq = :notice GROUP BY subject, rule ORDER BY min(seq) LIMIT :limit;
