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

-- When a folder got another owner: as it was noticed, and as it was accepted.
CREATE VIEW workspace_owner_change AS
SELECT machine, workspace_root, found_at AS at FROM workspace_owner
 WHERE accepted_at IS NULL OR accepted_by IS NOT NULL
UNION ALL
SELECT machine, workspace_root, accepted_at FROM workspace_owner WHERE accepted_by IS NOT NULL;

-- What was approved there before, and not used yet.
CREATE VIEW workspace_owner_unused AS
SELECT w.seq AS owner_seq, r.seq AS request_seq
  FROM workspace_owner AS w
  JOIN session AS s ON s.machine = w.machine AND s.workspace_root = w.workspace_root
  JOIN request AS r ON r.session_seq = s.seq AND r.state = 'approved'
 WHERE r.kind = 'clearance' OR (r.kind = 'permission' AND r.delivered_at IS NULL);

-- Nothing is asked, recovered or written for somebody else: all that is open there ends.
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
  UPDATE request SET state = 'expired', updated_at = NEW.found_at
   WHERE seq IN (SELECT request_seq FROM workspace_owner_unused WHERE owner_seq = NEW.seq)
     AND NEW.accepted_at IS NULL;
  INSERT INTO command (verb, argument, session_id, operator_id, source, created_at)
  SELECT 'stop', 'the folder has another owner', s.id, 'system:owner', 'owner', NEW.found_at
    FROM session AS s
   WHERE s.machine = NEW.machine AND s.workspace_root = NEW.workspace_root
     AND s.status <> 'terminated'
     AND NEW.accepted_at IS NULL
   ORDER BY s.seq;
END;

CREATE TRIGGER workspace_owner_is_accepted AFTER UPDATE OF accepted_at ON workspace_owner
WHEN OLD.accepted_at IS NULL AND NEW.accepted_at IS NOT NULL BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.accepted_at, 'workspace.owner_accepted', NEW.accepted_by,
          json_object('workspace', NEW.workspace_root, 'uid', NEW.uid, 'name', NEW.name));
  UPDATE request SET state = 'expired', updated_at = NEW.accepted_at
   WHERE seq IN (SELECT request_seq FROM workspace_owner_unused WHERE owner_seq = NEW.seq);
  INSERT INTO command (verb, argument, session_id, operator_id, source, created_at)
  SELECT 'stop', 'the folder has another owner', s.id, 'system:owner', 'owner', NEW.accepted_at
    FROM session AS s
   WHERE s.machine = NEW.machine AND s.workspace_root = NEW.workspace_root
     AND s.status <> 'terminated'
   ORDER BY s.seq;
END;

-- Where sessions of an owner of the folder are, or were, or those that we started. What was opened
-- for another user's agent, and refused, is none.
CREATE VIEW session_place AS
SELECT s.machine, s.workspace_root, s.status, s.terminated_at FROM session AS s
 WHERE s.origin <> 'folder'
   AND (s.agent_uid IS NULL
        OR EXISTS (SELECT 1 FROM workspace_owner AS w
                    WHERE w.machine = s.machine AND w.workspace_root = s.workspace_root
                      AND w.uid = s.agent_uid AND w.accepted_at IS NOT NULL));

-- Orders to keep, show or put back a folder that is no known workspace, where several users are
-- served. There the system reads as the owner of a folder, for operators who are somebody else: only
-- where that owner's agents, or the configuration, have brought it.
CREATE VIEW unknown_folder AS
SELECT o.seq AS command_seq, o.workspace_root
  FROM (SELECT seq, machine, workspace_root FROM checkpoint_order
        UNION ALL
        SELECT seq, machine, workspace_root FROM look_order
        UNION ALL
        SELECT seq, machine, workspace_root FROM restore_order) AS o
 WHERE o.workspace_root IS NOT NULL
   AND EXISTS (SELECT 1 FROM setting WHERE name = 'shared.directory' AND value <> '')
   AND NOT EXISTS (SELECT 1 FROM setting
                    WHERE name = 'default_workspace_root' AND value = o.workspace_root)
   AND NOT EXISTS (SELECT 1 FROM configured_workspace WHERE path = o.workspace_root)
   AND NOT EXISTS (SELECT 1 FROM session_place
                    WHERE machine = o.machine AND workspace_root = o.workspace_root
                      AND status <> 'terminated')
   AND NOT EXISTS (SELECT 1 FROM session_place -- not many: they are purged
                    WHERE machine = o.machine AND workspace_root = o.workspace_root
                      AND terminated_at IS NOT NULL);
