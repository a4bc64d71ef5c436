-- Every statement on looks into a workspace.

-- name: file_look_next :one
-- The oldest look after :after that is queued, or that a dead reader left. The workspace of a diff
-- has been read, or could not be read.
SELECT seq, claim, workspace_root
  FROM file_look
 WHERE machine = :machine AND state IN ('queued', 'claimed') AND seq > :after
   AND (state = 'queued' OR worker_id IS NOT :worker)
   AND (now_id IS NULL OR EXISTS (SELECT 1 FROM checkpoint WHERE id = now_id
                                     AND state IN ('done', 'refused', 'lost')))
 ORDER BY seq LIMIT 1;

-- name: file_look_claim :one
-- :claim is the number that was seen: no row if somebody has claimed it since.
UPDATE file_look
   SET state = 'claimed', claim = claim + 1, attempts = attempts + 1, worker_id = :worker
 WHERE seq = :seq AND claim = :claim AND state IN ('queued', 'claimed')
RETURNING seq, what, workspace_root, session_seq, path, depth, first_line, last_line, claim, attempts;

-- name: file_look_sides :one
-- What a diff compares.
SELECT p.id, p.label, p.kind, p.created_at, p.manifest AS before, n.manifest AS after, n.why
  FROM file_look AS l LEFT JOIN checkpoint AS p ON p.id = l.checkpoint_id
  LEFT JOIN checkpoint AS n ON n.id = l.now_id
 WHERE l.seq = :seq;

-- name: file_look_settle :rows
-- 0 rows: somebody else has claimed it since. :why, or the rest.
-- type: :content seq
-- type: :is_long bool
UPDATE file_look
   SET state = CASE WHEN :why IS NULL THEN 'done' ELSE 'refused' END, content_seq = :content,
       is_long = :is_long, detail = :detail, why = :why, settled_at = :now
 WHERE seq = :seq AND claim = :claim AND state = 'claimed';

-- name: file_look_answer :exec
-- The end of a look is the end of its order. (Not done by a trigger: orders create looks, and rules
-- must not form a cycle.)
UPDATE command
   SET (outcome, why, reply) = (
     SELECT CASE l.state WHEN 'done' THEN 'done' ELSE 'refused' END, l.why, l.detail
       FROM file_look AS l WHERE l.seq = :seq)
 WHERE seq = (SELECT command_seq FROM file_look WHERE seq = :seq) AND outcome IS NULL;

-- name: file_look_places :many
-- The workspaces in which agents work, everywhere or in one Slack channel that Slack may act on,
-- each with its newest session.
-- scan ok: only those that live
-- type: newest seq
SELECT s.workspace_root, max(s.seq) AS newest, s.id AS id
  FROM session AS s
 WHERE s.status <> 'terminated'
   AND (:channel IS NULL
        OR (s.mode <> 'local'
            AND coalesce(nullif(s.channel_id, ''),
                         (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel))
 GROUP BY s.workspace_root ORDER BY newest DESC LIMIT 6;

-- name: file_look_of_command :one
SELECT seq, what, state, content_seq FROM file_look WHERE command_seq = :command;

-- name: file_look_read :one
SELECT what, state, path, depth, first_line, content_seq, is_long, detail, why
  FROM file_look WHERE seq = :seq;
