-- Answers: who decided what, from where, with what effect. The audit.
--
-- An INSERT never fails because of its content: columns that people type are of type ANY, and what
-- makes no sense is stored with the outcome 'malformed'. By hand, two columns are enough:
--   INSERT INTO decision (request_id, verdict) VALUES ('0190…', 'approve');

-- rings: agent-intercom-ctl
CREATE TABLE decision (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  request_id  ANY,                          -- request.id
  verdict     ANY,                          -- see request_verdict
  reason      ANY,                          -- why it was rejected
  instruction ANY,                          -- what to do instead (refine), or next (resume)
  digest      ANY,                          -- of what the operator saw; NULL: as it stands
  operator_id ANY,                          -- operator.id; NULL: the default operator
  source      ANY DEFAULT 'sql',            -- ctl, sql, socket, slack, timeout, policy
  created_at  ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  outcome     TEXT CHECK (outcome IN ('applied', 'duplicate', 'unauthorized', 'not_found',
                          'too_late', 'not_in_this_mode', 'wrong_verb', 'malformed')),
  why         TEXT                          -- in words, where it was not applied
) STRICT;
CREATE UNIQUE INDEX decision_first ON decision (request_id) WHERE outcome = 'applied';
CREATE INDEX decision_request ON decision (request_id);
