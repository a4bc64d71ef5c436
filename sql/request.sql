-- Every statement on `request`, in the order of a request's life.

-- name: request_own :one
-- The newest request of this session with this digest. A policy that was superseded by another
-- version and has come back is asked about again. A prompt's answer, or a no, does not count as
-- delivered yet if only its words were, with another result, after :words_after: who asks again did not
-- take them for it. (An instruction that ended a standby is not to be carried out twice.)
-- row: request_found
-- type: delivered_at text
SELECT seq, id, state, decided_at,
       CASE WHEN state = 'rejected' OR (state = 'answered' AND kind = 'prompt')
            THEN CASE WHEN delivered_at <= :words_after
                        OR (SELECT max(told_answer) FROM tool_call WHERE request_seq = request.seq)
                           IS NOT 0
                      THEN delivered_at END
            ELSE delivered_at END AS delivered_at, remaining_ms, timeout_ms
  FROM request WHERE digest = :digest AND session_seq = :session
   AND NOT (kind = 'trust' AND state = 'rejected' AND decided_by LIKE 'system:%')
 ORDER BY seq DESC LIMIT 1;

-- name: request_is_of_editor :any
-- It was decided in the editor: who sits there sees the next one.
SELECT 1 AS yes FROM decision WHERE request_id = :id AND outcome = 'applied' AND source = 'editor';

-- name: request_is_elsewhere :any
-- Another session has made the same request. (Few have: request_orphan costs ten times as much.)
SELECT 1 AS yes FROM request WHERE digest = :digest AND session_seq <> :session LIMIT 1;

-- name: request_orphan :one
-- The same request, made in this workspace by a session of the same user to which nobody is
-- connected; preferably one with the same label, otherwise the only one. None of a session that has
-- ended: who ends it means what it may do, too.
-- Over HTTP there is no connection to check: a request is abandoned when its call waits or has its
-- answer, nobody was told, and nobody listens; or, while it is open, when nobody has been told
-- anything about it for a while (an agent that polls has), unless its process has ended (then its
-- connection is closed) or was an earlier run of ours.
-- Or when it has its answer and the caller has the same label, with which check_diff would apply it,
-- too; or it is open, or nobody was told, and the caller is a newer connection of the same program.
-- Nobody listens to a task: it is abandoned when its session has been silent for a while.
-- A hook is there for a moment only, but its connection stands for the session of its host, and is
-- open until the host says that this has ended, or its process has.
-- row: request_found
SELECT seq, id, state, decided_at, delivered_at, remaining_ms, timeout_ms FROM (
  SELECT r.seq, r.id, r.state, r.decided_at, r.delivered_at, r.remaining_ms, r.timeout_ms,
         s.label IS NOT :label AS is_other, count(*) OVER () AS candidates
    FROM request AS r JOIN session AS s ON s.seq = r.session_seq
   WHERE r.digest = :digest AND r.session_seq <> :session AND r.kind NOT IN ('trust', 'restore')
     AND (r.state IN ('pending', 'interrupted')
          OR (r.state IN ('approved', 'rejected', 'answered') AND r.delivered_at IS NULL)
          OR (r.state = 'approved' AND r.kind IN (SELECT kind FROM request_kind WHERE is_kept = 1)))
     AND s.machine = :machine AND s.workspace_root = :workspace
     AND s.status NOT IN ('parked', 'terminated')
     AND s.agent_uid IS (SELECT agent_uid FROM session WHERE seq = :session)
     AND NOT EXISTS (SELECT 1 FROM workspace_owner_change AS w
                      WHERE w.machine = s.machine AND w.workspace_root = s.workspace_root
                        AND w.at >= r.created_at)
     AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                      WHERE t.request_seq = r.seq AND t.state IN ('waiting', 'answered')
                        AND t.listener IS NOT NULL)
     AND (s.status = 'interrupted'
          OR EXISTS (SELECT 1 FROM tool_call AS t
                      WHERE t.request_seq = r.seq AND t.state IN ('waiting', 'answered')
                        AND t.task_id IS NULL)
          OR (r.state IN ('pending', 'interrupted')
              AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                               WHERE t.request_seq = r.seq
                                 AND (coalesce(t.finished_at, t.answered_at, t.created_at)
                                        > :live_after
                                      OR (t.state = 'waiting' AND t.task_id IS NOT NULL
                                          AND s.last_activity_at > :live_after))))
          OR NOT EXISTS (SELECT 1 FROM connection AS c
                          WHERE c.session_seq = s.seq AND c.state = 'open'
                            AND (c.transport = 'stdio' OR s.last_activity_at > :live_after))
          OR (r.state NOT IN ('pending', 'interrupted') AND s.label = :label)
          OR ((r.state IN ('pending', 'interrupted')
               OR (r.delivered_at IS NULL
                   AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                                    WHERE t.request_seq = r.seq AND t.told_answer = 1)))
              AND s.label IS :label
              AND NOT EXISTS (SELECT 1 FROM connection AS c
                               WHERE c.session_seq = s.seq AND c.state = 'open'
                                 AND NOT EXISTS (SELECT 1 FROM connection AS o
                                                  WHERE o.seq = :connection AND o.process = c.process
                                                    AND o.created_at > s.last_activity_at))))
     AND NOT EXISTS (SELECT 1 FROM connection AS c
                      WHERE c.session_seq = s.seq AND c.state = 'open'
                        AND c.transport IN ('stdio', 'hook')))
 WHERE NOT is_other OR candidates = 1
 ORDER BY is_other, seq DESC LIMIT 1;

