-- Every statement on `steering`.

-- name: steering_insert :insert
INSERT INTO steering (kind, session_id, channel_id, text, operator_id, source, created_at)
VALUES (:kind, :session_id, :channel_id, :text, :operator_id, :source, :now);

-- name: steering_outcome :one
SELECT t.outcome, t.why, s.id AS session_id, s.connectivity_status, s.status
  FROM steering AS t LEFT JOIN session AS s ON s.seq = t.session_seq WHERE t.seq = :seq;

-- name: steering_waiting :many
-- What a session is to be told next. A nudge whose silence ended otherwise is told to nobody: who
-- calls now may be the next run.
-- row: steering_said
SELECT seq, kind, text, source, created_at FROM steering
 WHERE session_seq = :session AND outcome = 'accepted' AND delivered_at IS NULL AND seq > :after
   AND NOT (stall_seq IS NOT NULL
            AND EXISTS (SELECT 1 FROM stall WHERE seq = stall_seq AND status = 'dismissed'))
 ORDER BY seq LIMIT :limit;

-- name: steering_left :many
-- What two sessions are to be told: that which asks, and the one before it whose agent is gone.
-- row: steering_said
SELECT seq, kind, text, source, created_at FROM steering
 WHERE session_seq IN (:session, :before) AND outcome = 'accepted' AND delivered_at IS NULL
   AND NOT (stall_seq IS NOT NULL
            AND EXISTS (SELECT 1 FROM stall WHERE seq = stall_seq AND status = 'dismissed'))
 ORDER BY seq LIMIT :limit;

-- name: steering_of_call :many
-- What went with the result of a call.
-- row: steering_said
SELECT seq, kind, text, source, created_at FROM steering WHERE call_seq = :call ORDER BY seq;

-- name: steering_deliver :exec
UPDATE steering SET call_seq = :call, delivered_at = :now
 WHERE seq = :seq AND delivered_at IS NULL;

-- name: steering_untell :exec
-- The result of a call did not arrive: what went with it goes with the next.
UPDATE steering SET call_seq = NULL, delivered_at = NULL WHERE call_seq = :call;

-- name: steering_doubt :rows
-- The call was cancelled when its result had gone out: what went with it goes with the next, too.
UPDATE steering SET delivered_at = NULL WHERE call_seq = :call;

-- name: steering_arrived :rows
-- The agent acts upon an answer, so the result that gave it has arrived, whatever its client said.
UPDATE steering SET delivered_at = :now
 WHERE delivered_at IS NULL
   AND call_seq IN (SELECT seq FROM tool_call WHERE request_seq = :request AND taken_back = 1)
   AND NOT EXISTS (SELECT 1 FROM steering AS o
                    WHERE o.session_seq = steering.session_seq AND o.seq < steering.seq
                      AND o.outcome = 'accepted' AND o.delivered_at IS NULL
                      AND o.call_seq IS NOT steering.call_seq);

-- name: steering_delete :rows
DELETE FROM steering WHERE seq IN (
  SELECT t.seq FROM json_each(:sessions) AS g CROSS JOIN steering AS t ON t.session_seq = g.value
   LIMIT :limit);

-- name: steering_after :number
-- The end of the next stretch of rows to look through.
SELECT max(seq) AS seq FROM (SELECT seq FROM steering WHERE seq > :after ORDER BY seq LIMIT :limit);

-- name: steering_delete_old :rows
-- What was said to nobody. A task that waits for its session stays.
DELETE FROM steering
 WHERE seq > :after AND seq <= :upto AND session_seq IS NULL AND outcome IS NOT 'accepted'
   AND CASE WHEN typeof(created_at) = 'text' AND created_at GLOB '????-??-??T??:??:??.???Z'
            THEN created_at < :cutoff
            ELSE EXISTS (SELECT 1 FROM steering AS n
                          WHERE n.seq > steering.seq AND n.seq <= :upto AND n.created_at < :cutoff
                            AND n.created_at GLOB '????-??-??T??:??:??.???Z') END;

-- name: pause_delete :rows
DELETE FROM pause WHERE seq IN (
  SELECT p.seq FROM json_each(:sessions) AS g CROSS JOIN pause AS p ON p.session_seq = g.value
   LIMIT :limit);
