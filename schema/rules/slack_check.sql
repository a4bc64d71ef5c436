-- Whether the bot is in a channel is asked again after a while: the old answer is deleted then.

CREATE TRIGGER slack_check_asked AFTER INSERT ON slack_check BEGIN
  DELETE FROM slack_checked
   WHERE check_seq IN (SELECT seq FROM slack_check WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq);
  DELETE FROM slack_check WHERE expires_at <= NEW.asked_at AND seq <> NEW.seq;
END;
