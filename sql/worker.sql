-- Every statement on `worker` and `time_gap`, in the order of an incarnation's life.

-- name: worker_insert
INSERT INTO worker (id, name, host, pid, version, state, started_at, heartbeat_at)
VALUES (:id, :name, :host, :pid, :version, 'starting', :now, :now);

-- name: worker_bury
-- A new incarnation holds the lock: whatever row of its name still claims to live does not.
UPDATE worker SET state = 'died', stopped_at = :now
 WHERE host = :host AND name = :name AND id <> :id AND state IN ('starting', 'ready');

-- name: worker_ready
UPDATE worker SET state = 'ready', detail = :detail, heartbeat_at = :now WHERE id = :id;

-- name: worker_heartbeat
UPDATE worker SET heartbeat_at = :now WHERE id = :id;

-- name: worker_stopped
UPDATE worker SET state = 'stopped', stopped_at = :now, heartbeat_at = :now
 WHERE id = :id AND state IN ('starting', 'ready');

-- name: worker_died
-- The supervisor saw it end.
UPDATE worker SET state = 'died', stopped_at = :now, detail = :detail
 WHERE host = :host AND pid = :pid AND state IN ('starting', 'ready');

-- name: worker_live
SELECT id, name, pid, version, state, detail, started_at, heartbeat_at
  FROM worker WHERE host = :host AND state IN ('starting', 'ready') ORDER BY name;

-- name: time_gap_insert
INSERT INTO time_gap (host, kind, started_at, ended_at) VALUES (:host, :kind, :started_at, :now);

-- name: health_list
-- scan ok: for a person
SELECT what, state, detail, at FROM health;

-- name: worker_started
SELECT started_at AS at FROM worker WHERE id = :id;

-- name: worker_watched
-- The last sign of a watchdog that got ready, before this one: until then deadlines were watched. One
-- that died before it was ready had not yet written down the gap before it.
-- scan ok: once, at the start of the watchdog
SELECT max(heartbeat_at) AS at FROM worker
 WHERE name = :name AND host = :host AND id <> :id AND heartbeat_at > started_at;

-- name: worker_bury_all
-- The supervisor, while no worker runs: rows that still claim to live do not.
UPDATE worker SET state = 'died', stopped_at = :now
 WHERE host = :host AND state IN ('starting', 'ready');
