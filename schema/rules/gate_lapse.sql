-- Who is told of a gate that does not hold, and what the database alone says about gates.

CREATE TRIGGER gate_lapse_found AFTER INSERT ON gate_lapse BEGIN
  INSERT INTO event (at, kind, session_seq, actor, detail)
  VALUES (NEW.found_at, 'gate.' || NEW.kind, NEW.session_seq, NEW.host,
          json_object('subject', NEW.subject));
  INSERT INTO slack_notice (kind, session_seq, text, at)
  VALUES (CASE WHEN NEW.session_seq IS NULL THEN 'server' ELSE 'gate' END, NEW.session_seq,
          NEW.host || ': ' || NEW.detail, NEW.found_at);
END;

CREATE TRIGGER gate_lapse_ended AFTER UPDATE OF ended_at ON gate_lapse
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL BEGIN
  INSERT INTO event (at, kind, session_seq, actor, detail)
  VALUES (NEW.ended_at, 'gate.mended', NEW.session_seq, NEW.host,
          json_object('kind', NEW.kind, 'subject', NEW.subject));
END;

-- Open connections of MCP clients whose host has our hooks on that machine.
CREATE VIEW gate_connection AS
SELECT c.seq, c.machine, c.session_seq, c.client_version, c.host_process, g.host, g.is_versioned,
       g.runs_hooks
  FROM connection AS c JOIN gate_client AS g ON c.client_name GLOB g.client
 WHERE c.state = 'open' AND c.transport <> 'hook' AND c.session_seq IS NOT NULL
   AND EXISTS (SELECT 1 FROM gate_install AS i WHERE i.machine = c.machine AND i.host = g.host);

-- Agents that have called two of our tools, although no hook of their host ever called: the host runs
-- it before each of those calls, too, and starts it itself, so both have the same host_process.
CREATE VIEW gate_silent AS
SELECT c.machine, c.host, s.id AS session_id, s.seq AS session_seq
  FROM session AS s JOIN gate_connection AS c ON c.session_seq = s.seq
 WHERE s.status = 'active' AND c.runs_hooks = 1 AND c.host_process IS NOT NULL
   AND (SELECT count(*) FROM (SELECT 1 FROM tool_call AS t
                               WHERE t.session_seq = s.seq AND t.connection_seq = c.seq LIMIT 2)) = 2
   AND NOT EXISTS (SELECT 1 FROM connection AS o
                    WHERE o.session_seq = s.seq AND o.transport = 'hook')
   AND NOT EXISTS (SELECT 1 FROM connection AS o
                    WHERE o.host_process = c.host_process AND o.state = 'open'
                      AND o.transport = 'hook');

-- Versions of hosts with which sessions work, as their MCP clients and the last of their hooks say.
CREATE VIEW gate_version AS
SELECT c.machine, c.host, c.client_version AS version, c.session_seq
  FROM session AS s JOIN gate_connection AS c ON c.session_seq = s.seq
 WHERE s.status = 'active' AND c.is_versioned = 1 AND c.client_version IS NOT NULL
UNION ALL
SELECT s.machine, g.host, g.version, s.seq
  FROM session AS s JOIN gate_call AS g
    ON g.seq = (SELECT max(n.seq) FROM gate_call AS n WHERE n.session_seq = s.seq)
 WHERE s.status = 'active' AND g.version IS NOT NULL;

-- Those that no canary has tried.
CREATE VIEW gate_untried AS
SELECT v.machine, v.host, v.version, max(v.session_seq) AS session_seq
  FROM gate_version AS v
 WHERE NOT EXISTS (SELECT 1 FROM gate_canary AS k
                    WHERE k.host = v.host
                      AND ' ' || k.version || ' ' GLOB '*[^0-9.]' || v.version || '[^0-9]*')
 GROUP BY v.machine, v.host, v.version;
