-- Every statement on `tool_call` and `ended_call`, in the order of a call's life.

-- name: tool_call_insert_done :insert
INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, traceparent, era, tool, arguments,
  arguments_seq, digest, state, result, result_seq, is_error, told_answer, request_seq, apply_seq, created_at,
  answered_at, finished_at)
VALUES ((SELECT seq FROM tool_call_next), :connection, :session, :rpc_id, :traceparent, :era, :tool, :arguments, :arguments_seq, :digest,
  'done', :result, :result_seq, :is_error, :told_answer, :request, :apply, :now, :now, :now);

-- name: tool_call_insert_waiting :insert
INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, progress_token, traceparent, era, tool,
  arguments, arguments_seq, digest, state, request_seq, apply_seq, wait_until, listener, task_id, task_ttl_ms,
  created_at)
VALUES ((SELECT seq FROM tool_call_next), :connection, :session, :rpc_id, :progress_token, :traceparent, :era, :tool, :arguments,
  :arguments_seq, :digest, 'waiting', :request, :apply, :wait_until, :listener, :task, :task_ttl_ms, :now);

-- name: tool_call_by_task :number
-- type: :uid integer?
-- :uid: of an agent of that user only; NULL: of anyone.
SELECT seq FROM tool_call
 WHERE task_id = :task
   AND (:uid IS NULL OR (SELECT uid FROM connection WHERE seq = connection_seq) = :uid);

-- name: tool_call_task :one
SELECT task_id, task_ttl_ms, state, created_at,
       coalesce(answered_at, created_at) AS updated_at
  FROM tool_call WHERE seq = :seq AND task_id IS NOT NULL;

-- name: tool_call_by_rpc :one
-- The newest call of a connection with this JSON-RPC id.
SELECT seq, tool, digest, state FROM tool_call
 WHERE connection_seq = :connection AND rpc_id = :rpc_id ORDER BY seq DESC LIMIT 1;

-- name: tool_call_read :one
SELECT seq, connection_seq, session_seq, rpc_id, progress_token, traceparent, era, tool, digest,
       state, request_seq, apply_seq, result, result_seq, is_error, created_at
  FROM tool_call WHERE seq = :seq;

-- name: tool_call_listen :exec
-- A caller came back for its answer.
UPDATE tool_call SET listener = :listener WHERE seq = :seq AND state IN ('waiting', 'answered');

-- name: tool_call_unlisten :exec
-- The caller hung up; the call keeps waiting.
UPDATE tool_call SET listener = NULL WHERE seq = :seq AND listener IS NOT NULL;

-- name: tool_call_unlisten_dead :exec
-- scan ok: what is open
-- A front starts: callers of earlier incarnations are no longer held.
UPDATE tool_call INDEXED BY tool_call_open SET listener = NULL
 WHERE state IN ('waiting', 'answered') AND listener IS NOT NULL AND listener <> :listener
   AND NOT EXISTS (SELECT 1 FROM worker
                    WHERE worker.id = tool_call.listener AND worker.state IN ('starting', 'ready'));

-- name: tool_call_due :rows
UPDATE tool_call SET state = 'answered', answered_at = :at
 WHERE seq IN (SELECT seq FROM tool_call
                WHERE state = 'waiting' AND wait_until IS NOT NULL AND wait_until <= :at
                ORDER BY wait_until LIMIT 500);

-- name: tool_call_due_list :many
-- type: :skip integer
-- The same, row by row, if the rules refuse one of them.
-- row: due
SELECT seq FROM tool_call
 WHERE state = 'waiting' AND wait_until IS NOT NULL AND wait_until <= :at
 ORDER BY wait_until, seq LIMIT 100 OFFSET :skip;

-- name: tool_call_due_one :rows
UPDATE tool_call SET state = 'answered', answered_at = :at
 WHERE seq = :seq AND state = 'waiting' AND wait_until <= :at;

-- name: tool_call_next_due :one
-- row: instant
SELECT min(wait_until) AS at FROM tool_call WHERE state = 'waiting' AND wait_until IS NOT NULL;

-- name: tool_call_finish :exec
-- Its result has been sent.
UPDATE tool_call
   SET state = 'done', result = :result, result_seq = :result_seq, is_error = :is_error,
       told_answer = :told_answer,
       answered_at = coalesce(answered_at, :now), finished_at = :now, listener = NULL
 WHERE seq = :seq AND state IN ('waiting', 'answered');

