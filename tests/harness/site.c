#include "site.h"

#include "agent.h"
#include "db.h"
#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static pid_t owner; /* the test program; tests run in its children */

/* ---- homes, and what is left behind ---- */

static void marker(char out[40])
{
	(void)snprintf(out, 40, "/tmp/ia-%d-", (int)owner);
}

/* Kills the processes whose command line names one of our homes: systems started by relays have
 * left our process group. */
static void kill_leftovers(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	char mark[40];

	marker(mark);
	while (proc && (entry = readdir(proc)) != NULL) {
		char path[300], line[2000];
		ssize_t n;
		int fd;

		if (!isdigit((unsigned char)entry->d_name[0]) || atoi(entry->d_name) == getpid())
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, line, sizeof(line));
		if (fd >= 0)
			(void)close(fd);
		if (n > 0 && memmem(line, (size_t)n, mark, strlen(mark)))
			(void)kill(atoi(entry->d_name), SIGKILL);
	}
	if (proc)
		(void)closedir(proc);
}

static void clean_up(void)
{
	DIR *tmp;
	const struct dirent *entry;
	char mark[40], path[300];

	if (getpid() != owner)
		return;
	kill_leftovers();
	marker(mark);
	tmp = opendir("/tmp");
	while (tmp && (entry = readdir(tmp)) != NULL) {
		(void)snprintf(path, sizeof(path), "/tmp/%s", entry->d_name);
		if (strncmp(path, mark, strlen(mark)) == 0)
			(void)remove_tree(path);
	}
	if (tmp)
		(void)closedir(tmp);
}

__attribute__((constructor)) static void remember_owner(void)
{
	owner = getpid();
	(void)atexit(clean_up);
}

/* ---- a site ---- */

/* Makes the site this process's home. */
static void live_at(const struct site *s)
{
	(void)setenv("HOME", s->home, 1);
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
}

struct site site_make(const char *more_lines)
{
	return site_make_at(test_db(), more_lines);
}

struct site site_make_at(const char *database, const char *more_lines)
{
	struct site s = { .port = free_port() };
	OWNED(str) struct str config = { 0 };
	char mark[40];

	marker(mark);
	(void)snprintf(s.home, sizeof(s.home), "%s%.30s", mark, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(s.home));
	(void)snprintf(s.workspace, sizeof(s.workspace), "%s/work", s.home);
	ck_assert_int_eq(mkdir(s.workspace, 0755), 0);
	(void)snprintf(s.config, sizeof(s.config), "%s/.config", s.home);
	ck_assert_int_eq(mkdir(s.config, 0700), 0);
	(void)snprintf(s.config, sizeof(s.config), "%s/.config/agent-intercom", s.home);
	ck_assert_int_eq(mkdir(s.config, 0700), 0);
	str_addf(&config, "default_workspace_root = \"%s\"\nhost_cli = \"/bin/true\"\n",
	         s.workspace);
	str_addf(&config, "http_port = %d\n%s\n[database]\npath = \"%s\"\n", s.port, more_lines,
	         database);
	put_file(s.config, "config.toml", config.bytes);
	(void)snprintf(s.config, sizeof(s.config), "%s/.config/agent-intercom/config.toml", s.home);
	(void)snprintf(s.database, sizeof(s.database), "%.199s", database);
	live_at(&s);
	return s;
}

struct site given_site(void)
{
	fresh_store();
	return site_make("");
}

struct site given_running_site(void)
{
	struct site s = given_site();

	site_start(&s);
	return s;
}

char *const *site_environment(const struct site *s)
{
	static char home[120], path[PROGRAM_BYTES], user[] = "USER=root";
	static char *environment[] = { home, path, user, NULL };

	(void)snprintf(home, sizeof(home), "HOME=%s", s->home);
	(void)snprintf(path, sizeof(path), "PATH=%s", getenv("PATH"));
	return environment;
}

/* strace is our grandchild, so that the supervisor is our child. */
static void exec_failing(const struct site *s, const char *path)
{
	char trace[60], inject[100];

	(void)snprintf(trace, sizeof(trace), "trace=%.*s", (int)strcspn(s->fails, ":"), s->fails);
	(void)snprintf(inject, sizeof(inject), "inject=%s", s->fails);
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 0); /* it does not work under strace */
	(void)execlp("strace", "strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", trace, "-e",
	             inject, path, "--config", s->config, (char *)NULL);
	_exit(127);
}

