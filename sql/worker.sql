-- Every statement on `worker` and `time_gap`, in the order of an incarnation's life.

-- name: worker_insert :exec
INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)
VALUES (:id, :name, :machine, :pid, :version, 'starting', :now, :now);

-- name: worker_bury :exec
-- A new incarnation holds the lock: rows of its name that still claim to be alive are not.
UPDATE worker SET state = 'died', stopped_at = :now
 WHERE machine = :machine AND name = :name AND id <> :id AND state IN ('starting', 'ready');

-- name: worker_ready :exec
UPDATE worker SET state = 'ready', detail = :detail, fence = coalesce(fence, :fence),
                  ready_at = coalesce(ready_at, :now), heartbeat_at = :now
 WHERE id = :id AND state IN ('starting', 'ready');

-- name: worker_heartbeat :exec
UPDATE worker SET heartbeat_at = :now WHERE id = :id;

-- name: worker_heartbeat_of :exec
-- The supervisor has seen its sign of life.
UPDATE worker SET heartbeat_at = :now
 WHERE machine = :machine AND name = :name AND state IN ('starting', 'ready');

-- name: worker_stopped :exec
UPDATE worker SET state = 'stopped', stopped_at = :now, heartbeat_at = :now
 WHERE id = :id AND state IN ('starting', 'ready');

-- name: worker_died :exec
-- The supervisor saw it end.
UPDATE worker SET state = 'died', stopped_at = :now, detail = :detail
 WHERE machine = :machine AND pid = :pid AND state IN ('starting', 'ready');

-- name: worker_live :many
SELECT id, name, pid, version, state, detail, fence, started_at, heartbeat_at
  FROM worker WHERE machine = :machine AND state IN ('starting', 'ready') ORDER BY name;

-- name: worker_absent :one
-- Of those that an operator's order can wait for: which do not run.
-- type: names text
SELECT group_concat(n.value, ', ') AS names
  FROM json_each('["applier","archivist","commander","reader"]') AS n
 WHERE NOT EXISTS (SELECT 1 FROM worker
                    WHERE machine = :machine AND name = n.value AND state IN ('starting', 'ready'));

-- name: worker_oldest :one
-- row: instant
-- Of those that run: about when the system was started.
SELECT min(started_at) AS at FROM worker WHERE state IN ('starting', 'ready');

-- name: time_gap_insert :exec
INSERT INTO time_gap (machine, kind, started_at, ended_at) VALUES (:machine, :kind, :started_at, :now);

-- name: health_list :many
-- scan ok: for a person
-- type: what text
-- type: state text
SELECT what, state, detail, at FROM health;

-- name: worker_before :one
-- row: instant
-- The last sign of life of the incarnation before this one, if there was one.
SELECT b.heartbeat_at AS at FROM worker AS w JOIN worker AS b
    ON b.machine = w.machine AND b.name = w.name AND b.seq < w.seq
 WHERE w.id = :id ORDER BY b.seq DESC LIMIT 1;

-- name: worker_started :one
-- row: instant
SELECT started_at AS at FROM worker WHERE id = :id;

-- name: worker_watched :one
-- The last sign of life of a watchdog that got ready, before this one: until then deadlines were
-- watched. One that died before it was ready had not yet recorded the gap before it.
-- scan ok: once, at the start of the watchdog
-- row: instant
SELECT max(heartbeat_at) AS at FROM worker
 WHERE name = :name AND machine = :machine AND id <> :id AND ready_at IS NOT NULL;

-- name: worker_newest :one
-- scan ok: doctor, health and audit verify, which somebody asks for by hand
SELECT started_at, heartbeat_at FROM worker WHERE name = :name ORDER BY seq DESC LIMIT 1;

-- name: worker_bury_all :exec
-- For the supervisor, while no worker is running except those named in :kept: rows that still claim
-- to be alive are not.
UPDATE worker SET state = 'died', stopped_at = :now
 WHERE machine = :machine AND state IN ('starting', 'ready')
   AND name NOT IN (SELECT value FROM json_each(:kept));

-- name: worker_address :one
-- What the ready worker with this name says about itself.
SELECT detail FROM worker
 WHERE machine = :machine AND name = :name AND state IN ('starting', 'ready') AND state = 'ready'
 ORDER BY seq DESC LIMIT 1;
