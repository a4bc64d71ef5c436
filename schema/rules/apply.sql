-- What may be written, and the consequences of a write.

CREATE TRIGGER apply_is_allowed BEFORE INSERT ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: unapproved: only an approved clearance may be written')
   WHERE NEW.kind IN ('write', 'restore')
     AND NOT EXISTS (SELECT 1 FROM request AS r JOIN request_kind AS k ON k.kind = r.kind
                      WHERE r.seq = NEW.request_seq AND k.is_written = 1 AND r.state = 'approved'
                        AND (r.kind = 'restore') = (NEW.kind = 'restore'));
  SELECT RAISE(ABORT, 'apply: owner: the folder has another owner than when this was asked')
   WHERE NEW.kind = 'write'
     AND EXISTS (SELECT 1 FROM request AS r JOIN session AS s ON s.seq = r.session_seq
                   JOIN workspace_owner_change AS w
                     ON w.machine = s.machine AND w.workspace_root = s.workspace_root
                  WHERE r.seq = NEW.request_seq AND w.at >= r.created_at);
  SELECT RAISE(ABORT, 'apply: unwritten: only what was written may be undone, once')
   WHERE NEW.kind = 'undo'
     AND (NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = NEW.request_seq AND state = 'applied')
          OR EXISTS (SELECT 1 FROM apply WHERE request_seq = NEW.request_seq AND state = 'undone'));
END;

-- What is overwritten can be put back, even if it is not what undo keeps.
CREATE TRIGGER apply_ordered AFTER INSERT ON apply BEGIN
  INSERT INTO checkpoint_wanted (kind, session_id, apply_seq, at)
  SELECT 'apply', s.id, NEW.seq, NEW.created_at
    FROM request AS r JOIN session AS s ON s.seq = r.session_seq
   WHERE r.seq = NEW.request_seq AND r.risk_level = 'critical' AND NEW.kind = 'write';
END;

CREATE TRIGGER apply_ends BEFORE UPDATE OF state ON apply
WHEN NEW.state IN ('applied', 'undone') BEGIN
  SELECT RAISE(ABORT, 'apply: kind: a write ends as applied, an undo as undone')
   WHERE NEW.state <> CASE OLD.kind WHEN 'undo' THEN 'undone' ELSE 'applied' END;
  SELECT RAISE(ABORT, 'apply: unwritten: a job is applied when each of its files is done')
   WHERE EXISTS (SELECT 1 FROM file_change
                  WHERE apply_seq = OLD.seq AND state NOT IN ('done', 'undone'))
      OR (OLD.kind <> 'restore'
          AND NOT EXISTS (SELECT 1 FROM file_change WHERE apply_seq = OLD.seq AND state = 'done'));
  SELECT RAISE(ABORT, 'apply: unwritten: a checkpoint is put back when all of it is in place')
   WHERE OLD.kind = 'restore'
     AND NOT EXISTS (SELECT 1 FROM workspace_restore
                      WHERE request_seq = OLD.request_seq AND state = 'placed');
END;

