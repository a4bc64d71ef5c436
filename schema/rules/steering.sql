-- What an operator says to an agent: accepted if the operator may say it and there is such an
-- agent; delivered once.

-- The text of a nudge if nobody has typed one.
CREATE VIEW usual_nudge AS
SELECT coalesce((SELECT value FROM setting WHERE name = 'stall.default_nudge_message'),
                'Please go on, or say what holds you up.') AS text;

-- What waits to be told. A nudge with the default text ends with its silence: the next caller may
-- already be another run. Typed texts keep waiting. What the applier told several sessions at once is
-- told once to the one that takes over from them.
CREATE VIEW steering_untold AS
SELECT seq, kind, text, source, operator_id, created_at, session_id, session_seq, is_usual
  FROM (SELECT t.*, t.kind = 'nudge' AND (t.source = 'clock'
                                          OR t.text IS (SELECT text FROM usual_nudge)) AS is_usual
          FROM steering AS t WHERE t.outcome = 'accepted' AND t.delivered_at IS NULL) AS u
 WHERE NOT (is_usual = 1 AND stall_seq IS NOT NULL
            AND EXISTS (SELECT 1 FROM stall AS l WHERE l.seq = stall_seq AND l.status = 'dismissed'))
   AND NOT (source = 'applier'
            AND EXISTS (SELECT 1 FROM steering AS o
                         WHERE o.session_seq = u.session_seq AND o.source = u.source
                           AND o.created_at = u.created_at AND o.text = u.text
                           AND (o.seq < u.seq
                                OR (o.seq > u.seq AND o.delivered_at IS NOT NULL))));

-- What is said of an order, or words, for a session that has ended.
CREATE VIEW session_over AS
SELECT id, 'session ' || substr(id, 1, 13) || ' has ended'
           || CASE origin WHEN 'started' THEN '; `session-restart ' || id || '` begins it afresh'
                   ELSE '' END AS why
  FROM session WHERE status = 'terminated';

-- What people said to a session that then ended: its agent is never told.
CREATE VIEW steering_lost AS
SELECT t.seq, t.session_seq, t.text, t.operator_id, t.created_at
  FROM steering_untold AS t
  JOIN session AS s ON s.seq = t.session_seq AND s.status = 'terminated'
  JOIN source AS f ON f.name = t.source AND f.operator_kind <> 'system'
 WHERE t.is_usual = 0;

-- What people said beside an answer to an agent that we started, and it was not told, as its turn has
-- not ended, nor in the prompt with which a later run went on; an approval's note may be a steering, too.
CREATE VIEW words_untold AS
SELECT i.seq, i.session_seq, CASE r.state WHEN 'approved' THEN r.instruction ELSE r.reason END AS text,
       r.decided_by AS operator_id, d.source, i.created_at
  FROM agent_input AS i CROSS JOIN request AS r ON r.seq = i.request_seq
  CROSS JOIN decision AS d ON d.seq = r.decision_seq
  CROSS JOIN source AS f ON f.name = d.source AND f.operator_kind <> 'system'
 WHERE i.kind = 'words' AND i.sent_at IS NULL
   AND NOT EXISTS (SELECT 1 FROM steering AS t
                    WHERE t.session_seq = i.session_seq AND r.state = 'approved' AND t.text = r.instruction)
   AND NOT EXISTS (SELECT 1 FROM agent_input AS n
                    WHERE n.session_seq = i.session_seq AND n.seq > i.seq AND n.kind = 'return'
                      AND n.sent_at IS NOT NULL);

-- Answers that the result of a call has brought, or will, as its caller listens; or, of an agent that we
-- started, a prompt of a run, or that with which a later one went on, which tells those to calls, too.
CREATE VIEW answer_brought AS
SELECT request_seq FROM tool_call
 WHERE told_answer = 1 OR (state IN ('waiting', 'answered') AND listener IS NOT NULL)
UNION ALL
SELECT q.request_seq FROM agent_question AS q CROSS JOIN agent_input AS i ON i.seq = q.told_seq
 WHERE i.sent_at IS NOT NULL
    OR EXISTS (SELECT 1 FROM agent_input AS n
                WHERE n.session_seq = i.session_seq AND n.seq > i.seq AND n.kind = 'return'
                  AND n.sent_at IS NOT NULL)
UNION ALL
SELECT r.seq FROM request AS r CROSS JOIN agent_input AS n ON n.session_seq = r.session_seq
 WHERE n.kind = 'return' AND n.sent_at IS NOT NULL AND n.created_at >= r.decided_at
   AND NOT EXISTS (SELECT 1 FROM agent_question WHERE request_seq = r.seq);

