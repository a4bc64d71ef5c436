-- Every statement on whether the bot is in a channel that an agent names.

-- name: slack_check_insert :exec
INSERT INTO slack_check (channel_id, asked_at, expires_at) VALUES (:channel, :now, :expires_at);

-- name: slack_check_newest :one
-- is_stale: it was refused long enough ago that somebody may have fixed it.
SELECT a.check_seq IS NOT NULL AS is_answered, a.why,
       a.why IS NOT NULL AND a.answered_at < :stale AS is_stale
  FROM slack_check AS c LEFT JOIN slack_checked AS a ON a.check_seq = c.seq
 WHERE c.channel_id = :channel AND c.expires_at > :now ORDER BY c.seq DESC LIMIT 1;

-- name: slack_check_next :one
SELECT c.seq, c.channel_id FROM slack_check AS c
 WHERE c.expires_at > :now AND NOT EXISTS (SELECT 1 FROM slack_checked WHERE check_seq = c.seq)
 ORDER BY c.expires_at, c.seq LIMIT 1;

-- name: slack_checked_insert :rows
-- 0 rows: nobody is waiting for it, or it is answered.
INSERT INTO slack_checked (check_seq, why, answered_at)
SELECT seq, :why, :now FROM slack_check
 WHERE seq = :check AND NOT EXISTS (SELECT 1 FROM slack_checked WHERE check_seq = :check);
