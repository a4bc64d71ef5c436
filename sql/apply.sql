-- Every statement on `apply` and `file_change`, in the order of a write's life.

-- name: apply_insert :insert
INSERT INTO apply (request_seq, machine, force, state, created_at, updated_at)
VALUES (:request, :machine, :force, 'queued', :now, :now);

-- name: apply_of_request :one
-- The newest job of a request.
SELECT seq, state, force FROM apply WHERE request_seq = :request ORDER BY seq DESC LIMIT 1;

-- name: apply_done :number
-- The one that succeeded.
SELECT seq FROM apply WHERE request_seq = :request AND state = 'applied';

-- name: apply_untold :number
-- The one that succeeded, if all that a caller was told is that it goes on, or all who waited for it
-- were gone.
SELECT a.seq FROM apply AS a
 WHERE a.request_seq = :request AND a.state = 'applied'
   AND EXISTS (SELECT 1 FROM tool_call
                WHERE apply_seq = a.seq
                  AND (state = 'done' OR (state IN ('answered', 'cancelled') AND listener IS NULL)))
   AND NOT EXISTS (SELECT 1 FROM tool_call
                    WHERE apply_seq = a.seq AND state = 'done'
                      AND result ->> '$.status' IS NOT 'pending')
   AND NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = :request AND state = 'undone');

-- name: apply_undone :one
-- The job that took it back.
SELECT updated_at FROM apply WHERE request_seq = :request AND state = 'undone';

-- name: apply_read :one
-- unkept: why there is no checkpoint before it, although there should be.
-- type: replaces_file bool
SELECT seq, request_seq, state, force, forced, error_code, why, question_seq,
       (SELECT replaces_file FROM request WHERE seq = apply.request_seq) AS replaces_file,
       (SELECT k.why FROM checkpoint AS k
         WHERE k.apply_seq = apply.seq AND k.state = 'refused') AS unkept
  FROM apply WHERE seq = :seq;

-- name: apply_asked_since :any
-- Whether a later question is about a file of this one as something else; or, under another name, in
-- this workspace or one that it is in or has in it, about :hash, which is what is there now.
SELECT 1 AS yes FROM request AS q JOIN session AS s ON s.seq = q.session_seq
  JOIN request_file AS f ON f.request_seq = q.seq
  JOIN request_file AS o ON o.request_seq > q.seq
  JOIN request AS r ON r.seq = o.request_seq AND r.kind = 'clearance'
  JOIN session AS t ON t.seq = r.session_seq AND t.machine = s.machine
 WHERE q.seq = :request
   AND ((t.workspace_root = s.workspace_root AND o.target = f.target AND o.original_hash <> f.original_hash)
        OR (o.original_hash = :hash AND :hash <> 'new_file' AND r.state <> 'consumed'
            AND (t.workspace_root = s.workspace_root
                 OR instr(t.workspace_root || '/', s.workspace_root || '/') = 1
                 OR instr(s.workspace_root || '/', t.workspace_root || '/') = 1)))
 LIMIT 1;

-- name: file_change_list :many
-- What was written.
SELECT seq, path, action, other_path, hash_before, hash_after, bytes, mode_before, mode_after,
       made_from, before_seq, state
  FROM file_change WHERE apply_seq = :apply AND state = 'done' ORDER BY seq;

-- name: file_change_overwritten :many
-- What a forced write replaced: files that differed from what was shown.
SELECT c.path, i.size
  FROM file_change AS c JOIN apply AS a ON a.seq = c.apply_seq
  JOIN request_file AS f ON f.request_seq = a.request_seq AND f.target = c.path
  LEFT JOIN content AS i ON i.seq = c.before_seq
 WHERE c.apply_seq = :apply AND c.state = 'done' AND c.hash_before <> f.original_hash
 ORDER BY c.seq;

-- name: apply_next :one
-- The oldest job after :after that is queued, or that a dead applier left unfinished. :left: 0 for
-- workspaces without an unfinished job, 1 for the others: what killed its applier may do so again.
-- A job about which the operator was asked waits for the answer; one with a checkpoint before it,
-- for that, unless it was ordered before :patience.
-- type: :left bool
SELECT a.seq, a.state, a.claim, s.workspace_root
  FROM apply AS a
  JOIN request AS r ON r.seq = a.request_seq
  JOIN session AS s ON s.seq = r.session_seq
 WHERE a.machine = :machine AND a.state IN ('queued', 'claimed') AND a.seq > :after
   AND NOT EXISTS (SELECT 1 FROM request AS q
                    WHERE q.seq = a.question_seq AND q.state IN ('pending', 'interrupted'))
   AND NOT EXISTS (SELECT 1 FROM checkpoint AS k
                    WHERE k.apply_seq = a.seq AND k.created_at > :patience
                      AND k.state IN ('queued', 'claimed'))
   AND :left = EXISTS (SELECT 1 FROM apply AS l
                         JOIN request AS lr ON lr.seq = l.request_seq
                         JOIN session AS ls ON ls.seq = lr.session_seq
                        WHERE l.machine = :machine AND l.state = 'claimed'
                          AND l.state IN ('queued', 'claimed')
                          AND ls.workspace_root = s.workspace_root)
 ORDER BY a.seq LIMIT 1;

