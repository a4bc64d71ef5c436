-- Which rules (triggers and views) were put in force, and when. The newest row counts.
-- small
-- fixed: what was in force does not change
CREATE TABLE rule_set (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  hash       TEXT NOT NULL CHECK (length(hash) = 64), -- SHA-256 of the rules in sqlite_schema
  found      TEXT,                        -- which rules were missing, changed or foreign although
                                          -- nobody had put others in force; NULL: none
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
