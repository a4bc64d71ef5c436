-- One transport attachment of a session: a stdio process, an Mcp-Session-Id, one stateless caller, or
-- the hooks of one session of an agent's own program.
-- moves: state
-- fixed: a connection does not become another one
CREATE TABLE connection (
  seq              INTEGER PRIMARY KEY CHECK (seq > 0), -- fixed
  key              TEXT NOT NULL UNIQUE,    -- fixed: unguessable; Mcp-Session-Id, or a relay's key to resume
  machine          TEXT NOT NULL,           -- fixed
  transport        TEXT NOT NULL CHECK (transport IN ('stdio', 'http', 'stateless', 'hook')), -- fixed
  protocol_version TEXT NOT NULL,           -- fixed: negotiated MCP revision
  client_name      TEXT,                    -- fixed
  client_version   TEXT,                    -- fixed
  process          TEXT,                    -- free: if known, its process (pid, start, boot): the
                                            -- relay, or who speaks HTTP; for a hook, host_process
  host_process     TEXT,                    -- free: if known, the agent's program, which started
                                            -- the relay or the hook, or speaks HTTP itself; a
                                            -- hook's session may be resumed in another process
  elicits          INTEGER NOT NULL DEFAULT 0 CHECK (elicits IN (0, 1)), -- fixed: the client can show its
                                            -- user a form (MCP's elicitation), as declared at the
                                            -- start
  uid              INTEGER CHECK (uid >= 0), -- fixed: of the user at its other end, as the kernel
                                            -- says; NULL: it is our own
  session_seq      INTEGER REFERENCES session (seq), -- free: set by the first tool call
  identity         TEXT NOT NULL,           -- fixed: JSON: what the caller gave as workspace, channel,
                                            -- session, agent
  state            TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'lost', 'closed')), -- free
  created_at       TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??.???Z'), -- fixed
  closed_at        TEXT CHECK (closed_at GLOB '????-??-??T??:??:??.???Z') -- later
) STRICT;
CREATE INDEX connection_session ON connection (session_seq) WHERE state = 'open';
CREATE INDEX connection_of ON connection (session_seq, created_at);
CREATE INDEX connection_host ON connection (host_process) WHERE state = 'open' AND host_process IS NOT NULL;
CREATE INDEX connection_stdio ON connection (machine) WHERE state = 'open' AND transport = 'stdio';

-- small
-- closed
CREATE TABLE connection_move (
  src TEXT NOT NULL, -- '' is birth
  dst TEXT NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;
INSERT INTO connection_move VALUES
  ('', 'open'), ('open', 'lost'), ('open', 'closed'), ('lost', 'open'), ('lost', 'closed'),
  ('closed', 'open'); -- a relay whose end the front saw, but which continues
