-- Every statement on `alias_run`.

-- name: alias_run_next :one
-- The oldest run of this machine that waits for no other.
SELECT r.seq FROM alias_run AS r
 WHERE r.machine = :machine AND r.ended_at IS NULL AND r.state = 'queued'
   AND NOT EXISTS (SELECT 1 FROM alias_run AS o
                    WHERE o.machine = r.machine AND o.lane = r.lane AND o.ended_at IS NULL
                      AND o.seq < r.seq)
 ORDER BY r.seq LIMIT 1;

-- name: alias_run_claim :rows
-- Only once: a second claimer finds another state.
UPDATE alias_run SET state = 'starting', worker_id = :worker WHERE seq = :seq AND state = 'queued';

-- name: alias_run_read :one
-- row: alias_run
SELECT r.seq, r.alias, r.command, r.workspace_root, r.state, r.outcome, r.exit_code, r.exit_signal, r.why,
       r.bytes, r.cut_bytes, r.shown, r.content_seq, r.operator_id, r.stopped_by, r.stop_wanted_at,
       r.created_at, r.started_at, r.ended_at, s.id AS session_id,
       (SELECT count(*) FROM alias_run AS o
         WHERE o.machine = r.machine AND o.lane = r.lane AND o.ended_at IS NULL AND o.seq < r.seq)
         AS ahead
  FROM alias_run AS r LEFT JOIN session AS s ON s.seq = r.session_seq
 WHERE r.seq = :seq;

-- name: alias_run_count :number
-- scan ok: for a person
SELECT count(*) FROM alias_run;

-- name: alias_run_list :many
-- The newest, last first.
-- scan ok: by its key, up to the limit
-- row: alias_run
SELECT r.seq, r.alias, r.command, r.workspace_root, r.state, r.outcome, r.exit_code, r.exit_signal, r.why,
       r.bytes, r.cut_bytes, r.operator_id, r.stopped_by, r.stop_wanted_at, r.created_at, r.started_at,
       r.ended_at, s.id AS session_id
  FROM alias_run AS r LEFT JOIN session AS s ON s.seq = r.session_seq
 ORDER BY r.seq DESC LIMIT :limit;

-- name: alias_run_of_order :number
SELECT seq FROM alias_run WHERE command_seq = :command;

-- name: alias_run_process :exec
-- Its process exists, and waits.
-- type: :pid integer
-- type: :process_start integer
UPDATE alias_run SET pid = :pid, process_start = :process_start, uid = :uid
 WHERE seq = :seq AND state = 'starting';

-- name: alias_run_running :exec
UPDATE alias_run SET state = 'running', started_at = :now WHERE seq = :seq AND state = 'starting';

-- name: alias_run_show :exec
-- What it has written so far.
-- type: :bytes integer
UPDATE alias_run SET shown = :shown, bytes = :bytes, shown_at = :now WHERE seq = :seq AND state = 'running';

-- name: alias_run_stop_wanted :any
SELECT 1 AS one FROM alias_run WHERE seq = :seq AND stop_wanted_at IS NOT NULL;

-- name: alias_run_end :rows
-- type: :outcome alias_run_outcome
-- type: :bytes integer
-- type: :cut_bytes integer
-- type: :content seq
UPDATE alias_run
   SET state = 'ended', outcome = :outcome, exit_code = :exit_code, exit_signal = :exit_signal,
       why = :why, bytes = :bytes, cut_bytes = :cut_bytes, shown = :shown, content_seq = :content,
       ended_at = :now
 WHERE seq = :seq AND ended_at IS NULL AND state IN ('starting', 'running');

-- name: alias_run_interrupt :rows
UPDATE alias_run SET state = 'ended', outcome = 'interrupted', why = :why, ended_at = :now
 WHERE seq = :seq AND ended_at IS NULL;

-- name: alias_run_in_hand :many
-- Those of this machine that a commander has claimed.
SELECT seq, worker_id, pid, process_start, uid FROM alias_run
 WHERE machine = :machine AND ended_at IS NULL AND state IN ('starting', 'running') ORDER BY seq;

-- name: alias_run_waiting :many
-- Those of this machine that were ordered before an instant, and did not begin.
SELECT seq FROM alias_run
 WHERE machine = :machine AND ended_at IS NULL AND state = 'queued' AND created_at < :before ORDER BY seq;

-- name: alias_run_clocks :one
-- The clocks of silence of its session, which stood still while it ran.
SELECT r.started_at, s.seq AS session_seq, s.idle_since, t.seq AS stall_seq, t.waits_since
  FROM alias_run AS r JOIN session AS s ON s.seq = r.session_seq
  LEFT JOIN stall AS t ON t.session_seq = s.seq AND t.ended_at IS NULL
 WHERE r.seq = :seq;

-- name: alias_run_not_over :many
-- scan ok: only those that are not over
-- row: alias_run
SELECT r.seq, r.alias, r.command, r.workspace_root, r.state, r.created_at, r.started_at
  FROM alias_run AS r WHERE r.ended_at IS NULL ORDER BY r.seq;
