-- What an answer does. First answer wins: the request is moved first, on conditions, and the
-- outcome is told afterwards.

-- A number that a request bears is not given again.
CREATE TRIGGER decision_is_new BEFORE INSERT ON decision BEGIN
  SELECT RAISE(ABORT, 'decision: exists: a request was decided by a row with this seq')
   WHERE EXISTS (SELECT 1 FROM request WHERE decision_seq = NEW.seq);
END;

-- A decision binds to the digest of what is asked: given, it must be the request's; not given, it
-- is written down. A timeout counts only once its deadline has passed, and never while interrupted.
CREATE TRIGGER decision_takes_effect AFTER INSERT ON decision BEGIN
  UPDATE request
     SET state = (SELECT state FROM request_verdict
                   WHERE kind = request.kind AND verdict = NEW.verdict),
         decision_seq = NEW.seq,
         decision = CASE WHEN NEW.verdict = 'timeout' AND kind = 'prompt' THEN 'continue'
                         ELSE NEW.verdict END,
         reason = CASE WHEN typeof(NEW.reason) = 'text' THEN NEW.reason END,
         instruction = CASE WHEN typeof(NEW.instruction) = 'text' THEN NEW.instruction END,
         decided_by = coalesce(NEW.operator_id, (SELECT id FROM operator WHERE is_default = 1)),
         decided_at = NEW.created_at,
         deadline_at = NULL,
         remaining_ms = NULL,
         updated_at = NEW.created_at
   WHERE id = NEW.request_id
     AND state IN ('pending', 'interrupted')
     AND typeof(NEW.request_id) = 'text' AND typeof(NEW.verdict) = 'text'
     AND typeof(NEW.reason) IN ('text', 'null') AND typeof(NEW.instruction) IN ('text', 'null')
     AND length(coalesce(NEW.reason, '')) <= 65536
     AND length(coalesce(NEW.instruction, '')) <= 65536
     AND (NEW.verdict <> 'refine' OR trim(coalesce(NEW.instruction, '')) <> '')
     AND typeof(NEW.created_at) = 'text' AND NEW.created_at GLOB '????-??-??T??:??:??.???Z'
     AND (NEW.digest IS NULL OR NEW.digest = digest)
     AND EXISTS (SELECT 1 FROM request_verdict
                  WHERE kind = request.kind AND verdict = NEW.verdict)
     AND (NEW.verdict = 'timeout') = (NEW.source = 'timeout')
     AND (NEW.verdict <> 'timeout' OR (state = 'pending' AND deadline_at <= NEW.created_at))
     AND EXISTS (SELECT 1 FROM operator AS o
                  WHERE o.id = coalesce(NEW.operator_id,
                                        (SELECT id FROM operator WHERE is_default = 1))
                    AND o.active = 1
                    AND o.kind = CASE NEW.source WHEN 'slack' THEN 'slack'
                                 WHEN 'timeout' THEN 'system' WHEN 'policy' THEN 'system'
                                 WHEN 'ctl' THEN 'local' WHEN 'sql' THEN 'local'
                                 WHEN 'socket' THEN 'local' WHEN 'elicitation' THEN 'local' END)
     AND EXISTS (SELECT 1 FROM session AS s
                  WHERE s.seq = request.session_seq
                    AND CASE WHEN NEW.source IN ('ctl', 'sql', 'socket', 'elicitation')
                             THEN s.mode <> 'remote'
                             WHEN NEW.source = 'slack' THEN s.mode <> 'local' ELSE 1 END);
  UPDATE decision
     SET operator_id = coalesce(NEW.operator_id, (SELECT id FROM operator WHERE is_default = 1)),
         digest = coalesce(NEW.digest, (SELECT digest FROM request WHERE id = NEW.request_id)),
         (outcome, why) = (
           SELECT o.outcome, o.why FROM (
             SELECT 0 AS rank, 'applied' AS outcome, NULL AS why
              WHERE EXISTS (SELECT 1 FROM request WHERE decision_seq = NEW.seq)
             UNION ALL
             SELECT 1, 'malformed', 'request_id and verdict must be texts'
              WHERE typeof(NEW.request_id) <> 'text' OR typeof(NEW.verdict) <> 'text'
             UNION ALL
             SELECT 2, 'malformed', 'reason and instruction must be texts of 65536 characters at most'
              WHERE typeof(NEW.reason) NOT IN ('text', 'null')
                 OR typeof(NEW.instruction) NOT IN ('text', 'null')
                 OR length(coalesce(NEW.reason, '')) > 65536
                 OR length(coalesce(NEW.instruction, '')) > 65536
             UNION ALL
             SELECT 3, 'malformed', 'created_at must look like 2026-02-08T09:30:00.123Z'
              WHERE typeof(NEW.created_at) <> 'text'
                 OR NEW.created_at NOT GLOB '????-??-??T??:??:??.???Z'
             UNION ALL
             SELECT 4, 'malformed',
                    'source must be ctl, sql, socket, elicitation, slack, timeout or policy'
              WHERE coalesce(NEW.source, '')
                    NOT IN ('ctl', 'sql', 'socket', 'elicitation', 'slack', 'timeout', 'policy')
             UNION ALL
             SELECT 5, 'unauthorized', 'this operator may not decide from this source'
              WHERE NOT EXISTS (
                SELECT 1 FROM operator AS p
                 WHERE p.id = coalesce(NEW.operator_id,
                                       (SELECT id FROM operator WHERE is_default = 1))
                   AND p.active = 1
                   AND p.kind = CASE NEW.source WHEN 'slack' THEN 'slack'
                                WHEN 'timeout' THEN 'system' WHEN 'policy' THEN 'system'
                                ELSE 'local' END)
             UNION ALL
             SELECT 6, 'not_found', 'there is no request with this id'
              WHERE NOT EXISTS (SELECT 1 FROM request WHERE id = NEW.request_id)
             UNION ALL
             SELECT 7, 'wrong_verb',
                    'a ' || r.kind || ' takes: ' ||
                    (SELECT group_concat(v.verdict, ', ') FROM request_verdict AS v
                      WHERE v.kind = r.kind AND v.verdict <> 'timeout')
               FROM request AS r
              WHERE r.id = NEW.request_id
                AND ((NEW.verdict = 'timeout') <> (NEW.source = 'timeout') OR NOT EXISTS (
                      SELECT 1 FROM request_verdict AS v
                       WHERE v.kind = r.kind AND v.verdict = NEW.verdict))
             UNION ALL
             SELECT 8, 'too_late', 'it expired at ' || r.decided_at
               FROM request AS r WHERE r.id = NEW.request_id AND r.state = 'expired'
             UNION ALL
             SELECT 9, 'duplicate',
                    'it is ' || r.state || ' by ' || r.decided_by || ' since ' || r.decided_at
               FROM request AS r WHERE r.id = NEW.request_id AND r.decision_seq IS NOT NULL
             UNION ALL
             SELECT 10, 'not_in_this_mode', 'the session is in ' || s.mode || ' mode'
               FROM request AS r JOIN session AS s ON s.seq = r.session_seq
              WHERE r.id = NEW.request_id
                AND CASE WHEN NEW.source IN ('ctl', 'sql', 'socket', 'elicitation')
                         THEN s.mode = 'remote'
                         WHEN NEW.source = 'slack' THEN s.mode = 'local' ELSE 0 END
             UNION ALL
             SELECT 11, 'malformed', 'the digest is not that of what is asked'
               FROM request AS r
              WHERE r.id = NEW.request_id AND NEW.digest IS NOT NULL AND NEW.digest IS NOT r.digest
             UNION ALL
             SELECT 12, 'malformed', 'refine needs an instruction'
              WHERE NEW.verdict = 'refine'
             UNION ALL
             SELECT 13, 'malformed', 'the deadline has not passed'
           ) AS o ORDER BY o.rank LIMIT 1)
   WHERE seq = NEW.seq;
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT CASE WHEN typeof(d.created_at) = 'text' AND d.created_at GLOB '????-??-??T??:??:??.???Z'
              THEN d.created_at ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END,
         'decision.' || d.outcome, r.session_seq, r.seq,
         CASE WHEN typeof(d.operator_id) = 'text' THEN d.operator_id END,
         json_object('decision', d.seq,
                     'verdict', CASE WHEN typeof(d.verdict) = 'text' THEN substr(d.verdict, 1, 40) END,
                     'source', CASE WHEN typeof(d.source) = 'text' THEN substr(d.source, 1, 40) END,
                     'why', d.why)
    FROM decision AS d LEFT JOIN request AS r ON r.id = d.request_id
   WHERE d.seq = NEW.seq AND d.outcome <> 'applied';
END;
