/* What a hook costs the host that runs it: from its start to its end, beside other programs in
 * turn, or what many that wait take of the memory, and of the time of others. usage: hook time
 * COUNT INPUT NAME PROGRAM [ARGUMENT...] [-- NAME PROGRAM ...]... hook hold COUNT INPUT SETTLE_MS
 * PORT CALLS PROGRAM [ARGUMENT...] -- PID... INPUT is what they read on stdin; @ in it becomes the
 * number of the run. time prints NAME_p50_us and NAME_p99_us, hold each_bytes: the PSS of the
 * hooks, and by how much that of the PIDs has grown, shared among the hooks; alone_p50_us and
 * alone_p99_us: of CALLS pings of an agent, one after the other, and ping_p50_us and ping_p99_us:
 * the same while the hooks wait. */
#include "bench.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROGRAMS = 8, MOST_PIDS = 32, WARM = 5, WARM_HELD = 20, SPARE_FDS = 100 };

extern char **environ;

struct program {
	const char *name;
	char **argv;
	int64_t *took;
};

struct held {
	pid_t pid;
	int out;
};

static char *numbered(const char *input, int number)
{
	const char *at = strchr(input, '@');
	char *text;

	if (asprintf(&text, "%.*s%d%s", (int)(at ? at - input : 0), input, number,
	             at ? at + 1 : input) < 0)
		die("out of memory");
	return text;
}

/* Starts it with the whole input in its stdin. */
static pid_t start(char **argv, const char *input, int *ret_out)
{
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
	    write(in[1], input, strlen(input)) != (ssize_t)strlen(input))
		die("no pipe");
	(void)close(in[1]);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	(void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		die("cannot start %s", argv[0]);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(in[0]);
	(void)close(out[1]);
	*ret_out = out[0];
	return pid;
}

static int64_t run(char **argv, const char *input, int number)
{
	char *text = numbered(input, number);
	char said[4096];
	int64_t begun = now_ns(), took;
	int out, status = -1;
	pid_t pid = start(argv, text, &out);
	ssize_t n = 0, got;

	while ((got = read(out, said + n, sizeof(said) - 1 - (size_t)n)) > 0)
		n += got;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		die("%s ends with %d: %.*s", argv[0], status, (int)n, said);
	took = now_ns() - begun;
	(void)close(out);
	free(text);
	return took;
}

/* Splits the arguments at "--". */
static int split(char **argv, struct program *programs, int count)
{
	int n = 0;

	while (*argv) {
		if (n == MOST_PROGRAMS || !argv[1])
			die("NAME PROGRAM is missing");
		programs[n].name = argv[0];
		programs[n].argv = argv + 1;
		programs[n].took = calloc((size_t)count, sizeof(int64_t));
		n++;
		while (*argv && strcmp(*argv, "--") != 0)
			argv++;
		if (*argv)
			*argv++ = NULL;
	}
	return n;
}

static void time_all(int count, const char *input, char **argv)
{
	struct program programs[MOST_PROGRAMS];
	int n = split(argv, programs, count);

	for (int i = -WARM; i < count; i++) {
		for (int k = 0; k < n; k++) {
			int64_t took = run(programs[k].argv, input, i + WARM);

			if (i >= 0)
				programs[k].took[i] = took;
		}
	}
	for (int k = 0; k < n; k++) {
		(void)printf("%s_p50_us %.0f\n", programs[k].name,
		             percentile_us(programs[k].took, (size_t)count, 0.5));
		(void)printf("%s_p99_us %.0f\n", programs[k].name,
		             percentile_us(programs[k].took, (size_t)count, 0.99));
	}
}

static void hold_some(struct held *held, int from, int to, const char *input, char **argv)
{
	for (int i = from; i < to; i++) {
		char *text = numbered(input, i);

		held[i].pid = start(argv, text, &held[i].out);
		free(text);
	}
}

