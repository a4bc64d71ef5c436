-- Figures for monitoring: what `GET /metrics` says, and the view `metric` for the sqlite3 shell.

-- The families of the OpenMetrics text, and what they are.
-- small
-- closed
CREATE TABLE metric_family (
  family TEXT NOT NULL PRIMARY KEY,
  type   TEXT NOT NULL CHECK (type IN ('gauge', 'counter', 'histogram')),
  unit   TEXT NOT NULL,                     -- '' none; otherwise the family ends with it
  help   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO metric_family VALUES
  ('intercom_answer_seconds', 'histogram', 'seconds', 'From a question to the answer that was applied.'),
  ('intercom_build_info', 'gauge', '', 'The build that is running.'),
  ('intercom_call_seconds', 'histogram', 'seconds', 'From a call that waits to the end of its wait.'),
  ('intercom_calls', 'counter', '', 'Calls of tools by agents.'),
  ('intercom_day_cost', 'gauge', '', 'What agents say that they have cost on the latest day of use.'),
  ('intercom_day_tokens', 'gauge', '', 'Tokens that agents say they have used on the latest day of use.'),
  ('intercom_decisions', 'counter', '', 'Answers to questions, those that were not applied included.'),
  ('intercom_events', 'counter', '', 'Entries of the timeline.'),
  ('intercom_fence_refusals', 'counter', '', 'What a fence has refused to a process of ours.'),
  ('intercom_outbox', 'gauge', '', 'Messages and edits for Slack that are not sent.'),
  ('intercom_outbox_oldest_timestamp_seconds', 'gauge', 'seconds', 'Since when the oldest of them waits; Unix time.'),
  ('intercom_question_oldest_timestamp_seconds', 'gauge', 'seconds', 'Since when the oldest open question waits; Unix time.'),
  ('intercom_questions', 'gauge', '', 'Open questions.'),
  ('intercom_questions_asked', 'counter', '', 'Questions that were asked.'),
  ('intercom_sessions', 'gauge', '', 'Sessions that have not ended.'),
  ('intercom_stalled_agents', 'gauge', '', 'Agents that are silent although it is their turn.'),
  ('intercom_worker_heartbeat_timestamp_seconds', 'gauge', 'seconds', 'The last sign of life of a worker; Unix time.'),
  ('intercom_worker_starts', 'counter', '', 'Starts and restarts of workers.'),
  ('intercom_workers', 'gauge', '', 'Worker processes.'),
  ('intercom_writes', 'gauge', '', 'Approved writes that are not finished.');

-- The buckets of histograms.
-- small
-- closed
CREATE TABLE metric_bucket (
  family   TEXT NOT NULL,
  bound_ms INTEGER NOT NULL,                -- durations up to this one
  le       TEXT NOT NULL,                   -- the same in seconds, as the label says it
  PRIMARY KEY (family, bound_ms)
) STRICT, WITHOUT ROWID;
INSERT INTO metric_bucket VALUES
  ('intercom_answer_seconds', 100, '0.1'), ('intercom_answer_seconds', 1000, '1.0'),
  ('intercom_answer_seconds', 5000, '5.0'), ('intercom_answer_seconds', 15000, '15.0'),
  ('intercom_answer_seconds', 60000, '60.0'), ('intercom_answer_seconds', 300000, '300.0'),
  ('intercom_answer_seconds', 900000, '900.0'), ('intercom_answer_seconds', 3600000, '3600.0'),
  ('intercom_answer_seconds', 14400000, '14400.0'), ('intercom_answer_seconds', 9223372036854775807, '+Inf'),
  ('intercom_call_seconds', 5, '0.005'), ('intercom_call_seconds', 20, '0.02'),
  ('intercom_call_seconds', 100, '0.1'), ('intercom_call_seconds', 1000, '1.0'),
  ('intercom_call_seconds', 5000, '5.0'), ('intercom_call_seconds', 30000, '30.0'),
  ('intercom_call_seconds', 120000, '120.0'), ('intercom_call_seconds', 600000, '600.0'),
  ('intercom_call_seconds', 3600000, '3600.0'), ('intercom_call_seconds', 9223372036854775807, '+Inf');

-- What was counted of rows up to metric_cursor.upto: counts outlive the rows. Retention adds to it,
-- always before it deletes rows.
-- small
-- free: figures for monitoring; nothing rests on them
CREATE TABLE metric_tally (
  family TEXT NOT NULL,
  labels TEXT NOT NULL,                     -- as the OpenMetrics text has them, without braces
  le     TEXT NOT NULL,                     -- '' a counter; a histogram: one of its buckets, or 'sum'
  value  INTEGER NOT NULL,                  -- how many; with 'sum' milliseconds
  PRIMARY KEY (family, labels, le)
) STRICT, WITHOUT ROWID;

-- small
-- free: moves together with metric_tally
CREATE TABLE metric_cursor (
  noun  TEXT NOT NULL PRIMARY KEY,          -- the table that is counted
  upto  INTEGER NOT NULL DEFAULT 0,         -- the last seq that is in metric_tally
  until INTEGER NOT NULL DEFAULT 9223372036854775807 -- how far metric_recent counts: to the end, but
                                            -- in the transaction that adds a stretch to metric_tally
) STRICT, WITHOUT ROWID;
INSERT INTO metric_cursor (noun) VALUES
  ('decision'), ('ended_call'), ('event'), ('request'), ('tool_call'), ('worker');
