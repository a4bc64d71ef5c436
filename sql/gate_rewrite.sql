-- Every statement on `gate_rewrite`.

-- name: gate_rewrite_text :one
-- What an approval said is to be done instead, and what of.
-- type: edited text
SELECT r.id, r.editable, d.edited, d.edited_seq
  FROM request AS r JOIN decision AS d ON d.seq = r.decision_seq
 WHERE r.seq = :request AND r.state = 'approved'
   AND (d.edited IS NOT NULL OR d.edited_seq IS NOT NULL);

-- name: gate_rewrite_insert :exec
INSERT INTO gate_rewrite (gate_seq, session_seq, request_seq, is_told, digest, text_hash, created_at)
SELECT g.seq, g.session_seq, g.request_seq, :is_told, :digest, :text_hash, :now
  FROM gate_call AS g WHERE g.call_seq = :call;

-- name: gate_rewrite_told :one
-- What an agent was told to call, and has not called yet; and what was asked.
-- row: gate_rewritten
SELECT w.gate_seq, w.request_seq, w.text_hash, g.digest, t.digest AS bound
  FROM gate_rewrite AS w JOIN gate_call AS g ON g.seq = w.gate_seq
  JOIN tool_call AS t ON t.seq = g.call_seq
 WHERE w.session_seq = :session AND w.digest = :digest AND w.is_told = 1
   AND NOT EXISTS (SELECT 1 FROM gate_call AS u
                    WHERE u.request_seq = w.request_seq AND u.decision = 'allow')
 ORDER BY w.seq LIMIT 1;

-- name: gate_rewrite_handed :one
-- What a tool that has not ended was handed to do, by its arguments. :grants: only what a
-- permission that its host asks for may belong to.
-- type: :grants integer
-- row: gate_rewritten
SELECT w.gate_seq, w.request_seq, w.text_hash, g.digest, t.digest AS bound
  FROM gate_rewrite AS w JOIN gate_call AS g ON g.seq = w.gate_seq
  JOIN tool_call AS t ON t.seq = g.call_seq
 WHERE w.session_seq = :session AND w.digest = :digest AND w.is_told = 0 AND g.seen IS NULL
   AND (:grants = 0 OR (g.moment = 'pre_tool'
        AND NOT EXISTS (SELECT 1 FROM gate_spent AS s WHERE s.seq = g.seq)))
 ORDER BY w.seq LIMIT 1;

-- name: gate_rewrite_of :one
-- What was handed over instead of what was asked.
SELECT digest, text_hash FROM gate_rewrite WHERE gate_seq = :gate AND is_told = 0;

-- name: gate_rewrite_policy :number
-- The content of the policy in force where a request was asked.
SELECT p.content_seq AS seq FROM request AS r JOIN session AS s ON s.seq = r.session_seq
  JOIN policy AS p ON p.seq = (SELECT max(seq) FROM policy
                                WHERE workspace_root = s.workspace_root AND machine = s.machine)
 WHERE r.seq = :request;
