-- What an answer does. First it is judged: `source` has who may say what from where,
-- request_verdict what each request accepts, and the first answer wins. Then the outcome is carried
-- out.

-- A request refers to its decision by this number: one that was given before, also to a row that was
-- deleted, is not given again.
CREATE TRIGGER decision_is_new BEFORE INSERT ON decision WHEN NEW.seq > 0 BEGIN
  SELECT RAISE(ABORT, 'decision: exists: this seq was given before, or is so high that none is left; leave it out')
   WHERE NEW.seq <= (SELECT seq FROM sqlite_sequence WHERE name = 'decision')
      OR NEW.seq > 4611686018427387904;
END;

-- A decision is bound to the digest of what is asked: if given, it must be the request's; if not,
-- it is filled in. A timeout only counts once its deadline has passed, and never while interrupted.
CREATE TRIGGER decision_takes_effect AFTER INSERT ON decision BEGIN
  UPDATE decision
     SET operator_id = coalesce(NEW.operator_id, (SELECT id FROM operator WHERE is_default = 1)),
         digest = coalesce(NEW.digest, (SELECT digest FROM request WHERE id = NEW.request_id)),
         (outcome, why) = (
           SELECT o.outcome, o.why FROM (
             SELECT 1 AS rank, 'malformed' AS outcome, 'request_id and verdict must be texts' AS why
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
             SELECT 4, 'malformed', 'source must be one of ' ||
                    (SELECT group_concat(name, ', ') FROM source WHERE decides IS NOT NULL)
              WHERE NOT EXISTS (SELECT 1 FROM source
                                 WHERE name = NEW.source AND decides IS NOT NULL)
             UNION ALL
             SELECT 5, 'unauthorized',
                    coalesce((SELECT why FROM operator_fault
                               WHERE id IS coalesce(NEW.operator_id,
                                                    (SELECT id FROM operator WHERE is_default = 1))),
                             'this operator may not decide from this source')
              WHERE NOT EXISTS (
                SELECT 1 FROM source AS f JOIN operator AS p ON p.kind = f.operator_kind
                 WHERE f.name = NEW.source AND p.active = 1
                   AND p.id = coalesce(NEW.operator_id,
                                       (SELECT id FROM operator WHERE is_default = 1)))
             UNION ALL
             SELECT 5, 'unauthorized',
                    'where several users are served, a program of the agent''s user answers nothing'
              WHERE EXISTS (SELECT 1 FROM source WHERE name = NEW.source AND rests_on IN ('call', 'editor'))
                AND EXISTS (SELECT 1 FROM setting WHERE name = 'shared.directory' AND value <> '')
             UNION ALL
             SELECT 6, 'not_found', 'there is no request with this id'
              WHERE NOT EXISTS (SELECT 1 FROM request WHERE id = NEW.request_id)
             UNION ALL
             SELECT 7, 'wrong_verb',
                    'a ' || r.kind || ' takes: ' ||
                    (SELECT group_concat(v.verdict, ', ') FROM request_verdict AS v
                      WHERE v.kind = r.kind AND v.verdict <> 'timeout')
               FROM request AS r JOIN source AS f ON f.name = NEW.source
              WHERE r.id = NEW.request_id
                AND ((NEW.verdict = 'timeout') <> (f.decides = 'timeout')
                     OR f.decides NOT IN ('*', NEW.verdict)
                     OR NOT EXISTS (SELECT 1 FROM request_verdict AS v
                                     WHERE v.kind = r.kind AND v.verdict = NEW.verdict))
             UNION ALL
             SELECT 8, 'too_late',
                    coalesce('no answer is needed any longer: ' ||
                             (SELECT why FROM request_withdrawn WHERE request_seq = r.seq),
                             'it expired at ' || r.decided_at
                             || CASE WHEN r.kind IN ('clearance', 'permission')
                                     THEN '; `steer` its agent to ask again' ELSE '' END)
               FROM request AS r WHERE r.id = NEW.request_id AND r.state = 'expired'
             UNION ALL
             SELECT 9, 'duplicate',
                    'it is ' || r.state || ' by ' || r.decided_by || ' since ' || r.decided_at
               FROM request AS r WHERE r.id = NEW.request_id AND r.decision_seq IS NOT NULL
             UNION ALL
             SELECT 10, 'not_in_this_mode',
                    'the session is in ' || s.mode || ' mode: answer '
                    || CASE s.mode WHEN 'remote' THEN 'in Slack, or switch with `mode hybrid --session '
                                   ELSE 'at its machine, or switch with `mode hybrid ' END
                    || substr(s.id, 1, 13) || '` first'
               FROM request AS r JOIN session AS s ON s.seq = r.session_seq
               JOIN source AS f ON f.name = NEW.source AND f.shut_in_mode = s.mode
              WHERE r.id = NEW.request_id
             UNION ALL
             SELECT 11, 'unauthorized', CASE f.rests_on
                    WHEN 'envelope' THEN 'Slack has sent nothing of this operator that says so'
                    WHEN 'policy' THEN 'there is no policy in force where this was asked'
                    WHEN 'editor' THEN 'no editor shows this'
                    WHEN 'owner' THEN 'the folder has no other owner'
                    ELSE 'no client that shows forms has asked this' END
               FROM request AS r JOIN session AS s ON s.seq = r.session_seq
               JOIN source AS f ON f.name = NEW.source
              WHERE r.id = NEW.request_id AND CASE f.rests_on
                    WHEN 'envelope' THEN NOT EXISTS (
                      SELECT 1 FROM slack_envelope AS e
                       WHERE e.seq = (SELECT max(seq) FROM slack_envelope)
                         AND e.outcome = 'accepted' AND e.operator_id = NEW.operator_id)
                    WHEN 'policy' THEN NOT EXISTS (
                      SELECT 1 FROM policy AS p
                       WHERE p.seq = (SELECT max(seq) FROM policy
                                       WHERE workspace_root = s.workspace_root AND machine = s.machine)
                         AND p.state = 'loaded')
                    WHEN 'call' THEN NOT EXISTS (
                      SELECT 1 FROM tool_call AS t JOIN connection AS c ON c.seq = t.connection_seq
                       WHERE t.request_seq = r.seq AND (c.elicits = 1 OR t.era = 'modern'))
                    WHEN 'editor' THEN NOT EXISTS (
                      SELECT 1 FROM gate_call AS g JOIN tool_call AS t ON t.seq = g.call_seq
                       WHERE g.request_seq = r.seq AND g.host = 'acp' AND g.moment = 'permission'
                         AND t.state = 'waiting')
                    WHEN 'owner' THEN NEW.verdict NOT IN ('reject', 'stop') OR NOT EXISTS (
                      SELECT 1 FROM workspace_owner_change AS w
                       WHERE w.machine = s.machine AND w.workspace_root = s.workspace_root
                         AND w.at = NEW.created_at)
                    ELSE 0 END
             UNION ALL
             SELECT 12, 'malformed', 'the digest is not that of what is asked'
               FROM request AS r
              WHERE r.id = NEW.request_id AND NEW.digest IS NOT NULL AND NEW.digest IS NOT r.digest
             UNION ALL
             SELECT 13, 'malformed', 'refine needs an instruction'
              WHERE NEW.verdict = 'refine' AND trim(coalesce(NEW.instruction, '')) = ''
             UNION ALL
             SELECT 14, 'malformed', 'the deadline has not passed'
               FROM request AS r
              WHERE r.id = NEW.request_id AND NEW.verdict = 'timeout'
                AND NOT (r.state = 'pending' AND coalesce(r.deadline_at <= NEW.created_at, 0))
             UNION ALL
             SELECT 15, 'malformed', 'the agent offers no such answer'
               FROM request AS r
              WHERE r.id = NEW.request_id AND NEW.choice IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM request_offer AS q
                                 WHERE q.request_seq = r.seq
                                   AND q.form IS NOT NULL AND NEW.verdict = 'refine'
                                   AND CASE WHEN json_valid(NEW.choice)
                                            THEN json_type(NEW.choice) = 'object' ELSE 0 END)
                AND NOT EXISTS (SELECT 1 FROM request_offer AS q, json_each(q.options) AS o
                                 WHERE q.request_seq = r.seq
                                   AND json_extract(o.value, '$.id') = NEW.choice
                                   AND (json_extract(o.value, '$.kind') GLOB 'reject*')
                                     = (NEW.verdict = 'reject'))
             UNION ALL
             SELECT 16, 'wrong_verb',
                    'the agent offers ' ||
                    coalesce((SELECT 'several answers, choose one of: ' ||
                                     group_concat(json_extract(o.value, '$.name'), ', ')
                                FROM json_each(q.options) AS o
                               WHERE json_extract(o.value, '$.kind') NOT GLOB 'reject*'
                              HAVING count(*) > 0), 'no answer that allows this once: reject it, or allow it where the agent is set up')
               FROM request AS r JOIN request_offer AS q ON q.request_seq = r.seq
              WHERE r.id = NEW.request_id AND NEW.verdict = 'approve' AND NEW.choice IS NULL
                AND q.options IS NOT NULL AND NEW.source <> 'editor' -- whose choice is with the agent
                AND (SELECT count(*) FROM json_each(q.options) AS o
                      WHERE json_extract(o.value, '$.kind') = 'allow_once') <> 1
             UNION ALL
             SELECT 17, 'wrong_verb', 'the agent asks for values: `choose` or `refine` with them, or `stop`'
               FROM request AS r JOIN request_offer AS q ON q.request_seq = r.seq
              WHERE r.id = NEW.request_id AND q.form IS NOT NULL
                AND (NEW.verdict = 'continue' OR (NEW.verdict = 'refine' AND NEW.choice IS NULL))
             UNION ALL
             SELECT 18, 'malformed', 'edited must be a text of 1 to 65536 characters, and not blank'
              WHERE NEW.edited IS NOT NULL
                AND (typeof(NEW.edited) <> 'text' OR length(NEW.edited) > 65536
                     OR instr(CAST(NEW.edited AS BLOB), x'00') > 0
                     OR trim(NEW.edited, char(9, 10, 13, 32)) = '')
             UNION ALL
             SELECT 19, 'malformed', 'edited_seq must be a content of 1 to 1048576 bytes, without edited'
              WHERE NEW.edited_seq IS NOT NULL
                AND (NEW.edited IS NOT NULL
                     OR NOT EXISTS (SELECT 1 FROM content
                                     WHERE seq = NEW.edited_seq AND size BETWEEN 1 AND 1048576))
             UNION ALL
             SELECT 20, 'wrong_verb', 'only an approval can say what is done instead'
              WHERE (NEW.edited IS NOT NULL OR NEW.edited_seq IS NOT NULL)
                AND NEW.verdict <> 'approve'
             UNION ALL
             SELECT 21, 'wrong_verb',
                    'this cannot be approved with another text; reject it, and say what to do instead'
               FROM request AS r
              WHERE r.id = NEW.request_id AND r.editable IS NULL
                AND (NEW.edited IS NOT NULL OR NEW.edited_seq IS NOT NULL)
             UNION ALL
             SELECT 22, 'applied', NULL
           ) AS o ORDER BY o.rank LIMIT 1)
   WHERE seq = NEW.seq;
  UPDATE request
     SET (state, decision) = (
           SELECT v.state, CASE v.verdict WHEN 'timeout' THEN k.on_timeout ELSE v.verdict END
             FROM request_verdict AS v JOIN request_kind AS k ON k.kind = v.kind
            WHERE v.kind = request.kind AND v.verdict = NEW.verdict),
         (decision_seq, reason, instruction, decided_by) = (
           SELECT seq, reason, instruction, operator_id FROM decision WHERE seq = NEW.seq),
         decided_at = NEW.created_at,
         deadline_at = NULL,
         remaining_ms = NULL,
         updated_at = NEW.created_at
   WHERE id = NEW.request_id AND (SELECT outcome FROM decision WHERE seq = NEW.seq) = 'applied';
  INSERT INTO decision_told (decision_seq) VALUES (NEW.seq);
