-- What is there before each case: operators, settings, sessions, questions and callers.
INSERT INTO operator (id, kind, team_id, user_id, active, is_default, created_at) VALUES
  ('local:ann', 'local', NULL, 'ann', 1, 1, '2026-01-01T08:00:00.000Z'),
  ('local:bob', 'local', NULL, 'bob', 1, 0, '2026-01-01T08:00:00.000Z'),
  ('local:gone', 'local', NULL, 'gone', 0, 0, '2026-01-01T08:00:00.000Z'),
  ('slack:T1:U1', 'slack', 'T1', 'U1', 1, 0, '2026-01-01T08:00:00.000Z');
INSERT INTO setting (name, value, source, updated_at) VALUES
  ('mode', 'local', 'default', '2026-01-01T08:00:00.000Z'),
  ('slack.configured', 'false', 'system', '2026-01-01T08:00:00.000Z');
INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode, client_name,
                     created_at, updated_at) VALUES
  (1, 's-local', 'here', 'local:ann', '/work', 'active', 'local', 'claude',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (2, 's-successor', 'here', 'local:ann', '/work', 'active', 'local', 'claude',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (3, 's-hybrid', 'here', 'local:ann', '/work', 'active', 'hybrid', 'claude',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (4, 's-remote', 'here', 'local:ann', '/work', 'active', 'remote', 'claude',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (5, 's-elsewhere', 'here', 'local:ann', '/other', 'created', 'local', 'claude',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (6, 's-other-machine', 'there', 'local:ann', '/work', 'active', 'local', 'claude',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');
INSERT INTO connection (seq, key, machine, transport, protocol_version, elicits, session_seq, identity,
                        created_at) VALUES
  (1, 'k1', 'here', 'http', '2025-11-25', 1, 1, '{}', '2026-01-01T09:00:00.000Z'),
  (2, 'k2', 'here', 'stdio', '2025-11-25', 0, 2, '{}', '2026-01-01T09:00:00.000Z');
-- A digest is 64 digits: that of request 1 is 63 zeros and a 1.
INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body, file_path, risk_level,
                     original_hash, timeout_ms, deadline_at, created_at, updated_at) VALUES
  (1, 'ask', 1, 'clearance', 'pending', printf('%064d', 1), 'Change a.c', '-a +b', 'a.c', 'low',
   'new_file', 3600000, '2026-01-01T10:00:00.000Z',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (4, 'hybrid', 3, 'clearance', 'pending', printf('%064d', 4), 'Change d.c', '-a +b', 'd.c', 'high',
   'new_file', NULL, NULL, '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (5, 'remote', 4, 'clearance', 'pending', printf('%064d', 5), 'Change e.c', '-a +b', 'e.c', 'high',
   'new_file', NULL, NULL, '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (6, 'left', 1, 'clearance', 'pending', printf('%064d', 6), 'Change f.c', '-a +b', 'f.c',
   'critical', 'new_file', 3600000, '2026-01-01T10:00:00.000Z',
   '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');
INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body, prompt_type,
                     timeout_ms, deadline_at, created_at, updated_at) VALUES
  (2, 'prompt', 1, 'prompt', 'pending', printf('%064d', 2), 'Go on?', 'Go on?', 'continuation',
   3600000, '2026-01-01T10:00:00.000Z', '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),
  (3, 'standby', 1, 'standby', 'pending', printf('%064d', 3), 'Ready', 'Ready', NULL,
   3600000, '2026-01-01T10:00:00.000Z', '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');
-- 'left' was asked by an agent of which a stop parted us.
UPDATE request SET state = 'interrupted', deadline_at = NULL, remaining_ms = 1800000,
                   updated_at = '2026-01-01T09:30:00.000Z' WHERE id = 'left';
-- Two callers wait for 'ask' (one of them reconnected), one for 'prompt'.
INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, arguments, digest,
                       state, request_seq, listener, created_at) VALUES
  (1, 1, 1, '1', 'legacy', 'check_clearance', '{}', printf('%064d', 1), 'waiting', 1, NULL,
   '2026-01-01T09:00:00.000Z'),
  (2, 1, 1, '2', 'legacy', 'check_clearance', '{}', printf('%064d', 1), 'waiting', 1, 'front-1',
   '2026-01-01T09:00:01.000Z'),
  (3, 1, 1, '3', 'legacy', 'transmit', '{}', printf('%064d', 2), 'waiting', 2, 'front-1',
   '2026-01-01T09:00:02.000Z');
