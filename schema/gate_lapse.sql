-- Gates that do not hold: what the sentry notices.

-- Where hooks of ours are, in the hosts' own files, as the sentry saw them first.
-- small
-- free: what was seen
CREATE TABLE gate_install (
  machine TEXT NOT NULL,
  host    TEXT NOT NULL,               -- claude, codex, ...
  path    TEXT NOT NULL,               -- the file
  at      TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  PRIMARY KEY (machine, host, path)
) STRICT;

-- As whom a host's MCP client introduces itself, whether the version that it names is the host's, and
-- whether its process was seen to be the one that starts the hooks.
-- small
-- closed
CREATE TABLE gate_client (
  client       TEXT PRIMARY KEY,       -- GLOB for clientInfo.name
  host         TEXT NOT NULL,
  is_versioned INTEGER NOT NULL CHECK (is_versioned IN (0, 1)),
  runs_hooks   INTEGER NOT NULL CHECK (runs_hooks IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO gate_client VALUES
  ('claude-code', 'claude', 1, 1), ('codex-mcp-client', 'codex', 1, 1),
  ('gemini-cli-mcp-client*', 'gemini', 1, 1), ('copilot-cli', 'copilot', 1, 1),
  ('opencode', 'opencode', 1, 1), ('qwen-cli-mcp-client*', 'qwen', 0, 1),
  ('Visual Studio Code*', 'vscode', 1, 0), ('cursor*', 'cursor', 0, 0);

-- A gate that does not hold, from when it was noticed until it holds again. It is told once.
-- fixed: what was noticed does not change
CREATE TABLE gate_lapse (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (seq > 0), -- fixed
  kind        TEXT NOT NULL CHECK (kind IN ( -- fixed
    'switched_off',                         -- a workspace, or the user's own settings, keep hooks from running
    'removed',                              -- our hooks are no longer in the host's file
    'broken',                               -- the program that they start cannot be run
    'silent',                               -- its agent calls our tools, but its hooks never do
    'untried',                              -- no canary has tried this version of the host
    'unasked',                              -- its transcript has tools that ran, and no hook had asked
    'unexplained')),                        -- files changed although no tool ran that was allowed
  machine     TEXT NOT NULL,                -- fixed
  host        TEXT NOT NULL,                -- fixed: claude, codex, ...
  subject     TEXT NOT NULL,                -- fixed: the file or program; the id of the session; the version
  session_seq INTEGER REFERENCES session (seq), -- fixed: where it is told; NULL: in the default channel
  detail      TEXT NOT NULL,                -- fixed: in words
  found_at    TEXT NOT NULL CHECK (found_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  ended_at    TEXT CHECK (ended_at GLOB '????-??-??T??:??:??.???Z') -- later, once
) STRICT;
-- refuses: open: this is known already
CREATE UNIQUE INDEX gate_lapse_open ON gate_lapse (machine, kind, host, subject) WHERE ended_at IS NULL;
-- For retention.
CREATE INDEX gate_lapse_session ON gate_lapse (session_seq, seq) WHERE session_seq IS NOT NULL;
