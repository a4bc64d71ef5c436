-- How requests are decided, and what follows from that.

-- An id that was answered is not used again.
CREATE TRIGGER request_is_new BEFORE INSERT ON request BEGIN
  SELECT RAISE(ABORT, 'request: exists: a request with this id was answered')
   WHERE EXISTS (SELECT 1 FROM decision WHERE request_id = NEW.id AND outcome = 'applied');
END;

-- A request leaves pending or interrupted for good only through a decision that says so and was
-- applied, and becomes consumed only through a finished write.
CREATE TRIGGER request_is_decided BEFORE UPDATE OF state, decision_seq, decision, reason, instruction,
  decided_by, decided_at, consumed_at
ON request BEGIN
  SELECT RAISE(ABORT, 'request: decided: the first answer stands')
   WHERE OLD.decision_seq IS NOT NULL
     AND (OLD.decision_seq IS NOT NEW.decision_seq OR OLD.decision IS NOT NEW.decision
          OR OLD.reason IS NOT NEW.reason OR OLD.instruction IS NOT NEW.instruction
          OR OLD.decided_by IS NOT NEW.decided_by OR OLD.decided_at IS NOT NEW.decided_at
          OR (OLD.consumed_at IS NOT NULL AND OLD.consumed_at IS NOT NEW.consumed_at));
  SELECT RAISE(ABORT, 'request: decided: an approval ends unused only if its folder gets another owner, if a file of it has changed and is asked about, or if a backup is restored')
   WHERE OLD.state = 'approved' AND NEW.state = 'expired'
     AND NOT EXISTS (SELECT 1 FROM request_again WHERE request_seq = OLD.seq)
     AND NOT EXISTS (SELECT 1 FROM session AS s JOIN workspace_owner_change AS w
                         ON w.machine = s.machine AND w.workspace_root = s.workspace_root
                      WHERE s.seq = OLD.session_seq AND w.at = NEW.updated_at)
     AND NOT EXISTS (SELECT 1 FROM event WHERE request_seq = OLD.seq AND kind = 'approval.lapsed');
  SELECT RAISE(ABORT, 'request: undecided: insert a row into decision to answer a request')
   WHERE OLD.decision_seq IS NULL
     AND (NEW.state NOT IN ('pending', 'interrupted') OR NEW.decision_seq IS NOT NULL
          OR NEW.decision IS NOT NULL OR NEW.reason IS NOT NULL OR NEW.instruction IS NOT NULL
          OR NEW.decided_by IS NOT NULL OR NEW.decided_at IS NOT NULL)
     AND NOT EXISTS (SELECT 1 FROM decision AS d
                       JOIN request_verdict AS v ON v.kind = OLD.kind AND v.verdict = d.verdict
                      WHERE d.seq = NEW.decision_seq AND d.request_id = OLD.id
                        AND d.outcome = 'applied' AND v.state = NEW.state);
  SELECT RAISE(ABORT, 'request: unapplied: a request is consumed by its finished apply only')
   WHERE NEW.state = 'consumed' AND OLD.state <> 'consumed'
     AND NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = OLD.seq AND state = 'applied')
     AND NOT EXISTS (SELECT 1 FROM apply WHERE question_seq = OLD.seq AND state = 'applied');
END;

-- What was approved, and not used yet.
CREATE VIEW approval_unused AS
SELECT seq AS request_seq, session_seq FROM request
 WHERE state = 'approved' AND (kind = 'clearance' OR (kind = 'permission' AND delivered_at IS NULL));

-- Which questions of the same workspace are about a file that an unused yes names, but with another
-- content. Before or after: an older question is found again when the file is as it was then.
CREATE VIEW request_again AS
SELECT r.seq AS request_seq, n.seq AS again_seq
  FROM request_file AS f
  JOIN request_file AS o ON o.target = f.target AND o.original_hash <> f.original_hash
  JOIN request AS r ON r.seq = f.request_seq AND r.kind = 'clearance' AND r.state = 'approved'
  JOIN request AS n ON n.seq = o.request_seq
  JOIN session AS s ON s.seq = r.session_seq
  JOIN session AS t ON t.seq = n.session_seq AND t.machine = s.machine
   AND t.workspace_root = s.workspace_root
 WHERE NOT EXISTS (SELECT 1 FROM apply
                    WHERE request_seq = r.seq AND state IN ('queued', 'claimed'));

