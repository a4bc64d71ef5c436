/* Starts a server, tells when it says that it is ready, and stays its parent.
 * usage: start STATUS_FILE PROGRAM [ARGUMENT...]
 * Writes one line to STATUS_FILE once a line with a port (:NNNN) has come from the program:
 * milliseconds, pid, port. SIGTERM ends the program, and then this one. */
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child;

static void on_signal(int number)
{
	(void)number;
	if (child > 0)
		(void)kill(child, SIGTERM);
}

static int port_in(const char *line)
{
	const char *at = strstr(line, "127.0.0.1:");

	return at ? atoi(at + strlen("127.0.0.1:")) : 0;
}

static void tell(const char *path, double ms, int port)
{
	char name[4096];
	FILE *f;

	(void)snprintf(name, sizeof(name), "%s-new", path);
	f = fopen(name, "w");
	if (!f || fprintf(f, "%.1f %d %d\n", ms, (int)child, port) < 0 || fclose(f) != 0 ||
	    rename(name, path) != 0)
		die("cannot write %s", path);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	char line[1000];
	int64_t begun;
	int out[2], status = 0, port = 0;
	FILE *from;

	if (argc < 3 || pipe(out) != 0)
		die("usage: start STATUS_FILE PROGRAM [ARGUMENT...]");
	(void)sigaction(SIGTERM, &action, NULL);
	begun = now_ns();
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		(void)dup2(out[1], STDOUT_FILENO);
		(void)close(out[0]);
		(void)close(out[1]);
		(void)execv(argv[2], argv + 2);
		_exit(127);
	}
	(void)close(out[1]);
	from = fdopen(out[0], "r");
	while (from && port == 0 && fgets(line, sizeof(line), from))
		port = port_in(line);
	if (port)
		tell(argv[1], (double)(now_ns() - begun) / 1e6, port);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return port && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
