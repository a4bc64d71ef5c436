/* hand: does the file work of one call, so that mcp-front does not wait for a disk.
 *
 * Reads:   an agent's files, and the policy of its workspace
 * Writes:  nothing
 * Outside: only the sockets that mcp-front gives it
 * Argument: the setting `fence`
 *
 * mcp-front starts one hand and sends it a socket for each job. It forks: the child reads the
 * question, works (hand.h), writes what it found, and exits. So each job has a process of its own,
 * at the price of a fork. The parent sends mcp-front, if it is of our user, a pidfd of the child,
 * to end it with. When mcp-front is gone, all of them end.
 *
 * In a system that serves several users there is one hand for each of them, started by as-owner,
 * and one for each runner of an agent of theirs that asks, in place of mcp-front. It has only the
 * first of these descriptors.
 *
 * Descriptors: 3 mcp-front (SOCK_SEQPACKET), 4 its inotify, 5 what its fence has refused. */
#include "hand.h"

#include "fences.h"
#include "instance.h"
#include "io.h"
#include "limit.h"
#include "log.h"
#include "refusals.h"
#include "sha256.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "hand_process.h"

enum {
	BIG_NICE = 5, /* the others go first */
	FDS_MAX = 64,
	JOBS_MAX = 256, /* that can be ended before their time */
};

static int watch_fd = -1; /* of mcp-front, if it is of our user */

/* ---- a job ---- */

static void confine(void)
{
	(void)alarm(HAND_DEADLINE_MS / 1000 + HAND_GRACE_S);
	limit_to(RLIMIT_CPU, HAND_DEADLINE_MS / 1000);
	limit_to(RLIMIT_FSIZE, 0);
	limit_to(RLIMIT_CORE, 0);
	limit_to(RLIMIT_NOFILE, FDS_MAX);
	limit_memory(HAND_BIG_MEMORY);
}

/* A big job gives way to the others; any other job gets less memory. */
static void settle_down(bool is_big)
{
	if (is_big) /* relative to ours: the system itself may run niced */
		(void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + BIG_NICE);
	else
		limit_memory(HAND_SMALL_MEMORY);
}

/* From here on there is nothing but the workspace, which can only be read. */
static bool raise_fence(const char *mode, const struct hand_found *found)
{
	const struct fence_view view = { .root = found->root };
	struct err e = { 0 };

	if (found->unfit || fence_workspace(mode, &view, &e) == 0)
		return true;
	log_error("%s", e.text);
	return false;
}

/* The text of a proposal that came in a file of its own. */
static bool map_body(int fd, struct hand_ask *ask)
{
	void *bytes;

	if (!ask->is_apart)
		return true;
	bytes = mmap(NULL, ask->body_length, PROT_READ, MAP_PRIVATE, fd, 0);
	ask->body = bytes == MAP_FAILED ? NULL : bytes;
	return ask->body;
}

/* fd: of the socket; apart: of the file that goes with the question, -1: none */
static int do_job(int fd, int apart, const char *mode)
{
	OWNED(str) struct str question = { 0 };
	OWNED(str) struct str answer = { 0 };
	OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;
	struct hand_ask ask = { .given = NULL };
	int status = EX_SOFTWARE;

	confine();
	if (!hand_ask_take(fd, &question))
		return EX_OK; /* nobody waits for the answer */
	if (hand_ask_read(&question, &ask) == 0 && map_body(apart, &ask)) {
		settle_down(ask.is_big);
		hand_look_around(&ask, &found);
		if (!raise_fence(mode, &found))
			return EX_CONFIG;
		hand_work(&ask, watch_fd, &found);
		hand_found_write(&ask, &found, &answer);
		status = io_write_all(fd, answer.bytes, answer.length) ? EX_IOERR : EX_OK;
	}
	hand_ask_release(&ask);
	return status;
}

/* ---- the parent ---- */

/* The jobs under way, so that mcp-front can have one ended: it may not signal those of another
 * user. */
