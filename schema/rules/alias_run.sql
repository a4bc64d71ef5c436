-- Runs of the commands of [commands]: what an order means, and how Slack shows a run.

-- What the order `run` requests. The argument is an alias, or {"alias", "workspace", "channel"}.
-- Without a session the workspace is the one named (an id; from this machine also a folder), that
-- of the channel, or the default.
CREATE VIEW run_order AS
WITH said AS (
  SELECT seq, source, session_id, argument,
         CASE WHEN typeof(argument) = 'text' AND json_valid(argument)
              THEN CASE WHEN json_type(argument, '$.alias') = 'text' THEN argument END END AS parts
    FROM command WHERE verb = 'run'),
asked AS (
  SELECT c.seq, f.operator_kind, s.seq AS session_seq, s.id AS session_id, s.workspace_root,
         CASE WHEN c.parts IS NOT NULL THEN json_extract(c.parts, '$.alias')
              WHEN typeof(c.argument) = 'text' THEN c.argument END AS alias,
         CASE WHEN json_type(c.parts, '$.workspace') = 'text'
              THEN json_extract(c.parts, '$.workspace') END AS workspace,
         CASE WHEN json_type(c.parts, '$.channel') = 'text'
              THEN nullif(json_extract(c.parts, '$.channel'), '') END AS channel
    FROM said AS c LEFT JOIN session AS s ON s.id = +c.session_id
    LEFT JOIN source AS f ON f.name = +c.source)
SELECT q.seq, q.session_seq, q.session_id, q.alias, q.workspace AS wanted_workspace,
       (SELECT m.value FROM setting AS s, json_each(s.value) AS m
         WHERE s.name = 'commands' AND json_valid(s.value) AND m.key = q.alias
           AND m.type = 'text') AS command,
       CASE WHEN q.session_seq IS NOT NULL THEN q.workspace_root
            WHEN q.workspace IS NOT NULL
            THEN coalesce((SELECT path FROM configured_workspace WHERE id = q.workspace),
                          CASE WHEN q.operator_kind = 'local' AND substr(q.workspace, 1, 1) = '/'
                               THEN q.workspace END)
            ELSE coalesce((SELECT path FROM configured_workspace WHERE channel = q.channel),
                          (SELECT nullif(value, '') FROM setting WHERE name = 'default_workspace_root'))
            END AS workspace_root,
       q.channel AS channel_id,
       (SELECT value FROM setting WHERE name = 'system.machine') AS machine
  FROM asked AS q;

CREATE TRIGGER alias_run_ordered AFTER INSERT ON alias_run BEGIN
  INSERT INTO slack_notice (kind, session_seq, alias_run_seq, channel_id, at)
  SELECT 'alias', NEW.session_seq, NEW.seq, CASE WHEN NEW.session_seq IS NULL THEN NEW.channel_id END,
         NEW.created_at
   WHERE NEW.channel_id IS NOT NULL;
END;

-- Its message in Slack is edited. If that cannot show the whole output, a file does.
CREATE TRIGGER alias_run_changed AFTER UPDATE OF state, stop_wanted_at, shown_at ON alias_run BEGIN
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT coalesce(NEW.ended_at, NEW.started_at), 'alias.' || coalesce(NEW.outcome, NEW.state),
         NEW.session_seq, CASE WHEN NEW.outcome = 'stopped' THEN NEW.stopped_by ELSE NEW.operator_id END,
         json_object('run', NEW.seq, 'alias', NEW.alias, 'command', substr(NEW.command, 1, 200),
                     'workspace', NEW.workspace_root, 'pid', NEW.pid, 'exit_code', NEW.exit_code,
                     'exit_signal', NEW.exit_signal, 'bytes', NEW.bytes,
                     'why', substr(NEW.why, 1, 200))
   WHERE OLD.state <> NEW.state AND NEW.state IN ('running', 'ended');
  UPDATE slack_message
     SET generation = generation + 1,
         updated_at = coalesce(NEW.ended_at, NEW.shown_at, NEW.stop_wanted_at, NEW.started_at, updated_at)
   WHERE alias_run_seq = NEW.seq AND kind = 'alias' AND state IN ('queued', 'sent')
     AND (NEW.state IN ('running', 'ended') OR NEW.stop_wanted_at IS NOT NULL);
  INSERT INTO slack_message (kind, session_seq, alias_run_seq, channel_id, root_seq, thread_ts,
                             content_seq, file_name, created_at, updated_at)
  SELECT 'output', m.session_seq, NEW.seq, m.channel_id,
         coalesce(m.root_seq, CASE WHEN m.thread_ts IS NULL THEN m.seq END), m.thread_ts,
         NEW.content_seq, NEW.alias || '.txt', NEW.ended_at, NEW.ended_at
    FROM slack_message AS m
   WHERE m.alias_run_seq = NEW.seq AND m.kind = 'alias' AND m.state IN ('queued', 'sent')
     AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL AND NEW.content_seq IS NOT NULL;
END;
