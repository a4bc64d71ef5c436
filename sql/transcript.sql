-- A whole session from rows, for `agent-intercom-ctl transcript`, and what `watch` shows of agents.

-- name: transcript :many
-- All that happened in a session, in order. what: a kind of agent_line, or as selected here; ref: of
-- a question, its request. rank: among rows of one instant.
-- type: what text
-- type: who text
-- type: title text
-- type: text text
-- type: detail text
-- type: ref integer
SELECT at, what, who, title, text, detail, ref FROM (
  SELECT s.created_at AS at, 0 AS rank, s.seq AS n, 'session' AS what, s.owner_user_id AS who,
         s.client_name AS title, s.prompt AS text,
         json_object('id', s.id, 'workspace', s.workspace_root, 'mode', s.mode,
                     'restart_of', s.restart_of) AS detail, 0 AS ref
    FROM session AS s WHERE s.seq = :session
  UNION ALL
  SELECT coalesce(r.started_at, r.created_at), 2, r.seq, 'run', NULL, r.agent, NULL,
         json_object('generation', r.generation), 0
    FROM agent_run AS r WHERE r.session_seq = :session
  UNION ALL
  SELECT t.began_at, 3, t.seq, 'prompt', w.operator_id, w.source, coalesce(i.text, w.text), NULL, 0
    FROM agent_run AS r CROSS JOIN agent_turn AS t ON t.run_seq = r.seq
    LEFT JOIN agent_input AS i ON i.seq = t.input_seq LEFT JOIN steering AS w ON w.seq = i.steering_seq
   WHERE r.session_seq = :session
  UNION ALL
  SELECT l.at, 4, l.seq, l.kind, NULL, NULL, l.text, l.detail, 0
    FROM agent_run AS r CROSS JOIN agent_line AS l ON l.run_seq = r.seq
   WHERE r.session_seq = :session
  UNION ALL
  SELECT c.created_at, 4, c.seq, 'call', NULL, c.tool,
         CASE WHEN c.arguments_seq IS NULL THEN c.arguments END,
         json_object('failed', c.is_error), 0
    FROM tool_call AS c WHERE c.session_seq = :session AND c.request_seq IS NULL
  UNION ALL
  SELECT q.created_at, 5, q.seq, 'question', NULL, q.title, NULL, NULL, q.seq
    FROM request AS q WHERE q.session_seq = :session
  UNION ALL
  SELECT q.decided_at, 6, q.seq, 'answer', q.decided_by,
         coalesce((SELECT 'chosen: ' || name FROM request_chosen WHERE request_seq = q.seq), q.decision),
         CASE WHEN q.reason IS NOT NULL AND q.instruction IS NOT NULL
              THEN q.reason || char(10) || q.instruction ELSE coalesce(q.reason, q.instruction) END,
         json_object('question', q.id), q.seq
    FROM request AS q WHERE q.session_seq = :session AND q.decided_at IS NOT NULL
  UNION ALL
  -- What an agent was told as a prompt is there already.
  SELECT w.created_at, 7, w.seq, 'words', w.operator_id, w.source, w.text,
         json_object('told', w.delivered_at,
                     'ended', CASE WHEN w.delivered_at IS NULL AND s.status = 'terminated'
                                   THEN coalesce(s.terminated_at, s.updated_at) END), 0
    FROM steering AS w CROSS JOIN session AS s ON s.seq = w.session_seq
   WHERE w.session_seq = :session AND w.outcome = 'accepted'
     AND NOT EXISTS (SELECT 1 FROM agent_input AS i JOIN agent_turn AS t ON t.input_seq = i.seq
                      WHERE i.steering_seq = w.seq)
  UNION ALL
  SELECT v.at, 8, v.seq, 'event', v.actor, v.kind, NULL, v.detail, 0
    FROM event AS v
   WHERE v.session_seq = :session
     AND (v.kind GLOB 'command.*' OR v.kind GLOB 'apply.*' OR v.kind GLOB 'undo.*'
          OR v.kind GLOB 'stall.*' OR v.kind GLOB 'session.*')
  UNION ALL
  SELECT r.ended_at, 9, r.seq, 'exit', NULL, r.outcome, r.stderr_tail,
         json_object('code', r.exit_code, 'signal', r.exit_signal, 'why', coalesce(r.why, r.stop_why)), 0
    FROM agent_run AS r WHERE r.session_seq = :session AND r.ended_at IS NOT NULL)
 ORDER BY at, rank, n;

-- name: agent_line_last :number
-- Watching begins here.
SELECT max(seq) AS seq FROM agent_line;

-- name: agent_line_since :many
-- What agents said, and the ends of their turns. followed_at: something follows already.
SELECT l.seq, l.kind, l.text, l.detail, s.id AS session_id, r.agent, t.followed_at
  FROM agent_line AS l CROSS JOIN agent_run AS r ON r.seq = l.run_seq
  CROSS JOIN session AS s ON s.seq = r.session_seq LEFT JOIN agent_turn AS t ON t.seq = l.turn_seq
 WHERE l.seq > :after AND l.kind NOT IN ('tool', 'plan') ORDER BY l.seq;
