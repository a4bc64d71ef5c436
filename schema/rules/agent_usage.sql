-- What agents have used, for who looks at sessions.
CREATE VIEW session_usage AS
SELECT r.session_seq, u.seq, u.day, u.input_tokens, u.output_tokens, u.total_tokens, u.cost_micros,
       u.currency, u.context_used, u.context_size
  FROM agent_run AS r CROSS JOIN agent_usage AS u ON u.run_seq = r.seq;

-- The budgets that are configured, "5.00 USD" or "2000000 tokens": how much, in millionths of the
-- currency or in tokens.
CREATE VIEW budget AS
SELECT b.name, b.value, b.unit,
       CASE b.unit WHEN 'tokens' THEN CAST(b.number AS INTEGER)
                   ELSE CAST(round(b.number * 1000000) AS INTEGER) END AS amount
  FROM (SELECT name, value, CAST(substr(value, 1, instr(value, ' ') - 1) AS REAL) AS number,
               substr(value, instr(value, ' ') + 1) AS unit
          FROM setting WHERE name IN ('budget.session', 'budget.day')) AS b
 WHERE b.number > 0;

-- What was used of the budget of a day, by all sessions.
CREATE VIEW day_used AS
SELECT b.value, b.unit, b.amount, u.day,
       sum(CASE b.unit WHEN 'tokens' THEN u.total_tokens WHEN u.currency THEN u.cost_micros ELSE 0 END)
         AS used
  FROM budget AS b CROSS JOIN agent_usage AS u
 WHERE b.name = 'budget.day' GROUP BY u.day;

-- A budget that is used up once more pauses the session, or all of them, those that have not begun too:
-- that of a day is common to all. Resumed, they go on until as much is used again.
CREATE TRIGGER agent_usage_keeps_budgets AFTER UPDATE OF total_tokens, cost_micros ON agent_usage BEGIN
  INSERT INTO command (verb, session_id, argument, operator_id, source, created_at)
  SELECT 'pause', s.id,
         'The budget of this session (' || k.value || ') is used up: '
         || CASE k.unit WHEN 'tokens' THEN k.used || ' tokens'
                        ELSE printf('%.2f %s', k.used / 1000000.0, k.unit) END,
         'system:clock', 'budget', NEW.updated_at
    FROM (SELECT r.session_seq, b.value, b.unit, b.amount,
                 CASE b.unit WHEN 'tokens' THEN NEW.total_tokens - OLD.total_tokens
                             WHEN NEW.currency THEN NEW.cost_micros - OLD.cost_micros ELSE 0 END AS added,
                 (SELECT sum(CASE b.unit WHEN 'tokens' THEN u.total_tokens
                                         WHEN u.currency THEN u.cost_micros ELSE 0 END)
                    FROM agent_run AS o CROSS JOIN agent_usage AS u ON u.run_seq = o.seq
                   WHERE o.session_seq = r.session_seq) AS used
            FROM budget AS b JOIN agent_run AS r ON r.seq = NEW.run_seq
           WHERE b.name = 'budget.session') AS k
    CROSS JOIN session AS s ON s.seq = k.session_seq
   WHERE k.used / k.amount > (k.used - k.added) / k.amount AND s.status = 'active';
  INSERT INTO command (verb, session_id, argument, operator_id, source, created_at)
  SELECT 'pause', s.id,
         'The budget of the day (' || k.value || ') is used up: '
         || CASE k.unit WHEN 'tokens' THEN k.used || ' tokens'
                        ELSE printf('%.2f %s', k.used / 1000000.0, k.unit) END,
         'system:clock', 'budget', NEW.updated_at
    FROM (SELECT d.value, d.unit, d.amount, d.used,
                 CASE d.unit WHEN 'tokens' THEN NEW.total_tokens - OLD.total_tokens
                             WHEN NEW.currency THEN NEW.cost_micros - OLD.cost_micros ELSE 0 END AS added
            FROM day_used AS d WHERE d.day = NEW.day) AS k
    CROSS JOIN started_session AS t CROSS JOIN session AS s ON s.seq = t.seq
   WHERE k.used / k.amount > (k.used - k.added) / k.amount AND s.status IN ('active', 'created')
   ORDER BY s.seq;
END;
