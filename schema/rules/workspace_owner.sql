-- The first owner of a workspace needs nobody; each further one needs an operator, and is told.

CREATE TRIGGER workspace_owner_needs_an_operator BEFORE INSERT ON workspace_owner
WHEN NEW.accepted_at IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'workspace_owner: accepted: only the first owner of a workspace needs no operator')
   WHERE EXISTS (SELECT 1 FROM workspace_owner
                  WHERE machine = NEW.machine AND workspace_root = NEW.workspace_root)
      OR NEW.accepted_by IS NOT NULL;
END;

CREATE TRIGGER workspace_owner_is_accepted_by BEFORE UPDATE OF accepted_at ON workspace_owner
WHEN OLD.accepted_at IS NULL AND NEW.accepted_at IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'workspace_owner: by: an active operator accepts an owner')
   WHERE NOT EXISTS (SELECT 1 FROM operator WHERE id = NEW.accepted_by AND active = 1 AND kind <> 'system');
END;

CREATE TRIGGER workspace_owner_is_found AFTER INSERT ON workspace_owner BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.found_at,
          CASE WHEN NEW.accepted_at IS NULL THEN 'workspace.owner_changed' ELSE 'workspace.owner' END,
          NEW.name, json_object('workspace', NEW.workspace_root, 'uid', NEW.uid));
  INSERT INTO slack_notice (kind, text, at)
  SELECT 'server', 'The folder ' || NEW.workspace_root || ' belongs to ' || NEW.name ||
         ' by now. Nobody is served there until an operator says so: agent-intercom-ctl owner ' ||
         NEW.workspace_root, NEW.found_at
   WHERE NEW.accepted_at IS NULL;
END;

CREATE TRIGGER workspace_owner_is_accepted AFTER UPDATE OF accepted_at ON workspace_owner
WHEN OLD.accepted_at IS NULL AND NEW.accepted_at IS NOT NULL BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.accepted_at, 'workspace.owner_accepted', NEW.accepted_by,
          json_object('workspace', NEW.workspace_root, 'uid', NEW.uid, 'name', NEW.name));
END;
