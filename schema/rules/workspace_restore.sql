-- What follows when a checkpoint is to be put back, and is.

-- What an order to restore asks for.
CREATE VIEW restore_order AS
SELECT c.seq, p.id AS checkpoint_id, p.session_id, s.seq AS session_seq, s.mode, p.label, p.state,
       p.why, p.manifest,
       CASE WHEN json_array_length(c.parts, '$.paths') > 0 THEN json_extract(c.parts, '$.paths') END
         AS paths,
       coalesce(json_type(c.parts, '$.paths'), 'array') = 'array'
         AND NOT EXISTS (SELECT 1 FROM json_each(c.parts, '$.paths') WHERE type <> 'text') AS is_text
  FROM (SELECT seq, argument,
               CASE WHEN typeof(argument) = 'text' AND json_valid(argument)
                    THEN CASE WHEN json_type(argument) = 'object' THEN argument END END AS parts
          FROM command WHERE verb = 'session-restore') AS c
  LEFT JOIN checkpoint AS p
    ON p.id = CASE WHEN c.parts IS NULL THEN c.argument ELSE json_extract(c.parts, '$.checkpoint') END
  LEFT JOIN session AS s ON s.id = p.session_id;

-- What there is now is kept first: it is what the checkpoint is compared with, and what takes the
-- restore back.
CREATE TRIGGER workspace_restore_wanted AFTER INSERT ON workspace_restore BEGIN
  INSERT INTO checkpoint_wanted (id, kind, session_id, label, at)
  SELECT NEW.before_id, 'restore', id, 'before a restore', NEW.created_at
    FROM session WHERE seq = NEW.session_seq;
END;

CREATE TRIGGER workspace_restore_changed AFTER UPDATE OF state ON workspace_restore
WHEN OLD.state <> NEW.state BEGIN
  INSERT INTO slack_notice (kind, session_seq, text, at)
  SELECT 'reply', s.seq,
         CASE NEW.state
           WHEN 'done' THEN
             '♻️ *Session restored* from checkpoint *'
             || coalesce(p.label, substr(NEW.checkpoint_id, 1, 13)) || '*.'
             || CASE WHEN s.origin = 'started' AND s.status = 'interrupted'
                     THEN ' Its agent was stopped: `session-resume ' || substr(s.id, 1, 13)
                          || '` starts it again from there.' ELSE '' END
             || ' To take this back: `session-restore ' || substr(NEW.before_id, 1, 13) || '`.'
           WHEN 'same' THEN 'Nothing to restore: ' || NEW.why || '.'
           ELSE '⚠️ Checkpoint *' || coalesce(p.label, substr(NEW.checkpoint_id, 1, 13))
             || '* was not put back: ' || NEW.why
             || CASE NEW.error_code WHEN 'workspace_changed' THEN '. It is compared again.'
                                    ELSE '' END END,
         NEW.updated_at
    FROM session AS s LEFT JOIN command AS c ON c.seq = NEW.command_seq
    LEFT JOIN checkpoint AS p ON p.id = NEW.checkpoint_id
   WHERE s.seq = NEW.session_seq AND NEW.state IN ('done', 'same', 'refused')
     AND (c.source = 'slack' OR s.mode <> 'local');
END;