-- name: request_insert :insert
INSERT INTO request (id, session_seq, kind, state, digest, title, description, description_seq,
  notes_length, body, body_seq, effect, effect_seq, replaces_file, file_path, risk_level, original_hash,
  prompt_type, editable, elapsed_seconds, actions_taken, timeout_ms, deadline_at, previous_seq,
  created_at, updated_at)
VALUES (:id, :session, :kind, 'pending', :digest, :title, :description, :description_seq,
  :notes_length, :body, :body_seq, :effect, :effect_seq, :replaces_file, :file_path, :risk_level, :original_hash,
  :prompt_type, :editable, :elapsed_seconds, :actions_taken, :timeout_ms, :deadline_at, :previous,
  :now, :now);

-- name: request_revive :exec
-- The agent is back: the deadline resumes from where it stopped.
UPDATE request
   SET state = 'pending', deadline_at = :deadline_at, remaining_ms = NULL, updated_at = :now
 WHERE seq = :seq AND state = 'interrupted';

-- name: request_adopt :exec
UPDATE request SET session_seq = :session, updated_at = :now
 WHERE seq = :seq AND session_seq <> :session;

-- name: request_undelivered :any
-- Whether a session has one that was answered, or ended, and does not count as delivered.
SELECT 1 FROM request
 WHERE session_seq = :session AND delivered_at IS NULL AND state NOT IN ('pending', 'interrupted')
 LIMIT 1;

-- name: request_told_before :number
-- The next one whose answer the caller was told and that it does not ask about now.
SELECT r.seq FROM request AS r
 WHERE r.session_seq = :session AND r.delivered_at IS NULL
   AND r.state NOT IN ('pending', 'interrupted') AND r.digest <> :digest
   AND EXISTS (SELECT 1 FROM tool_call AS t WHERE t.request_seq = r.seq AND t.told_answer = 1)
 LIMIT 1;

-- name: request_delivered :exec
UPDATE request SET delivered_at = :now WHERE seq = :seq;

-- name: request_handed_over :number
-- An answer that is for one moment only (all except a clearance's) has been given to its caller:
-- the same call again is a new request. Its request; to be noted as delivered.
SELECT r.seq FROM tool_call AS t JOIN request AS r ON r.seq = t.request_seq
  JOIN request_kind AS k ON k.kind = r.kind AND k.is_kept = 0
 WHERE t.seq = :call AND t.told_answer = 1 AND r.delivered_at IS NULL
   AND r.state NOT IN ('pending', 'interrupted');

-- name: request_taken_back :exec
-- The answer did not arrive: its caller had closed the call, or cancelled it in the meantime. (That
-- a question was withdrawn is for nobody who asks it again.)
UPDATE request SET delivered_at = NULL
 WHERE seq = (SELECT request_seq FROM tool_call WHERE seq = :call AND told_answer = 1)
   AND (SELECT why FROM request_withdrawn WHERE request_seq = request.seq) IS NULL
   AND kind IN (SELECT kind FROM request_kind WHERE is_kept = 0)
   AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                    WHERE t.request_seq = request.seq AND t.seq > :call AND t.told_answer = 1);

