-- Looks into a workspace: what an order to look means, and where its answer goes.

-- What list-files, show-file and diff request. The argument is the path, or {"path", "depth", "first",
-- "last", "workspace", "channel", "thread"}: workspace is the id of a [[workspace]] or a folder. In
-- Slack a folder must be one that the configuration names or a session works in. A diff has the id of
-- a checkpoint instead, or {"checkpoint", "channel", "thread"}; in Slack it is answered in the
-- session's thread. Without a workspace it is that of the session, else of the channel, else the
-- default one. A `wrong` order is malformed.
CREATE VIEW look_order AS
WITH said AS (
  SELECT c.seq, c.verb, c.source, c.session_id,
         typeof(c.argument) IN ('text', 'null') AS is_text,
         CASE WHEN typeof(c.argument) <> 'text' THEN '{}'
              WHEN json_valid(c.argument) AND substr(c.argument, 1, 1) = '{' THEN c.argument
              WHEN c.verb = 'diff' THEN json_object('checkpoint', c.argument)
              ELSE json_object('path', c.argument) END AS parts
    FROM command AS c JOIN command_verb AS v ON v.verb = c.verb AND v.does = 'look'),
asked AS (
  SELECT a.seq, a.verb, a.session_id, f.operator_kind, a.source,
         a.is_text AND coalesce(json_type(a.parts, '$.path'), 'null') IN ('text', 'null')
           AND coalesce(json_type(a.parts, '$.workspace'), 'null') IN ('text', 'null')
           AND coalesce(json_type(a.parts, '$.checkpoint'), 'null') IN ('text', 'null')
           AND coalesce(json_type(a.parts, '$.channel'), 'null') IN ('text', 'null')
           AND coalesce(json_type(a.parts, '$.thread'), 'null') IN ('text', 'null') AS is_text,
         coalesce(json_type(a.parts, '$.depth'), 'integer') = 'integer'
           AND coalesce(json_extract(a.parts, '$.depth'), 3) BETWEEN 1 AND 10 AS has_depth,
         coalesce(json_type(a.parts, '$.first'), 'null') = 'integer'
           AND coalesce(json_type(a.parts, '$.last'), 'null') = 'integer'
           AND json_extract(a.parts, '$.first') BETWEEN 1 AND json_extract(a.parts, '$.last')
           OR (coalesce(json_type(a.parts, '$.first'), 'null') = 'null'
               AND coalesce(json_type(a.parts, '$.last'), 'null') = 'null') AS has_lines,
         json_extract(a.parts, '$.path') AS path,
         json_extract(a.parts, '$.checkpoint') AS checkpoint_id,
         json_extract(a.parts, '$.depth') AS depth,
         json_extract(a.parts, '$.first') AS first_line,
         json_extract(a.parts, '$.last') AS last_line,
         json_extract(a.parts, '$.workspace') AS workspace,
         json_extract(a.parts, '$.channel') AS channel_id,
         json_extract(a.parts, '$.thread') AS thread_ts
    FROM said AS a LEFT JOIN source AS f ON f.name = a.source)
