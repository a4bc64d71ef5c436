-- Every statement on `setting` and `operator`.

-- name: setting_put :exec
INSERT INTO setting (name, value, source, updated_at) VALUES (:name, :value, :source, :now)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, source = excluded.source,
  updated_at = excluded.updated_at
 WHERE setting.value <> excluded.value OR setting.source <> excluded.source;

-- name: setting_get :one
SELECT value, source FROM setting WHERE name = :name;

-- name: setting_list :many
SELECT name, value, source FROM setting ORDER BY name;

-- name: setting_forget :exec
-- A setting that this program does not know, or no longer knows.
DELETE FROM setting WHERE name = :name;

-- name: operator_put :exec
-- The local operator, in whose name rows typed by hand count.
INSERT INTO operator (id, kind, user_id, is_default, created_at)
VALUES (:id, 'local', :user_id, 1, :now)
ON CONFLICT (id) DO UPDATE SET active = 1, is_default = 1;

-- name: operator_fault_of_default :one
-- Why what is typed by hand is refused.
SELECT why FROM operator_fault WHERE id IS (SELECT id FROM operator WHERE is_default = 1);

-- name: operator_only_default :exec
UPDATE operator SET is_default = 0 WHERE is_default = 1 AND id <> :id;

-- name: operator_is :any
SELECT 1 AS one FROM operator WHERE id = :id;

-- name: operator_enter :exec
-- An operator of a system that serves several users, with the first command. One that is not active
-- stays so.
INSERT INTO operator (id, kind, user_id, created_at) VALUES (:id, 'local', :user_id, :now)
ON CONFLICT (id) DO UPDATE SET active = active;

-- name: operator_put_slack :exec
-- Who may answer in Slack; a team of '' is any team, until Slack has told us ours.
INSERT INTO operator (id, kind, team_id, user_id, created_at)
VALUES (:id, 'slack', :team_id, :user_id, :now)
ON CONFLICT (id) DO UPDATE SET active = 1;

-- name: operator_retire_slack :exec
-- Before those of this start are inserted: whoever is no longer among them may not answer.
UPDATE operator SET active = 0 WHERE kind = 'slack' AND active = 1;