-- name: request_read :one
-- row: request
-- type: choice text
-- type: edited text
-- type: chosen text
-- type: gate_class text
-- type: withdrawn text
-- type: by_editor bool
-- type: decision request_verdict
SELECT r.seq, r.id, r.session_seq, r.kind, r.state, r.digest, r.title, r.description,
       r.description_seq, r.notes_length, r.body, r.body_seq, r.effect, r.effect_seq, r.replaces_file, r.file_path,
       r.risk_level, r.original_hash, r.prompt_type, r.editable, r.elapsed_seconds, r.actions_taken,
       r.deadline_at, r.decision, r.reason, r.instruction, r.decided_by, r.decided_at,
       r.consumed_at, r.created_at, p.decided_at AS previous_at,
       s.id AS session_id, s.machine, s.workspace_root, s.status AS session_status, s.mode AS session_mode,
       s.client_name, s.label, s.agent_user, s.agent_uid, q.options, q.form,
       (SELECT why FROM request_withdrawn WHERE request_seq = r.seq) AS withdrawn,
       d.choice, d.edited, d.edited_seq, coalesce(d.source = 'editor', 0) AS by_editor,
       (SELECT name FROM request_chosen WHERE request_seq = r.seq) AS chosen,
       (SELECT class FROM gate_call WHERE request_seq = r.seq ORDER BY seq LIMIT 1) AS gate_class,
       NOT EXISTS (SELECT 1 FROM workspace AS w
                    WHERE w.machine = s.machine AND w.root = s.workspace_root) AS is_new_workspace
  FROM request AS r
  JOIN session AS s ON s.seq = r.session_seq
  LEFT JOIN request AS p ON p.seq = r.previous_seq
  LEFT JOIN decision AS d ON d.seq = r.decision_seq
  JOIN request_offer AS q ON q.request_seq = r.seq
 WHERE r.seq = :seq;

-- name: request_outcome :one
-- What became of what was decided: why it was not done, or was in spite of it, or what doing it left
-- behind. has_ended: its session.
-- type: :has_ended bool
-- type: withheld text
-- type: overruled text
-- type: undone_at text
-- type: checkpoint text
SELECT coalesce((SELECT g.reason FROM gate_call AS g
                  WHERE g.request_seq = :seq AND g.withheld_at IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM gate_call AS u
                                     WHERE u.request_seq = :seq AND u.decision = 'allow')
                  ORDER BY g.seq DESC LIMIT 1),
                (SELECT w.why || coalesce('; it is asked again: ' || n.id, '')
                   FROM workspace_restore AS w
                   LEFT JOIN workspace_restore AS v ON v.previous_seq = w.seq
                   LEFT JOIN request AS n ON n.seq = v.request_seq
                  WHERE w.request_seq = :seq),
                CASE WHEN EXISTS (SELECT 1 FROM agent_question WHERE request_seq = :seq)
                     THEN (SELECT 'its agent was not told: ' || why
                             FROM answer_unheard WHERE request_seq = :seq) END,
                CASE WHEN :has_ended THEN (SELECT why FROM approval_left WHERE request_seq = :seq) END)
         AS withheld,
       (SELECT reason FROM gate_call
         WHERE request_seq = :seq AND decision = 'noted' AND moment = 'permission'
         ORDER BY seq DESC LIMIT 1) AS overruled,
       EXISTS (SELECT 1 FROM apply
                WHERE request_seq = :seq AND state = 'applied' AND forced = 1) AS was_forced,
       (SELECT updated_at FROM apply WHERE request_seq = :seq AND state = 'undone') AS undone_at,
       (SELECT CASE k.state WHEN 'done' THEN k.id WHEN 'lost' THEN 'lost: ' || k.why
                            ELSE 'none: ' || k.why END
          FROM apply AS a JOIN checkpoint AS k ON k.apply_seq = a.seq
         WHERE a.request_seq = :seq AND a.kind = 'write' AND a.state = 'applied') AS checkpoint;

-- name: request_file_insert :exec
INSERT INTO request_file (request_seq, path, target, action, other_path, mode, original_hash,
  result_hash)
VALUES (:request, :path, :target, :action, :other_path, :mode, :original_hash, :result_hash);

-- name: request_file_list :many
-- row: request_file
SELECT path, target, action, other_path, mode, original_hash, result_hash
  FROM request_file WHERE request_seq = :request ORDER BY seq;

-- name: request_answer :one
-- What the caller is told; not what was asked, which may be large.
-- row: request
-- type: decision request_verdict
-- type: choice text
SELECT id, kind, state, prompt_type, decision, reason, instruction,
       (SELECT choice FROM decision WHERE seq = decision_seq) AS choice
  FROM request WHERE seq = :seq;