-- What was approved in a session that has ended, and not written: that was for its agent.
CREATE VIEW approval_left AS
SELECT r.seq AS request_seq, r.session_seq, 'its session ended before it was written' AS why
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE s.status = 'terminated' AND r.kind = 'clearance' AND r.state = 'approved'
   AND NOT EXISTS (SELECT 1 FROM apply
                    WHERE request_seq = r.seq AND state IN ('queued', 'claimed'));

-- A request changes hands only if nobody listens in its session.
CREATE TRIGGER request_is_adopted BEFORE UPDATE OF session_seq ON request
WHEN OLD.session_seq <> NEW.session_seq BEGIN
  SELECT RAISE(ABORT, 'request: adopted: a caller still listens for this answer')
   WHERE EXISTS (SELECT 1 FROM tool_call
                  WHERE request_seq = OLD.seq AND state = 'waiting' AND listener IS NOT NULL);
  SELECT RAISE(ABORT, 'request: adopted: only a session of the same workspace may adopt')
   WHERE NOT EXISTS (SELECT 1 FROM session AS old
                       JOIN session AS new ON new.seq = NEW.session_seq
                      WHERE old.seq = OLD.session_seq AND old.machine = new.machine
                        AND old.workspace_root = new.workspace_root);
  SELECT RAISE(ABORT, 'request: adopted: the folder has another owner than when this was asked')
   WHERE EXISTS (SELECT 1 FROM session AS s JOIN workspace_owner_change AS w
                     ON w.machine = s.machine AND w.workspace_root = s.workspace_root
                  WHERE s.seq = OLD.session_seq AND w.at >= OLD.created_at);
END;

CREATE TRIGGER request_asked AFTER INSERT ON request BEGIN
  INSERT INTO event (at, kind, session_seq, request_seq, detail)
  VALUES (NEW.created_at, 'request.asked', NEW.session_seq, NEW.seq,
          json_object('kind', NEW.kind, 'digest', NEW.digest, 'file', NEW.file_path,
                      'risk', NEW.risk_level));
  INSERT INTO slack_notice (kind, session_seq, request_seq, at)
  VALUES ('ask', NEW.session_seq, NEW.seq, NEW.created_at);
END;

CREATE TRIGGER request_changed AFTER UPDATE OF state, session_seq ON request
WHEN OLD.state <> NEW.state OR OLD.session_seq <> NEW.session_seq BEGIN
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT NEW.updated_at, 'request.' || NEW.state, NEW.session_seq, NEW.seq,
         CASE WHEN NEW.state IN ('approved', 'rejected', 'answered', 'expired')
               AND OLD.state <> 'approved'
              THEN NEW.decided_by END,
         json_object('from', OLD.state, 'decision', NEW.decision, 'digest', NEW.digest)
   WHERE OLD.state <> NEW.state;
  UPDATE tool_call SET state = 'answered', answered_at = NEW.updated_at
   WHERE request_seq = NEW.seq AND state = 'waiting'
     AND OLD.decision_seq IS NULL AND NEW.decision_seq IS NOT NULL;
  -- It may be the agent's turn again; the watchdog checks when it matters.
  UPDATE session SET idle_since = NEW.updated_at
   WHERE seq = NEW.session_seq AND OLD.state = 'pending' AND NEW.state <> 'pending';
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE request_seq = NEW.seq AND kind IN ('ask', 'reply') AND NEW.state <> 'consumed';
  INSERT INTO request_turn (request_seq, was, was_in, is_answered, matters)
  VALUES (NEW.seq, OLD.state, OLD.session_seq,
          OLD.decision_seq IS NULL AND NEW.decision_seq IS NOT NULL,
          OLD.session_seq <> NEW.session_seq OR NEW.state = 'expired' OR NEW.kind IN ('restore', 'trust')
          OR (OLD.decision_seq IS NULL AND NEW.decision_seq IS NOT NULL
              AND (NEW.decided_by = 'system:policy'
                   OR NOT EXISTS (SELECT 1 FROM session AS s JOIN workspace AS w
                                      ON w.machine = s.machine AND w.root = s.workspace_root
                                   WHERE s.seq = NEW.session_seq))));
