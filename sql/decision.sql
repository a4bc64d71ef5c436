-- Every statement on `decision` and `command`. Their effects are in schema/rules/.

-- name: decision_insert :insert
INSERT INTO decision (request_id, verdict, reason, instruction, choice, edited_seq, digest, operator_id,
  source, proof, created_at)
VALUES (:request_id, :verdict, :reason, :instruction, :choice, :edited, :digest, :operator_id,
  :source, :proof, :now);

-- name: decision_outcome :one
SELECT outcome, why FROM decision WHERE seq = :seq;

-- name: decision_state :one
-- The present state of the request of a decision, which of the agent's own answers was given, and
-- where it was asked again, because the workspace had changed.
-- type: decision request_verdict
-- type: chosen text
-- type: asked_again text
SELECT r.kind, r.state, r.decision, r.decided_by, r.decided_at,
       (SELECT name FROM request_answer WHERE request_seq = r.seq) AS chosen,
       (SELECT n.id FROM workspace_restore AS w
          JOIN workspace_restore AS again ON again.previous_seq = w.seq
          JOIN request AS n ON n.seq = again.request_seq
         WHERE w.request_seq = r.seq) AS asked_again
  FROM decision AS d JOIN request AS r ON r.id = d.request_id WHERE d.seq = :seq;

-- name: command_insert :insert
INSERT INTO command (verb, session_id, argument, operator_id, source, created_at)
VALUES (:verb, :session_id, :argument, :operator_id, :source, :now);

-- name: command_outcome :one
SELECT outcome, why, reply FROM command WHERE seq = :seq;

-- name: command_settle :exec
-- The end of an undo is the end of its order. (Not done by a trigger: orders create jobs, and rules
-- must not form a cycle.)
UPDATE command
   SET (outcome, why, reply) = (
     SELECT CASE a.state WHEN 'undone' THEN 'done' ELSE 'refused' END, a.why,
            CASE a.state WHEN 'undone' THEN json_object('status', 'undone', 'request_id', r.id,
              'files', (SELECT json_group_array(f.path) FROM file_change AS f
                         WHERE f.apply_seq = a.seq AND f.state = 'done')) END
       FROM apply AS a JOIN request AS r ON r.seq = a.request_seq WHERE a.seq = :apply)
 WHERE seq = (SELECT command_seq FROM apply WHERE seq = :apply) AND outcome IS NULL;
