-- What was found when the database was looked through stays as it was found.

CREATE TRIGGER upkeep_is_born BEFORE INSERT ON upkeep BEGIN
  SELECT RAISE(ABORT, 'upkeep: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM upkeep WHERE seq = NEW.seq);
END;

CREATE TRIGGER upkeep_is_fixed BEFORE UPDATE ON upkeep BEGIN
  SELECT RAISE(ABORT, 'upkeep: fixed: what was done does not change');
END;

CREATE TRIGGER upkeep_done AFTER INSERT ON upkeep WHEN NEW.kind = 'check' BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.ended_at, 'database.' || NEW.outcome, 'retention', json_object('why', NEW.why));
END;
