-- What Slack sends over Socket Mode: an envelope is stored, then acknowledged.
--
-- An INSERT never fails because of its content, and a repeated delivery is stored as 'duplicate' of
-- the first (Slack does not promise that any single key identifies a repetition).
-- fixed: what Slack sent is not rewritten
CREATE TABLE slack_envelope (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  envelope_id  ANY,                         -- fixed: Slack's id of this delivery
  type         ANY,                         -- fixed: slash_commands, interactive, events_api, ...
  kind         ANY,                         -- fixed: command, block_actions, view_submission, view_closed,
                                            -- message, app_mention, ...
  team_id      ANY,                         -- fixed: of the person who acted
  user_id      ANY,                         -- fixed
  channel_id   ANY,                         -- fixed
  event_key    ANY,                         -- fixed: of the action: event id, hash of the trigger, click
  message_key  ANY,                         -- fixed: channel and ts, shared by message and app_mention
  client_key   ANY,                         -- fixed: client_msg_id
  action       ANY,                         -- fixed: the meaning, in a few words, for the timeline
  reading      ANY DEFAULT 'understood',    -- fixed: for the listener: understood, ignored, malformed
  problem      ANY,                         -- fixed: malformed: its error
  payload      ANY,                         -- fixed: JSON without tokens, trigger ids and response_urls
  created_at   ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), -- fixed
  reply        TEXT,                        -- later, once: JSON payload of the ack; a duplicate gets it again
  is_first     INTEGER NOT NULL DEFAULT 0 CHECK (is_first IN (0, 1)), -- later, grows: it acts, and owns its keys
  first_seq    INTEGER,                     -- later, until outcome: the envelope that this one repeats
  operator_id  TEXT,                        -- later, until outcome: operator.id of the person, or NULL
  outcome      TEXT CHECK (outcome IN ('accepted', 'duplicate', 'unauthorized', 'ignored', 'malformed')), -- later, once
  why          TEXT                         -- later, until outcome: in words, if it was not accepted
) STRICT;
-- refuses: first: another envelope with this key came first
CREATE UNIQUE INDEX slack_envelope_once ON slack_envelope (envelope_id)
  WHERE is_first = 1 AND envelope_id IS NOT NULL;
-- refuses: first: another envelope with this key came first
CREATE UNIQUE INDEX slack_envelope_event ON slack_envelope (event_key)
  WHERE is_first = 1 AND event_key IS NOT NULL;
-- refuses: first: another envelope with this key came first
CREATE UNIQUE INDEX slack_envelope_message ON slack_envelope (message_key)
  WHERE is_first = 1 AND message_key IS NOT NULL;
-- refuses: first: another envelope with this key came first
CREATE UNIQUE INDEX slack_envelope_client ON slack_envelope (client_key)
  WHERE is_first = 1 AND client_key IS NOT NULL;
