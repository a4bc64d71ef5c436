-- What the fence of a worker refused to it, or to a process that it started. One row a minute and kind.
-- fixed: what was refused does not change
CREATE TABLE fence_refusal (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  machine    TEXT NOT NULL,               -- fixed
  worker     TEXT NOT NULL,               -- fixed: its name
  what       TEXT NOT NULL CHECK (what IN ('call', 'path')), -- fixed: a system call; a path that was opened, made, ...
  name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- fixed: of the call; the path
  count      INTEGER NOT NULL CHECK (count > 0), -- fixed: how often since the row before
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z') -- fixed
) STRICT;
