-- Intents: the poster's queue, its lanes, and when Slack may be called again.

-- The kinds of intents, their methods, and whether they may be repeated: 'lookup' is looked for in
-- Slack before it is repeated, 'repeatable' is repeated, 'once' is not.
-- small
-- closed
CREATE TABLE slack_kind (
  kind     TEXT NOT NULL PRIMARY KEY,
  class    TEXT NOT NULL CHECK (class IN ('lookup', 'repeatable', 'once')),
  gate     TEXT NOT NULL,                   -- slack_gate.name; for a post, followed by the channel
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

-- rings: slack-poster
-- moves: state
-- fixed: what is intended does not change
CREATE TABLE slack_outbox (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: events carry it
  kind         TEXT NOT NULL,               -- fixed: see slack_kind
  message_seq  INTEGER REFERENCES slack_message (seq), -- fixed: post, file, update, delete
  request_seq  INTEGER,                     -- fixed: view_open: the modal's request
  session_seq  INTEGER,                     -- fixed: view_open: or its session
  view         TEXT CHECK (view IN ('reject', 'refine', 'nudge', 'resume', 'instruct', 'edit')), -- fixed
  channel_id   TEXT,                        -- fixed: ephemeral; view_open: where to say that it was too late
  thread_ts    TEXT,                        -- fixed: ephemeral
  user_id      TEXT,                        -- fixed: ephemeral, view_open: the person
  text         TEXT,                        -- fixed: ephemeral, respond: the text
  replaces     INTEGER NOT NULL DEFAULT 0 CHECK (replaces IN (0, 1)), -- fixed: respond: overwrite the original
  trigger_id   TEXT,                        -- forgets: view_open; gone once used or expired
  response_url TEXT,                        -- forgets: respond; gone once used or expired
  expires_at   TEXT CHECK (expires_at GLOB '????-??-??T??:??:??.???Z'), -- fixed: useless afterwards
  lane_seq     INTEGER,                     -- later, once: slack_lane.seq, found by the rules
  priority     INTEGER NOT NULL DEFAULT 7,  -- free: found by the rules
  state        TEXT NOT NULL DEFAULT 'queued', -- free: see slack_outbox_move
  form         TEXT NOT NULL DEFAULT 'blocks' CHECK (form IN ('blocks', 'plain', 'line')), -- free: simpler
                                            -- each time that Slack refuses our content
  generation   INTEGER,                     -- free: of its message, when it was sent
  leader_seq   INTEGER,                     -- free: slack_outbox.seq whose Slack message includes this
  may_repeat   INTEGER NOT NULL DEFAULT 0 CHECK (may_repeat IN (0, 1)), -- free: it is unknown whether
                                            -- Slack has it: sent again, with a note
  claim        INTEGER NOT NULL DEFAULT 0,  -- grows: number of the claim; a settle must name it
  worker_id    TEXT,                        -- free: worker.id of the claimer
  attempts     INTEGER NOT NULL DEFAULT 0,  -- grows: in the claim's own commit
  deaths       INTEGER NOT NULL DEFAULT 0,  -- grows: posters that died while sending it
  lookups      INTEGER NOT NULL DEFAULT 0,  -- free: doubtful: unsuccessful lookups
  started_at   TEXT CHECK (started_at GLOB '????-??-??T??:??:??.???Z'), -- free: when the last attempt began
  due_at       TEXT CHECK (due_at GLOB '????-??-??T??:??:??.???Z'), -- free: not before; NULL: at once
  why          TEXT,                        -- free: why not, in words
  created_at   TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  settled_at   TEXT CHECK (settled_at GLOB '????-??-??T??:??:??.???Z'), -- later, once
  CHECK ((state IN ('sent', 'dead')) = (settled_at IS NOT NULL)),
  CHECK (state <> 'dead' OR why IS NOT NULL),
  CHECK (kind NOT IN ('post', 'file', 'update', 'delete') OR message_seq IS NOT NULL)
) STRICT;
CREATE INDEX slack_outbox_message ON slack_outbox (message_seq, state) WHERE message_seq IS NOT NULL;
-- An intent is in these once it has its lane: not at its birth, to be taken out at once.
CREATE INDEX slack_outbox_lane ON slack_outbox (lane_seq, seq)
  WHERE lane_seq IS NOT NULL AND state IN ('queued', 'sending', 'doubtful');
CREATE INDEX slack_outbox_urgency ON slack_outbox (lane_seq, priority)
  WHERE lane_seq IS NOT NULL AND state = 'queued';
CREATE INDEX slack_outbox_in_hand ON slack_outbox (seq) WHERE state = 'sending';
CREATE INDEX slack_outbox_doubtful ON slack_outbox (due_at, seq) WHERE state = 'doubtful';
CREATE INDEX slack_outbox_led ON slack_outbox (leader_seq) WHERE leader_seq IS NOT NULL;
CREATE INDEX slack_outbox_waiting ON slack_outbox (created_at)
  WHERE state IN ('queued', 'sending', 'doubtful');
CREATE INDEX slack_outbox_dead ON slack_outbox (seq) WHERE state = 'dead';
CREATE INDEX slack_outbox_settled ON slack_outbox (settled_at) WHERE settled_at IS NOT NULL;
-- The form that a person last asked for.
CREATE INDEX slack_outbox_view ON slack_outbox (request_seq, seq) WHERE kind = 'view_open';

-- small
-- closed
CREATE TABLE slack_outbox_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO slack_outbox_move VALUES
  ('', 'queued'), ('queued', 'sending'), ('queued', 'dead'), ('queued', 'sent'),
  ('sending', 'sent'), ('sending', 'queued'), ('sending', 'doubtful'), ('sending', 'dead'),
  ('doubtful', 'sent'), ('doubtful', 'queued'), ('doubtful', 'doubtful'), ('doubtful', 'dead');

-- What is sent in order: one thread's posts, one message's edits. A lane exists as long as
-- something is queued in it. Claims look at lanes, never at the backlog.
-- fixed: a lane does not become another one
CREATE TABLE slack_lane (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed: never reused: settled rows name it
  gate       TEXT NOT NULL,                 -- fixed: slack_gate.name
  channel_id TEXT NOT NULL,                 -- fixed
  thread     TEXT NOT NULL,                 -- free: '' the channel, 'h7' slack_message 7 alone, which begins a
                                            -- thread, 'm7' below (or edits of) it, otherwise a thread's ts
  waits_for  INTEGER,                       -- free: slack_message.seq whose ts must be known first
  state      TEXT NOT NULL CHECK (state IN ('ready', 'waiting', 'busy')), -- free
  head       INTEGER,                       -- free: slack_outbox.seq that is next
  priority   INTEGER NOT NULL,              -- free: of the most urgent one queued in it
  due_at     TEXT NOT NULL,                 -- free: of the head; '' at once
  turn_at    TEXT NOT NULL                  -- free: when something of it was sent last, or it began:
                                            -- lanes take turns, however much is queued in one
) STRICT;
-- refuses: exists: there is a lane for this already
CREATE UNIQUE INDEX slack_lane_of ON slack_lane (gate, channel_id, thread);
CREATE INDEX slack_lane_ready ON slack_lane (gate, priority, due_at, turn_at, head)
 WHERE state = 'ready';
CREATE INDEX slack_lane_due ON slack_lane (gate, due_at) WHERE state = 'ready';
CREATE INDEX slack_lane_waiting ON slack_lane (waits_for) WHERE state = 'waiting';

-- When a method, or posting in a channel, is allowed again: a restart obeys a Retry-After, too.
-- 'slack' stands for all calls.
-- small
-- upserts: a gate is made by whoever needs it first
-- fixed: a gate does not become another one
CREATE TABLE slack_gate (
  name       TEXT NOT NULL PRIMARY KEY,     -- fixed
  slot       TEXT NOT NULL,                 -- fixed: the poster's calls that it controls: post, call,
                                            -- view, read, all; note: none, it only reports a
                                            -- problem
  not_before TEXT NOT NULL DEFAULT '',      -- free: instant, '' at once
  spent_at   TEXT NOT NULL DEFAULT '',      -- free: when the calls of the last minute are paid off
  strikes    INTEGER NOT NULL DEFAULT 0,    -- free: refusals in a row
  why        TEXT                           -- free: what a person must know or fix; NULL: no problem
) STRICT;
INSERT INTO slack_gate (name, slot) VALUES ('slack', 'all'), ('conversations.history', 'read');