-- name: request_open_of_user :number
-- scan ok: what is open
SELECT count(*) FROM request AS r INDEXED BY request_open JOIN session AS s ON s.seq = r.session_seq
 WHERE r.state IN ('pending', 'interrupted') AND s.agent_uid = :uid;

-- name: request_by_id :one
SELECT seq, session_seq, kind, state FROM request WHERE id = :id;

-- name: request_by_prefix :many
-- Up to six, to tell whether a shortened id is unambiguous, and which it could mean: one more than are
-- named. :end is :start with its last byte incremented.
-- row: prefixed
SELECT seq, id FROM request WHERE id >= :start AND id < :end ORDER BY id LIMIT 6;

-- name: request_open_of_session :many
SELECT r.id, r.kind, r.title, r.created_at,
       EXISTS (SELECT 1 FROM request_with_file AS f WHERE f.seq = r.seq) AS has_file,
       q.options IS NOT NULL AS has_options,
       (SELECT count(*) FROM json_each(q.options) AS o
         WHERE o.value ->> 'kind' = 'allow_once') AS yeses,
       q.form IS NOT NULL AS is_form, json_array_length(q.form) > 1 AS is_wide,
       json_array_length(q.form) = 1 AND json_array_length(q.form, '$[0].choices') > 0 AS is_list
  FROM request AS r
  JOIN request_offer AS q ON q.request_seq = r.seq
 WHERE r.session_seq = :session AND r.state IN ('pending', 'interrupted') ORDER BY r.seq;

-- name: request_left_of_session :many
-- What the agent of a session should continue with: what is open, what was answered but not told,
-- and what was approved but not written yet.
-- type: left_as text
SELECT r.id, r.kind, r.title, r.created_at,
       CASE WHEN r.state IN ('pending', 'interrupted') THEN 'open'
            WHEN r.state = 'approved' AND r.kind = 'clearance' THEN 'approved'
            ELSE 'answered' END AS left_as
  FROM request AS r
 WHERE r.session_seq = :session AND r.kind NOT IN ('trust', 'restore')
   AND (r.state IN ('pending', 'interrupted')
        OR (r.state = 'approved' AND r.kind = 'clearance')
        OR (r.state IN ('approved', 'rejected', 'answered') AND r.delivered_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                             WHERE t.request_seq = r.seq AND t.told_answer = 1)))
 ORDER BY r.state NOT IN ('pending', 'interrupted'), r.state = 'approved', r.seq;

-- name: request_interrupted_of_session :one
SELECT seq, remaining_ms FROM request
 WHERE session_seq = :session AND state = 'interrupted' AND seq > :after ORDER BY seq LIMIT 1;

-- name: request_due :many
-- type: :skip integer
-- Requests past their deadline, after :skip refused ones.
SELECT id FROM request
 WHERE state = 'pending' AND deadline_at IS NOT NULL AND deadline_at <= :at
 ORDER BY deadline_at, seq LIMIT 100 OFFSET :skip;

-- name: request_next_deadline :one
-- row: instant
SELECT min(deadline_at) AS at FROM request WHERE state = 'pending' AND deadline_at IS NOT NULL;

-- name: request_running :many
-- Everything whose deadline runs.
-- row: running
SELECT r.seq, r.deadline_at AS at, r.updated_at AS since
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.state = 'pending' AND r.deadline_at IS NOT NULL AND s.machine = :machine AND r.seq > :after
 ORDER BY r.seq LIMIT 500;

-- name: request_set_deadline :exec
-- A time_gap moves it. Nobody touched the request, so updated_at stays.
UPDATE request SET deadline_at = :at
 WHERE seq = :seq AND state = 'pending';

-- name: request_pending :many
-- Everything that a stop on :machine interrupts, or a restore (NULL) everywhere. A parked session
-- needs nobody who listens.
SELECT r.seq, r.kind, r.deadline_at FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.state = 'pending' AND (:machine IS NULL OR s.machine = :machine) AND r.seq > :after
   AND r.seq NOT IN (SELECT request_seq FROM parked_session)
 ORDER BY r.seq LIMIT 500;

-- name: request_of_run :many
-- What the agent of a run waits for.
SELECT r.seq, r.deadline_at FROM agent_question AS q JOIN request AS r ON r.seq = q.request_seq
 WHERE q.run_seq = :run AND q.answered_at IS NULL AND q.withdrawn_at IS NULL AND r.state = 'pending'
 ORDER BY r.seq;

