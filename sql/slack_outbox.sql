-- Every statement on messages in Slack, in the order of an intent's life.

-- name: slack_is_heard :any
-- Whether a session's messages are sent to Slack: the condition of slack_notice_is_said.
SELECT 1 AS heard FROM session AS s
 WHERE s.seq = :session AND s.mode <> 'local'
   AND (SELECT value FROM setting WHERE name = 'slack.configured') = 'true'
   AND coalesce(nullif(s.channel_id, ''), (SELECT nullif(value, '') FROM setting
                                            WHERE name = 'slack.channel_id')) IS NOT NULL;

-- name: slack_lane_next :number
-- The next intent for a slot: of the lanes whose gate is open, the most urgent one, then the one
-- that has waited longest for its turn. A modal does not wait for a gate that opens later.
SELECT l.head
  FROM slack_gate AS g
  JOIN slack_lane AS l ON l.seq = (
         SELECT x.seq FROM slack_lane AS x
          WHERE x.gate = g.name AND x.state = 'ready' AND x.due_at <= :now
          ORDER BY x.priority, x.due_at, x.turn_at, x.head LIMIT 1)
 WHERE g.slot = :slot AND g.not_before <= :now
   AND (g.slot = 'view' OR NOT EXISTS (SELECT 1 FROM slack_gate
                                        WHERE name = 'slack' AND not_before > :now))
 ORDER BY l.priority, l.turn_at, l.head LIMIT 1;

-- name: slack_lane_due :one
-- When to look again, '' for at once; NULL: at a bell.
-- row: instant
SELECT min(max(g.not_before, d.due_at,
               CASE g.slot WHEN 'view' THEN ''
                           ELSE (SELECT not_before FROM slack_gate WHERE name = 'slack') END)) AS at
  FROM slack_gate AS g
  JOIN (SELECT name, (SELECT min(due_at) FROM slack_lane WHERE gate = name AND state = 'ready') AS due_at
          FROM slack_gate) AS d ON d.name = g.name AND d.due_at IS NOT NULL;

-- name: slack_lane_rest :exec
-- Its head cannot be claimed: until then, other lanes take precedence.
UPDATE slack_lane SET due_at = :due_at
 WHERE seq = (SELECT lane_seq FROM slack_outbox WHERE seq = :seq);

-- name: slack_outbox_claim :rows
UPDATE slack_outbox
   SET state = 'sending', claim = claim + 1, attempts = attempts + 1, worker_id = :worker,
       started_at = :now,
       generation = (SELECT generation FROM slack_message WHERE seq = message_seq)
 WHERE seq = :seq AND state = 'queued';

-- name: slack_intent_read :one
-- An intent with its message. gate: complete, with the channel of a post; session_seq, request_seq:
-- the modal's, if there is no message.
-- row: slack_intent
-- type: gate text
-- type: thread text
-- type: session_seq seq
-- type: request_seq seq
SELECT o.seq, o.kind, k.class,
       k.gate || CASE k.class WHEN 'lookup' THEN ' ' || m.channel_id ELSE '' END AS gate,
       o.message_seq, o.view, o.channel_id AS to_channel, o.thread_ts AS to_thread, o.user_id,
       o.text AS words, o.replaces, o.trigger_id, o.response_url, o.expires_at, o.state, o.form,
       o.generation, o.claim, o.attempts, o.deaths, o.lookups, o.started_at, o.may_repeat, o.lane_seq,
       CASE WHEN m.seq IS NULL THEN o.request_seq ELSE m.request_seq END AS request_seq,
       CASE WHEN m.seq IS NULL THEN o.session_seq ELSE m.session_seq END AS session_seq,
       m.marker, m.kind AS part, m.apply_seq, m.call_seq, m.turn_seq, m.alias_run_seq,
       m.channel_id,
       m.root_seq,
       coalesce(h.ts, m.thread_ts) AS thread, m.text, m.detail, m.content_seq, m.file_name, m.file_id,
       m.ts, m.sent_generation, m.state AS message_state, h.kind AS head_kind
  FROM slack_outbox AS o
  JOIN slack_kind AS k ON k.kind = o.kind
  LEFT JOIN slack_message AS m ON m.seq = o.message_seq
  LEFT JOIN slack_message AS h ON h.seq = m.root_seq
 WHERE o.seq = :seq;

