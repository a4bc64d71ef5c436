-- Made by sqlgen from schema/. The schema that steps begin from, PRAGMA user_version 100.
-- Until release 0.2.0 it is rewritten whenever schema/ changes; from then on it is frozen.
-- frozen: no
CREATE TABLE agent (
  name               TEXT NOT NULL PRIMARY KEY,
  command            TEXT NOT NULL,
  args               TEXT NOT NULL CHECK (json_type(args) IS 'array'),
  protocol           TEXT NOT NULL CHECK (protocol IN ('mcp', 'acp', 'acp-stream')),
  env_pass           TEXT NOT NULL CHECK (json_type(env_pass) IS 'array'),
  env_set            TEXT NOT NULL CHECK (json_type(env_set) IS 'object'),
  workspace          TEXT,
  acp_version        TEXT NOT NULL CHECK (acp_version IN ('1', '2', 'auto')),
  auth_method        TEXT,
  asking             TEXT CHECK (asking IS NULL OR json_type(asking) IS 'object'),
  refused_modes      TEXT CHECK (refused_modes IS NULL OR json_type(refused_modes) IS 'array'),
  fence              TEXT CHECK (fence IS NULL OR json_type(fence) IS 'object'),
  startup_timeout_ms INTEGER NOT NULL CHECK (startup_timeout_ms > 0),
  max_line_length    INTEGER NOT NULL CHECK (max_line_length > 0),
  framing            TEXT NOT NULL CHECK (framing IN ('ndjson', 'lsp')),
  park_after_ms      INTEGER CHECK (park_after_ms >= 0),
  is_default         INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  is_builtin         INTEGER NOT NULL CHECK (is_builtin IN (0, 1)),
  updated_at         TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE UNIQUE INDEX agent_default ON agent (is_default) WHERE is_default = 1;
CREATE TABLE agent_input (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  session_seq  INTEGER NOT NULL REFERENCES session (seq),
  kind         TEXT NOT NULL CHECK (kind IN (
    'task',
    'return',
    'decision',
    'words',
    'steer')),
  text         TEXT,
  steering_seq INTEGER UNIQUE REFERENCES steering (seq),
  request_seq  INTEGER REFERENCES request (seq),
  run_seq      INTEGER REFERENCES agent_run (seq),
  sent_at      TEXT CHECK (sent_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at     TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  told_in      INTEGER REFERENCES agent_input (seq),
  created_at   TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((text IS NULL) = (kind = 'steer')),
  CHECK ((steering_seq IS NULL) = (kind <> 'steer')),
  CHECK (request_seq IS NULL OR kind = 'words'),
  CHECK ((run_seq IS NULL) = (sent_at IS NULL)),
  CHECK (ended_at IS NULL OR sent_at IS NOT NULL)
) STRICT;
CREATE INDEX agent_input_session ON agent_input (session_seq, seq);
CREATE INDEX agent_input_open ON agent_input (session_seq, seq) WHERE ended_at IS NULL AND told_in IS NULL;
CREATE INDEX agent_input_run ON agent_input (run_seq) WHERE run_seq IS NOT NULL;
CREATE INDEX agent_input_told ON agent_input (told_in) WHERE told_in IS NOT NULL;
CREATE INDEX agent_input_request ON agent_input (request_seq) WHERE request_seq IS NOT NULL;
CREATE TABLE agent_question (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  request_seq  INTEGER NOT NULL REFERENCES request (seq),
  run_seq      INTEGER NOT NULL REFERENCES agent_run (seq),
  rpc_id       TEXT NOT NULL,
  tool_call_id TEXT,
  options      TEXT CHECK (options IS NULL OR json_valid(options)),
  form         TEXT CHECK (form IS NULL OR json_valid(form)),
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  answered_at  TEXT CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'),
  withdrawn_at TEXT CHECK (withdrawn_at GLOB '????-??-??T??:??:??.???Z'),
  why          TEXT,
  told_seq     INTEGER REFERENCES agent_input (seq),
  CHECK (answered_at IS NULL OR withdrawn_at IS NULL)
) STRICT;
CREATE INDEX agent_question_open ON agent_question (run_seq)
  WHERE answered_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX agent_question_run ON agent_question (run_seq);
CREATE UNIQUE INDEX agent_question_request ON agent_question (request_seq)
  WHERE answered_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX agent_question_of ON agent_question (request_seq);
CREATE INDEX agent_question_told ON agent_question (told_seq) WHERE told_seq IS NOT NULL;
CREATE TABLE agent_run (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  session_seq    INTEGER NOT NULL REFERENCES session (seq),
  generation     INTEGER NOT NULL CHECK (generation > 0),
  machine        TEXT NOT NULL,
  agent          TEXT NOT NULL,
  protocol       TEXT NOT NULL CHECK (protocol IN ('mcp', 'acp', 'acp-stream')),
  command_seq    INTEGER REFERENCES command (seq),
  prompt         TEXT,
  park_after_ms  INTEGER CHECK (park_after_ms >= 0),
  resumes_seq    INTEGER REFERENCES gate_call (seq),
  state          TEXT NOT NULL,
  pid            INTEGER CHECK (pid > 1),
  process_start  INTEGER,
  uid            INTEGER CHECK (uid > 0),
  fence          TEXT,
  stop_wanted_at TEXT CHECK (stop_wanted_at GLOB '????-??-??T??:??:??.???Z'),
  stop_why       TEXT,
  stop_keeps     INTEGER NOT NULL DEFAULT 0 CHECK (stop_keeps IN (0, 1)),
  peer_session   TEXT,
  token_hash     TEXT CHECK (length(token_hash) = 64),
  outcome        TEXT CHECK (outcome IN (
    'exited',
    'failed',
    'stopped',
    'parked',
    'interrupted')),
  parked_seq     INTEGER REFERENCES gate_call (seq),
  exit_code      INTEGER,
  exit_signal    INTEGER,
  why            TEXT,
  stderr_tail    TEXT,
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  started_at     TEXT CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at       TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK ((outcome IS 'parked') = (parked_seq IS NOT NULL)),
  CHECK (state <> 'running' OR (pid IS NOT NULL AND started_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX agent_run_open ON agent_run (session_seq) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX agent_run_token ON agent_run (token_hash) WHERE token_hash IS NOT NULL;
CREATE UNIQUE INDEX agent_run_session ON agent_run (session_seq, generation);
CREATE INDEX agent_run_live ON agent_run (machine, seq) WHERE ended_at IS NULL;
CREATE INDEX agent_run_command ON agent_run (command_seq) WHERE command_seq IS NOT NULL;
CREATE INDEX agent_run_resumes ON agent_run (resumes_seq) WHERE resumes_seq IS NOT NULL;
CREATE INDEX agent_run_parked ON agent_run (parked_seq) WHERE parked_seq IS NOT NULL;
CREATE TABLE agent_run_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_turn (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  run_seq      INTEGER NOT NULL REFERENCES agent_run (seq),
  number       INTEGER NOT NULL CHECK (number > 0),
  input_seq    INTEGER REFERENCES agent_input (seq),
  began_at     TEXT NOT NULL CHECK (began_at GLOB '????-??-??T??:??:??.???Z'),
  stop         TEXT CHECK (stop IN (
    'end_turn', 'max_turn_requests', 'max_tokens', 'refusal', 'cancelled', 'error', 'other')),
  why          TEXT,
  ended_at     TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  followed_at  TEXT CHECK (followed_at GLOB '????-??-??T??:??:??.???Z'),
  followed_by  INTEGER,
  shown_at     TEXT CHECK (shown_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (stop IS NULL OR ended_at IS NOT NULL),
  CHECK (followed_by IS NULL OR followed_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX agent_turn_run ON agent_turn (run_seq, number);
CREATE UNIQUE INDEX agent_turn_input ON agent_turn (input_seq) WHERE input_seq IS NOT NULL;
CREATE TABLE agent_line_kind (
  kind TEXT NOT NULL PRIMARY KEY,
  part TEXT
) STRICT;
CREATE TABLE agent_line (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  run_seq  INTEGER NOT NULL REFERENCES agent_run (seq),
  turn_seq INTEGER REFERENCES agent_turn (seq),
  kind     TEXT NOT NULL,
  key      TEXT,
  text     TEXT,
  detail   TEXT CHECK (detail IS NULL OR json_valid(detail)),
  at       TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  over_at  TEXT CHECK (over_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (key IS NOT NULL OR over_at IS NOT NULL)
) STRICT;
CREATE INDEX agent_line_run ON agent_line (run_seq, seq);
CREATE INDEX agent_line_turn ON agent_line (turn_seq) WHERE turn_seq IS NOT NULL;
CREATE UNIQUE INDEX agent_line_key ON agent_line (turn_seq, kind, key) WHERE key IS NOT NULL;
CREATE TABLE agent_usage (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0),
  run_seq       INTEGER NOT NULL REFERENCES agent_run (seq),
  day           TEXT NOT NULL CHECK (day GLOB '????-??-??'),
  input_tokens  INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  total_tokens  INTEGER NOT NULL DEFAULT 0,
  cost_micros   INTEGER NOT NULL DEFAULT 0,
  currency      TEXT,
  context_used  INTEGER,
  context_size  INTEGER,
  updated_at    TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE UNIQUE INDEX agent_usage_run ON agent_usage (run_seq, day);
CREATE INDEX agent_usage_day ON agent_usage (day);
CREATE TABLE alias_run (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  command_seq    INTEGER REFERENCES command (seq),
  alias          TEXT NOT NULL,
  command        TEXT NOT NULL,
  session_seq    INTEGER REFERENCES session (seq),
  workspace_root TEXT NOT NULL,
  lane           TEXT NOT NULL,
  machine        TEXT NOT NULL,
  operator_id    TEXT NOT NULL,
  channel_id     TEXT,
  state          TEXT NOT NULL DEFAULT 'queued',
  worker_id      TEXT,
  pid            INTEGER CHECK (pid > 1),
  process_start  INTEGER,
  uid            INTEGER CHECK (uid > 0),
  stop_wanted_at TEXT CHECK (stop_wanted_at GLOB '????-??-??T??:??:??.???Z'),
  stopped_by     TEXT,
  outcome        TEXT CHECK (outcome IN (
    'done',
    'failed',
    'stopped',
    'timeout',
    'interrupted')),
  exit_code      INTEGER,
  exit_signal    INTEGER,
  why            TEXT,
  bytes          INTEGER NOT NULL DEFAULT 0,
  shown          TEXT,
  shown_at       TEXT CHECK (shown_at GLOB '????-??-??T??:??:??.???Z'),
  content_seq    INTEGER REFERENCES content (seq),
  cut_bytes      INTEGER NOT NULL DEFAULT 0,
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  started_at     TEXT CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at       TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK (state <> 'running' OR (pid IS NOT NULL AND started_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX alias_run_busy ON alias_run (machine, lane) WHERE state IN ('starting', 'running');
CREATE INDEX alias_run_lane ON alias_run (machine, lane, seq) WHERE ended_at IS NULL;
CREATE INDEX alias_run_open ON alias_run (machine, seq) WHERE ended_at IS NULL;
CREATE INDEX alias_run_session ON alias_run (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX alias_run_command ON alias_run (command_seq) WHERE command_seq IS NOT NULL;
CREATE INDEX alias_run_content ON alias_run (content_seq) WHERE content_seq IS NOT NULL;
CREATE TABLE alias_run_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE apply (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0),
  request_seq   INTEGER NOT NULL REFERENCES request (seq),
  kind          TEXT NOT NULL DEFAULT 'write' CHECK (kind IN ('write', 'undo', 'restore')),
  command_seq   INTEGER REFERENCES command (seq),
  machine       TEXT NOT NULL,
  force         INTEGER NOT NULL DEFAULT 0 CHECK (force IN (0, 1)),
  question_seq  INTEGER REFERENCES request (seq),
  state         TEXT NOT NULL,
  claim         INTEGER NOT NULL DEFAULT 0,
  worker_id     TEXT,
  attempts      INTEGER NOT NULL DEFAULT 0,
  forced        INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)),
  error_code    TEXT,
  why           TEXT,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at    TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state IN ('refused', 'dead')) = (error_code IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX apply_open ON apply (request_seq) WHERE state IN ('queued', 'claimed');
CREATE UNIQUE INDEX apply_once ON apply (request_seq) WHERE state = 'applied';
CREATE UNIQUE INDEX apply_undone ON apply (request_seq) WHERE state = 'undone';
CREATE INDEX apply_queue ON apply (machine, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX apply_request ON apply (request_seq, seq);
CREATE INDEX apply_question ON apply (question_seq) WHERE question_seq IS NOT NULL;
CREATE INDEX apply_command ON apply (command_seq) WHERE command_seq IS NOT NULL;
CREATE TABLE apply_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE auto_notice (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  session_seq INTEGER NOT NULL REFERENCES session (seq),
  due_at      TEXT NOT NULL CHECK (due_at GLOB '????-??-??T??:??:??.???Z'),
  told_at     TEXT CHECK (told_at GLOB '????-??-??T??:??:??.???Z'),
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX auto_notice_session ON auto_notice (session_seq);
CREATE INDEX auto_notice_due ON auto_notice (due_at) WHERE told_at IS NULL;
CREATE UNIQUE INDEX auto_notice_open ON auto_notice (session_seq) WHERE told_at IS NULL;
CREATE TABLE auto_approval (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  session_seq INTEGER NOT NULL REFERENCES session (seq),
  request_seq INTEGER,
  subject     TEXT NOT NULL,
  rule        TEXT NOT NULL,
  hash        TEXT NOT NULL,
  due_at      TEXT NOT NULL CHECK (due_at GLOB '????-??-??T??:??:??.???Z'),
  notice_seq  INTEGER REFERENCES auto_notice (seq),
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX auto_approval_session ON auto_approval (session_seq);
CREATE INDEX auto_approval_notice ON auto_approval (notice_seq, seq) WHERE notice_seq IS NOT NULL;
CREATE TABLE broadcast_wait (
  call_seq INTEGER NOT NULL PRIMARY KEY REFERENCES tool_call (seq) ON DELETE CASCADE,
  ts       TEXT,
  refused  INTEGER NOT NULL DEFAULT 0 CHECK (refused IN (0, 1))
) STRICT;
CREATE TABLE checkpoint (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  id                TEXT NOT NULL UNIQUE,
  session_id        TEXT REFERENCES session (id),
  label             TEXT,
  session_state     TEXT NOT NULL CHECK (json_valid(session_state)),
  file_hashes       TEXT CHECK (file_hashes IS NULL OR json_valid(file_hashes)),
  workspace_root    TEXT NOT NULL,
  progress_snapshot TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)),
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  kind              TEXT NOT NULL CHECK (kind IN ('ordered', 'start', 'apply', 'restore', 'diff')),
  machine           TEXT NOT NULL,
  command_seq       INTEGER REFERENCES command (seq),
  apply_seq         INTEGER REFERENCES apply (seq),
  state             TEXT NOT NULL,
  claim             INTEGER NOT NULL DEFAULT 0,
  attempts          INTEGER NOT NULL DEFAULT 0,
  worker_id         TEXT,
  manifest          TEXT CHECK (length(manifest) = 64),
  files             INTEGER,
  links             INTEGER,
  folders           INTEGER,
  left_out          INTEGER,
  bytes             INTEGER,
  added_bytes       INTEGER,
  why               TEXT,
  updated_at        TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (state NOT IN ('done', 'lost') OR (manifest IS NOT NULL AND files IS NOT NULL)),
  CHECK (state NOT IN ('refused', 'lost') OR why IS NOT NULL)
) STRICT;
CREATE INDEX checkpoint_session ON checkpoint (session_id, seq);
CREATE INDEX checkpoint_queue ON checkpoint (machine, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX checkpoint_held ON checkpoint (seq) WHERE state = 'done';
CREATE INDEX checkpoint_old ON checkpoint (created_at);
CREATE INDEX checkpoint_command ON checkpoint (command_seq) WHERE command_seq IS NOT NULL;
CREATE INDEX checkpoint_apply ON checkpoint (apply_seq) WHERE apply_seq IS NOT NULL;
CREATE TABLE checkpoint_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE command (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  verb        ANY,
  session_id  ANY,
  argument    ANY,
  operator_id ANY,
  source      ANY DEFAULT 'sql',
  created_at  ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  outcome     TEXT CHECK (outcome IN ('done', 'unauthorized', 'not_found', 'malformed', 'refused')),
  reply       TEXT,
  why         TEXT
) STRICT;
CREATE TABLE command_verb (
  verb TEXT NOT NULL PRIMARY KEY,
  does TEXT NOT NULL CHECK (does IN (
    'switch',
    'session',
    'start',
    'clean',
    'undo',
    'look',
    'checkpoint',
    'restore',
    'run',
    'read',
    'later'))
) STRICT, WITHOUT ROWID;
CREATE TABLE connection (
  seq              INTEGER PRIMARY KEY CHECK (seq > 0),
  key              TEXT NOT NULL UNIQUE,
  machine          TEXT NOT NULL,
  transport        TEXT NOT NULL CHECK (transport IN ('stdio', 'http', 'stateless', 'hook')),
  protocol_version TEXT NOT NULL,
  client_name      TEXT,
  client_version   TEXT,
  process          TEXT,
  host_process     TEXT,
  elicits          INTEGER NOT NULL DEFAULT 0 CHECK (elicits IN (0, 1)),
  uid              INTEGER CHECK (uid >= 0),
  session_seq      INTEGER REFERENCES session (seq),
  identity         TEXT NOT NULL,
  state            TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'lost', 'closed')),
  created_at       TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  closed_at        TEXT CHECK (closed_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX connection_session ON connection (session_seq) WHERE state = 'open';
CREATE INDEX connection_of ON connection (session_seq, created_at);
CREATE INDEX connection_host ON connection (host_process) WHERE state = 'open' AND host_process IS NOT NULL;
CREATE INDEX connection_stdio ON connection (machine) WHERE state = 'open' AND transport = 'stdio';
CREATE TABLE connection_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE content (
  seq   INTEGER PRIMARY KEY CHECK (seq > 0),
  hash  TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  size  INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE TABLE decision (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  request_id  ANY,
  verdict     ANY,
  reason      ANY,
  instruction ANY,
  choice      ANY,
  edited      ANY,
  edited_seq  INTEGER REFERENCES content (seq),
  digest      ANY,
  operator_id ANY,
  source      ANY DEFAULT 'sql',
  proof       ANY,
  created_at  ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  outcome     TEXT CHECK (outcome IN ('applied', 'duplicate', 'unauthorized', 'not_found',
                          'too_late', 'not_in_this_mode', 'wrong_verb', 'malformed')),
  why         TEXT
) STRICT;
CREATE UNIQUE INDEX decision_first ON decision (request_id) WHERE outcome = 'applied';
CREATE INDEX decision_request ON decision (request_id) WHERE outcome <> 'applied';
CREATE INDEX decision_edited ON decision (edited_seq) WHERE edited_seq IS NOT NULL;
CREATE TABLE ended_call (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  call_seq   INTEGER NOT NULL,
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE event (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  at          TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  kind        TEXT NOT NULL,
  session_seq INTEGER,
  request_seq INTEGER,
  call_seq    INTEGER,
  actor       TEXT,
  detail      TEXT CHECK (detail IS NULL OR json_valid(detail))
) STRICT;
CREATE INDEX event_session ON event (session_seq, seq);
CREATE INDEX event_request ON event (request_seq, seq) WHERE request_seq IS NOT NULL;
CREATE TABLE fence_refusal (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  machine    TEXT NOT NULL,
  worker     TEXT NOT NULL,
  what       TEXT NOT NULL CHECK (what IN ('call', 'path')),
  name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  count      INTEGER NOT NULL CHECK (count > 0),
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE file_change (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  apply_seq   INTEGER NOT NULL REFERENCES apply (seq),
  path        TEXT NOT NULL,
  action      TEXT NOT NULL CHECK (action IN ('create', 'modify', 'delete')),
  other_path  TEXT,
  hash_before TEXT NOT NULL,
  hash_after  TEXT NOT NULL,
  mode_before INTEGER,
  mode_after  INTEGER,
  bytes       INTEGER NOT NULL,
  before_seq  INTEGER REFERENCES content (seq),
  made_from   INTEGER NOT NULL DEFAULT 0,
  temp_name   TEXT,
  backup_name TEXT,
  state       TEXT NOT NULL,
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at  TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX file_change_apply ON file_change (apply_seq, seq);
CREATE INDEX file_change_image ON file_change (updated_at) WHERE before_seq IS NOT NULL;
CREATE INDEX file_change_before ON file_change (before_seq) WHERE before_seq IS NOT NULL;
CREATE TABLE file_change_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE file_look (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  command_seq    INTEGER NOT NULL REFERENCES command (seq),
  what           TEXT NOT NULL CHECK (what IN ('folder', 'file', 'diff')),
  machine        TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  session_seq    INTEGER REFERENCES session (seq),
  path           TEXT NOT NULL,
  depth          INTEGER CHECK (depth BETWEEN 1 AND 10),
  first_line     INTEGER CHECK (first_line > 0),
  last_line      INTEGER CHECK (last_line >= first_line),
  checkpoint_id  TEXT,
  now_id         TEXT,
  channel_id     TEXT,
  thread_ts      TEXT,
  state          TEXT NOT NULL DEFAULT 'queued',
  claim          INTEGER NOT NULL DEFAULT 0,
  worker_id      TEXT,
  attempts       INTEGER NOT NULL DEFAULT 0,
  content_seq    INTEGER REFERENCES content (seq),
  is_long        INTEGER NOT NULL DEFAULT 0 CHECK (is_long IN (0, 1)),
  detail         TEXT CHECK (detail IS NULL OR json_valid(detail)),
  why            TEXT,
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  settled_at     TEXT CHECK (settled_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state IN ('done', 'refused')) = (settled_at IS NOT NULL)),
  CHECK ((state = 'done') = (content_seq IS NOT NULL)),
  CHECK ((state = 'done') = (detail IS NOT NULL)),
  CHECK ((state = 'refused') = (why IS NOT NULL)),
  CHECK ((what = 'diff') = (checkpoint_id IS NOT NULL)),
  CHECK ((what = 'diff') = (now_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX file_look_command ON file_look (command_seq);
CREATE INDEX file_look_queue ON file_look (machine, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX file_look_session ON file_look (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX file_look_content ON file_look (content_seq) WHERE content_seq IS NOT NULL;
CREATE TABLE file_look_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE file_view (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  request_seq INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
  channel_id  TEXT,
  thread_ts   TEXT,
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE gate_call (
  seq          INTEGER PRIMARY KEY CHECK (seq > 0),
  call_seq     INTEGER NOT NULL REFERENCES tool_call (seq),
  session_seq  INTEGER NOT NULL REFERENCES session (seq),
  host         TEXT NOT NULL,
  version      TEXT,
  helper       TEXT NOT NULL,
  host_session TEXT,
  event        TEXT NOT NULL,
  moment       TEXT NOT NULL CHECK (moment IN ('pre_tool', 'post_tool', 'permission', 'prompt',
                 'notification', 'stop', 'stop_failure', 'session_start', 'session_end')),
  tool         TEXT,
  class        TEXT CHECK (class IN ('read', 'edit', 'execute', 'network', 'mcp', 'agent', 'question',
                 'plan', 'other')),
  tool_use_id  TEXT,
  cwd          TEXT,
  digest       TEXT NOT NULL CHECK (length(digest) = 64),
  pre_seq      INTEGER REFERENCES gate_call (seq),
  request_seq  INTEGER REFERENCES request (seq),
  transcript   TEXT,
  detail       TEXT CHECK (detail IS NULL OR json_valid(detail)),
  options      TEXT CHECK (options IS NULL OR json_valid(options)),
  parks        INTEGER NOT NULL DEFAULT 0 CHECK (parks IN (0, 1)),
  decision     TEXT NOT NULL DEFAULT 'open',
  reason       TEXT,
  created_at   TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  decided_at   TEXT CHECK (decided_at GLOB '????-??-??T??:??:??.???Z'),
  took_ms      INTEGER CHECK (took_ms >= 0),
  withheld_at  TEXT CHECK (withheld_at GLOB '????-??-??T??:??:??.???Z'),
  seen         TEXT CHECK (seen IN ('same', 'differs', 'failed', 'unknown')),
  seen_at      TEXT CHECK (seen_at GLOB '????-??-??T??:??:??.???Z'),
  seen_why     TEXT,
  CHECK ((decision = 'open') = (decided_at IS NULL)),
  CHECK ((seen IS NULL) = (seen_at IS NULL)),
  CHECK (decision <> 'open' OR request_seq IS NOT NULL),
  CHECK (parks = 0 OR (request_seq IS NOT NULL AND host_session IS NOT NULL AND moment = 'pre_tool')),
  CHECK (decision <> 'defer' OR parks = 1),
  CHECK (withheld_at IS NULL OR (decision = 'deny' AND request_seq IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX gate_call_call ON gate_call (call_seq);
CREATE UNIQUE INDEX gate_call_used ON gate_call (request_seq)
  WHERE decision = 'allow' AND request_seq IS NOT NULL;
CREATE INDEX gate_call_session ON gate_call (session_seq, seq);
CREATE INDEX gate_call_allowed ON gate_call (session_seq, digest, seq)
  WHERE moment = 'pre_tool' AND decision = 'allow' AND seen IS NULL;
CREATE INDEX gate_call_transcript ON gate_call (session_seq, seq) WHERE transcript IS NOT NULL;
CREATE INDEX gate_call_request ON gate_call (request_seq) WHERE request_seq IS NOT NULL;
CREATE INDEX gate_call_pre ON gate_call (pre_seq) WHERE pre_seq IS NOT NULL;
CREATE INDEX gate_call_amiss ON gate_call (seq) WHERE seen = 'differs';
CREATE INDEX gate_call_unasked ON gate_call (seq)
  WHERE moment = 'post_tool' AND pre_seq IS NULL AND class <> 'read';
CREATE TABLE gate_call_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE gate_file (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0),
  gate_seq      INTEGER NOT NULL REFERENCES gate_call (seq),
  path          TEXT NOT NULL,
  target        TEXT NOT NULL,
  original_hash TEXT NOT NULL,
  result_hash   TEXT NOT NULL,
  seen_hash     TEXT
) STRICT;
CREATE UNIQUE INDEX gate_file_path ON gate_file (gate_seq, path);
CREATE TABLE gate_canary (
  host    TEXT NOT NULL,
  version TEXT NOT NULL,
  state   TEXT NOT NULL CHECK (state IN ('closed', 'open', 'unknown')),
  detail  TEXT NOT NULL,
  helper  TEXT NOT NULL,
  at      TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  PRIMARY KEY (host, version)
) STRICT;
CREATE TABLE gate_install (
  machine TEXT NOT NULL,
  host    TEXT NOT NULL,
  path    TEXT NOT NULL,
  at      TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  PRIMARY KEY (machine, host, path)
) STRICT;
CREATE TABLE gate_client (
  client       TEXT PRIMARY KEY,
  host         TEXT NOT NULL,
  is_versioned INTEGER NOT NULL CHECK (is_versioned IN (0, 1)),
  runs_hooks   INTEGER NOT NULL CHECK (runs_hooks IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE TABLE gate_lapse (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  kind        TEXT NOT NULL CHECK (kind IN (
    'switched_off',
    'removed',
    'broken',
    'silent',
    'untried',
    'unasked',
    'unexplained')),
  machine     TEXT NOT NULL,
  host        TEXT NOT NULL,
  subject     TEXT NOT NULL,
  session_seq INTEGER REFERENCES session (seq),
  detail      TEXT NOT NULL,
  found_at    TEXT NOT NULL CHECK (found_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at    TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE UNIQUE INDEX gate_lapse_open ON gate_lapse (machine, kind, host, subject) WHERE ended_at IS NULL;
CREATE INDEX gate_lapse_session ON gate_lapse (session_seq, seq) WHERE session_seq IS NOT NULL;
CREATE TABLE gate_rewrite (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  gate_seq    INTEGER NOT NULL REFERENCES gate_call (seq),
  session_seq INTEGER NOT NULL REFERENCES session (seq),
  request_seq INTEGER NOT NULL REFERENCES request (seq),
  is_told     INTEGER NOT NULL CHECK (is_told IN (0, 1)),
  digest      TEXT NOT NULL CHECK (length(digest) = 64),
  text_hash   TEXT NOT NULL CHECK (length(text_hash) = 64),
  created_at  TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE UNIQUE INDEX gate_rewrite_gate ON gate_rewrite (gate_seq);
CREATE INDEX gate_rewrite_digest ON gate_rewrite (session_seq, digest, seq);
CREATE INDEX gate_rewrite_request ON gate_rewrite (request_seq);
CREATE TABLE metric_family (
  family TEXT NOT NULL PRIMARY KEY,
  type   TEXT NOT NULL CHECK (type IN ('gauge', 'counter', 'histogram')),
  unit   TEXT NOT NULL,
  help   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE metric_bucket (
  family   TEXT NOT NULL,
  bound_ms INTEGER NOT NULL,
  le       TEXT NOT NULL,
  PRIMARY KEY (family, bound_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE metric_tally (
  family TEXT NOT NULL,
  labels TEXT NOT NULL,
  le     TEXT NOT NULL,
  value  INTEGER NOT NULL,
  PRIMARY KEY (family, labels, le)
) STRICT, WITHOUT ROWID;
CREATE TABLE metric_cursor (
  noun  TEXT NOT NULL PRIMARY KEY,
  upto  INTEGER NOT NULL DEFAULT 0,
  until INTEGER NOT NULL DEFAULT 9223372036854775807
) STRICT, WITHOUT ROWID;
CREATE TABLE operator (
  id         TEXT NOT NULL PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('local', 'slack', 'system')),
  team_id    TEXT,
  user_id    TEXT NOT NULL,
  active     INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
             CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (kind <> 'slack' OR team_id IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX operator_default ON operator (is_default) WHERE is_default = 1;
CREATE TABLE pause (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  session_seq INTEGER NOT NULL REFERENCES session (seq),
  operator_id TEXT,
  why         TEXT,
  paused_at   TEXT NOT NULL CHECK (paused_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at    TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE UNIQUE INDEX pause_open ON pause (session_seq) WHERE ended_at IS NULL;
CREATE INDEX pause_session ON pause (session_seq);
CREATE TABLE policy (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  machine        TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('loaded', 'broken', 'gone')),
  hash           TEXT NOT NULL,
  why            TEXT,
  content_seq    INTEGER REFERENCES content (seq),
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state = 'broken') = (why IS NOT NULL))
) STRICT;
CREATE INDEX policy_newest ON policy (workspace_root, machine, seq);
CREATE INDEX policy_content ON policy (content_seq) WHERE content_seq IS NOT NULL;
CREATE TABLE policy_trust (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  machine        TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  hash           TEXT NOT NULL CHECK (length(hash) = 64),
  content_seq    INTEGER NOT NULL REFERENCES content (seq),
  operator_id    TEXT NOT NULL,
  request_seq    INTEGER,
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX policy_trust_newest ON policy_trust (workspace_root, machine, seq);
CREATE INDEX policy_trust_content ON policy_trust (content_seq);
CREATE TABLE request (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  id              TEXT NOT NULL UNIQUE,
  session_seq     INTEGER NOT NULL REFERENCES session (seq),
  kind            TEXT NOT NULL,
  state           TEXT NOT NULL,
  digest          TEXT NOT NULL CHECK (length(digest) = 64),
  title           TEXT NOT NULL,
  description     TEXT,
  description_seq INTEGER REFERENCES content (seq),
  notes_length    INTEGER NOT NULL DEFAULT 0 CHECK (notes_length >= 0),
  body            TEXT,
  body_seq        INTEGER REFERENCES content (seq),
  effect          TEXT,
  effect_seq      INTEGER REFERENCES content (seq),
  replaces_file   INTEGER NOT NULL DEFAULT 0 CHECK (replaces_file IN (0, 1)),
  file_path       TEXT,
  risk_level      TEXT CHECK (risk_level IN ('low', 'high', 'critical')),
  original_hash   TEXT,
  prompt_type     TEXT CHECK (prompt_type IN
                  ('continuation', 'clarification', 'error_recovery', 'resource_warning')),
  editable        TEXT CHECK (editable IN ('command', 'content')),
  elapsed_seconds INTEGER,
  actions_taken   INTEGER,
  timeout_ms      INTEGER,
  deadline_at     TEXT CHECK (deadline_at GLOB '????-??-??T??:??:??.???Z'),
  remaining_ms    INTEGER,
  decision_seq    INTEGER,
  decision        TEXT,
  reason          TEXT,
  instruction     TEXT,
  decided_by      TEXT,
  decided_at      TEXT CHECK (decided_at GLOB '????-??-??T??:??:??.???Z'),
  delivered_at    TEXT CHECK (delivered_at GLOB '????-??-??T??:??:??.???Z'),
  consumed_at     TEXT CHECK (consumed_at GLOB '????-??-??T??:??:??.???Z'),
  previous_seq    INTEGER REFERENCES request (seq),
  slack_ts        TEXT,
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at      TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (kind <> 'clearance' OR
         (file_path IS NOT NULL AND risk_level IS NOT NULL AND original_hash IS NOT NULL)),
  CHECK (kind <> 'prompt' OR prompt_type IS NOT NULL),
  CHECK (kind = 'permission' OR editable IS NULL),
  CHECK (state = 'pending' OR deadline_at IS NULL),
  CHECK (state = 'interrupted' OR remaining_ms IS NULL),
  CHECK ((state IN ('pending', 'interrupted')) = (decision_seq IS NULL)),
  CHECK ((state = 'consumed') = (consumed_at IS NOT NULL))
) STRICT;
CREATE INDEX request_session ON request (session_seq, digest, seq);
CREATE UNIQUE INDEX request_open ON request (session_seq, digest)
  WHERE state IN ('pending', 'interrupted');
CREATE INDEX request_digest ON request (digest, seq);
CREATE INDEX request_due ON request (deadline_at) WHERE state = 'pending' AND deadline_at IS NOT NULL;
CREATE INDEX request_undelivered ON request (session_seq)
  WHERE delivered_at IS NULL AND state NOT IN ('pending', 'interrupted');
CREATE INDEX request_previous ON request (previous_seq) WHERE previous_seq IS NOT NULL;
CREATE INDEX request_description ON request (description_seq) WHERE description_seq IS NOT NULL;
CREATE INDEX request_body ON request (body_seq) WHERE body_seq IS NOT NULL;
CREATE INDEX request_effect ON request (effect_seq) WHERE effect_seq IS NOT NULL;
CREATE TABLE request_kind (
  kind         TEXT NOT NULL PRIMARY KEY,
  is_kept      INTEGER NOT NULL,
  is_written   INTEGER NOT NULL,
  has_paths    INTEGER NOT NULL,
  on_timeout   TEXT NOT NULL,
  stop_verdict TEXT NOT NULL,
  stop_reason  TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE request_move (
  kind TEXT NOT NULL,
  src  TEXT NOT NULL,
  dst  TEXT NOT NULL,
  PRIMARY KEY (kind, src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE request_verdict (
  kind    TEXT NOT NULL,
  verdict TEXT NOT NULL,
  state   TEXT NOT NULL,
  PRIMARY KEY (kind, verdict)
) STRICT, WITHOUT ROWID;
CREATE TABLE request_file (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0),
  request_seq   INTEGER NOT NULL REFERENCES request (seq),
  path          TEXT NOT NULL,
  target        TEXT NOT NULL DEFAULT '',
  action        TEXT NOT NULL CHECK (action IN ('create', 'modify', 'delete', 'read')),
  other_path    TEXT,
  mode          INTEGER NOT NULL DEFAULT 0,
  original_hash TEXT NOT NULL,
  result_hash   TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX request_file_path ON request_file (request_seq, path);
CREATE INDEX request_file_target ON request_file (target);
CREATE TABLE rule_set (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  hash       TEXT NOT NULL CHECK (length(hash) = 64),
  found      TEXT,
  created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE seal (
  seq  INTEGER PRIMARY KEY CHECK (seq > 0),
  hash TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;
CREATE TABLE audit_cut (
  upto INTEGER PRIMARY KEY CHECK (upto > 0),
  hash TEXT NOT NULL,
  file TEXT,
  at   TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE seq_floor (
  noun TEXT NOT NULL PRIMARY KEY,
  seq  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE session (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  id                  TEXT NOT NULL UNIQUE,
  machine             TEXT NOT NULL,
  owner_user_id       TEXT NOT NULL,
  agent_uid           INTEGER CHECK (agent_uid >= 0),
  agent_user          TEXT,
  workspace_root      TEXT NOT NULL,
  status              TEXT NOT NULL,
  prompt              TEXT,
  mode                TEXT NOT NULL CHECK (mode IN ('remote', 'local', 'hybrid')),
  protocol_mode       TEXT NOT NULL DEFAULT 'mcp' CHECK (protocol_mode IN ('mcp', 'acp')),
  origin              TEXT NOT NULL DEFAULT 'direct' CHECK (origin IN ('direct', 'started', 'folder')),
  channel_id          TEXT,
  thread_ts           TEXT,
  connectivity_status TEXT NOT NULL DEFAULT 'online'
                      CHECK (connectivity_status IN ('online', 'offline', 'stalled')),
  client_name         TEXT,
  label               TEXT,
  last_tool           TEXT,
  nudge_count         INTEGER NOT NULL DEFAULT 0,
  stall_paused        INTEGER NOT NULL DEFAULT 0 CHECK (stall_paused IN (0, 1)),
  wait_limit_ms       INTEGER,
  progress_snapshot   TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)),
  restart_of          TEXT REFERENCES session (id),
  idle_since          TEXT CHECK (idle_since GLOB '????-??-??T??:??:??.???Z'),
  created_at          TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at          TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  last_activity_at    TEXT CHECK (last_activity_at GLOB '????-??-??T??:??:??.???Z'),
  terminated_at       TEXT CHECK (terminated_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (origin <> 'folder' OR status = 'terminated')
) STRICT;
CREATE INDEX session_live ON session (workspace_root, machine) WHERE status <> 'terminated';
CREATE INDEX session_interrupted ON session (updated_at) WHERE status = 'interrupted';
CREATE INDEX session_terminated ON session (terminated_at, seq) WHERE terminated_at IS NOT NULL;
CREATE INDEX session_started ON session (status) WHERE origin = 'started' AND status <> 'terminated';
CREATE INDEX session_restart ON session (restart_of) WHERE restart_of IS NOT NULL;
CREATE INDEX session_idle ON session (idle_since) WHERE idle_since IS NOT NULL;
CREATE INDEX session_thread ON session (thread_ts) WHERE thread_ts IS NOT NULL;
CREATE INDEX session_recent ON session (last_activity_at) WHERE status <> 'terminated';
CREATE TABLE session_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE setting (
  name       TEXT NOT NULL PRIMARY KEY,
  value      TEXT NOT NULL,
  source     TEXT NOT NULL CHECK (source IN ('default', 'file', 'flag', 'env', 'ctl', 'system')),
  updated_at TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE slack_check (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  channel_id TEXT NOT NULL,
  asked_at   TEXT NOT NULL CHECK (asked_at GLOB '????-??-??T??:??:??.???Z'),
  expires_at TEXT NOT NULL CHECK (expires_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX slack_check_of ON slack_check (channel_id, seq);
CREATE INDEX slack_check_expires ON slack_check (expires_at);
CREATE TABLE slack_checked (
  check_seq   INTEGER NOT NULL PRIMARY KEY REFERENCES slack_check (seq) ON DELETE CASCADE,
  why         TEXT,
  answered_at TEXT NOT NULL CHECK (answered_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE slack_envelope (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  envelope_id  ANY,
  type         ANY,
  kind         ANY,
  team_id      ANY,
  user_id      ANY,
  channel_id   ANY,
  event_key    ANY,
  message_key  ANY,
  client_key   ANY,
  action       ANY,
  reading      ANY DEFAULT 'understood',
  problem      ANY,
  payload      ANY,
  created_at   ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  reply        TEXT,
  is_first     INTEGER NOT NULL DEFAULT 0 CHECK (is_first IN (0, 1)),
  first_seq    INTEGER,
  operator_id  TEXT,
  outcome      TEXT CHECK (outcome IN ('accepted', 'duplicate', 'unauthorized', 'ignored', 'malformed')),
  why          TEXT
) STRICT;
CREATE UNIQUE INDEX slack_envelope_once ON slack_envelope (envelope_id)
  WHERE is_first = 1 AND envelope_id IS NOT NULL;
CREATE UNIQUE INDEX slack_envelope_event ON slack_envelope (event_key)
  WHERE is_first = 1 AND event_key IS NOT NULL;
CREATE UNIQUE INDEX slack_envelope_message ON slack_envelope (message_key)
  WHERE is_first = 1 AND message_key IS NOT NULL;
CREATE UNIQUE INDEX slack_envelope_client ON slack_envelope (client_key)
  WHERE is_first = 1 AND client_key IS NOT NULL;
CREATE TABLE slack_read (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  channel_id TEXT NOT NULL,
  most       INTEGER NOT NULL CHECK (most BETWEEN 1 AND 100),
  asked_at   TEXT NOT NULL CHECK (asked_at GLOB '????-??-??T??:??:??.???Z'),
  expires_at TEXT NOT NULL CHECK (expires_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX slack_read_of ON slack_read (channel_id, most, seq);
CREATE INDEX slack_read_expires ON slack_read (expires_at);
CREATE TABLE slack_history (
  read_seq    INTEGER NOT NULL PRIMARY KEY REFERENCES slack_read (seq) ON DELETE CASCADE,
  messages    TEXT CHECK (messages IS NULL OR json_valid(messages)),
  why         TEXT,
  answered_at TEXT NOT NULL CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((messages IS NULL) <> (why IS NULL))
) STRICT;
CREATE TABLE slack_part (
  kind          TEXT NOT NULL PRIMARY KEY,
  send          TEXT NOT NULL,
  priority      INTEGER NOT NULL,
  edit_priority INTEGER NOT NULL,
  in_local      INTEGER NOT NULL
) STRICT;
CREATE TABLE slack_message (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  marker          TEXT NOT NULL DEFAULT (lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' ||
    substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
  kind            TEXT NOT NULL,
  session_seq     INTEGER REFERENCES session (seq),
  request_seq     INTEGER REFERENCES request (seq),
  apply_seq       INTEGER REFERENCES apply (seq),
  call_seq        INTEGER REFERENCES tool_call (seq),
  turn_seq        INTEGER REFERENCES agent_turn (seq),
  alias_run_seq   INTEGER REFERENCES alias_run (seq),
  channel_id      TEXT NOT NULL,
  root_seq        INTEGER,
  thread_ts       TEXT,
  text            TEXT,
  detail          TEXT CHECK (detail IS NULL OR json_valid(detail)),
  content_seq     INTEGER REFERENCES content (seq),
  file_name       TEXT,
  file_id         TEXT,
  ts              TEXT,
  generation      INTEGER NOT NULL DEFAULT 1,
  sent_generation INTEGER NOT NULL DEFAULT 0,
  state           TEXT NOT NULL DEFAULT 'queued',
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at      TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
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
CREATE TABLE slack_message_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE slack_kind (
  kind     TEXT NOT NULL PRIMARY KEY,
  class    TEXT NOT NULL CHECK (class IN ('lookup', 'repeatable', 'once')),
  gate     TEXT NOT NULL,
  slot     TEXT NOT NULL,
  priority INTEGER
) STRICT;
CREATE TABLE slack_outbox (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  kind         TEXT NOT NULL,
  message_seq  INTEGER REFERENCES slack_message (seq),
  request_seq  INTEGER,
  session_seq  INTEGER,
  view         TEXT CHECK (view IN ('reject', 'refine', 'nudge', 'resume', 'instruct', 'edit')),
  channel_id   TEXT,
  thread_ts    TEXT,
  user_id      TEXT,
  text         TEXT,
  replaces     INTEGER NOT NULL DEFAULT 0 CHECK (replaces IN (0, 1)),
  trigger_id   TEXT,
  response_url TEXT,
  expires_at   TEXT CHECK (expires_at GLOB '????-??-??T??:??:??.???Z'),
  lane_seq     INTEGER,
  priority     INTEGER NOT NULL DEFAULT 7,
  state        TEXT NOT NULL DEFAULT 'queued',
  form         TEXT NOT NULL DEFAULT 'blocks' CHECK (form IN ('blocks', 'plain', 'line')),
  generation   INTEGER,
  leader_seq   INTEGER,
  may_repeat   INTEGER NOT NULL DEFAULT 0 CHECK (may_repeat IN (0, 1)),
  claim        INTEGER NOT NULL DEFAULT 0,
  worker_id    TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  deaths       INTEGER NOT NULL DEFAULT 0,
  lookups      INTEGER NOT NULL DEFAULT 0,
  started_at   TEXT CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  due_at       TEXT CHECK (due_at GLOB '????-??-??T??:??:??.???Z'),
  why          TEXT,
  created_at   TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  settled_at   TEXT CHECK (settled_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state IN ('sent', 'dead')) = (settled_at IS NOT NULL)),
  CHECK (state <> 'dead' OR why IS NOT NULL),
  CHECK (kind NOT IN ('post', 'file', 'update', 'delete') OR message_seq IS NOT NULL)
) STRICT;
CREATE INDEX slack_outbox_message ON slack_outbox (message_seq, state) WHERE message_seq IS NOT NULL;
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
CREATE INDEX slack_outbox_view ON slack_outbox (request_seq, seq) WHERE kind = 'view_open';
CREATE TABLE slack_outbox_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE slack_lane (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  gate       TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  thread     TEXT NOT NULL,
  waits_for  INTEGER,
  state      TEXT NOT NULL CHECK (state IN ('ready', 'waiting', 'busy')),
  head       INTEGER,
  priority   INTEGER NOT NULL,
  due_at     TEXT NOT NULL,
  turn_at    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX slack_lane_of ON slack_lane (gate, channel_id, thread);
CREATE INDEX slack_lane_ready ON slack_lane (gate, priority, due_at, turn_at, head)
 WHERE state = 'ready';
CREATE INDEX slack_lane_due ON slack_lane (gate, due_at) WHERE state = 'ready';
CREATE INDEX slack_lane_waiting ON slack_lane (waits_for) WHERE state = 'waiting';
CREATE TABLE slack_gate (
  name       TEXT NOT NULL PRIMARY KEY,
  slot       TEXT NOT NULL,
  not_before TEXT NOT NULL DEFAULT '',
  spent_at   TEXT NOT NULL DEFAULT '',
  strikes    INTEGER NOT NULL DEFAULT 0,
  why        TEXT
) STRICT;
CREATE TABLE source (
  name          TEXT NOT NULL PRIMARY KEY,
  operator_kind TEXT NOT NULL,
  shut_in_mode  TEXT,
  decides       TEXT,
  orders        TEXT,
  steers        TEXT,
  rests_on      TEXT CHECK (rests_on IN (
    'envelope',
    'policy',
    'call',
    'editor',
    'owner'))
) STRICT, WITHOUT ROWID;
CREATE TABLE stall (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  id                TEXT NOT NULL UNIQUE,
  session_seq       INTEGER NOT NULL REFERENCES session (seq),
  status            TEXT NOT NULL DEFAULT 'pending',
  is_there          INTEGER NOT NULL DEFAULT 1 CHECK (is_there IN (0, 1)),
  last_tool         TEXT,
  last_activity_at  TEXT NOT NULL CHECK (last_activity_at GLOB '????-??-??T??:??:??.???Z'),
  idle_seconds      INTEGER NOT NULL CHECK (idle_seconds >= 0),
  cause             TEXT,
  progress_snapshot TEXT CHECK (progress_snapshot IS NULL OR json_valid(progress_snapshot)),
  nudge_count       INTEGER NOT NULL DEFAULT 0,
  auto_count        INTEGER NOT NULL DEFAULT 0,
  told_count        INTEGER NOT NULL DEFAULT 0,
  streamed_at       TEXT CHECK (streamed_at GLOB '????-??-??T??:??:??.???Z'),
  nudge_message     TEXT,
  nudged_by         TEXT,
  waits_since       TEXT CHECK (waits_since GLOB '????-??-??T??:??:??.???Z'),
  created_at        TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at        TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at          TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((status IN ('self_recovered', 'dismissed')) = (ended_at IS NOT NULL)),
  CHECK (waits_since IS NULL OR status IN ('pending', 'nudged')),
  CHECK (is_there = 1 OR waits_since IS NULL)
) STRICT;
CREATE UNIQUE INDEX stall_open ON stall (session_seq) WHERE ended_at IS NULL;
CREATE INDEX stall_session ON stall (session_seq, seq);
CREATE INDEX stall_waiting ON stall (waits_since) WHERE waits_since IS NOT NULL;
CREATE INDEX stall_untold ON stall (seq) WHERE ended_at IS NULL AND told_count < nudge_count;
CREATE TABLE stall_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE steering (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  kind         ANY DEFAULT 'steer',
  session_id   ANY,
  channel_id   ANY,
  text         ANY,
  operator_id  ANY,
  source       ANY DEFAULT 'sql',
  created_at   ANY DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  session_seq  INTEGER REFERENCES session (seq),
  stall_seq    INTEGER REFERENCES stall (seq),
  call_seq     INTEGER REFERENCES tool_call (seq),
  run_seq      INTEGER REFERENCES agent_run (seq),
  delivered_at TEXT CHECK (delivered_at GLOB '????-??-??T??:??:??.???Z'),
  outcome      TEXT CHECK (outcome IN ('accepted', 'unauthorized', 'not_found', 'not_in_this_mode',
                           'malformed')),
  why          TEXT,
  CHECK (delivered_at IS NULL OR call_seq IS NOT NULL OR run_seq IS NOT NULL)
) STRICT;
CREATE INDEX steering_waiting ON steering (session_seq, seq)
  WHERE outcome = 'accepted' AND delivered_at IS NULL;
CREATE INDEX steering_task ON steering (seq)
  WHERE outcome = 'accepted' AND session_seq IS NULL;
CREATE INDEX steering_left ON steering (session_seq)
  WHERE outcome = 'accepted' AND delivered_at IS NULL AND source <> 'clock';
CREATE INDEX steering_call ON steering (call_seq, seq) WHERE call_seq IS NOT NULL;
CREATE INDEX steering_session ON steering (session_seq) WHERE session_seq IS NOT NULL;
CREATE INDEX steering_run ON steering (run_seq) WHERE run_seq IS NOT NULL;
CREATE INDEX steering_stall ON steering (stall_seq) WHERE stall_seq IS NOT NULL;
CREATE TABLE time_gap (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  machine    TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('downtime', 'suspend', 'clock_step')),
  started_at TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at   TEXT NOT NULL CHECK (ended_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE TABLE tool_call (
  seq            INTEGER PRIMARY KEY CHECK (seq > 0),
  connection_seq INTEGER NOT NULL REFERENCES connection (seq),
  session_seq    INTEGER NOT NULL REFERENCES session (seq),
  rpc_id         TEXT NOT NULL,
  progress_token TEXT,
  traceparent    TEXT,
  era            TEXT NOT NULL CHECK (era IN ('legacy', 'modern')),
  tool           TEXT NOT NULL,
  arguments      TEXT,
  arguments_seq  INTEGER REFERENCES content (seq),
  digest         TEXT NOT NULL,
  task_id        TEXT,
  task_ttl_ms    INTEGER,
  state          TEXT NOT NULL,
  request_seq    INTEGER REFERENCES request (seq),
  apply_seq      INTEGER REFERENCES apply (seq),
  wait_until     TEXT CHECK (wait_until GLOB '????-??-??T??:??:??.???Z'),
  listener       TEXT,
  result         TEXT,
  result_seq     INTEGER REFERENCES content (seq),
  is_error       INTEGER NOT NULL DEFAULT 0 CHECK (is_error IN (0, 1)),
  told_answer    INTEGER NOT NULL DEFAULT 0 CHECK (told_answer IN (0, 1)),
  taken_back     INTEGER NOT NULL DEFAULT 0 CHECK (taken_back IN (0, 1)),
  created_at     TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  answered_at    TEXT CHECK (answered_at GLOB '????-??-??T??:??:??.???Z'),
  finished_at    TEXT CHECK (finished_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((state = 'done') = (finished_at IS NOT NULL)),
  CHECK (state <> 'answered' OR answered_at IS NOT NULL),
  CHECK (state <> 'waiting' OR request_seq IS NOT NULL OR apply_seq IS NOT NULL),
  CHECK (traceparent IS NULL
         OR (traceparent GLOB '00-????????????????????????????????-????????????????-??'
             AND traceparent NOT GLOB '*[^-0-9a-f]*' AND traceparent NOT GLOB '*-*-*-*-*'
             AND traceparent NOT GLOB '*-00000000000000000000000000000000-*'
             AND traceparent NOT GLOB '*-0000000000000000-*'))
) STRICT;
CREATE UNIQUE INDEX tool_call_task ON tool_call (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX tool_call_rpc ON tool_call (connection_seq, rpc_id);
CREATE INDEX tool_call_request ON tool_call (request_seq, seq) WHERE request_seq IS NOT NULL;
CREATE INDEX tool_call_apply ON tool_call (apply_seq) WHERE apply_seq IS NOT NULL;
CREATE INDEX tool_call_open ON tool_call (session_seq) WHERE state IN ('waiting', 'answered');
CREATE INDEX tool_call_due ON tool_call (wait_until) WHERE state = 'waiting' AND wait_until IS NOT NULL;
CREATE INDEX tool_call_taken_back ON tool_call (connection_seq) WHERE taken_back = 1;
CREATE INDEX tool_call_session ON tool_call (session_seq);
CREATE INDEX tool_call_arguments ON tool_call (arguments_seq) WHERE arguments_seq IS NOT NULL;
CREATE INDEX tool_call_result ON tool_call (result_seq) WHERE result_seq IS NOT NULL;
CREATE TABLE tool_call_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE upkeep (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  kind       TEXT NOT NULL CHECK (kind IN ('optimize', 'check', 'objects')),
  outcome    TEXT NOT NULL CHECK (outcome IN ('ok', 'damaged')),
  why        TEXT,
  started_at TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ended_at   TEXT NOT NULL CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK ((outcome = 'damaged') = (why IS NOT NULL)),
  CHECK (kind <> 'optimize' OR outcome = 'ok')
) STRICT;
CREATE INDEX upkeep_newest ON upkeep (kind, seq);
CREATE TABLE worker (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  id           TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  machine      TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  version      TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('starting', 'ready', 'stopped', 'died')),
  detail       TEXT,
  fence        TEXT,
  started_at   TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
  ready_at     TEXT CHECK (ready_at GLOB '????-??-??T??:??:??.???Z'),
  heartbeat_at TEXT NOT NULL CHECK (heartbeat_at GLOB '????-??-??T??:??:??.???Z'),
  stopped_at   TEXT CHECK (stopped_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE INDEX worker_live ON worker (machine, name) WHERE state IN ('starting', 'ready');
CREATE INDEX worker_heartbeat ON worker (heartbeat_at);
CREATE TABLE worker_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
CREATE TABLE workspace (
  seq         INTEGER PRIMARY KEY CHECK (seq > 0),
  machine     TEXT NOT NULL,
  root        TEXT NOT NULL,
  answered_at TEXT NOT NULL CHECK (answered_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
CREATE UNIQUE INDEX workspace_of ON workspace (machine, root);
CREATE TABLE workspace_owner (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0),
  machine        TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  uid            INTEGER NOT NULL CHECK (uid > 0),
  name           TEXT NOT NULL,
  found_at       TEXT NOT NULL CHECK (found_at GLOB '????-??-??T??:??:??.???Z'),
  accepted_at    TEXT CHECK (accepted_at GLOB '????-??-??T??:??:??.???Z'),
  accepted_by    TEXT,
  CHECK (accepted_by IS NULL OR accepted_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX workspace_owner_open ON workspace_owner (machine, workspace_root, uid)
 WHERE accepted_at IS NULL;
CREATE INDEX workspace_owner_of ON workspace_owner (machine, workspace_root, accepted_at);
CREATE TABLE workspace_restore (
  seq           INTEGER PRIMARY KEY CHECK (seq > 0),
  session_seq   INTEGER NOT NULL REFERENCES session (seq),
  command_seq   INTEGER REFERENCES command (seq),
  previous_seq  INTEGER REFERENCES workspace_restore (seq),
  checkpoint_id TEXT NOT NULL,
  paths         TEXT CHECK (paths IS NULL OR json_valid(paths)),
  to_hash       TEXT NOT NULL CHECK (length(to_hash) = 64),
  before_id     TEXT NOT NULL DEFAULT (
    printf('%s-%s-7%s-9%s-%s',
           substr(printf('%012x', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), 1, 8),
           substr(printf('%012x', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), 9),
           substr(lower(hex(randomblob(2))), 2), substr(lower(hex(randomblob(2))), 2),
           lower(hex(randomblob(6))))),
  from_hash     TEXT CHECK (length(from_hash) = 64),
  request_seq   INTEGER REFERENCES request (seq),
  modified      INTEGER,
  deleted       INTEGER,
  added         INTEGER,
  named         TEXT,
  left_out      INTEGER,
  left_named    TEXT,
  attempts      INTEGER NOT NULL DEFAULT 0,
  stage_name    TEXT,
  state         TEXT NOT NULL,
  error_code    TEXT,
  why           TEXT,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'),
  updated_at    TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z'),
  CHECK (state NOT IN ('asked', 'approved', 'planned', 'staged', 'placed', 'done')
         OR (request_seq IS NOT NULL AND from_hash IS NOT NULL)),
  CHECK (state NOT IN ('planned', 'staged', 'placed') OR stage_name IS NOT NULL),
  CHECK ((state = 'refused') = (error_code IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX workspace_restore_open ON workspace_restore (session_seq)
  WHERE state IN ('wanted', 'asked', 'approved', 'planned', 'staged', 'placed');
CREATE UNIQUE INDEX workspace_restore_request ON workspace_restore (request_seq)
  WHERE request_seq IS NOT NULL;
CREATE INDEX workspace_restore_wanted ON workspace_restore (seq) WHERE state = 'wanted';
CREATE INDEX workspace_restore_approved ON workspace_restore (seq) WHERE state = 'approved';
CREATE INDEX workspace_restore_done ON workspace_restore (updated_at) WHERE state = 'done';
CREATE INDEX workspace_restore_session ON workspace_restore (session_seq, seq);
CREATE INDEX workspace_restore_command ON workspace_restore (command_seq)
  WHERE command_seq IS NOT NULL;
CREATE INDEX workspace_restore_previous ON workspace_restore (previous_seq)
  WHERE previous_seq IS NOT NULL;
CREATE TABLE workspace_restore_move (
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_run_move (src, dst) VALUES ('', 'wanted');
INSERT INTO agent_run_move (src, dst) VALUES ('running', 'ended');
INSERT INTO agent_run_move (src, dst) VALUES ('starting', 'ended');
INSERT INTO agent_run_move (src, dst) VALUES ('starting', 'running');
INSERT INTO agent_run_move (src, dst) VALUES ('wanted', 'ended');
INSERT INTO agent_run_move (src, dst) VALUES ('wanted', 'starting');
INSERT INTO agent_line_kind (kind, part) VALUES ('note', 'agent');
INSERT INTO agent_line_kind (kind, part) VALUES ('plan', 'activity');
INSERT INTO agent_line_kind (kind, part) VALUES ('status', 'agent');
INSERT INTO agent_line_kind (kind, part) VALUES ('text', 'agent');
INSERT INTO agent_line_kind (kind, part) VALUES ('tool', 'activity');
INSERT INTO agent_line_kind (kind, part) VALUES ('turn', 'turn');
INSERT INTO alias_run_move (src, dst) VALUES ('', 'queued');
INSERT INTO alias_run_move (src, dst) VALUES ('queued', 'ended');
INSERT INTO alias_run_move (src, dst) VALUES ('queued', 'starting');
INSERT INTO alias_run_move (src, dst) VALUES ('running', 'ended');
INSERT INTO alias_run_move (src, dst) VALUES ('starting', 'ended');
INSERT INTO alias_run_move (src, dst) VALUES ('starting', 'running');
INSERT INTO apply_move (src, dst) VALUES ('', 'queued');
INSERT INTO apply_move (src, dst) VALUES ('claimed', 'applied');
INSERT INTO apply_move (src, dst) VALUES ('claimed', 'claimed');
INSERT INTO apply_move (src, dst) VALUES ('claimed', 'dead');
INSERT INTO apply_move (src, dst) VALUES ('claimed', 'queued');
INSERT INTO apply_move (src, dst) VALUES ('claimed', 'refused');
INSERT INTO apply_move (src, dst) VALUES ('claimed', 'undone');
INSERT INTO apply_move (src, dst) VALUES ('queued', 'claimed');
INSERT INTO checkpoint_move (src, dst) VALUES ('', 'queued');
INSERT INTO checkpoint_move (src, dst) VALUES ('claimed', 'claimed');
INSERT INTO checkpoint_move (src, dst) VALUES ('claimed', 'done');
INSERT INTO checkpoint_move (src, dst) VALUES ('claimed', 'queued');
INSERT INTO checkpoint_move (src, dst) VALUES ('claimed', 'refused');
INSERT INTO checkpoint_move (src, dst) VALUES ('done', 'lost');
INSERT INTO checkpoint_move (src, dst) VALUES ('queued', 'claimed');
INSERT INTO checkpoint_move (src, dst) VALUES ('queued', 'refused');
INSERT INTO command_verb (verb, does) VALUES ('diff', 'look');
INSERT INTO command_verb (verb, does) VALUES ('file', 'read');
INSERT INTO command_verb (verb, does) VALUES ('help', 'read');
INSERT INTO command_verb (verb, does) VALUES ('list-files', 'look');
INSERT INTO command_verb (verb, does) VALUES ('mode', 'switch');
INSERT INTO command_verb (verb, does) VALUES ('pause', 'session');
INSERT INTO command_verb (verb, does) VALUES ('resume', 'session');
INSERT INTO command_verb (verb, does) VALUES ('run', 'run');
INSERT INTO command_verb (verb, does) VALUES ('run-stop', 'run');
INSERT INTO command_verb (verb, does) VALUES ('runs', 'read');
INSERT INTO command_verb (verb, does) VALUES ('session-checkpoint', 'checkpoint');
INSERT INTO command_verb (verb, does) VALUES ('session-checkpoints', 'read');
INSERT INTO command_verb (verb, does) VALUES ('session-cleanup', 'clean');
INSERT INTO command_verb (verb, does) VALUES ('session-restart', 'start');
INSERT INTO command_verb (verb, does) VALUES ('session-restore', 'restore');
INSERT INTO command_verb (verb, does) VALUES ('session-start', 'start');
INSERT INTO command_verb (verb, does) VALUES ('sessions', 'read');
INSERT INTO command_verb (verb, does) VALUES ('show-file', 'look');
INSERT INTO command_verb (verb, does) VALUES ('stall', 'switch');
INSERT INTO command_verb (verb, does) VALUES ('stop', 'session');
INSERT INTO command_verb (verb, does) VALUES ('undo', 'undo');
INSERT INTO connection_move (src, dst) VALUES ('', 'open');
INSERT INTO connection_move (src, dst) VALUES ('closed', 'open');
INSERT INTO connection_move (src, dst) VALUES ('lost', 'closed');
INSERT INTO connection_move (src, dst) VALUES ('lost', 'open');
INSERT INTO connection_move (src, dst) VALUES ('open', 'closed');
INSERT INTO connection_move (src, dst) VALUES ('open', 'lost');
INSERT INTO file_change_move (src, dst) VALUES ('', 'planned');
INSERT INTO file_change_move (src, dst) VALUES ('planned', 'done');
INSERT INTO file_change_move (src, dst) VALUES ('planned', 'staged');
INSERT INTO file_change_move (src, dst) VALUES ('planned', 'undone');
INSERT INTO file_change_move (src, dst) VALUES ('staged', 'done');
INSERT INTO file_change_move (src, dst) VALUES ('staged', 'undone');
INSERT INTO file_look_move (src, dst) VALUES ('', 'queued');
INSERT INTO file_look_move (src, dst) VALUES ('claimed', 'claimed');
INSERT INTO file_look_move (src, dst) VALUES ('claimed', 'done');
INSERT INTO file_look_move (src, dst) VALUES ('claimed', 'refused');
INSERT INTO file_look_move (src, dst) VALUES ('queued', 'claimed');
INSERT INTO gate_call_move (src, dst) VALUES ('', 'allow');
INSERT INTO gate_call_move (src, dst) VALUES ('', 'deny');
INSERT INTO gate_call_move (src, dst) VALUES ('', 'noted');
INSERT INTO gate_call_move (src, dst) VALUES ('', 'open');
INSERT INTO gate_call_move (src, dst) VALUES ('open', 'allow');
INSERT INTO gate_call_move (src, dst) VALUES ('open', 'defer');
INSERT INTO gate_call_move (src, dst) VALUES ('open', 'deny');
INSERT INTO gate_call_move (src, dst) VALUES ('open', 'noted');
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('Visual Studio Code*', 'vscode', 1, 0);
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('claude-code', 'claude', 1, 1);
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('codex-mcp-client', 'codex', 1, 1);
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('copilot-cli', 'copilot', 1, 1);
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('cursor*', 'cursor', 0, 0);
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('gemini-cli-mcp-client*', 'gemini', 1, 1);
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('opencode', 'opencode', 1, 1);
INSERT INTO gate_client (client, host, is_versioned, runs_hooks) VALUES ('qwen-cli-mcp-client*', 'qwen', 0, 1);
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_answer_seconds', 'histogram', 'seconds', 'From a question to the answer that was applied.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_build_info', 'gauge', '', 'The build that is running.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_call_seconds', 'histogram', 'seconds', 'From a call that waits to the end of its wait.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_calls', 'counter', '', 'Calls of tools by agents.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_day_cost', 'gauge', '', 'What agents say that they have cost on the latest day of use.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_day_tokens', 'gauge', '', 'Tokens that agents say they have used on the latest day of use.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_decisions', 'counter', '', 'Answers to questions, those that were not applied included.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_events', 'counter', '', 'Entries of the timeline.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_fence_refusals', 'counter', '', 'What a fence has refused to a process of ours.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_outbox', 'gauge', '', 'Messages and edits for Slack that are not sent.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_outbox_oldest_timestamp_seconds', 'gauge', 'seconds', 'Since when the oldest of them waits; Unix time.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_question_oldest_timestamp_seconds', 'gauge', 'seconds', 'Since when the oldest open question waits; Unix time.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_questions', 'gauge', '', 'Open questions.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_questions_asked', 'counter', '', 'Questions that were asked.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_sessions', 'gauge', '', 'Sessions that have not ended.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_stalled_agents', 'gauge', '', 'Agents that are silent although it is their turn.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_worker_heartbeat_timestamp_seconds', 'gauge', 'seconds', 'The last sign of life of a worker; Unix time.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_worker_starts', 'counter', '', 'Starts and restarts of workers.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_workers', 'gauge', '', 'Worker processes.');
INSERT INTO metric_family (family, type, unit, help) VALUES ('intercom_writes', 'gauge', '', 'Approved writes that are not finished.');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 100, '0.1');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 1000, '1.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 14400000, '14400.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 15000, '15.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 300000, '300.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 3600000, '3600.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 5000, '5.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 60000, '60.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 900000, '900.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_answer_seconds', 9223372036854775807, '+Inf');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 100, '0.1');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 1000, '1.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 120000, '120.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 20, '0.02');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 30000, '30.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 3600000, '3600.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 5, '0.005');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 5000, '5.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 600000, '600.0');
INSERT INTO metric_bucket (family, bound_ms, le) VALUES ('intercom_call_seconds', 9223372036854775807, '+Inf');
INSERT INTO metric_cursor (noun, upto, until) VALUES ('decision', 0, 9223372036854775807);
INSERT INTO metric_cursor (noun, upto, until) VALUES ('ended_call', 0, 9223372036854775807);
INSERT INTO metric_cursor (noun, upto, until) VALUES ('event', 0, 9223372036854775807);
INSERT INTO metric_cursor (noun, upto, until) VALUES ('request', 0, 9223372036854775807);
INSERT INTO metric_cursor (noun, upto, until) VALUES ('tool_call', 0, 9223372036854775807);
INSERT INTO metric_cursor (noun, upto, until) VALUES ('worker', 0, 9223372036854775807);
INSERT INTO operator (id, kind, team_id, user_id, active, is_default) VALUES ('system:applier', 'system', NULL, 'applier', 1, 0);
INSERT INTO operator (id, kind, team_id, user_id, active, is_default) VALUES ('system:clock', 'system', NULL, 'clock', 1, 0);
INSERT INTO operator (id, kind, team_id, user_id, active, is_default) VALUES ('system:owner', 'system', NULL, 'owner', 1, 0);
INSERT INTO operator (id, kind, team_id, user_id, active, is_default) VALUES ('system:policy', 'system', NULL, 'policy', 1, 0);
INSERT INTO request_kind (kind, is_kept, is_written, has_paths, on_timeout, stop_verdict, stop_reason) VALUES ('clearance', 1, 1, 1, 'timeout', 'reject', 'the session was stopped');
INSERT INTO request_kind (kind, is_kept, is_written, has_paths, on_timeout, stop_verdict, stop_reason) VALUES ('permission', 0, 0, 1, 'timeout', 'reject', 'the session was stopped');
INSERT INTO request_kind (kind, is_kept, is_written, has_paths, on_timeout, stop_verdict, stop_reason) VALUES ('prompt', 0, 0, 0, 'continue', 'stop', NULL);
INSERT INTO request_kind (kind, is_kept, is_written, has_paths, on_timeout, stop_verdict, stop_reason) VALUES ('restore', 1, 1, 1, 'timeout', 'reject', 'the session was stopped');
INSERT INTO request_kind (kind, is_kept, is_written, has_paths, on_timeout, stop_verdict, stop_reason) VALUES ('standby', 0, 0, 0, 'timeout', 'stop', NULL);
INSERT INTO request_kind (kind, is_kept, is_written, has_paths, on_timeout, stop_verdict, stop_reason) VALUES ('trust', 1, 0, 0, 'timeout', 'reject', 'the session was stopped');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', '', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'approved', 'consumed');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'approved', 'expired');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'interrupted', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'interrupted', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'interrupted', 'rejected');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'pending', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'pending', 'expired');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'pending', 'interrupted');
INSERT INTO request_move (kind, src, dst) VALUES ('clearance', 'pending', 'rejected');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', '', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'approved', 'expired');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'interrupted', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'interrupted', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'interrupted', 'rejected');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'pending', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'pending', 'expired');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'pending', 'interrupted');
INSERT INTO request_move (kind, src, dst) VALUES ('permission', 'pending', 'rejected');
INSERT INTO request_move (kind, src, dst) VALUES ('prompt', '', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('prompt', 'interrupted', 'answered');
INSERT INTO request_move (kind, src, dst) VALUES ('prompt', 'interrupted', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('prompt', 'pending', 'answered');
INSERT INTO request_move (kind, src, dst) VALUES ('prompt', 'pending', 'expired');
INSERT INTO request_move (kind, src, dst) VALUES ('prompt', 'pending', 'interrupted');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', '', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', 'approved', 'consumed');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', 'interrupted', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', 'interrupted', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', 'interrupted', 'rejected');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', 'pending', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', 'pending', 'interrupted');
INSERT INTO request_move (kind, src, dst) VALUES ('restore', 'pending', 'rejected');
INSERT INTO request_move (kind, src, dst) VALUES ('standby', '', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('standby', 'interrupted', 'answered');
INSERT INTO request_move (kind, src, dst) VALUES ('standby', 'interrupted', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('standby', 'pending', 'answered');
INSERT INTO request_move (kind, src, dst) VALUES ('standby', 'pending', 'expired');
INSERT INTO request_move (kind, src, dst) VALUES ('standby', 'pending', 'interrupted');
INSERT INTO request_move (kind, src, dst) VALUES ('trust', '', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('trust', 'interrupted', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('trust', 'interrupted', 'pending');
INSERT INTO request_move (kind, src, dst) VALUES ('trust', 'interrupted', 'rejected');
INSERT INTO request_move (kind, src, dst) VALUES ('trust', 'pending', 'approved');
INSERT INTO request_move (kind, src, dst) VALUES ('trust', 'pending', 'interrupted');
INSERT INTO request_move (kind, src, dst) VALUES ('trust', 'pending', 'rejected');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('clearance', 'approve', 'approved');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('clearance', 'reject', 'rejected');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('clearance', 'timeout', 'expired');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('permission', 'approve', 'approved');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('permission', 'reject', 'rejected');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('permission', 'timeout', 'expired');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('prompt', 'continue', 'answered');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('prompt', 'refine', 'answered');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('prompt', 'stop', 'answered');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('prompt', 'timeout', 'expired');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('restore', 'approve', 'approved');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('restore', 'reject', 'rejected');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('standby', 'resume', 'answered');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('standby', 'stop', 'answered');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('standby', 'timeout', 'expired');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('trust', 'approve', 'approved');
INSERT INTO request_verdict (kind, verdict, state) VALUES ('trust', 'reject', 'rejected');
INSERT INTO seq_floor (noun, seq) VALUES ('gate_call', 0);
INSERT INTO seq_floor (noun, seq) VALUES ('tool_call', 0);
INSERT INTO session_move (src, dst) VALUES ('', 'active');
INSERT INTO session_move (src, dst) VALUES ('', 'created');
INSERT INTO session_move (src, dst) VALUES ('', 'terminated');
INSERT INTO session_move (src, dst) VALUES ('active', 'interrupted');
INSERT INTO session_move (src, dst) VALUES ('active', 'parked');
INSERT INTO session_move (src, dst) VALUES ('active', 'paused');
INSERT INTO session_move (src, dst) VALUES ('active', 'terminated');
INSERT INTO session_move (src, dst) VALUES ('created', 'active');
INSERT INTO session_move (src, dst) VALUES ('created', 'interrupted');
INSERT INTO session_move (src, dst) VALUES ('created', 'paused');
INSERT INTO session_move (src, dst) VALUES ('created', 'terminated');
INSERT INTO session_move (src, dst) VALUES ('interrupted', 'active');
INSERT INTO session_move (src, dst) VALUES ('interrupted', 'terminated');
INSERT INTO session_move (src, dst) VALUES ('parked', 'active');
INSERT INTO session_move (src, dst) VALUES ('parked', 'interrupted');
INSERT INTO session_move (src, dst) VALUES ('parked', 'paused');
INSERT INTO session_move (src, dst) VALUES ('parked', 'terminated');
INSERT INTO session_move (src, dst) VALUES ('paused', 'active');
INSERT INTO session_move (src, dst) VALUES ('paused', 'created');
INSERT INTO session_move (src, dst) VALUES ('paused', 'interrupted');
INSERT INTO session_move (src, dst) VALUES ('paused', 'parked');
INSERT INTO session_move (src, dst) VALUES ('paused', 'terminated');
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('activity', 'post', 6, 7, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('agent', 'post', 6, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('alias', 'post', 3, 5, 1);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('ask', 'post', 3, 2, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('auto', 'post', 7, 7, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('diff', 'file', 4, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('ended', 'post', 6, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('escalated', 'post', 3, 2, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('expired', 'post', 5, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('file', 'file', 3, 6, 1);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('gate', 'post', 5, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('look', 'post', 3, 6, 1);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('mode', 'post', 6, 6, 1);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('nudged', 'post', 5, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('output', 'file', 5, 6, 1);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('reply', 'post', 2, 6, 1);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('restarted', 'post', 6, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('run', 'post', 3, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('said', 'post', 7, 7, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('server', 'post', 5, 6, 1);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('session', 'post', 6, 6, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('stall', 'post', 3, 2, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('turn', 'post', 5, 2, 0);
INSERT INTO slack_part (kind, send, priority, edit_priority, in_local) VALUES ('write', 'post', 5, 6, 0);
INSERT INTO slack_message_move (src, dst) VALUES ('', 'queued');
INSERT INTO slack_message_move (src, dst) VALUES ('queued', 'dead');
INSERT INTO slack_message_move (src, dst) VALUES ('queued', 'sent');
INSERT INTO slack_message_move (src, dst) VALUES ('sent', 'gone');
INSERT INTO slack_kind (kind, class, gate, slot, priority) VALUES ('delete', 'repeatable', 'chat.delete', 'call', 6);
INSERT INTO slack_kind (kind, class, gate, slot, priority) VALUES ('ephemeral', 'once', 'chat.postEphemeral', 'call', 2);
INSERT INTO slack_kind (kind, class, gate, slot, priority) VALUES ('file', 'lookup', 'chat.postMessage', 'post', NULL);
INSERT INTO slack_kind (kind, class, gate, slot, priority) VALUES ('post', 'lookup', 'chat.postMessage', 'post', NULL);
INSERT INTO slack_kind (kind, class, gate, slot, priority) VALUES ('respond', 'once', 'response_url', 'call', 2);
INSERT INTO slack_kind (kind, class, gate, slot, priority) VALUES ('update', 'repeatable', 'chat.update', 'call', NULL);
INSERT INTO slack_kind (kind, class, gate, slot, priority) VALUES ('view_open', 'once', 'views.open', 'view', 1);
INSERT INTO slack_outbox_move (src, dst) VALUES ('', 'queued');
INSERT INTO slack_outbox_move (src, dst) VALUES ('doubtful', 'dead');
INSERT INTO slack_outbox_move (src, dst) VALUES ('doubtful', 'doubtful');
INSERT INTO slack_outbox_move (src, dst) VALUES ('doubtful', 'queued');
INSERT INTO slack_outbox_move (src, dst) VALUES ('doubtful', 'sent');
INSERT INTO slack_outbox_move (src, dst) VALUES ('queued', 'dead');
INSERT INTO slack_outbox_move (src, dst) VALUES ('queued', 'sending');
INSERT INTO slack_outbox_move (src, dst) VALUES ('queued', 'sent');
INSERT INTO slack_outbox_move (src, dst) VALUES ('sending', 'dead');
INSERT INTO slack_outbox_move (src, dst) VALUES ('sending', 'doubtful');
INSERT INTO slack_outbox_move (src, dst) VALUES ('sending', 'queued');
INSERT INTO slack_outbox_move (src, dst) VALUES ('sending', 'sent');
INSERT INTO slack_gate (name, slot, not_before, spent_at, strikes, why) VALUES ('conversations.history', 'read', '', '', 0, NULL);
INSERT INTO slack_gate (name, slot, not_before, spent_at, strikes, why) VALUES ('slack', 'all', '', '', 0, NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('agent', 'local', NULL, NULL, 'mode', NULL, NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('applier', 'system', NULL, NULL, NULL, 'steer', NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('budget', 'system', NULL, NULL, 'pause', NULL, NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('clock', 'system', NULL, NULL, NULL, 'nudge', NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('ctl', 'local', 'remote', '*', '*', '*', NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('editor', 'local', 'remote', '*', NULL, NULL, 'editor');
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('elicitation', 'local', 'remote', '*', NULL, NULL, 'call');
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('owner', 'system', NULL, '*', 'stop', NULL, 'owner');
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('policy', 'system', NULL, '*', NULL, NULL, 'policy');
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('slack', 'slack', 'local', '*', '*', '*', 'envelope');
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('socket', 'local', 'remote', '*', '*', '*', NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('sql', 'local', 'remote', '*', '*', '*', NULL);
INSERT INTO source (name, operator_kind, shut_in_mode, decides, orders, steers, rests_on) VALUES ('timeout', 'system', NULL, 'timeout', NULL, NULL, NULL);
INSERT INTO stall_move (src, dst) VALUES ('', 'pending');
INSERT INTO stall_move (src, dst) VALUES ('escalated', 'dismissed');
INSERT INTO stall_move (src, dst) VALUES ('escalated', 'nudged');
INSERT INTO stall_move (src, dst) VALUES ('escalated', 'self_recovered');
INSERT INTO stall_move (src, dst) VALUES ('nudged', 'dismissed');
INSERT INTO stall_move (src, dst) VALUES ('nudged', 'escalated');
INSERT INTO stall_move (src, dst) VALUES ('nudged', 'self_recovered');
INSERT INTO stall_move (src, dst) VALUES ('pending', 'dismissed');
INSERT INTO stall_move (src, dst) VALUES ('pending', 'escalated');
INSERT INTO stall_move (src, dst) VALUES ('pending', 'nudged');
INSERT INTO stall_move (src, dst) VALUES ('pending', 'self_recovered');
INSERT INTO tool_call_move (src, dst) VALUES ('', 'done');
INSERT INTO tool_call_move (src, dst) VALUES ('', 'waiting');
INSERT INTO tool_call_move (src, dst) VALUES ('answered', 'cancelled');
INSERT INTO tool_call_move (src, dst) VALUES ('answered', 'done');
INSERT INTO tool_call_move (src, dst) VALUES ('waiting', 'answered');
INSERT INTO tool_call_move (src, dst) VALUES ('waiting', 'cancelled');
INSERT INTO tool_call_move (src, dst) VALUES ('waiting', 'done');
INSERT INTO worker_move (src, dst) VALUES ('', 'starting');
INSERT INTO worker_move (src, dst) VALUES ('ready', 'died');
INSERT INTO worker_move (src, dst) VALUES ('ready', 'stopped');
INSERT INTO worker_move (src, dst) VALUES ('starting', 'died');
INSERT INTO worker_move (src, dst) VALUES ('starting', 'ready');
INSERT INTO worker_move (src, dst) VALUES ('starting', 'stopped');
INSERT INTO workspace_restore_move (src, dst) VALUES ('', 'wanted');
INSERT INTO workspace_restore_move (src, dst) VALUES ('approved', 'planned');
INSERT INTO workspace_restore_move (src, dst) VALUES ('approved', 'refused');
INSERT INTO workspace_restore_move (src, dst) VALUES ('asked', 'approved');
INSERT INTO workspace_restore_move (src, dst) VALUES ('asked', 'cancelled');
INSERT INTO workspace_restore_move (src, dst) VALUES ('asked', 'refused');
INSERT INTO workspace_restore_move (src, dst) VALUES ('placed', 'done');
INSERT INTO workspace_restore_move (src, dst) VALUES ('placed', 'refused');
INSERT INTO workspace_restore_move (src, dst) VALUES ('planned', 'refused');
INSERT INTO workspace_restore_move (src, dst) VALUES ('planned', 'staged');
INSERT INTO workspace_restore_move (src, dst) VALUES ('staged', 'placed');
INSERT INTO workspace_restore_move (src, dst) VALUES ('staged', 'planned');
INSERT INTO workspace_restore_move (src, dst) VALUES ('staged', 'refused');
INSERT INTO workspace_restore_move (src, dst) VALUES ('wanted', 'asked');
INSERT INTO workspace_restore_move (src, dst) VALUES ('wanted', 'refused');
INSERT INTO workspace_restore_move (src, dst) VALUES ('wanted', 'same');
