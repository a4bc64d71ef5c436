-- Every statement on `agent_run`.

-- name: agent_run_wanted :many
-- Those of this machine that wait for a runner, with the variables that their agents get. Paused
-- sessions do not begin, and none before the checkpoint of its folder has been taken, unless that was
-- ordered before :patience.
SELECT r.seq, a.env_pass FROM agent_run AS r CROSS JOIN session AS s ON s.seq = r.session_seq
  LEFT JOIN agent AS a ON a.name = r.agent
 WHERE r.state = 'wanted' AND r.machine = :machine AND r.ended_at IS NULL AND s.status <> 'paused'
   AND NOT EXISTS (SELECT 1 FROM checkpoint AS k
                    WHERE k.session_id = s.id AND k.kind = 'start' AND k.created_at > :patience
                      AND k.state IN ('queued', 'claimed'))
 ORDER BY r.seq;

-- name: agent_run_claim :rows
-- Only once: a second claimer finds another state.
UPDATE agent_run SET state = 'starting'
 WHERE seq = :seq AND state = 'wanted'
   AND NOT EXISTS (SELECT 1 FROM session WHERE seq = session_seq AND status = 'paused');

-- name: agent_run_read :one
-- What to start, and for whom.
SELECT r.agent, r.protocol, r.prompt, r.stop_wanted_at, r.stop_why, s.seq AS session_seq,
       s.id AS session_id, s.workspace_root, a.command, a.args, a.env_pass, a.env_set, a.fence,
       r.resumes_seq, g.host AS resumes_host, g.host_session AS resumes_session
  FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq LEFT JOIN agent AS a ON a.name = r.agent
  LEFT JOIN gate_call AS g ON g.seq = r.resumes_seq
 WHERE r.seq = :seq;

-- name: agent_run_process :exec
-- Its process exists, and waits.
-- type: :pid integer
-- type: :process_start integer
UPDATE agent_run SET pid = :pid, process_start = :process_start, uid = :uid, fence = :fence
 WHERE seq = :seq AND state = 'starting';

-- name: agent_run_running :exec
UPDATE agent_run SET state = 'running', started_at = :now WHERE seq = :seq AND state = 'starting';

-- name: agent_run_set_token :rows
UPDATE agent_run SET token_hash = :hash
 WHERE seq = :seq AND state = 'running' AND token_hash IS NULL;

-- name: agent_run_of_token :one
-- Whose agent shows this token; nobody's if that has ended.
SELECT s.id AS session_id FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.token_hash = :hash AND r.state = 'running';

-- name: agent_run_stop_wanted :one
SELECT stop_wanted_at, stop_why, stop_keeps FROM agent_run WHERE seq = :seq;

-- name: agent_run_parks :one
-- type: :pid integer
-- For how long a question of the process that is a session's agent may wait before that ends.
SELECT park_after_ms FROM agent_run
 WHERE session_seq = :session AND ended_at IS NULL AND pid = :pid AND park_after_ms IS NOT NULL;

-- name: agent_run_deferred :number
-- The call with which it has ended its process, if it has.
SELECT gate_seq FROM deferred_call WHERE run_seq = :seq;

-- name: agent_run_is_back :any
-- Whether an agent that was started to make its call again has done so.
SELECT 1 AS one FROM agent_run AS r JOIN gate_call AS g ON g.session_seq = r.session_seq
 WHERE r.seq = :seq AND g.seq > r.resumes_seq AND g.moment = 'pre_tool' LIMIT 1;

-- name: agent_run_parked_due :number
-- A parked session whose question is answered, and whose agent may run: neither the limit nor the
-- budget of the day is reached.
SELECT p.session_seq FROM parked_session AS p
 WHERE p.status = 'parked' AND p.machine = :machine AND NOT p.is_open
   AND NOT EXISTS (SELECT 1 FROM agent_run AS r
                    WHERE r.session_seq = p.session_seq AND r.ended_at IS NULL)
   AND NOT EXISTS (SELECT 1 FROM setting AS l
                    WHERE l.name = 'max_concurrent_sessions'
                      AND (SELECT count(*) FROM started_session) >= CAST(l.value AS INTEGER))
   AND NOT EXISTS (SELECT 1 FROM day_used AS d
                    WHERE d.day = date(:now, 'localtime') AND d.used >= d.amount)
 ORDER BY p.decided_at LIMIT 1;

