#include "peer_process.h"

#include "err.h"
#include "io.h"
#include "peer_uid.h"
#include "process_name.h"
#include "texts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

enum {
	LINKS = 50000, /* descriptors examined for one answer */
	BETWEEN_MAX = 4,
	ANCESTORS_MAX = 1000,
	LOOKS = 10, /* at a line of ancestors that changes */
	NEAR = 16, /* the next connection of a process has a nearby descriptor */
	ASK_SECONDS = 5, /* a search takes a fraction of one; meanwhile the asker does nothing */
};

struct search {
	char wanted[40]; /* "socket:[4711]" */
	int links; /* that may still be read */
	struct peer_process_hint found; /* pid 0: it is not */
};

struct question {
	unsigned inode; /* of the socket */
	struct peer_process_hint hint;
};

static int searcher = -1; /* the socket of the process that searches; -1: we do it ourselves */

/* ---- the agent's program ---- */

/* Whether it stands between a program and what that has started: a shell does, and so does our hook
 * that asks agent-intercom for its system. */
static bool is_between(const char *command)
{
	static const char *const BETWEEN[] = { "hook", "sh",   "bash", "dash",    "zsh", "ksh",
		                               "ash",  "fish", "tcsh", "busybox", NULL };

	return texts_name(BETWEEN, command);
}

/* 0: nobody knows. */
static pid_t pid_of_peer(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || who.pid <= 0 ? 0 : who.pid;
}

bool peer_process_of(int fd, char ret[PEER_PROCESS_BYTES])
{
	pid_t pid = pid_of_peer(fd);

	return pid > 0 && process_name_of(pid, ret);
}

bool peer_process_of_host(int fd, char ret[PEER_PROCESS_BYTES])
{
	struct process_life life;
	pid_t pid = pid_of_peer(fd);

	if (pid <= 0)
		return false;
	pid = process_name_life(pid).parent;
	for (int i = 0; i < BETWEEN_MAX && pid > 1; i++) {
		life = process_name_life(pid);
		if (!is_between(life.command)) {
			process_name_write(pid, &life, ret);
			return life.began != 0;
		}
		pid = life.parent;
	}
	return false;
}

/* ---- its ancestors ---- */

/* A parent that is younger than its child has the pid of one that has ended. */
static int descends(pid_t pid, const pid_t *pids, size_t count)
{
	struct process_life child = { .began = ULLONG_MAX }, life;

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		for (size_t k = 0; k < count; k++)
			if (pids[k] == pid)
				return 1;
		if (pid <= 1)
			return 0;
		life = process_name_life(pid);
		if (!life.began || life.began > child.began)
			return -1;
		child = life;
		pid = life.parent;
	}
	return -1;
}

/* Holds the process, as its pid may be another's by the time that we look. Older kernels do not
 * (-1, true). */
static bool hold_peer(int fd, int *ret)
{
	socklen_t size = sizeof(*ret);

	*ret = -1;
	return getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, ret, &size) == 0 || errno == ENOPROTOOPT;
}

static bool has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) != 0; /* a descriptor below 0 is never ready */
}

int peer_process_descends(int fd, const pid_t *pids, size_t count)
{
	struct ucred who;
	socklen_t size = sizeof(who);
	int found = -1, pidfd;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || who.pid <= 0 ||
	    !hold_peer(fd, &pidfd))
		return -1;
	for (int i = 0; i < LOOKS && found < 0; i++) /* a parent may end meanwhile */
		found = descends(who.pid, pids, count);
	if (has_ended(pidfd))
		found = -1;
	io_shut(&pidfd);
	return found;
}

/* ---- the search ---- */

static bool is_it(struct search *s, int folder, const char *fd)
{
	char target[sizeof(s->wanted)];
	ssize_t n = readlinkat(folder, fd, target, sizeof(target) - 1);

	s->links--;
	if (n < 0)
		return false;
	target[n] = '\0';
	return strcmp(target, s->wanted) == 0;
}

