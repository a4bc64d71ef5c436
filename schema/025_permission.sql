-- A fourth kind of question: whether an agent may run a command that the policy does not allow.
-- approve or reject; nothing is ever written for it.

-- SQLite cannot alter a CHECK; this is its documented way, which rewrites no row of a table that
-- may be long (https://sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes").
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
   SET sql = replace(sql, '(kind IN (''clearance'', ''prompt'', ''standby''))',
                          '(kind IN (''clearance'', ''prompt'', ''standby'', ''permission''))')
 WHERE type = 'table' AND name = 'request';
PRAGMA writable_schema = RESET;

INSERT INTO request_move VALUES
  ('permission', '', 'pending'),
  ('permission', 'pending', 'approved'), ('permission', 'pending', 'rejected'),
  ('permission', 'pending', 'expired'), ('permission', 'pending', 'interrupted'),
  ('permission', 'interrupted', 'pending'), ('permission', 'interrupted', 'approved'),
  ('permission', 'interrupted', 'rejected');
INSERT INTO request_verdict VALUES
  ('permission', 'approve', 'approved'), ('permission', 'reject', 'rejected'),
  ('permission', 'timeout', 'expired');
