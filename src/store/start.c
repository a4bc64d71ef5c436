#include "start.h"

#include "paths.h"
#include "str.h"
#include "variables.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	WATCH_MS = 15000, /* a start that fails does so within it */
	LEAST_FREE_BYTES = 64 << 10, /* with less, no line of the log is certain */
	LAST_BYTES = 2000, /* of its log, in which its last line is looked for */
};

int start_program(char out[PATH_MAX], struct err *e)
{
	OWNED(str) struct str path = { 0 };

	if (paths_bin(&path, e))
		return -1;
	str_add(&path, "/agent-intercom");
	return realpath(str_text(&path), out)
	           ? 0
	           : err_set(e, ERR_INPUT,
	                     "cannot find the program agent-intercom beside this one");
}

void start_command(const char *config, const char *database, struct str *out)
{
	str_add(out, "agent-intercom");
	if (config) {
		str_add(out, " --config ");
		str_add_shell_word(out, config);
	}
	if (database) {
		str_add(out, " --db ");
		str_add_shell_word(out, database);
	}
}

/* Which of the agent's variables the system may see: locations, and its own settings. */
static const char *const KEPT[] = {
	"HOME",         "PATH",          "USER",    "LOGNAME",
	"SHELL",        "LANG",          "LC_*",    "TZ",
	"XDG_*",        "INTERCOM_*",    "SLACK_*", "DBUS_SESSION_BUS_ADDRESS",
	"ASAN_OPTIONS", "UBSAN_OPTIONS",
};

static off_t log_size(const char *database)
{
	OWNED(str) struct str path = { 0 };
	struct stat about;

	str_addf(&path, "%s-log", database);
	return stat(path.bytes, &about) == 0 ? about.st_size : 0;
}

/* The child, which is told nothing but how the system ends, and of that only the beginning. */
static _Noreturn void watch(pid_t system)
{
	struct pollfd p = { .fd = system > 0 ? pidfd_open(system, 0) : -1, .events = POLLIN };
	int status = 0;

	if (p.fd >= 0 && poll(&p, 1, WATCH_MS) == 1 && waitpid(system, &status, 0) == system &&
	    WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(0);
}

/* The child, and of it the system: in a session of its own, at /, with none of the agent's
 * descriptors. */
static _Noreturn void become_system(const char *binary, const char *database, const char *config)
{
	char database_option[PATH_MAX], binary_copy[PATH_MAX];
	char *argv[] = { binary_copy, database_option, NULL, NULL };
	OWNED(str) struct str log = { 0 }, config_option = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t system;
	int out;

	(void)snprintf(binary_copy, sizeof(binary_copy), "%s", binary);
	(void)snprintf(database_option, sizeof(database_option), "--db=%.4000s", database);
	if (*config) {
		str_addf(&config_option, "--config=%s", config);
		argv[2] = config_option.bytes;
	}
	str_addf(&log, "%s-log", database);
	out = open(log.bytes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	(void)setsid();
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(out >= 0 ? out : null, STDOUT_FILENO);
	(void)dup2(out >= 0 ? out : null, STDERR_FILENO);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	if (chdir("/") != 0)
		_exit(0);
	system = fork();
	if (system == 0) {
		(void)unsetenv("INTERCOM_SESSION_ID");
		(void)execve(binary, argv, variables_pick(environ, KEPT, COUNT(KEPT), 0));
		_exit(0);
	}
	watch(system);
}

/* Before anything is written, above all into the log: a file of another user's, or where a link of
 * theirs leads, is not for us, and beside a database of theirs none of ours may be. */
static int check_files(const char *database, struct err *e)
{
	static const char *const SUFFIXES[] = { "", "-log" };

	for (size_t i = 0; i < COUNT(SUFFIXES); i++) {
		OWNED(str) struct str path = { 0 };
		struct stat link, about;
		uid_t owner;

		str_addf(&path, "%s%s", database, SUFFIXES[i]);
		if (lstat(path.bytes, &link) != 0)
			continue;
		if (stat(path.bytes, &about) != 0 || !S_ISREG(about.st_mode)) /* /dev/null */
			about = link;
		owner = link.st_uid != geteuid() ? link.st_uid : about.st_uid;
		if (owner != geteuid())
			return err_set(e, ERR_INPUT,
			               "%s: belongs to uid %u, not to us (uid %u); run as its "
			               "owner, or move it away",
			               path.bytes, (unsigned)owner, (unsigned)geteuid());
	}
	return 0;
}

int start_detached(const char *database, const char *config, struct started *ret, struct err *e)
{
	char binary[PATH_MAX];
	sigset_t none;
	pid_t child;

	start_forget(ret);
	if (start_program(binary, e) || check_files(database, e))
		return -1;
	ret->log_from = log_size(database);
	child = fork();
	if (child == 0) {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		become_system(binary, database, config);
	}
	if (child > 0)
		ret->watcher = child;
	return child < 0 ? err_errno(e, ERR_AGAIN, "cannot start %s", binary) : 0;
}

/* ---- how it ended ---- */

/* The text of the last error, or of the last line if there is none, without time, level and name.
 * That the system stops for the reason above is no reason. */
static const char *last_word(char *lines)
{
	static const char ERROR[] = " error ", STOPS[] = "stopping everything: ";
	const char *last = NULL, *text = lines;
	char *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *level = strchr(line, ' ');
		const char *name = strstr(line, ": ");
		bool is_error = level && strncmp(level, ERROR, strlen(ERROR)) == 0;

		text = name ? name + 2 : line;
		if (is_error && !(last && strncmp(text, STOPS, strlen(STOPS)) == 0))
			last = text;
	}
	return last ? last : text;
}

/* Appends what the system has written last. */
static void add_last_word(struct str *out, const char *database, off_t from)
{
	OWNED(str) struct str path = { 0 };
	char bytes[LAST_BYTES + 1];
	off_t size = log_size(database), begin = size - LAST_BYTES;
	ssize_t n = -1;
	int fd;

	str_addf(&path, "%s-log", database);
	fd = open(path.bytes, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		n = pread(fd, bytes, LAST_BYTES, begin > from ? begin : from);
		(void)close(fd);
	}
	while (n > 0 && bytes[n - 1] == '\n')
		n--;
	bytes[n > 0 ? n : 0] = '\0';
	str_add(out, last_word(bytes));
}

/* What can be told of a system whose log says nothing: on a full disk there is none. */
static void add_guess(struct str *out, const char *database, int status)
{
	OWNED(char_ptr) char *folder = xstrdup(database);
	struct statvfs disk;
	char *slash = strrchr(folder, '/');

	if (slash && slash != folder)
		*slash = '\0';
	if (statvfs(folder, &disk) == 0 && disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES)
		str_addf(out, "the disk of %s is full; free space on it", folder);
	else
		str_addf(out, "it ended with status %d; `agent-intercom doctor` may say why",
		         status);
}

enum start_end start_ended(struct started *s, const char *database, struct str *why)
{
	int status;

	if (s->watcher <= 0 || waitpid(s->watcher, &status, WNOHANG) != s->watcher)
		return START_GOES_ON;
	s->watcher = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == EX_OK)
		return START_GOES_ON;
	add_last_word(why, database, s->log_from);
	if (!why->length)
		add_guess(why, database, WEXITSTATUS(status));
	return WEXITSTATUS(status) == EX_CONFIG ? START_REFUSED : START_FAILED;
}

void start_forget(struct started *s)
{
	if (s->watcher > 0) {
		(void)kill(s->watcher, SIGKILL);
		(void)waitpid(s->watcher, NULL, 0);
	}
	s->watcher = 0;
}
