-- Who is notified of a silence.

-- Whoever inserts it also marks the session as stalled: the agent's next call ends that, and with
-- it the stall (see session_changed).
CREATE TRIGGER stall_raised AFTER INSERT ON stall BEGIN
  INSERT INTO event (at, kind, session_seq, actor, detail)
  VALUES (NEW.created_at, 'stall.raised', NEW.session_seq, 'system:clock',
          json_object('alert', NEW.id, 'idle_seconds', NEW.idle_seconds,
                      'last_tool', NEW.last_tool));
  INSERT INTO slack_notice (kind, session_seq, detail, at)
  VALUES ('stall', NEW.session_seq, json_object('alert_id', NEW.id), NEW.created_at);
END;

-- Slack shows its outcome; an automatic nudge, and the call for the operator, are separate
-- messages, because an edit notifies nobody.
CREATE TRIGGER stall_changed AFTER UPDATE OF status, nudge_count ON stall
WHEN OLD.status <> NEW.status OR OLD.nudge_count <> NEW.nudge_count BEGIN
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT NEW.updated_at, 'stall.' || NEW.status, NEW.session_seq,
         CASE NEW.status WHEN 'nudged' THEN NEW.nudged_by WHEN 'escalated' THEN 'system:clock' END,
         json_object('alert', NEW.id, 'nudges', NEW.nudge_count);
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE session_seq = NEW.session_seq AND kind IN ('stall', 'escalated')
     AND state IN ('queued', 'sent') AND json_extract(detail, '$.alert_id') = NEW.id;
  INSERT INTO slack_notice (kind, session_seq, detail, at)
  SELECT 'nudged', NEW.session_seq,
         json_object('alert_id', NEW.id, 'nudge', NEW.auto_count), NEW.updated_at
   WHERE NEW.auto_count > OLD.auto_count;
  INSERT INTO slack_notice (kind, session_seq, detail, at)
  SELECT 'escalated', NEW.session_seq, json_object('alert_id', NEW.id), NEW.updated_at
   WHERE OLD.status <> 'escalated' AND NEW.status = 'escalated';
END;

-- Sessions that the clock does not nudge: a command of ours runs for them, or a tool of an agent that
-- we talk to over ACP is at work, whose turn, and the tool with it, a nudge would cancel.
CREATE VIEW stall_at_work AS
SELECT session_seq FROM alias_run WHERE state = 'running'
UNION ALL
SELECT r.session_seq FROM agent_run AS r CROSS JOIN agent_turn AS t ON t.run_seq = r.seq
 CROSS JOIN agent_line AS l ON l.turn_seq = t.seq
 WHERE r.protocol = 'acp' AND r.ended_at IS NULL AND t.ended_at IS NULL
   AND l.kind = 'tool' AND l.over_at IS NULL;

-- The table of the original specification, as a view.
CREATE VIEW stall_alert AS
SELECT t.id, s.id AS session_id, t.last_tool, t.last_activity_at, t.idle_seconds, t.nudge_count,
       t.status, t.nudge_message, t.progress_snapshot,
       (SELECT m.ts FROM slack_message AS m
         WHERE m.session_seq = t.session_seq AND m.kind = 'stall'
           AND json_extract(m.detail, '$.alert_id') = t.id) AS slack_ts,
       t.created_at
  FROM stall AS t JOIN session AS s ON s.seq = t.session_seq;