SELECT q.seq,
       CASE q.verb WHEN 'list-files' THEN 'folder' WHEN 'diff' THEN 'diff' ELSE 'file' END AS what,
       CASE WHEN q.is_text = 0 THEN 'path, workspace, channel and thread must be text'
            WHEN q.verb = 'show-file' AND coalesce(q.path, '') = '' THEN 'show-file needs a path'
            WHEN q.verb = 'diff' AND coalesce(q.checkpoint_id, '') = ''
            THEN 'diff needs the id of a checkpoint'
            WHEN length(q.path) > 4096 THEN 'a path may have 4096 characters'
            WHEN q.has_depth = 0 THEN 'the depth must be a number from 1 to 10'
            WHEN q.has_lines = 0
            THEN 'the lines must look like 10:50, the first and the last one'
            END AS wrong,
       coalesce(q.path, '') AS path,
       CASE q.verb WHEN 'list-files' THEN coalesce(q.depth, 3) END AS depth,
       CASE q.verb WHEN 'show-file' THEN q.first_line END AS first_line,
       CASE q.verb WHEN 'show-file' THEN q.last_line END AS last_line,
       q.workspace AS wanted_workspace, s.seq AS session_seq,
       q.verb = 'diff' AND p.seq IS NULL AS is_unknown, p.id AS checkpoint_id, p.state, p.why,
       CASE WHEN q.verb = 'diff' THEN p.workspace_root
            WHEN s.seq IS NOT NULL THEN s.workspace_root
            WHEN q.workspace IS NULL
            THEN coalesce((SELECT path FROM configured_workspace WHERE channel = q.channel_id),
                          (SELECT nullif(value, '') FROM setting
                            WHERE name = 'default_workspace_root'))
            ELSE coalesce((SELECT path FROM configured_workspace WHERE id = q.workspace),
                          CASE WHEN q.workspace GLOB '/*'
                                AND (q.operator_kind = 'local'
                                     OR EXISTS (SELECT 1 FROM configured_workspace WHERE path = q.workspace)
                                     OR EXISTS (SELECT 1 FROM session
                                                 WHERE workspace_root = q.workspace
                                                   AND status <> 'terminated'))
                               THEN q.workspace END) END AS workspace_root,
       coalesce(s.mode, (SELECT value FROM setting WHERE name = 'mode')) AS mode, q.operator_kind,
       coalesce(p.machine, s.machine, (SELECT value FROM setting WHERE name = 'system.machine')) AS machine,
       CASE WHEN t.seq IS NULL THEN nullif(q.channel_id, '')
            ELSE coalesce(nullif(t.channel_id, ''), (SELECT nullif(value, '') FROM setting
                                                      WHERE name = 'slack.channel_id')) END
         AS channel_id,
       CASE WHEN t.seq IS NULL THEN nullif(q.thread_ts, '') ELSE t.thread_ts END AS thread_ts
  FROM asked AS q LEFT JOIN checkpoint AS p ON q.verb = 'diff' AND p.id = q.checkpoint_id
  LEFT JOIN session AS s ON s.id = coalesce(q.session_id, p.session_id)
  LEFT JOIN session AS t ON t.seq = s.seq AND q.verb = 'diff' AND q.source = 'slack'
   AND t.thread_ts IS NOT NULL;

-- The answer goes where it was ordered: the text in a message, or beside it as a file. The timeline
-- says who saw what.
CREATE TRIGGER file_look_settled AFTER UPDATE OF state ON file_look
WHEN NEW.state IN ('done', 'refused') AND OLD.state <> NEW.state BEGIN
  INSERT INTO slack_notice (kind, session_seq, channel_id, thread_ts, detail, at)
  SELECT 'look', s.seq, NEW.channel_id, NEW.thread_ts, json_object('look', NEW.seq), NEW.settled_at
    FROM (SELECT 1) LEFT JOIN session AS s
      ON s.seq = NEW.session_seq AND NEW.thread_ts IS NOT NULL
   WHERE NEW.channel_id IS NOT NULL;
  INSERT INTO slack_notice (kind, session_seq, channel_id, thread_ts, content_seq, file_name, at)
  SELECT 'file', s.seq, NEW.channel_id, NEW.thread_ts, NEW.content_seq,
         coalesce(json_extract(NEW.detail, '$.file_name'), 'file'), NEW.settled_at
    FROM (SELECT 1) LEFT JOIN session AS s
      ON s.seq = NEW.session_seq AND NEW.thread_ts IS NOT NULL
   WHERE NEW.channel_id IS NOT NULL AND NEW.is_long = 1;
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT NEW.settled_at,
         CASE NEW.what WHEN 'folder' THEN 'files.' WHEN 'diff' THEN 'diff.' ELSE 'file.' END
         || CASE NEW.state WHEN 'done' THEN 'shown' ELSE 'refused' END,
         NEW.session_seq, c.operator_id,
         json_object('command', c.seq, 'checkpoint', NEW.checkpoint_id, 'path', substr(NEW.path, 1, 300),
                     'workspace', NEW.workspace_root, 'source', c.source, 'why', NEW.why)
    FROM command AS c WHERE c.seq = NEW.command_seq;
END;
