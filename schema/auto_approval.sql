-- What policies allowed without asking, if their files want it reported (log_auto_approved): in
-- Slack, at once or in summaries.

-- One report per session: everything allowed in it until due_at.
-- rings: watchdog
-- fixed: it is told once, and nothing else of it changes
CREATE TABLE auto_notice (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  session_seq INTEGER NOT NULL REFERENCES session (seq), -- fixed
  due_at      TEXT NOT NULL CHECK (due_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  told_at     TEXT CHECK (told_at GLOB '????-??-??T??:??:??.???Z'), -- later, once: NULL: still collecting
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z') -- fixed
) STRICT;
-- (Before auto_notice_open, because SQLite takes the later index if both would do.)
CREATE INDEX auto_notice_session ON auto_notice (session_seq);
CREATE INDEX auto_notice_due ON auto_notice (due_at) WHERE told_at IS NULL;
-- refuses: gathers: this session has one that is not told yet
CREATE UNIQUE INDEX auto_notice_open ON auto_notice (session_seq) WHERE told_at IS NULL;

-- One thing that was allowed.
-- fixed: what was allowed does not change
CREATE TABLE auto_approval (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  session_seq INTEGER NOT NULL REFERENCES session (seq), -- fixed
  request_seq INTEGER,                      -- fixed: the request that was not shown; NULL: an auto_check
  subject     TEXT NOT NULL,                -- fixed: start of the command line or prompt, or the path
  rule        TEXT NOT NULL,                -- fixed: as in matched_rule
  hash        TEXT NOT NULL,                -- fixed: policy.hash of the version
  due_at      TEXT NOT NULL CHECK (due_at GLOB '????-??-??T??:??:??.???Z'), -- fixed: reported by then
  notice_seq  INTEGER REFERENCES auto_notice (seq), -- later, once: which one; found by the rules
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z') -- fixed
) STRICT;
CREATE INDEX auto_approval_session ON auto_approval (session_seq);
CREATE INDEX auto_approval_notice ON auto_approval (notice_seq, seq) WHERE notice_seq IS NOT NULL;
