-- Every statement on `gate_canary`.

-- name: gate_canary_put :exec
INSERT INTO gate_canary (host, version, state, detail, helper, at)
VALUES (:host, :version, :state, :detail, :helper, :now)
ON CONFLICT (host, version) DO UPDATE SET state = excluded.state, detail = excluded.detail,
  helper = excluded.helper, at = excluded.at;

-- name: gate_canary_by_hand :one
-- scan ok: somebody asks for it by hand
-- The last time that somebody had a host's agent write `canary` and run `touch canary2`, in this order,
-- and rejected both: in which version, and where. unasked: a tool ran there of which no hook had told.
SELECT coalesce(w.version, (SELECT v.version FROM gate_version AS v WHERE v.host = :host LIMIT 1)) AS version,
       s.workspace_root AS folder,
       (SELECT count(*) FROM gate_amiss AS a WHERE a.session_seq = s.seq AND a.state = 'unasked') AS unasked
  FROM gate_call AS w JOIN session AS s ON s.seq = w.session_seq
  JOIN request AS f ON f.seq = w.request_seq
 WHERE w.host = :host AND w.moment = 'pre_tool' AND w.decision = 'deny'
   AND f.state = 'rejected' AND f.file_path = 'canary'
   AND EXISTS (SELECT 1 FROM gate_call AS c JOIN request AS r ON r.seq = c.request_seq
                WHERE c.session_seq = w.session_seq AND c.seq > w.seq AND c.class = 'execute'
                  AND c.moment = 'pre_tool' AND c.decision = 'deny'
                  AND r.state = 'rejected' AND r.title = 'touch canary2')
 ORDER BY w.seq DESC LIMIT 1;
