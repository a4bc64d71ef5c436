-- Parts of the system answer, too: without them nothing expires, and no policy allows anything.

CREATE TRIGGER operator_system_stays BEFORE DELETE ON operator WHEN OLD.kind = 'system' BEGIN
  SELECT RAISE(ABORT, 'operator: system: the clock, the policy and the applier answer, too');
END;

CREATE TRIGGER operator_system_is_active BEFORE UPDATE OF active ON operator
WHEN OLD.kind = 'system' AND NEW.active IS NOT 1 BEGIN
  SELECT RAISE(ABORT, 'operator: system: the clock, the policy and the applier answer, too');
END;

-- Why an operator says nothing, from whatever source. NULL: who types a row by
-- hand and names none, while none is the default.
CREATE VIEW operator_fault AS
SELECT id, 'this operator is not active: operator.active is 0' AS why FROM operator WHERE active = 0
UNION ALL
SELECT NULL, 'no operator is the default: the next start makes one; until then, name one in operator_id';