END;

-- What follows from few changes of a request: see decision_told. Another session adopted it, nobody answered
-- in time, a person trusts a policy or wants a checkpoint back, a person answers the first request from a
-- folder, or the policy answered.
CREATE VIEW request_turn AS
SELECT seq AS request_seq, state AS was, session_seq AS was_in, 0 AS is_answered, 0 AS matters FROM request;

CREATE TRIGGER request_turned INSTEAD OF INSERT ON request_turn WHEN NEW.matters BEGIN
  INSERT INTO event (at, kind, session_seq, request_seq, detail)
  SELECT r.updated_at, 'request.adopted', r.session_seq, r.seq,
         json_object('from', (SELECT id FROM session WHERE seq = NEW.was_in))
    FROM request AS r WHERE r.seq = NEW.request_seq AND r.session_seq <> NEW.was_in;
  INSERT INTO workspace (machine, root, answered_at)
  SELECT s.machine, s.workspace_root, r.updated_at
    FROM request AS r JOIN session AS s ON s.seq = r.session_seq
   WHERE r.seq = NEW.request_seq AND NEW.is_answered
     AND r.decided_by NOT IN (SELECT id FROM operator WHERE kind = 'system')
     AND NOT EXISTS (SELECT 1 FROM workspace WHERE machine = s.machine AND root = s.workspace_root);
  INSERT INTO policy_trust (machine, workspace_root, hash, content_seq, operator_id, request_seq,
                            created_at)
  SELECT s.machine, s.workspace_root, c.hash, c.seq, r.decided_by, r.seq, r.updated_at
    FROM request AS r JOIN session AS s ON s.seq = r.session_seq
    JOIN content AS c ON c.hash = r.original_hash
   WHERE r.seq = NEW.request_seq AND r.kind = 'trust'
     AND NEW.was <> 'approved' AND r.state = 'approved'
     AND r.decided_by IN (SELECT id FROM operator WHERE kind <> 'system' AND active = 1);
  -- What the policy decided before anybody was asked is not posted.
  UPDATE slack_outbox SET state = 'sent', settled_at = r.updated_at
    FROM request AS r
   WHERE r.seq = NEW.request_seq AND NEW.is_answered AND r.decided_by = 'system:policy'
     AND slack_outbox.state = 'queued'
     AND message_seq IN (SELECT seq FROM slack_message
                          WHERE request_seq = NEW.request_seq AND kind IN ('ask', 'diff')
                            AND state = 'queued');
  UPDATE slack_message SET state = 'dead', updated_at = r.updated_at
    FROM request AS r
   WHERE r.seq = NEW.request_seq AND NEW.is_answered AND r.decided_by = 'system:policy'
     AND slack_message.request_seq = NEW.request_seq AND slack_message.kind IN ('ask', 'diff')
     AND slack_message.state = 'queued'
     AND NOT EXISTS (SELECT 1 FROM slack_outbox AS o
                      WHERE o.message_seq = slack_message.seq AND o.state <> 'sent');
  -- A checkpoint that is to be put back is for the applier, or forgotten.
  UPDATE workspace_restore
     SET state = CASE r.state WHEN 'approved' THEN 'approved' ELSE 'cancelled' END,
         updated_at = r.updated_at
    FROM request AS r
   WHERE r.seq = NEW.request_seq AND r.state IN ('approved', 'rejected')
     AND workspace_restore.request_seq = NEW.request_seq AND workspace_restore.state = 'asked';
  INSERT INTO slack_notice (kind, session_seq, request_seq, at)
  SELECT 'expired', r.session_seq, r.seq, r.updated_at
    FROM request AS r
   WHERE r.seq = NEW.request_seq AND NEW.was NOT IN ('expired', 'approved') AND r.state = 'expired'
     AND r.reason IS NULL
     AND (SELECT withdrawn_at FROM agent_question
           WHERE seq = (SELECT max(seq) FROM agent_question WHERE request_seq = r.seq)) IS NULL;
