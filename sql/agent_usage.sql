-- Every statement on `agent_usage`.

-- name: agent_usage_begin :exec
-- The row of a day.
-- type: :day text
INSERT INTO agent_usage (run_seq, day, updated_at)
SELECT :run, :day, :now
 WHERE NOT EXISTS (SELECT 1 FROM agent_usage WHERE run_seq = :run AND day = :day);

-- name: agent_usage_add :exec
-- What was used since the last time. 0: nothing was said.
-- type: :input_tokens integer
-- type: :output_tokens integer
-- type: :total_tokens integer
-- type: :cost_micros integer
-- type: :context_used integer
-- type: :context_size integer
UPDATE agent_usage
   SET input_tokens = input_tokens + :input_tokens,
       output_tokens = output_tokens + :output_tokens,
       total_tokens = total_tokens + :total_tokens,
       cost_micros = cost_micros + :cost_micros,
       currency = coalesce(currency, :currency),
       context_used = coalesce(nullif(:context_used, 0), context_used),
       context_size = coalesce(nullif(:context_size, 0), context_size), updated_at = :now
 WHERE run_seq = :run AND day = :day;
