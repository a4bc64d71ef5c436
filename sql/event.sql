-- Every statement on `event`. Rows are written by triggers.

-- name: timeline_since
SELECT e.seq, e.at, e.kind, e.actor, s.id AS session_id, r.id AS request_id,
       coalesce(r.title, CASE WHEN e.kind = 'agent.said' THEN
         coalesce(json_extract(t.arguments, '$.message'),
                  json_extract(t.arguments, '$.status_message')) END) AS title,
       r.file_path, e.detail
  FROM event AS e
  LEFT JOIN session AS s ON s.seq = e.session_seq
  LEFT JOIN request AS r ON r.seq = e.request_seq
  LEFT JOIN tool_call AS t ON t.seq = e.call_seq
 WHERE e.seq > :after ORDER BY e.seq LIMIT :limit;

-- name: event_nth_last
-- The seq before the last :count events, for showing only those.
-- scan ok: walks :count entries from the end
SELECT coalesce((SELECT seq FROM event ORDER BY seq DESC LIMIT 1 OFFSET :count), 0) AS seq;
