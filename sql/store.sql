-- Statements on the database itself.

-- name: store_version :number
-- A number that changes when another connection has committed. Prepared once: the watchdog looks
-- four times a second.
PRAGMA data_version;
