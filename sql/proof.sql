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
       substr(r.id, 1, 13) || ', ' || coalesce(r.title, r.kind) || ', at ' || d.created_at ||
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

-- name: proof_questions :many
-- Each question, and what of it is not as the timeline tells (NULL: nothing). One of which retention
-- has cut off the beginning is only compared by its digest; while retention deletes a session, its
-- answers go first.
-- type: id text
-- type: has_digest integer
-- type: why text
-- scan ok: doctor and audit verify, which somebody asks for by hand
WITH told AS (
  SELECT request_seq AS seq, max(seq) AS last, max(kind = 'request.asked') AS has_asked,
         min(json_extract(detail, '$.digest')) AS lowest, max(json_extract(detail, '$.digest')) AS highest
    FROM event
   WHERE request_seq IS NOT NULL AND kind GLOB 'request.*' AND kind <> 'request.adopted'
   GROUP BY request_seq)
SELECT r.seq, substr(r.id, 1, 13) AS id, r.kind = 'clearance' AS has_digest,
       CASE
         WHEN t.lowest <> t.highest OR t.lowest <> r.digest THEN 'its digest'
         WHEN coalesce(t.has_asked, 0) = 0 THEN NULL
         WHEN (SELECT CASE kind WHEN 'request.asked' THEN 'pending' ELSE substr(kind, 9) END
                 FROM event WHERE seq = t.last) <> r.state THEN 'its state'
         WHEN EXISTS (
           SELECT 1 FROM event AS e
            WHERE e.request_seq = r.seq
              AND e.kind IN ('request.approved', 'request.rejected', 'request.answered', 'request.expired')
              AND json_extract(e.detail, '$.from') IN ('pending', 'interrupted')
              AND (json_extract(e.detail, '$.decision') IS NOT r.decision
                   OR e.actor IS NOT r.decided_by OR e.at IS NOT r.decided_at)) THEN 'its answer'
         WHEN r.decision_seq IS NOT NULL AND s.status <> 'terminated' AND NOT EXISTS (
           SELECT 1 FROM decision AS d JOIN request_kind AS k ON k.kind = r.kind
            WHERE d.seq = r.decision_seq AND d.request_id = r.id AND d.outcome = 'applied'
              AND d.operator_id IS r.decided_by
              AND CASE d.verdict WHEN 'timeout' THEN k.on_timeout ELSE d.verdict END = r.decision)
         THEN 'its decision'
       END AS why
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq LEFT JOIN told AS t ON t.seq = r.seq
 UNION ALL
SELECT t.seq, 'a deleted one (' || t.seq || ')', 0, 'it is gone'
  FROM told AS t
 WHERE NOT EXISTS (SELECT 1 FROM request WHERE seq = t.seq)
   AND (t.lowest <> t.highest
        OR EXISTS (SELECT 1 FROM session AS s
                    WHERE s.status <> 'terminated'
                      AND s.seq = (SELECT e.session_seq FROM event AS e
                                    WHERE e.request_seq = t.seq ORDER BY e.seq DESC LIMIT 1)))
 ORDER BY 1;
