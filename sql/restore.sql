-- What a restore makes of the rows of a backup. Nobody else has that database open.

-- name: restore_last_sign :one
-- When the system was last heard of.
-- row: instant
SELECT max(heartbeat_at) AS at FROM worker;

-- name: restore_take_apply :exec
-- Open writes are taken out of everybody's hands: whoever still thinks that one is his has the
-- number of an earlier claim.
UPDATE apply SET state = 'claimed', claim = claim + 1, worker_id = NULL, updated_at = :now
 WHERE state IN ('queued', 'claimed');

-- name: restore_park_file_change :exec
UPDATE file_change SET state = 'undone', updated_at = :now
 WHERE state IN ('planned', 'staged') AND apply_seq IN (SELECT seq FROM apply WHERE state IN ('queued', 'claimed'));

-- name: restore_park_apply :rows
-- They may have been done since the backup. The approval stays: a new check_diff writes only if the
-- file is still what was approved upon.
UPDATE apply SET state = 'dead', error_code = 'restored', updated_at = :now,
  why = 'restored: the database is that of an earlier time, and since then this change '
    || 'may have been written; look at the file, and call check_diff again if it is not there'
 WHERE state IN ('queued', 'claimed');

-- name: restore_end_agent_run :exec
-- The processes of agents are not those of that time.
UPDATE agent_run SET state = 'ended', outcome = 'interrupted', ended_at = :now,
       why = 'restored: the database is that of an earlier time'
 WHERE ended_at IS NULL;

-- name: restore_doubt_slack :exec
-- What was to be said may have been said since: the next poster looks for it in Slack before it says
-- it again, as for what a dead one had in hand. What stands in a thread whose head is not known yet
-- is looked for when that is. (An edit is only repeated.)
UPDATE slack_outbox SET state = 'sending', claim = claim + 1, worker_id = NULL,
       started_at = coalesce(started_at, created_at)
 WHERE state = 'queued' AND kind IN ('post', 'file');

-- name: restore_skip_numbers :exec
-- What was numbered since the backup is known to some by its number (timelines, event ids of
-- streams): those are not given out again.
-- scan ok: a row for each table
-- type: :gap integer
UPDATE sqlite_sequence SET seq = seq + :gap;

-- name: restore_event :exec
-- type: :last_sign text
-- type: :writes integer
INSERT INTO event (at, kind, actor, detail)
VALUES (:now, 'database.restored', (SELECT id FROM operator WHERE is_default = 1),
        json_object('last_sign', :last_sign, 'parked_writes', :writes));
