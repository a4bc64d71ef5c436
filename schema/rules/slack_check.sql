-- Whether the bot is in a channel is asked again after a while: the old answer goes then.

CREATE TRIGGER slack_check_is_born BEFORE INSERT ON slack_check BEGIN
  SELECT RAISE(ABORT, 'slack_check: exists: a row with this seq is there already')
   WHERE EXISTS (SELECT 1 FROM slack_check WHERE seq = NEW.seq);
END;

CREATE TRIGGER slack_check_asked AFTER INSERT ON slack_check BEGIN
  DELETE FROM slack_checked
   WHERE check_seq IN (SELECT seq FROM slack_check WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq);
  DELETE FROM slack_check WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq;
END;

CREATE TRIGGER slack_check_is_fixed BEFORE UPDATE ON slack_check BEGIN
  SELECT RAISE(ABORT, 'slack_check: fixed: what was asked does not change');
END;

CREATE TRIGGER slack_checked_is_born BEFORE INSERT ON slack_checked BEGIN
  SELECT RAISE(ABORT, 'slack_checked: exists: this check is answered already')
   WHERE EXISTS (SELECT 1 FROM slack_checked WHERE check_seq = NEW.check_seq);
END;

CREATE TRIGGER slack_checked_is_fixed BEFORE UPDATE ON slack_checked BEGIN
  SELECT RAISE(ABORT, 'slack_checked: fixed: an answer does not change');
END;
