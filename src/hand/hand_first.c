#include "hand_first.h"

#include "io.h"
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ABOVE = 10 }; /* above the descriptor numbers that hand uses */

static int spawn(const char *path, const char *fence, int theirs, int watch, pid_t *ret_pid,
                 struct err *e)
{
	char *argv[] = { (char *)path, (char *)fence, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int failed, counted = fcntl(refusals_fd(), F_DUPFD_CLOEXEC, ABOVE);

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attributes);
	failed =
	    posix_spawn_file_actions_adddup2(&files, theirs, HAND_FRONT_FD) ||
	    posix_spawn_file_actions_adddup2(&files, watch, HAND_WATCH_FD) ||
	    (counted >= 0 && posix_spawn_file_actions_adddup2(&files, counted, REFUSALS_FD)) ||
	    posix_spawn_file_actions_addclosefrom_np(
	        &files, (counted >= 0 ? REFUSALS_FD : HAND_WATCH_FD) + 1) ||
	    posix_spawnattr_setsigmask(&attributes, &none) ||
	    posix_spawnattr_setsigdefault(&attributes, &all) ||
	    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	errno = failed ? ENOMEM : posix_spawn(ret_pid, path, &files, &attributes, argv, environ);
	failed = errno;
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	io_shut(&counted);
	errno = failed;
	return failed ? err_errno(e, ERR_AGAIN, "cannot start %s", path) : 0;
}

int hand_first_start(const char *path, const char *fence, int watch_fd, pid_t *ret_pid,
                     int *ret_control, struct err *e)
{
	int pair[2], theirs, watch, failed;

	*ret_pid = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, ERR_AGAIN, "socketpair");
	theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, ABOVE);
	watch = fcntl(watch_fd, F_DUPFD_CLOEXEC, ABOVE);
	failed = spawn(path, fence, theirs, watch, ret_pid, e);
	(void)close(pair[1]);
	(void)close(theirs);
	(void)close(watch);
	if (failed) {
		(void)close(pair[0]);
		*ret_pid = 0;
		return -1;
	}
	*ret_control = pair[0];
	return 0;
}

int hand_first_ask_owner(const char *socket, uid_t uid, const char *fence, struct owner_process *p,
                         int *ret_control, struct err *e)
{
	struct owner_ask ask = {
		.kind = OWNER_READER, .uid = uid, .words = { fence }, .fd_count = 1
	};
	int pair[2], failed;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, ERR_AGAIN, "socketpair");
	ask.fds = &pair[1];
	failed = owner_ask(socket, &ask, p, e);
	(void)close(pair[1]);
	if (failed)
		(void)close(pair[0]);
	else
		*ret_control = pair[0];
	return failed;
}

int hand_first_send(int control, uint32_t number, int fd, int apart)
{
	const int fds[HAND_JOB_FDS] = { fd, apart };

	return err_if(io_send_fds(control, &number, sizeof(number), fds, apart < 0 ? 1 : 2,
	                          MSG_DONTWAIT) < 0);
}

int hand_first_kill(int control, uint32_t number)
{
	return send(control, &number, sizeof(number), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

static bool is_pidfd(int fd)
{
	return pidfd_send_signal(fd, 0, NULL, 0) == 0 || errno != EBADF;
}

int hand_first_told(int control, struct hand_told *told, int *ret_pidfd)
{
	ssize_t n = io_receive_fds(control, told, sizeof(*told), ret_pidfd, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == sizeof(*told) && (*ret_pidfd < 0 || is_pidfd(*ret_pidfd)))
		return 1;
	io_shut(ret_pidfd);
	return -1;
}

int hand_first_told_by_other(int control, struct hand_told *told)
{
	ssize_t n = recv(control, told, sizeof(*told), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n == sizeof(*told) ? 1 : -1;
}
