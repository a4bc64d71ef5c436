-- Other people's messages in Slack are not kept: they are deleted at the next read.

CREATE TRIGGER slack_read_asked AFTER INSERT ON slack_read BEGIN
  DELETE FROM slack_history
   WHERE read_seq IN (SELECT seq FROM slack_read WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq);
  DELETE FROM slack_read WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq;
END;
