-- What is to be said in Slack: intents, rendered by slack-poster when they are sent, so that a late
-- message tells the present truth. Nothing here is a payload.

-- What a message can be about, and how it is treated.
-- small
CREATE TABLE slack_part (
  kind          TEXT NOT NULL PRIMARY KEY,
  send          TEXT NOT NULL,              -- kind of the intent that sends it: post, file
  priority      INTEGER NOT NULL,           -- of its sending: 1 first, 7 last
  edit_priority INTEGER NOT NULL,           -- of its edits
  in_local      INTEGER NOT NULL            -- said even where the session is in local mode
) STRICT;
INSERT INTO slack_part VALUES
  ('session', 'post', 6, 6, 0), -- the session's first message: the head of its thread
  ('ask', 'post', 3, 2, 0),     -- approval, prompt, standby; edited to what became of it
  ('diff', 'file', 4, 6, 0),    -- what is proposed, as a snippet, where it is too long for 'ask'
  ('expired', 'post', 5, 6, 0), -- nobody answered in time (an edit notifies nobody)
  ('write', 'post', 6, 6, 0),   -- an approved change was written, refused or forced
  ('mode', 'post', 6, 6, 0),    -- the session's mode changed; detail: from, to
  ('ended', 'post', 6, 6, 0),   -- the session ended
  ('said', 'post', 7, 7, 0),    -- the agent's broadcast
  ('stall', 'post', 3, 2, 0),   -- an agent went silent; detail: alert_id, idle_seconds
  ('file', 'file', 5, 6, 1),    -- a whole file, on request: content_seq, file_name
  ('reply', 'post', 5, 6, 1),   -- text for an operator, in a thread
  ('server', 'post', 5, 6, 1);  -- text about agent-intercom itself, in the default channel

