-- Every statement on `gate_install` and `gate_lapse`.

-- name: gate_install_put :exec
INSERT INTO gate_install (machine, host, path, at) VALUES (:machine, :host, :path, :now)
ON CONFLICT DO NOTHING;

-- name: gate_install_list :many
SELECT host, path FROM gate_install WHERE machine = :machine;

-- name: gate_install_delete :rows
-- What was uninstalled is not missed.
DELETE FROM gate_install WHERE machine = :machine AND host = :host AND path = :path;

-- name: gate_silent_list :many
-- Those that nobody was told of.
SELECT s.host, s.session_id, s.session_seq FROM gate_silent AS s
 WHERE s.machine = :machine
   AND NOT EXISTS (SELECT 1 FROM gate_lapse AS l
                    WHERE l.session_seq = s.session_seq AND l.kind = 'silent');

-- name: gate_untried_list :many
SELECT host, version, session_seq FROM gate_untried AS u
 WHERE u.machine = :machine
   AND NOT EXISTS (SELECT 1 FROM gate_lapse AS l
                    WHERE l.machine = u.machine AND l.kind = 'untried' AND l.host = u.host
                      AND l.subject = u.version AND l.ended_at IS NULL);

-- name: gate_lapse_list :many
SELECT seq, kind, host, subject FROM gate_lapse WHERE machine = :machine AND ended_at IS NULL;

-- name: gate_lapse_known :any
SELECT 1 FROM gate_lapse
 WHERE machine = :machine AND kind = :kind AND host = :host AND subject = :subject
   AND ended_at IS NULL;

-- name: gate_lapse_insert :exec
INSERT INTO gate_lapse (kind, machine, host, subject, session_seq, detail, found_at)
VALUES (:kind, :machine, :host, :subject, :session, :detail, :now);

-- name: gate_lapse_session :number
-- The session that hears of a workspace: the newest that works there.
SELECT max(seq) AS seq FROM session
 WHERE workspace_root = :root AND machine = :machine AND status <> 'terminated';

-- name: gate_lapse_end :exec
UPDATE gate_lapse SET ended_at = :now WHERE seq = :seq AND ended_at IS NULL;

-- name: gate_lapse_past :number
-- One that is over by what the database says: its session has ended, a hook of it called, a canary has
-- tried the version, or it was told before :before.
SELECT seq FROM gate_lapse AS l
 WHERE l.machine = :machine AND l.ended_at IS NULL
   AND CASE l.kind
         WHEN 'untried' THEN EXISTS (
           SELECT 1 FROM gate_canary AS k
            WHERE k.host = l.host AND ' ' || k.version || ' ' GLOB '*[^0-9.]' || l.subject || '[^0-9]*')
         WHEN 'silent' THEN
           EXISTS (SELECT 1 FROM session AS s WHERE s.seq = l.session_seq AND s.status = 'terminated')
           OR EXISTS (SELECT 1 FROM connection AS c
                       WHERE c.session_seq = l.session_seq AND c.transport = 'hook')
         WHEN 'unexplained' THEN l.found_at < :before
         ELSE 0 END
 LIMIT 1;

-- name: gate_lapse_delete :rows
-- Retention. :sessions: a JSON list of the seq of sessions that are purged together.
DELETE FROM gate_lapse WHERE seq IN (
  SELECT l.seq FROM json_each(:sessions) AS g CROSS JOIN gate_lapse AS l ON l.session_seq = g.value
   LIMIT :limit);

-- name: gate_lapse_after :number
-- The end of the next stretch of rows to examine.
SELECT max(seq) AS seq FROM (SELECT seq FROM gate_lapse WHERE seq > :after ORDER BY seq LIMIT :limit);

-- name: gate_lapse_delete_old :rows
DELETE FROM gate_lapse WHERE seq > :after AND seq <= :upto AND ended_at < :cutoff;