-- name: slack_outbox_followers :many
-- What follows it in its lane. size: bytes of its text; very large if they cannot be combined.
-- type: size integer
SELECT o.seq, m.kind AS part, m.thread_ts, o.leader_seq, coalesce(length(c.arguments), 1 << 30) AS size
  FROM slack_outbox AS o LEFT JOIN slack_message AS m ON m.seq = o.message_seq
  LEFT JOIN tool_call AS c ON c.seq = m.call_seq
 WHERE o.lane_seq = :lane AND o.seq > :seq AND o.state IN ('queued', 'sending', 'doubtful')
 ORDER BY o.seq LIMIT :limit;

-- name: slack_outbox_lead :exec
UPDATE slack_outbox SET leader_seq = :leader WHERE seq = :seq AND state = 'queued';

-- name: slack_outbox_led :many
SELECT o.seq, o.message_seq, m.call_seq
  FROM slack_outbox AS o JOIN slack_message AS m ON m.seq = o.message_seq
 WHERE o.leader_seq = :leader AND o.state = 'queued' ORDER BY o.seq;

-- name: slack_outbox_led_sent :exec
UPDATE slack_outbox SET state = 'sent', why = NULL, settled_at = :now
 WHERE leader_seq = :leader AND state = 'queued';

-- name: slack_outbox_led_alone :exec
UPDATE slack_outbox SET leader_seq = NULL WHERE leader_seq = :leader AND state = 'queued';

-- name: slack_outbox_sent :rows
-- 0 rows: it is no longer ours. Likewise for all that settle.
UPDATE slack_outbox SET state = 'sent', why = NULL, settled_at = :now
 WHERE seq = :seq AND claim = :claim AND state IN ('sending', 'doubtful');

-- name: slack_outbox_put_back :exec
-- Certainly not sent. form: the form to try next.
UPDATE slack_outbox
   SET state = 'queued', form = :form, due_at = :due_at, why = :why, may_repeat = :may_repeat,
       lookups = 0
 WHERE seq = :seq AND claim = :claim AND state IN ('sending', 'doubtful');

-- name: slack_outbox_doubt :exec
UPDATE slack_outbox SET state = 'doubtful', due_at = :due_at, why = :why, lookups = :lookups
 WHERE seq = :seq AND claim = :claim AND state IN ('sending', 'doubtful');

-- name: slack_outbox_die :rows
UPDATE slack_outbox SET state = 'dead', why = :why, settled_at = :now
 WHERE seq = :seq AND claim = :claim AND state IN ('queued', 'sending', 'doubtful');

-- name: slack_outbox_doubtful :number
-- What to look for in Slack, where it may be read now; the place is only known once the head of its
-- thread is.
SELECT seq FROM slack_outbox
 WHERE state = 'doubtful' AND due_at <= :now
   AND NOT EXISTS (SELECT 1 FROM slack_gate WHERE slot = 'read' AND not_before > :now)
   AND NOT EXISTS (SELECT 1 FROM slack_message AS m JOIN slack_message AS h ON h.seq = m.root_seq
                    WHERE m.seq = slack_outbox.message_seq AND h.state = 'queued')
 ORDER BY due_at, seq LIMIT 1;

-- name: slack_outbox_doubtful_beside :number
-- type: :from text
-- type: :after integer
-- The next one that the same look was for, as it was not begun before :from.
SELECT seq FROM slack_outbox
 WHERE lane_seq = :lane AND seq > :after AND state = 'doubtful' AND due_at <= :now
   AND started_at >= :from
 ORDER BY seq LIMIT 1;

-- name: slack_outbox_doubt_due :one
-- row: instant
SELECT max(min(due_at), (SELECT max(not_before) FROM slack_gate WHERE slot = 'read')) AS at
  FROM slack_outbox
 WHERE state = 'doubtful'
   AND NOT EXISTS (SELECT 1 FROM slack_message AS m JOIN slack_message AS h ON h.seq = m.root_seq
                    WHERE m.seq = slack_outbox.message_seq AND h.state = 'queued');

-- name: slack_outbox_left :number
-- What a predecessor was sending when it died.
SELECT seq FROM slack_outbox WHERE state = 'sending' AND worker_id IS NOT :worker
 ORDER BY seq LIMIT 1;

-- name: slack_outbox_died :exec
UPDATE slack_outbox SET deaths = deaths + 1 WHERE seq = :seq;

-- name: slack_outbox_view_sent :exec
-- In addition to what was requested: a message to the person.
INSERT INTO slack_outbox (kind, channel_id, thread_ts, user_id, text, created_at)
VALUES ('ephemeral', :channel, :thread, :user, :text, :now);

