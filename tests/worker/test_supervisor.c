/* The supervisor, agent-intercom without a command, and its doctor: real binaries on a fresh store.
 * Where a worker has to misbehave, the system is run from a folder in which one is replaced. */
#include "clock.h"
#include "harness.h"
#include "str.h"
#include "worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	SECOND = 1000,
	MINUTE = 60 * SECOND,
	SOON_MS = 10000,
	LOOK_MS = 5,
	IMPATIENT_MS = 250,
	PATH_BYTES = 600
};

static char dir[PATH_BYTES]; /* of this test */
static const char *runtime; /* $XDG_RUNTIME_DIR of the next start */
static const char *bin; /* the folder of the binaries */
static const char *database; /* of the next start; NULL: what the config says */
static uid_t as_uid; /* of the next start; 0: ours */
static pid_t supervisor;
static int out_fd = -1;
static int64_t ended_after_ms; /* real time, of the last finish */

static int64_t real_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The path of name in the test's folder; as below. */
static const char *in(const char *name)
{
	return below(dir, name);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)fchmod(fd, mode);
	(void)close(fd);
}

static char *read_file(const char *path)
{
	struct str out = STR_INIT;
	char buffer[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		str_add_bytes(&out, buffer, (size_t)n);
	if (fd >= 0)
		(void)close(fd);
	return str_take(&out);
}

static void given_config(const char *more)
{
	OWNED(str) struct str text = STR_INIT;

	str_addf(&text, "default_workspace_root = \"%s\"\nhost_cli = \"true\"\n%s%s",
	         in("workspace"), strstr(more, "http_port") ? "" : "http_port = 0\n", more);
	write_file(in("config.toml"), text.bytes, 0600);
}

static void setup(void)
{
	char *slash;

	fresh_store();
	(void)snprintf(dir, sizeof(dir), "%.500s", test_db());
	slash = strrchr(dir, '/');
	*slash = '\0';
	runtime = short_scratch();
	ck_assert_int_eq(mkdir(in("home"), 0700), 0);
	ck_assert_int_eq(mkdir(in("workspace"), 0700), 0);
	bin = getenv("INTERCOM_BUILD");
	ck_assert_msg(bin != NULL, "INTERCOM_BUILD must name the folder of the binaries");
	database = test_db();
	as_uid = 0;
	supervisor = 0;
	given_config("");
}

/* ---- running it ---- */

static void exec_it(const char *const *arguments, int out, const char *log)
{
	char path[PATH_BYTES];
	const char *argv[20] = { path };
	int n = 1, err = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also of a test that failed */
	(void)snprintf(path, sizeof(path), "%.500s/agent-intercom", bin);
	while (*arguments)
		argv[n++] = *arguments++;
	(void)setenv("HOME", in("home"), 1);
	(void)setenv("XDG_RUNTIME_DIR", runtime, 1);
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("INTERCOM_CONFIG");
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(err, STDERR_FILENO);
	if (as_uid && (setgid(as_uid) != 0 || setuid(as_uid) != 0))
		_exit(126);
	(void)execv(path, (char **)argv);
	_exit(127);
}

static pid_t spawn(const char *const *arguments, int *ret_out, const char *log)
{
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		exec_it(arguments, ends[1], log);
	(void)close(ends[1]);
	*ret_out = ends[0];
	return pid;
}

static void start(void)
{
	const char *arguments[] = { "--config", in("config.toml"), database ? "--db" : NULL,
		                    database, NULL };

	if (out_fd >= 0)
		(void)close(out_fd);
	supervisor = spawn(arguments, &out_fd, in("log"));
}

static char *log_text(void)
{
	return read_file(in("log"));
}

/* The exit status, 128 + signal if one killed it. */
static int finish(void)
{
	int64_t begin = real_ms();
	int status;

	while (waitpid(supervisor, &status, WNOHANG) == 0) {
		ck_assert_msg(real_ms() - begin < 15 * SECOND, "it does not end\n%s", log_text());
		(void)poll(NULL, 0, LOOK_MS);
	}
	ended_after_ms = real_ms() - begin;
	supervisor = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What it has written to stdout when it is ready. */
static const char *ready_line(void)
{
	static char line[1000];
	struct pollfd p = { .fd = out_fd, .events = POLLIN };
	size_t n = 0;

	while (n < sizeof(line) - 1 && (n == 0 || line[n - 1] != '\n')) {
		ck_assert_msg(poll(&p, 1, SOON_MS) == 1, "not ready\n%s", log_text());
		ssize_t got = read(out_fd, line + n, sizeof(line) - 1 - n);
		ck_assert_msg(got > 0, "it ended before it was ready\n%s", log_text());
		n += (size_t)got;
	}
	line[n] = '\0';
	return line;
}

static void start_ready(void)
{
	start();
	(void)ready_line();
}

static void stop(void)
{
	(void)kill(supervisor, SIGTERM);
	int status = finish();
	ck_assert_msg(status == 0, "status %d\n%s", status, log_text());
}

static void log_has(const char *text)
{
	OWNED(char_ptr) char *log = log_text();

	ck_assert_msg(strstr(log, text) != NULL, "'%s' is not in\n%s", text, log);
}

static void log_has_soon(const char *text)
{
	for (int64_t end = real_ms() + SOON_MS; real_ms() < end; (void)poll(NULL, 0, LOOK_MS)) {
		OWNED(char_ptr) char *log = log_text();

		if (strstr(log, text))
			return;
	}
	log_has(text);
}

static void ends_with(int status, const char *text)
{
	int is = finish();

	ck_assert_msg(is == status, "status %d\n%s", is, log_text());
	log_has(text);
}

/* Runs it to its end; what it wrote to stdout, and its status. */
static char *output_of(const char *const *arguments, int *ret_status)
{
	struct str out = STR_INIT;
	char buffer[4096];
	int fd, status;
	pid_t pid = spawn(arguments, &fd, in("log"));
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		str_add_bytes(&out, buffer, (size_t)n);
	(void)close(fd);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	*ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return str_take(&out);
}

static void doctor_says(int status, const char *text)
{
	const char *arguments[] = { "--config", in("config.toml"),
		                    "doctor",   database ? "--db" : NULL,
		                    database,   NULL };
	int is;
	OWNED(char_ptr) char *said = output_of(arguments, &is);

	ck_assert_msg(is == status && strstr(said, text) != NULL, "status %d, '%s' is not in\n%s%s",
	              is, text, said, log_text());
}

static pid_t pid_of(const char *worker)
{
	char sql[200];
	OWNED(char_ptr) char *text = NULL;

	(void)snprintf(sql, sizeof(sql),
	               "SELECT pid FROM worker WHERE name = '%s' AND state = 'ready'", worker);
	text = rows(sql);
	ck_assert_msg(*text != '\0', "%s is not ready", worker);
	return (pid_t)strtol(text, NULL, 10);
}

/* Kills a worker for the n-th time and waits until it is back. */
static void kill_and_await(const char *worker, int n)
{
	char sql[200], states[40];

	(void)kill(pid_of(worker), SIGKILL);
	(void)snprintf(
	    sql, sizeof(sql),
	    "SELECT count(nullif(state, 'ready')), count(nullif(state, 'died')) FROM worker"
	    " WHERE name = '%s'",
	    worker);
	(void)snprintf(states, sizeof(states), "%d|1\n", n);
	expect_soon(sql, states);
}

/* A folder with our binaries, which every user reaches and of which some can be replaced. */
static void own_folder(void)
{
	static const char *const COPIED[] = { "agent-intercom", "watchdog",  "applier",
		                              "retention",      "mcp-front", "slack-poster",
		                              "slack-listener", "hand" };
	char command[3 * PATH_BYTES];

	ck_assert_int_eq(mkdir(in("bin"), 0755), 0);
	for (size_t i = 0; i < COUNT(COPIED); i++) {
		(void)snprintf(command, sizeof(command), "cp '%.500s/%s' '%s'", bin, COPIED[i],
		               in("bin"));
		ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	}
	bin = xstrdup(in("bin"));
}

static void replace(const char *worker, const char *script)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "bin/%s", worker);
	(void)unlink(in(name));
	if (script)
		write_file(in(name), script, 0755);
}

