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
         WHEN 'unasked' THEN l.found_at < :before
         ELSE 0 END
 LIMIT 1;

-- name: gate_transcript_list :many
-- Where hosts write down what their agents do: of sessions that are open, or ended after :recent; and
-- since when what stands there has to be explained.
SELECT s.seq AS session_seq, s.id AS session_id, g.host, g.transcript,
       coalesce((SELECT max(l.found_at) FROM gate_lapse AS l
                  WHERE l.session_seq = s.seq AND l.kind = 'unasked'),
                (SELECT f.created_at FROM gate_call AS f WHERE f.session_seq = s.seq
                  ORDER BY f.seq LIMIT 1)) AS since
  FROM session AS s JOIN gate_call AS g ON g.seq = (
         SELECT n.seq FROM gate_call AS n WHERE n.session_seq = s.seq AND n.transcript IS NOT NULL
          ORDER BY n.seq DESC LIMIT 1)
 WHERE s.seq IN (SELECT seq FROM session WHERE machine = :machine AND status <> 'terminated'
                 UNION ALL
                 SELECT seq FROM session WHERE machine = :machine AND terminated_at >= :recent);

-- name: gate_watched :many
-- Workspaces whose files are watched: an agent whose hooks call works there, and gate.watch is for its
-- session.
SELECT DISTINCT s.workspace_root FROM session AS s
 WHERE s.machine = :machine AND s.status <> 'terminated' AND s.status = 'active'
   AND EXISTS (SELECT 1 FROM connection AS c
                WHERE c.session_seq = s.seq AND c.state = 'open' AND c.transport = 'hook')
   AND CASE (SELECT value FROM setting WHERE name = 'gate.watch')
         WHEN 'always' THEN 1 WHEN 'remote' THEN s.mode = 'remote' ELSE 0 END;

-- name: gate_unexplained :one
-- The agent in whose turn files of a workspace changed between two instants, although none of these
-- explains it: a tool that a gate on this machine allowed, a write or a restore of ours, a command of
-- an operator. Only the newest rows are looked at. Tools of which no end is told count as running until
-- their turn ends.
SELECT s.seq AS session_seq, s.id AS session_id, g.host
  FROM session AS s JOIN gate_call AS g ON g.seq = (
         SELECT n.seq FROM gate_call AS n WHERE n.session_seq = s.seq AND n.created_at <= :upto
          ORDER BY n.seq DESC LIMIT 1)
 WHERE s.workspace_root = :root AND s.machine = :machine AND s.status <> 'terminated'
   AND s.status = 'active'
   AND CASE (SELECT value FROM setting WHERE name = 'gate.watch')
         WHEN 'always' THEN 1 WHEN 'remote' THEN s.mode = 'remote' ELSE 0 END
   AND g.moment NOT IN ('stop', 'stop_failure', 'session_start', 'session_end')
   AND NOT EXISTS (
     SELECT 1 FROM gate_call AS r CROSS JOIN session AS o ON o.seq = r.session_seq
      WHERE r.seq > (SELECT max(seq) - 500 FROM gate_call) AND o.machine = :machine
        AND r.moment IN ('pre_tool', 'permission') AND r.decision = 'allow'
        AND r.class NOT IN ('read', 'question', 'plan') AND r.decided_at <= :upto
        AND coalesce(r.seen_at >= :from,
                     NOT EXISTS (SELECT 1 FROM gate_call AS n
                                  WHERE n.session_seq = r.session_seq AND n.seq > r.seq
                                    AND n.moment IN ('stop', 'stop_failure', 'prompt', 'session_end')
                                    AND n.created_at < :from)))
   AND NOT EXISTS (SELECT 1 FROM event AS e
                    WHERE e.seq > (SELECT max(seq) - 500 FROM event) AND e.at >= :from
                      AND (e.kind GLOB 'apply.*' OR e.kind GLOB 'undo.*' OR e.kind GLOB 'restore.*'
                           OR e.kind GLOB 'alias.*'))
   AND NOT EXISTS (SELECT 1 FROM apply AS a
                    WHERE a.machine = :machine AND a.state IN ('queued', 'claimed'))
   AND NOT EXISTS (SELECT 1 FROM alias_run AS a WHERE a.machine = :machine AND a.ended_at IS NULL)
 ORDER BY s.seq DESC LIMIT 1;
