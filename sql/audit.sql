-- Every statement on `seal` and `audit_cut`, and on `event` for them.

-- name: seal_last :one
-- row: seal
SELECT seq, hash FROM seal WHERE seq = (SELECT max(seq) FROM seal);

-- name: seal_first :one
-- The first one, and whether its event was cut.
-- row: seal
SELECT seq, hash, NOT EXISTS (SELECT 1 FROM event WHERE seq = s.seq) AS is_cut
  FROM seal AS s WHERE seq = (SELECT min(seq) FROM seal);

-- name: seal_before :one
-- row: seal
SELECT seq, hash FROM seal WHERE seq = (SELECT max(seq) FROM seal WHERE seq < :seq);

-- name: event_after :many
-- What to seal next. NULL and 0 are sealed as what they are, and texts may contain any bytes.
-- row: audit_event
-- type: session_seq integer?
-- type: request_seq integer?
-- type: call_seq integer?
-- type: at bytes
-- type: kind bytes
-- type: actor bytes
-- type: detail bytes
SELECT seq, at, kind, session_seq, request_seq, call_seq, actor, detail
  FROM event WHERE seq > :after ORDER BY seq LIMIT :limit;

-- name: event_unsealed :number
SELECT count(*) FROM event WHERE seq > (SELECT coalesce(max(seq), 0) FROM seal) AND at < :before;

-- name: seal_insert :exec
INSERT INTO seal (seq, hash) VALUES (:seq, :hash);

-- name: audit_between :many
-- Seals with their events, in (:after, :upto], and events that have no seal.
-- row: audit_event
-- type: session_seq integer?
-- type: request_seq integer?
-- type: call_seq integer?
-- type: at bytes
-- type: kind bytes
-- type: actor bytes
-- type: detail bytes
SELECT s.seq AS seq, s.hash, e.seq AS event_seq, e.at, e.kind, e.session_seq, e.request_seq,
       e.call_seq, e.actor, e.detail
  FROM seal AS s LEFT JOIN event AS e ON e.seq = s.seq
 WHERE s.seq > :after AND s.seq <= :upto
UNION ALL
SELECT e.seq, NULL, e.seq, e.at, e.kind, e.session_seq, e.request_seq, e.call_seq, e.actor, e.detail
  FROM event AS e
 WHERE e.seq > :after AND e.seq <= :upto AND NOT EXISTS (SELECT 1 FROM seal WHERE seq = e.seq)
 ORDER BY 1;

-- name: event_since :number
-- The first event of :since or later.
-- scan ok: somebody asks for it by hand
SELECT seq FROM event WHERE at >= :since ORDER BY seq LIMIT 1;

-- name: seal_old :one
-- The last sealed event that is older than :cutoff, with all before it. One that is dated ahead of :now
-- (a clock was wrong, or somebody typed it) is as old as the next one that is not.
-- scan ok: retention deletes what it walks through
-- row: seal
SELECT s.seq, s.hash
  FROM event AS e JOIN seal AS s ON s.seq = e.seq
 WHERE e.at < :cutoff
   AND e.seq < coalesce((SELECT seq FROM event WHERE at >= :cutoff AND at <= :now ORDER BY seq LIMIT 1),
                        9223372036854775807)
 ORDER BY e.seq DESC LIMIT 1;

-- name: event_first :number
SELECT min(seq) AS seq FROM event;

-- name: audit_cut_last :number
SELECT upto FROM audit_cut ORDER BY upto DESC LIMIT 1;

-- name: audit_cut_insert :exec
INSERT INTO audit_cut (upto, hash, file, at) VALUES (:upto, :hash, :file, :now);

-- name: audit_cut_forget :rows
-- Earlier ones are recorded in the timeline.
DELETE FROM audit_cut WHERE upto < :upto;

-- name: event_cut_end :number
-- The end of the next stretch to delete.
SELECT max(seq) AS seq FROM (SELECT seq FROM event WHERE seq <= :upto ORDER BY seq LIMIT :limit);

-- name: event_cut :rows
-- scan ok: :upto is the end of a stretch from the first on
DELETE FROM event WHERE seq <= :upto;

-- name: seal_cut :exec
-- scan ok: as above; the last one stays
DELETE FROM seal WHERE seq < :upto;

-- name: event_number :number
-- The last number that an event was given.
-- scan ok: a row for each table
SELECT seq FROM sqlite_sequence WHERE name = 'event';
