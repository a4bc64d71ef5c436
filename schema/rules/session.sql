-- What follows when a session begins and changes.

-- Only a folder is born ended: there is no agent in it.
CREATE TRIGGER session_begins BEFORE INSERT ON session
WHEN NEW.status = 'terminated' AND NEW.origin <> 'folder' BEGIN
  SELECT RAISE(ABORT, 'session: move: a session is born created or active');
END;

-- What was left for the next session is for this one; what one of this machine's users left, only
-- if it is not another user's.
CREATE TRIGGER session_started AFTER INSERT ON session WHEN NEW.origin <> 'folder' BEGIN
  UPDATE steering SET session_seq = NEW.seq
   WHERE outcome = 'accepted' AND session_seq IS NULL AND kind = 'task'
     AND (NEW.agent_user IS NULL OR operator_id NOT GLOB 'local:*'
          OR operator_id = 'local:' || NEW.agent_user)
     AND (channel_id IS NULL OR channel_id = NEW.channel_id
          OR (NEW.channel_id IS NULL
              AND channel_id = (SELECT value FROM setting WHERE name = 'slack.channel_id')));
  INSERT INTO event (at, kind, session_seq, actor, detail)
  VALUES (NEW.created_at, 'session.' || NEW.status, NEW.seq, NEW.owner_user_id,
          json_patch(json_object('workspace', NEW.workspace_root, 'client', NEW.client_name,
                                 'mode', NEW.mode),
                     json_object('uid', NEW.agent_uid, 'user', NEW.agent_user)));
  INSERT INTO slack_notice (kind, session_seq, at) VALUES ('session', NEW.seq, NEW.created_at);
  INSERT INTO checkpoint_wanted (kind, session_id, at) VALUES ('start', NEW.id, NEW.created_at);
  -- A restarted session continues in the thread of its predecessor.
  INSERT INTO slack_notice (kind, session_seq, at)
  SELECT 'restarted', NEW.seq, NEW.created_at WHERE NEW.restart_of IS NOT NULL AND NEW.thread_ts IS NOT NULL;
END;

-- A session does not end while its agent is working: its runner is told first.
CREATE TRIGGER session_ends_its_agent BEFORE UPDATE OF status ON session
WHEN NEW.status = 'terminated' AND OLD.status <> 'terminated' BEGIN
  SELECT RAISE(ABORT, 'session: run: its agent runs; insert a row into command to stop it')
   WHERE EXISTS (SELECT 1 FROM agent_run
                  WHERE session_seq = NEW.seq AND ended_at IS NULL AND stop_wanted_at IS NULL);
END;

-- A mode determines who may answer: only the newest order that was carried out changes it.
CREATE TRIGGER session_mode_is_ordered BEFORE UPDATE OF mode ON session
WHEN OLD.mode IS NOT NEW.mode BEGIN
  SELECT RAISE(ABORT, 'session: mode: insert a row into command to switch a mode')
   WHERE NOT EXISTS (SELECT 1 FROM command
                      WHERE seq = (SELECT max(seq) FROM command) AND verb = 'mode'
                        AND argument = NEW.mode AND outcome = 'done'
                        AND (session_id IS NULL OR session_id = OLD.id));
END;

-- What nobody has been told yet of a change of mode that no agent made.
CREATE VIEW mode_unsaid AS
SELECT m.seq AS message_seq, m.session_seq, json_extract(m.detail, '$.from') AS src,
       json_extract(m.detail, '$.to') AS dst
  FROM slack_message AS m JOIN slack_outbox AS o ON o.message_seq = m.seq AND o.state = 'queued'
 WHERE m.kind = 'mode' AND m.state = 'queued' AND json_extract(m.detail, '$.by') IS NOT 'agent';

