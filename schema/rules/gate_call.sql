-- What a hook may be answered, and who is told when an agent did something else.

CREATE TRIGGER gate_call_is_of_its_call BEFORE INSERT ON gate_call BEGIN
  SELECT RAISE(ABORT, 'gate_call: call: session and request are those of its call')
   WHERE NOT EXISTS (SELECT 1 FROM tool_call AS t
                      WHERE t.seq = NEW.call_seq AND t.session_seq = NEW.session_seq
                        AND t.request_seq IS NEW.request_seq);
  SELECT RAISE(ABORT, 'gate_call: pre: what was allowed is a tool of the same session')
   WHERE NEW.pre_seq IS NOT NULL
     AND (NEW.moment NOT IN ('post_tool', 'permission')
          OR NOT EXISTS (SELECT 1 FROM gate_call AS g
                          WHERE g.seq = NEW.pre_seq AND g.session_seq = NEW.session_seq
                            AND g.moment = 'pre_tool' AND g.decision = 'allow'));
  SELECT RAISE(ABORT, 'gate_call: granted: what was allowed grants one permission')
   WHERE NEW.moment = 'permission' AND NEW.pre_seq IS NOT NULL
     AND EXISTS (SELECT 1 FROM gate_call AS g
                  WHERE g.pre_seq = NEW.pre_seq AND g.moment = 'permission');
  SELECT RAISE(ABORT, 'gate_call: unapproved: nobody has approved this')
   WHERE NEW.decision = 'allow' AND NEW.request_seq IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM request
                      WHERE seq = NEW.request_seq AND state IN ('approved', 'answered'));
END;

CREATE TRIGGER gate_call_is_approved BEFORE UPDATE OF decision ON gate_call
WHEN OLD.decision <> 'allow' AND NEW.decision = 'allow' AND NEW.request_seq IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'gate_call: unapproved: nobody has approved this')
   WHERE NOT EXISTS (SELECT 1 FROM request
                      WHERE seq = NEW.request_seq AND state IN ('approved', 'answered'));
END;

CREATE TRIGGER gate_call_withholds BEFORE UPDATE OF withheld_at ON gate_call
WHEN OLD.withheld_at IS NULL AND NEW.withheld_at IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'gate_call: withheld: only what was approved is withheld')
   WHERE NOT EXISTS (SELECT 1 FROM request
                      WHERE seq = OLD.request_seq AND state IN ('approved', 'answered'));
END;

-- Only what is allowed is compared with what was done.
CREATE TRIGGER gate_call_is_compared BEFORE UPDATE OF seen ON gate_call
WHEN OLD.seen IS NULL AND NEW.seen IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'gate_call: seen: only what was allowed before is compared')
   WHERE OLD.moment <> 'pre_tool' OR OLD.decision <> 'allow';
END;

-- A tool ended of which no hook had told us before it ran; or an editor's agent was told yes although
-- a person has said no: no front was there. And no row has the seq of an earlier one.
CREATE TRIGGER gate_call_came AFTER INSERT ON gate_call
WHEN NEW.moment = 'post_tool' AND NEW.pre_seq IS NULL AND NEW.class <> 'read'
  OR NEW.moment = 'permission' AND NEW.decision = 'noted' AND NEW.request_seq IS NOT NULL
  OR NEW.seq <= (SELECT seq FROM seq_floor WHERE noun = 'gate_call') BEGIN
  SELECT RAISE(ABORT, 'gate_call: given: a row that was deleted had this seq; take that of gate_call_next')
   WHERE NEW.seq <= (SELECT seq FROM seq_floor WHERE noun = 'gate_call');
  INSERT INTO event (at, kind, session_seq, request_seq, call_seq, actor, detail)
  VALUES (NEW.created_at, CASE NEW.moment WHEN 'permission' THEN 'gate.overruled' ELSE 'gate.unasked' END,
          NEW.session_seq, NEW.request_seq, NEW.call_seq, NEW.host,
          json_object('tool', NEW.tool, 'digest', NEW.digest));
  INSERT INTO slack_notice (kind, session_seq, text, at)
  VALUES ('gate', NEW.session_seq,
          CASE NEW.moment WHEN 'permission'
               THEN 'Rejected, but allowed: ' || (SELECT title FROM request WHERE seq = NEW.request_seq)
                    || ': ' || NEW.reason
               ELSE NEW.host || ' has used ' || coalesce(NEW.tool, 'a tool')
                    || ' without asking: no hook told us before it ran' END, NEW.created_at);
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.created_at
   WHERE request_seq = NEW.request_seq AND kind = 'ask';
END;

