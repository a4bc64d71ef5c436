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