-- A row per Slack message that we know.
CREATE TABLE slack_message (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never used again
  -- UUID in the message's metadata, by which it is found again. Never looked up here.
  marker          TEXT NOT NULL DEFAULT (lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' ||
    substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
  kind            TEXT NOT NULL,            -- slack_part.kind
  session_seq     INTEGER REFERENCES session (seq),
  request_seq     INTEGER REFERENCES request (seq),
  apply_seq       INTEGER REFERENCES apply (seq),
  call_seq        INTEGER REFERENCES tool_call (seq),
  channel_id      TEXT NOT NULL,
  root_seq        INTEGER,                  -- slack_message.seq of the thread's head, if we know it
  thread_ts       TEXT,                     -- else the thread that was given; neither: the channel
  text            TEXT,                     -- what to say, where no row says it
  detail          TEXT CHECK (detail IS NULL OR json_valid(detail)),
  content_seq     INTEGER REFERENCES content (seq),
  file_name       TEXT,
  file_id         TEXT,                     -- of an upload, stored before it is shared
  ts              TEXT,                     -- Slack's name for it in its channel, once known
  generation      INTEGER NOT NULL DEFAULT 1, -- rises with each change of what it should say
  sent_generation INTEGER NOT NULL DEFAULT 0, -- the one that Slack shows
  state           TEXT NOT NULL DEFAULT 'queued', -- queued, sent, dead, gone
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at      TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX slack_message_root ON slack_message (session_seq, seq) WHERE kind = 'session';
CREATE INDEX slack_message_session ON slack_message (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX slack_message_request ON slack_message (request_seq, kind) WHERE request_seq IS NOT NULL;
CREATE INDEX slack_message_apply ON slack_message (apply_seq) WHERE apply_seq IS NOT NULL;
CREATE INDEX slack_message_call ON slack_message (call_seq) WHERE call_seq IS NOT NULL;
CREATE INDEX slack_message_content ON slack_message (content_seq) WHERE content_seq IS NOT NULL;
CREATE INDEX slack_message_ts ON slack_message (channel_id, ts) WHERE ts IS NOT NULL;
CREATE INDEX slack_message_loose ON slack_message (created_at) WHERE session_seq IS NULL;
CREATE INDEX slack_message_unsent ON slack_message (root_seq) WHERE state = 'queued';

-- small
CREATE TABLE slack_message_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO slack_message_move VALUES
  ('', 'queued'), ('queued', 'sent'), ('queued', 'dead'), ('sent', 'gone');

-- What may be done, by which method, and whether it may be done twice: 'lookup' is looked for in
-- Slack before it is repeated, 'repeatable' is repeated, 'once' is not.
-- small
CREATE TABLE slack_kind (
  kind     TEXT NOT NULL PRIMARY KEY,
  class    TEXT NOT NULL CHECK (class IN ('lookup', 'repeatable', 'once')),
  gate     TEXT NOT NULL,                   -- slack_gate.name; that of a post has the channel behind it
  slot     TEXT NOT NULL,                   -- slack_gate.slot
  priority INTEGER                          -- NULL: that of its message
) STRICT;
INSERT INTO slack_kind VALUES
  ('post', 'lookup', 'chat.postMessage', 'post', NULL),
  ('file', 'lookup', 'chat.postMessage', 'post', NULL),
  ('update', 'repeatable', 'chat.update', 'call', NULL),
  ('delete', 'repeatable', 'chat.delete', 'call', 6),
  ('view_open', 'once', 'views.open', 'view', 1),
  ('respond', 'once', 'response_url', 'call', 2),
  ('ephemeral', 'once', 'chat.postEphemeral', 'call', 2);

-- Intents, the poster's queue.
-- rings: slack-poster
CREATE TABLE slack_outbox (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never used again: events carry it
  kind         TEXT NOT NULL,               -- slack_kind.kind
  message_seq  INTEGER REFERENCES slack_message (seq), -- post, file, update, delete
  request_seq  INTEGER,                     -- view_open: the request whose modal it is
  session_seq  INTEGER,                     -- view_open: or the session
  view         TEXT CHECK (view IN ('reject', 'refine', 'nudge', 'resume')),
  channel_id   TEXT,                        -- ephemeral; view_open: where to say that it came too late
  thread_ts    TEXT,                        -- ephemeral
  user_id      TEXT,                        -- ephemeral, view_open: the person
  text         TEXT,                        -- ephemeral, respond: what to say
  replaces     INTEGER NOT NULL DEFAULT 0 CHECK (replaces IN (0, 1)), -- respond: overwrite the original
  trigger_id   TEXT,                        -- view_open; gone once used or expired
  response_url TEXT,                        -- respond; gone once used or expired
  expires_at   TEXT CHECK (expires_at GLOB '????-??-??T??:??:??.???Z'), -- of no use afterwards
  lane_seq     INTEGER,                     -- slack_lane.seq, found by the rules
  priority     INTEGER NOT NULL DEFAULT 7,  -- found by the rules
  state        TEXT NOT NULL DEFAULT 'queued', -- queued, sending, doubtful, sent, dead
  form         TEXT NOT NULL DEFAULT 'blocks' CHECK (form IN ('blocks', 'plain', 'line')), -- simpler each
                                            -- time that Slack refuses what we said
  generation   INTEGER,                     -- of its message, as it was sent
  leader_seq   INTEGER,                     -- slack_outbox.seq whose Slack message says this too
  may_repeat   INTEGER NOT NULL DEFAULT 0 CHECK (may_repeat IN (0, 1)), -- nobody could tell whether
                                            -- Slack has it: said again, and said so
  claim        INTEGER NOT NULL DEFAULT 0,  -- number of the claim; a settle must name it
  worker_id    TEXT,                        -- worker.id of the claimer
  attempts     INTEGER NOT NULL DEFAULT 0,  -- rises in the claim's own commit
  deaths       INTEGER NOT NULL DEFAULT 0,  -- posters that died with it in hand
  lookups      INTEGER NOT NULL DEFAULT 0,  -- doubtful: times looked for and not found
  started_at   TEXT CHECK (started_at GLOB '????-??-??T??:??:??.???Z'), -- when the last attempt began
  due_at       TEXT CHECK (due_at GLOB '????-??-??T??:??:??.???Z'), -- not before; NULL: at once
  error        TEXT,                        -- why not, in words
  created_at   TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  settled_at   TEXT CHECK (settled_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state IN ('sent', 'dead')) = (settled_at IS NOT NULL)),
  CHECK (state <> 'dead' OR error IS NOT NULL),
  CHECK (kind NOT IN ('post', 'file', 'update', 'delete') OR message_seq IS NOT NULL)
) STRICT;
CREATE INDEX slack_outbox_message ON slack_outbox (message_seq, state) WHERE message_seq IS NOT NULL;
CREATE INDEX slack_outbox_lane ON slack_outbox (lane_seq, seq)
  WHERE state IN ('queued', 'sending', 'doubtful');
CREATE INDEX slack_outbox_urgency ON slack_outbox (lane_seq, priority) WHERE state = 'queued';
CREATE INDEX slack_outbox_in_hand ON slack_outbox (seq) WHERE state = 'sending';
CREATE INDEX slack_outbox_doubtful ON slack_outbox (due_at, seq) WHERE state = 'doubtful';
CREATE INDEX slack_outbox_led ON slack_outbox (leader_seq) WHERE leader_seq IS NOT NULL;
CREATE INDEX slack_outbox_waiting ON slack_outbox (created_at)
  WHERE state IN ('queued', 'sending', 'doubtful');
CREATE INDEX slack_outbox_dead ON slack_outbox (seq) WHERE state = 'dead';
CREATE INDEX slack_outbox_settled ON slack_outbox (settled_at) WHERE settled_at IS NOT NULL;

-- small
CREATE TABLE slack_outbox_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO slack_outbox_move VALUES
  ('', 'queued'), ('queued', 'sending'), ('queued', 'dead'), ('queued', 'sent'),
  ('sending', 'sent'), ('sending', 'queued'), ('sending', 'doubtful'), ('sending', 'dead'),
  ('doubtful', 'sent'), ('doubtful', 'queued'), ('doubtful', 'doubtful'), ('doubtful', 'dead');

-- What is said in order: one thread's posts, one message's edits. A lane lives as long as something
-- is queued in it. Claiming looks at lanes, never at the backlog.
CREATE TABLE slack_lane (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- never used again: settled rows name it
  gate       TEXT NOT NULL,                 -- slack_gate.name
  channel_id TEXT NOT NULL,
  thread     TEXT NOT NULL,                 -- '' the channel, 'm7' below (or edits of) slack_message 7,
                                            -- else a thread's ts
  waits_for  INTEGER,                       -- slack_message.seq whose ts must be known first
  state      TEXT NOT NULL CHECK (state IN ('ready', 'waiting', 'busy')),
  head       INTEGER,                       -- slack_outbox.seq that is next
  priority   INTEGER NOT NULL,              -- the most urgent of what is queued in it
  due_at     TEXT NOT NULL                  -- of the head; '' at once
) STRICT;
CREATE UNIQUE INDEX slack_lane_of ON slack_lane (gate, channel_id, thread);
CREATE INDEX slack_lane_ready ON slack_lane (gate, priority, due_at, head) WHERE state = 'ready';
CREATE INDEX slack_lane_due ON slack_lane (gate, due_at) WHERE state = 'ready';
CREATE INDEX slack_lane_waiting ON slack_lane (waits_for) WHERE state = 'waiting';

-- When a method, or posting in a channel, is allowed again: a restart obeys a Retry-After too. 'slack'
-- stands for all of it.
-- small
CREATE TABLE slack_gate (
  name       TEXT NOT NULL PRIMARY KEY,
  slot       TEXT NOT NULL,                 -- what of the poster goes through it: post, call, view, all
  not_before TEXT NOT NULL DEFAULT '',      -- instant, '' at once
  spent_at   TEXT NOT NULL DEFAULT '',      -- when the calls of the last minute are paid off
  strikes    INTEGER NOT NULL DEFAULT 0,    -- refusals in a row
  why        TEXT                           -- what a person must know or mend; NULL: all is well
) STRICT;
INSERT INTO slack_gate (name, slot) VALUES ('slack', 'all');
