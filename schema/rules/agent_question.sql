-- What becomes of the answer to what an agent asked.

-- What a person answered with a yes and its agent was not told, and will not be: why not.
CREATE VIEW answer_unheard AS
SELECT r.seq AS request_seq, coalesce(q.why, 'its session has ended') AS why
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
  JOIN agent_question AS q ON q.seq = (SELECT max(seq) FROM agent_question WHERE request_seq = r.seq)
 WHERE r.state IN ('approved', 'answered') AND r.decision IN ('approve', 'continue', 'refine')
   AND q.answered_at IS NULL AND q.told_seq IS NULL
   AND (q.withdrawn_at IS NOT NULL OR s.status = 'terminated');

-- Its message says so. (The same of all that a session leaves: session_changed.)
CREATE TRIGGER agent_question_is_withdrawn AFTER UPDATE OF withdrawn_at ON agent_question
WHEN NEW.withdrawn_at IS NOT NULL BEGIN
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.withdrawn_at
   WHERE request_seq = NEW.request_seq AND kind = 'ask' AND state IN ('queued', 'sent')
     AND EXISTS (SELECT 1 FROM answer_unheard WHERE request_seq = NEW.request_seq);
END;
