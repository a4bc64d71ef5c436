#include "retention_case.h"

const int64_t SECOND = 1000, HOUR = 3600000, DAY = 86400000;

const char COUNTS[] = "SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM connection),"
                      " (SELECT count(*) FROM request), (SELECT count(*) FROM tool_call),"
                      " (SELECT count(*) FROM ended_call), (SELECT count(*) FROM apply),"
                      " (SELECT count(*) FROM file_change), (SELECT count(*) FROM decision),"
                      " (SELECT count(*) FROM checkpoint), (SELECT count(*) FROM content)";

void given_for(const char *format, struct instant at, int n)
{
	char sql[2000];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(sql, sizeof(sql), format, at.text, n);
#pragma GCC diagnostic pop
	given(sql);
}

void given_whole_session(int n, struct instant at)
{
	given_for(
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (%2$d, 's%2$d', 'h', 'local:ann', '/w', 'active',"
	    " 'local', '%1$s', '%1$s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	    " identity, created_at) VALUES (%2$d, 'k%2$d', 'h', 'stdio', '2025-06-18', %2$d, '{}',"
	    " '%1$s');"
	    "INSERT INTO checkpoint (id, session_id, session_state, workspace_root, kind, machine,"
	    " state, created_at, updated_at) VALUES ('c%2$d', 's%2$d', '{}', '/w', 'ordered', 'h',"
	    " 'queued', '%1$s', '%1$s');"
	    "INSERT INTO content (seq, hash, size, bytes) VALUES (%2$d, printf('%%064d', %2$d), 1,"
	    " x'61')",
	    at, n);
	given_for(
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body_seq,"
	    " file_path, risk_level, original_hash, created_at, updated_at) VALUES (%2$d, 'q%2$d',"
	    " %2$d, 'clearance', 'pending', printf('%%064d', %2$d), 't', %2$d, 'f', 'low',"
	    " 'new_file', '%1$s', '%1$s');"
	    "INSERT INTO request_file (request_seq, path, action, original_hash)"
	    " VALUES (%2$d, 'f', 'create', 'new_file');"
	    "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, digest,"
	    " state, request_seq, created_at) VALUES (%2$d, %2$d, %2$d, '1', 'modern',"
	    " 'check_clearance', '', 'waiting', %2$d, '%1$s');"
	    "INSERT INTO decision (request_id, verdict, operator_id, source, created_at)"
	    " VALUES ('q%2$d', 'approve', 'local:ann', 'ctl', '%1$s');"
	    "INSERT INTO apply (seq, request_seq, machine, state, created_at, updated_at)"
	    " VALUES (%2$d, %2$d, 'h', 'queued', '%1$s', '%1$s');"
	    "INSERT INTO file_change (apply_seq, path, action, hash_before, hash_after, bytes, "
	    "state,"
	    " created_at, updated_at) VALUES (%2$d, 'f', 'create', 'new_file', 'x', 1, 'planned',"
	    " '%1$s', '%1$s')",
	    at, n);
}

void terminate(int n, struct instant at)
{
	given_for("UPDATE session SET status = 'terminated', terminated_at = '%1$s',"
	          " updated_at = '%1$s' WHERE seq = %2$d",
	          at, n);
}

void begin(void)
{
	fresh_store();
	given_for("INSERT INTO operator (id, kind, user_id, created_at)"
	          " VALUES ('local:ann', 'local', 'ann', '%1$s')",
	          clock_now(), 0);
}

struct instant ago(int64_t ms)
{
	return clock_instant(clock_now_ms() - ms);
}

char *run_once(const char *arguments, int wanted)
{
	char command[1000], text[2000];
	size_t n;
	FILE *f;
	int status;

	(void)snprintf(command, sizeof(command), "%s/agent-intercom --db %s retention %s 2>&1",
	               getenv("INTERCOM_BUILD"), test_db(), arguments);
	f = popen(command, "re"); /* NOLINT(cert-env33-c) */
	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	status = pclose(f);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == wanted, "%s", text);
	return strdup(text);
}

struct str said;

int intercom(const char *arguments)
{
	return shell(&said, "%s/agent-intercom --db %s %s 2>&1 </dev/null",
	             getenv("INTERCOM_BUILD"), test_db(), arguments);
}
