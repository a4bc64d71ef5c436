-- Every statement on `upkeep`, and on what it checks.

-- name: upkeep_last :one
SELECT ended_at AS at, outcome FROM upkeep WHERE kind = :kind ORDER BY seq DESC LIMIT 1;

-- name: upkeep_insert :exec
INSERT INTO upkeep (kind, outcome, why, started_at, ended_at)
VALUES (:kind, :outcome, :why, :started_at, :now);

-- name: upkeep_table :one
-- The next table to check.
-- scan ok: the schema's own rows
-- type: name text
-- type: :after text
SELECT name FROM sqlite_schema WHERE type = 'table' AND name > :after ORDER BY name LIMIT 1;

-- name: upkeep_after :number
-- The end of the next stretch of rows to examine.
SELECT max(seq) AS seq FROM (SELECT seq FROM upkeep WHERE seq > :after ORDER BY seq LIMIT :limit);

-- name: upkeep_delete_old :rows
-- The newest one of each kind stays: it determines when the next one is due.
DELETE FROM upkeep
 WHERE seq > :after AND seq <= :upto AND ended_at < :cutoff
   AND EXISTS (SELECT 1 FROM upkeep AS n WHERE n.kind = upkeep.kind AND n.seq > upkeep.seq);