-- name: agent_run_parked_waits :one
-- A parked session whose question is answered, which has been told nothing since, and why its agent does
-- not run yet: the budget of the day, else the limit. To be asked when none is due.
-- type: :run seq
SELECT p.run_seq,
       (SELECT d.value FROM day_used AS d
         WHERE d.day = date(:now, 'localtime') AND d.used >= d.amount LIMIT 1) AS budget,
       (SELECT l.value FROM setting AS l WHERE l.name = 'max_concurrent_sessions') AS most
  FROM parked_session AS p
 WHERE p.status = 'parked' AND p.machine = :machine AND NOT p.is_open
   AND NOT EXISTS (SELECT 1 FROM agent_run AS r
                    WHERE r.session_seq = p.session_seq AND r.ended_at IS NULL)
   AND NOT EXISTS (SELECT 1 FROM agent_line AS l
                    WHERE l.run_seq = p.run_seq AND json_extract(l.detail, '$.waits'))
 ORDER BY p.decided_at LIMIT 1;

-- name: agent_run_insert_next :exec
INSERT INTO agent_run (session_seq, generation, machine, agent, protocol, prompt, park_after_ms,
                       resumes_seq, state, created_at)
SELECT session_seq, generation, machine, agent, protocol, prompt, park_after_ms, resumes_seq, 'wanted',
       :now
  FROM next_run WHERE session_seq = :session;

-- name: agent_run_end :rows
-- type: :outcome agent_run_outcome
UPDATE agent_run
   SET state = 'ended', outcome = :outcome, parked_seq = :parked, exit_code = :exit_code, exit_signal = :exit_signal,
       why = :why, stderr_tail = :stderr_tail, ended_at = :now
 WHERE seq = :seq AND ended_at IS NULL;

-- name: agent_run_end_wanted :exec
-- The system stops: they do not start. A session that was parked still is.
UPDATE agent_run
   SET state = 'ended', outcome = CASE WHEN resumes_seq IS NULL THEN 'interrupted' ELSE 'parked' END,
       parked_seq = resumes_seq, why = 'the system stopped', ended_at = :now
 WHERE machine = :machine AND ended_at IS NULL AND state = 'wanted';

-- name: agent_run_in_hand :many
-- Those of this machine that a runner has claimed.
SELECT seq FROM agent_run
 WHERE machine = :machine AND ended_at IS NULL AND state IN ('starting', 'running') ORDER BY seq;

-- name: agent_run_unheard :many
-- Those for whose runner there is something to do: it was rung, unless whoever wrote that was
-- killed before, or cannot ring.
SELECT r.seq FROM agent_run AS r
 WHERE r.machine = :machine AND r.ended_at IS NULL AND r.state = 'running'
   AND (r.stop_wanted_at IS NOT NULL
        OR EXISTS (SELECT 1 FROM agent_input AS i
                    WHERE i.session_seq = r.session_seq AND i.sent_at IS NULL AND i.ended_at IS NULL
                      AND i.told_in IS NULL)
        OR EXISTS (SELECT 1 FROM steering_untold AS t WHERE t.session_seq = r.session_seq)
        OR EXISTS (SELECT 1 FROM agent_run AS p CROSS JOIN agent_question AS q ON q.run_seq = p.seq
                     JOIN request AS n ON n.seq = q.request_seq
                    WHERE p.session_seq = r.session_seq AND q.answered_at IS NULL
                      AND q.withdrawn_at IS NULL AND q.told_seq IS NULL
                      AND n.state NOT IN ('pending', 'interrupted')))
 ORDER BY r.seq;

-- name: agent_run_fenced :many
-- The agents of this machine that run behind a fence, and their runners, which all that an agent has
-- started stays below. runner_pid 0: it has just ended. Those of other users cannot connect at all.
SELECT r.pid, w.pid AS runner_pid
  FROM agent_run AS r
  LEFT JOIN worker AS w ON w.machine = r.machine AND w.name = 'runner-' || r.seq
                       AND w.state IN ('starting', 'ready')
 WHERE r.machine = :machine AND r.ended_at IS NULL AND r.state IN ('starting', 'running')
   AND r.fence IS NOT NULL AND r.uid IS NULL;

-- name: agent_run_claimed :one
-- A run that a runner has claimed, with what is known about its process.
SELECT r.pid, r.process_start, r.uid, r.stop_wanted_at, r.stop_why, s.id AS session_id
  FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.seq = :seq AND r.state IN ('starting', 'running');

-- name: agent_run_is_wanted :any
SELECT 1 AS one FROM agent_run WHERE seq = :seq AND state = 'wanted';

-- name: agent_run_last_event :number
-- Watching begins here.
SELECT max(seq) AS seq FROM event;

-- name: agent_run_since :many
-- The news of agents that we started: each that is running, and each that has ended.
SELECT e.seq, e.kind = 'agent.running' AS is_running, s.id AS session_id, r.agent, r.prompt, r.outcome,
       r.exit_code, r.exit_signal, r.why, r.stderr_tail
  FROM event AS e CROSS JOIN agent_run AS r ON r.seq = json_extract(e.detail, '$.run')
  CROSS JOIN session AS s ON s.seq = r.session_seq
 WHERE e.seq > :after AND e.kind GLOB 'agent.*' ORDER BY e.seq;
