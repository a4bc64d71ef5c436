-- Every statement on `policy` and `policy_trust`.

-- name: policy_insert :exec
INSERT INTO policy (machine, workspace_root, state, hash, why, content_seq, created_at)
VALUES (:machine, :workspace, :state, :hash, :why, :content, :now);

-- name: policy_trusted :one
-- The version that a person last trusted.
SELECT hash, content_seq FROM policy_trust
 WHERE workspace_root = :workspace AND machine = :machine ORDER BY seq DESC LIMIT 1;

-- name: policy_trust_insert :exec
INSERT INTO policy_trust (machine, workspace_root, hash, content_seq, operator_id, created_at)
VALUES (:machine, :workspace, :hash, :content, (SELECT id FROM operator WHERE is_default = 1), :now);

-- name: policy_trust_asked :one
-- Whether a version was asked about in this workspace and the answer is pending, or was no. The
-- stop of a session, which answers all its requests, does not count; nor does a newer version.
SELECT r.id, r.state FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.digest = :digest AND r.kind = 'trust' AND s.machine = :machine AND s.workspace_root = :workspace
   AND (r.state IN ('pending', 'interrupted')
        OR (r.state = 'rejected' AND r.decided_by NOT LIKE 'system:%'
            AND NOT (s.status = 'terminated' AND s.terminated_at IS r.decided_at)))
 ORDER BY r.state IN ('pending', 'interrupted') DESC, r.seq DESC LIMIT 1;

-- name: policy_trust_outdated :one
-- A request about a version other than this one that is still open in this workspace.
SELECT r.seq, r.id
  FROM request AS r INDEXED BY request_open JOIN session AS s ON s.seq = r.session_seq
 WHERE r.state IN ('pending', 'interrupted') AND r.kind = 'trust' AND r.seq > :after
   AND r.original_hash IS NOT :hash AND s.machine = :machine AND s.workspace_root = :workspace
 ORDER BY r.seq LIMIT 1;

-- name: policy_content :number
SELECT seq FROM content WHERE hash = :hash;

-- name: policy_history_begin :number
-- The start of the last :limit requests.
SELECT max(coalesce(max(seq), 0) - :limit, 0) AS after FROM request;

-- name: policy_history :many
-- What people decided in this workspace, to test a policy against: changes and commands. Prompts
-- and standbys have neither; decisions by policy or clock say nothing.
-- scan ok: for a person
-- type: paths text
-- type: decision request_verdict
SELECT r.seq, r.id, r.kind, r.file_path, r.title, r.risk_level, r.decision,
       CASE r.kind WHEN 'permission'
            THEN coalesce(r.body, (SELECT CAST(bytes AS TEXT) FROM content WHERE seq = r.body_seq))
       END AS body,
       (SELECT json_group_array(f.path) FROM
         (SELECT path FROM request_file WHERE request_seq = r.seq
           UNION SELECT target FROM request_file WHERE request_seq = r.seq) AS f) AS paths
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.seq > :after AND r.kind IN ('clearance', 'permission') AND r.decision IN ('approve', 'reject')
   AND s.workspace_root = :workspace AND r.decided_by NOT LIKE 'system:%'
 ORDER BY r.seq DESC;
