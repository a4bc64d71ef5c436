-- Time that does not count for those who wait: downtime, suspend, steps of the clock.
-- fixed: a gap is written down once
CREATE TABLE time_gap (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  machine    TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('downtime', 'suspend', 'clock_step')),
  started_at TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at   TEXT NOT NULL CHECK (ended_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
