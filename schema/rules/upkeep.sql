-- The result of a check is recorded and never changes.

CREATE TRIGGER upkeep_done AFTER INSERT ON upkeep WHEN NEW.kind <> 'optimize' BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.ended_at,
          CASE NEW.kind WHEN 'check' THEN 'database.' ELSE 'objects.' END || NEW.outcome,
          CASE NEW.kind WHEN 'check' THEN 'retention' ELSE 'archivist' END,
          json_object('why', NEW.why));
END;