static void given_questions(void)
{
	struct instant now = clock_now(), due = clock_instant(clock_now_ms() + 10 * MINUTE);
	char sql[2000];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, host, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's1', 'h', 'local:ann', '/w', 'active', 'local',"
	    " '%s', '%s')",
	    now.text, now.text);
	given(sql);
	for (int i = 1; i <= 3; i++) {
		static const char *const KINDS[] = { "", "clearance", "prompt", "standby" };

		(void)snprintf(
		    sql, sizeof(sql),
		    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title,"
		    " body, file_path, risk_level, original_hash, prompt_type, timeout_ms,"
		    " deadline_at, created_at, updated_at) VALUES (%d, 'q%d', 1, '%s',"
		    " 'pending', '%064d', 't', 'b', 'f', 'low', 'new_file', 'continuation',"
		    " nullif(%d, 3) * 600000, CASE WHEN %d < 3 THEN '%s' END, '%s', '%s')",
		    i, i, KINDS[i], i, i, i, due.text, now.text, now.text);
		given(sql);
	}
}

static int listen_somewhere(int *ret_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, size), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

static unsigned mode_of(const char *path)
{
	struct stat about;

	ck_assert_msg(lstat(path, &about) == 0, "%s is missing", path);
	return about.st_mode & 07777;
}

/* ---- start ---- */