/* A hook that does not wait is no waiting hook. */
static void check_held(const struct held *held, int count)
{
	for (int i = 0; i < count; i++) {
		struct pollfd p = { .fd = held[i].out, .events = POLLIN };
		char said[1000] = "";

		if (poll(&p, 1, 0) == 1) {
			(void)!read(held[i].out, said, sizeof(said) - 1);
			die("hook %d does not wait: %s", i, said);
		}
	}
}

static int64_t pss_of(const struct held *held, int from, int to)
{
	int64_t all = 0;

	for (int i = from; i < to; i++)
		all += pss_bytes(&held[i].pid, 1);
	return all;
}

/* Pings of an agent, one after the other. */
static void ping(int port, int calls, const char *name)
{
	struct caller agent;
	int64_t *took = calloc((size_t)calls, sizeof(*took));
	char *call = call_text(1, "ping", "{}");

	caller_open(&agent, port);
	caller_initialize(&agent);
	for (int i = -WARM; i < calls; i++) {
		int64_t begun = now_ns();

		caller_post(&agent, call);
		caller_finish(&agent);
		if (!strstr(agent.in, "\"result\"") || strstr(agent.in, "\"isError\":true"))
			die("ping fails: %.500s", agent.in);
		if (i >= 0)
			took[i] = now_ns() - begun;
	}
	(void)printf("%s_p50_us %.0f\n", name, percentile_us(took, (size_t)calls, 0.5));
	(void)printf("%s_p99_us %.0f\n", name, percentile_us(took, (size_t)calls, 0.99));
	caller_close(&agent);
	free(call);
	free(took);
}

static void hold(int count, const char *input, int settle_ms, int port, int calls, char **argv)
{
	struct held *held = calloc((size_t)(count + WARM_HELD), sizeof(*held));
	pid_t pids[MOST_PIDS];
	char **rest = argv;
	int pid_count = 0;
	int64_t before, after;

	while (*rest && strcmp(*rest, "--") != 0)
		rest++;
	if (!held || !*rest)
		die("-- PID... is missing");
	*rest++ = NULL;
	while (rest[pid_count])
		pid_count++;
	pid_count = parse_pids(rest, pid_count, pids);
	raise_files(count + SPARE_FDS);
	ping(port, calls, "alone");
	hold_some(held, 0, WARM_HELD, input, argv);
	pause_us(settle_ms * 1000L);
	before = pss_bytes(pids, pid_count) + pss_of(held, 0, WARM_HELD);
	hold_some(held, WARM_HELD, WARM_HELD + count, input, argv);
	pause_us(settle_ms * 1000L);
	check_held(held, WARM_HELD + count);
	after = pss_bytes(pids, pid_count) + pss_of(held, 0, WARM_HELD + count);
	(void)printf("each_bytes %.0f\n", (double)(after - before) / count);
	(void)printf("hook_bytes %.0f\n",
	             (double)pss_of(held, WARM_HELD, WARM_HELD + count) / count);
	ping(port, calls, "ping");
	check_held(held, WARM_HELD + count);
	for (int i = 0; i < WARM_HELD + count; i++)
		(void)kill(held[i].pid, SIGKILL);
	for (int i = 0; i < WARM_HELD + count; i++)
		(void)waitpid(held[i].pid, NULL, 0);
	free(held);
}

int main(int argc, char **argv)
{
	bool times = argc > 1 && strcmp(argv[1], "time") == 0;

	if (argc < (times ? 6 : 9))
		die("usage: hook time COUNT INPUT NAME PROGRAM ... | hold COUNT INPUT SETTLE_MS "
		    "PORT "
		    "CALLS PROGRAM ... -- PID...");
	(void)signal(SIGPIPE, SIG_IGN);
	if (times) {
		time_all(atoi(argv[2]), argv[3], argv + 4);
		return 0;
	}
	hold(atoi(argv[2]), argv[3], atoi(argv[4]), atoi(argv[5]), atoi(argv[6]), argv + 7);
	return 0;
}
