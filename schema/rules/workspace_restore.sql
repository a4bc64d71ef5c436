-- What follows when a checkpoint is to be put back, and is.

-- What an order to restore asks for, and the session that is asked about it (asked_seq): that of the
-- checkpoint while it lives; else the one that works in its folder, because the files of its agent
-- change; else that of the checkpoint, in whose thread its story is. A folder where no session
-- is asks in a session of its own, which the order makes (NULL); so does that of an ended session
-- that only Slack may answer, where there is no Slack any longer.
CREATE VIEW restore_order AS
WITH said AS (
  SELECT seq, argument,
         CASE WHEN typeof(argument) = 'text' AND json_valid(argument)
              THEN CASE WHEN json_type(argument) = 'object' THEN argument END END AS parts
    FROM command WHERE verb = 'session-restore'),
asked AS (
  SELECT c.seq, c.parts, p.id AS checkpoint_id, p.session_id, p.label, p.state, p.why, p.manifest,
         p.machine, p.workspace_root, own.seq AS own_seq,
         coalesce(CASE WHEN own.status <> 'terminated' THEN own.seq END,
                  (SELECT l.seq FROM session AS l
                    WHERE l.workspace_root = p.workspace_root AND l.machine = p.machine
                      AND l.status <> 'terminated'
                    ORDER BY l.last_activity_at DESC, l.seq DESC LIMIT 1),
                  CASE WHEN own.mode <> 'remote'
                         OR (SELECT value FROM setting WHERE name = 'slack.configured') = 'true'
                       THEN own.seq END) AS asked_seq
    FROM said AS c
    LEFT JOIN checkpoint AS p
      ON p.id = CASE WHEN c.parts IS NULL THEN c.argument
                     ELSE json_extract(c.parts, '$.checkpoint') END
    LEFT JOIN session AS own ON own.id = p.session_id)
SELECT a.seq, a.checkpoint_id, a.session_id, a.own_seq, a.asked_seq, s.id AS asked_id,
       coalesce(s.mode, (SELECT value FROM setting WHERE name = 'mode'), 'local') AS mode,
       a.label, a.state, a.why, a.manifest, a.machine, a.workspace_root,
       CASE WHEN json_array_length(a.parts, '$.paths') > 0 THEN json_extract(a.parts, '$.paths') END
         AS paths,
       coalesce(json_type(a.parts, '$.paths'), 'array') = 'array'
         AND NOT EXISTS (SELECT 1 FROM json_each(a.parts, '$.paths') WHERE type <> 'text') AS is_text
  FROM asked AS a LEFT JOIN session AS s ON s.seq = a.asked_seq;

-- What is being put back, where, and which question waits for an answer.
CREATE VIEW restore_open AS
SELECT w.seq, s.machine AS machine, s.workspace_root,
       CASE w.state WHEN 'asked' THEN (SELECT substr(id, 1, 13) FROM request WHERE seq = w.request_seq) END
         AS question
  FROM workspace_restore AS w JOIN session AS s ON s.seq = w.session_seq
 WHERE w.state IN ('wanted', 'asked', 'approved', 'planned', 'staged', 'placed');

-- The sessions whose files a restore changes: they work in its folder, above it, or in one below it
-- that its paths reach (within: in it or below).
CREATE VIEW restore_reach AS
SELECT w.seq AS restore_seq, s.seq AS session_seq,
       length(s.workspace_root) >= length(o.workspace_root) AS within
  FROM workspace_restore AS w JOIN session AS o ON o.seq = w.session_seq
  JOIN session AS s INDEXED BY session_live
    ON s.machine = o.machine AND s.status <> 'terminated'
 WHERE instr(o.workspace_root || '/', s.workspace_root || '/') = 1
    OR (instr(s.workspace_root || '/', o.workspace_root || '/') = 1
        AND (w.paths IS NULL
             OR EXISTS (SELECT 1 FROM json_each(w.paths) AS p
                         WHERE instr(s.workspace_root || '/',
                                     o.workspace_root || '/' || p.value || '/') = 1
                            OR instr(o.workspace_root || '/' || p.value || '/',
                                     s.workspace_root || '/') = 1)));

-- The agents that we started in the folder of a restore or below it, and that run there.
CREATE VIEW restore_agent AS
SELECT h.restore_seq, r.seq AS run_seq, r.machine, r.stop_wanted_at
  FROM restore_reach AS h
  CROSS JOIN agent_run AS r ON r.session_seq = h.session_seq AND r.ended_at IS NULL
 WHERE h.within = 1;

