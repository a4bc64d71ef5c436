#include "commander_case.h"

#include "err.h"
#include "str.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MS = 10, ARGUMENTS_BYTES = 4096 };

char workspace[300];
pid_t commander;

static void add_literal(struct str *out, const char *text)
{
	str_add_char(out, '\'');
	for (; *text; text++) {
		str_add_char(out, *text);
		if (*text == '\'')
			str_add_char(out, '\'');
	}
	str_add_char(out, '\'');
}

void given_ground(void)
{
	OWNED(str) struct str sql = { 0 };

	fresh_store();
	(void)snprintf(workspace, sizeof(workspace), "%s", scratch());
	str_addf(
	    &sql,
	    "INSERT INTO setting (name, value, source, updated_at) VALUES"
	    " ('commands', '{}', 'file', '2026-01-01T08:00:00.000Z'),"
	    " ('default_workspace_root', '%s', 'file', '2026-01-01T08:00:00.000Z')"
	    " ON CONFLICT (name) DO UPDATE SET value = excluded.value;"
	    "INSERT OR IGNORE INTO setting (name, value, source, updated_at) VALUES"
	    " ('system.machine', 'h', 'system', '2026-01-01T08:00:00.000Z');"
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES"
	    " (1, 's-1', 'h', 'local:tester', '%s', 'active', 'local',"
	    "  '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z'),"
	    " (2, 's-2', 'h', 'local:tester', '%s', 'active', 'local',"
	    "  '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')",
	    workspace, workspace, workspace);
	given(str_text(&sql));
}

void start_commander(void)
{
	commander = start_worker("commander");
}

void given_commander(void)
{
	given_ground();
	start_commander();
}

void given_alias(const char *alias, const char *line)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql, "UPDATE setting SET value = json_set(value, '$.' || '%s', ", alias);
	add_literal(&sql, line);
	str_add(&sql, ") WHERE name = 'commands'");
	given(str_text(&sql));
}

int order_run(const char *alias, int session)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, argument, session_id) VALUES"
	               " ('run', '%s', (SELECT id FROM session WHERE seq = %d))",
	               alias, session);
	given(sql);
	OWNED(char_ptr) char *seq = rows("SELECT max(seq) FROM alias_run");
	return atoi(seq);
}

int run_line(const char *line)
{
	static int next;
	char alias[30];

	(void)snprintf(alias, sizeof(alias), "line%d", ++next);
	given_alias(alias, line);
	return order_run(alias, SESSION_A);
}

void order_stop(int run)
{
	char sql[120];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, argument) VALUES ('run-stop', '%d')", run);
	given(sql);
}

void run_becomes(int run, const char *words)
{
	char sql[200], expected[200];

	(void)snprintf(
	    sql, sizeof(sql),
	    "SELECT state, outcome, exit_code, exit_signal FROM alias_run WHERE seq = %d", run);
	(void)snprintf(expected, sizeof(expected), "%s\n", words);
	expect_soon(sql, expected);
}

static const char *keep(char *text)
{
	static char *texts[10];
	static size_t next;
	char **place = &texts[next++ % COUNT(texts)];

	free(*place);
	*place = text;
	return text;
}

const char *of_run(int run, const char *column)
{
	char sql[300];
	char *text;

	(void)snprintf(sql, sizeof(sql), "SELECT %s FROM alias_run WHERE seq = %d", column, run);
	text = rows(sql);
	text[strlen(text) - 1] = '\0'; /* the newline */
	return keep(text);
}

const char *output_of(int run)
{
	return of_run(run,
	              "CAST(coalesce((SELECT bytes FROM content WHERE seq = content_seq), shown) "
	              "AS TEXT)");
}

/* ---- processes ---- */

static bool has_argument(const char *pid, const char *argument)
{
	char path[300], all[ARGUMENTS_BYTES];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, all, sizeof(all));
	if (fd >= 0)
		(void)close(fd);
	for (ssize_t at = 0; at < n; at += (ssize_t)strnlen(all + at, (size_t)(n - at)) + 1)
		if (strncmp(all + at, argument, (size_t)(n - at)) == 0)
			return true;
	return false;
}

int processes_with(const char *argument)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int count = 0;

	while (proc && (entry = readdir(proc)) != NULL)
		count += isdigit((unsigned char)entry->d_name[0]) &&
		         has_argument(entry->d_name, argument);
	if (proc)
		(void)closedir(proc);
	return count;
}

void processes_become(const char *argument, int count)
{
	int have = processes_with(argument);

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; have != count && agent_ms() < end;
	     have = processes_with(argument))
		(void)poll(NULL, 0, LOOK_MS);
	ck_assert_int_eq(have, count);
}

const char *mark(void)
{
	static int next;
	char text[40];

	(void)snprintf(text, sizeof(text), "100000.%d%04d", (int)getpid(), ++next);
	return keep(xstrdup(text));
}

void file_becomes(const char *name, const char *text)
{
	char *have = get_file(workspace, name);

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;
	     (!have || strcmp(have, text) != 0) && agent_ms() < end;
	     have = get_file(workspace, name)) {
		free(have);
		(void)poll(NULL, 0, LOOK_MS);
	}
	ck_assert_msg(have && strcmp(have, text) == 0, "%s is:\n%s", name, have ? have : "missing");
	free(have);
}
