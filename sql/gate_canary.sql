-- Every statement on `gate_canary`.

-- name: gate_canary_put :exec
INSERT INTO gate_canary (host, version, state, detail, helper, at)
VALUES (:host, :version, :state, :detail, :helper, :now)
ON CONFLICT (host, version) DO UPDATE SET state = excluded.state, detail = excluded.detail,
  helper = excluded.helper, at = excluded.at;

-- name: gate_canary_get :one
SELECT state, detail, helper, at FROM gate_canary WHERE host = :host AND version = :version;
