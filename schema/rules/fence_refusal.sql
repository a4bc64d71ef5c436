-- What a fence refuses is in the timeline.

CREATE TRIGGER fence_refusal_told AFTER INSERT ON fence_refusal BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (NEW.created_at, 'fence.refused', NEW.worker,
          json_object('what', NEW.what, 'name', NEW.name, 'count', NEW.count));
END;
