-- Which policy was in force when: a version is found, and its row never changes.

CREATE TRIGGER policy_found AFTER INSERT ON policy BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.created_at, 'policy.' || NEW.state, 'mcp-front',
          json_object('workspace', NEW.workspace_root, 'hash', substr(NEW.hash, 1, 12),
                      'why', NEW.why));
  INSERT INTO slack_notice (kind, text, at)
  SELECT 'server', NEW.workspace_root || '/.intercom/settings.json allows nothing: ' || NEW.why,
         NEW.created_at
   WHERE NEW.state = 'broken';
END;

CREATE TRIGGER policy_trust_is_allowed BEFORE INSERT ON policy_trust BEGIN
  SELECT RAISE(ABORT, 'policy_trust: operator: only a person who may decide can trust a policy')
   WHERE NOT EXISTS (SELECT 1 FROM operator
                      WHERE id = NEW.operator_id AND active = 1 AND kind IN ('local', 'slack'));
  SELECT RAISE(ABORT, 'policy_trust: mode: in remote mode it is answered in Slack')
   WHERE NEW.request_seq IS NULL
     AND (SELECT value FROM setting WHERE name = 'mode') = 'remote';
  SELECT RAISE(ABORT, 'policy_trust: request: this question was not approved, or is about another version')
   WHERE NEW.request_seq IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM request AS r JOIN session AS s ON s.seq = r.session_seq
                      WHERE r.seq = NEW.request_seq AND r.kind = 'trust' AND r.state = 'approved'
                        AND r.original_hash = NEW.hash AND r.decided_by = NEW.operator_id
                        AND s.machine = NEW.machine AND s.workspace_root = NEW.workspace_root);
  SELECT RAISE(ABORT, 'policy_trust: content: this is not what the file holds')
   WHERE NOT EXISTS (SELECT 1 FROM content WHERE seq = NEW.content_seq AND hash = NEW.hash);
END;

CREATE TRIGGER policy_trusted AFTER INSERT ON policy_trust BEGIN
  INSERT INTO event (at, kind, request_seq, actor, detail)
  VALUES (NEW.created_at, 'policy.trusted', NEW.request_seq, NEW.operator_id,
          json_object('workspace', NEW.workspace_root, 'hash', substr(NEW.hash, 1, 12)));
END;
