#include "start.h"

#include "paths.h"
#include "str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Which of the agent's variables the system may see: locations, and its own settings. */
static bool is_kept(const char *variable)
{
	static const char *const KEPT[] = {
		"HOME=",         "PATH=",         "USER=",  "LOGNAME=",
		"SHELL=",        "LANG=",         "LC_",    "TZ=",
		"XDG_",          "INTERCOM_",     "SLACK_", "DBUS_SESSION_BUS_ADDRESS=",
		"ASAN_OPTIONS=", "UBSAN_OPTIONS="
	};

	for (size_t i = 0; i < COUNT(KEPT); i++)
		if (strncmp(variable, KEPT[i], strlen(KEPT[i])) == 0)
			return strncmp(variable, "INTERCOM_SESSION_ID=", 20) != 0;
	return false;
}

static char **clean_environment(void)
{
	char **kept;
	size_t count = 0, n = 0;

	while (environ[count])
		count++;
	kept = xcalloc(count + 1, sizeof(*kept));
	for (size_t i = 0; i < count; i++)
		if (is_kept(environ[i]))
			kept[n++] = environ[i];
	return kept;
}

/* The grandchild: in a session of its own, at /, with none of the agent's descriptors. */
static _Noreturn void become_system(const char *binary, const char *database, const char *config)
{
	char database_option[PATH_MAX], binary_copy[PATH_MAX];
	char *argv[] = { binary_copy, database_option, NULL, NULL };
	OWNED(str) struct str log = { 0 };
	OWNED(str) struct str config_option = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
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
	if (chdir("/") == 0 && fork() == 0)
		(void)execve(binary, argv, clean_environment());
	_exit(0);
}

int start_detached(const char *database, const char *config, struct err *e)
{
	char binary[PATH_MAX];
	sigset_t none;
	pid_t child;

	if (start_program(binary, e))
		return -1;
	child = fork();
	if (child == 0) {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		become_system(binary, database, config);
	}
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	return child < 0 ? err_errno(e, ERR_AGAIN, "cannot start %s", binary) : 0;
}
