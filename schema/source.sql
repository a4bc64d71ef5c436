-- The sources of answers, orders and words to an agent, and who may say what there. A new source is
-- a row.
-- small
-- closed
CREATE TABLE source (
  name          TEXT NOT NULL PRIMARY KEY,
  operator_kind TEXT NOT NULL,              -- operator.kind of its speakers
  shut_in_mode  TEXT,                       -- sessions in this mode ignore it; NULL: none do
  decides       TEXT,                       -- which verdicts: a verdict, '*' all but timeout; NULL: none
  orders        TEXT,                       -- which verbs of command: a verb, '*' all; NULL: none
  steers        TEXT,                       -- which kinds of steering: a kind, '*' all; NULL: none
  rests_on      TEXT CHECK (rests_on IN (   -- what must exist for its decision; NULL: nothing
    'envelope',                             -- the last thing that Slack sent, accepted, of this operator
    'policy',                               -- a policy in force where the request is made
    'call',                                 -- a call with it, from a client that shows forms
    'editor',                               -- a permission that an agent asks of its editor, which waits
    'owner'))                               -- another owner of the folder, just then: it only refuses
) STRICT, WITHOUT ROWID;
INSERT INTO source VALUES
  ('ctl', 'local', 'remote', '*', '*', '*', NULL),
  ('sql', 'local', 'remote', '*', '*', '*', NULL),
  ('socket', 'local', 'remote', '*', '*', '*', NULL),
  ('elicitation', 'local', 'remote', '*', NULL, NULL, 'call'),
  ('editor', 'local', 'remote', '*', NULL, NULL, 'editor'),
  ('slack', 'slack', 'local', '*', '*', '*', 'envelope'),
  ('policy', 'system', NULL, '*', NULL, NULL, 'policy'),
  ('timeout', 'system', NULL, 'timeout', NULL, NULL, NULL),
  ('clock', 'system', NULL, NULL, NULL, 'nudge', NULL),
  ('applier', 'system', NULL, NULL, NULL, 'steer', NULL),
  ('agent', 'local', NULL, NULL, 'mode', NULL, NULL),
  ('budget', 'system', NULL, NULL, 'pause', NULL, NULL),
  ('owner', 'system', NULL, '*', 'stop', NULL, 'owner');
