-- Who is running. A row's history goes into the timeline; `health` is for operators.

CREATE TRIGGER worker_changed AFTER UPDATE OF state ON worker
WHEN OLD.state <> NEW.state BEGIN
  INSERT INTO event (at, kind, actor, detail)
  VALUES (coalesce(NEW.stopped_at, NEW.heartbeat_at), 'worker.' || NEW.state, NEW.name,
          json_object('pid', NEW.pid, 'detail', NEW.detail));
END;

CREATE VIEW health AS
SELECT 'worker ' || name AS what, state, 'pid ' || pid || coalesce(', fence ' || fence, '') || coalesce(', ' || detail, '') AS detail,
       heartbeat_at AS at
  FROM worker WHERE state IN ('starting', 'ready')
UNION ALL
SELECT * FROM (SELECT 'fences', sum(count) OVER () || ' refused', worker || ': ' || what || ' ' || name, created_at
                 FROM fence_refusal ORDER BY seq DESC LIMIT 1)
UNION ALL
SELECT 'questions', count(*) || ' waiting', count(nullif(state, 'pending')) || ' interrupted',
       min(created_at)
  FROM request INDEXED BY request_open WHERE state IN ('pending', 'interrupted')
UNION ALL
SELECT 'writes', count(*) || ' queued', count(nullif(state, 'queued')) || ' in hand',
       min(created_at)
  FROM apply WHERE state IN ('queued', 'claimed')
UNION ALL
SELECT 'restore of ' || workspace_root, 'unfinished', why, at FROM restore_unfinished
UNION ALL
SELECT * FROM (SELECT 'database', outcome, coalesce(why, 'looked through'), ended_at
                 FROM upkeep WHERE kind = 'check' ORDER BY seq DESC LIMIT 1)
UNION ALL
SELECT * FROM (SELECT 'checkpoints', outcome, coalesce(why, 'looked through'), ended_at
                 FROM upkeep WHERE kind = 'objects' ORDER BY seq DESC LIMIT 1)
UNION ALL
SELECT 'sessions', count(*) || ' live',
       count(CASE WHEN status = 'interrupted' THEN 1 END) || ' interrupted', max(last_activity_at)
  FROM session WHERE status <> 'terminated'
UNION ALL
SELECT 'session ' || substr(s.id, 1, 13), s.status, p.why, p.paused_at
  FROM pause AS p JOIN session AS s ON s.seq = p.session_seq
 WHERE p.ended_at IS NULL AND p.why IS NOT NULL
UNION ALL
SELECT 'silent agents', count(*) || ' stalled',
       count(CASE WHEN status = 'escalated' THEN 1 END) || ' do not respond to nudges', min(created_at)
  FROM stall WHERE ended_at IS NULL HAVING count(*) > 0
UNION ALL
SELECT * FROM (SELECT 'gate ' || host, state, coalesce(tool || ': ', '') || why, at
                 FROM gate_amiss ORDER BY seq DESC LIMIT 3)
UNION ALL
SELECT 'gate ' || host, kind, detail, found_at FROM gate_lapse WHERE ended_at IS NULL
UNION ALL
SELECT 'gate ' || host, state, version || ': ' || detail, max(at) FROM gate_canary
 GROUP BY host HAVING state <> 'closed'
UNION ALL
SELECT 'slack', count(*) || ' queued',
       coalesce(nullif(count(r.seq), 0) || ' open questions, ', '') ||
       (SELECT count(*) FROM slack_outbox WHERE state = 'dead') || ' dead, see outbox_stuck' ||
       coalesce(', ' || (SELECT group_concat(why, '; ') FROM slack_gate WHERE why IS NOT NULL), ''),
       min(o.created_at)
  FROM slack_outbox AS o
  LEFT JOIN slack_message AS m ON m.seq = o.message_seq AND m.kind = 'ask' AND o.kind = 'post'
  LEFT JOIN request AS r ON r.seq = m.request_seq AND r.state IN ('pending', 'interrupted')
 WHERE o.state IN ('queued', 'sending', 'doubtful')
HAVING (SELECT value FROM setting WHERE name = 'slack.configured') = 'true'
UNION ALL
SELECT * FROM (
  SELECT 'slack ' || coalesce(m.kind, o.kind), o.state,
         coalesce('question ' || r.id || ': ', '') || o.why, o.created_at
    FROM slack_outbox AS o LEFT JOIN slack_message AS m ON m.seq = o.message_seq
    LEFT JOIN request AS r ON r.seq = m.request_seq
   WHERE o.state = 'dead' ORDER BY o.seq DESC LIMIT 5);
