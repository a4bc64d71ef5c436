-- The seals of the timeline: for each event, a hash of it and all before it, written by the
-- watchdog. README.md says what is hashed.
-- fixed: a seal is not rewritten
CREATE TABLE seal (
  seq  INTEGER PRIMARY KEY CHECK (seq > 0), -- event.seq
  hash TEXT NOT NULL CHECK (length(hash) = 64) -- SHA-256, hex
) STRICT;

-- How far retention may delete events; the last deleted one has a seal that stays, from which the
-- rest can be verified. The newest row counts, and is the only one that stays.
-- small
-- fixed: what was cut off does not change
CREATE TABLE audit_cut (
  upto INTEGER PRIMARY KEY CHECK (upto > 0), -- event.seq
  hash TEXT NOT NULL,                       -- its seal
  file TEXT,                                -- the export made first; NULL: none was requested
  at   TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
