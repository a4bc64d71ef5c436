-- The seal of the timeline: a hash for each event over it and all before it, written by the watchdog.
-- README.md says what is hashed.
-- fixed: a seal is not rewritten
CREATE TABLE seal (
  seq  INTEGER PRIMARY KEY CHECK (seq > 0), -- event.seq
  hash TEXT NOT NULL CHECK (length(hash) = 64) -- SHA-256, hex
) STRICT;

-- Up to where retention may delete events; what was deleted last ends under a seal that stays, from
-- which on the rest is verified. The newest row counts, and is the only one that stays.
-- small
-- fixed: what was cut off does not change
CREATE TABLE audit_cut (
  upto INTEGER PRIMARY KEY CHECK (upto > 0), -- event.seq
  hash TEXT NOT NULL,                       -- its seal
  file TEXT,                                -- what they were exported to before; NULL: nobody asked for that
  at   TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
