-- Every statement on `gate_call` and `gate_file`.

-- name: gate_call_insert :insert
-- Where the host does not say its version, the MCP client of its process may.
-- type: :version text
-- type: :program text
INSERT INTO gate_call (seq, call_seq, session_seq, host, version, helper, host_session, event, moment, tool, class,
  tool_use_id, cwd, digest, pre_seq, request_seq, transcript, detail, options, parks, decision, reason, created_at,
  decided_at, took_ms)
VALUES ((SELECT seq FROM gate_call_next), :call, :session, :host,
  coalesce(:version, (SELECT c.client_version FROM connection AS c
                       WHERE c.host_process = :program AND c.state = 'open' AND c.transport <> 'hook'
                         AND EXISTS (SELECT 1 FROM gate_client AS g
                                      WHERE g.host = :host AND g.is_versioned = 1
                                        AND c.client_name GLOB g.client)
                       ORDER BY c.seq DESC LIMIT 1)),
  :helper, :host_session, :event, :moment, :tool, :class,
  :tool_use_id, :cwd, :digest, :pre, :request, :transcript, :detail, :options, :parks, :decision, :reason, :now,
  :decided_at, :took_ms);

-- name: gate_call_decide :rows
-- The hook of a call is about to be told.
-- type: :reason text
UPDATE gate_call
   SET decision = :decision, reason = :reason, decided_at = :now, took_ms = :took_ms
 WHERE call_seq = :call AND decision = 'open';

-- name: gate_call_withhold :exec
-- It was denied although it was approved.
UPDATE gate_call SET withheld_at = :now WHERE call_seq = :call AND withheld_at IS NULL;

-- name: gate_call_awaits :any
-- Whether a hook that waits has not been told the answer yet.
SELECT 1 FROM gate_call WHERE request_seq = :request AND decision = 'open';

-- name: gate_call_of_call :one
-- type: is_subagents bool
SELECT g.seq, g.session_seq, g.host, g.event, g.moment, g.class, g.tool_use_id, g.request_seq, g.parks,
       coalesce(g.detail ->> 'subagent' IS NOT NULL, 0) AS is_subagents, r.id AS request_id,
       g.created_at
  FROM gate_call AS g LEFT JOIN request AS r ON r.seq = g.request_seq
 WHERE g.call_seq = :call;

-- name: gate_call_arguments :one
-- What its hook said.
SELECT arguments, arguments_seq FROM tool_call WHERE seq = :call;

-- name: gate_call_explains :any
-- Whether a tool that ran had been allowed, or its end was told. Newest first: an index would cost
-- each hook a page.
SELECT 1 FROM gate_call
 WHERE session_seq = :session AND tool_use_id = :use
   AND (moment = 'post_tool' OR (moment = 'pre_tool' AND decision = 'allow'))
 ORDER BY seq DESC LIMIT 1;

-- name: gate_call_used :any
-- Whether an approval has been used.
SELECT 1 FROM gate_call WHERE request_seq = :request AND decision = 'allow';

-- name: gate_call_allowed :one
-- What a tool that has ended was allowed to do: by the host's own id of this use, else the oldest
-- with the same arguments that has not ended.
-- type: :digest text
-- type: :tool_use_id text
SELECT seq, digest, cwd FROM gate_call
 WHERE session_seq = :session AND moment = 'pre_tool' AND decision = 'allow' AND seen IS NULL
   AND CASE WHEN :tool_use_id IS NULL OR tool_use_id IS NULL THEN digest = :digest
            ELSE tool_use_id = :tool_use_id END
 ORDER BY seq LIMIT 1;

-- name: gate_call_granted :one
-- The use of a tool that what a host asks for permission for belongs to: it was allowed as it is,
-- with its files and its folder as they are now.
-- type: :tool_use_id text
SELECT g.seq FROM gate_call AS g JOIN tool_call AS t ON t.seq = g.call_seq
 WHERE g.session_seq = :session AND g.digest = :digest AND g.moment = 'pre_tool'
   AND g.decision = 'allow' AND g.seen IS NULL AND t.digest = :bound
   AND (:tool_use_id IS NULL OR g.tool_use_id IS NULL OR g.tool_use_id = :tool_use_id)
   AND NOT EXISTS (SELECT 1 FROM gate_rewrite AS w WHERE w.gate_seq = g.seq)
   AND NOT EXISTS (SELECT 1 FROM gate_spent AS s WHERE s.seq = g.seq)
 ORDER BY g.seq LIMIT 1;

-- name: gate_call_see :exec
-- type: :why text
UPDATE gate_call SET seen = :seen, seen_at = :now, seen_why = :why
 WHERE seq = :seq AND seen IS NULL;

-- name: gate_file_insert :exec
INSERT INTO gate_file (gate_seq, path, target, original_hash, result_hash)
VALUES (:gate, :path, :target, :original_hash, :result_hash);

-- name: gate_file_list :many
SELECT seq, path, target, original_hash, result_hash FROM gate_file
 WHERE gate_seq = :gate ORDER BY seq;

-- name: gate_file_see :exec
UPDATE gate_file SET seen_hash = :seen_hash WHERE seq = :seq AND seen_hash IS NULL;
