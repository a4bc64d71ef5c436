-- Legal moves of a write job and its files, and what follows from them.

CREATE TRIGGER apply_is_born BEFORE INSERT ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM apply WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'apply: move: a job is born queued')
   WHERE NOT EXISTS (SELECT 1 FROM apply_move WHERE src = '' AND dst = NEW.state);
  SELECT RAISE(ABORT, 'apply: unapproved: only an approved clearance may be written')
   WHERE NOT EXISTS (SELECT 1 FROM request
                      WHERE seq = NEW.request_seq AND kind = 'clearance' AND state = 'approved');
  SELECT RAISE(ABORT, 'apply: queued: the request has a job already')
   WHERE EXISTS (SELECT 1 FROM apply
                  WHERE request_seq = NEW.request_seq AND state IN ('queued', 'claimed'));
END;

CREATE TRIGGER apply_moves BEFORE UPDATE OF state ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: move: see apply_move for the legal moves of state')
   WHERE NOT EXISTS (SELECT 1 FROM apply_move WHERE src = OLD.state AND dst = NEW.state);
  SELECT RAISE(ABORT, 'apply: unwritten: a job is applied when each of its files is done')
   WHERE NEW.state = 'applied'
     AND (EXISTS (SELECT 1 FROM file_change WHERE apply_seq = OLD.seq AND state <> 'done')
          OR NOT EXISTS (SELECT 1 FROM file_change WHERE apply_seq = OLD.seq));
END;

CREATE TRIGGER apply_is_fixed BEFORE UPDATE ON apply BEGIN
  SELECT RAISE(ABORT, 'apply: fixed: what was ordered does not change')
   WHERE OLD.seq IS NOT NEW.seq OR OLD.request_seq IS NOT NEW.request_seq
      OR OLD.host IS NOT NEW.host OR OLD.force IS NOT NEW.force
      OR OLD.created_at IS NOT NEW.created_at;
END;

CREATE TRIGGER apply_settled AFTER UPDATE OF state ON apply
WHEN NEW.state IN ('applied', 'refused', 'dead') BEGIN
  UPDATE request SET state = 'consumed', consumed_at = NEW.updated_at, updated_at = NEW.updated_at
   WHERE seq = NEW.request_seq AND state = 'approved' AND NEW.state = 'applied';
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT NEW.updated_at, 'apply.' || NEW.state, r.session_seq, r.seq,
         CASE WHEN NEW.error_code = 'restored' THEN 'restore' ELSE 'applier' END,
         json_object('file', r.file_path, 'error', NEW.error_code, 'forced', NEW.forced)
    FROM request AS r WHERE r.seq = NEW.request_seq;
  UPDATE tool_call SET state = 'answered', answered_at = NEW.updated_at
   WHERE apply_seq = NEW.seq AND state = 'waiting';
END;

CREATE TRIGGER file_change_is_born BEFORE INSERT ON file_change BEGIN
  SELECT RAISE(ABORT, 'file_change: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM file_change WHERE seq = NEW.seq);
  SELECT RAISE(ABORT, 'file_change: settled: the job of this file has ended')
   WHERE EXISTS (SELECT 1 FROM apply
                  WHERE seq = NEW.apply_seq AND state IN ('applied', 'refused', 'dead'));
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
      OR OLD.hash_after IS NOT NEW.hash_after OR OLD.created_at IS NOT NEW.created_at;
END;