-- name: slack_message_sent :exec
UPDATE slack_message
   SET state = 'sent', ts = coalesce(ts, :ts), sent_generation = max(sent_generation, :generation),
       updated_at = :now
 WHERE seq = :seq AND state = 'queued';

-- name: slack_message_edited :exec
UPDATE slack_message SET sent_generation = :generation, updated_at = :now
 WHERE seq = :seq AND sent_generation < :generation;

-- name: slack_message_dead :exec
UPDATE slack_message SET state = 'dead', updated_at = :now WHERE seq = :seq AND state = 'queued';

-- name: slack_message_gone :exec
UPDATE slack_message SET state = 'gone', updated_at = :now WHERE seq = :seq AND state = 'sent';

-- name: slack_message_uploaded :exec
-- Before it is shared: NULL afterwards means that nothing was shared.
UPDATE slack_message SET file_id = :file_id WHERE seq = :seq;

-- name: slack_outbox_orphan :exec
-- Edits of what was never posted.
UPDATE slack_outbox SET state = 'dead', why = 'what it would change was never posted', settled_at = :now
 WHERE message_seq = :message AND state = 'queued' AND kind IN ('update', 'delete');

-- name: slack_refused_calls :exec
-- Tells callers who wait for a person that Slack does not show them the request.
-- type: :message seq
UPDATE tool_call SET state = 'answered', answered_at = :now
 WHERE state = 'waiting'
   AND request_seq IN (SELECT request_seq FROM refused_ask WHERE message_seq = :message);

-- name: slack_refusal :one
-- Why Slack displays an open request in no form.
-- type: :request seq
SELECT coalesce((SELECT o.why FROM slack_outbox AS o
                  WHERE o.message_seq = q.message_seq AND o.state = 'dead' ORDER BY o.seq LIMIT 1),
                'no reason is known any more') AS why
  FROM refused_ask AS q WHERE q.request_seq = :request;

-- name: slack_ask_is_refused :any
-- type: :request integer
SELECT 1 AS yes FROM refused_ask WHERE request_seq = :request;

-- name: slack_ask_again :exec
-- The agent repeats a request that Slack has refused: it is posted again, too.
-- type: :request seq
INSERT INTO slack_notice (kind, session_seq, request_seq, at)
SELECT 'ask', r.session_seq, r.seq, :now
  FROM refused_ask AS q JOIN request AS r ON r.seq = q.request_seq
 WHERE q.request_seq = :request;

-- name: slack_request_ts :exec
UPDATE request SET slack_ts = :ts WHERE seq = :request AND slack_ts IS NOT :ts;

-- name: slack_session_thread :exec
UPDATE session SET thread_ts = :ts WHERE seq = :session AND thread_ts IS NULL;

-- name: slack_ask_changed :exec
-- Its file was posted, or could not be: the message that is there already says so.
UPDATE slack_message SET generation = generation + 1, updated_at = :now
 WHERE request_seq = :request AND kind = 'ask' AND state = 'sent';

-- name: slack_diff_gone :exec
-- Of a question that Slack lost, or that goes below another head: its file is lost, or elsewhere.
UPDATE slack_message SET state = 'gone', updated_at = :now
 WHERE kind = 'diff' AND state = 'sent' AND request_seq IN (
   SELECT request_seq FROM slack_message WHERE seq = :place AND kind = 'ask'
    UNION ALL
   SELECT request_seq FROM slack_message WHERE root_seq = :place AND state = 'queued' AND kind = 'ask');

-- name: slack_ask_anew :exec
-- The same questions, if nobody has answered them: what is missing of each is posted.
-- type: :place seq
INSERT INTO slack_notice (kind, session_seq, request_seq, at)
SELECT 'ask', r.session_seq, r.seq, :now FROM request AS r
 WHERE r.state IN ('pending', 'interrupted') AND r.seq IN (
   SELECT request_seq FROM slack_message WHERE seq = :place AND kind = 'ask'
    UNION ALL
   SELECT request_seq FROM slack_message WHERE root_seq = :place AND state = 'queued' AND kind = 'ask');

-- name: slack_diff_state :one
-- The file with the whole of a request, as last sent.
SELECT state FROM slack_message WHERE request_seq = :request AND kind = 'diff'
 ORDER BY seq DESC LIMIT 1;

