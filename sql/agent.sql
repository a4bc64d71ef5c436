-- Every statement on `agent`.

-- name: agent_forget_all :exec
-- Before this start's profiles are inserted.
DELETE FROM agent;

-- name: agent_insert :exec
INSERT INTO agent (name, command, args, protocol, env_pass, env_set, workspace, acp_version,
                   auth_method, asking, refused_modes, fence, startup_timeout_ms, max_line_length,
                   framing, park_after_ms, is_default, is_builtin, updated_at)
VALUES (:name, :command, :args, :protocol, :env_pass, :env_set, :workspace, :acp_version,
        :auth_method, :asking, :refused_modes, :fence, :startup_timeout_ms, :max_line_length,
        :framing, :park_after_ms, :is_default, :is_builtin, :now);
