-- What an operator wrote is passed on only if it was approved.

CREATE TRIGGER gate_rewrite_is_approved BEFORE INSERT ON gate_rewrite BEGIN
  SELECT RAISE(ABORT, 'gate_rewrite: call: session and request are those of its call')
   WHERE NOT EXISTS (SELECT 1 FROM gate_call AS g
                      WHERE g.seq = NEW.gate_seq AND g.session_seq = NEW.session_seq
                        AND g.request_seq = NEW.request_seq
                        AND g.decision = CASE NEW.is_told WHEN 1 THEN 'deny' ELSE 'allow' END);
  SELECT RAISE(ABORT, 'gate_rewrite: unapproved: nobody has approved another text')
   WHERE NOT EXISTS (SELECT 1 FROM request AS r JOIN decision AS d ON d.seq = r.decision_seq
                      WHERE r.seq = NEW.request_seq AND r.state = 'approved'
                        AND (d.edited IS NOT NULL OR d.edited_seq IS NOT NULL));
END;

CREATE TRIGGER gate_rewrite_came AFTER INSERT ON gate_rewrite BEGIN
  INSERT INTO event (at, kind, session_seq, request_seq, call_seq, actor, detail)
  SELECT NEW.created_at, CASE NEW.is_told WHEN 1 THEN 'gate.told' ELSE 'gate.rewritten' END,
         NEW.session_seq, NEW.request_seq, g.call_seq, g.host,
         json_object('tool', g.tool, 'asked', g.digest, 'digest', NEW.digest, 'hash', NEW.text_hash)
    FROM gate_call AS g WHERE g.seq = NEW.gate_seq;
END;
