/* How long an agent waits for its first answer: from the start of a relay, beside a system that
 * runs, to its reply to initialize.
 * usage: relay COUNT PROGRAM [ARGUMENT...]
 * Prints: first_ms, for each of COUNT relays one after the other. */
#include "bench.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

static const char INITIALIZE[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";

extern char **environ;

static pid_t start(char **argv, int *ret_in, int *ret_out)
{
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid;

	if (pipe(in) != 0 || pipe(out) != 0)
		die("no pipe");
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	(void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	(void)posix_spawn_file_actions_addclose(&actions, in[1]);
	(void)posix_spawn_file_actions_addclose(&actions, out[0]);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		die("cannot start %s", argv[0]);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(in[0]);
	(void)close(out[1]);
	*ret_in = in[1];
	*ret_out = out[0];
	return pid;
}

static void read_line(int fd, char *line, size_t size)
{
	size_t used = 0;

	while (used + 1 < size) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) != 1)
			die("no answer in %d s", PATIENCE_MS / 1000);
		n = read(fd, line + used, size - 1 - used);
		if (n <= 0)
			die("the relay leaves without an answer");
		used += (size_t)n;
		line[used] = '\0';
		if (line[used - 1] == '\n')
			return;
	}
	die("an answer is too long: %.100s", line);
}

static double first_answer_ms(char **argv)
{
	char line[8192];
	int in, out, status = 0;
	int64_t begun = now_ns(), took;
	pid_t pid = start(argv, &in, &out);

	if (write(in, INITIALIZE, strlen(INITIALIZE)) != (ssize_t)strlen(INITIALIZE))
		die("the relay takes nothing");
	read_line(out, line, sizeof(line));
	took = now_ns() - begun;
	if (!strstr(line, "\"protocolVersion\":\"2025-06-18\""))
		die("initialize is answered with %.300s", line);
	(void)close(in);
	(void)close(out);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		die("the relay ends with status %d", status);
	return (double)took / 1e6;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		die("usage: relay COUNT PROGRAM [ARGUMENT...]");
	(void)signal(SIGPIPE, SIG_IGN);
	for (int i = atoi(argv[1]); i > 0; i--)
		(void)printf("first_ms %.2f\n", first_answer_ms(argv + 2));
	return 0;
}