-- What there is now is kept first: it is what the checkpoint is compared with, and what takes the
-- restore back.
CREATE TRIGGER workspace_restore_wanted AFTER INSERT ON workspace_restore BEGIN
  INSERT INTO checkpoint_wanted (id, kind, session_id, label, at)
  SELECT NEW.before_id, 'restore', id, 'before a restore', NEW.created_at
    FROM session WHERE seq = NEW.session_seq;
END;

-- What can be neither done nor taken back now, with the files half moved: told once, and again when
-- it has ended.
CREATE VIEW restore_unfinished AS
SELECT w.seq, w.session_seq, w.request_seq, w.command_seq, w.checkpoint_id, w.why, w.updated_at AS at,
       s.workspace_root
  FROM workspace_restore AS w JOIN session AS s ON s.seq = w.session_seq
 WHERE w.state IN ('planned', 'staged', 'placed') AND w.why IS NOT NULL;

CREATE TRIGGER workspace_restore_changed AFTER UPDATE OF state, why ON workspace_restore
WHEN OLD.state <> NEW.state OR (OLD.why IS NULL AND NEW.why IS NOT NULL) BEGIN
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT u.at, 'restore.unfinished', u.session_seq, u.request_seq, 'applier',
         json_object('checkpoint', u.checkpoint_id, 'why', u.why)
    FROM restore_unfinished AS u WHERE u.seq = NEW.seq AND OLD.why IS NULL;
  INSERT INTO slack_notice (kind, session_seq, text, at)
  SELECT 'reply', s.seq,
         CASE NEW.state
           WHEN 'done' THEN
             CASE s.origin WHEN 'folder' THEN '♻️ *Folder restored*' ELSE '♻️ *Session restored*' END
             || ' from checkpoint *'
             || coalesce(p.label, substr(NEW.checkpoint_id, 1, 13)) || '*.'
             || CASE WHEN NEW.left_out > 0
                     THEN ' Not compared, and as before (' || NEW.left_out || '): ' || NEW.left_named || '.'
                     ELSE '' END
             || coalesce((SELECT group_concat(' The agent of session `' || substr(n.id, 1, 13)
                                              || '` was stopped: `session-resume '
                                              || substr(n.id, 1, 13)
                                              || '` starts it again from there.', '')
                            FROM restore_reach AS h JOIN session AS n ON n.seq = h.session_seq
                            JOIN agent_run AS r ON r.session_seq = n.seq
                           WHERE h.restore_seq = NEW.seq AND h.within = 1
                             AND n.status = 'interrupted' AND n.origin = 'started'
                             AND r.generation = (SELECT max(generation) FROM agent_run
                                                  WHERE session_seq = n.seq)
                             AND r.stop_keeps = 1 AND r.stop_wanted_at >= NEW.created_at),
                         CASE WHEN s.origin = 'started' AND s.status = 'terminated'
                              THEN ' Session `' || substr(s.id, 1, 13) || '` has ended: '
                                   || '`session-restart ' || substr(s.id, 1, 13)
                                   || '` begins it afresh, from there.' END, '')
             || ' To take this back: `session-restore ' || substr(NEW.before_id, 1, 13) || '`.'
           WHEN 'same' THEN
             'Nothing to restore: ' || NEW.why
             || CASE WHEN NEW.left_out > 0
                     THEN ', as far as it could be compared. Not compared (' || NEW.left_out || '): '
                          || NEW.left_named ELSE '' END || '.'
           WHEN 'refused' THEN
             '⚠️ Checkpoint *' || coalesce(p.label, substr(NEW.checkpoint_id, 1, 13))
             || '* was not put back: ' || NEW.why
             || CASE NEW.error_code WHEN 'workspace_changed' THEN '. It is compared again.'
                                    ELSE '' END
           ELSE '⚠️ Checkpoint *' || coalesce(p.label, substr(NEW.checkpoint_id, 1, 13))
             || '* is neither put back nor taken back yet: ' || NEW.why
             || '. It is tried again every minute until it is one or the other.' END,
         NEW.updated_at
    FROM session AS s LEFT JOIN command AS c ON c.seq = NEW.command_seq
    LEFT JOIN checkpoint AS p ON p.id = NEW.checkpoint_id
   WHERE s.seq = NEW.session_seq
     AND (NEW.state IN ('done', 'same', 'refused')
          OR (OLD.why IS NULL AND NEW.seq IN (SELECT seq FROM restore_unfinished)))
     AND (c.source = 'slack' OR s.mode <> 'local');
END;
