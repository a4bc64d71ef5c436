-- Every statement on `policy`.

-- name: policy_insert
INSERT INTO policy (host, workspace_root, state, hash, why, created_at)
VALUES (:host, :workspace, :state, :hash, :why, :now);

-- name: policy_history
-- What people decided in this workspace, for a policy to be tried on: changes, and commands. Prompts
-- and standbys have neither; what policy or the clock decided tells nothing.
-- scan ok: for a person
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
 ORDER BY r.seq;

-- name: policy_after
-- The end of the next stretch of rows to look through.
SELECT max(seq) AS seq FROM (SELECT seq FROM policy WHERE seq > :after ORDER BY seq LIMIT :limit);

-- name: policy_delete_old
-- The newest of each workspace stays: it is the one in force.
DELETE FROM policy
 WHERE seq > :after AND seq <= :upto AND created_at < :cutoff
   AND EXISTS (SELECT 1 FROM policy AS n
                WHERE n.workspace_root = policy.workspace_root AND n.host = policy.host
                  AND n.seq > policy.seq);