START_TEST(it_says_once_that_it_is_ready_and_where)
{
	char expected[PATH_BYTES + 100];
	const char *line;
	int port = 0;

	start();
	line = ready_line();

	ck_assert_int_eq(sscanf(line,
	                        "agent-intercom " INTERCOM_VERSION /* NOLINT(cert-err34-c) */
	                        " ready: http://127.0.0.1:%d/mcp",
	                        &port),
	                 1);
	ck_assert_int_gt(port, 0);
	(void)snprintf(expected, sizeof(expected), "/mcp, database %s, mode local\n", test_db());
	ck_assert_msg(strstr(line, expected) != NULL, "%s", line);
	expect("SELECT name, state FROM worker ORDER BY name",
	       "applier|ready\nmcp-front|ready\nretention|ready\nwatchdog|ready\n");
	stop();
	ck_assert_int_eq(read(out_fd, expected, 1), 0);
}
END_TEST

START_TEST(settings_are_rows_with_their_sources)
{
	given_config(
	    "retention_days = 7\nlog.format = \"json\"\n[commands]\nst = \"git status\"\n");
	given("INSERT INTO setting VALUES ('gone', '1', 'file', '2026-01-01T00:00:00.000Z'),"
	      " ('kept', '1', 'system', '2026-01-01T00:00:00.000Z')");

	start_ready();

	expect(
	    "SELECT name, value, source FROM setting WHERE name IN ('retention_days', 'log.format',"
	    " 'commands', 'max_concurrent_sessions', 'system.build', 'mode', 'slack.configured',"
	    " 'gone', 'kept') ORDER BY name",
	    "commands|{\"st\":\"git status\"}|file\nkept|1|system\nlog.format|json|file\n"
	    "max_concurrent_sessions|3|default\nmode|local|default\nretention_days|7|file\n"
	    "slack.configured|false|system\nsystem.build|" INTERCOM_VERSION "|system\n");
	expect("SELECT source FROM setting WHERE name = 'database.path'", "flag\n");
	expect("SELECT count(*), id <> 'local:tester', id = 'local:' || user_id FROM operator"
	       " WHERE is_default = 1",
	       "1|1|1\n");
	stop();
}
END_TEST

START_TEST(a_mode_that_an_operator_chose_stays_unless_it_needs_slack)
{
	given("UPDATE setting SET source = 'ctl', updated_at = '2026-01-01T00:00:00.000Z'"
	      " WHERE name = 'mode'");
	start_ready();
	expect("SELECT value, source, updated_at FROM setting WHERE name = 'mode'",
	       "local|ctl|2026-01-01T00:00:00.000Z\n");
	stop();
	given("UPDATE setting SET value = 'remote' WHERE name = 'mode'");
	start_ready();
	expect("SELECT value, source FROM setting WHERE name = 'mode'", "local|default\n");
	log_has("mode remote needs Slack");
	stop();
}
END_TEST

START_TEST(a_new_database_is_for_us_alone)
{
	static const char *const FILES[] = { "data/intercom.db", "data/intercom.db-wal",
		                             "data/intercom.db-instance" };

	given_config("database.path = \"data/intercom.db\"\n"); /* beside the config */
	database = NULL;
	start_ready();
	ck_assert_uint_eq(mode_of(in("data")), 0700);
	for (size_t i = 0; i < COUNT(FILES); i++)
		ck_assert_uint_eq(mode_of(in(FILES[i])), 0600);
	stop();
	ck_assert_int_eq(chmod(in("data"), 0755), 0);
	ck_assert_int_eq(chmod(in("data/intercom.db"), 0644), 0);
	start_ready();
	log_has("has mode 0755");
	ck_assert_uint_eq(mode_of(in("data")), 0755); /* not our directory */
	ck_assert_uint_eq(mode_of(in("data/intercom.db")), 0600);
	stop();
}
END_TEST

START_TEST(our_state_directory_is_closed_again)
{
	ck_assert_int_eq(mkdir(in("home/.local"), 0755), 0);
	ck_assert_int_eq(mkdir(in("home/.local/state"), 0755), 0);
	ck_assert_int_eq(mkdir(in("home/.local/state/agent-intercom"), 0755), 0);
	given_config("database.path = \"home/.local/state/agent-intercom/intercom.db\"\n");
	database = NULL;

	start_ready();

	ck_assert_uint_eq(mode_of(in("home/.local/state/agent-intercom")), 0700);
	ck_assert_uint_eq(mode_of(in("home/.local/state")), 0755);
	stop();
}
END_TEST

START_TEST(a_second_instance_is_refused_and_the_first_serves_on)
{
	pid_t first;
	char text[200];

	start_ready();
	first = supervisor;
	start();
	(void)snprintf(text, sizeof(text), "already running (pid %d) on %s", (int)first, test_db());
	ends_with(75, text);
	supervisor = first;
	ck_assert_int_eq(kill(first, 0), 0);
	stop();
}
END_TEST

START_TEST(a_taken_port_turns_http_off_until_it_is_free)
{
	char config[40], address[60];
	int port, fd = listen_somewhere(&port);

	(void)snprintf(config, sizeof(config), "http_port = %d\n", port);
	given_config(config);
	start();
	ck_assert_ptr_nonnull(strstr(ready_line(), "HTTP is off: "));
	log_has("HTTP is off: cannot listen on 127.0.0.1:");
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/mcp.sock"), F_OK), 0);
	doctor_says(1, "HTTP is off: ");
	(void)close(fd);
	(void)snprintf(address, sizeof(address), "http://127.0.0.1:%d/mcp\n", port);
	advance(11 * SECOND);
	expect_soon("SELECT detail FROM worker WHERE name = 'mcp-front' AND state = 'ready'",
	            address);
	log_has("HTTP is on: ");
	stop();
}
END_TEST

