-- Every statement on `fence_refusal`.

-- name: fence_refusal_insert :exec
INSERT INTO fence_refusal (machine, worker, what, name, count, created_at)
VALUES (:machine, :worker, :what, :name, :count, :now);

-- name: fence_refusal_after :number
-- The end of the next stretch of rows to examine.
SELECT max(seq) AS seq FROM (SELECT seq FROM fence_refusal WHERE seq > :after ORDER BY seq LIMIT :limit);

-- name: fence_refusal_delete_old :rows
DELETE FROM fence_refusal WHERE seq > :after AND seq <= :upto AND created_at < :cutoff;