-- name: apply_is_waited_for :any
-- A job waits in the workspace of another owner than :uid.
-- scan ok: after a job of another user that has taken long
SELECT 1 AS yes
  FROM apply AS a
  JOIN request AS r ON r.seq = a.request_seq
  JOIN session AS s ON s.seq = r.session_seq
 WHERE a.machine = :machine AND a.state = 'queued'
   AND s.workspace_root NOT IN (SELECT workspace_root FROM workspace_owner
                                 WHERE machine = :machine AND uid = :uid)
 LIMIT 1;

-- name: apply_workspaces :many
-- Where the applier may have to write: the workspaces of open jobs, and up to :limit of those with
-- a session.
-- scan ok: once, when it starts
SELECT s.workspace_root
  FROM apply AS a
  JOIN request AS r ON r.seq = a.request_seq
  JOIN session AS s ON s.seq = r.session_seq
 WHERE a.machine = :machine AND a.state IN ('queued', 'claimed')
 UNION ALL
SELECT workspace_root
  FROM (SELECT DISTINCT workspace_root FROM session
         WHERE status <> 'terminated' AND machine = :machine LIMIT :limit);

-- name: apply_claim :one
-- :claim is the number that was seen: 0 rows if somebody has claimed it since.
UPDATE apply
   SET state = 'claimed', claim = claim + 1, attempts = attempts + 1, worker_id = :worker,
       updated_at = :now
 WHERE seq = :seq AND claim = :claim AND state IN ('queued', 'claimed')
RETURNING request_seq, question_seq, force, claim, attempts, kind;

-- name: apply_body_hash :one
-- The expected hash of the proposal; no row if it is in the request itself.
SELECT c.hash FROM request AS r JOIN content AS c ON c.seq = r.body_seq WHERE r.seq = :request;

-- name: file_change_insert :rows
-- 0 rows: the job is no longer ours. Likewise below.
INSERT INTO file_change (apply_seq, path, action, other_path, hash_before, hash_after, bytes,
  temp_name, backup_name, mode_before, mode_after, made_from, before_seq, state, created_at,
  updated_at)
SELECT seq, :path, :action, :other_path, :hash_before, :hash_after, :bytes, :temp_name,
       :backup_name, :mode_before, :mode_after, :made_from, :before, 'planned', :now, :now
  FROM apply WHERE seq = :apply AND claim = :claim AND state = 'claimed';

-- name: file_change_open :many
-- What a predecessor intended to do when it stopped.
SELECT path, action, other_path, hash_before, hash_after, bytes, temp_name, backup_name,
       mode_before, mode_after, made_from, before_seq, state
  FROM file_change WHERE apply_seq = :apply AND state IN ('planned', 'staged') ORDER BY seq;

-- name: file_change_staged :rows
-- All new contents are next to their targets.
UPDATE file_change SET state = 'staged', updated_at = :now
 WHERE apply_seq = (SELECT seq FROM apply
                     WHERE seq = :apply AND claim = :claim AND state = 'claimed')
   AND state = 'planned';

-- name: file_change_settle :rows
-- type: :state file_change_state
UPDATE file_change SET state = :state, updated_at = :now
 WHERE apply_seq = :apply AND state IN ('planned', 'staged');

-- name: apply_applied :rows
-- :state is applied or undone. The trigger consumes the request and answers the callers.
UPDATE apply SET state = :state, forced = :forced, updated_at = :now
 WHERE seq = :seq AND claim = :claim AND state = 'claimed';

-- name: apply_failed :rows
-- :state is refused or dead.
UPDATE apply SET state = :state, error_code = :code, why = :why, updated_at = :now
 WHERE seq = :seq AND claim = :claim AND state = 'claimed';

-- name: apply_put_back :rows
-- The machine is short of a resource; attempts stay counted.
UPDATE apply SET state = 'queued', worker_id = NULL, updated_at = :now
 WHERE seq = :seq AND claim = :claim AND state = 'claimed';

-- name: apply_ask :rows
-- The operator has been asked; as apply_put_back.
UPDATE apply SET state = 'queued', worker_id = NULL, question_seq = :question, updated_at = :now
 WHERE seq = :seq AND claim = :claim AND state = 'claimed';

-- name: file_change_images :many
-- The oldest images, with what a person needs to restore them.
SELECT f.seq, f.path, f.action, f.updated_at, f.mode_before, f.before_seq, c.hash, c.size,
       r.id AS request_id, s.workspace_root
  FROM file_change AS f
  JOIN content AS c ON c.seq = f.before_seq
  JOIN apply AS a ON a.seq = f.apply_seq
  JOIN request AS r ON r.seq = a.request_seq
  JOIN session AS s ON s.seq = r.session_seq
 WHERE f.before_seq IS NOT NULL AND f.updated_at < :cutoff
 ORDER BY f.updated_at, f.seq LIMIT :limit;
