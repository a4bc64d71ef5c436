#include "runner_case.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MS = 10, SECOND_MS = 1000, ENVIRON_BYTES = 64 << 10 };

struct site site;

void make_site(void)
{
	fresh_store();
	site = site_make("[[agent]]\nname = \"shell\"\nprotocol = \"mcp\"\n"
	                 "command = \"/bin/sh\"\nargs = [\"-c\", \"eval \\\"$0\\\"\"]\n");
}

void make_site_of(const char *name, const char *protocol, const char *program, const char *args)
{
	OWNED(str) struct str config = { 0 };
	OWNED(str) struct str sql = { 0 };
	const char *build = getenv("INTERCOM_BUILD");

	fresh_store();
	str_addf(&config,
	         "[[agent]]\nname = \"%s\"\nprotocol = \"%s\"\ncommand = \"%s/%s\"\n"
	         "args = [%s]\n",
	         name, protocol, build, program, args);
	site = site_make(config.bytes);
	str_addf(&sql,
	         "INSERT INTO agent (name, command, args, protocol, env_pass, env_set, acp_version,"
	         " startup_timeout_ms, max_line_length, framing, is_default, is_builtin,"
	         " updated_at) VALUES ('%s', '%s/%s', '[%s]', '%s', '[]', '{}', 'auto', 30000,"
	         " 33554432, 'ndjson', 0, 0, '2026-01-01T00:00:00.000Z')",
	         name, build, program, args, protocol);
	given(sql.bytes);
}

void setup(void)
{
	make_site();
	site_start(&site);
}

/* Appends text as an SQL literal. */
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

const char *session_of(int run)
{
	static char id[60];

	(void)snprintf(id, sizeof(id), "session-%d-%.20s", run, strrchr(site.home, '-') + 1);
	return id;
}

static int next_number(void)
{
	OWNED(char_ptr) char *text = rows("SELECT count(*) + 1 FROM agent_run");

	return atoi(text);
}

static int order_run(const char *prompt, const char *profile, struct instant now)
{
	OWNED(str) struct str sql = { 0 };
	int n = next_number();

	if (profile)
		str_addf(&sql, "UPDATE agent SET %s WHERE name = 'shell';", profile);
	str_addf(
	    &sql,
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status,"
	    " mode, origin, created_at, updated_at)"
	    " VALUES (%d, '%s', 'h', 'local:tester', '%s', 'created', 'local', 'started', '%s',"
	    " '%s');"
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol,"
	    " state, created_at, prompt) VALUES (%d, %d, 1, 'h', 'shell', 'mcp', 'wanted',"
	    " '%s', ",
	    n, session_of(n), site.workspace, now.text, now.text, n, n, now.text);
	add_literal(&sql, prompt);
	str_add(&sql, ")");
	given(str_text(&sql));
	return n;
}

int given_run_with(const char *prompt, const char *profile)
{
	return order_run(prompt, profile, clock_now());
}

static int order_script(const char *script, const char *profile, struct instant now)
{
	OWNED(str) struct str prompt = { 0 };

	str_addf(&prompt, "here='%s'\n%s", site.workspace, script);
	return order_run(str_text(&prompt), profile, now);
}

int given_run_of(const char *script, const char *profile)
{
	return order_script(script, profile, clock_now());
}

int given_run_ago(const char *script, int seconds)
{
	return order_script(script, NULL, clock_instant(clock_now_ms() - seconds * SECOND_MS));
}

int given_run(const char *script)
{
	return given_run_of(script, NULL);
}

void run_becomes(int run, const char *words)
{
	char sql[300], expected[200];

	(void)snprintf(sql, sizeof(sql),
	               "SELECT r.state, r.outcome, r.exit_code, r.exit_signal, s.status"
	               " FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq"
	               " WHERE r.seq = %d",
	               run);
	(void)snprintf(expected, sizeof(expected), "%s\n", words);
	expect_soon(sql, expected);
}

const char *of_run(int run, const char *column)
{
	static char *texts[10];
	static size_t next;
	char sql[200];
	char **text = &texts[next++ % COUNT(texts)];

	(void)snprintf(sql, sizeof(sql), "SELECT %s FROM agent_run WHERE seq = %d", column, run);
	free(*text);
	*text = rows(sql);
	(*text)[strlen(*text) - 1] = '\0'; /* the newline */
	return *text;
}

void want_stop(int run, const char *why)
{
	char sql[300];
	struct instant now = clock_now();

	(void)snprintf(sql, sizeof(sql),
	               "UPDATE agent_run SET stop_wanted_at = '%s', stop_why = '%s' WHERE seq = %d",
	               now.text, why, run);
	given(sql);
}

/* ---- processes ---- */

