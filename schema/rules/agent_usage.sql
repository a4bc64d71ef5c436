-- What agents have used, for who looks at sessions.
CREATE VIEW session_usage AS
SELECT r.session_seq, u.seq, u.day, u.input_tokens, u.output_tokens, u.total_tokens, u.cost_micros,
       u.currency, u.context_used, u.context_size
  FROM agent_run AS r CROSS JOIN agent_usage AS u ON u.run_seq = r.seq;
