-- Maintenance of the database other than purging: statistics for the planner, and a weekly
-- integrity check: of the database by retention, of what checkpoints hold by the archivist.
-- fixed: what was done does not change
CREATE TABLE upkeep (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  kind       TEXT NOT NULL CHECK (kind IN ('optimize', 'check', 'objects')),
  outcome    TEXT NOT NULL CHECK (outcome IN ('ok', 'damaged')),
  why        TEXT,                          -- what is damaged
  started_at TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at   TEXT NOT NULL CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((outcome = 'damaged') = (why IS NOT NULL)),
  CHECK (kind <> 'optimize' OR outcome = 'ok')
) STRICT;
CREATE INDEX upkeep_newest ON upkeep (kind, seq);