-- What people said with an answer that nothing has brought. (An order that ends a session answers its
-- questions, too: that is for nobody. An approval's note may be a steering.)
CREATE VIEW answer_lost AS
SELECT seq, session_seq, text, operator_id, source, created_at
  FROM (SELECT r.seq, r.session_seq, r.state, s.terminated_at, r.decided_by AS operator_id, d.source,
               r.decided_at AS created_at,
               CASE WHEN r.state = 'rejected' OR r.decision = 'stop' THEN r.reason
                    ELSE r.instruction END AS text
          FROM request AS r CROSS JOIN session AS s ON s.seq = r.session_seq
          CROSS JOIN decision AS d ON d.seq = r.decision_seq
          CROSS JOIN source AS f ON f.name = d.source AND f.operator_kind <> 'system'
         WHERE r.delivered_at IS NULL AND r.state NOT IN ('pending', 'interrupted')
           AND r.state IN ('approved', 'rejected', 'answered') AND r.kind NOT IN ('trust', 'restore')
           AND NOT EXISTS (SELECT 1 FROM answer_brought WHERE request_seq = r.seq)) AS a
 WHERE trim(text) <> '' AND created_at IS NOT terminated_at
   AND NOT EXISTS (SELECT 1 FROM steering AS t
                    WHERE t.session_seq = a.session_seq AND a.state = 'approved' AND t.text = a.text);

-- What was said with the answer to an agent's question, if who said it may also say it as steering.
-- (Of an approval that is a note, and steering already.)
CREATE VIEW answer_words AS
SELECT seq, session_seq, session_id, origin, kind, state, digest, decision, decided_at, delivered_at,
       operator_id, source, words,
       CASE WHEN length(title) + length(words) > 65000 THEN words
            ELSE 'Answer to “' || title || '”: ' || words END AS text
  FROM (SELECT r.seq, r.session_seq, s.id AS session_id, s.origin, r.kind, r.state, r.digest, r.title,
               r.decision, r.decided_at, r.delivered_at, r.decided_by AS operator_id, d.source,
               CASE WHEN r.state = 'rejected' THEN 'rejected: ' || r.reason
                    WHEN r.decision = 'stop' THEN 'stop' || coalesce(': ' || r.reason, '')
                    ELSE r.instruction END AS words
          FROM request AS r CROSS JOIN decision AS d ON d.seq = r.decision_seq
          CROSS JOIN session AS s ON s.seq = r.session_seq
          CROSS JOIN source AS f ON f.name = d.source AND f.steers IN ('*', 'steer')
          CROSS JOIN operator AS p ON p.id = r.decided_by AND p.kind = f.operator_kind AND p.active = 1
         WHERE r.state NOT IN ('pending', 'interrupted') AND r.state IN ('answered', 'rejected')
           AND s.mode IS NOT f.shut_in_mode
           AND (r.decision = 'stop'
                OR trim(CASE r.state WHEN 'rejected' THEN r.reason ELSE r.instruction END) <> ''));

-- Words that answered an agent's question and that it was not told: it was gone, and nobody has asked
-- the same again.
CREATE VIEW answer_untold AS
SELECT a.seq, a.session_seq, a.session_id, a.digest, a.decision, a.decided_at, a.operator_id, a.source,
       a.words, a.text
  FROM answer_words AS a
 WHERE a.delivered_at IS NULL AND a.state = 'answered' AND a.kind IN ('prompt', 'standby')
   AND a.origin <> 'started'
   AND NOT EXISTS (SELECT 1 FROM answer_brought WHERE request_seq = a.seq);

CREATE TRIGGER steering_is_judged AFTER INSERT ON steering BEGIN
  UPDATE steering
     SET operator_id = coalesce(NEW.operator_id, (SELECT id FROM operator WHERE is_default = 1)),
         text = CASE WHEN NEW.kind = 'nudge' AND NEW.text IS NULL
                     THEN (SELECT text FROM usual_nudge) ELSE NEW.text END,
         session_seq = CASE WHEN NEW.kind IN ('steer', 'nudge')
                            THEN (SELECT seq FROM session WHERE id = NEW.session_id) END,
         stall_seq = CASE WHEN NEW.kind = 'nudge'
                          THEN (SELECT t.seq FROM session AS s JOIN stall AS t ON t.session_seq = s.seq
                                 WHERE s.id = NEW.session_id AND t.ended_at IS NULL) END,
         (outcome, why) = (
           SELECT o.outcome, o.why FROM (
             SELECT 1 AS rank, 'malformed' AS outcome, 'kind must be steer, task or nudge' AS why
              WHERE coalesce(NEW.kind, '') NOT IN ('steer', 'task', 'nudge')
             UNION ALL
             SELECT 2, 'malformed', 'text must be a text of 1 to 65536 characters'
              WHERE (typeof(NEW.text) <> 'text' OR trim(NEW.text) = '' OR length(NEW.text) > 65536)
                AND NOT (NEW.kind = 'nudge' AND NEW.text IS NULL)
             UNION ALL
             SELECT 3, 'malformed', 'created_at must look like 2026-02-08T09:30:00.123Z'
              WHERE typeof(NEW.created_at) <> 'text'
                 OR NEW.created_at NOT GLOB '????-??-??T??:??:??.???Z'
             UNION ALL
             SELECT 4, 'malformed', 'source must be one of ' ||
                    (SELECT group_concat(name, ', ') FROM source WHERE steers IN ('*', NEW.kind))
              WHERE NOT EXISTS (SELECT 1 FROM source
                                 WHERE name = NEW.source AND steers IN ('*', NEW.kind))
             UNION ALL
             SELECT 5, 'unauthorized',
                    coalesce((SELECT why FROM operator_fault
                               WHERE id IS coalesce(NEW.operator_id,
                                                    (SELECT id FROM operator WHERE is_default = 1))),
                             'this operator may not steer from this source')
              WHERE NOT EXISTS (
                SELECT 1 FROM source AS f JOIN operator AS p ON p.kind = f.operator_kind
                 WHERE f.name = NEW.source AND p.active = 1
                   AND p.id = coalesce(NEW.operator_id,
                                       (SELECT id FROM operator WHERE is_default = 1)))
             UNION ALL
             SELECT 5, 'unauthorized', 'nothing of this session was undone or put back then'
              WHERE NEW.source = 'applier'
                AND NOT EXISTS (
                  SELECT 1 FROM session AS s JOIN request AS r ON r.session_seq = s.seq
                    JOIN apply AS a ON a.request_seq = r.seq AND a.state = 'undone'
                   WHERE s.id = NEW.session_id AND a.updated_at = NEW.created_at)
                AND NOT EXISTS (
                  SELECT 1 FROM workspace_restore AS w CROSS JOIN session AS h ON h.seq = w.session_seq
                    CROSS JOIN session AS s ON s.id = NEW.session_id
                   WHERE w.state = 'done' AND w.updated_at = NEW.created_at
                     AND s.machine = h.machine AND s.workspace_root = h.workspace_root)
             UNION ALL
             SELECT 6, 'not_found',
                    coalesce((SELECT why FROM session_over WHERE id = NEW.session_id),
                             'there is no such session')
              WHERE NEW.kind IN ('steer', 'nudge')
                AND NOT EXISTS (SELECT 1 FROM session
                                 WHERE id = NEW.session_id AND status <> 'terminated')
             UNION ALL
             SELECT 7, 'not_in_this_mode',
                    'the session is in ' || s.mode || ' mode, and its agent was not told: say it '
                    || CASE s.mode WHEN 'remote' THEN 'in Slack, or switch with `mode hybrid --session '
                                   ELSE 'at its machine, or switch with `mode hybrid ' END
                    || substr(s.id, 1, 13) || '` first'
               FROM session AS s
              WHERE NEW.kind IN ('steer', 'nudge') AND s.id = NEW.session_id
                AND s.mode = (SELECT shut_in_mode FROM source WHERE name = NEW.source)
             UNION ALL
             SELECT 8, 'not_found',
                    'several users are served here, and the next agent may be anybody''s: name a session (steer)'
              WHERE NEW.kind = 'task' AND NEW.channel_id IS NULL
                AND EXISTS (SELECT 1 FROM setting WHERE name = 'shared.directory' AND value <> '')
             UNION ALL
             SELECT 9, 'accepted', NULL
           ) AS o ORDER BY o.rank LIMIT 1)
   WHERE seq = NEW.seq;
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT CASE WHEN typeof(d.created_at) = 'text' AND d.created_at GLOB '????-??-??T??:??:??.???Z'
              THEN d.created_at ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END,
         'steering.' || d.outcome, d.session_seq,
         CASE WHEN typeof(d.operator_id) = 'text' THEN d.operator_id END,
         json_object('steering', d.seq,
                     'kind', CASE WHEN typeof(d.kind) = 'text' THEN substr(d.kind, 1, 40) END,
                     'source', CASE WHEN typeof(d.source) = 'text' THEN substr(d.source, 1, 40) END,
                     'why', d.why)
    FROM steering AS d WHERE d.seq = NEW.seq;
  -- The silence that it should end gets new time. After everybody was called, the watchdog adds
  -- nothing to what the operator does.
  UPDATE stall
     SET (status, nudge_count, auto_count, nudge_message, nudged_by, waits_since, updated_at) = (
           SELECT 'nudged', stall.nudge_count + 1,
                  stall.auto_count + (NEW.source = 'clock'), d.text, d.operator_id,
                  CASE WHEN stall.waits_since IS NOT NULL THEN d.created_at END, d.created_at
             FROM steering AS d WHERE d.seq = NEW.seq)
   WHERE seq = (SELECT stall_seq FROM steering
                 WHERE seq = NEW.seq AND kind = 'nudge' AND outcome = 'accepted');
  -- It is what follows the turn that has ended.
  UPDATE agent_turn SET followed_at = NEW.created_at, followed_by = NEW.seq
   WHERE ended_at IS NOT NULL AND followed_at IS NULL
     AND seq = (SELECT t.seq FROM steering AS d
                  JOIN agent_run AS r ON r.session_seq = d.session_seq AND r.ended_at IS NULL
                  JOIN agent_turn AS t ON t.run_seq = r.seq
                 WHERE d.seq = NEW.seq AND d.outcome = 'accepted'
                 ORDER BY t.number DESC LIMIT 1);
END;

-- An agent has been told to continue: at the moment when that was sent, not before. Or what was
-- sent did not arrive, because its caller had closed or cancelled the call. Or another agent was
-- told than the intended one: the operator, who was promised that one, is notified.
CREATE TRIGGER steering_is_delivered AFTER UPDATE OF delivered_at ON steering
WHEN (OLD.delivered_at IS NULL) <> (NEW.delivered_at IS NULL)
 AND (NEW.kind = 'nudge' OR NEW.delivered_at IS NULL
      OR (NEW.kind = 'steer'
          AND NEW.session_id IS NOT (SELECT id FROM session WHERE seq = NEW.session_seq))) BEGIN
  INSERT INTO event (at, kind, session_seq, call_seq, actor, detail)
  VALUES (coalesce(NEW.delivered_at, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
          CASE WHEN NEW.delivered_at IS NULL THEN 'steering.untold'
               WHEN NEW.kind = 'nudge' THEN 'nudge.delivered' ELSE 'steering.inherited' END,
          NEW.session_seq, coalesce(NEW.call_seq, OLD.call_seq), NEW.operator_id,
          json_object('steering', NEW.seq));
  INSERT INTO slack_notice (kind, session_seq, text, at)
  SELECT 'reply', s.seq,
         'The next agent in this workspace, session ' || substr(n.id, 1, 13) || ', was told: “'
         || CASE WHEN length(NEW.text) > 300 THEN substr(NEW.text, 1, 300) || '…' ELSE NEW.text END
         || '”', NEW.delivered_at
    FROM session AS s JOIN session AS n ON n.seq = NEW.session_seq
    JOIN source AS f ON f.name = NEW.source AND f.operator_kind <> 'system'
   WHERE s.id = NEW.session_id AND s.seq <> n.seq AND NEW.delivered_at IS NOT NULL
     AND (NEW.source = 'slack' OR s.mode <> 'local');
END;

-- What its agent was not told is for a later one in the same workspace.
CREATE TRIGGER steering_is_left BEFORE UPDATE OF session_seq ON steering
WHEN OLD.session_seq IS NOT NEW.session_seq BEGIN
  SELECT RAISE(ABORT, 'steering: left: it is for its session, or for a later one of the same workspace')
   WHERE OLD.session_seq IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM session AS s JOIN session AS n
                        ON n.workspace_root = s.workspace_root AND n.machine = s.machine AND n.seq > s.seq
                      WHERE s.seq = OLD.session_seq AND n.seq = NEW.session_seq);
END;

-- Told once, unless it turns out that nobody was told: then it waits again.
CREATE TRIGGER steering_is_told_once BEFORE UPDATE OF delivered_at, call_seq ON steering BEGIN
  SELECT RAISE(ABORT, 'steering: delivered: an agent is told once')
   WHERE OLD.delivered_at IS NOT NULL AND NEW.delivered_at IS NOT NULL
     AND (OLD.delivered_at IS NOT NEW.delivered_at OR OLD.call_seq IS NOT NEW.call_seq);
  SELECT RAISE(ABORT, 'steering: delivered: a delivery has its call and its instant')
   WHERE NEW.delivered_at IS NULL AND NEW.call_seq IS NOT NULL
     AND OLD.call_seq IS NOT NEW.call_seq;
  SELECT RAISE(ABORT, 'steering: undeliverable: it was not accepted, or is for nobody yet')
   WHERE OLD.delivered_at IS NULL AND NEW.delivered_at IS NOT NULL
     AND (OLD.outcome IS NOT 'accepted' OR OLD.session_seq IS NULL);
  SELECT RAISE(ABORT, 'steering: order: something was said before that is not delivered yet')
   WHERE OLD.delivered_at IS NULL AND NEW.delivered_at IS NOT NULL
     AND EXISTS (SELECT 1 FROM steering_untold
                  WHERE session_seq = OLD.session_seq AND seq < OLD.seq);
END;
