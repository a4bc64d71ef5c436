-- Every statement on `agent_turn` and `agent_line`.

-- name: agent_turn_begin :insert
-- The next turn of a run. input: what the agent is told; NULL: it begins by itself.
-- type: :run seq
-- type: :input seq
INSERT INTO agent_turn (run_seq, number, input_seq, began_at)
SELECT :run, 1 + coalesce((SELECT max(number) FROM agent_turn WHERE run_seq = :run), 0), :input, :now;

-- name: agent_turn_end :exec
-- What comes next is decided already if the operator has said something, or the agent is to end
-- (over: it has), which is then not told what was said.
-- type: :stop agent_turn_stop
-- type: :over bool
UPDATE agent_turn
   SET stop = :stop, why = :why, ended_at = :now,
       (followed_at, followed_by) = (
         SELECT CASE WHEN :over OR r.stop_wanted_at IS NOT NULL OR n.seq IS NOT NULL THEN :now END, n.seq
           FROM agent_run AS r
           JOIN (SELECT (SELECT min(u.seq) FROM agent_run AS o JOIN steering_untold AS u
                            ON u.session_seq = o.session_seq
                          WHERE o.seq = agent_turn.run_seq AND o.stop_wanted_at IS NULL AND NOT :over) AS seq) AS n
          WHERE r.seq = agent_turn.run_seq)
 WHERE seq = :turn AND ended_at IS NULL;

-- name: agent_turn_show :exec
UPDATE agent_turn SET shown_at = :now WHERE seq = :turn;

-- name: slack_turn_read :one
-- A turn as Slack shows it. said: the operator's words that came, or can still come, next.
-- is_last: no turn of its run came after it. is_kept: its run was interrupted, or is to be.
-- row: slack_turn
-- type: is_last bool
-- type: is_kept bool
SELECT t.seq, t.stop, t.why, t.ended_at, t.followed_at, r.ended_at AS run_ended_at, r.stop_wanted_at,
       NOT EXISTS (SELECT 1 FROM agent_turn AS n
                    WHERE n.run_seq = t.run_seq AND n.number = t.number + 1) AS is_last,
       coalesce(r.outcome = 'interrupted', r.stop_keeps) AS is_kept,
       x.seq AS session_seq, x.id AS session_id, x.status, x.agent_user, x.workspace_root, x.client_name,
       x.label, s.text AS said, s.operator_id AS said_by,
       (SELECT i.text FROM agent_turn AS n JOIN agent_input AS i ON i.seq = n.input_seq
         WHERE n.run_seq = t.run_seq AND n.number = t.number + 1) AS next_prompt
  FROM agent_turn AS t JOIN agent_run AS r ON r.seq = t.run_seq JOIN session AS x ON x.seq = r.session_seq
  LEFT JOIN steering AS s
    ON s.seq = t.followed_by AND s.session_seq = r.session_seq
   AND (s.delivered_at IS NOT NULL OR (r.ended_at IS NULL AND r.stop_wanted_at IS NULL))
 WHERE t.seq = :turn;

-- name: agent_line_text :one
-- type: pauses bool
SELECT l.kind, l.text, coalesce(l.kind = 'note' AND json_extract(l.detail, '$.paused') = 1, 0) AS pauses,
       s.id AS session_id, s.status, s.agent_user, s.workspace_root, s.client_name, s.label
  FROM agent_line AS l JOIN agent_run AS r ON r.seq = l.run_seq JOIN session AS s ON s.seq = r.session_seq
 WHERE l.seq = :seq;

-- name: agent_line_last_text :one
-- What the agents of a session said last.
SELECT l.text FROM agent_run AS r CROSS JOIN agent_line AS l ON l.run_seq = r.seq
 WHERE r.session_seq = :session AND l.kind = 'text' ORDER BY l.seq DESC LIMIT 1;

-- name: agent_turn_waits :any
-- A turn has ended, and nothing has followed it: the operator has the word.
SELECT 1 AS one FROM agent_run AS r CROSS JOIN agent_turn AS t ON t.run_seq = r.seq
 WHERE r.session_seq = :session AND r.ended_at IS NULL AND t.ended_at IS NOT NULL AND t.followed_at IS NULL;

-- name: agent_turn_is_open :any
-- An agent is at work. :id: of its session.
SELECT 1 AS one FROM session AS s CROSS JOIN agent_run AS r ON r.session_seq = s.seq
 CROSS JOIN agent_turn AS t ON t.run_seq = r.seq
 WHERE s.id = :id AND r.ended_at IS NULL AND t.ended_at IS NULL;

-- name: agent_line_activity :many
-- What the agent does in a turn, in order.
SELECT kind, text, detail FROM agent_line WHERE turn_seq = :turn AND kind IN ('tool', 'plan') ORDER BY seq;

-- name: agent_line_insert :exec
-- type: :turn seq
INSERT INTO agent_line (run_seq, turn_seq, kind, text, detail, at, over_at)
VALUES (:run, :turn, :kind, :text, :detail, :now, :now);

-- name: agent_line_change :rows
-- What goes on, as it is now. over: and remains.
-- type: :over bool
UPDATE agent_line
   SET text = coalesce(:text, text), detail = :detail, over_at = CASE WHEN :over THEN :now END
 WHERE turn_seq IS :turn AND kind = :kind AND key = :key AND run_seq = :run AND over_at IS NULL
   AND (:over OR coalesce(:text, text) IS NOT text OR detail IS NOT :detail);

-- name: agent_line_insert_ongoing :rows
-- 0 rows: there is such a line, and it is over.
-- type: :turn seq
-- type: :over bool
INSERT INTO agent_line (run_seq, turn_seq, kind, key, text, detail, at, over_at)
SELECT :run, :turn, :kind, :key, :text, :detail, :now, CASE WHEN :over THEN :now END
 WHERE NOT EXISTS (SELECT 1 FROM agent_line WHERE turn_seq IS :turn AND kind = :kind AND key = :key
                                              AND run_seq = :run);
