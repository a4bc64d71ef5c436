-- What to say in Slack: intents, rendered by slack-poster at the moment of sending, so that a late
-- message tells the current state. Nothing here is a payload.

-- What a message can be about, and how it is treated.
-- small
-- closed
CREATE TABLE slack_part (
  kind          TEXT NOT NULL PRIMARY KEY,
  send          TEXT NOT NULL,              -- kind of the intent that sends it: post, file
  priority      INTEGER NOT NULL,           -- of its sending: 1 first, 7 last
  edit_priority INTEGER NOT NULL,           -- of its edits
  in_local      INTEGER NOT NULL            -- sent even if the session is in local mode
) STRICT;
INSERT INTO slack_part VALUES
  ('session', 'post', 6, 6, 0), -- the session's first message: the head of its thread; as urgent as what waits below it
  ('ask', 'post', 3, 2, 0),     -- approval, prompt, standby; edited to show its outcome; 6 once it is settled
  ('diff', 'file', 4, 6, 0),    -- the proposal as a snippet, if it is too long for 'ask'
  ('expired', 'post', 5, 6, 0), -- nobody answered in time (an edit notifies nobody)
  ('write', 'post', 5, 6, 0),   -- an approved change was written, refused or forced
  ('mode', 'post', 6, 6, 1),    -- the session's mode changed, also to local; detail: from, to, by
  ('ended', 'post', 6, 6, 0),   -- the session ended
  ('restarted', 'post', 6, 6, 0), -- a session that continues in another one's thread
  ('run', 'post', 3, 6, 0),     -- its agent's process was lost, or did not start again; detail: run
  ('said', 'post', 7, 7, 0),    -- the agent's broadcast
  ('agent', 'post', 6, 6, 0),   -- what an agent that we started says; detail: line
  ('activity', 'post', 6, 7, 0), -- what it does in a turn: its tools and its plan
  ('turn', 'post', 5, 2, 0),    -- the end of a turn, and what comes next
  ('stall', 'post', 3, 2, 0),   -- an agent went silent; detail: alert_id, idle_seconds
  ('nudged', 'post', 5, 6, 0),  -- the watchdog has nudged; detail: alert_id, nudge
  ('escalated', 'post', 3, 2, 0), -- nudges did not help: everybody is called; detail: alert_id
  ('auto', 'post', 7, 7, 0),    -- what the policy allowed; detail: notice
  ('gate', 'post', 5, 6, 0),    -- an agent did what it had not asked for, or not so; after the replies before it
  ('alias', 'post', 3, 5, 1),   -- a command of [commands] that an operator runs, with its output
  ('output', 'file', 5, 6, 1),  -- its whole output, if that does not fit in 'alias'
  ('file', 'file', 3, 6, 1),    -- a whole file, on request: content_seq, file_name
  ('look', 'post', 3, 6, 1),    -- a folder or a file, or why it is not shown; detail: look
  ('reply', 'post', 2, 6, 1),   -- text for an operator, in a thread, who waits for it: before questions
  ('server', 'post', 5, 6, 1);  -- text about agent-intercom itself, in the default channel

-- One row per known Slack message.
-- moves: state
-- fixed: what a message is about does not change
CREATE TABLE slack_message (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused
  marker          TEXT NOT NULL DEFAULT (lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' ||
    substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))), -- fixed: UUID in the message's
                                            -- metadata, which finds it in Slack; never looked up
                                            -- here
  kind            TEXT NOT NULL,            -- fixed: see slack_part
  session_seq     INTEGER REFERENCES session (seq), -- fixed
  request_seq     INTEGER REFERENCES request (seq), -- fixed
  apply_seq       INTEGER REFERENCES apply (seq), -- fixed
  call_seq        INTEGER REFERENCES tool_call (seq), -- fixed
  turn_seq        INTEGER REFERENCES agent_turn (seq), -- fixed
  alias_run_seq   INTEGER REFERENCES alias_run (seq), -- fixed
  channel_id      TEXT NOT NULL,            -- fixed
  root_seq        INTEGER,                  -- free: slack_message.seq of the thread's head, if known
  thread_ts       TEXT,                     -- fixed: otherwise the given thread; neither: the channel
  text            TEXT,                     -- fixed: the text, if no other row has it
  detail          TEXT CHECK (detail IS NULL OR json_valid(detail)), -- free: more contents; an answer is added
  content_seq     INTEGER REFERENCES content (seq), -- fixed
  file_name       TEXT,                     -- fixed
  file_id         TEXT,                     -- free: of an upload, stored before it is shared
  ts              TEXT,                     -- later, once: Slack's timestamp in its channel
  generation      INTEGER NOT NULL DEFAULT 1, -- grows: with each change of its content
  sent_generation INTEGER NOT NULL DEFAULT 0, -- later, grows: the one that Slack shows
  state           TEXT NOT NULL DEFAULT 'queued', -- free: see slack_message_move
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  updated_at      TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z') -- free
) STRICT;
-- By kind, because each message looks for its session's head. One index: which of two that would do
-- SQLite takes depends on its version.
CREATE INDEX slack_message_session ON slack_message (session_seq, kind) WHERE session_seq IS NOT NULL;
CREATE INDEX slack_message_stall ON slack_message (session_seq, seq)
  WHERE kind IN ('stall', 'escalated');
CREATE INDEX slack_message_request ON slack_message (request_seq, kind) WHERE request_seq IS NOT NULL;
CREATE INDEX slack_message_apply ON slack_message (apply_seq) WHERE apply_seq IS NOT NULL;
CREATE INDEX slack_message_call ON slack_message (call_seq) WHERE call_seq IS NOT NULL;
CREATE INDEX slack_message_turn ON slack_message (turn_seq, kind) WHERE turn_seq IS NOT NULL;
CREATE INDEX slack_message_alias_run ON slack_message (alias_run_seq) WHERE alias_run_seq IS NOT NULL;
CREATE INDEX slack_message_content ON slack_message (content_seq) WHERE content_seq IS NOT NULL;
CREATE INDEX slack_message_ts ON slack_message (channel_id, ts) WHERE ts IS NOT NULL;
CREATE INDEX slack_message_loose ON slack_message (created_at) WHERE session_seq IS NULL;
CREATE INDEX slack_message_unsent ON slack_message (root_seq) WHERE state = 'queued';

-- small
-- closed
CREATE TABLE slack_message_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO slack_message_move VALUES
  ('', 'queued'), ('queued', 'sent'), ('queued', 'dead'), ('sent', 'gone');
