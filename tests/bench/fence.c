/* What the fence of a worker costs: to put it up, and then each call.
 *
 * usage: fence DIRECTORY ROUNDS
 * Each round is a process, which becomes the applier (the longest row of calls, and a workspace
 * that another process opens). Prints raise_p50_us, raise_p99_us; call_ and open_p50_us, within the
 * fence, and with the prefix "free_" before it was put up: a call that does nothing, and one that
 * opens and closes a file. */
#include "bench.h"

#include "fences.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 2000, OPENS = 500 };

struct figures {
	int64_t raise, free_call, call, free_open, open;
};

static int64_t time_calls(void)
{
	int64_t begun = now_ns();

	for (int i = 0; i < CALLS; i++)
		(void)syscall(SYS_getppid);
	return (now_ns() - begun) / CALLS;
}

static int64_t time_opens(const char *path)
{
	int64_t begun = now_ns();

	for (int i = 0; i < OPENS; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			die("cannot open %s", path);
		(void)close(fd);
	}
	return (now_ns() - begun) / OPENS;
}

static void be_fenced(const char *file, const char *folder, struct figures *f)
{
	struct roots workspaces = { .count = 0 };
	const struct fence_ground ground = { .database = file,
		                             .run_dir = folder,
		                             .workspaces = &workspaces };
	char state[FENCE_STATE_BYTES];
	struct err e = { 0 };
	int64_t begun;

	roots_add(&workspaces, folder);
	f->free_call = time_calls();
	f->free_open = time_opens(file);
	begun = now_ns();
	if (fence_worker("applier", "require", &ground, state, &e))
		die("%s", e.text);
	f->raise = now_ns() - begun;
	f->call = time_calls();
	f->open = time_opens(file);
	_exit(0);
}

static void show(const char *name, const struct figures *f, size_t rounds, size_t at)
{
	int64_t *values = xcalloc(rounds, sizeof(*values));

	for (size_t i = 0; i < rounds; i++)
		memcpy(&values[i], (const char *)&f[i] + at, sizeof(*values));
	(void)printf("%s_p50_us %.3f\n%s_p99_us %.3f\n", name, percentile_us(values, rounds, 0.5),
	             name, percentile_us(values, rounds, 0.99));
	free(values);
}

int main(int argc, char **argv)
{
	size_t rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct figures *f = mmap(NULL, (rounds + 1) * sizeof(*f), PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	OWNED(str) struct str file = { 0 };

	if (!rounds || f == MAP_FAILED)
		die("usage: fence DIRECTORY ROUNDS");
	str_addf(&file, "%s/fence-file", argv[1]);
	(void)close(open(file.bytes, O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
	for (size_t i = 0; i < rounds; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			be_fenced(file.bytes, argv[1], &f[i]);
		if (waitpid(pid, &status, 0) != pid || status != 0)
			die("a round failed");
	}
	(void)unlink(file.bytes);
	show("raise", f, rounds, offsetof(struct figures, raise));
	show("free_call", f, rounds, offsetof(struct figures, free_call));
	show("call", f, rounds, offsetof(struct figures, call));
	show("free_open", f, rounds, offsetof(struct figures, free_open));
	show("open", f, rounds, offsetof(struct figures, open));
	return 0;
}
