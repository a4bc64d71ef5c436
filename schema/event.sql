-- The timeline: append-only, written by triggers. Events contain digests and names, not content.
-- fixed: the timeline is not rewritten
CREATE TABLE event (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  at          TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  kind        TEXT NOT NULL,                -- noun.what, e.g. request.approved
  session_seq INTEGER,
  request_seq INTEGER,
  call_seq    INTEGER,
  actor       TEXT,                         -- operator.id, or a worker's name
  detail      TEXT CHECK (detail IS NULL OR json_valid(detail))
) STRICT;
CREATE INDEX event_session ON event (session_seq, seq);
CREATE INDEX event_request ON event (request_seq, seq) WHERE request_seq IS NOT NULL;
