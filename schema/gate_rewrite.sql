-- What an operator wrote in an approval (decision.edited), as it was passed on: handed to a host in
-- place of the arguments of its tool or, where a host takes none, told to its agent as what to call
-- instead.
-- fixed: what was passed on does not change
CREATE TABLE gate_rewrite (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  gate_seq    INTEGER NOT NULL REFERENCES gate_call (seq), -- fixed: the use of the tool that was asked about
  session_seq INTEGER NOT NULL REFERENCES session (seq), -- fixed
  request_seq INTEGER NOT NULL REFERENCES request (seq), -- fixed
  is_told     INTEGER NOT NULL CHECK (is_told IN (0, 1)), -- fixed: its agent has to call it itself
  digest      TEXT NOT NULL CHECK (length(digest) = 64), -- fixed: as gate_call.digest, of what was passed on
  text_hash   TEXT NOT NULL CHECK (length(text_hash) = 64), -- fixed: SHA-256 of what the operator wrote
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z') -- fixed
) STRICT;
-- refuses: passed: this use of a tool was answered with a text of the operator already
CREATE UNIQUE INDEX gate_rewrite_gate ON gate_rewrite (gate_seq);
-- What a call of a tool, or its end, belongs to.
CREATE INDEX gate_rewrite_digest ON gate_rewrite (session_seq, digest, seq);
CREATE INDEX gate_rewrite_request ON gate_rewrite (request_seq);
