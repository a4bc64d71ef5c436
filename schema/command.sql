-- Orders of an operator, from any source, and their replies. An INSERT never fails because of its
-- content.
-- fixed: an order is not rewritten; insert another one
CREATE TABLE command (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  verb        ANY,                          -- fixed: see command_verb
  session_id  ANY,                          -- fixed: the session it is for; NULL: mode: all, and the default
  argument    ANY,                          -- fixed: mode: remote, local, hybrid; stall: on, off; undo: request.id;
                                            -- stop: the reason, for the requests that it answers;
                                            -- session-start and session-restart: see the view
                                            -- start_order; list-files, show-file and diff:
                                            -- see the view look_order; run: see the view run_order; run-stop:
                                            -- alias_run.seq; session-checkpoint:
                                            -- the label, or JSON with label and workspace, which
                                            -- no session needs;
                                            -- session-restore: checkpoint.id, or JSON with
                                            -- checkpoint and a list of paths
  operator_id ANY,                          -- until outcome: operator.id; NULL: the default operator
  source      ANY DEFAULT 'sql',            -- fixed: source.name
  created_at  ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), -- fixed
  outcome     TEXT CHECK (outcome IN ('done', 'unauthorized', 'not_found', 'malformed', 'refused')), -- later, once:
                                            -- NULL: a worker is at it (undo, session-checkpoint,
                                            -- list-files, show-file, diff)
  reply       TEXT,                         -- later, until outcome: JSON where outcome is done
  why         TEXT                          -- later, until outcome: in words, if it was not done
) STRICT;

-- All orders.
-- small
-- closed
CREATE TABLE command_verb (
  verb TEXT NOT NULL PRIMARY KEY,
  does TEXT NOT NULL CHECK (does IN (
    'switch',                               -- how sessions are answered, whether silence is noticed
    'session',                              -- affects the session it names
    'start',                                -- begins a session and starts its agent
    'clean',                                -- ends sessions whose agent is gone
    'undo',                                 -- the applier takes back a write
    'look',                                 -- reader looks at files of a workspace
    'checkpoint',                           -- the archivist takes a checkpoint
    'restore',                              -- a checkpoint is compared, and asked about
    'run',                                  -- a command of [commands], or the end of one
    'read',                                 -- none: whoever gives it shows the rows
    'later'))                               -- none yet
) STRICT, WITHOUT ROWID;
INSERT INTO command_verb VALUES
  ('mode', 'switch'), ('stall', 'switch'),
  ('pause', 'session'), ('resume', 'session'), ('stop', 'session'),
  ('undo', 'undo'),
  ('help', 'read'), ('sessions', 'read'), ('file', 'read'), ('runs', 'read'),
  ('session-start', 'start'), ('session-restart', 'start'), ('session-cleanup', 'clean'),
  ('session-checkpoint', 'checkpoint'), ('session-checkpoints', 'read'),
  ('session-restore', 'restore'),
  ('list-files', 'look'), ('show-file', 'look'), ('diff', 'look'), ('run', 'run'), ('run-stop', 'run');