START_TEST(a_host_that_starts_the_system_as_its_server_is_told_what_to_write)
{
	OWNED(str) struct str said = STR_INIT;
	char command[2 * PATH_BYTES];

	(void)snprintf(command, sizeof(command),
	               "echo '{}' | HOME=%s %.500s/agent-intercom --config %s/none.toml 2>%s",
	               in("home"), bin, dir, in("said"));
	ck_assert_int_ne(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	{
		OWNED(char_ptr) char *text = read_file(in("said"));

		ck_assert_ptr_nonnull(strstr(text, "as an agent's MCP server write: "
		                                   "agent-intercom mcp --config "));
	}
}
END_TEST

START_TEST(a_newer_schema_is_refused)
{
	given("PRAGMA user_version = 9999");
	start();
	ends_with(78, "newer agent-intercom");
}
END_TEST

START_TEST(a_file_that_is_no_database_is_refused_and_left_alone)
{
	OWNED(char_ptr) char *after = NULL;

	write_file(in("x.db"), "this is no database, it is a letter to grandmother\n", 0600);
	database = in("x.db");
	start();
	ends_with(78, "not a database");
	after = read_file(in("x.db"));
	ck_assert_str_eq(after, "this is no database, it is a letter to grandmother\n");
}
END_TEST

START_TEST(a_directory_that_cannot_be_written_is_named)
{
	SKIP_UNLESS(geteuid() == 0, "root");
	own_folder(); /* the one of the build may be below a folder closed to others */
	as_uid = NOBODY_ID;
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(chmod(in("config.toml"), 0644), 0);
	ck_assert_int_eq(chmod(in("workspace"), 0755), 0);
	ck_assert_int_eq(mkdir(in("closed"), 0755), 0);
	ck_assert_int_eq(chown(runtime, NOBODY_ID, NOBODY_ID), 0);
	write_file(in("log"), "", 0666);
	database = in("closed/x.db");
	start();
	ends_with(78, "closed/x.db-instance: Permission denied");
}
END_TEST

START_TEST(an_unknown_key_is_a_warning)
{
	given_config("retention_dayz = 7\n");
	start_ready();
	log_has("retention_dayz");
	log_has("did you mean");
	stop();
}
END_TEST

START_TEST(a_wrong_value_ends_it_with_78_file_and_line)
{
	given_config("retention_days = \"soon\"\n");
	start();
	ends_with(78, "config.toml:4: retention_days: is the text \"soon\"");
}
END_TEST

START_TEST(a_missing_worker_is_named)
{
	own_folder();
	replace("applier", NULL);
	start();
	ends_with(78, in("bin/applier"));
}
END_TEST

START_TEST(tokens_reach_no_worker)
{
	static const char *const NAMES[] = { "watchdog", "applier", "retention", "mcp-front" };
	char path[64];

	(void)setenv("SLACK_APP_TOKEN", "xapp-secret", 1);
	(void)setenv("SLACK_BOT_TOKEN", "xoxb-secret", 1);
	(void)setenv("SLACK_MEMBER_IDS", "U1", 1);
	(void)setenv("LC_TIME", "C", 1);
	start_ready();
	(void)unsetenv("SLACK_APP_TOKEN");
	(void)unsetenv("SLACK_BOT_TOKEN");
	log_has("Slack is not used: slack.channel_id is not set in config.toml");
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		char command[200];

		(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid_of(NAMES[i]));
		(void)snprintf(command, sizeof(command), "! tr '\\0' '\\n' <%s | grep -q SLACK",
		               path);
		ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
		(void)snprintf(command, sizeof(command), "tr '\\0' '\\n' <%s | grep -q LC_TIME=C",
		               path);
		ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	}
	(void)snprintf(path, sizeof(path), "! grep -q secret /proc/%d/environ", (int)supervisor);
	ck_assert_int_eq(system(path), 0); /* NOLINT(concurrency-mt-unsafe) */
	expect("SELECT count(*) FROM setting WHERE value LIKE '%secret%'", "0\n");
	stop();
}
END_TEST

START_TEST(no_process_can_gain_privileges)
{
	static const char *const NAMES[] = { "mcp-front", "applier", "watchdog", "retention" };

	start_ready();
	for (size_t i = 0; i <= COUNT(NAMES); i++) {
		OWNED(char_ptr) char *text = NULL;
		char path[40];

		(void)snprintf(path, sizeof(path), "/proc/%d/status",
		               i < COUNT(NAMES) ? (int)pid_of(NAMES[i]) : (int)supervisor);
		text = read_file(path);
		ck_assert_msg(strstr(text, "NoNewPrivs:\t1\n") != NULL, "%s", text);
	}
	stop();
}
END_TEST

