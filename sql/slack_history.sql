-- Every statement on what agents read of a Slack channel.

-- name: slack_read_insert :insert
INSERT INTO slack_read (channel_id, most, asked_at, expires_at)
VALUES (:channel, :most, :now, :expires_at);

-- name: slack_read_usable :number
-- The same request by another caller: still waiting, or answered a moment ago.
SELECT r.seq FROM slack_read AS r LEFT JOIN slack_history AS h ON h.read_seq = r.seq
 WHERE r.channel_id = :channel AND r.most = :most AND r.expires_at > :now
   AND (h.read_seq IS NULL OR (h.messages IS NOT NULL AND h.answered_at > :fresh))
 ORDER BY r.seq DESC LIMIT 1;

-- name: slack_read_next :one
-- The first one that waits for an answer; closed: nothing may be read now.
-- type: closed bool
SELECT r.seq, r.channel_id, r.most, g.not_before > :now AS closed
  FROM slack_read AS r JOIN slack_gate AS g ON g.name = 'conversations.history'
 WHERE r.expires_at > :now AND NOT EXISTS (SELECT 1 FROM slack_history WHERE read_seq = r.seq)
 ORDER BY r.expires_at, r.seq LIMIT 1;

-- name: slack_history_insert :rows
-- 0 rows: nobody is waiting for it, or it is answered.
INSERT INTO slack_history (read_seq, messages, why, answered_at)
SELECT seq, :messages, :why, :now FROM slack_read
 WHERE seq = :read AND NOT EXISTS (SELECT 1 FROM slack_history WHERE read_seq = :read);

-- name: slack_history_read :one
SELECT messages, why FROM slack_history WHERE read_seq = :read;
