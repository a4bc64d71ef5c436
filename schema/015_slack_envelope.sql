-- What Slack sends us over Socket Mode: an envelope is stored, then acknowledged.
--
-- An INSERT never fails because of its content, and a delivery that comes again is stored as
-- 'duplicate' of the first (reference/slack.md 2.8 names the keys; Slack promises none alone).

CREATE TABLE slack_envelope (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  envelope_id  ANY,                         -- Slack's name of this delivery
  type         ANY,                         -- slash_commands, interactive, events_api, ...
  kind         ANY,                         -- command, block_actions, view_submission, view_closed,
                                            -- message, app_mention, ...
  team_id      ANY,                         -- of the person who acted
  user_id      ANY,
  channel_id   ANY,
  event_key    ANY,                         -- the same act again: event id, hash of the trigger, click
  message_key  ANY,                         -- channel and ts, shared by message and app_mention
  client_key   ANY,                         -- client_msg_id
  action       ANY,                         -- what was meant, in a few words, for the timeline
  reading      ANY DEFAULT 'understood',    -- how the listener took it: understood, ignored, malformed
  problem      ANY,                         -- malformed: what is wrong with it
  payload      ANY,                         -- JSON without tokens, trigger ids and response_urls
  created_at   ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  reply        TEXT,                        -- JSON payload of the ack; a duplicate gets it again
  is_first     INTEGER NOT NULL DEFAULT 0 CHECK (is_first IN (0, 1)), -- it acts, and owns its keys
  first_seq    INTEGER,                     -- the envelope that this one repeats
  operator_id  TEXT,                        -- operator.id of who acted, where he is one
  outcome      TEXT CHECK (outcome IN ('accepted', 'duplicate', 'unauthorized', 'ignored', 'malformed')),
  why          TEXT                         -- in words, where it was not accepted
) STRICT;
CREATE UNIQUE INDEX slack_envelope_once ON slack_envelope (envelope_id)
  WHERE is_first = 1 AND envelope_id IS NOT NULL;
CREATE UNIQUE INDEX slack_envelope_event ON slack_envelope (event_key)
  WHERE is_first = 1 AND event_key IS NOT NULL;
CREATE UNIQUE INDEX slack_envelope_message ON slack_envelope (message_key)
  WHERE is_first = 1 AND message_key IS NOT NULL;
CREATE UNIQUE INDEX slack_envelope_client ON slack_envelope (client_key)
  WHERE is_first = 1 AND client_key IS NOT NULL;

-- Replies in a thread are for the session that it belongs to.
CREATE INDEX session_thread ON session (thread_ts) WHERE thread_ts IS NOT NULL;
-- The form that a person asked for last.
CREATE INDEX slack_outbox_view ON slack_outbox (request_seq, seq) WHERE kind = 'view_open';
-- The session that was active last.
CREATE INDEX session_recent ON session (last_activity_at) WHERE status <> 'terminated';