/* Starts a supervisor whose stdout is a pipe; returns the read end. */
static int spawn_site(struct site *s, bool with_stderr)
{
	char path[PROGRAM_BYTES];
	int out[2];

	test_program("agent-intercom", path);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	s->pid = fork();
	ck_assert_int_ge(s->pid, 0);
	if (s->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		live_at(s);
		(void)dup2(out[1], 1);
		if (with_stderr) {
			(void)dup2(out[1], 2);
		} else if (!getenv("INTERCOM_TEST_LOG")) {
			char log[140];

			(void)snprintf(log, sizeof(log), "%s/log", s->home);
			(void)dup2(open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), 2);
		}
		if (s->fails)
			exec_failing(s, path);
		(void)execl(path, path, "--config", s->config, (char *)NULL);
		_exit(127);
	}
	(void)close(out[1]);
	return out[0];
}

/* It is ready once agents can be served, and then starts the rest: all workers. */
static void await_the_rest(const struct site *s)
{
	db_expect_soon(s->database,
	               "SELECT count(*) >= " SITE_WORKERS
	               " + 2 * (SELECT value = 'true' FROM setting WHERE name = 'slack.configured')"
	               " + (SELECT value <> '' FROM setting WHERE name = 'shared.directory')"
	               " FROM worker WHERE state = 'ready' AND name NOT GLOB 'runner-*'",
	               "1\n");
}

void site_start(struct site *s)
{
	int out = spawn_site(s, false);
	char bytes[500];
	ssize_t n;
	struct pollfd p = { .fd = out, .events = POLLIN };

	ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "the system does not get ready");
	n = read(out, bytes, sizeof(bytes) - 1);
	(void)close(out);
	if (n <= 0) {
		OWNED(char_ptr) char *log = get_file(s->home, "log");

		ck_abort_msg("the system has ended:\n%s", log ? log : "");
	}
	bytes[n] = '\0';
	says(bytes, "ready");
	await_the_rest(s);
}

pid_t site_start_killed_at(const struct site *s, const char *call, int n)
{
	char path[PROGRAM_BYTES], inject[100], trace[60], log[140];
	pid_t pid;

	test_program("agent-intercom", path);
	(void)snprintf(trace, sizeof(trace), "trace=%s", call);
	(void)snprintf(inject, sizeof(inject), "inject=%s:signal=SIGKILL:when=%d", call, n);
	(void)snprintf(log, sizeof(log), "%s/log", s->home);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	live_at(s);
	int to = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	(void)dup2(to, 1);
	(void)dup2(to, 2);
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 0); /* it does not work under strace */
	(void)execlp("strace", "strace", "-q", "-qq", "-o", "/dev/null", "-e", trace, "-e", inject,
	             path, "--config", s->config, (char *)NULL);
	_exit(127);
}

pid_t site_traced(pid_t tracer)
{
	char path[60];
	int pid = 0;
	FILE *children;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)tracer, (int)tracer);
	children = fopen(path, "re");
	if (children && fscanf(children, "%d", &pid) != 1)
		pid = 0;
	if (children)
		(void)fclose(children);
	return pid;
}

int site_try(struct site *s, struct str *said)
{
	int out = spawn_site(s, true), status;
	char bytes[4096];
	ssize_t n;
	struct pollfd p = { .fd = out, .events = POLLIN };

	while (poll(&p, 1, AGENT_PATIENCE_MS) == 1 && (n = read(out, bytes, sizeof(bytes))) > 0)
		str_add_bytes(said, bytes, (size_t)n);
	(void)close(out);
	ck_assert_msg(ends_within(s->pid, AGENT_PATIENCE_MS, &status),
	              "the system runs on, having said: %s", str_text(said));
	s->pid = 0;
	return status;
}

int site_stop(struct site *s)
{
	int status = -1;

	(void)kill(s->pid, SIGTERM);
	ck_assert_msg(ends_within(s->pid, AGENT_PATIENCE_MS + 2000, &status),
	              "the system does not stop");
	s->pid = 0;
	return status;
}

void site_kill(struct site *s)
{
	OWNED(char_ptr)
	char *pids = rows("SELECT pid FROM worker WHERE state IN ('starting', 'ready')");
	char *rest = NULL;

	(void)kill(s->pid, SIGKILL);
	for (const char *pid = strtok_r(pids, "\n", &rest); pid; pid = strtok_r(NULL, "\n", &rest))
		(void)kill(atoi(pid), SIGKILL);
	(void)end_of(s->pid);
	s->pid = 0;
}

pid_t worker_pid(const char *name)
{
	OWNED(char_ptr) char *pid = NULL;
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
	               "SELECT pid FROM worker WHERE name = '%s' AND state = 'ready'", name);
	pid = rows(sql);
	return atoi(pid);
}

void kill_and_await(const char *name)
{
	pid_t old = worker_pid(name);
	char sql[200];

	ck_assert_msg(old > 0, "no %s is ready", name);
	(void)kill(old, SIGKILL);
	(void)snprintf(
	    sql, sizeof(sql),
	    "SELECT count(*) FROM worker WHERE name = '%s' AND state = 'ready' AND pid <> %d", name,
	    (int)old);
	expect_soon(sql, "1\n");
}
