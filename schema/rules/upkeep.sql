-- The result of a check is recorded and never changes.

CREATE TRIGGER upkeep_done AFTER INSERT ON upkeep WHEN NEW.kind = 'check' BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.ended_at, 'database.' || NEW.outcome, 'retention', json_object('why', NEW.why));
END;
