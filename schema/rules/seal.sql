-- Events are sealed in order and without gaps, and a seal stays as long as its event does.

CREATE TRIGGER seal_comes_next BEFORE INSERT ON seal BEGIN
  SELECT RAISE(ABORT, 'seal: order: the next event to be sealed is another one')
   WHERE NEW.seq IS NOT (SELECT min(seq) FROM event
                          WHERE seq > coalesce((SELECT max(seq) FROM seal), 0));
END;

-- The seal of the last deleted event stays: it verifies the rest.
CREATE TRIGGER seal_stays BEFORE DELETE ON seal BEGIN
  SELECT RAISE(ABORT, 'seal: stays: only seals of what was cut off go, but for the last of them')
   WHERE EXISTS (SELECT 1 FROM event WHERE seq = OLD.seq)
      OR NOT EXISTS (SELECT 1 FROM seal WHERE seq > OLD.seq)
      OR EXISTS (SELECT 1 FROM event
                  WHERE seq = (SELECT min(seq) FROM seal WHERE seq > OLD.seq));
END;

CREATE TRIGGER audit_cut_is_sealed BEFORE INSERT ON audit_cut BEGIN
  SELECT RAISE(ABORT, 'audit_cut: exists: it was cut there, or behind that, already')
   WHERE EXISTS (SELECT 1 FROM audit_cut WHERE upto >= NEW.upto);
  SELECT RAISE(ABORT, 'audit_cut: unsealed: there is no such seal')
   WHERE NOT EXISTS (SELECT 1 FROM seal WHERE seq = NEW.upto AND hash = NEW.hash);
  SELECT RAISE(ABORT, 'audit_cut: missing: there is no such event')
   WHERE NOT EXISTS (SELECT 1 FROM event WHERE seq = NEW.upto);
END;

CREATE TRIGGER audit_cut_stays BEFORE DELETE ON audit_cut BEGIN
  SELECT RAISE(ABORT, 'audit_cut: stays: the newest one tells what may be missing')
   WHERE NOT EXISTS (SELECT 1 FROM audit_cut WHERE upto > OLD.upto);
END;

-- `until` is the time of the youngest event to be deleted, but for those that are dated ahead: the audit judges by it.
CREATE TRIGGER audit_cut_told AFTER INSERT ON audit_cut BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.at, 'timeline.cut', 'retention',
          json_object('upto', NEW.upto,
                      'until', (SELECT max(at) FROM event WHERE seq <= NEW.upto AND at <= NEW.at),
                      'hash', NEW.hash, 'file', NEW.file));
END;
