-- How a checkpoint is ordered, and what follows when it is taken.

-- What was ordered, and the way to order one: INSERT INTO checkpoint_wanted (kind, session_id)
-- VALUES ('ordered', '0190…'). machine and workspace_root are those of the session; without a
-- session they must be given. The id has the layout of a version-7 UUID.
CREATE VIEW checkpoint_wanted AS
SELECT id, kind, session_id, label, machine, workspace_root, command_seq, apply_seq, created_at AS at
  FROM checkpoint;

-- Those that nobody ordered are taken only if checkpoint.auto says so.
CREATE TRIGGER checkpoint_is_wanted INSTEAD OF INSERT ON checkpoint_wanted
WHEN NEW.kind NOT IN ('start', 'apply')
  OR (SELECT value FROM setting WHERE name = 'checkpoint.auto') = 'true' BEGIN
  INSERT INTO checkpoint (id, kind, session_id, label, machine, workspace_root, session_state,
                          progress_snapshot, command_seq, apply_seq, state, created_at, updated_at)
  SELECT coalesce(NEW.id,
                  printf('%s-%s-7%s-9%s-%s', substr(t.ms, 1, 8), substr(t.ms, 9),
                         substr(t.random, 1, 3), substr(t.random, 4, 3), substr(t.random, 7, 12))),
         NEW.kind, NEW.session_id, nullif(trim(NEW.label, ' ' || char(9, 10, 13)), ''),
         coalesce(NEW.machine, s.machine), coalesce(NEW.workspace_root, s.workspace_root),
         CASE WHEN s.seq IS NULL THEN '{}' ELSE
           json_object('status', s.status, 'mode', s.mode, 'prompt', s.prompt, 'agent', s.client_name,
                       'channel_id', s.channel_id, 'thread_ts', s.thread_ts,
                       'pending_requests', (
                         SELECT json_group_array(json_object('request_id', r.id, 'kind', r.kind,
                                                             'title', r.title, 'file_path', r.file_path,
                                                             'state', r.state))
                           FROM (SELECT * FROM request AS q
                                  WHERE q.session_seq = s.seq AND q.state IN ('pending', 'interrupted')
                                  ORDER BY q.seq LIMIT 100) AS r)) END,
         s.progress_snapshot, NEW.command_seq, NEW.apply_seq, 'queued', t.at, t.at
    FROM (SELECT printf('%012x', strftime('%s', a.at) * 1000 + substr(a.at, 21, 3)) AS ms,
                 lower(hex(randomblob(9))) AS random, a.at
            FROM (SELECT coalesce(NEW.at, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) AS at) AS a) AS t
    LEFT JOIN session AS s ON s.id = NEW.session_id;
END;

-- Checkpoints that are taken to be compared with another one: how it all is now, and that manifest.
CREATE VIEW comparison AS
SELECT before_id AS now_id, to_hash AS manifest FROM workspace_restore WHERE state = 'wanted'
UNION ALL
SELECT l.now_id, c.manifest FROM file_look AS l JOIN checkpoint AS c ON c.id = l.checkpoint_id
 WHERE l.state IN ('queued', 'claimed') AND l.what = 'diff' AND c.manifest IS NOT NULL;

CREATE TRIGGER checkpoint_settled AFTER UPDATE OF state ON checkpoint
WHEN NEW.state IN ('done', 'refused', 'lost') BEGIN
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT NEW.updated_at,
         'checkpoint.' || CASE NEW.state WHEN 'done' THEN 'created' ELSE NEW.state END,
         (SELECT seq FROM session WHERE id = NEW.session_id),
         coalesce((SELECT operator_id FROM command WHERE seq = NEW.command_seq), 'archivist'),
         json_object('checkpoint', NEW.id, 'kind', NEW.kind, 'manifest', NEW.manifest,
                     'files', NEW.files, 'bytes', NEW.bytes, 'added_bytes', NEW.added_bytes,
                     'left_out', NEW.left_out, 'why', NEW.why)
   WHERE NEW.kind <> 'diff' OR NEW.state = 'lost'; -- a diff's only serves to compare
  -- Whoever ordered it is told; those that were taken unasked are only listed.
  INSERT INTO slack_notice (kind, session_seq, text, at)
  SELECT 'reply', s.seq,
         CASE NEW.state WHEN 'done' THEN
           '📌 *Checkpoint created* (`' || NEW.id || '`' || coalesce(': *' || NEW.label || '*', '')
           || ') for session `' || s.id || '`.'
           || CASE WHEN NEW.left_out > 0 THEN ' ' || NEW.left_out
              || ' paths could not be held: `agent-intercom-ctl checkpoint show '
              || substr(NEW.id, 1, 13) || '` names them.' ELSE '' END
         ELSE '⚠️ No checkpoint of session `' || s.id || '` was taken: ' || NEW.why END,
         NEW.updated_at
    FROM session AS s JOIN command AS c ON c.seq = NEW.command_seq
   WHERE s.id = NEW.session_id AND NEW.state IN ('done', 'refused')
     AND (c.source = 'slack' OR s.mode <> 'local');
  -- An operator who starts an agent counts on being able to put back what was before it.
  INSERT INTO slack_notice (kind, session_seq, text, at)
  SELECT 'reply', s.seq,
         '⚠️ *No checkpoint before the agent:* ' || NEW.why || '. What it changes cannot be put back to `start`.',
         NEW.updated_at
    FROM session AS s
   WHERE s.id = NEW.session_id AND s.origin = 'started' AND s.mode <> 'local'
     AND NEW.kind = 'start' AND NEW.state = 'refused';
END;