static int open_descriptors(pid_t pid)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool look_near(struct search *s, const struct peer_process_hint *hint)
{
	int folder = hint->pid ? open_descriptors(hint->pid) : -1;
	bool found = false;

	for (int i = 0; folder >= 0 && !found && i <= NEAR; i++) {
		char fd[16];

		(void)snprintf(fd, sizeof(fd), "%d", hint->fd + i);
		found = is_it(s, folder, fd);
		if (found)
			s->found = (struct peer_process_hint){ hint->pid, hint->fd + i };
	}
	io_shut(&folder);
	return found;
}

static bool look_into(struct search *s, pid_t pid)
{
	int fd = open_descriptors(pid);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *one;
	bool found = false;

	while (folder && !found && s->links > 0 && (one = readdir(folder)))
		if (*one->d_name != '.' && is_it(s, fd, one->d_name)) {
			found = true;
			s->found =
			    (struct peer_process_hint){ pid, (int)strtol(one->d_name, NULL, 10) };
		}
	if (folder)
		(void)closedir(folder);
	else if (fd >= 0)
		(void)close(fd);
	return found;
}

static bool look_everywhere(struct search *s)
{
	DIR *proc = opendir("/proc");
	const struct dirent *one;
	bool found = false;

	while (proc && !found && s->links > 0 && (one = readdir(proc))) {
		pid_t pid = (pid_t)strtol(one->d_name, NULL, 10);

		found = pid > 0 && look_into(s, pid);
	}
	if (proc)
		(void)closedir(proc);
	return found;
}

static struct peer_process_hint search(const struct question *q)
{
	struct search s = { .links = LINKS };

	(void)snprintf(s.wanted, sizeof(s.wanted), "socket:[%u]", q->inode);
	if (!look_near(&s, &q->hint) && !(q->hint.pid && look_into(&s, q->hint.pid)))
		(void)look_everywhere(&s);
	return s.found;
}

/* ---- in a process of its own ---- */

__attribute__((noreturn)) static void serve(int fd, pid_t parent)
{
	struct question q;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "mcp-front-peer");
	io_close_all_but(0, fd, -1);
	while (getppid() == parent && recv(fd, &q, sizeof(q), 0) == (ssize_t)sizeof(q)) {
		const struct peer_process_hint found = search(&q);

		if (send(fd, &found, sizeof(found), MSG_NOSIGNAL) != (ssize_t)sizeof(found))
			break;
	}
	_exit(0);
}

int peer_process_fork(struct err *e)
{
	static const struct timeval PATIENCE = { .tv_sec = ASK_SECONDS };
	pid_t us = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_errno(e, ERR_AGAIN, "cannot look for callers");
	pid = fork();
	if (pid == 0)
		serve(ends[1], us);
	(void)close(ends[1]);
	if (pid > 0 &&
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &PATIENCE, sizeof(PATIENCE)) == 0)
		return searcher = ends[0];
	(void)close(ends[0]);
	return err_errno(e, ERR_AGAIN, "cannot look for callers");
}

/* After a failure no question is sent any more, as the next answer might be that to this one. */
static int ask(const struct question *q, struct peer_process_hint *found)
{
	if (searcher < 0) {
		*found = search(q);
		return 0;
	}
	if (send(searcher, q, sizeof(*q), MSG_NOSIGNAL) == (ssize_t)sizeof(*q) &&
	    recv(searcher, found, sizeof(*found), 0) == (ssize_t)sizeof(*found))
		return 0;
	(void)shutdown(searcher, SHUT_RDWR);
	return -1;
}

int peer_process_name(int fd, struct peer_process_hint *hint, char ret[PEER_PROCESS_BYTES])
{
	struct question q = { .hint = *hint };
	struct peer_process_hint found = { 0 };
	uid_t uid;

	if (peer_uid_socket(fd, &uid, &q.inode, NULL))
		return 0;
	if (ask(&q, &found))
		return -1;
	if (found.pid <= 0)
		return 0;
	*hint = found;
	return process_name_of(found.pid, ret);
}