static struct {
	uint32_t number;
	pid_t pid; /* 0: free */
} jobs[JOBS_MAX];

static void note(uint32_t number, pid_t pid)
{
	for (size_t i = 0; i < JOBS_MAX && pid > 0; i++)
		if (!jobs[i].pid) {
			jobs[i].number = number;
			jobs[i].pid = pid;
			return;
		}
}

static void forget(pid_t pid)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (jobs[i].pid == pid)
			jobs[i].pid = 0;
}

static void end(uint32_t number)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (jobs[i].pid && jobs[i].number == number)
			(void)kill(jobs[i].pid, SIGKILL);
}

/* The socket that comes with a job, and perhaps a file: fds[0] is -1 if none comes, and the job is
 * to be ended. False: mcp-front is gone. */
static bool next_job(uint32_t *number, int fds[HAND_JOB_FDS])
{
	return io_receive_fds(HAND_FRONT_FD, number, sizeof(*number), fds, HAND_JOB_FDS, 0) ==
	       sizeof(*number);
}

/* Tells mcp-front which process does the job. One that is of another user takes no descriptor. */
static void tell(uint32_t number, pid_t pid)
{
	struct hand_told told = { .number = number, .pid = pid };
	int pidfd = pid > 0 && watch_fd >= 0 ? pidfd_open(pid, 0) : -1;

	(void)io_send_fds(HAND_FRONT_FD, &told, sizeof(told), &pidfd, pidfd >= 0, 0);
	io_shut(&pidfd);
}

static void begin(const int fds[HAND_JOB_FDS], uint32_t number, const char *mode)
{
	pid_t self = getpid(), pid = fork();

	if (pid == 0) {
		(void)close(HAND_FRONT_FD);
		(void)signal(SIGCHLD, SIG_DFL);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(EX_OK);
		_exit(do_job(fds[0], fds[1], mode));
	}
	note(number, pid);
	tell(number, pid); /* before the child is reaped, so that its pid cannot be reused */
	for (int i = 0; i < HAND_JOB_FDS; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
}

static void on_child(int signal)
{
	(void)signal;
}

/* Waits for mcp-front, and reaps children that have ended meanwhile. */
static bool wait_for_job(void)
{
	struct pollfd p = { .fd = HAND_FRONT_FD, .events = POLLIN };
	sigset_t none;

	(void)sigemptyset(&none);
	for (;;) {
		int n = ppoll(&p, 1, NULL, &none), error = errno;
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			forget(pid);
		if (n > 0)
			return true;
		if (n < 0 && error != EINTR)
			return false;
	}
}

static void hear_of_children(void)
{
	struct sigaction action = { .sa_handler = on_child };
	sigset_t child;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	(void)sigaction(SIGCHLD, &action, NULL);
}

/* Libraries read their configuration and load modules on first use. Doing that once, before the
 * forks, saves more than most jobs cost. */
static void warm_up(void)
{
	(void)sha256_of("", 0);
	(void)workspace_unfit("/proc"); /* another user's folder: loads the user database */
}

int main(int argc, char **argv)
{
	uint32_t number;
	int fds[HAND_JOB_FDS];

	if (instance_says_version(argc, argv, "hand"))
		return EX_OK;
	if (argc != 2 || !io_has_messages(HAND_FRONT_FD)) {
		(void)fputs("hand: does file work for mcp-front, which starts it\n",
		            argc > 1 ? stdout : stderr);
		return argc > 1 ? EX_OK : EX_USAGE;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (fcntl(HAND_WATCH_FD, F_GETFD) >= 0)
		watch_fd = HAND_WATCH_FD;
	else /* started by as-owner: agents are of this user, too */
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	log_open("hand", 0, LOG_LEVEL_INFO);
	if (strcmp(argv[1], "off") != 0)
		refusals_join(REFUSALS_FD);
	warm_up();
	hear_of_children();
	while (wait_for_job() && next_job(&number, fds))
		if (fds[0] >= 0)
			begin(fds, number, argv[1]);
		else
			end(number);
	return EX_OK;
}
