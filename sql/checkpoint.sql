-- Every statement on `checkpoint`, in the order of its life.

-- name: checkpoint_next :one
-- The oldest after :after that is queued, or that another archivist, which has died, had in hand.
SELECT seq, workspace_root, state, attempts FROM checkpoint
 WHERE machine = :machine AND state IN ('queued', 'claimed') AND seq > :after
   AND (state = 'queued' OR worker_id IS NOT :worker)
 ORDER BY seq LIMIT 1;

-- name: checkpoint_compared :one
-- What the oldest of those that wait in a workspace is compared with, if one is.
SELECT p.manifest
  FROM checkpoint AS c LEFT JOIN comparison AS p ON p.now_id = c.id
 WHERE c.machine = :machine AND c.state IN ('queued', 'claimed')
   AND c.workspace_root = :workspace_root
 ORDER BY c.seq LIMIT 1;

-- name: checkpoint_claim :rows
-- All of a workspace: what is read from now on is true for each of them. Those that are compared with
-- another manifest than :compared, or with none, need a reading of their own.
-- type: :compared text
UPDATE checkpoint
   SET state = 'claimed', claim = claim + 1, attempts = attempts + 1, worker_id = :worker,
       updated_at = :now
 WHERE machine = :machine AND state IN ('queued', 'claimed') AND workspace_root = :workspace_root
   AND (state = 'queued' OR worker_id IS NOT :worker)
   AND (SELECT p.manifest FROM comparison AS p WHERE p.now_id = checkpoint.id) IS :compared;

-- name: checkpoint_settle :rows
-- What was read, for those that this archivist has in hand.
UPDATE checkpoint
   SET state = 'done', manifest = :manifest, file_hashes = :file_hashes, files = :files,
       links = :links, folders = :folders, left_out = :left_out, bytes = :bytes,
       added_bytes = :added_bytes, updated_at = :now
 WHERE machine = :machine AND state IN ('queued', 'claimed') AND workspace_root = :workspace_root
   AND state = 'claimed' AND worker_id = :worker;

-- name: checkpoint_refuse :rows
UPDATE checkpoint SET state = 'refused', why = :why, updated_at = :now
 WHERE machine = :machine AND state IN ('queued', 'claimed') AND workspace_root = :workspace_root
   AND state = 'claimed' AND worker_id = :worker AND attempts >= :attempts;

-- name: checkpoint_put_back :rows
UPDATE checkpoint SET state = 'queued', updated_at = :now
 WHERE machine = :machine AND state IN ('queued', 'claimed') AND workspace_root = :workspace_root
   AND state = 'claimed' AND worker_id = :worker;

-- name: checkpoint_orders :one
-- The orders for what this archivist has in hand of a workspace, as a JSON list.
-- type: seqs text
SELECT json_group_array(command_seq) AS seqs FROM checkpoint
 WHERE machine = :machine AND state IN ('queued', 'claimed') AND workspace_root = :workspace_root
   AND state = 'claimed' AND worker_id = :worker AND command_seq IS NOT NULL;

-- name: checkpoint_answer :rows
-- Those whose checkpoint is settled have their outcome, too. :seqs: a JSON list.
-- type: :seqs text
UPDATE command
   SET (outcome, why, reply) = (
         SELECT CASE c.state WHEN 'done' THEN 'done' ELSE 'refused' END, c.why,
                CASE c.state WHEN 'done' THEN
                  json_object('checkpoint_id', c.id, 'session_id', c.session_id, 'label', c.label,
                              'workspace_root', c.workspace_root, 'files', c.files,
                              'bytes', c.bytes, 'added_bytes', c.added_bytes,
                              'left_out', c.left_out, 'created_at', c.created_at) END
           FROM checkpoint AS c WHERE c.command_seq = command.seq)
 WHERE seq IN (SELECT value FROM json_each(:seqs)) AND outcome IS NULL
   AND EXISTS (SELECT 1 FROM checkpoint AS c
                WHERE c.command_seq = command.seq AND c.state IN ('done', 'refused'));

-- name: checkpoint_manifests :many
-- What must stay on disk: also what is being put back, even if its checkpoint is deleted meanwhile.
-- scan ok: once an hour
-- type: manifest text
SELECT manifest FROM checkpoint WHERE state = 'done'
UNION SELECT w.to_hash FROM restore_open AS o JOIN workspace_restore AS w USING (seq)
UNION SELECT w.from_hash FROM restore_open AS o JOIN workspace_restore AS w USING (seq)
       WHERE w.from_hash IS NOT NULL
 ORDER BY 1;

-- name: checkpoint_lose :rows
-- Objects of these are missing or damaged.
UPDATE checkpoint SET state = 'lost', why = :why, updated_at = :now
 WHERE state = 'done' AND manifest = :manifest;

