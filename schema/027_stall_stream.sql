-- Nudges on open streams: stall.told_count counts those for which mcp-front has looked whether the agent
-- has one.
ALTER TABLE stall ADD COLUMN streamed_at TEXT CHECK (streamed_at GLOB '????-??-??T??:??:??.???Z'); -- the last one was said there