-- name: slack_asked_at :one
-- When a request was first shown, and its file, as last sent. form: in which it is shown now.
-- type: form slack_outbox_form
SELECT m.seq, m.ts, f.seq AS file_seq, f.updated_at AS file_at,
       (SELECT o.form FROM slack_message AS a CROSS JOIN slack_outbox AS o ON o.message_seq = a.seq
         WHERE a.request_seq = :request AND a.kind = 'ask' AND o.state = 'sent'
         ORDER BY o.seq DESC LIMIT 1) AS form
  FROM slack_message AS m
  LEFT JOIN slack_message AS f ON f.seq = (SELECT max(d.seq) FROM slack_message AS d
                                            WHERE d.request_seq = :request AND d.kind = 'diff')
 WHERE m.request_seq = :request AND m.kind = 'ask' AND m.ts IS NOT NULL
 ORDER BY m.seq LIMIT 1;

-- name: slack_head_tries :number
-- How often starting a session's thread has failed.
SELECT count(*) AS tries FROM slack_message
 WHERE session_seq = :session AND kind = 'session' AND state = 'dead';

-- name: slack_head_anew :insert
-- A new head for a thread whose old one is dead or gone.
INSERT INTO slack_message (kind, session_seq, channel_id, created_at, updated_at)
SELECT 'session', session_seq, channel_id, :now, :now FROM slack_message
 WHERE seq = :head AND kind = 'session';

-- name: slack_head_for :number
-- The head of the session's thread, for a message whose own thread is gone. What an operator asked for
-- in another thread is not for this one.
SELECT h.seq FROM slack_message AS m JOIN session AS s ON s.seq = m.session_seq
  JOIN slack_message AS h ON h.seq = (SELECT max(x.seq) FROM slack_message AS x
                                       WHERE x.session_seq = s.seq AND x.kind = 'session'
                                         AND x.state IN ('queued', 'sent'))
 WHERE m.seq = :message AND m.channel_id = h.channel_id
   AND (m.kind = 'said' OR m.thread_ts = s.thread_ts);

-- name: slack_head_begin :exec
-- For such a message, if the session has no head: that of a session that goes on in the thread of
-- another one is begun only now.
INSERT INTO slack_message (kind, session_seq, channel_id, created_at, updated_at)
SELECT 'session', s.seq, m.channel_id, :now, :now
  FROM slack_message AS m JOIN session AS s ON s.seq = m.session_seq
 WHERE m.seq = :message AND (m.kind = 'said' OR m.thread_ts = s.thread_ts)
   AND NOT EXISTS (SELECT 1 FROM slack_message AS x
                    WHERE x.session_seq = s.seq AND x.kind = 'session'
                      AND x.state IN ('queued', 'sent'));

-- name: slack_message_below :exec
UPDATE slack_message SET root_seq = :head WHERE seq = :message AND state = 'queued';

-- name: slack_outbox_anew :exec
-- An intent stays in its lane: another one sends the message where it is now.
INSERT INTO slack_outbox (kind, message_seq, priority, form, may_repeat, created_at)
SELECT kind, message_seq, priority, form, may_repeat, :now FROM slack_outbox WHERE seq = :seq;

-- name: slack_head_move_messages :exec
UPDATE slack_message SET root_seq = :new WHERE root_seq = :head AND state = 'queued';

-- name: slack_head_move_lane :exec
-- type: :new integer
-- type: :head integer
UPDATE slack_lane SET thread = 'm' || :new, waits_for = :new, state = 'waiting'
 WHERE gate = 'chat.postMessage ' || :channel AND channel_id = :channel AND thread = 'm' || :head;

-- name: slack_head_urge :exec
-- The new head is as urgent as what waits for it now.
-- type: :new seq
INSERT INTO slack_urgency (lane_seq) SELECT seq FROM slack_lane WHERE waits_for = :new AND state = 'waiting';

-- name: slack_head_bury :exec
-- Nothing can be posted in a thread that cannot be started.
UPDATE slack_outbox SET state = 'dead', why = 'the thread could not be begun', settled_at = :now
 WHERE state IN ('queued', 'doubtful') AND message_seq IN (
   SELECT seq FROM slack_message WHERE root_seq = :head AND state = 'queued');

-- name: slack_head_bury_calls :exec
-- As slack_refused_calls, for messages about to be buried.
UPDATE tool_call SET state = 'answered', answered_at = :now
 WHERE state = 'waiting' AND request_seq IN (
   SELECT m.request_seq FROM slack_message AS m
     JOIN request AS r ON r.seq = m.request_seq AND r.state IN ('pending', 'interrupted')
     JOIN session AS s ON s.seq = r.session_seq AND s.mode <> 'local'
    WHERE m.root_seq = :head AND m.state = 'queued' AND m.kind = 'ask');

