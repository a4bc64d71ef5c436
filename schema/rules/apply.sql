-- Legal moves of a write job and its files, and what follows from them.

CREATE TRIGGER apply_is_born BEFORE INSERT ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM apply WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'apply: move: a job is born queued')
   WHERE NOT EXISTS (SELECT 1 FROM apply_move WHERE src = '' AND dst = NEW.state);
  SELECT RAISE(ABORT, 'apply: unapproved: only an approved clearance may be written')
   WHERE NEW.kind = 'write'
     AND NOT EXISTS (SELECT 1 FROM request
                      WHERE seq = NEW.request_seq AND kind = 'clearance' AND state = 'approved');
  SELECT RAISE(ABORT, 'apply: unwritten: only what was written may be undone, once')
   WHERE NEW.kind = 'undo'
     AND (NOT EXISTS (SELECT 1 FROM apply WHERE request_seq = NEW.request_seq AND state = 'applied')
          OR EXISTS (SELECT 1 FROM apply WHERE request_seq = NEW.request_seq AND state = 'undone'));
  SELECT RAISE(ABORT, 'apply: queued: the request has a job already')
   WHERE EXISTS (SELECT 1 FROM apply
                  WHERE request_seq = NEW.request_seq AND state IN ('queued', 'claimed'));
END;

CREATE TRIGGER apply_moves BEFORE UPDATE OF state ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: move: see apply_move for the legal moves of state')
   WHERE NOT EXISTS (SELECT 1 FROM apply_move WHERE src = OLD.state AND dst = NEW.state);
  SELECT RAISE(ABORT, 'apply: kind: a write ends as applied, an undo as undone')
   WHERE (NEW.state = 'applied' AND OLD.kind <> 'write')
      OR (NEW.state = 'undone' AND OLD.kind <> 'undo');
  SELECT RAISE(ABORT, 'apply: unwritten: a job is applied when each of its files is done')
   WHERE NEW.state IN ('applied', 'undone')
     AND (EXISTS (SELECT 1 FROM file_change
                  WHERE apply_seq = OLD.seq AND state NOT IN ('done', 'undone'))
          OR NOT EXISTS (SELECT 1 FROM file_change WHERE apply_seq = OLD.seq AND state = 'done'));
END;

CREATE TRIGGER apply_is_fixed BEFORE UPDATE ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: fixed: what was ordered does not change')
   WHERE OLD.seq IS NOT NEW.seq OR OLD.request_seq IS NOT NEW.request_seq
      OR OLD.host IS NOT NEW.host OR OLD.force IS NOT NEW.force
      OR OLD.kind IS NOT NEW.kind OR OLD.command_seq IS NOT NEW.command_seq
      OR OLD.created_at IS NOT NEW.created_at
      OR (OLD.question_seq IS NOT NULL AND OLD.question_seq IS NOT NEW.question_seq);
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
    FROM request AS r WHERE r.seq = NEW.request_seq;
  UPDATE tool_call SET state = 'answered', answered_at = NEW.updated_at
   WHERE apply_seq = NEW.seq AND state = 'waiting';
  UPDATE session SET idle_since = NEW.updated_at
   WHERE seq = (SELECT session_seq FROM request WHERE seq = NEW.request_seq) AND NEW.kind = 'write';
  -- What the policy allowed and went well is told only where its file says so (auto_approval), unless
  -- it was written over what had changed since.
  INSERT INTO slack_notice (kind, session_seq, request_seq, apply_seq, at)
  SELECT 'write', session_seq, seq, NEW.seq, NEW.updated_at FROM request
   WHERE seq = NEW.request_seq
     AND NOT (NEW.state = 'applied' AND decided_by = 'system:policy' AND NEW.forced = 0);
  -- What told that it was written has a button that undoes it: that goes.
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE request_seq = NEW.request_seq AND kind = 'write' AND apply_seq <> NEW.seq
     AND NEW.state = 'undone';
END;

CREATE TRIGGER file_change_is_born BEFORE INSERT ON file_change BEGIN
  SELECT RAISE(ABORT, 'file_change: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM file_change WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'file_change: settled: the job of this file has ended')
   WHERE EXISTS (SELECT 1 FROM apply
                  WHERE seq = NEW.apply_seq
                    AND state IN ('applied', 'undone', 'refused', 'dead'));
  SELECT RAISE(ABORT, 'file_change: move: a file change is born planned')
   WHERE NOT EXISTS (SELECT 1 FROM file_change_move WHERE src = '' AND dst = NEW.state);
END;

CREATE TRIGGER file_change_moves BEFORE UPDATE OF state ON file_change
WHEN OLD.state <> NEW.state BEGIN
  SELECT RAISE(ABORT, 'file_change: move: see file_change_move for the legal moves of state')
   WHERE NOT EXISTS (SELECT 1 FROM file_change_move WHERE src = OLD.state AND dst = NEW.state);
END;

-- After a crash the hashes decide whether a file is finished or undone.
CREATE TRIGGER file_change_is_fixed BEFORE UPDATE ON file_change BEGIN
  SELECT RAISE(ABORT, 'file_change: fixed: the intent of a change does not change')
   WHERE OLD.seq IS NOT NEW.seq OR OLD.apply_seq IS NOT NEW.apply_seq OR OLD.path IS NOT NEW.path
      OR OLD.action IS NOT NEW.action OR OLD.hash_before IS NOT NEW.hash_before
      OR OLD.hash_after IS NOT NEW.hash_after OR OLD.created_at IS NOT NEW.created_at
      OR OLD.other_path IS NOT NEW.other_path OR OLD.mode_before IS NOT NEW.mode_before
      OR OLD.mode_after IS NOT NEW.mode_after OR OLD.made_from IS NOT NEW.made_from
      OR (OLD.before_seq IS NOT NEW.before_seq AND NEW.before_seq IS NOT NULL);
END;