static bool has_in(const char *pid, const char *file, const char *text)
{
	char path[300];
	char *bytes = xmalloc(ENVIRON_BYTES);
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, bytes, ENVIRON_BYTES);
	if (fd >= 0)
		(void)close(fd);
	bool has = n > 0 && memmem(bytes, (size_t)n, text, strlen(text) + 1) != NULL;
	free(bytes);
	return has;
}

int processes_of(int run)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	char mark[80];
	int count = 0;

	(void)snprintf(mark, sizeof(mark), "INTERCOM_SESSION_ID=%s", session_of(run));
	while (proc && (entry = readdir(proc)) != NULL)
		count += isdigit((unsigned char)entry->d_name[0]) &&
		         has_in(entry->d_name, "environ", mark);
	if (proc)
		(void)closedir(proc);
	return count;
}

void processes_become(int run, int count)
{
	int have = processes_of(run);

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; have != count && agent_ms() < end;
	     have = processes_of(run))
		(void)poll(NULL, 0, LOOK_MS);
	ck_assert_int_eq(have, count);
}

pid_t runner_of(int run)
{
	char name[40];

	(void)snprintf(name, sizeof(name), "runner-%d", run);
	return worker_pid(name);
}

char *file_with_lines(const char *name, int lines)
{
	char *text = get_file(site.workspace, name);

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;; text = get_file(site.workspace, name)) {
		int have = 0;

		for (const char *c = text ? text : ""; *c; c++)
			have += *c == '\n';
		if (have >= lines)
			return text;
		ck_assert_msg(agent_ms() < end, "%s has %d lines, not %d:\n%s", name, have, lines,
		              text ? text : "");
		free(text);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

/* ---- an agent that is talked to ---- */

static void write_fake(const char *speaks, const char *const *steps)
{
	OWNED(str) struct str args = { 0 };
	OWNED(str) struct str sql = { 0 };
	struct instant now = clock_now();

	str_addf(&args, "[\"%s\",\"--log\",\"%s/heard\"", speaks, site.workspace);
	for (; *steps; steps++) {
		str_add_char(&args, ',');
		json_quote(&args, *steps);
	}
	str_addf(
	    &sql,
	    "INSERT INTO agent (name, command, args, protocol, env_pass, env_set, acp_version,"
	    " startup_timeout_ms, max_line_length, framing, is_default, is_builtin, updated_at)"
	    " VALUES ('fake', '%s/tests/fake-agent', '%s]', '%s', '[]', '{}', 'auto', 30000,"
	    " 33554432, 'ndjson', 0, 0, '%s')",
	    getenv("INTERCOM_BUILD"), args.bytes,
	    strcmp(speaks, "stream") == 0 ? "acp-stream" : "acp", now.text);
	given(str_text(&sql));
}

int given_talk(const char *speaks, const char *const *steps)
{
	OWNED(str) struct str sql = { 0 };
	struct instant now = clock_now();

	write_fake(speaks, steps);
	str_addf(
	    &sql,
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status,"
	    " mode, origin, protocol_mode, created_at, updated_at)"
	    " VALUES (1, '%s', 'h', 'local:tester', '%s', 'created', 'local', 'started', 'acp',"
	    " '%s', '%s');"
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol,"
	    " state, created_at, prompt) SELECT 1, 1, 1, 'h', name, protocol, 'wanted', '%s',"
	    " 'mend it' FROM agent WHERE name = 'fake'",
	    session_of(1), site.workspace, now.text, now.text, now.text);
	given(str_text(&sql));
	return 1;
}

void start_again(const char *speaks, const char *const *steps)
{
	site_start(&site);
	write_fake(speaks, steps);
}

void was_told(const char *text, int times)
{
	int have = 0;

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;;) {
		OWNED(char_ptr) char *heard = get_file(site.workspace, "heard");

		have = 0;
		for (const char *at = heard; at && (at = strstr(at, text)) != NULL; at++)
			have++;
		if (have >= times || agent_ms() > end) {
			ck_assert_msg(have == times, "%s: %d times, not %d, in\n%s", text, have,
			              times, heard ? heard : "");
			return;
		}
		(void)poll(NULL, 0, LOOK_MS);
	}
}

void decide(const char *verdict, const char *more)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO decision (request_id, verdict, reason, instruction)"
	         " SELECT id, '%s', %s FROM request WHERE state = 'pending'",
	         verdict, more);
	given(sql.bytes);
}

void resume(int run)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol,"
	         " state, created_at, prompt)"
	         " SELECT seq + 1, session_seq, generation + 1, machine, agent, protocol,"
	         " 'wanted', created_at, prompt FROM agent_run WHERE seq = %d",
	         run);
	given(sql.bytes);
}