-- name: checkpoint_last :one
-- Those of a diff are deleted soon.
SELECT id, label, created_at FROM checkpoint
 WHERE session_id = :session_id AND state = 'done' AND kind <> 'diff' ORDER BY seq DESC LIMIT 1;

-- name: checkpoint_labelled :many
-- Those that are called :label, newest first, of a session (NULL: of any), of a folder likewise.
-- row: held
-- type: :session text
-- type: :root text
-- type: :label text
-- scan ok: a person names one
SELECT id, label, kind, session_id, workspace_root, created_at FROM checkpoint
 WHERE label = :label COLLATE NOCASE AND state = 'done' AND kind <> 'diff'
   AND (:session IS NULL OR session_id = :session)
   AND (:root IS NULL OR workspace_root = :root)
 ORDER BY seq DESC LIMIT 6;

-- name: checkpoint_begun :one
-- How a session began.
-- row: held
SELECT id, label, kind, session_id, workspace_root, created_at FROM checkpoint
 WHERE session_id = :session AND kind = 'start' AND state = 'done' ORDER BY seq LIMIT 1;

-- name: checkpoint_unbegun :one
-- Why there is none of how a session began.
SELECT state, why FROM checkpoint
 WHERE session_id = :session AND kind = 'start' ORDER BY seq DESC LIMIT 1;

-- name: checkpoint_newest :one
-- Of a folder: the last one that was ordered, or that a session began with.
-- row: held
-- scan ok: a person asks for one
SELECT id, label, kind, session_id, workspace_root, created_at FROM checkpoint
 WHERE workspace_root = :root AND kind IN ('ordered', 'start') AND state = 'done'
 ORDER BY seq DESC LIMIT 1;

-- name: checkpoint_by_prefix :many
-- row: checkpoint
-- scan ok: a person asks for one
-- type: :prefix text
SELECT seq, id, session_id, label, kind, workspace_root, state, manifest, files, left_out, bytes,
       added_bytes, why, created_at
  FROM checkpoint WHERE id GLOB :prefix || '*' ORDER BY seq DESC LIMIT 2;

-- name: checkpoint_list :many
-- Newest first. :session: NULL: of all sessions; :root likewise.
-- row: checkpoint
-- type: :session text
-- type: :root text
-- scan ok: a person asks for the newest
SELECT seq, id, session_id, label, kind, workspace_root, state, manifest, files, left_out, bytes,
       added_bytes, why, created_at
  FROM checkpoint
 WHERE kind <> 'diff' AND (:session IS NULL OR session_id = :session) AND (:root IS NULL OR workspace_root = :root)
 ORDER BY seq DESC LIMIT :limit;

-- name: checkpoint_of_owner :many
-- What the checkpoints hold of folders that this user has, or had.
-- scan ok: before a folder of such a user is read
-- type: manifest text
-- type: files integer
-- type: bytes integer
SELECT DISTINCT c.manifest, c.files, c.bytes
  FROM workspace_owner AS o CROSS JOIN checkpoint AS c ON c.workspace_root = o.workspace_root
 WHERE o.machine = :machine AND o.uid = :uid AND c.machine = o.machine AND c.state = 'done';

-- name: checkpoint_expire :rows
-- Those before :cutoff, and all but the last :keep of a session, or of a folder without one, that
-- nobody ordered, and those that were compared. The last one of each stays, and so do what is being put back and how a session
-- that lives began.
-- scan ok: once an hour
-- type: :keep integer
-- type: :cutoff text
DELETE FROM checkpoint WHERE seq IN (
  SELECT c.seq FROM checkpoint AS c
   WHERE c.state IN ('done', 'refused', 'lost')
     AND NOT EXISTS (SELECT 1 FROM file_look AS l
                      WHERE c.id IN (l.checkpoint_id, l.now_id) AND l.state IN ('queued', 'claimed'))
     AND (c.kind = 'diff' OR EXISTS (SELECT 1 FROM checkpoint AS n
                  WHERE n.session_id IS c.session_id AND n.workspace_root = c.workspace_root
                    AND n.seq > c.seq AND n.state = 'done' AND n.kind <> 'diff'))
     AND NOT (c.kind = 'start'
              AND EXISTS (SELECT 1 FROM session
                           WHERE id = c.session_id AND status <> 'terminated'))
     AND NOT EXISTS (SELECT 1 FROM workspace_restore AS w
                      WHERE c.id IN (w.checkpoint_id, w.before_id)
                        AND w.state NOT IN ('same', 'refused', 'cancelled', 'done'))
     AND (c.created_at < :cutoff OR c.kind = 'diff'
          OR (c.kind <> 'ordered'
              AND (SELECT count(*) FROM checkpoint AS n
                    WHERE n.session_id IS c.session_id AND n.workspace_root = c.workspace_root
                      AND n.seq > c.seq
                      AND n.kind NOT IN ('ordered', 'diff')) >= :keep)) LIMIT :limit);
