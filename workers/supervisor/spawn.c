/* Starts a process with no more than it needs: a clean environment, no open files but stdin
 * (/dev/null), stdout and stderr (both our stderr), no blocked or ignored signals. */
#include "supervisor.h"

#include "clock.h"
#include "environment.h"
#include "log.h"
#include "str.h"
#include "variables.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const PASSED[] = {
	"PATH",
	"HOME",
	"USER",
	"LANG",
	"LC_*",
	"TZ",
	"XDG_*",
	"TMPDIR",
	"CREDENTIALS_DIRECTORY", /* is not shown */
	"CLAUDE_CONFIG_DIR", /* these: where sentry looks for hooks */
	"CODEX_HOME",
	"COPILOT_HOME",
	"INTERCOM_CLOCK_PAGE",
	"INTERCOM_PROGRESS_SECONDS",
	"INTERCOM_HOST",
	"INTERCOM_FENCE",
	"INTERCOM_FILES",
	"INTERCOM_LANDLOCK_ABI",
	"INTERCOM_RECORD_CALLS",
	"INTERCOM_REFUSALS",
	"ASAN_OPTIONS",
	"UBSAN_OPTIONS",
	"LSAN_OPTIONS",
};

char **spawn_environment(void)
{
	static char parent[40]; /* so that a worker knows whether it was orphaned as it began */
	char **out = variables_pick(environ, PASSED, COUNT(PASSED), 1);

	(void)snprintf(parent, sizeof(parent), "INTERCOM_PARENT=%d", (int)getpid());
	out[variables_count(out)] = parent;
	return out;
}

void spawn_environment_to_pass(const struct supervisor *s, const char *env_pass,
                               struct environment *out)
{
	environment_pass(out, environ, env_pass);
	for (char **one = s->environment; *one; one++) {
		OWNED(str) struct str name = { 0 };
		size_t length = strcspn(*one, "=");

		str_add_bytes(&name, *one, length);
		environment_set(out, str_text(&name), *one + length + 1);
	}
}

static int set_up(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, int kept)
{
	sigset_t none, all;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	int failed =
	    posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
	for (int fd = STDERR_FILENO + 1; !failed && fd <= STDERR_FILENO + kept; fd++)
		failed = posix_spawn_file_actions_adddup2(files, fd, fd); /* no longer O_CLOEXEC */
	if (!failed)
		failed = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1 + kept);
	if (!failed)
		failed = posix_spawnattr_setsigmask(attributes, &none);
	if (!failed)
		failed = posix_spawnattr_setsigdefault(attributes, &all);
	if (!failed)
		failed = posix_spawnattr_setflags(attributes,
		                                  POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return failed;
}

static int spawn_process(char *const *argv, char *const *environment, int kept, pid_t *ret_pid,
                         struct err *e)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int failed;

	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attributes);
	failed = set_up(&files, &attributes, kept);
	if (!failed)
		failed = posix_spawn(ret_pid, argv[0], &files, &attributes, argv, environment);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	if (!failed)
		return 0;
	errno = failed;
	return err_errno(
	    e, failed == EAGAIN || failed == ENOMEM || failed == EMFILE ? ERR_AGAIN : ERR_INPUT,
	    "cannot start %s", argv[0]);
}

int spawn_worker(const struct supervisor *s, char *path, char *const *more,
                 char *const *environment, int kept, pid_t *ret_pid, struct err *e)
{
	static const char *const LEVELS[] = {
		[LOG_LEVEL_DEBUG] = "debug",
		[LOG_LEVEL_INFO] = "info",
		[LOG_LEVEL_WARN] = "warn",
		[LOG_LEVEL_ERROR] = "error",
	};
	char format[] = "text", json[] = "json", level[8];
	char db_flag[] = "--db", run_flag[] = "--run";
	char format_flag[] = "--log-format", level_flag[] = "--log-level";
	char *argv[] = { path,
		         db_flag,
		         s->paths.database,
		         run_flag,
		         s->paths.run,
		         format_flag,
		         s->config.log.format == LOG_FORMAT_JSON ? json : format,
		         level_flag,
		         level,
		         more ? more[0] : NULL,
		         more ? more[1] : NULL,
		         NULL };

	(void)snprintf(level, sizeof(level), "%s", LEVELS[s->config.log.level]);
	return spawn_process(argv, environment, kept, ret_pid, e);
}

size_t spawn_hear(int fd, char *bytes, size_t size, int ms)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	int64_t end_ms = clock_monotonic_ms() + ms;
	size_t length = 0;
	ssize_t n = 1;

	while (n > 0 && length < size) {
		int64_t left_ms = end_ms - clock_monotonic_ms();

		if (left_ms <= 0 || poll(&one, 1, (int)left_ms) <= 0)
			break;
		n = read(fd, bytes + length, size - length);
		length += n > 0 ? (size_t)n : 0;
	}
	return length;
}

ssize_t spawn_ask(char *const *argv, bool is_quiet, char *bytes, size_t size, int ms)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	ssize_t length = -1;
	sigset_t none;
	int ends[2], failed;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	if (is_quiet)
		(void)posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY,
		                                       0);
	(void)posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	failed = posix_spawnp(&pid, argv[0], &files, &attributes, argv, environ);
	(void)close(ends[1]);
	if (!failed) {
		length = (ssize_t)spawn_hear(ends[0], bytes, size, ms);
		(void)kill(pid, SIGKILL); /* it has said it, or will not */
		(void)waitpid(pid, NULL, 0);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	(void)close(ends[0]);
	return length;
}
