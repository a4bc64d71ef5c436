-- What the policy allowed is reported: in the timeline at once, in Slack when its notice is due. An
-- interval of 0 means at once.

CREATE TRIGGER auto_approval_noted AFTER INSERT ON auto_approval BEGIN
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  VALUES (NEW.created_at, 'policy.allowed', NEW.session_seq, NEW.request_seq, 'system:policy',
          json_object('rule', NEW.rule, 'hash', substr(NEW.hash, 1, 12)));
  INSERT INTO auto_notice (session_seq, due_at, created_at)
  SELECT NEW.session_seq, NEW.due_at, NEW.created_at
   WHERE NOT EXISTS (SELECT 1 FROM auto_notice
                      WHERE session_seq = NEW.session_seq AND told_at IS NULL);
  UPDATE auto_approval
     SET notice_seq = (SELECT seq FROM auto_notice
                        WHERE session_seq = NEW.session_seq AND told_at IS NULL)
   WHERE seq = NEW.seq;
  UPDATE auto_notice SET told_at = NEW.created_at
   WHERE session_seq = NEW.session_seq AND told_at IS NULL
     AND (due_at <= NEW.created_at OR NEW.due_at <= NEW.created_at);
END;

CREATE TRIGGER auto_notice_told AFTER UPDATE OF told_at ON auto_notice
WHEN OLD.told_at IS NULL AND NEW.told_at IS NOT NULL BEGIN
  INSERT INTO slack_notice (kind, session_seq, detail, at)
  VALUES ('auto', NEW.session_seq, json_object('notice', NEW.seq), NEW.told_at);
END;
