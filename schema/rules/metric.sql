-- The figures of schema/metric.sql. A label never has a value that somebody made up: what is not one
-- of our words is 'other'.

-- What has a duration, and is not in metric_tally yet.
CREATE VIEW metric_duration AS
SELECT 'intercom_answer_seconds' AS family, 'kind="' || r.kind || '"' AS labels,
       max(0, CAST(round((julianday(r.decided_at) - julianday(r.created_at)) * 86400000) AS INTEGER)) AS ms
  FROM decision AS d JOIN request AS r ON r.id = d.request_id
 WHERE d.seq > (SELECT upto FROM metric_cursor WHERE noun = 'decision')
   AND d.seq <= (SELECT until FROM metric_cursor WHERE noun = 'decision')
   AND d.outcome = 'applied' AND r.decided_at IS NOT NULL
UNION ALL
SELECT 'intercom_call_seconds',
       'tool="' || CASE WHEN c.tool GLOB '*[^a-z_]*' THEN 'other' ELSE c.tool END || '"',
       max(0, CAST(round((julianday(e.created_at) - julianday(c.created_at)) * 86400000) AS INTEGER))
  FROM ended_call AS e JOIN tool_call AS c ON c.seq = e.call_seq
 WHERE e.seq > (SELECT upto FROM metric_cursor WHERE noun = 'ended_call')
   AND e.seq <= (SELECT until FROM metric_cursor WHERE noun = 'ended_call');

-- What is not in metric_tally yet, as it is added there.
CREATE VIEW metric_recent AS
SELECT 'intercom_questions_asked' AS family, 'kind="' || kind || '"' AS labels, '' AS le, 1 AS value
  FROM request WHERE seq > (SELECT upto FROM metric_cursor WHERE noun = 'request')
   AND seq <= (SELECT until FROM metric_cursor WHERE noun = 'request')
UNION ALL
SELECT 'intercom_decisions',
       'source="' || coalesce((SELECT s.name FROM source AS s WHERE s.name = d.source), 'other')
       || '",verdict="'
       || coalesce((SELECT v.verdict FROM request_verdict AS v WHERE v.verdict = d.verdict LIMIT 1), 'other')
       || '",outcome="' || coalesce(d.outcome, 'other') || '"', '', 1
  FROM decision AS d WHERE d.seq > (SELECT upto FROM metric_cursor WHERE noun = 'decision')
   AND d.seq <= (SELECT until FROM metric_cursor WHERE noun = 'decision')
UNION ALL
SELECT 'intercom_calls', 'tool="' || CASE WHEN tool GLOB '*[^a-z_]*' THEN 'other' ELSE tool END || '"', '', 1
  FROM tool_call WHERE seq > (SELECT upto FROM metric_cursor WHERE noun = 'tool_call')
   AND seq <= (SELECT until FROM metric_cursor WHERE noun = 'tool_call')
UNION ALL
SELECT 'intercom_events', 'kind="' || CASE WHEN kind GLOB '*[^a-z._]*' THEN 'other' ELSE kind END || '"', '', 1
  FROM event WHERE seq > (SELECT upto FROM metric_cursor WHERE noun = 'event')
   AND seq <= (SELECT until FROM metric_cursor WHERE noun = 'event')
UNION ALL
SELECT 'intercom_fence_refusals',
       'worker="' || CASE WHEN coalesce(actor, ' ') GLOB '*[^a-z-]*' THEN 'other' ELSE actor END || '"', '', 1
  FROM event WHERE seq > (SELECT upto FROM metric_cursor WHERE noun = 'event')
   AND seq <= (SELECT until FROM metric_cursor WHERE noun = 'event') AND kind = 'fence.refused'
UNION ALL
SELECT 'intercom_worker_starts',
       'worker="' || CASE WHEN name GLOB '*[^a-z-]*' THEN 'other' ELSE name END || '"', '', 1
  FROM worker WHERE seq > (SELECT upto FROM metric_cursor WHERE noun = 'worker')
   AND seq <= (SELECT until FROM metric_cursor WHERE noun = 'worker')
UNION ALL
SELECT d.family, d.labels,
       (SELECT b.le FROM metric_bucket AS b
         WHERE b.family = d.family AND b.bound_ms >= d.ms ORDER BY b.bound_ms LIMIT 1), 1
  FROM metric_duration AS d
UNION ALL
SELECT family, labels, 'sum', ms FROM metric_duration;

-- What is so at the moment.
CREATE VIEW metric_gauge AS
SELECT 'intercom_questions' AS family, 'kind="' || kind || '",state="' || state || '"' AS labels, count(*) AS value
  FROM request INDEXED BY request_open WHERE state IN ('pending', 'interrupted') GROUP BY kind, state
UNION ALL
SELECT 'intercom_question_oldest_timestamp_seconds', 'kind="' || kind || '"',
       round((julianday(min(created_at)) - 2440587.5) * 86400, 3)
  FROM request INDEXED BY request_open WHERE state IN ('pending', 'interrupted') GROUP BY kind
