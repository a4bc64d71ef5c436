-- Every statement on `slack_envelope`, and the messages in Slack that an envelope causes.

-- name: slack_envelope_insert :insert
INSERT INTO slack_envelope (envelope_id, type, kind, team_id, user_id, channel_id, event_key,
  message_key, client_key, action, reading, problem, payload, created_at)
VALUES (:envelope_id, :type, :kind, :team_id, :user_id, :channel_id, :event_key, :message_key,
  :client_key, :action, :reading, :problem, :payload, :now);

-- name: slack_envelope_outcome :one
-- Its outcome, and the reply to the first envelope with its keys.
SELECT e.outcome, e.why, e.operator_id, f.reply AS first_reply
  FROM slack_envelope AS e LEFT JOIN slack_envelope AS f ON f.seq = e.first_seq
 WHERE e.seq = :seq;

-- name: slack_envelope_answer :exec
UPDATE slack_envelope SET reply = :reply WHERE seq = :seq;

-- name: slack_thread :one
-- The owner of this thread: one request, if requests are posted in the channel, otherwise a
-- session. Of several sessions that were restarted in a thread, the newest live one.
SELECT seq, id, request_id FROM (
  SELECT s.seq, s.id, r.id AS request_id, s.status
    FROM slack_message AS m JOIN session AS s ON s.seq = m.session_seq
    LEFT JOIN request AS r ON r.seq = m.request_seq AND m.kind = 'ask'
   WHERE m.channel_id = :channel AND m.ts = :thread
   UNION ALL
  SELECT s.seq, s.id, NULL, s.status
    FROM session AS s
   WHERE s.thread_ts = :thread
     AND coalesce(nullif(s.channel_id, ''),
                  (SELECT value FROM setting WHERE name = 'slack.channel_id')) = :channel)
 ORDER BY request_id IS NULL, status = 'terminated', seq DESC LIMIT 1;

-- name: slack_thread_of_ours :number
-- Whether a thread that is no session's is ours all the same: we began it, or what began it was said
-- to us.
-- type: :channel text
-- type: :thread text
SELECT EXISTS (SELECT 1 FROM slack_message WHERE channel_id = :channel AND ts = :thread)
    OR EXISTS (SELECT 1 FROM slack_envelope
                WHERE is_first = 1 AND message_key = :channel || ':' || :thread
                  AND outcome = 'accepted') AS is_ours;

-- name: slack_live_session :number
SELECT seq FROM session WHERE id = :id;

-- name: slack_form_missed :one
-- The form that this person opened a moment ago, for a request of this session that still waits: if
-- it could not be shown, or even if Slack accepted it, because some clients show nothing; not one
-- that was closed, nor one that was opened outside of a thread, where nobody is told what their
-- next words are taken for.
SELECT f.id, f.view FROM (
  SELECT r.id, o.view, o.state, o.why, o.created_at
    FROM request AS r JOIN slack_outbox AS o ON o.request_seq = r.seq AND o.kind = 'view_open'
   WHERE r.session_seq = :session AND r.state IN ('pending', 'interrupted') AND o.user_id = :user
     AND o.thread_ts IS NOT NULL
   ORDER BY o.seq DESC LIMIT 1) AS f
 WHERE f.created_at > :since AND (f.state = 'dead' OR (f.state = 'sent' AND f.why IS NULL));

-- name: slack_form_closed :exec
UPDATE slack_outbox SET why = 'the person closed it'
 WHERE state = 'sent'
   AND seq = (SELECT max(o.seq) FROM request AS r
                JOIN slack_outbox AS o ON o.request_seq = r.seq AND o.kind = 'view_open'
               WHERE r.id = :request AND o.user_id = :user);

-- name: slack_open_form :exec
INSERT INTO slack_outbox (kind, request_seq, session_seq, view, trigger_id, channel_id, thread_ts,
  user_id, expires_at, created_at)
VALUES ('view_open', :request, :session, :view, :trigger_id, :channel, :thread_ts, :user,
  :expires_at, :now);

-- name: slack_whisper :exec
-- Visible to one person.
INSERT INTO slack_outbox (kind, channel_id, thread_ts, user_id, text, expires_at, created_at)
VALUES ('ephemeral', :channel, :thread_ts, :user, :text, :expires_at, :now);

-- name: slack_reply :exec
-- Into a thread.
-- type: :session seq
-- type: :detail text
INSERT INTO slack_notice (kind, session_seq, request_seq, channel_id, thread_ts, text, detail, at)
VALUES ('reply', :session, (SELECT seq FROM request WHERE id = :detail ->> 'request'), :channel,
  :thread_ts, :text, :detail, :now);

-- name: slack_reply_read :one
-- A message of ours with buttons, one of which an operator pressed.
SELECT detail FROM slack_message WHERE seq = :seq AND kind = 'reply' AND channel_id = :channel;

-- name: slack_asked :one
-- Words about a request that its operator was asked back about, and has not answered.
-- type: :session seq
-- type: :request text
SELECT seq, detail FROM slack_message
 WHERE session_seq = :session AND kind = 'reply' AND detail ->> 'request' = :request
   AND detail ->> 'answer' IS NULL
 ORDER BY seq LIMIT 1;

-- name: slack_reply_settle :exec
-- Its outcome: the buttons are removed. told: its words, with a plain answer.
-- type: :answer text
-- type: :told bool
UPDATE slack_message
   SET detail = json_set(detail, '$.answer', :answer, '$.told', :told), generation = generation + 1, updated_at = :now
 WHERE seq = :seq AND kind = 'reply';

-- name: slack_also_told :many
-- What a plain answer told its agent besides: words that operators were asked back about.
-- type: words text
-- type: by text
SELECT detail ->> 'words' AS words, detail ->> 'by' AS by FROM slack_message
 WHERE request_seq = :request AND kind = 'reply' AND detail ->> 'told' = 1 ORDER BY seq LIMIT 5;

-- name: slack_asked_anew :exec
-- What this operator was asked back about the request before is settled by what they say now.
-- type: :request text
-- type: :operator text
UPDATE slack_message
   SET detail = json_set(detail, '$.answer', 'Your later words about it count instead'),
       generation = generation + 1, updated_at = :now
 WHERE request_seq = (SELECT seq FROM request WHERE id = :request) AND kind = 'reply'
   AND detail ->> 'by' = :operator AND detail ->> 'answer' IS NULL;

-- name: slack_is_open :one
-- A request that a form may be about: it is still waiting.
-- type: chosen text
-- type: decision request_verdict
SELECT seq, decision, decided_by, decided_at,
       (SELECT name FROM request_answer WHERE request_seq = request.seq) AS chosen
  FROM request WHERE id = :id;
