-- Which policy was in force when: a version is found, and stays as it was found.

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