UNION ALL
SELECT 'intercom_sessions', 'status="' || status || '"', count(*)
  FROM session WHERE status <> 'terminated' GROUP BY status
UNION ALL
SELECT 'intercom_writes', 'state="' || state || '"', count(*)
  FROM apply WHERE state IN ('queued', 'claimed') GROUP BY state
UNION ALL
SELECT 'intercom_outbox', 'state="' || state || '"', count(*)
  FROM slack_outbox WHERE state IN ('queued', 'sending', 'doubtful') GROUP BY state
UNION ALL
SELECT 'intercom_outbox', 'state="dead"', count(*) FROM slack_outbox WHERE state = 'dead' HAVING count(*) > 0
UNION ALL
SELECT 'intercom_outbox_oldest_timestamp_seconds', '',
       round((julianday(min(created_at)) - 2440587.5) * 86400, 3)
  FROM slack_outbox WHERE state IN ('queued', 'sending', 'doubtful') HAVING count(*) > 0
UNION ALL
SELECT 'intercom_stalled_agents', '', count(*) FROM stall WHERE ended_at IS NULL
UNION ALL
SELECT 'intercom_workers', 'worker="' || name || '",state="' || state || '"', count(*)
  FROM worker WHERE state IN ('starting', 'ready') AND name NOT GLOB '*[^a-z-]*' GROUP BY name, state
UNION ALL
SELECT 'intercom_worker_heartbeat_timestamp_seconds', 'worker="' || name || '"',
       round((julianday(max(heartbeat_at)) - 2440587.5) * 86400, 3)
  FROM worker WHERE state IN ('starting', 'ready') AND name NOT GLOB '*[^a-z-]*' GROUP BY name
UNION ALL
SELECT 'intercom_day_tokens', 'type="' || t.value || '"',
       sum(CASE t.value WHEN 'input' THEN u.input_tokens WHEN 'output' THEN u.output_tokens ELSE u.total_tokens END)
  FROM json_each('["input","output","total"]') AS t
  CROSS JOIN agent_usage AS u ON u.day = (SELECT max(day) FROM agent_usage) GROUP BY t.value
UNION ALL
SELECT 'intercom_day_cost', 'currency="' || currency || '"', sum(cost_micros) / 1000000.0
  FROM agent_usage
 WHERE day = (SELECT max(day) FROM agent_usage) AND currency GLOB '[A-Z][A-Z][A-Z]' GROUP BY currency
UNION ALL
SELECT 'intercom_build_info', 'build="' || value || '"', 1
  FROM setting WHERE name = 'system.build' AND value NOT GLOB '*[^0-9A-Za-z.+-]*';

-- All figures, as lines of the OpenMetrics text: SELECT name, labels, value FROM metric. Within a
-- family, `series`, `part` and `place` have them in its order.
CREATE VIEW metric AS
WITH counted AS MATERIALIZED (
       SELECT family, labels, le, sum(value) AS value
         FROM (SELECT family, labels, le, value FROM metric_tally
               UNION ALL SELECT family, labels, le, value FROM metric_recent)
        GROUP BY family, labels, le),
     filled AS (
       SELECT s.family, s.labels, b.bound_ms, b.le,
              sum(coalesce(c.value, 0)) OVER (PARTITION BY s.family, s.labels ORDER BY b.bound_ms) AS value
         FROM (SELECT family, labels FROM counted WHERE le = 'sum') AS s
         JOIN metric_bucket AS b ON b.family = s.family
         LEFT JOIN counted AS c ON c.family = s.family AND c.labels = s.labels AND c.le = b.le)
SELECT family, family AS name, labels, value, labels AS series, 0 AS part, 0 AS place FROM metric_gauge
UNION ALL
SELECT family, family || '_total', labels, value, labels, 0, 0 FROM counted WHERE le = ''
UNION ALL
SELECT family, family || '_bucket', labels || ',le="' || le || '"', value, labels, 0, bound_ms FROM filled
UNION ALL
SELECT family, family || '_count', labels, value, labels, 1, 0 FROM filled WHERE le = '+Inf'
UNION ALL
SELECT family, family || '_sum', labels, value / 1000.0, labels, 2, 0 FROM counted WHERE le = 'sum';

-- The last row of each table that is counted.
CREATE VIEW metric_head AS
SELECT 'decision' AS noun, coalesce(max(seq), 0) AS seq FROM decision
UNION ALL SELECT 'ended_call', coalesce(max(seq), 0) FROM ended_call
UNION ALL SELECT 'event', coalesce(max(seq), 0) FROM event
UNION ALL SELECT 'request', coalesce(max(seq), 0) FROM request
UNION ALL SELECT 'tool_call', coalesce(max(seq), 0) FROM tool_call
UNION ALL SELECT 'worker', coalesce(max(seq), 0) FROM worker;