CREATE TRIGGER apply_settled AFTER UPDATE OF state ON apply
WHEN NEW.state IN ('applied', 'undone', 'refused', 'dead') BEGIN
  UPDATE request SET state = 'consumed', consumed_at = NEW.updated_at, updated_at = NEW.updated_at
   WHERE seq IN (NEW.request_seq, NEW.question_seq) AND state = 'approved'
     AND NEW.state = 'applied';
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT NEW.updated_at,
         CASE WHEN NEW.kind = 'undo' THEN 'undo.' || CASE NEW.state WHEN 'undone' THEN 'done'
                                                                    ELSE NEW.state END
              ELSE 'apply.' || NEW.state END,
         r.session_seq, r.seq,
         coalesce((SELECT operator_id FROM command WHERE seq = NEW.command_seq),
                  CASE WHEN NEW.error_code = 'restored' THEN 'restore' ELSE 'applier' END),
         json_object('file', r.file_path, 'error', NEW.error_code, 'forced', NEW.forced,
                     'files', (SELECT count(*) FROM file_change WHERE apply_seq = NEW.seq))
    FROM request AS r WHERE r.seq = NEW.request_seq AND NEW.kind <> 'restore';
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT NEW.updated_at, 'restore.' || NEW.state, w.session_seq, NEW.request_seq,
         CASE WHEN NEW.error_code = 'restored' THEN 'restore' ELSE 'applier' END,
         json_object('checkpoint', w.checkpoint_id, 'before', w.before_id,
                     'error', NEW.error_code,
                     'files', w.modified + w.deleted + w.added)
    FROM workspace_restore AS w WHERE w.request_seq = NEW.request_seq AND NEW.kind = 'restore';
  UPDATE workspace_restore
     SET state = CASE NEW.state WHEN 'applied' THEN 'done' ELSE 'refused' END,
         error_code = NEW.error_code, why = NEW.why, updated_at = NEW.updated_at
   WHERE request_seq = NEW.request_seq AND NEW.kind = 'restore';
  -- What was shown is no longer what would happen: it is looked at and asked again.
  INSERT INTO workspace_restore (session_seq, command_seq, previous_seq, checkpoint_id, paths,
                                 to_hash, state, created_at, updated_at)
  SELECT w.session_seq, w.command_seq, w.seq, w.checkpoint_id, w.paths, w.to_hash, 'wanted',
         NEW.updated_at, NEW.updated_at
    FROM workspace_restore AS w
   WHERE w.request_seq = NEW.request_seq AND NEW.kind = 'restore'
     AND NEW.error_code = 'workspace_changed';
  UPDATE tool_call SET state = 'answered', answered_at = NEW.updated_at
   WHERE apply_seq = NEW.seq AND state = 'waiting';
  -- Its agent considers its write done, until it is told otherwise.
  INSERT INTO steering (kind, session_id, text, operator_id, source, created_at)
  SELECT 'steer', s.id,
         'the operator has undone the change ' || substr(r.id, 1, 13) || ' (' || r.title
         || '); what was there before is back: '
         || (SELECT group_concat(path, ', ')
               FROM (SELECT path FROM file_change WHERE apply_seq = NEW.seq ORDER BY seq LIMIT 20))
         || CASE WHEN (SELECT count(*) FROM file_change WHERE apply_seq = NEW.seq) > 20
                 THEN ' and more' ELSE '' END,
         'system:applier', 'applier', NEW.updated_at
    FROM request AS r JOIN session AS s ON s.seq = r.session_seq AND s.status <> 'terminated'
   WHERE r.seq = NEW.request_seq AND NEW.state = 'undone';
  -- So does every agent that works there: its files are those of an earlier time.
  INSERT INTO steering (kind, session_id, text, operator_id, source, created_at)
  SELECT 'steer', s.id,
         'the operator has put '
         || CASE s.workspace_root WHEN o.workspace_root THEN 'the workspace'
                                  ELSE 'the folder ' || o.workspace_root END
         || ' back to a checkpoint ('
         || coalesce((SELECT nullif(label, '') FROM checkpoint WHERE id = w.checkpoint_id),
                     substr(w.checkpoint_id, 1, 13))
         || '). Of its paths, ' || w.modified || ' had been modified since then, ' || w.deleted
         || ' deleted (now back), ' || w.added || ' added (now gone): ' || w.named
         || '; read files again before you rely on them',
         'system:applier', 'applier', NEW.updated_at
    FROM workspace_restore AS w JOIN session AS o ON o.seq = w.session_seq
    JOIN restore_reach AS h ON h.restore_seq = w.seq JOIN session AS s ON s.seq = h.session_seq
   WHERE w.request_seq = NEW.request_seq AND NEW.kind = 'restore' AND NEW.state = 'applied';
  UPDATE session SET idle_since = NEW.updated_at
   WHERE seq = (SELECT session_seq FROM request WHERE seq = NEW.request_seq) AND NEW.kind = 'write';
  -- A successful write that the policy allowed is only reported if the policy file asks for that
  -- (auto_approval), unless it overwrote later changes.
  INSERT INTO slack_notice (kind, session_seq, request_seq, apply_seq, at)
  SELECT 'write', session_seq, seq, NEW.seq, NEW.updated_at FROM request
   WHERE seq = NEW.request_seq
     AND NEW.kind <> 'restore'
     AND NOT (NEW.state = 'applied' AND decided_by = 'system:policy' AND NEW.forced = 0);
  -- The notice of the write has a button that undoes it, which is removed.
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE request_seq = NEW.request_seq AND kind = 'write' AND apply_seq <> NEW.seq
     AND NEW.state = 'undone';
END;

-- The next job may get the number of one that was deleted: it must not get its files, too.
CREATE TRIGGER apply_leaves_no_files BEFORE DELETE ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: kept: its rows of file_change go first')
   WHERE EXISTS (SELECT 1 FROM file_change WHERE apply_seq = OLD.seq);
END;

CREATE TRIGGER file_change_is_early BEFORE INSERT ON file_change BEGIN
  SELECT RAISE(ABORT, 'file_change: settled: the job of this file has ended')
   WHERE EXISTS (SELECT 1 FROM apply
                  WHERE seq = NEW.apply_seq
                    AND state IN ('applied', 'undone', 'refused', 'dead'));
END;

-- From the journal on, files are written. A checkpoint before that which has not been taken, or is
-- being taken just then, may hold what was written: it never counts. Nor do those of earlier
-- attempts at the same change.
CREATE TRIGGER file_change_begins AFTER INSERT ON file_change BEGIN
  UPDATE checkpoint
     SET state = 'refused', why = 'the write did not wait for it', updated_at = NEW.created_at
   WHERE apply_seq IN (SELECT a.seq FROM apply AS j JOIN apply AS a ON a.request_seq = j.request_seq
                        WHERE j.seq = NEW.apply_seq)
     AND state IN ('queued', 'claimed');
END;
