#include "disk.h"

#include "clock.h"
#include "err.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_S = 1 };

/* Has only its two descriptors, and runs look. Its alarm kills it, unless the disk blocks even
 * that. */
static void be_the_one(disk_look *look, const void *arg, int kept, int ms, int out)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)signal(SIGALRM, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)alarm((unsigned)ms / 1000 + GRACE_S);
	io_close_all_but(0, out, kept);
	look(arg, out);
	_exit(0);
}

/* Appends what arrives until the other side hangs up. 1 it has, 0 not within ms. */
static int read_until(int in, int ms, struct str *answer)
{
	int64_t end_ms = clock_monotonic_ms() + ms;

	for (;;) {
		int64_t left_ms = end_ms - clock_monotonic_ms();
		struct pollfd p = { .fd = in, .events = POLLIN };
		char bytes[4096];
		ssize_t n;

		if (left_ms <= 0)
			return 0;
		if (poll(&p, 1, (int)left_ms) <= 0)
			continue;
		n = read(in, bytes, sizeof(bytes));
		if (n > 0)
			str_add_bytes(answer, bytes, (size_t)n);
		else if (n == 0 || errno != EINTR)
			return 1;
	}
}

int disk_ask_with(disk_look *look, const void *arg, int kept, int ms, struct str *answer,
                  int *ret_left)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		if (fork() == 0) /* an orphan: nobody has to wait for it */
			be_the_one(look, arg, kept, ms, ends[1]);
		_exit(0);
	}
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return -1;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (read_until(ends[0], ms, answer) == 0) {
		*ret_left = ends[0];
		return 0;
	}
	(void)close(ends[0]);
	return 1;
}

int disk_ask(disk_look *look, const void *arg, int ms, struct str *answer, int *ret_left)
{
	return disk_ask_with(look, arg, -1, ms, answer, ret_left);
}

/* ---- a directory ---- */

/* Writes errno as a byte, then the path. */
static void find_dir(const void *arg, int out)
{
	char *real = realpath(arg, NULL);
	struct stat about;
	char why = 0;

	if (!real || stat(real, &about) != 0)
		why = (char)errno;
	else if (!S_ISDIR(about.st_mode))
		why = ENOTDIR;
	if (io_write_all(out, &why, 1) == 0 && real)
		(void)io_write_all(out, real, strlen(real));
	free(real);
}

int disk_real_dir(const char *path, char **ret_real)
{
	OWNED(str) struct str answer = { 0 };
	int left, got = disk_ask(find_dir, path, DISK_QUICK_MS, &answer, &left);

	*ret_real = NULL;
	if (got == 0)
		(void)close(left);
	if (got <= 0 || !answer.length)
		return -1;
	if (answer.length > 1)
		*ret_real = xstrdup(answer.bytes + 1);
	errno = (unsigned char)answer.bytes[0];
	return errno == 0;
}
