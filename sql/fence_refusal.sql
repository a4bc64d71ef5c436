-- Every statement on `fence_refusal`.

-- name: fence_refusal_insert :exec
INSERT INTO fence_refusal (machine, worker, what, name, count, created_at)
VALUES (:machine, :worker, :what, :name, :count, :now);
