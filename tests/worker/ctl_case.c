#include "ctl_case.h"

char folder[] = "/tmp/test_ctl.XXXXXX";

char home[64];

char database[96];

char binary[512];

struct str out, err_out; /* of the last run */

int status;

static sqlite3 *db; /* open from the first use to the end of a test */

static void db_open(void)
{
	if (db)
		return;
	ck_assert_int_eq(sqlite3_open(database, &db), SQLITE_OK);
	(void)sqlite3_busy_timeout(db, 5000);
}

void given(const char *sql)
{
	char *message = NULL;

	db_open();
	(void)sqlite3_exec(db, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s: %s", sql, message);
}

void expect(const char *sql, const char *rows)
{
	sqlite3_stmt *s = NULL;
	OWNED(str) struct str got = { 0 };

	db_open();
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s: %s", sql,
	              sqlite3_errmsg(db));
	while (sqlite3_step(s) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++) {
			const char *text = (const char *)sqlite3_column_text(s, i);

			str_addf(&got, "%s%s", i ? "|" : "", text ? text : "");
		}
		str_add_char(&got, '\n');
	}
	(void)sqlite3_finalize(s);
	ck_assert_str_eq(str_text(&got), rows);
}

void read_file(const char *name, struct str *into)
{
	char path[128], bytes[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", home, name);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	str_reset(into);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		str_add_bytes(into, bytes, n);
	(void)fclose(f);
}

void shell(const char *command)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "ctl() { '%s' \"$@\"; }; DB='--db %s';"
	         " await() { until grep -qs \"$2\" \"$HOME/$1\"; do sleep 0.02; done; };"
	         " { %s\n} >%s/out 2>%s/err",
	         binary, database, command, home, home);
	status = WEXITSTATUS(system(line.bytes)); /* NOLINT(cert-env33-c) */
	read_file("out", &out);
	read_file("err", &err_out);
}

void ctl(const char *arguments)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "ctl $DB %s </dev/null", arguments);
	shell(line.bytes);
}

void says(const char *text)
{
	ck_assert_msg(strstr(str_text(&out), text), "'%s' is not in:\n%s%s", text, str_text(&out),
	              str_text(&err_out));
}

void done(const char *output)
{
	ck_assert_msg(status == 0, "exit %d: %s", status, str_text(&err_out));
	ck_assert_str_eq(str_text(&out), output);
	ck_assert_str_eq(str_text(&err_out), "");
}

void failed(int expected, const char *message)
{
	ck_assert_int_eq(status, expected);
	ck_assert_msg(strncmp(str_text(&err_out), "Error: ", 7) == 0 &&
	                  strstr(str_text(&err_out), message),
	              "'%s' is not in: %s", message, str_text(&err_out));
}

void setup(void)
{
	struct err e = { 0 };
	struct store st = STORE_INIT;
	struct paths p = { 0 };
	const char *build = getenv("INTERCOM_BUILD");

	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(home, sizeof(home), "%s", folder);
	(void)snprintf(database, sizeof(database), "%s/state/intercom.db", home);
	(void)snprintf(binary, sizeof(binary), "%s/agent-intercom-ctl",
	               build ? build : "build/dev");
	(void)setenv("HOME", home, 1);
	(void)setenv("XDG_RUNTIME_DIR", home, 1);
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("INTERCOM_CONFIG");
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "xterm", 1);
	ck_assert_msg(paths_open(database, true, &p, &e) == 0, "%s", e.text);
	ck_assert_msg(store_migrate(&st, database, NULL, &e) == 0, "%s", e.text);
	store_clear(&st);
	paths_clear(&p);
	given("INSERT INTO operator (id, kind, user_id, is_default)"
	      " VALUES ('local:tester', 'local', 'tester', 1);"
	      "INSERT INTO setting VALUES ('mode', 'local', 'default', '" T "');");
}

void teardown(void)
{
	char command[96];

	(void)sqlite3_close(db);
	db = NULL;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", home);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
	str_clear(&out);
	str_clear(&err_out);
}

void given_sessions(void)
{
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      " client_name, last_tool, created_at, updated_at) VALUES"
	      " ('" SESSION_A "', 'h', 'local:tester', '/ws/a', 'active', 'local', 'claude', NULL,"
	      "  '" T "', '" T "'),"
	      " ('" SESSION_B "', 'h', 'local:tester', '/ws/b', 'active', 'local', NULL, 'standby',"
	      "  '" T "', '" T "')");
}

void given_changes(void)
{
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, description, body,"
	      " file_path, risk_level, original_hash, created_at, updated_at) VALUES"
	      " ('" CHANGE "', 1, 'clearance', 'pending', printf('%064d', 1), 'Add a line', 'why',"
	      "  '--- a/a.c' || char(10) || '+++ b/a.c' || char(10) || '@@ -1 +1,2 @@' || char(10)"
	      "  || ' one' || char(10) || '+two' || char(10), 'a.c', 'high', 'new_file', '" T
	      "', '" T "'),"
	      " ('" CHANGE_2 "', 1, 'clearance', 'pending', printf('%064d', 2), 'A new file', NULL,"
	      "  'int x;' || char(10), 'b.c', 'low', 'new_file', '" T "', '" T "')");
}

void given_prompt(void)
{
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, body, prompt_type,"
	      " created_at, updated_at) VALUES ('" PROMPT
	      "', 1, 'prompt', 'pending', printf('%064d', 3), 'Go on?', 'Go on?', 'continuation',"
	      " '" T "', '" T "')");
}

void given_standby(const char *id, int session)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO request (id, session_seq, kind, state, digest, title, body,"
	               " created_at, updated_at) VALUES ('%s', %d, 'standby', 'pending',"
	               " printf('%%064d', 4), 'Ready', 'Ready', '" T "', '" T "')",
	               id, session);
	given(sql);
}

void given_questions(void)
{
	given_sessions();
	given_changes();
	given_prompt();
	given_standby(STANDBY_A, 1);
}

void given_remote_mode(void)
{
	given("CREATE TEMP TABLE before AS SELECT * FROM setting;"
	      "INSERT INTO setting VALUES ('slack.configured', 'true', 'system', '" T "')"
	      " ON CONFLICT (name) DO UPDATE SET value = 'true';"
	      "INSERT INTO command (verb, argument) VALUES ('mode', 'remote');"
	      "DELETE FROM command WHERE seq = last_insert_rowid();"
	      "DELETE FROM setting; INSERT INTO setting SELECT * FROM before; DROP TABLE before");
}

bool read_until(int fd, const char *text, bool asked)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[4096];

	str_reset(&out);
	while (poll(&p, 1, 30000) > 0) {
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n <= 0)
			break;
		str_add_bytes(&out, bytes, (size_t)n);
		const char *found = strstr(str_text(&out), text);
		if (found && (!asked || strstr(found, " > ")))
			return true;
	}
	return false;
}

bool until(int fd, const char *text)
{
	return read_until(fd, text, false);
}

bool until_asked(int fd, const char *text)
{
	return read_until(fd, text, true);
}

pid_t on_terminal(int *ret_fd, const char *command, const char *argument)
{
	struct winsize size = { .ws_row = 24, .ws_col = 60 };
	pid_t pid = forkpty(ret_fd, NULL, NULL, &size);

	if (pid == 0) {
		(void)execl(binary, "agent-intercom-ctl", "--db", database, command, argument,
		            (char *)NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

void ends(pid_t pid, const int *fd)
{
	int how;

	(void)until(*fd, "\xFF");
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	status = WEXITSTATUS(how);
	(void)close(*fd);
}