START_TEST(workers_inherit_only_the_standard_files)
{
	int extra =
	    open("/dev/null", O_RDONLY); /* NOLINT(android-cloexec-open): that is the point */
	char command[PATH_BYTES];

	own_folder();
	replace("retention", "#!/bin/sh\nls -l /proc/self/fd/ >\"$HOME/fds\"\nexit 75\n");
	ck_assert_int_ge(dup2(extra, 40), 0);
	start();
	log_has_soon("retention");
	(void)kill(supervisor, SIGTERM);
	ck_assert_int_eq(finish(), 0);
	/* ls has the directory itself open as 3 (or dash its script, which is close-on-exec) */
	(void)snprintf(command, sizeof(command),
	               "grep -q ' 0 -> /dev/null' '%s' && ! grep -q ' 40 -> '"
	               " '%s'",
	               in("home/fds"), in("home/fds"));
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
}
END_TEST

START_TEST(systemd_hears_of_readiness_and_stop)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[100] = "";

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", in("notify"));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	(void)setenv("NOTIFY_SOCKET", a.sun_path, 1);
	start_ready();
	(void)unsetenv("NOTIFY_SOCKET");
	ck_assert_int_gt(recv(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, "READY=1");
	stop();
	memset(text, 0, sizeof(text));
	ck_assert_int_gt(recv(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, "STOPPING=1");
	(void)close(fd);
}
END_TEST

/* ---- watch ---- */

START_TEST(a_killed_worker_is_back_within_a_second)
{
	int64_t begin;
	pid_t before;

	start_ready();
	before = pid_of("applier");
	begin = real_ms();
	(void)kill(before, SIGKILL);
	expect_soon("SELECT state FROM worker WHERE name = 'applier' ORDER BY seq",
	            "died\nready\n");
	ck_assert_int_lt(real_ms() - begin, SECOND);
	ck_assert_int_ne(pid_of("applier"), before);
	expect("SELECT detail FROM worker WHERE state = 'died'", "signal 9 (KILL)\n");
	log_has_soon("applier is back");
	stop();
}
END_TEST

START_TEST(a_worker_that_hangs_is_told_of_and_started_again)
{
	pid_t before;

	start_ready();
	before = pid_of("applier");
	(void)kill(before, SIGSTOP);
	for (int i = 0; i < 12; i++) {
		advance(31 * SECOND);
		(void)poll(NULL, 0, SECOND + 50); /* it takes nobody for dead any sooner */
	}
	expect_soon("SELECT state FROM worker WHERE name = 'applier' ORDER BY seq",
	            "died\nready\n");
	ck_assert_int_ne(pid_of("applier"), before);
	expect("SELECT detail FROM worker WHERE state = 'died'", "no heartbeat: it hung\n");
	expect("SELECT actor, json_extract(detail, '$.detail') FROM event"
	       " WHERE kind = 'worker.died'",
	       "applier|no heartbeat: it hung\n");
	expect("SELECT count(*) FROM worker", "5\n"); /* nobody else */
	log_has_soon("hangs: no sign of life since");
	stop();
}
END_TEST

START_TEST(who_dies_again_and_again_is_restarted_ever_more_slowly)
{
	own_folder();
	replace("applier", "#!/bin/sh\nexit 70\n");
	start();
	log_has_soon("ended: exit 70; restart in 100 ms");
	log_has_soon("ended: exit 70; restart in 200 ms");
	log_has_soon("ended: exit 70; restart in 400 ms");
	(void)kill(supervisor, SIGTERM);
	ends_with(0, "stopping: SIGTERM");
}
END_TEST

START_TEST(after_a_long_life_a_restart_is_quick_again)
{
	start_ready();
	kill_and_await("retention", 1);
	log_has("restart in 100 ms");
	kill_and_await("retention", 2);
	log_has("restart in 200 ms");
	write_file(in("log"), "", 0600);
	advance(2 * MINUTE);
	kill_and_await("retention", 3);
	log_has("restart in 100 ms");
	stop();
}
END_TEST

START_TEST(a_worker_that_cannot_work_any_more_stops_the_system_with_78)
{
	own_folder();
	start_ready();
	given_questions();
	replace("retention", "#!/bin/sh\nexit 78\n");
	(void)kill(pid_of("retention"), SIGKILL);
	ends_with(78, "retention cannot work (exit 78");
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/stopped"), F_OK), -1);
}
END_TEST

START_TEST(a_binary_that_is_away_for_a_moment_is_awaited)
{
	char from[PATH_BYTES + 20];

	(void)snprintf(from, sizeof(from), "%.500s/applier", bin);
	own_folder();
	start_ready();
	replace("applier", NULL);
	(void)kill(pid_of("applier"), SIGKILL);
	log_has_soon("next attempt in");
	ck_assert_int_eq(symlink(from, in("bin/applier")), 0);
	log_has_soon("applier is back");
	stop();
}
END_TEST

START_TEST(a_killed_supervisor_loses_nothing_and_takes_its_workers_along)
{
	start_ready();
	given_questions();
	(void)kill(supervisor, SIGKILL);
	ck_assert_int_eq(finish(), 128 + SIGKILL);
	expect_soon("SELECT DISTINCT state FROM worker", "stopped\n");
	expect("SELECT DISTINCT state FROM request", "pending\n");

	start_ready();
	expect("SELECT id, state FROM request ORDER BY seq",
	       "q1|pending\nq2|pending\nq3|pending\n");
	stop();
}
END_TEST

START_TEST(a_start_waits_for_the_workers_of_a_killed_supervisor)
{
	pid_t old;

	start_ready();
	old = pid_of("applier");
	(void)kill(old, SIGSTOP);
	(void)kill(supervisor, SIGKILL);
	ck_assert_int_eq(finish(), 128 + SIGKILL);

	start();
	log_has_soon("a worker of an earlier run still ends (");
	(void)kill(old, SIGCONT);
	(void)ready_line();
	stop();
}
END_TEST

START_TEST(sessions_without_a_process_count_for_no_limit_after_a_crash)
{
	start_ready();
	given_questions();
	given("UPDATE session SET status = 'paused' WHERE seq = 1;"
	      "INSERT INTO session (id, host, owner_user_id, workspace_root, status, mode, origin,"
	      " created_at, updated_at) SELECT 'started ' || value, host, owner_user_id,"
	      " workspace_root, value, mode, 'started', created_at, updated_at FROM session,"
	      " json_each('[\"created\",\"active\"]') WHERE seq = 1;"
	      "UPDATE session SET status = 'active' WHERE seq = 1");
	(void)kill(supervisor, SIGKILL);
	ck_assert_int_eq(finish(), 128 + SIGKILL);
	start_ready();
	expect("SELECT id, status FROM session WHERE origin = 'started' ORDER BY seq",
	       "started created|interrupted\nstarted active|interrupted\n");
	expect("SELECT status FROM session WHERE seq = 1", "active\n"); /* it has its own process */
	stop();
}
END_TEST

START_TEST(a_row_that_only_claims_to_live_is_buried)
{
	given("INSERT INTO worker (id, name, host, pid, version, state, started_at, heartbeat_at)"
	      " VALUES ('old', 'applier', 'h', 1, '0', 'starting', '2026-01-01T00:00:00.000Z',"
	      " '2026-01-01T00:00:00.000Z'); UPDATE worker SET state = 'ready'");
	start_ready();
	expect("SELECT state FROM worker WHERE id = 'old'", "died\n");
	stop();
}
END_TEST

START_TEST(a_hangup_changes_nothing)
{
	start_ready();
	(void)kill(supervisor, SIGHUP);
	(void)poll(NULL, 0, 100);
	ck_assert_int_eq(waitpid(supervisor, NULL, WNOHANG), 0);
	stop();
}
END_TEST

/* ---- stop ---- */

START_TEST(a_stop_interrupts_what_waits_and_keeps_its_time)
{
	start_ready();
	given_questions();

	stop();

	ck_assert_int_lt(ended_after_ms, 10 * SECOND);
	expect("SELECT id, state, deadline_at, remaining_ms BETWEEN 590000 AND 600000 FROM request"
	       " ORDER BY seq",
	       "q1|interrupted||1\nq2|interrupted||1\nq3|interrupted||\n");
	expect("SELECT status, connectivity_status FROM session", "interrupted|offline\n");
	expect("SELECT DISTINCT state FROM worker", "stopped\n");
	log_has("stopping: 1 session(s), 1 approval(s), 1 prompt(s), 1 standby(s) interrupted");
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/stopped"), F_OK), 0);

	start_ready();
	ck_assert_int_eq(access(below(runtime, "agent-intercom/agent-intercom/stopped"), F_OK), -1);
	stop();
}
END_TEST

START_TEST(more_than_a_page_is_interrupted)
{
	start_ready();
	given_questions();
	given("WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)"
	      " INSERT INTO request (id, session_seq, kind, state, digest, title, body, timeout_ms,"
	      " deadline_at, created_at, updated_at) SELECT 'q' || i, 1, 'standby', 'pending',"
	      " printf('%064d', i), 't', 'b', 1000, '2099-01-01T00:00:00.000Z',"
	      " '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM n");
	stop();
	expect("SELECT state, count(*) FROM request GROUP BY 1", "interrupted|1100\n");
}
END_TEST

START_TEST(an_interrupt_from_the_terminal_is_a_stop)
{
	start_ready();
	(void)kill(pid_of("watchdog"), SIGINT); /* ^C goes to the whole group */
	(void)kill(supervisor, SIGINT);
	ends_with(0, "stopping: SIGINT");
}
END_TEST

START_TEST(a_worker_that_hangs_is_killed_after_5_seconds)
{
	start_ready();
	given_questions();
	(void)kill(pid_of("mcp-front"), SIGSTOP);
	(void)kill(supervisor, SIGTERM);
	log_has_soon("stopping: SIGTERM");
	(void)poll(NULL, 0, 300);
	expect("SELECT count(*) FROM worker WHERE state = 'ready'", "4\n"); /* its turn is first */
	advance(4500);
	expect_soon("SELECT name FROM worker WHERE state = 'ready'", "mcp-front\n");
	advance(600);
	ends_with(0, "it did not leave in time");
	expect("SELECT state FROM worker WHERE name = 'mcp-front'", "died\n");
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
}
END_TEST

START_TEST(a_second_signal_ends_it_at_once_with_its_rows_in_order)
{
	start_ready();
	given_questions();
	(void)kill(pid_of("mcp-front"), SIGSTOP);
	(void)kill(supervisor, SIGTERM);
	log_has_soon("stopping: SIGTERM");
	(void)poll(NULL, 0, IMPATIENT_MS);
	(void)kill(supervisor, SIGTERM);
	ends_with(0, "asked to stop twice");
	ck_assert_int_lt(ended_after_ms, SECOND);
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
}
END_TEST

START_TEST(two_signals_in_one_moment_are_one)
{
	start_ready();
	(void)kill(supervisor, SIGTERM);
	(void)kill(supervisor, SIGINT); /* timeout(1) sends to the process and to its group */
	ck_assert_int_eq(finish(), 0);
	expect("SELECT DISTINCT state FROM worker", "stopped\n");
}
END_TEST

START_TEST(a_second_signal_does_not_wait_for_a_locked_database)
{
	start_ready();
	given_questions();
	given("BEGIN IMMEDIATE");
	(void)kill(supervisor, SIGTERM);
	log_has_soon("stopping: SIGTERM");
	(void)poll(NULL, 0, IMPATIENT_MS);
	(void)kill(supervisor, SIGTERM);
	(void)poll(NULL, 0, 300);
	(void)kill(supervisor, SIGTERM);
	ck_assert_int_eq(finish(), 75);
	ck_assert_int_lt(ended_after_ms, 3 * SECOND);
	given("ROLLBACK");
	expect("SELECT DISTINCT state FROM request", "pending\n");
	start_ready();
	stop();
	expect("SELECT DISTINCT state FROM request", "interrupted\n");
}
END_TEST

/* ---- doctor ---- */

START_TEST(the_doctor_makes_nothing)
{
	OWNED(char_ptr) char *before = NULL, *after = NULL;
	char command[2 * PATH_BYTES];

	database = NULL;
	(void)snprintf(command, sizeof(command),
	               "cd '%.500s' && find . ! -name 'list*' ! -name log"
	               " ! -name '*-shm' | sort >list.$(ls list.* 2>/dev/null"
	               " | wc -l)",
	               dir);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	doctor_says(0, "/.local/state/agent-intercom/intercom.db is not there yet");
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	before = read_file(in("list.0"));
	after = read_file(in("list.1"));
	ck_assert_str_eq(before, after);
}
END_TEST

START_TEST(the_doctor_tells_what_runs)
{
	start_ready();
	doctor_says(0, "ok   worker: mcp-front is ready");
	doctor_says(0, "ok   port: we serve http://127.0.0.1:");
	doctor_says(0, "ok   integrity: quick_check found nothing");
	(void)kill(pid_of("applier"), SIGSTOP);
	advance(2 * MINUTE);
	doctor_says(0, "it may hang");
	(void)kill(pid_of("applier"), SIGCONT);
	stop();
	doctor_says(0, "ok   system: is stopped");
}
END_TEST

START_TEST(the_doctor_tells_who_is_missing)
{
	own_folder();
	start_ready();
	replace("applier", NULL);
	(void)kill(pid_of("applier"), SIGKILL);
	log_has_soon("next attempt in");
	doctor_says(1, "FAIL worker: applier does not run");
	doctor_says(1, "FAIL binaries: cannot run the worker");
	stop();
}
END_TEST

START_TEST(the_doctor_finds_what_is_wrong)
{
	char config[40], said[100];
	int port, fd = listen_somewhere(&port);

	(void)snprintf(config, sizeof(config), "http_port = %d\nspeling = 1\n", port);
	given_config(config);
	(void)snprintf(said, sizeof(said), "FAIL port: %d on 127.0.0.1 is used by another", port);
	doctor_says(1, said);
	doctor_says(1, "warn config: /");
	(void)close(fd);
	given_config("");
	ck_assert_int_eq(chmod(database, 0644), 0);
	doctor_says(0, "intercom.db has mode 0644, open to others; chmod 600 it");
	given("PRAGMA user_version = 9999");
	doctor_says(1, "FAIL database: ");
	given_config("retention_days = 0\n");
	doctor_says(1, "FAIL config: /");
}
END_TEST

/* ---- other commands ---- */

START_TEST(the_sample_is_a_config_that_can_be_read)
{
	const char *sample[] = { "config", "sample", NULL };
	const char *doctor[] = { "doctor",        "--config", in("sample.toml"), "--workspace",
		                 in("workspace"), "--db",     in("new.db"),      NULL };
	int status;
	OWNED(char_ptr) char *text = output_of(sample, &status), *said = NULL;

	ck_assert_int_eq(status, 0);
	write_file(in("sample.toml"), text, 0600);
	said = output_of(doctor, &status);
	ck_assert_msg(strstr(said, "ok   config: ") && !strstr(said, "warn config"), "%s", said);
}
END_TEST

START_TEST(mcp_gets_every_argument)
{
	const char *arguments[] = { "--config", "x", "mcp", "--db", "y z", "--help", NULL };
	int status;
	OWNED(char_ptr) char *said = NULL;

	own_folder();
	replace("mcp-stdio", "#!/bin/sh\nfor a; do echo \"<$a>\"; done\nexit 7\n");
	said = output_of(arguments, &status);
	ck_assert_int_eq(status, 7);
	ck_assert_str_eq(said, "<--config>\n<x>\n<--db>\n<y z>\n<--help>\n");
}
END_TEST

START_TEST(wrong_usage_is_64)
{
	static const char *const WRONG[][3] = {
		{ "dance", NULL },         { "--nonsense", NULL }, { "config", NULL },
		{ "doctor", "now", NULL }, { "", NULL },
	};
	int status;

	for (size_t i = 0; i < COUNT(WRONG); i++) {
		OWNED(char_ptr) char *said = output_of(WRONG[i], &status);

		ck_assert_msg(status == 64, "%s: %d", WRONG[i][0], status);
		ck_assert_str_eq(said, "");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("supervisor");
	TCase *c = tcase_create("supervisor");

	tcase_add_checked_fixture(c, setup, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, it_says_once_that_it_is_ready_and_where);
	tcase_add_test(c, settings_are_rows_with_their_sources);
	tcase_add_test(c, a_mode_that_an_operator_chose_stays_unless_it_needs_slack);
	tcase_add_test(c, a_new_database_is_for_us_alone);
	tcase_add_test(c, our_state_directory_is_closed_again);
	tcase_add_test(c, a_second_instance_is_refused_and_the_first_serves_on);
	tcase_add_test(c, a_taken_port_turns_http_off_until_it_is_free);
	tcase_add_test(c, a_host_that_starts_the_system_as_its_server_is_told_what_to_write);
	tcase_add_test(c, a_newer_schema_is_refused);
	tcase_add_test(c, a_file_that_is_no_database_is_refused_and_left_alone);
	tcase_add_test(c, a_directory_that_cannot_be_written_is_named);
	tcase_add_test(c, an_unknown_key_is_a_warning);
	tcase_add_test(c, a_wrong_value_ends_it_with_78_file_and_line);
	tcase_add_test(c, a_missing_worker_is_named);
	tcase_add_test(c, tokens_reach_no_worker);
	tcase_add_test(c, no_process_can_gain_privileges);
	tcase_add_test(c, workers_inherit_only_the_standard_files);
	tcase_add_test(c, systemd_hears_of_readiness_and_stop);
	tcase_add_test(c, a_killed_worker_is_back_within_a_second);
	tcase_add_test(c, a_worker_that_hangs_is_told_of_and_started_again);
	tcase_add_test(c, who_dies_again_and_again_is_restarted_ever_more_slowly);
	tcase_add_test(c, after_a_long_life_a_restart_is_quick_again);
	tcase_add_test(c, a_worker_that_cannot_work_any_more_stops_the_system_with_78);
	tcase_add_test(c, a_binary_that_is_away_for_a_moment_is_awaited);
	tcase_add_test(c, a_killed_supervisor_loses_nothing_and_takes_its_workers_along);
	tcase_add_test(c, a_start_waits_for_the_workers_of_a_killed_supervisor);
	tcase_add_test(c, sessions_without_a_process_count_for_no_limit_after_a_crash);
	tcase_add_test(c, a_row_that_only_claims_to_live_is_buried);
	tcase_add_test(c, a_hangup_changes_nothing);
	tcase_add_test(c, a_stop_interrupts_what_waits_and_keeps_its_time);
	tcase_add_test(c, more_than_a_page_is_interrupted);
	tcase_add_test(c, an_interrupt_from_the_terminal_is_a_stop);
	tcase_add_test(c, a_worker_that_hangs_is_killed_after_5_seconds);
	tcase_add_test(c, a_second_signal_ends_it_at_once_with_its_rows_in_order);
	tcase_add_test(c, two_signals_in_one_moment_are_one);
	tcase_add_test(c, a_second_signal_does_not_wait_for_a_locked_database);
	tcase_add_test(c, the_doctor_makes_nothing);
	tcase_add_test(c, the_doctor_tells_what_runs);
	tcase_add_test(c, the_doctor_tells_who_is_missing);
	tcase_add_test(c, the_doctor_finds_what_is_wrong);
	tcase_add_test(c, the_sample_is_a_config_that_can_be_read);
	tcase_add_test(c, mcp_gets_every_argument);
	tcase_add_test(c, wrong_usage_is_64);
	suite_add_tcase(s, c);
	return run_suite(s);
}
