-- Texts over 2 KiB (diffs, arguments, results, before-images), each stored once, by hash.
-- repeats: hash
-- fixed: a text does not change; insert another one
CREATE TABLE content (
  seq   INTEGER PRIMARY KEY CHECK (seq > 0),
  hash  TEXT NOT NULL UNIQUE CHECK (length(hash) = 64), -- SHA-256 of bytes, hex
  size  INTEGER NOT NULL,                               -- bytes
  bytes BLOB NOT NULL
) STRICT;
