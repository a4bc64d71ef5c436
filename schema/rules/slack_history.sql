-- What others have said in Slack is kept for nobody: it goes when the next read is asked for.

CREATE TRIGGER slack_read_is_born BEFORE INSERT ON slack_read BEGIN
  SELECT RAISE(ABORT, 'slack_read: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM slack_read WHERE seq = NEW.seq);
END;

CREATE TRIGGER slack_read_asked AFTER INSERT ON slack_read BEGIN
  DELETE FROM slack_history
   WHERE read_seq IN (SELECT seq FROM slack_read WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq);
  DELETE FROM slack_read WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq;
END;

CREATE TRIGGER slack_read_is_fixed BEFORE UPDATE ON slack_read BEGIN
  SELECT RAISE(ABORT, 'slack_read: fixed: what was asked does not change');
END;

CREATE TRIGGER slack_history_is_born BEFORE INSERT ON slack_history BEGIN
  SELECT RAISE(ABORT, 'slack_history: exists: this read is answered already')
   WHERE EXISTS (SELECT 1 FROM slack_history WHERE read_seq = NEW.read_seq);
END;

CREATE TRIGGER slack_history_is_fixed BEFORE UPDATE ON slack_history BEGIN
  SELECT RAISE(ABORT, 'slack_history: fixed: an answer does not change');
END;