-- name: request_interrupt :exec
UPDATE request
   SET state = 'interrupted', deadline_at = NULL, remaining_ms = :remaining_ms, updated_at = :now
 WHERE seq = :seq AND state = 'pending';

-- name: inbox_list :many
-- type: form bool
SELECT r.seq, r.id, r.kind, r.title, r.file_path, r.risk_level, s.id AS session_id,
       s.workspace_root, s.client_name, s.label, s.agent_user, r.state, r.created_at, r.deadline_at,
       EXISTS (SELECT 1 FROM request_listener AS l WHERE l.request_seq = r.seq) AS listening,
       -- The newest call returned at once: its client was asked to show a form, and calls again.
       coalesce((SELECT t.is_error = 0 AND t.finished_at = t.created_at FROM tool_call AS t
                  WHERE t.request_seq = r.seq ORDER BY t.seq DESC LIMIT 1), 0) AS form
  FROM request AS r INDEXED BY request_open JOIN session AS s ON s.seq = r.session_seq
 WHERE r.state IN ('pending', 'interrupted') AND r.seq > :after
 ORDER BY r.seq;

-- name: request_calls :one
-- How many get the answer at once, and the trace that the newest call belongs to.
SELECT (SELECT count(*) FROM request_listener WHERE request_seq = :seq) AS listeners,
       (SELECT traceparent FROM tool_call WHERE request_seq = :seq ORDER BY seq DESC LIMIT 1)
         AS traceparent;

-- name: inbox_of_workspace :many
-- What waits for the operator, as far as agents of one workspace may see it; :uid: of that user,
-- NULL: ours.
-- type: :uid integer?
SELECT i.id, i.kind, i.title, i.file_path, i.state, i.created_at
  FROM inbox AS i JOIN session AS s ON s.id = i.session_id
 WHERE i.workspace_root = :workspace AND s.agent_uid IS :uid;

-- name: request_expire :exec
-- Nobody needs the answer any longer, unless another call waits for it. (Those of a front that has
-- died wait for nobody.)
UPDATE request SET deadline_at = :now
 WHERE seq = :seq AND state = 'pending'
   AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                    WHERE t.request_seq = :seq AND t.state = 'waiting' AND t.seq <> :call
                      AND t.listener IS NOT NULL);

-- name: request_withdrawn :exec
-- Nobody is to be told that it has expired: the same call again is a new request.
UPDATE request SET delivered_at = :now WHERE seq = :seq AND state = 'expired';

-- name: request_settle_withdrawn :exec
INSERT INTO decision (request_id, verdict, operator_id, source, reason, created_at)
SELECT id, 'timeout', 'system:clock', 'timeout', :reason, :now
  FROM request WHERE seq = :seq AND state = 'pending' AND deadline_at <= :now;

-- name: request_outdated :one
-- A question about a file as it was, if it is open, or its agent was not told the answer. (A yes to a
-- clearance is request_end_unused's.)
SELECT state FROM request
 WHERE seq = :seq AND kind IN ('clearance', 'permission')
   AND (state IN ('pending', 'interrupted')
        OR (delivered_at IS NULL
            AND (state = 'rejected' OR (state = 'approved' AND kind = 'permission'))));

-- name: request_of_digest :number
SELECT seq FROM request WHERE session_seq = :session AND digest = :digest ORDER BY seq DESC LIMIT 1;

-- name: request_unsettled :number
-- What a call with this digest has asked, if it waits for an answer, or was not told it.
SELECT seq FROM request
 WHERE session_seq = :session AND digest = :digest AND kind = 'permission'
   AND (state IN ('pending', 'interrupted') OR delivered_at IS NULL)
 ORDER BY seq DESC LIMIT 1;

-- name: request_again_any :any
SELECT 1 AS yes FROM request_again WHERE again_seq = :seq LIMIT 1;

-- name: request_end_unused :exec
-- :seq is asked, or asked again: whoever has a yes to a file of it as it was before asks again, too.
UPDATE request SET state = 'expired', delivered_at = :now, updated_at = :now
 WHERE seq IN (SELECT request_seq FROM request_again WHERE again_seq = :seq);

-- name: request_outdate :exec
-- It needs no answer any longer, unless somebody is there who waits for it.
UPDATE request SET deadline_at = :now
 WHERE seq = :seq AND state = 'pending'
   AND NOT EXISTS (SELECT 1 FROM tool_call AS t
                    WHERE t.request_seq = :seq AND t.state = 'waiting'
                      AND (t.listener IS NOT NULL OR t.task_id IS NOT NULL));
