-- Who an operator is does not change, and one of them at most stands for hand-typed rows.

CREATE TRIGGER operator_is_born BEFORE INSERT ON operator BEGIN
  -- The same operator again passes, for INSERT ... ON CONFLICT.
  SELECT RAISE(ABORT, 'operator: exists: this id is that of another operator')
   WHERE EXISTS (SELECT 1 FROM operator
                  WHERE id = NEW.id
                    AND (kind IS NOT NEW.kind OR user_id IS NOT NEW.user_id
                         OR team_id IS NOT NEW.team_id));
  SELECT RAISE(ABORT, 'operator: default: there is a default operator; set its is_default to 0 first')
   WHERE NEW.is_default = 1
     AND EXISTS (SELECT 1 FROM operator WHERE is_default = 1 AND id <> NEW.id);
END;

CREATE TRIGGER operator_is_fixed BEFORE UPDATE ON operator BEGIN
  SELECT RAISE(ABORT, 'operator: fixed: who an operator is does not change; insert another one')
   WHERE OLD.id IS NOT NEW.id OR OLD.kind IS NOT NEW.kind OR OLD.team_id IS NOT NEW.team_id
      OR OLD.user_id IS NOT NEW.user_id;
  SELECT RAISE(ABORT, 'operator: default: there is a default operator; set its is_default to 0 first')
   WHERE NEW.is_default = 1 AND OLD.is_default = 0
     AND EXISTS (SELECT 1 FROM operator WHERE is_default = 1 AND id <> NEW.id);
END;
