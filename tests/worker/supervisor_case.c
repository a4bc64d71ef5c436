#include "supervisor_case.h"

char dir[PATH_BYTES]; /* of this test */

const char *runtime; /* $XDG_RUNTIME_DIR of the next start */

const char *bin; /* the folder of the binaries */

const char *database; /* of the next start; NULL: what the config says */

uid_t as_uid; /* of the next start; 0: ours */

pid_t supervisor;

int out_fd = -1;

int64_t real_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const char *in(const char *name)
{
	return below(dir, name);
}

void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)fchmod(fd, mode);
	(void)close(fd);
}

char *read_file(const char *path)
{
	struct str out = { 0 };
	char buffer[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		str_add_bytes(&out, buffer, (size_t)n);
	if (fd >= 0)
		(void)close(fd);
	return str_take(&out);
}

void given_config(const char *more)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "default_workspace_root = \"%s\"\nhost_cli = \"true\"\n%s%s",
	         in("workspace"), strstr(more, "http_port") ? "" : "http_port = 0\n", more);
	write_file(in("config.toml"), text.bytes, 0600);
}

void setup(void)
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

void exec_it(const char *const *arguments, int out, const char *log)
{
	char path[PATH_BYTES];
	const char *argv[20] = { path };
	int n = 1;

	(void)snprintf(path, sizeof(path), "%.500s/agent-intercom", bin);
	while (*arguments)
		argv[n++] = *arguments++;
	exec_by_name(argv, out, log);
}

void exec_by_name(const char *const *argv, int out, const char *log)
{
	int err = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also of a test that failed */
	(void)setenv("HOME", in("home"), 1);
	(void)setenv("XDG_RUNTIME_DIR", runtime, 1);
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("INTERCOM_CONFIG");
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(err, STDERR_FILENO);
	if (as_uid && (setgid(as_uid) != 0 || setuid(as_uid) != 0))
		_exit(126);
	(void)execvp(argv[0], (char **)argv);
	_exit(127);
}

pid_t spawn(const char *const *arguments, int *ret_out, const char *log)
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

/* How often a system of this log was complete. */
static int completed(void)
{
	OWNED(char_ptr) char *log = access(in("log"), F_OK) == 0 ? log_text() : NULL;
	int count = 0;

	for (const char *at = log; at && (at = strstr(at, "all workers are ready")); at++)
		count++;
	return count;
}

static int completed_before; /* the last start */

void start(void)
{
	const char *arguments[] = { "--config", in("config.toml"), database ? "--db" : NULL,
		                    database, NULL };

	if (out_fd >= 0)
		(void)close(out_fd);
	completed_before = completed();
	supervisor = spawn(arguments, &out_fd, in("log"));
}

char *log_text(void)
{
	return read_file(in("log"));
}

int finish(void)
{
	int64_t begin = real_ms();
	int status;

	while (waitpid(supervisor, &status, WNOHANG) == 0) {
		ck_assert_msg(real_ms() - begin < AGENT_PATIENCE_MS, "it does not end\n%s",
		              log_text());
		(void)poll(NULL, 0, LOOK_MS);
	}
	supervisor = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *ready_line(void)
{
	static char line[1000];
	struct pollfd p = { .fd = out_fd, .events = POLLIN };
	size_t n = 0;

	while (n < sizeof(line) - 1 && (n == 0 || line[n - 1] != '\n')) {
		ck_assert_msg(poll(&p, 1, AGENT_PATIENCE_MS) == 1, "not ready\n%s", log_text());
		ssize_t got = read(out_fd, line + n, sizeof(line) - 1 - n);
		ck_assert_msg(got > 0, "it ended before it was ready\n%s", log_text());
		n += (size_t)got;
	}
	line[n] = '\0';
	return line;
}

void await_all(void)
{
	int64_t end = agent_ms() + AGENT_PATIENCE_MS;

	while (completed() == completed_before) {
		ck_assert_msg(agent_ms() < end, "not all workers get ready\n%s", log_text());
		(void)poll(NULL, 0, LOOK_MS);
	}
}

void start_ready(void)
{
	start();
	(void)ready_line();
	await_all();
}

void stop(void)
{
	(void)kill(supervisor, SIGTERM);
	int status = finish();
	ck_assert_msg(status == 0, "status %d\n%s", status, log_text());
}

void log_has(const char *text)
{
	OWNED(char_ptr) char *log = log_text();

	ck_assert_msg(strstr(log, text) != NULL, "'%s' is not in\n%s", text, log);
}

void log_has_soon(const char *text)
{
	for (int64_t end = real_ms() + AGENT_PATIENCE_MS; real_ms() < end;
	     (void)poll(NULL, 0, LOOK_MS)) {
		OWNED(char_ptr) char *log = log_text();

		if (strstr(log, text))
			return;
	}
	log_has(text);
}

void ends_with(int status, const char *text)
{
	int is = finish();

	ck_assert_msg(is == status, "status %d\n%s", is, log_text());
	log_has(text);
}

char *output_of(const char *const *arguments, int *ret_status)
{
	struct str out = { 0 };
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

void doctor_says(int status, const char *text)
{
	const char *arguments[] = { "--config", in("config.toml"),
		                    "doctor",   database ? "--db" : NULL,
		                    database,   NULL };
	int is;
	OWNED(char_ptr) char *said = output_of(arguments, &is);

	ck_assert_msg(is == status && strstr(said, text) != NULL, "status %d, '%s' is not in\n%s%s",
	              is, text, said, log_text());
}

pid_t pid_of(const char *worker)
{
	char sql[200];
	OWNED(char_ptr) char *text = NULL;

	(void)snprintf(sql, sizeof(sql),
	               "SELECT pid FROM worker WHERE name = '%s' AND state = 'ready'", worker);
	text = rows(sql);
	ck_assert_msg(*text != '\0', "%s is not ready", worker);
	return (pid_t)strtol(text, NULL, 10);
}

void own_folder(void)
{
	static const char *const COPIED[] = {
		"agent-intercom", "watchdog", "applier", "retention", "mcp-front", "slack-poster",
		"slack-listener", "hand",     "runner",  "commander", "archivist", "reader",
		"sentry",         "doctor",   "desk",    "mcp-stdio", "acp-proxy", "hook",
		"hook-ends",      "keeper",   "filer",   "as-owner"
	};
	char command[3 * PATH_BYTES];

	ck_assert_int_eq(mkdir(in("bin"), 0755), 0);
	for (size_t i = 0; i < COUNT(COPIED); i++) {
		(void)snprintf(command, sizeof(command), "cp '%.500s/%s' '%s'", bin, COPIED[i],
		               in("bin"));
		ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	}
	bin = xstrdup(in("bin"));
}

void as_nobody(void)
{
	own_folder(); /* the one of the build may be below a folder closed to others */
	as_uid = NOBODY_ID;
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(chmod(in("config.toml"), 0644), 0);
	ck_assert_int_eq(chmod(in("workspace"), 0755), 0);
	ck_assert_int_eq(chown(runtime, NOBODY_ID, NOBODY_ID), 0);
	write_file(in("log"), "", 0666);
}

void replace(const char *worker, const char *script)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "bin/%s", worker);
	(void)unlink(in(name));
	if (script)
		write_file(in(name), script, 0755);
}

int listen_somewhere(int *ret_port)
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