-- name: slack_head_bury_messages :exec
UPDATE slack_message SET state = 'dead', updated_at = :now WHERE root_seq = :head AND state = 'queued';

-- name: slack_desk_at_stop :one
-- What a stop interrupts, if it is answered in Slack; :local: also the rest.
-- scan ok: once, at the stop
-- type: :local bool
-- type: clearances integer
-- type: prompts integer
-- type: standbys integer
-- row: slack_desk
SELECT (SELECT count(*) FROM session
         WHERE machine = :machine AND (mode <> 'local' OR :local)
           AND status IN ('created', 'active', 'paused')) AS sessions,
       coalesce(sum(r.kind IN ('clearance', 'permission', 'trust')), 0) AS clearances,
       coalesce(sum(r.kind = 'prompt'), 0) AS prompts,
       coalesce(sum(r.kind = 'standby'), 0) AS standbys
  FROM request AS r JOIN session AS s ON s.seq = r.session_seq
 WHERE r.state = 'pending' AND s.machine = :machine AND (s.mode <> 'local' OR :local);

-- name: slack_desk_at_start :one
-- What has been waiting for an answer in Slack since the last stop, or crash, and the sessions to resume.
-- started: sessions whose agent was started here.
-- scan ok: once, at the start
-- type: clearances integer
-- type: prompts integer
-- type: standbys integer
-- row: slack_desk
SELECT count(DISTINCT s.seq) AS sessions,
       count(DISTINCT CASE s.origin WHEN 'started' THEN s.seq END) AS started,
       coalesce(sum(r.kind IN ('clearance', 'permission', 'trust')), 0) AS clearances,
       coalesce(sum(r.kind = 'prompt'), 0) AS prompts,
       coalesce(sum(r.kind = 'standby'), 0) AS standbys
  FROM session AS s LEFT JOIN request AS r ON r.session_seq = s.seq AND r.state IN ('pending', 'interrupted')
 WHERE s.machine = :machine AND s.mode <> 'local'
   AND (r.seq IS NOT NULL OR (s.origin = 'started' AND s.status = 'interrupted'));

-- name: slack_say_server :exec
-- type: :about text
INSERT INTO slack_notice (kind, text, detail, at)
VALUES ('server', :text, json_object('about', :about), :now);

-- name: slack_desk_is_open :any
-- Whether somebody may have said something in Slack to an agent.
SELECT 1 AS one FROM session WHERE status <> 'terminated' AND mode <> 'local' LIMIT 1;

-- name: slack_has_server :any
-- Whether a stop or a start waits to be told.
-- scan ok: once, at the start
SELECT 1 AS one FROM slack_message
 WHERE session_seq IS NULL AND kind = 'server' AND state = 'queued'
   AND json_extract(detail, '$.about') IN ('stop', 'start') LIMIT 1;

-- name: slack_stop_stands :any
-- Whether the last word of a stop or a start that was told is that of a stop.
-- scan ok: once, at the start
SELECT 1 AS one
  FROM (SELECT json_extract(detail, '$.about') AS about FROM slack_message
         WHERE session_seq IS NULL AND kind = 'server' AND state <> 'dead'
           AND json_extract(detail, '$.about') IN ('stop', 'start')
         ORDER BY created_at DESC, seq DESC LIMIT 1)
 WHERE about = 'stop';

-- name: slack_drop_server :rows
-- A stop or a start that was not announced in time is not announced later. What may have been sent
-- stays.
-- scan ok: once, at the start
UPDATE slack_outbox SET state = 'sent', settled_at = :now
 WHERE state = 'queued' AND message_seq IN (
   SELECT seq FROM slack_message
    WHERE session_seq IS NULL AND kind = 'server' AND state = 'queued'
      AND json_extract(detail, '$.about') IN ('stop', 'start'));

-- name: slack_drop_server_messages :exec
-- scan ok: once, at the start
UPDATE slack_message SET state = 'dead', updated_at = :now
 WHERE session_seq IS NULL AND kind = 'server' AND state = 'queued'
   AND json_extract(detail, '$.about') IN ('stop', 'start')
   AND NOT EXISTS (SELECT 1 FROM slack_outbox AS o
                    WHERE o.message_seq = slack_message.seq AND o.state <> 'sent');

