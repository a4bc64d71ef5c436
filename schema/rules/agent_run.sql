-- What becomes of the session that a run is of.

-- A session goes with its process: active while it runs; where that ended with the system or its runner,
-- interrupted, so that it can be resumed; so is one whose agent did not start again.
CREATE TRIGGER agent_run_changed AFTER UPDATE OF state ON agent_run WHEN OLD.state <> NEW.state BEGIN
  INSERT INTO event (at, kind, session_seq, actor, detail)
  SELECT coalesce(NEW.ended_at, NEW.started_at), 'agent.' || coalesce(NEW.outcome, NEW.state),
         NEW.session_seq, NULL,
         json_object('run', NEW.seq, 'generation', NEW.generation, 'agent', NEW.agent, 'pid', NEW.pid,
                     'exit_code', NEW.exit_code, 'exit_signal', NEW.exit_signal,
                     'why', substr(coalesce(NEW.why, NEW.stop_why), 1, 200))
   WHERE NEW.state IN ('running', 'ended');
  UPDATE session
     SET status = 'active', connectivity_status = 'online', idle_since = NEW.started_at,
         last_activity_at = NEW.started_at, updated_at = NEW.started_at
   WHERE seq = NEW.session_seq AND NEW.state = 'running' AND status IN ('created', 'interrupted');
  UPDATE session
     SET status = 'interrupted', connectivity_status = 'offline', updated_at = NEW.ended_at
   WHERE seq = NEW.session_seq AND status IN ('created', 'active', 'paused')
     AND NEW.outcome = 'interrupted';
  UPDATE session
     SET status = 'terminated', terminated_at = NEW.ended_at, connectivity_status = 'offline',
         idle_since = NULL, updated_at = NEW.ended_at
   WHERE seq = NEW.session_seq AND status <> 'terminated'
     AND (NEW.outcome IN ('exited', 'stopped') OR (NEW.outcome = 'failed' AND NEW.generation = 1));
  -- What it asked is answered to nobody: the watchdog lets it expire.
  UPDATE request SET deadline_at = NEW.ended_at
   WHERE NEW.state = 'ended' AND state = 'pending'
     AND seq IN (SELECT q.request_seq FROM agent_question AS q
                  WHERE q.run_seq = NEW.seq AND q.answered_at IS NULL AND q.withdrawn_at IS NULL);
END;
