-- Rules that somebody had changed are reported.

CREATE TRIGGER rule_set_renewed AFTER INSERT ON rule_set WHEN NEW.found IS NOT NULL BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.created_at, 'rules.restored', 'agent-intercom', json_object('found', NEW.found));
  INSERT INTO slack_notice (kind, text, at)
  VALUES ('server', 'The rules of the database were not as agent-intercom had made them, and were ' ||
          'made again: ' || NEW.found || '. Whoever did that could write any answer; look at ' ||
          '`agent-intercom audit verify`.', NEW.created_at);
END;

CREATE TRIGGER rule_set_stays BEFORE DELETE ON rule_set BEGIN
  SELECT RAISE(ABORT, 'rule_set: stays: what was in force stays known');
END;
