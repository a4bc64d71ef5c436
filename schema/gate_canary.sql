-- Whether a version of an agent's own program was seen to keep its tools closed: one row for each,
-- written by `agent-intercom doctor --gate`.
-- small
-- free: what was seen last
CREATE TABLE gate_canary (
  host    TEXT NOT NULL,               -- claude, codex, ...
  version TEXT NOT NULL,               -- as the program itself says
  state   TEXT NOT NULL CHECK (state IN ('closed', 'open', 'unknown')),
  detail  TEXT NOT NULL,               -- what was seen
  helper  TEXT NOT NULL,               -- version of the program `hook`
  at      TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  PRIMARY KEY (host, version)
) STRICT;
