-- Every statement on files that an operator asks to see.

-- name: file_view_insert :rows
-- 0 rows: it is about no file, or Slack must not see it.
INSERT INTO file_view (request_seq, channel_id, thread_ts, created_at)
SELECT r.seq, :channel, :thread_ts, :now
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.id = :request AND s.mode <> 'local'
   AND (r.kind = 'clearance' OR EXISTS (SELECT 1 FROM request_with_file AS f WHERE f.seq = r.seq));

-- name: file_view_next :one
SELECT v.seq, v.request_seq, v.channel_id, v.thread_ts
  FROM file_view AS v JOIN request AS r ON r.seq = v.request_seq
  JOIN session AS s ON s.seq = r.session_seq
 WHERE s.machine = :machine ORDER BY v.seq LIMIT 1;

-- name: file_view_delete :exec
DELETE FROM file_view WHERE seq = :seq;

-- name: file_view_show :exec
-- type: :session seq
-- type: :request seq
-- type: :content seq
-- type: :file_name text
INSERT INTO slack_notice (kind, session_seq, request_seq, channel_id, thread_ts, content_seq,
  file_name, at)
VALUES ('file', :session, :request, :channel, :thread_ts, :content, :file_name, :now);

-- name: file_view_say :exec
-- type: :session seq
-- type: :request seq
INSERT INTO slack_notice (kind, session_seq, request_seq, channel_id, thread_ts, text, at)
VALUES ('reply', :session, :request, :channel, :thread_ts, :text, :now);
