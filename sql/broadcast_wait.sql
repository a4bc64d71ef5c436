-- Every statement on broadcasts whose caller is told their place in Slack.

-- name: broadcast_wait_insert :exec
INSERT INTO broadcast_wait (call_seq) VALUES (:call);

-- name: broadcast_wait_read :one
-- why: Slack's word for it, if it was refused.
SELECT b.ts, b.refused,
       (SELECT o.why FROM slack_message AS m JOIN slack_outbox AS o ON o.message_seq = m.seq
         WHERE m.call_seq = b.call_seq AND o.state = 'dead' ORDER BY o.seq LIMIT 1) AS why
  FROM broadcast_wait AS b WHERE b.call_seq = :call;

-- name: broadcast_wait_delete :exec
DELETE FROM broadcast_wait WHERE call_seq = :call;

-- name: broadcast_wait_first :number
SELECT min(call_seq) AS call_seq FROM broadcast_wait;

-- name: tool_call_said :exec
-- The result as told, with what was unknown when the call was recorded.
UPDATE tool_call SET result = :result WHERE seq = :seq AND state = 'done' AND result_seq IS NULL;
