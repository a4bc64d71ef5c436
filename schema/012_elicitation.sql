-- Whether the client of a connection can show a form to its user (MCP's elicitation), as it said
-- when it began.
ALTER TABLE connection ADD COLUMN elicits INTEGER NOT NULL DEFAULT 0 CHECK (elicits IN (0, 1));
