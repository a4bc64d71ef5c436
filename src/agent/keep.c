#include "keep.h"

#include "err.h"
#include "group.h"
#include "keeper.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REAP_MS = 1000 /* how often it reaps what has ended meanwhile */ };

/* false: it is over. */
static bool hear(int line, pid_t pid)
{
	unsigned char number = 0;
	ssize_t n = recv(line, &number, sizeof(number), MSG_DONTWAIT);

	if (n == sizeof(number) && (number == SIGTERM || number == SIGCONT || number == SIGKILL))
		(void)kill(-pid, number);
	return n > 0;
}

/* The program stays a zombie, so that its group keeps its number. */
static void watch(int line, pid_t pid, int ended)
{
	struct pollfd fds[] = { { .fd = line, .events = POLLIN },
		                { .fd = ended, .events = POLLIN } };
	siginfo_t info = { 0 };

	for (;;) {
		int n = poll(fds, COUNT(fds), REAP_MS);

		if (n > 0 && fds[0].revents && !hear(line, pid))
			return;
		group_reap(pid);
		if (n <= 0 || fds[1].fd < 0 || fds[1].revents == 0)
			continue;
		fds[1].fd = -1;
		fds[1].revents = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0)
			(void)!write(line, &info, sizeof(info));
	}
}

void keep_to_end(int line, pid_t pid, int ended)
{
	watch(line, pid, ended);
	(void)kill(-pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	_exit(group_end_adopted(KEEPER_END_MS) ? 1 : 0);
}
