-- Every statement of the operator's desk (src/operator): what an order can be about.

-- name: operator_questions :many
-- What waits for one of three verdicts: everywhere, in one session, or in the sessions of one Slack
-- channel that Slack may answer. Each kind accepts at most one of the three.
-- row: question
-- type: is_paused bool
SELECT r.seq, r.id, r.kind, r.title, r.file_path, v.verdict, s.id AS session_id, s.workspace_root,
       s.client_name, s.label, s.agent_user,
       EXISTS (SELECT 1 FROM request_listener AS l WHERE l.request_seq = r.seq) AS listening,
       EXISTS (SELECT 1 FROM agent_question WHERE request_seq = r.seq) AS is_driven,
       s.status = 'paused' AS is_paused,
       EXISTS (SELECT 1 FROM request_with_file AS f WHERE f.seq = r.seq) AS has_file
  FROM request AS r INDEXED BY request_open JOIN session AS s ON s.seq = r.session_seq
  JOIN request_verdict AS v ON v.kind = r.kind AND v.verdict IN (:verdict, :or, :or_else)
 WHERE r.state IN ('pending', 'interrupted') AND r.seq > :after
   AND (:session IS NULL OR r.session_seq = :session)
   AND (:channel IS NULL
        OR (s.mode <> 'local'
            AND coalesce(nullif(s.channel_id, ''),
                         (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel))
 ORDER BY r.seq;

-- name: operator_question :one
-- One request, in any state, with the verdict that it would accept.
-- type: :verdict request_verdict
-- type: :or request_verdict
-- type: :or_else request_verdict
-- row: question
-- type: decision request_verdict
-- type: chosen text
-- type: withdrawn text
-- type: is_paused bool
SELECT r.seq, r.id, r.kind, r.state, r.title, r.file_path, s.id AS session_id, s.workspace_root,
       s.client_name, s.label, s.agent_user, r.decision, r.decided_by, r.decided_at, r.consumed_at,
       (SELECT why FROM request_withdrawn WHERE request_seq = r.seq) AS withdrawn,
       (SELECT name FROM request_chosen WHERE request_seq = r.seq) AS chosen,
       (SELECT verdict FROM request_verdict
         WHERE kind = r.kind AND verdict IN (:verdict, :or, :or_else)) AS verdict,
       EXISTS (SELECT 1 FROM request_listener AS l WHERE l.request_seq = r.seq) AS listening,
       EXISTS (SELECT 1 FROM agent_question WHERE request_seq = r.seq) AS is_driven,
       s.status = 'paused' AS is_paused,
       EXISTS (SELECT 1 FROM request_with_file AS f WHERE f.seq = r.seq) AS has_file
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq WHERE r.id = :id;

-- name: operator_shut :one
-- The mode of a session if that shuts out a source.
-- type: :source text
SELECT s.mode FROM session AS s JOIN source AS f ON f.name = :source AND f.shut_in_mode = s.mode
 WHERE s.seq = :session;

-- name: operator_last_question :one
-- The last request of a session that one of three verdicts would have answered.
SELECT r.id, NOT EXISTS (SELECT 1 FROM request AS n
                          WHERE n.session_seq = r.session_seq AND n.seq > r.seq) AS is_newest
  FROM request AS r
  JOIN request_verdict AS v ON v.kind = r.kind AND v.verdict IN (:verdict, :or, :or_else)
 WHERE r.session_seq = :session ORDER BY r.seq DESC LIMIT 1;

-- name: operator_writes :many
-- What can be undone: written, and not undone since; newest first.
-- row: question
SELECT r.seq, r.id, r.kind, r.title, r.file_path, s.id AS session_id, s.workspace_root, s.client_name, s.label,
       s.agent_user
  FROM apply AS a JOIN request AS r ON r.seq = a.request_seq JOIN session AS s ON s.seq = r.session_seq
 WHERE a.state = 'applied' AND a.kind = 'write' AND a.seq < :before
   AND (:session IS NULL OR r.session_seq = :session)
   AND (:channel IS NULL
        OR (s.mode <> 'local'
            AND coalesce(nullif(s.channel_id, ''),
                         (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel))
   AND NOT EXISTS (SELECT 1 FROM apply AS u WHERE u.request_seq = a.request_seq AND u.kind = 'undo'
                      AND u.state IN ('queued', 'claimed', 'undone'))
 ORDER BY a.seq DESC LIMIT 20;

-- name: operator_unwritten :one
-- The newest change that was approved after that of request :write (0: any), and is not written yet,
-- of a session that lives.
-- row: question
SELECT r.seq, r.id, r.title, r.file_path, s.id AS session_id, s.workspace_root
  FROM decision AS d CROSS JOIN request AS r ON r.id = d.request_id AND r.decision_seq = d.seq
  JOIN session AS s ON s.seq = r.session_seq
 WHERE d.seq > coalesce((SELECT decision_seq FROM request WHERE seq = :write), 0)
   AND r.state = 'approved' AND r.kind = 'clearance' AND s.status <> 'terminated'
   AND (:session IS NULL OR r.session_seq = :session)
   AND (:channel IS NULL
        OR (s.mode <> 'local'
            AND coalesce(nullif(s.channel_id, ''),
                         (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel))
 ORDER BY d.seq DESC LIMIT 1;

-- name: operator_undone :one
-- The newest one that was undone, or is about to be.
SELECT r.seq, r.id, r.title, r.file_path, s.id AS session_id, s.workspace_root, u.state, u.updated_at
  FROM apply AS u JOIN request AS r ON r.seq = u.request_seq JOIN session AS s ON s.seq = r.session_seq
 WHERE u.kind = 'undo' AND u.state IN ('queued', 'claimed', 'undone') AND u.seq < :before
   AND (:session IS NULL OR r.session_seq = :session)
   AND (:channel IS NULL
        OR (s.mode <> 'local'
            AND coalesce(nullif(s.channel_id, ''),
                         (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel))
 ORDER BY u.seq DESC LIMIT 1;

-- name: operator_sessions :many
-- Live sessions, everywhere or those of one Slack channel that Slack may act on: those that are not
-- interrupted first, then those that ask something, most recently active first. Last those that are
-- left: their agents have gone, and no person has anything to do about them.
-- scan ok: only those that live
-- row: operator_session
-- type: is_left bool
-- type: parked_with text
-- type: parked_open bool
-- type: input_tokens integer
-- type: output_tokens integer
-- type: total_tokens integer
-- type: cost_micros integer
-- type: currency text
SELECT s.seq, s.id, s.status, s.mode, s.workspace_root, s.client_name, s.label, s.agent_user,
       s.connectivity_status, s.last_tool, s.last_activity_at, s.owner_user_id, s.prompt, s.created_at, s.origin,
       (SELECT count(*) FROM request AS r
         WHERE r.session_seq = s.seq AND r.state IN ('pending', 'interrupted')) AS questions,
       s.status = 'interrupted' AND s.origin <> 'started'
         AND NOT EXISTS (SELECT 1 FROM request AS r
                          WHERE r.session_seq = s.seq AND r.state IN ('pending', 'interrupted')) AS is_left,
       (SELECT request_id FROM parked_session WHERE session_seq = s.seq) AS parked_with,
       (SELECT is_open FROM parked_session WHERE session_seq = s.seq) AS parked_open,
       (SELECT sum(u.input_tokens) FROM session_usage AS u WHERE u.session_seq = s.seq) AS input_tokens,
       (SELECT sum(u.output_tokens) FROM session_usage AS u WHERE u.session_seq = s.seq) AS output_tokens,
       (SELECT sum(u.total_tokens) FROM session_usage AS u WHERE u.session_seq = s.seq) AS total_tokens,
       (SELECT sum(u.cost_micros) FROM session_usage AS u WHERE u.session_seq = s.seq) AS cost_micros,
       (SELECT max(u.currency) FROM session_usage AS u WHERE u.session_seq = s.seq) AS currency,
       (SELECT u.context_used FROM session_usage AS u
         WHERE u.session_seq = s.seq AND u.context_size > 0 ORDER BY u.seq DESC LIMIT 1) AS context_used,
       (SELECT u.context_size FROM session_usage AS u
         WHERE u.session_seq = s.seq AND u.context_size > 0 ORDER BY u.seq DESC LIMIT 1) AS context_size
  FROM session AS s
 WHERE s.status <> 'terminated'
   AND (:channel IS NULL
        OR (s.mode <> 'local'
            AND coalesce(nullif(s.channel_id, ''),
                         (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel))
 ORDER BY is_left, s.status = 'interrupted', questions = 0, coalesce(s.last_activity_at, s.created_at) DESC,
          s.seq DESC LIMIT :limit;

-- name: operator_session :one
-- row: operator_session
SELECT seq, id, status, mode, workspace_root, client_name, label, agent_user, origin FROM session
 WHERE id = :id;

-- name: operator_local_sessions :many
-- Live sessions of one Slack channel that Slack may not act on, most recently active first. :asking:
-- only those that ask something.
-- scan ok: only those that live
-- type: :asking bool
-- row: operator_session
SELECT s.seq, s.id, s.status, s.mode, s.workspace_root, s.client_name, s.label, s.agent_user, s.origin
  FROM session AS s
 WHERE s.status <> 'terminated' AND s.mode = 'local'
   AND coalesce(nullif(s.channel_id, ''),
                (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel
   AND (:asking = 0
        OR EXISTS (SELECT 1 FROM request AS r
                    WHERE r.session_seq = s.seq AND r.state IN ('pending', 'interrupted')))
 ORDER BY s.last_activity_at DESC, s.seq DESC LIMIT :limit;

-- name: operator_any_sessions :many
-- Sessions whose id begins like :start, live or ended, newest first. :end is :start with its last
-- byte incremented.
-- row: operator_session
SELECT seq, id, status, mode, workspace_root, client_name, label, agent_user, origin FROM session
 WHERE id >= :start AND id < :end ORDER BY id DESC LIMIT :limit;
