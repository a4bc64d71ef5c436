-- Everything that waits for a person, small and mutable; long texts are stored once, in content.
-- rings: watchdog, runner
-- moves: state
-- fixed: what was asked does not change
CREATE TABLE request (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: events outlive it
  id              TEXT NOT NULL UNIQUE,     -- fixed: UUID; used by agents and operators
  session_seq     INTEGER NOT NULL REFERENCES session (seq), -- free: changes only when a successor adopts it
  kind            TEXT NOT NULL,            -- fixed: see request_kind
  state           TEXT NOT NULL,            -- free: see request_move
  digest          TEXT NOT NULL CHECK (length(digest) = 64), -- fixed: SHA-256 of what is asked
  title           TEXT NOT NULL,            -- fixed: clearance: title; else the first line of the text
  description     TEXT,                     -- fixed
  description_seq INTEGER REFERENCES content (seq), -- fixed: description if it is over 2 KiB
  notes_length    INTEGER NOT NULL DEFAULT 0 CHECK (notes_length >= 0), -- fixed: bytes at the end of the
                                            -- description, of a prompt of the body, that are no words of
                                            -- the agent but ours
  body            TEXT,                     -- fixed: the diff or content, the prompt, the standby message
  body_seq        INTEGER REFERENCES content (seq), -- fixed: body if it is over 2 KiB
  effect          TEXT,                     -- fixed: what the operator is shown instead of body: the diff
                                            -- of full content against the file
  effect_seq      INTEGER REFERENCES content (seq), -- fixed: effect if it is over 2 KiB
  replaces_file   INTEGER NOT NULL DEFAULT 0 CHECK (replaces_file IN (0, 1)), -- fixed: full content over an existing file
  file_path       TEXT,                     -- fixed: relative to the workspace (clearance)
  risk_level      TEXT CHECK (risk_level IN ('low', 'high', 'critical')), -- fixed
  original_hash   TEXT,                     -- fixed: SHA-256 of the file when asked, or 'new_file';
                                            -- trust: of the policy file
  prompt_type     TEXT CHECK (prompt_type IN -- fixed
                  ('continuation', 'clarification', 'error_recovery', 'resource_warning')),
  editable        TEXT CHECK (editable IN ('command', 'content')), -- fixed: what an approval may replace by
                                            -- another text (decision.edited); NULL: nothing
  elapsed_seconds INTEGER,                  -- fixed
  actions_taken   INTEGER,                  -- fixed
  timeout_ms      INTEGER,                  -- free: running time it may wait in all; NULL: no limit
  deadline_at     TEXT CHECK (deadline_at GLOB '????-??-??T??:??:??.???Z'), -- free
  remaining_ms    INTEGER,                  -- free: of timeout_ms, while interrupted: the deadline stands still
  decision_seq    INTEGER,                  -- later, once: the decision that was applied
  decision        TEXT,                     -- later: its verdict; 'continue' for a prompt that timed out
  reason          TEXT,                     -- later
  instruction     TEXT,                     -- later
  decided_by      TEXT,                     -- later: operator.id
  decided_at      TEXT CHECK (decided_at GLOB '????-??-??T??:??:??.???Z'), -- later
  delivered_at    TEXT CHECK (delivered_at GLOB '????-??-??T??:??:??.???Z'), -- later: the caller went on
  consumed_at     TEXT CHECK (consumed_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  previous_seq    INTEGER REFERENCES request (seq), -- fixed: the same request, rejected before
  slack_ts        TEXT,                     -- free
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  updated_at      TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'), -- free
  CHECK (kind <> 'clearance' OR
         (file_path IS NOT NULL AND risk_level IS NOT NULL AND original_hash IS NOT NULL)),
  CHECK (kind <> 'prompt' OR prompt_type IS NOT NULL),
  CHECK (kind = 'permission' OR editable IS NULL),
  CHECK (state = 'pending' OR deadline_at IS NULL),
  CHECK (state = 'interrupted' OR remaining_ms IS NULL),
  CHECK ((state IN ('pending', 'interrupted')) = (decision_seq IS NULL)),
  CHECK ((state = 'consumed') = (consumed_at IS NOT NULL))
) STRICT;
-- What a session asked before, and everything that belongs to it. (Before request_open, because
-- SQLite takes the later index if both would do.)
CREATE INDEX request_session ON request (session_seq, digest, seq);
-- Repeating a request does not ask twice: one open request per session and digest. These are also all
-- that is open: who wants them all says INDEXED BY, since a walk along seq would visit each request.
-- refuses: asked: this session has asked this already and waits for the answer
CREATE UNIQUE INDEX request_open ON request (session_seq, digest)
  WHERE state IN ('pending', 'interrupted');
CREATE INDEX request_digest ON request (digest, seq);
CREATE INDEX request_due ON request (deadline_at) WHERE state = 'pending' AND deadline_at IS NOT NULL;
CREATE INDEX request_undelivered ON request (session_seq)
  WHERE delivered_at IS NULL AND state NOT IN ('pending', 'interrupted');
-- For retention: references to a row or a text.
CREATE INDEX request_previous ON request (previous_seq) WHERE previous_seq IS NOT NULL;
CREATE INDEX request_description ON request (description_seq) WHERE description_seq IS NOT NULL;
CREATE INDEX request_body ON request (body_seq) WHERE body_seq IS NOT NULL;
CREATE INDEX request_effect ON request (effect_seq) WHERE effect_seq IS NOT NULL;

-- The kinds of requests. A new kind is a row here, its moves and its verdicts.
-- small
-- closed
CREATE TABLE request_kind (
  kind         TEXT NOT NULL PRIMARY KEY,
  is_kept      INTEGER NOT NULL,            -- an approval stays until used; otherwise it is repeated until told
  is_written   INTEGER NOT NULL,            -- an approval may be written to files
  has_paths    INTEGER NOT NULL,            -- it may name the files that it touches
  on_timeout   TEXT NOT NULL,               -- request.decision if nobody answered
  stop_verdict TEXT NOT NULL,               -- how the stop of its session answers it
  stop_reason  TEXT                         -- and the reason, for the agent
) STRICT, WITHOUT ROWID;
INSERT INTO request_kind VALUES
  ('clearance', 1, 1, 1, 'timeout', 'reject', 'the session was stopped'),
  ('permission', 0, 0, 1, 'timeout', 'reject', 'the session was stopped'),
  ('prompt', 0, 0, 0, 'continue', 'stop', NULL),
  ('restore', 1, 1, 1, 'timeout', 'reject', 'the session was stopped'),
  ('standby', 0, 0, 0, 'timeout', 'stop', NULL),
  ('trust', 1, 0, 0, 'timeout', 'reject', 'the session was stopped');

-- small
-- closed
CREATE TABLE request_move (
  kind TEXT NOT NULL,
  src  TEXT NOT NULL, -- '' is birth
  dst  TEXT NOT NULL,
  PRIMARY KEY (kind, src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO request_move VALUES
  ('clearance', '', 'pending'),
  ('clearance', 'pending', 'approved'), ('clearance', 'pending', 'rejected'),
  ('clearance', 'pending', 'expired'), ('clearance', 'pending', 'interrupted'),
  ('clearance', 'interrupted', 'pending'), ('clearance', 'interrupted', 'approved'),
  ('clearance', 'interrupted', 'rejected'),
  ('clearance', 'approved', 'consumed'), ('clearance', 'approved', 'expired'),
  ('permission', '', 'pending'),
  ('permission', 'pending', 'approved'), ('permission', 'pending', 'rejected'),
  ('permission', 'pending', 'expired'), ('permission', 'pending', 'interrupted'),
  ('permission', 'interrupted', 'pending'), ('permission', 'interrupted', 'approved'),
  ('permission', 'interrupted', 'rejected'), ('permission', 'approved', 'expired'),
  ('restore', '', 'pending'),
  ('restore', 'pending', 'approved'), ('restore', 'pending', 'rejected'),
  ('restore', 'pending', 'interrupted'), ('restore', 'interrupted', 'pending'),
  ('restore', 'interrupted', 'approved'), ('restore', 'interrupted', 'rejected'),
  ('restore', 'approved', 'consumed'),
  ('trust', '', 'pending'),
  ('trust', 'pending', 'approved'), ('trust', 'pending', 'rejected'),
  ('trust', 'pending', 'interrupted'), ('trust', 'interrupted', 'pending'),
  ('trust', 'interrupted', 'approved'), ('trust', 'interrupted', 'rejected'),
  ('prompt', '', 'pending'), ('prompt', 'pending', 'answered'), ('prompt', 'pending', 'expired'),
  ('prompt', 'pending', 'interrupted'), ('prompt', 'interrupted', 'pending'),
  ('prompt', 'interrupted', 'answered'),
  ('standby', '', 'pending'), ('standby', 'pending', 'answered'), ('standby', 'pending', 'expired'),
  ('standby', 'pending', 'interrupted'), ('standby', 'interrupted', 'pending'),
  ('standby', 'interrupted', 'answered');

-- The verdicts on each kind, and the states they lead to.
-- small
-- closed
CREATE TABLE request_verdict (
  kind    TEXT NOT NULL,
  verdict TEXT NOT NULL,
  state   TEXT NOT NULL,
  PRIMARY KEY (kind, verdict)
) STRICT, WITHOUT ROWID;
INSERT INTO request_verdict VALUES
  ('clearance', 'approve', 'approved'), ('clearance', 'reject', 'rejected'),
  ('clearance', 'timeout', 'expired'),
  ('permission', 'approve', 'approved'), ('permission', 'reject', 'rejected'),
  ('permission', 'timeout', 'expired'),
  ('restore', 'approve', 'approved'), ('restore', 'reject', 'rejected'),
  ('trust', 'approve', 'approved'), ('trust', 'reject', 'rejected'),
  ('prompt', 'continue', 'answered'), ('prompt', 'refine', 'answered'),
  ('prompt', 'stop', 'answered'), ('prompt', 'timeout', 'expired'),
  ('standby', 'resume', 'answered'), ('standby', 'stop', 'answered'),
  ('standby', 'timeout', 'expired');
