-- Every statement on `policy`.

-- name: policy_insert
INSERT INTO policy (host, workspace_root, state, hash, why, created_at)
VALUES (:host, :workspace, :state, :hash, :why, :now);