END;

-- The timeline has what was not applied, and what was approved instead of what was asked. (What an answer
-- brings only rarely is said by the WHEN of a view's trigger: INSERT ... SELECT copies to a temporary table
-- and opens all indexes even if it adds no row.)
CREATE VIEW decision_told AS
SELECT seq AS decision_seq FROM decision
 WHERE outcome <> 'applied' OR edited IS NOT NULL OR edited_seq IS NOT NULL;

CREATE TRIGGER decision_is_told INSTEAD OF INSERT ON decision_told
WHEN EXISTS (SELECT 1 FROM decision_told WHERE decision_seq = NEW.decision_seq) BEGIN
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
   WHERE d.seq = NEW.decision_seq AND d.outcome <> 'applied';
  INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)
  SELECT d.created_at, 'decision.edited', r.session_seq, r.seq, d.operator_id,
         json_object('decision', d.seq, 'part', r.editable,
                     'hash', (SELECT hash FROM content WHERE seq = d.edited_seq),
                     'bytes', coalesce(length(CAST(d.edited AS BLOB)),
                                       (SELECT size FROM content WHERE seq = d.edited_seq)))
    FROM decision AS d JOIN request AS r ON r.id = d.request_id
   WHERE d.seq = NEW.decision_seq AND d.outcome = 'applied'
     AND (d.edited IS NOT NULL OR d.edited_seq IS NOT NULL);
END;

-- What operators approved instead of what was asked.
CREATE VIEW decision_edit AS
SELECT d.seq, d.request_id, d.operator_id, d.outcome,
       coalesce(d.edited, (SELECT CAST(bytes AS TEXT) FROM content WHERE seq = d.edited_seq)) AS text
  FROM decision AS d WHERE d.edited IS NOT NULL OR d.edited_seq IS NOT NULL;
