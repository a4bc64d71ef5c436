-- Answers in the name of Slack, and whether they really came from Slack.

-- name: proof_answers :many
-- type: choice text
-- type: edited text
-- Of (:after, :upto]. What a stop answers has no proof, and allows nothing.
SELECT d.seq, d.request_id, d.verdict, d.reason, d.instruction, d.choice, d.operator_id, d.proof,
       d.edited, (SELECT hash FROM content WHERE seq = d.edited_seq) AS edited_hash
  FROM decision AS d JOIN request AS r ON r.id = d.request_id JOIN request_kind AS k ON k.kind = r.kind
 WHERE d.seq > :after AND d.seq <= :upto AND d.source = 'slack' AND d.outcome = 'applied'
   AND NOT (d.proof IS NULL AND d.verdict = k.stop_verdict);

-- name: proof_event :rows
-- Once for each answer.
INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
SELECT :now, 'security.forged', r.session_seq, r.seq, 'slack-listener',
       json_object('decision', d.seq, 'verdict', d.verdict, 'in_the_name_of', d.operator_id)
  FROM decision AS d JOIN request AS r ON r.id = d.request_id
 WHERE d.seq = :seq
   AND NOT EXISTS (SELECT 1 FROM event
                    WHERE request_seq = r.seq AND kind = 'security.forged'
                      AND json_extract(detail, '$.decision') = d.seq);

-- name: proof_notice :exec
INSERT INTO slack_notice (kind, text, at)
SELECT 'server', 'An answer that bears your name did not come from Slack: ' || d.verdict || ' of ' ||
       substr(r.id, 1, 8) || ', ' || coalesce(r.title, r.kind) || ', at ' || d.created_at ||
       '. Somebody who can write the database of agent-intercom gave it.', :now
  FROM decision AS d JOIN request AS r ON r.id = d.request_id
 WHERE d.seq = :seq;

-- name: proof_forged :many
-- What slack-listener found, or would find.
-- scan ok: doctor and audit verify, which somebody asks for by hand
SELECT r.id, d.operator_id, d.created_at
  FROM decision AS d JOIN request AS r ON r.id = d.request_id JOIN request_kind AS k ON k.kind = r.kind
 WHERE d.source = 'slack' AND d.outcome = 'applied'
   AND ((d.proof IS NULL AND d.verdict <> k.stop_verdict)
        OR EXISTS (SELECT 1 FROM event WHERE request_seq = r.seq AND kind = 'security.forged'))
 ORDER BY d.seq;

-- name: proof_swapped :many
-- Questions of which the timeline has another digest than the row, or two: what was asked, answered
-- or written is not the same.
-- type: id text
-- scan ok: doctor and audit verify, which somebody asks for by hand
SELECT coalesce(max(substr(r.id, 1, 8)), 'a deleted one (' || e.request_seq || ')') AS id
  FROM event AS e LEFT JOIN request AS r ON r.seq = e.request_seq
 WHERE e.request_seq IS NOT NULL AND e.kind GLOB 'request.*'
 GROUP BY e.request_seq
HAVING min(json_extract(e.detail, '$.digest')) <> max(json_extract(e.detail, '$.digest'))
    OR min(json_extract(e.detail, '$.digest')) <> max(r.digest)
 ORDER BY e.request_seq;
