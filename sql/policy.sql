-- Every statement on `policy`.

-- name: policy_insert
INSERT INTO policy (host, workspace_root, state, hash, why, created_at)
VALUES (:host, :workspace, :state, :hash, :why, :now);

-- name: policy_history
-- What people decided in this workspace, for a policy to be tried on. Prompts and standbys have no
-- files; what policy or the clock decided tells nothing.
-- scan ok: for a person
SELECT r.seq, r.id, r.file_path, r.risk_level, r.decision,
       (SELECT json_group_array(f.path) FROM request_file AS f WHERE f.request_seq = r.seq) AS paths
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.seq > :after AND r.kind = 'clearance' AND r.decision IN ('approve', 'reject')
   AND s.workspace_root = :workspace AND r.decided_by NOT LIKE 'system:%'
 ORDER BY r.seq;