-- It was done otherwise than allowed, or not at all although it was approved; or what was approved and
-- denied first is allowed after all: its message says so.
CREATE TRIGGER gate_call_told AFTER UPDATE OF decision, seen, withheld_at ON gate_call
WHEN (OLD.seen IS NULL AND NEW.seen = 'differs')
  OR (OLD.withheld_at IS NULL AND NEW.withheld_at IS NOT NULL)
  OR (OLD.decision <> 'allow' AND NEW.decision = 'allow' AND NEW.request_seq IS NOT NULL) BEGIN
  INSERT INTO event (at, kind, session_seq, request_seq, call_seq, actor, detail)
  SELECT coalesce(NEW.seen_at, NEW.withheld_at),
         CASE WHEN NEW.seen_at IS NULL THEN 'gate.withheld' ELSE 'gate.differs' END,
         NEW.session_seq, NEW.request_seq, NEW.call_seq, NEW.host,
         json_object('tool', NEW.tool, 'digest', NEW.digest)
   WHERE (OLD.seen IS NULL AND NEW.seen = 'differs')
      OR (OLD.withheld_at IS NULL AND NEW.withheld_at IS NOT NULL);
  INSERT INTO slack_notice (kind, session_seq, text, at)
  SELECT 'gate', NEW.session_seq,
         CASE WHEN NEW.seen_at IS NULL
              THEN 'Approved, but not done: ' || coalesce(title, NEW.tool, 'a tool') || '. ' || NEW.host ||
                   ' was denied it: ' || coalesce(NEW.reason, 'it differs')
              ELSE NEW.host || ' did not do what was allowed: ' || coalesce(NEW.tool, 'a tool') || ': ' ||
                   coalesce(NEW.seen_why, 'it differs') END,
         coalesce(NEW.seen_at, NEW.withheld_at)
    FROM (SELECT (SELECT title FROM request WHERE seq = NEW.request_seq) AS title)
   WHERE (OLD.seen IS NULL AND NEW.seen = 'differs')
      OR (OLD.withheld_at IS NULL AND NEW.withheld_at IS NOT NULL);
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.withheld_at
   WHERE OLD.withheld_at IS NULL AND NEW.withheld_at IS NOT NULL AND NEW.seen_at IS NULL
     AND request_seq = NEW.request_seq AND kind = 'ask';
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.decided_at
   WHERE OLD.decision <> 'allow' AND NEW.decision = 'allow'
     AND request_seq = NEW.request_seq AND kind = 'ask'
     AND EXISTS (SELECT 1 FROM gate_call AS g
                  WHERE g.request_seq = NEW.request_seq AND g.withheld_at IS NOT NULL);
END;

-- What was allowed before a tool and grants no permission any more: it has done so, or what was
-- asked or passed on was denied later, or used by one that was not allowed.
CREATE VIEW gate_spent AS
SELECT g.seq
  FROM gate_call AS g LEFT JOIN gate_rewrite AS w ON w.gate_seq = g.seq
  JOIN gate_call AS n ON n.session_seq = g.session_seq AND n.seq > g.seq
 WHERE (n.moment = 'permission' AND n.pre_seq = g.seq)
    OR ((n.digest = g.digest OR n.digest = w.digest)
        AND (n.decision = 'deny' OR (n.moment = 'post_tool' AND n.pre_seq IS NULL)));

-- What agents did that was not allowed so.
CREATE VIEW gate_amiss AS
SELECT seq, session_seq, host, tool, 'differs' AS state, seen_why AS why, seen_at AS at
  FROM gate_call WHERE seen = 'differs'
UNION ALL
SELECT seq, session_seq, host, tool, 'unasked', 'no hook told us before it ran', created_at
  FROM gate_call WHERE moment = 'post_tool' AND pre_seq IS NULL AND class <> 'read';

-- Why an agent may be silent, as the last call of its hooks says: NULL: that says nothing about it.
CREATE VIEW gate_cause AS
SELECT seq, session_seq,
       CASE moment
         WHEN 'stop' THEN 'its turn has ended; it waits for its next prompt'
         WHEN 'stop_failure' THEN 'its turn has failed: ' ||
           coalesce(json_extract(detail, '$.kind'), json_extract(detail, '$.message'), 'it does not say why')
         WHEN 'notification' THEN CASE json_extract(detail, '$.kind')
           WHEN 'idle_prompt' THEN 'it waits for its next prompt'
           WHEN 'agent_idle' THEN 'it waits for its next prompt'
           ELSE 'it waits in its own program: ' ||
             coalesce(json_extract(detail, '$.message'), json_extract(detail, '$.kind'), 'it does not say what for') END
       END AS cause
  FROM gate_call;