END;

-- What is about a file that can be looked at: one that was there when it was asked.
CREATE VIEW request_with_file AS
SELECT seq FROM request
 WHERE original_hash <> 'new_file'
    OR EXISTS (SELECT 1 FROM request_file AS f
                WHERE f.request_seq = request.seq AND f.original_hash <> 'new_file');

-- The paths of a request belong to what was asked.
CREATE TRIGGER request_file_is_asked BEFORE INSERT ON request_file BEGIN
  SELECT RAISE(ABORT, 'request_file: asked: a question gets its paths before it is answered')
   WHERE NOT EXISTS (SELECT 1 FROM request AS r JOIN request_kind AS k ON k.kind = r.kind
                      WHERE r.seq = NEW.request_seq AND k.has_paths = 1
                        AND r.state IN ('pending', 'interrupted'));
END;

-- What may not fit completely in a Slack message: the rest goes into a file. slack-poster, which
-- sees the result, decides.
CREATE VIEW request_long AS
SELECT seq FROM request
 WHERE kind = 'clearance' OR body_seq IS NOT NULL OR effect_seq IS NOT NULL OR description_seq IS NOT NULL
    OR length(description) > 200 OR length(title) > 120
    OR max(length(body), length(coalesce(effect, ''))) > 250
    OR length(body) - length(replace(body, char(10), '')) > 19
    OR length(effect) - length(replace(effect, char(10), '')) > 19;

-- Who gets the answer to a request as soon as it is given: a caller that waits or polls, also for a
-- write about which it is asked again, or the process that asked on its stdout.
CREATE VIEW request_listener AS
SELECT request_seq FROM tool_call
 WHERE state = 'waiting' AND request_seq IS NOT NULL AND (listener IS NOT NULL OR task_id IS NOT NULL)
UNION ALL
SELECT a.question_seq FROM apply AS a CROSS JOIN tool_call AS t ON t.apply_seq = a.seq
 WHERE a.question_seq IS NOT NULL AND t.state = 'waiting'
   AND (t.listener IS NOT NULL OR t.task_id IS NOT NULL)
UNION ALL
SELECT q.request_seq FROM agent_question AS q CROSS JOIN agent_run AS r ON r.seq = q.run_seq
 WHERE q.answered_at IS NULL AND q.withdrawn_at IS NULL AND r.state = 'running';

-- What waits for me.
CREATE VIEW inbox AS
SELECT r.id, r.kind, r.title, r.file_path, r.risk_level,
       s.id AS session_id, s.workspace_root, s.client_name, s.mode,
       r.state, r.created_at, r.deadline_at,
       EXISTS (SELECT 1 FROM request_listener AS l WHERE l.request_seq = r.seq) AS listening,
       s.agent_user
  FROM request AS r INDEXED BY request_open JOIN session AS s ON s.seq = r.session_seq
 WHERE r.state IN ('pending', 'interrupted')
 ORDER BY r.seq;

-- The names of the original specification, as views. What an agent that we started would write
-- itself is an approval, too; its file was not looked at.
CREATE VIEW approval_request AS
SELECT r.id, s.id AS session_id, r.title,
       coalesce(r.description, (SELECT CAST(bytes AS TEXT) FROM content WHERE seq = r.description_seq)) AS description,
       coalesce(r.body, (SELECT CAST(bytes AS TEXT) FROM content WHERE seq = r.body_seq)) AS diff_content,
       r.file_path, r.risk_level, r.state AS status, coalesce(r.original_hash, 'none') AS original_hash,
       r.slack_ts, r.created_at, r.consumed_at
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.kind = 'clearance' OR (r.kind = 'permission' AND r.file_path IS NOT NULL);

