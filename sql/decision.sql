-- Every statement on `decision` and `command`. What they do is in schema/rules/.

-- name: decision_insert
INSERT INTO decision (request_id, verdict, reason, instruction, digest, operator_id, source,
  created_at)
VALUES (:request_id, :verdict, :reason, :instruction, :digest, :operator_id, :source, :now);

-- name: decision_outcome
SELECT outcome, why FROM decision WHERE seq = :seq;

-- name: decision_state
-- How the request of a decision stands now.
SELECT r.state, r.decision, r.decided_by, r.decided_at
  FROM decision AS d JOIN request AS r ON r.id = d.request_id WHERE d.seq = :seq;

-- name: command_insert
INSERT INTO command (verb, session_id, argument, operator_id, source, created_at)
VALUES (:verb, :session_id, :argument, :operator_id, :source, :now);

-- name: command_outcome
SELECT outcome, why, reply FROM command WHERE seq = :seq;

-- name: command_settle
-- The end of an undo is the end of the order. (Not a trigger's: orders make jobs, and rules must
-- not lead back to where they came from.)
UPDATE command
   SET (outcome, why, reply) = (
     SELECT CASE a.state WHEN 'undone' THEN 'done' ELSE 'refused' END, a.error_message,
            CASE a.state WHEN 'undone' THEN json_object('status', 'undone', 'request_id', r.id,
              'files', (SELECT json_group_array(f.path) FROM file_change AS f
                         WHERE f.apply_seq = a.seq AND f.state = 'done')) END
       FROM apply AS a JOIN request AS r ON r.seq = a.request_seq WHERE a.seq = :apply)
 WHERE seq = (SELECT command_seq FROM apply WHERE seq = :apply) AND outcome IS NULL;

-- name: decision_delete
-- Retention, with the question itself. (+ : the index is of a column without a type.)
DELETE FROM decision WHERE seq IN (
  SELECT d.seq FROM request AS r JOIN decision AS d ON d.request_id = +r.id
   WHERE r.session_seq = :session LIMIT :limit);