-- name: slack_gate_read :one
SELECT strikes, spent_at, not_before, why FROM slack_gate WHERE name = :name;

-- name: slack_gate_close :exec
UPDATE slack_gate
   SET not_before = max(not_before, :not_before), strikes = strikes + 1, why = :why
 WHERE name = :name;

-- name: slack_gate_gap :exec
UPDATE slack_gate SET not_before = max(not_before, :not_before) WHERE name = :name;

-- name: slack_gate_close_read :exec
INSERT INTO slack_gate (name, slot, not_before) VALUES (:name, 'read', :not_before)
ON CONFLICT (name) DO UPDATE SET not_before = max(slack_gate.not_before, excluded.not_before);

-- name: slack_gate_close_posts :exec
-- Refused again at once: applies to the method, not only to the channel.
UPDATE slack_gate SET not_before = max(not_before, :not_before) WHERE slot = 'post';

-- name: slack_gate_pass :exec
UPDATE slack_gate SET not_before = :not_before, spent_at = :spent_at, strikes = 0, why = NULL
 WHERE name = :name;

-- name: slack_gate_open :exec
UPDATE slack_gate SET not_before = '', strikes = 0, why = NULL
 WHERE name = :name AND (not_before <> '' OR strikes <> 0 OR why IS NOT NULL);

-- name: slack_gate_note :rows
-- What a person must fix, without closing anything; NULL: nothing.
INSERT INTO slack_gate (name, slot, why) VALUES (:name, 'note', :why)
ON CONFLICT (name) DO UPDATE SET why = excluded.why WHERE slack_gate.why IS NOT excluded.why;

-- name: slack_gate_refusal :one
-- What Slack refuses us until a person has put it right: everything, or a channel for which something
-- waits.
-- type: why text
SELECT group_concat(why, '; ') AS why FROM slack_gate AS g
 WHERE why GLOB 'Slack refuses *'
   AND (SELECT value FROM setting WHERE name = 'slack.configured') = 'true'
   AND (slot = 'all' OR EXISTS (SELECT 1 FROM slack_lane WHERE gate = g.name));

-- name: slack_operators :many
-- Who is called to a request.
SELECT user_id FROM operator WHERE kind = 'slack' AND active = 1 ORDER BY created_at, id LIMIT 20;

-- name: slack_session_read :one
-- row: slack_session
SELECT id, status, mode, protocol_mode, origin, restart_of, workspace_root, client_name, label,
       agent_user, prompt, created_at, coalesce(terminated_at, updated_at) AS ended_at
  FROM session WHERE seq = :seq;

-- name: slack_run_read :one
-- row: slack_run
SELECT outcome, exit_code, exit_signal, why, stderr_tail FROM agent_run WHERE seq = :seq;

-- name: slack_run_last :one
-- How the agent of a session ended.
-- row: slack_run
SELECT outcome, exit_code, exit_signal, why, stderr_tail FROM agent_run
 WHERE session_seq = :session ORDER BY generation DESC LIMIT 1;

-- name: slack_apply_read :one
-- row: slack_apply
SELECT a.state, a.kind, a.forced, a.error_code, a.why, r.id, r.file_path, r.replaces_file,
       s.agent_user, s.workspace_root, s.client_name, s.label,
       (SELECT why FROM checkpoint WHERE apply_seq = a.seq AND state = 'refused') AS unkept,
       (SELECT operator_id FROM command WHERE seq = a.command_seq) AS ordered_by,
       EXISTS (SELECT 1 FROM apply AS u
                WHERE u.request_seq = a.request_seq AND u.kind = 'undo' AND u.state = 'undone') AS undone
  FROM apply AS a JOIN request AS r ON r.seq = a.request_seq JOIN session AS s ON s.seq = r.session_seq
 WHERE a.seq = :seq;

-- name: slack_call_read :one
SELECT arguments, arguments_seq FROM tool_call WHERE seq = :seq;

-- name: slack_said_elsewhere :one
-- Whose message it is, if it stands in a thread that is not its session's.
SELECT s.id AS session_id, s.agent_user, s.workspace_root, s.client_name, s.label
  FROM slack_message AS m JOIN session AS s ON s.seq = m.session_seq
 WHERE m.seq = :message AND m.root_seq IS NULL AND m.thread_ts IS NOT s.thread_ts;

-- name: slack_call_size :number
-- type: size integer
SELECT coalesce((SELECT length(arguments) FROM tool_call WHERE seq = :seq), 1 << 30) AS size;
