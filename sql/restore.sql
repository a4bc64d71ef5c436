-- How a restore adapts the rows of a backup. Nobody else has that database open.

-- name: restore_last_sign :one
-- The last sign of life of the system.
-- row: instant
SELECT max(heartbeat_at) AS at FROM worker;

-- name: restore_open_request :number
-- scan ok: what is open
SELECT count(*) FROM request INDEXED BY request_open WHERE state IN ('pending', 'interrupted');

-- name: restore_take_apply :exec
-- Takes open writes away from everybody: an applier that still believes it owns one has the number
-- of an earlier claim.
UPDATE apply SET state = 'claimed', claim = claim + 1, worker_id = NULL, updated_at = :now
 WHERE state IN ('queued', 'claimed');

-- name: restore_park_file_change :exec
UPDATE file_change SET state = 'undone', updated_at = :now
 WHERE state IN ('planned', 'staged') AND apply_seq IN (SELECT seq FROM apply WHERE state IN ('queued', 'claimed'));

-- name: restore_park_apply :rows
-- They may have been done since the backup.
UPDATE apply SET state = 'dead', error_code = 'restored', updated_at = :now,
  why = 'restored: the database is that of an earlier time, and since then this change '
    || 'may have been written; look at the file, and ask for it again if it is not there'
 WHERE state IN ('queued', 'claimed');

-- name: restore_refuse_restore :rows
-- As restore_park_apply: those of which the applier had not made a job yet.
UPDATE workspace_restore SET state = 'refused', error_code = 'restored', updated_at = :now,
  why = 'the database was restored from a backup, and this may have been done since then; order it again'
 WHERE state = 'approved';

-- name: restore_note_approval :exec
-- scan ok: nobody else has this database open
-- What was approved, and may have been used since the backup.
INSERT INTO event (at, kind, session_seq, request_seq, actor)
SELECT :now, 'approval.lapsed', session_seq, request_seq, 'restore' FROM approval_unused
 ORDER BY request_seq;

-- name: restore_end_approval :rows
-- scan ok: nobody else has this database open
-- Nobody is told that nobody has answered in time: the same call again is a new question.
UPDATE request SET state = 'expired', delivered_at = :now, updated_at = :now
 WHERE seq IN (SELECT request_seq FROM approval_unused);

-- name: restore_doubt_input :exec
-- scan ok: nobody else has this database open
-- What was to be sent to an agent may have been, by its last run.
UPDATE agent_input
   SET sent_at = :now, run_seq = (SELECT max(seq) FROM agent_run WHERE session_seq = agent_input.session_seq)
 WHERE sent_at IS NULL AND told_in IS NULL AND kind <> 'task'
   AND EXISTS (SELECT 1 FROM agent_run WHERE session_seq = agent_input.session_seq);

-- name: restore_untold :number
-- scan ok: nobody else has this database open
-- What agents had not been told when the backup was made, and will be told.
SELECT (SELECT count(*) FROM steering_untold AS t LEFT JOIN session AS s ON s.seq = t.session_seq
         WHERE s.status IS NOT 'terminated')
     + (SELECT count(*) FROM request AS r JOIN session AS s ON s.seq = r.session_seq
         WHERE r.state = 'answered' AND r.delivered_at IS NULL AND s.status <> 'terminated') AS count;

-- name: restore_checkpoints :number
-- scan ok: nobody else has this database open
SELECT count(*) AS count FROM checkpoint WHERE state = 'done';

-- name: restore_take_file_look :exec
UPDATE file_look SET state = 'claimed', claim = claim + 1, worker_id = NULL
 WHERE state IN ('queued', 'claimed');

-- name: restore_end_file_look :exec
-- They may have been answered since the backup.
UPDATE file_look
   SET state = 'refused', settled_at = :now,
       why = 'restored: the database is that of an earlier time; ask again'
 WHERE state = 'claimed' AND state IN ('queued', 'claimed');

-- name: restore_end_look_order :exec
-- scan ok: nobody else has this database open
UPDATE command
   SET outcome = 'refused', why = 'restored: the database is that of an earlier time; ask again'
 WHERE outcome IS NULL
   AND EXISTS (SELECT 1 FROM file_look AS l WHERE l.command_seq = command.seq);

-- name: restore_end_$ :exec
-- for: agent_run alias_run
-- The processes of agents and commands are not those of that time.
UPDATE $ SET state = 'ended', outcome = 'interrupted', ended_at = :now,
       why = 'restored: the database is that of an earlier time'
 WHERE ended_at IS NULL;

-- name: restore_bury_worker :exec
-- Nor are those of our own workers.
UPDATE worker SET state = 'died', stopped_at = :now WHERE state IN ('starting', 'ready');

-- name: restore_unlisten :exec
-- scan ok: what is open
-- Nor do callers of that time listen.
UPDATE tool_call INDEXED BY tool_call_open SET listener = NULL
 WHERE state IN ('waiting', 'answered') AND listener IS NOT NULL;

-- name: restore_doubt_slack :exec
-- These messages may have been sent since the backup: the next poster looks for them in Slack
-- before sending them again, as it does for those of a dead predecessor. A message in a thread
-- without a known head is looked for once the head is known. (An edit is just repeated. Each has a
-- lane; that it is asked for finds the index.)
UPDATE slack_outbox SET state = 'sending', claim = claim + 1, worker_id = NULL,
       started_at = coalesce(started_at, created_at)
 WHERE state = 'queued' AND kind IN ('post', 'file') AND lane_seq IS NOT NULL;

-- name: restore_skip_numbers :exec
-- Numbers given out since the backup may be known elsewhere (timelines, event ids of streams): they
-- are not used again.
-- scan ok: a row for each table
-- type: :gap integer
UPDATE sqlite_sequence SET seq = seq + :gap;

-- name: restore_skip_call_numbers :exec
-- The same of tables that count without sqlite_sequence.
-- type: :gap integer
UPDATE seq_floor
   SET seq = :gap + max(seq, coalesce((SELECT max(seq) FROM tool_call WHERE noun = 'tool_call'),
                                      (SELECT max(seq) FROM gate_call WHERE noun = 'gate_call'), 0));

-- name: restore_event :exec
-- type: :last_sign text
-- type: :writes integer
-- type: :approvals integer
INSERT INTO event (at, kind, actor, detail)
VALUES (:now, 'database.restored', (SELECT id FROM operator WHERE is_default = 1),
        json_object('last_sign', :last_sign, 'parked_writes', :writes,
                    'lapsed_approvals', :approvals));
