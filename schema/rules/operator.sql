-- Parts of the system answer, too: without them nothing expires, and no policy allows anything.

CREATE TRIGGER operator_system_stays BEFORE DELETE ON operator WHEN OLD.kind = 'system' BEGIN
  SELECT RAISE(ABORT, 'operator: system: the clock, the policy and the applier answer, too');
END;

CREATE TRIGGER operator_system_is_active BEFORE UPDATE OF active ON operator
WHEN OLD.kind = 'system' AND NEW.active IS NOT 1 BEGIN
  SELECT RAISE(ABORT, 'operator: system: the clock, the policy and the applier answer, too');
END;
