-- Answers: who decided what, from where, with what effect. The audit.
--
-- An INSERT never fails because of its content: columns that people type have the type ANY, and
-- nonsense is stored with the outcome 'malformed'. By hand, two columns are enough:
--   INSERT INTO decision (request_id, verdict) VALUES ('0190…', 'approve');
-- rings: agent-intercom-ctl, applier, agent-intercom
-- fixed: a decision is not rewritten; insert another one
CREATE TABLE decision (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  request_id  ANY,                          -- fixed: request.id
  verdict     ANY,                          -- fixed: see request_verdict
  reason      ANY,                          -- fixed: why it was rejected or stopped, or how approved:
                                            -- by which rule, or in the editor
  instruction ANY,                          -- fixed: what to do instead (refine) or next (resume), or
                                            -- a note with an approval
  choice      ANY,                          -- fixed: id of the agent's own option that it is, or the
                                            -- content of its form (JSON object); NULL: neither
  edited      ANY,                          -- fixed: approve: what is done instead of what was asked: the
                                            -- command, or the file's new content; NULL: nothing else
  edited_seq  INTEGER REFERENCES content (seq), -- fixed: the same as a content, as programs store it
  digest      ANY,                          -- until outcome: of what the operator saw; NULL: current
  operator_id ANY,                          -- until outcome: operator.id; NULL: the default operator
  source      ANY DEFAULT 'sql',            -- fixed: source.name
  proof       ANY,                          -- fixed: slack-listener's, that Slack sent it (src/model/proof.h)
  created_at  ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), -- fixed
  outcome     TEXT CHECK (outcome IN ('applied', 'duplicate', 'unauthorized', 'not_found', -- later, once
                          'too_late', 'not_in_this_mode', 'wrong_verb', 'malformed')),
  why         TEXT                          -- later, until outcome: in words, if it was not applied
) STRICT;
-- refuses: applied: the request has its answer
CREATE UNIQUE INDEX decision_first ON decision (request_id) WHERE outcome = 'applied';
-- The others; one in one of the two: each would be a page of its own.
CREATE INDEX decision_request ON decision (request_id) WHERE outcome <> 'applied';
-- For retention: references to a text.
CREATE INDEX decision_edited ON decision (edited_seq) WHERE edited_seq IS NOT NULL;
