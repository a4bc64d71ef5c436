-- Every statement on `agent_input`.

-- name: agent_input_insert :insert
-- type: :steering_seq seq
-- type: :request_seq seq
INSERT INTO agent_input (session_seq, kind, text, steering_seq, request_seq, created_at)
VALUES (:session, :kind, :text, :steering_seq, :request_seq, :now);

-- name: agent_input_any :any
SELECT 1 AS yes FROM agent_input WHERE session_seq = :session;

-- name: agent_input_next :one
-- What is to be sent next.
SELECT seq, text FROM agent_input
 WHERE session_seq = :session AND sent_at IS NULL AND ended_at IS NULL AND told_in IS NULL
 ORDER BY seq LIMIT 1;

-- name: agent_input_send :rows
-- Before the bytes go.
UPDATE agent_input SET run_seq = :run, sent_at = :now WHERE seq = :seq AND sent_at IS NULL AND told_in IS NULL;

-- name: agent_input_end :exec
-- A turn has ended: what began it has been heard.
UPDATE agent_input SET ended_at = :now WHERE run_seq = :run AND ended_at IS NULL;

-- name: agent_input_history :many
-- What a session was told, oldest first: what it began with, and the newest. place: in all of it.
-- type: text text
-- type: place integer
SELECT text, place FROM (
  SELECT coalesce(i.text, t.text) AS text, row_number() OVER (ORDER BY i.seq) AS place, count(*) OVER () AS count
    FROM agent_input AS i LEFT JOIN steering AS t ON t.seq = i.steering_seq
   WHERE i.session_seq = :session AND i.sent_at IS NOT NULL AND i.kind <> 'return')
 WHERE place = 1 OR place > count - :limit ORDER BY place;

-- name: agent_input_left :many
-- What earlier runs left unsent, or in doubt. A return that was left is not repeated, but what it
-- repeated is. is_known: it was sent by itself, and is part of the history.
-- type: text text
-- type: is_sent bool
-- type: is_known bool
WITH RECURSIVE lost (seq, is_sent) AS (
  SELECT seq, sent_at IS NOT NULL FROM agent_input
   WHERE session_seq = :session AND ended_at IS NULL AND told_in IS NULL AND run_seq IS NOT :run
     AND NOT (sent_at IS NULL AND kind = 'task')
   UNION ALL
  SELECT i.seq, l.is_sent OR i.sent_at IS NOT NULL
    FROM lost AS l CROSS JOIN agent_input AS i ON i.told_in = l.seq)
SELECT i.seq, l.is_sent, i.sent_at IS NOT NULL AS is_known, coalesce(i.text, t.text) AS text
  FROM lost AS l CROSS JOIN agent_input AS i ON i.seq = l.seq
  LEFT JOIN steering AS t ON t.seq = i.steering_seq
 WHERE i.kind <> 'return' ORDER BY i.seq;

-- name: agent_input_repeat :exec
-- They are told in :input.
-- type: :input seq
UPDATE agent_input SET told_in = :input
 WHERE session_seq = :session AND ended_at IS NULL AND told_in IS NULL AND run_seq IS NOT :run
   AND NOT (sent_at IS NULL AND kind = 'task') AND seq < :input;
