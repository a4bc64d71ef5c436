-- Every statement on `event`. Rows are written by triggers.

-- name: timeline_since :many
-- forced: a changed file was overwritten. how: of an answer in an editor, how it was given.
-- type: forced bool
-- type: how text
SELECT seq, at, kind, actor, session_id, request_id, title, file_path, detail,
       traceparent, agent_user, coalesce(json_extract(detail, '$.forced') = 1, 0) AS forced,
       CASE WHEN t.kind IN ('request.approved', 'request.rejected')
            THEN (SELECT coalesce(d.reason, 'in the editor')
                    FROM request AS r JOIN decision AS d ON d.seq = r.decision_seq
                   WHERE r.id = t.request_id AND d.source = 'editor') END AS how
  FROM timeline AS t WHERE seq > :after ORDER BY seq LIMIT :limit;

-- name: event_nth_last :number
-- The seq before the last :count events, to show only those.
-- scan ok: walks :count entries from the end
SELECT coalesce((SELECT seq FROM event ORDER BY seq DESC LIMIT 1 OFFSET :count), 0) AS seq;

-- name: timeline_of_session :many
-- The newest events of one session, oldest first.
SELECT t.at, t.kind, t.actor, t.request_id, t.title, t.file_path
  FROM timeline AS t
 WHERE t.seq IN (SELECT seq FROM event WHERE session_seq = :session ORDER BY seq DESC LIMIT :limit)
 ORDER BY t.seq;