CREATE VIEW continuation_prompt AS
SELECT r.id, s.id AS session_id,
       coalesce(r.body, (SELECT CAST(bytes AS TEXT) FROM content WHERE seq = r.body_seq)) AS prompt_text,
       r.prompt_type, r.elapsed_seconds, r.actions_taken, r.decision, r.instruction, r.slack_ts,
       r.created_at
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.kind = 'prompt';

-- Agents that wait for instructions.
CREATE VIEW standby AS
SELECT r.id, s.id AS session_id,
       coalesce(r.body, (SELECT CAST(bytes AS TEXT) FROM content WHERE seq = r.body_seq)) AS message,
       r.state, r.decision, r.instruction, r.deadline_at, r.slack_ts, r.created_at
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.kind = 'standby';

-- What the agent offers to choose from, and its form.
CREATE VIEW request_offer AS
SELECT r.seq AS request_seq,
       coalesce((SELECT options FROM agent_question
                  WHERE seq = (SELECT max(seq) FROM agent_question WHERE request_seq = r.seq)),
                (SELECT options FROM gate_call WHERE request_seq = r.seq AND options IS NOT NULL
                  ORDER BY seq DESC LIMIT 1)) AS options,
       (SELECT form FROM agent_question
         WHERE seq = (SELECT max(seq) FROM agent_question WHERE request_seq = r.seq)) AS form
  FROM request AS r;

-- Which of its own answers the agent was given, in its words, of whatever kind; of a form what was
-- filled in.
CREATE VIEW request_answer AS
SELECT r.seq AS request_seq,
       coalesce((SELECT json_extract(o.value, '$.name') FROM json_each(q.options) AS o
                  WHERE json_extract(o.value, '$.id') = d.choice),
                CASE WHEN q.form IS NOT NULL THEN d.instruction END) AS name
  FROM request AS r JOIN decision AS d ON d.seq = r.decision_seq
  JOIN request_offer AS q ON q.request_seq = r.seq
 WHERE d.choice IS NOT NULL AND coalesce(q.options, q.form) IS NOT NULL;

-- What was chosen, in the agent's words, where the agent does not say whether that is a yes or a
-- no: the verdict says approve only because it must say something.
CREATE VIEW request_chosen AS
SELECT r.seq AS request_seq, json_extract(o.value, '$.name') AS name
  FROM request AS r JOIN decision AS d ON d.seq = r.decision_seq
  JOIN request_offer AS q ON q.request_seq = r.seq, json_each(q.options) AS o
 WHERE json_extract(o.value, '$.id') = d.choice
   AND coalesce(json_extract(o.value, '$.kind'), 'other') = 'other';

-- Why no answer is needed any longer; NULL: one is, or was given, or it is just late.
CREATE VIEW request_withdrawn AS
SELECT r.seq AS request_seq,
       coalesce((SELECT why FROM agent_question
                  WHERE seq = (SELECT max(seq) FROM agent_question WHERE request_seq = r.seq)),
                CASE WHEN r.state <> 'expired' THEN NULL
                     WHEN r.decision <> 'approve' THEN r.reason
                     WHEN EXISTS (SELECT 1 FROM session AS s JOIN workspace_owner_change AS w
                                      ON w.machine = s.machine
                                     AND w.workspace_root = s.workspace_root
                                   WHERE s.seq = r.session_seq AND w.at = r.updated_at)
                     THEN 'the folder has another owner'
                     WHEN EXISTS (SELECT 1 FROM event
                                   WHERE request_seq = r.seq AND kind = 'approval.lapsed')
                     THEN 'the database was restored from a backup, and this may have been done since then'
                     ELSE 'a file of it has changed, and was asked about since' END) AS why
  FROM request AS r;
