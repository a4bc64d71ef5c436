-- The first answer from a folder stays the first.

CREATE TRIGGER workspace_is_born BEFORE INSERT ON workspace BEGIN
  SELECT RAISE(ABORT, 'workspace: exists: a row with this seq or folder is there already')
   WHERE EXISTS (SELECT 1 FROM workspace WHERE seq = NEW.seq)
      OR EXISTS (SELECT 1 FROM workspace WHERE host = NEW.host AND root = NEW.root);
END;

CREATE TRIGGER workspace_is_fixed BEFORE UPDATE ON workspace BEGIN
  SELECT RAISE(ABORT, 'workspace: fixed: the first answer was the first');
END;
