-- What is said in Slack, and in which order. The triggers of request, apply, session and tool_call
-- (and anybody else) insert into slack_notice; everything else follows from that.

-- What was said, and the way to say something: INSERT INTO slack_notice (kind, session_seq, text)
-- VALUES ('reply', 1, 'Noted.') answers in the session's thread.
CREATE VIEW slack_notice AS
SELECT kind, session_seq, request_seq, apply_seq, call_seq, turn_seq, alias_run_seq, channel_id,
       thread_ts, text, detail, content_seq, file_name, created_at AS at
  FROM slack_message;

-- Nothing is sent without Slack, without a channel, or in local mode. A session's thread is started
-- before anything is posted in it; if its head is dead or gone, with a new one. A request is posted
-- in that thread or, with slack.questions = channel, in the channel, with the diff in its thread; of
-- either only what is not there.
CREATE TRIGGER slack_notice_is_said INSTEAD OF INSERT ON slack_notice
WHEN (SELECT value FROM setting WHERE name = 'slack.configured') = 'true' BEGIN
  INSERT INTO slack_message_new (kind, session_seq, channel_id, at)
  SELECT 'session', s.seq,
         coalesce(nullif(s.channel_id, ''), (SELECT nullif(value, '') FROM setting
                                              WHERE name = 'slack.channel_id')),
         coalesce(NEW.at, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    FROM session AS s JOIN slack_part AS p ON p.kind = NEW.kind
   WHERE s.seq = NEW.session_seq AND NEW.thread_ts IS NULL
     AND (s.mode <> 'local' OR p.in_local = 1)
     AND coalesce(nullif(s.channel_id, ''), (SELECT nullif(value, '') FROM setting
                                              WHERE name = 'slack.channel_id')) IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM slack_message AS m
                      WHERE m.session_seq = s.seq AND m.kind = 'session'
                        AND m.state IN ('queued', 'sent'))
     AND (s.thread_ts IS NULL OR EXISTS (SELECT 1 FROM slack_message AS m
                                          WHERE m.session_seq = s.seq AND m.kind = 'session'));
  INSERT INTO slack_message_new (kind, session_seq, request_seq, channel_id, root_seq, thread_ts, at)
  SELECT 'diff', s.seq, NEW.request_seq,
         coalesce(m.channel_id, nullif(s.channel_id, ''), (SELECT nullif(value, '') FROM setting
                                                            WHERE name = 'slack.channel_id')),
         m.seq, CASE WHEN m.seq IS NULL THEN s.thread_ts END,
         coalesce(NEW.at, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    FROM session AS s LEFT JOIN slack_message AS m
      ON m.seq = (SELECT max(h.seq) FROM slack_message AS h
                   WHERE h.session_seq = s.seq AND h.kind = 'session' AND h.state IN ('queued', 'sent'))
   WHERE NEW.kind = 'ask' AND s.seq = NEW.session_seq AND s.mode <> 'local'
     AND coalesce(m.channel_id, nullif(s.channel_id, ''), (SELECT nullif(value, '') FROM setting
                                                            WHERE name = 'slack.channel_id')) IS NOT NULL
     AND coalesce((SELECT value FROM setting WHERE name = 'slack.questions'), 'thread') <> 'channel'
     AND EXISTS (SELECT 1 FROM request_long WHERE seq = NEW.request_seq)
     AND NOT EXISTS (SELECT 1 FROM slack_message WHERE request_seq = NEW.request_seq AND kind = 'diff'
                        AND state IN ('queued', 'sent'));
  INSERT INTO slack_message_new (kind, session_seq, request_seq, apply_seq, call_seq, turn_seq,
                                 alias_run_seq, channel_id, root_seq, thread_ts, text, detail,
                                 content_seq, file_name, at)
  SELECT NEW.kind, NEW.session_seq, NEW.request_seq, NEW.apply_seq, NEW.call_seq, NEW.turn_seq,
         NEW.alias_run_seq, a.channel_id, a.root_seq, CASE WHEN a.root_seq IS NULL THEN a.thread_ts END, NEW.text, NEW.detail,
         NEW.content_seq, NEW.file_name, a.at
    FROM (SELECT coalesce(nullif(NEW.channel_id, ''), nullif(s.channel_id, ''),
                          (SELECT nullif(value, '') FROM setting WHERE name = 'slack.channel_id'))
                   AS channel_id,
                 CASE WHEN NEW.thread_ts IS NULL AND
                           NOT (NEW.kind = 'ask' AND (SELECT value FROM setting
                                                       WHERE name = 'slack.questions') IS 'channel')
                      THEN (SELECT max(m.seq) FROM slack_message AS m
                             WHERE m.session_seq = s.seq AND m.kind = 'session'
                               AND m.state IN ('queued', 'sent')) END AS root_seq,
                 coalesce(NEW.thread_ts,
                          CASE WHEN NOT (NEW.kind = 'ask' AND (SELECT value FROM setting
                                                       WHERE name = 'slack.questions') IS 'channel')
                               THEN s.thread_ts END) AS thread_ts,
                 coalesce(NEW.at, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS at,
                 s.mode
            FROM (SELECT 1) LEFT JOIN session AS s ON s.seq = NEW.session_seq) AS a
    JOIN slack_part AS p ON p.kind = NEW.kind
   WHERE a.channel_id IS NOT NULL AND NEW.kind <> 'session'
     AND (coalesce(a.mode, 'local') <> 'local' OR p.in_local = 1)
     AND NOT (NEW.kind = 'ask' AND EXISTS (SELECT 1 FROM slack_message
                                            WHERE request_seq = NEW.request_seq AND kind = 'ask'
                                              AND state IN ('queued', 'sent')));
  INSERT INTO slack_message_new (kind, session_seq, request_seq, channel_id, root_seq, at)
  SELECT 'diff', m.session_seq, m.request_seq, m.channel_id, m.seq, m.created_at
    FROM slack_message AS m JOIN request AS r ON r.seq = m.request_seq
   WHERE NEW.kind = 'ask' AND m.request_seq = NEW.request_seq AND m.kind = 'ask'
     AND m.state IN ('queued', 'sent')
     AND EXISTS (SELECT 1 FROM request_long WHERE seq = r.seq)
     AND (SELECT value FROM setting WHERE name = 'slack.questions') IS 'channel'
     AND NOT EXISTS (SELECT 1 FROM slack_message WHERE request_seq = NEW.request_seq AND kind = 'diff'
                        AND state IN ('queued', 'sent'));
END;

-- Where that trigger adds a message: its statements, most of which add none, do not open all indexes of
-- slack_message for it.
CREATE VIEW slack_message_new AS
SELECT kind, session_seq, request_seq, apply_seq, call_seq, turn_seq, alias_run_seq, channel_id,
       root_seq, thread_ts, text, detail, content_seq, file_name, created_at AS at
  FROM slack_message;

CREATE TRIGGER slack_message_is_added INSTEAD OF INSERT ON slack_message_new BEGIN
  INSERT INTO slack_message (kind, session_seq, request_seq, apply_seq, call_seq, turn_seq,
                             alias_run_seq, channel_id, root_seq, thread_ts, text, detail,
                             content_seq, file_name, created_at, updated_at)
  VALUES (NEW.kind, NEW.session_seq, NEW.request_seq, NEW.apply_seq, NEW.call_seq, NEW.turn_seq,
          NEW.alias_run_seq, NEW.channel_id, NEW.root_seq, NEW.thread_ts, NEW.text, NEW.detail,
          NEW.content_seq, NEW.file_name, NEW.at, NEW.at);
END;

CREATE TRIGGER slack_message_is_known BEFORE INSERT ON slack_message BEGIN
  SELECT RAISE(ABORT, 'slack_message: kind: see slack_part for what a message can be')
   WHERE NOT EXISTS (SELECT 1 FROM slack_part WHERE kind = NEW.kind);
END;

-- A message may move below another head only before it is sent, and if its head is dead.
CREATE TRIGGER slack_message_is_placed BEFORE UPDATE OF root_seq ON slack_message
WHEN OLD.state <> 'queued' AND OLD.root_seq IS NOT NEW.root_seq BEGIN
  SELECT RAISE(ABORT, 'slack_message: fixed: what a message is about does not change');
END;

CREATE TRIGGER slack_message_queued AFTER INSERT ON slack_message BEGIN
  INSERT INTO slack_outbox (kind, message_seq, priority, created_at)
  SELECT send, NEW.seq, priority, NEW.created_at FROM slack_part WHERE kind = NEW.kind;
END;

-- A change is an edit, unless the message has not been sent: then it is sent with the change.
-- Pending edits are combined. What waited for the message's ts may be sent, and callers who wait
-- for that are told. What a question that is not open any more still has to say is a report.
CREATE TRIGGER slack_message_changed AFTER UPDATE OF generation, ts, state ON slack_message BEGIN
  INSERT INTO slack_edit (message_seq, at, is_wanted)
  VALUES (NEW.seq, NEW.updated_at, NEW.generation > OLD.generation AND NEW.state IN ('queued', 'sent'));
  UPDATE slack_lane SET state = 'ready'
   WHERE waits_for = NEW.seq AND state = 'waiting' AND OLD.ts IS NULL AND NEW.ts IS NOT NULL;
  UPDATE broadcast_wait SET ts = NEW.ts, refused = (NEW.state = 'dead')
   WHERE call_seq = NEW.call_seq AND OLD.state = 'queued' AND NEW.state IN ('sent', 'dead');
  UPDATE slack_outbox SET priority = 6
   WHERE state = 'queued' AND kind IN ('post', 'file') AND NEW.kind = 'ask'
     AND NEW.generation > OLD.generation
     AND EXISTS (SELECT 1 FROM request
                  WHERE seq = NEW.request_seq AND state NOT IN ('pending', 'interrupted'))
     AND message_seq IN (SELECT seq FROM slack_message
                          WHERE request_seq = NEW.request_seq AND kind IN ('ask', 'diff'));
END;

-- Edits, as wanted by a change of the message: see decision_told.
CREATE VIEW slack_edit AS
SELECT message_seq, created_at AS at, 1 AS is_wanted FROM slack_outbox WHERE kind = 'update';

CREATE TRIGGER slack_edit_queued INSTEAD OF INSERT ON slack_edit
WHEN NEW.is_wanted
 AND NOT EXISTS (SELECT 1 FROM slack_outbox
                  WHERE message_seq = NEW.message_seq AND state = 'queued'
                    AND kind IN ('post', 'update')) BEGIN
  INSERT INTO slack_outbox (kind, message_seq, priority, created_at)
  SELECT 'update', m.seq, p.edit_priority, NEW.at
    FROM slack_message AS m JOIN slack_part AS p ON p.kind = m.kind AND p.send = 'post'
   WHERE m.seq = NEW.message_seq;
END;

-- Open requests that Slack has refused in every form, and that were not posted again since.
CREATE VIEW refused_ask AS
SELECT m.request_seq, m.seq AS message_seq
  FROM slack_message AS m
  JOIN request AS r ON r.seq = m.request_seq AND r.state IN ('pending', 'interrupted')
  JOIN session AS s ON s.seq = r.session_seq AND s.mode <> 'local'
 WHERE m.kind = 'ask' AND m.state = 'dead'
   AND NOT EXISTS (SELECT 1 FROM slack_message AS n
                    WHERE n.request_seq = m.request_seq AND n.kind = 'ask' AND n.seq > m.seq);

CREATE TRIGGER slack_outbox_is_complete BEFORE INSERT ON slack_outbox BEGIN
  SELECT RAISE(ABORT, 'slack_outbox: kind: see slack_kind for what can be done')
   WHERE NOT EXISTS (SELECT 1 FROM slack_kind WHERE kind = NEW.kind);
  SELECT RAISE(ABORT, 'slack_outbox: incomplete: this kind needs more to be sent')
   WHERE (NEW.kind = 'view_open' AND (NEW.trigger_id IS NULL OR NEW.view IS NULL OR
                                      NEW.expires_at IS NULL))
      OR (NEW.kind = 'respond' AND (NEW.response_url IS NULL OR NEW.text IS NULL))
      OR (NEW.kind = 'ephemeral' AND (NEW.channel_id IS NULL OR NEW.user_id IS NULL
                                      OR NEW.text IS NULL));
END;

-- It joins the lane of its thread (or creates it) at the end. What begins a thread waits for no other
-- message in its channel.
CREATE TRIGGER slack_outbox_queued AFTER INSERT ON slack_outbox BEGIN
  INSERT INTO slack_gate (name, slot)
  SELECT g.name, g.slot FROM (
    SELECT CASE k.slot WHEN 'post' THEN k.gate || ' ' || m.channel_id ELSE k.gate END AS name, k.slot
      FROM slack_kind AS k LEFT JOIN slack_message AS m ON m.seq = NEW.message_seq
     WHERE k.kind = NEW.kind) AS g
   WHERE NOT EXISTS (SELECT 1 FROM slack_gate WHERE name = g.name);
  INSERT INTO slack_lane (gate, channel_id, thread, waits_for, state, head, priority, due_at, turn_at)
  SELECT l.gate, l.channel_id, l.thread, l.waits_for,
         CASE WHEN l.waits_for IS NULL
                OR (SELECT ts FROM slack_message WHERE seq = l.waits_for) IS NOT NULL
              THEN 'ready' ELSE 'waiting' END,
         NEW.seq, coalesce(l.priority, NEW.priority), coalesce(NEW.due_at, ''), NEW.created_at
    FROM (SELECT CASE k.slot WHEN 'post' THEN k.gate || ' ' || m.channel_id ELSE k.gate END AS gate,
                 coalesce(m.channel_id, '') AS channel_id,
                 CASE WHEN NEW.kind IN ('update', 'delete') THEN 'm' || m.seq
                      WHEN m.root_seq IS NOT NULL THEN 'm' || m.root_seq
                      WHEN m.thread_ts IS NULL AND m.kind IN ('session', 'ask') THEN 'h' || m.seq
                      ELSE coalesce(m.thread_ts, '') END AS thread,
                 CASE WHEN NEW.kind IN ('update', 'delete') THEN m.seq ELSE m.root_seq END AS waits_for,
                 k.priority
            FROM slack_kind AS k LEFT JOIN slack_message AS m ON m.seq = NEW.message_seq
           WHERE k.kind = NEW.kind) AS l
   WHERE NOT EXISTS (SELECT 1 FROM slack_lane
                      WHERE gate = l.gate AND channel_id = l.channel_id AND thread = l.thread);
  UPDATE slack_outbox
     SET (priority, lane_seq) = (
           SELECT coalesce(k.priority, NEW.priority), l.seq
             FROM slack_kind AS k LEFT JOIN slack_message AS m ON m.seq = NEW.message_seq
             JOIN slack_lane AS l
               ON l.gate = CASE k.slot WHEN 'post' THEN k.gate || ' ' || m.channel_id ELSE k.gate END
              AND l.channel_id = coalesce(m.channel_id, '')
              AND l.thread = CASE WHEN NEW.kind IN ('update', 'delete') THEN 'm' || m.seq
                                  WHEN m.root_seq IS NOT NULL THEN 'm' || m.root_seq
                                  WHEN m.thread_ts IS NULL AND m.kind IN ('session', 'ask')
                                  THEN 'h' || m.seq
                                  ELSE coalesce(m.thread_ts, '') END
            WHERE k.kind = NEW.kind)
   WHERE seq = NEW.seq;
END;

-- A lane is as urgent as the most urgent intent in it, and that of a thread's head as what waits below.
-- Insert a lane whose intents have changed.
CREATE VIEW slack_urgency AS
SELECT l.seq AS lane_seq,
       min(coalesce((SELECT min(o.priority) FROM slack_outbox AS o
                      WHERE o.lane_seq = l.seq AND o.state = 'queued'), l.priority),
           coalesce((SELECT min(w.priority) FROM slack_outbox AS h
                       JOIN slack_lane AS w ON w.waits_for = h.message_seq AND w.state = 'waiting'
                      WHERE h.seq = l.head AND w.gate = l.gate), 7)) AS priority
  FROM slack_lane AS l;

CREATE TRIGGER slack_lane_urged INSTEAD OF INSERT ON slack_urgency BEGIN
  UPDATE slack_lane SET priority = (SELECT priority FROM slack_urgency WHERE lane_seq = NEW.lane_seq)
   WHERE seq = NEW.lane_seq;
  UPDATE slack_lane SET priority = (SELECT priority FROM slack_urgency WHERE lane_seq = slack_lane.seq)
   WHERE (gate, channel_id, thread) = (SELECT gate, channel_id, 'h' || waits_for FROM slack_lane
                                        WHERE seq = NEW.lane_seq AND state = 'waiting');
END;

-- While one is being sent (or is in doubt), its lane stands still; then the next one is the head,
-- or the lane is empty and is deleted. Secrets are deleted as soon as they are useless.
CREATE TRIGGER slack_outbox_moved AFTER UPDATE OF state, priority ON slack_outbox BEGIN
  UPDATE slack_lane
     SET head = (SELECT min(o.seq) FROM slack_outbox AS o
                  WHERE o.lane_seq = NEW.lane_seq AND o.state IN ('queued', 'sending', 'doubtful'))
   WHERE seq = NEW.lane_seq;
  DELETE FROM slack_lane WHERE seq = NEW.lane_seq AND head IS NULL;
  UPDATE slack_lane
     SET (state, due_at, turn_at) = (
           SELECT CASE WHEN o.state IN ('sending', 'doubtful') THEN 'busy'
                       WHEN slack_lane.waits_for IS NULL
                         OR (SELECT ts FROM slack_message WHERE seq = slack_lane.waits_for) IS NOT NULL
                       THEN 'ready' ELSE 'waiting' END,
                  coalesce(o.due_at, ''),
                  coalesce(CASE NEW.state WHEN 'sending' THEN NEW.started_at END, slack_lane.turn_at)
             FROM slack_outbox AS o WHERE o.seq = slack_lane.head)
   WHERE seq = NEW.lane_seq;
  INSERT INTO slack_urgency (lane_seq) VALUES (NEW.lane_seq);
  UPDATE slack_outbox SET trigger_id = NULL, response_url = NULL
   WHERE seq = NEW.seq AND NEW.state IN ('sent', 'dead')
     AND (trigger_id IS NOT NULL OR response_url IS NOT NULL);
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT NEW.settled_at, 'slack.dead', m.session_seq, coalesce(m.request_seq, NEW.request_seq),
         'slack-poster', json_object('outbox', NEW.seq, 'what', coalesce(m.kind, NEW.kind),
                                     'error', substr(NEW.why, 1, 200))
    FROM (SELECT 1) LEFT JOIN slack_message AS m ON m.seq = NEW.message_seq
   WHERE NEW.state = 'dead' AND OLD.state <> 'dead';
END;

-- Intents that retention deletes unsent leave no lane behind.
CREATE TRIGGER slack_outbox_is_deleted AFTER DELETE ON slack_outbox
WHEN OLD.state IN ('queued', 'sending', 'doubtful') BEGIN
  UPDATE slack_lane
     SET head = (SELECT min(o.seq) FROM slack_outbox AS o
                  WHERE o.lane_seq = OLD.lane_seq AND o.state IN ('queued', 'sending', 'doubtful')),
         due_at = ''
   WHERE seq = OLD.lane_seq;
  DELETE FROM slack_lane WHERE seq = OLD.lane_seq AND head IS NULL;
END;

-- What is not delivered, and why. The last column says what may help.
CREATE VIEW outbox_stuck AS
SELECT o.seq, coalesce(m.kind, o.kind) AS what, o.kind AS intent, o.state, o.attempts,
       s.id AS session_id, r.id AS request_id, coalesce(m.channel_id, o.channel_id) AS channel_id,
       o.created_at, o.why AS why
  FROM slack_outbox AS o
  LEFT JOIN slack_message AS m ON m.seq = o.message_seq
  LEFT JOIN session AS s ON s.seq = m.session_seq
  LEFT JOIN request AS r ON r.seq = coalesce(m.request_seq, o.request_seq)
 WHERE o.state = 'dead' OR (o.state IN ('queued', 'sending', 'doubtful') AND o.why IS NOT NULL)
UNION ALL
SELECT NULL, 'gate ' || name, NULL, 'closed', strikes, NULL, NULL, NULL, not_before, why
  FROM slack_gate WHERE why IS NOT NULL AND slot <> 'note';
