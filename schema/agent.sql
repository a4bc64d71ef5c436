-- The profiles of agents: how a session that is ordered here starts its agent.

-- One row per profile: the built-in ones, those of [[agent]], and `default`, which is host_cli. The
-- supervisor replaces all of them at each start. A run keeps the name of its profile, which may be
-- gone.
-- small
-- fixed: a profile keeps its name; insert another one
CREATE TABLE agent (
  name               TEXT NOT NULL PRIMARY KEY, -- fixed
  command            TEXT NOT NULL,         -- free: a program's name or absolute path, which
                                            -- program_find looks up when the agent is started
  args               TEXT NOT NULL CHECK (json_type(args) IS 'array'), -- free: of texts; the prompt comes
                                            -- after them as one more, if protocol is mcp
  protocol           TEXT NOT NULL CHECK (protocol IN ('mcp', 'acp', 'acp-stream')), -- free
  env_pass           TEXT NOT NULL CHECK (json_type(env_pass) IS 'array'), -- free: names of variables that
                                            -- pass, in addition to those that every agent gets
  env_set            TEXT NOT NULL CHECK (json_type(env_set) IS 'object'), -- free: {name: value}
  workspace          TEXT,                  -- free: id of a [[workspace]]; NULL: default_workspace_root
  acp_version        TEXT NOT NULL CHECK (acp_version IN ('1', '2', 'auto')), -- free: the newest to offer
  auth_method        TEXT,                  -- free: the login method to call before its session;
                                            -- NULL: none, it is logged in already
  asking             TEXT CHECK (asking IS NULL OR json_type(asking) IS 'object'), -- free: {option: value},
                                            -- set once its session is open, to make it ask before
                                            -- it acts; 'mode' sets the mode if it has no such
                                            -- option
  refused_modes      TEXT CHECK (refused_modes IS NULL OR json_type(refused_modes) IS 'array'), -- free
                                            -- modes in which it does not ask, or the part of their
                                            -- ids after '#': reset at once
  fence              TEXT CHECK (fence IS NULL OR json_type(fence) IS 'object'), -- free: {write: [folder],
                                            -- read: [folder], network: boolean}; without read
                                            -- it reads everything; NULL: no fence
  startup_timeout_ms INTEGER NOT NULL CHECK (startup_timeout_ms > 0), -- free: for its answer to initialize
  max_line_length    INTEGER NOT NULL CHECK (max_line_length > 0), -- free: bytes of one message of the agent
  framing            TEXT NOT NULL CHECK (framing IN ('ndjson', 'lsp')), -- free
  park_after_ms      INTEGER CHECK (park_after_ms >= 0), -- free: as agent_run.park_after_ms
  is_default         INTEGER NOT NULL CHECK (is_default IN (0, 1)), -- free: where no profile is named
  is_builtin         INTEGER NOT NULL CHECK (is_builtin IN (0, 1)), -- free: the configuration does not name it
  updated_at         TEXT NOT NULL CHECK (updated_at GLOB '????-??-??T??:??:??.???Z') -- free
) STRICT;
-- refuses: default: there is a default profile; set its is_default to 0 first
CREATE UNIQUE INDEX agent_default ON agent (is_default) WHERE is_default = 1;