CREATE TRIGGER session_changed AFTER UPDATE OF status, mode, connectivity_status ON session
WHEN OLD.status <> NEW.status OR OLD.mode <> NEW.mode
  OR (OLD.connectivity_status = 'stalled' AND NEW.connectivity_status <> 'stalled') BEGIN
  -- The agent is back (or gone, or nobody waits for it any longer): its alert ends.
  UPDATE stall
     SET status = CASE WHEN NEW.connectivity_status = 'online' AND NEW.stall_paused = 0
                        AND NEW.status NOT IN ('terminated', 'paused')
                       THEN 'self_recovered' ELSE 'dismissed' END,
         waits_since = NULL, ended_at = NEW.updated_at, updated_at = NEW.updated_at
   WHERE session_seq = NEW.seq AND ended_at IS NULL
     AND (NEW.connectivity_status <> 'stalled' OR NEW.status IN ('terminated', 'paused'));
  UPDATE pause SET ended_at = NEW.updated_at
   WHERE session_seq = NEW.seq AND ended_at IS NULL
     AND OLD.status = 'paused' AND NEW.status <> 'paused';
  INSERT INTO event (at, kind, session_seq, detail)
  SELECT NEW.updated_at, 'session.' || NEW.status, NEW.seq,
         json_patch(json_object('from', OLD.status),
                    json_object('why', CASE NEW.status WHEN 'paused' THEN (
                      SELECT why FROM pause WHERE session_seq = NEW.seq AND ended_at IS NULL) END))
   WHERE OLD.status <> NEW.status;
  INSERT INTO event (at, kind, session_seq, detail)
  SELECT NEW.updated_at, 'session.mode', NEW.seq, json_object('from', OLD.mode, 'to', NEW.mode)
   WHERE OLD.mode <> NEW.mode;
  -- The newest notice of a mode loses its button; the next one names the person who switched.
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE seq = (SELECT max(seq) FROM slack_message WHERE session_seq = NEW.seq AND kind = 'mode')
     AND state IN ('queued', 'sent') AND OLD.mode <> NEW.mode;
  -- Told where an agent is connected, or where somebody may still answer one that is not. Of several
  -- changes before Slack is told, only what they come to; but always what an agent did.
  INSERT INTO slack_notice (kind, session_seq, detail, at)
  SELECT 'mode', NEW.seq,
         json_object('from', CASE WHEN c.source = 'agent' THEN OLD.mode ELSE coalesce(u.src, OLD.mode) END,
                     'to', NEW.mode, 'by', c.source), NEW.updated_at
    FROM (SELECT (SELECT source FROM command WHERE seq = (SELECT max(seq) FROM command)
                     AND verb = 'mode' AND outcome = 'done') AS source) AS c
    LEFT JOIN mode_unsaid AS u ON u.session_seq = NEW.seq
   WHERE OLD.mode <> NEW.mode AND NEW.status <> 'terminated'
     AND (c.source IS 'agent' OR u.src IS NOT NEW.mode)
     AND (NEW.connectivity_status <> 'offline'
          OR (EXISTS (SELECT 1 FROM request
                       WHERE session_seq = NEW.seq AND state IN ('pending', 'interrupted'))
              AND (NEW.thread_ts IS NOT NULL
                   OR EXISTS (SELECT 1 FROM slack_message
                               WHERE session_seq = NEW.seq AND kind = 'session'
                                 AND state IN ('queued', 'sent')))));
  UPDATE slack_outbox SET state = 'sent', settled_at = NEW.updated_at
   WHERE OLD.mode <> NEW.mode AND state = 'queued'
     AND message_seq IN (SELECT message_seq FROM mode_unsaid
                          WHERE session_seq = NEW.seq AND dst <> NEW.mode);
  UPDATE slack_message SET state = 'dead', updated_at = NEW.updated_at
   WHERE OLD.mode <> NEW.mode AND session_seq = NEW.seq AND kind = 'mode' AND state = 'queued'
     AND NOT EXISTS (SELECT 1 FROM slack_outbox AS o
                      WHERE o.message_seq = slack_message.seq
                        AND o.state IN ('queued', 'sending', 'doubtful'));
  -- What was asked here in the meantime is asked there, too.
  INSERT INTO slack_notice (kind, session_seq, request_seq, at)
  SELECT 'ask', NEW.seq, seq, NEW.updated_at FROM request
   WHERE session_seq = NEW.seq AND state IN ('pending', 'interrupted')
     AND OLD.mode = 'local' AND NEW.mode <> 'local'
   ORDER BY seq;
  -- So is what came next: a turn that ended here and that nothing has followed, after what was said
  -- last in it.
  INSERT INTO slack_notice (kind, session_seq, turn_seq, detail, at)
  SELECT k.part, NEW.seq, l.turn_seq, json_object('line', l.seq), NEW.updated_at
    FROM agent_turn AS t JOIN agent_line AS l ON l.turn_seq = t.seq
    JOIN agent_line_kind AS k ON k.kind = l.kind
   WHERE t.seq = (SELECT max(t.seq) FROM agent_run AS r CROSS JOIN agent_turn AS t ON t.run_seq = r.seq
                   WHERE r.session_seq = NEW.seq AND r.ended_at IS NULL)
     AND t.ended_at IS NOT NULL AND t.followed_at IS NULL
     AND (l.kind = 'turn'
          OR l.seq = (SELECT max(seq) FROM agent_line WHERE turn_seq = t.seq AND kind = 'text'))
     AND OLD.mode = 'local' AND NEW.mode <> 'local' AND NEW.status <> 'terminated'
     AND NOT EXISTS (SELECT 1 FROM slack_message WHERE turn_seq = t.seq AND kind = 'turn')
   ORDER BY l.seq;
  INSERT INTO slack_notice (kind, session_seq, at)
  SELECT 'ended', NEW.seq, NEW.updated_at WHERE OLD.status <> NEW.status AND NEW.status = 'terminated';
  -- What was promised to be delivered, and now reaches nobody.
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT NEW.updated_at, 'steering.lost', NEW.seq, operator_id, json_object('steering', seq)
    FROM steering_untold
   WHERE session_seq = NEW.seq AND is_usual = 0
     AND OLD.status <> NEW.status AND NEW.status = 'terminated'
   ORDER BY seq;
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT NEW.updated_at, 'steering.lost', NEW.seq, operator_id, json_object('input', seq)
    FROM words_untold
   WHERE session_seq = NEW.seq AND OLD.status <> NEW.status AND NEW.status = 'terminated'
   ORDER BY seq;
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT NEW.updated_at, 'steering.lost', NEW.seq, operator_id, json_object('request', seq)
    FROM answer_lost
   WHERE session_seq = NEW.seq AND OLD.status <> NEW.status AND NEW.status = 'terminated'
   ORDER BY seq;
  INSERT INTO slack_notice (kind, session_seq, text, at)
  SELECT 'reply', NEW.seq, 'The session ended before its agent was told: ' || words, NEW.updated_at
    FROM (SELECT group_concat('“' || CASE WHEN length(text) > 300 THEN substr(text, 1, 300) || '…'
                                          ELSE text END || '”', ', ') AS words
            FROM (SELECT t.text, t.source, t.created_at, t.seq
                    FROM steering_untold AS t
                    JOIN source AS f ON f.name = t.source AND f.operator_kind <> 'system'
                   WHERE t.session_seq = NEW.seq AND t.is_usual = 0
                   UNION ALL
                  SELECT text, source, created_at, seq FROM words_untold WHERE session_seq = NEW.seq
                   UNION ALL
                  SELECT text, source, created_at, seq FROM answer_lost WHERE session_seq = NEW.seq
                   ORDER BY 3, 4)
           WHERE source = 'slack' OR NEW.mode <> 'local')
   WHERE words IS NOT NULL AND OLD.status <> NEW.status AND NEW.status = 'terminated';
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE session_seq = NEW.seq AND kind IN ('session', 'restarted') AND state IN ('queued', 'sent')
     AND OLD.status <> NEW.status;
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE kind = 'ask' AND state IN ('queued', 'sent')
     AND request_seq IN (SELECT q.request_seq FROM agent_run AS n CROSS JOIN agent_question AS q ON q.run_seq = n.seq
                           JOIN answer_unheard AS u ON u.request_seq = q.request_seq
                          WHERE n.session_seq = NEW.seq AND q.answered_at IS NULL AND q.withdrawn_at IS NULL
                         UNION ALL
                         SELECT request_seq FROM approval_left WHERE session_seq = NEW.seq)
     AND OLD.status <> NEW.status AND NEW.status = 'terminated';
  -- Below its last turn it says how the session can go on.
  UPDATE slack_message SET generation = generation + 1, updated_at = NEW.updated_at
   WHERE turn_seq = (SELECT max(t.seq) FROM agent_run AS r CROSS JOIN agent_turn AS t ON t.run_seq = r.seq
                      WHERE r.session_seq = NEW.seq)
     AND kind = 'turn' AND state IN ('queued', 'sent')
     AND OLD.status = 'interrupted' AND NEW.status <> 'interrupted';
END;