-- name: tool_call_cancel :exec
-- The caller no longer wants an answer. Its request stays open.
UPDATE tool_call SET state = 'cancelled', listener = NULL, answered_at = :now
 WHERE seq = :seq AND state IN ('waiting', 'answered');

-- name: tool_call_take_back :rows
-- It was cancelled after its result had been sent.
UPDATE tool_call SET taken_back = 1 WHERE seq = :seq AND state = 'done';

-- name: tool_call_taken_back :any
-- Whether the client of a connection has done that before.
SELECT 1 FROM tool_call WHERE connection_seq = :connection AND taken_back = 1 LIMIT 1;

-- name: tool_call_is_doubtful :any
-- Whether the newest result with the answer to a request was cancelled after it had been sent.
SELECT 1 FROM (SELECT taken_back FROM tool_call WHERE request_seq = :request AND told_answer = 1
                ORDER BY seq DESC LIMIT 1) WHERE taken_back = 1;

-- name: tool_call_cancel_task :exec
-- A task that has ended stays as it is.
UPDATE tool_call SET state = 'cancelled', listener = NULL, answered_at = :now
 WHERE seq = :seq AND state = 'waiting' AND task_id IS NOT NULL;

-- name: answer_last :number
SELECT coalesce(max(seq), 0) AS seq FROM ended_call;

-- name: answer_since :many
SELECT seq, call_seq FROM ended_call WHERE seq > :after ORDER BY seq LIMIT 500;

-- name: tool_call_running :many
-- Everything whose wait has an end, for a step of the clock.
-- row: running
SELECT t.seq, t.wait_until AS at, t.created_at AS since
  FROM tool_call AS t CROSS JOIN session AS s ON s.seq = t.session_seq
 WHERE t.state = 'waiting' AND t.wait_until IS NOT NULL AND s.machine = :machine AND t.seq > :after
 ORDER BY t.seq LIMIT 500;

-- name: tool_call_set_wait :exec
UPDATE tool_call SET wait_until = :at WHERE seq = :seq AND state = 'waiting';

-- name: tool_call_untell :exec
-- Its answer did not arrive: its caller had closed.
UPDATE tool_call SET told_answer = 0 WHERE seq = :call AND told_answer = 1;

-- name: tool_call_untold :number
-- type: :after integer
-- The next call of a connection whose result did not arrive as far as was known, with an answer or words
-- that nobody was told since. (One that was told 'pending' ended before the decision.)
SELECT t.seq FROM tool_call AS t
 WHERE t.connection_seq = :connection AND t.seq > :after AND t.state = 'done' AND t.taken_back = 0
   AND (EXISTS (SELECT 1 FROM steering AS s WHERE s.call_seq = t.seq AND s.delivered_at IS NULL)
        OR (t.told_answer = 0
            AND EXISTS (SELECT 1 FROM request AS r
                         WHERE r.seq = t.request_seq AND r.session_seq = t.session_seq
                           AND r.delivered_at IS NULL AND r.decided_at < t.finished_at
                           AND r.state NOT IN ('pending', 'interrupted'))
            AND NOT EXISTS (SELECT 1 FROM tool_call AS o
                             WHERE o.request_seq = t.request_seq AND o.told_answer = 1)))
 ORDER BY t.seq LIMIT 1;

-- name: tool_call_heard :exec
-- Such a result has arrived, or is sent again.
UPDATE tool_call SET told_answer = 1
 WHERE seq = :call AND state = 'done' AND taken_back = 0 AND told_answer = 0
   AND EXISTS (SELECT 1 FROM request AS r
                WHERE r.seq = request_seq AND r.session_seq = tool_call.session_seq
                  AND r.delivered_at IS NULL AND r.decided_at < finished_at
                  AND r.state NOT IN ('pending', 'interrupted'));

-- name: call_before :many
-- The session's calls before :call, newest first: which of them had the same arguments.
SELECT o.request_seq, o.arguments_seq IS n.arguments_seq AND o.arguments IS n.arguments AS is_same
  FROM tool_call AS n CROSS JOIN tool_call AS o INDEXED BY tool_call_session
 WHERE n.seq = :call AND o.session_seq = :session AND o.seq < :call
 ORDER BY o.seq DESC LIMIT :limit;
