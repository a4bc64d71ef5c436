#include "keeper.h"

#include "group.h"
#include "io.h"
#include "keep.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LINE = STDERR_FILENO + 1, /* the keeper has its end of the line here */
	START_MS = 10000, /* to make a process */
	PASSED = 5, /* descriptors: out, err, ended, go, failed */
	SIGNAL_BITS = 0x7f, /* of a status as waitpid(2) has it */
};

/* What the keeper says first: its program waits, or why it cannot. */
struct hello {
	pid_t pid;
	int64_t started;
	struct err why;
};

/* ---- in the keeper ---- */

static bool send_hello(const struct hello *h, const struct launch *l)
{
	const int fds[PASSED] = { l->out, l->err, l->ended, l->go, l->failed };

	return io_send_fds(LINE, h, sizeof(*h), fds, h->pid ? PASSED : 0, 0) == (ssize_t)sizeof(*h);
}

__attribute__((noreturn)) static void keep(int line, const struct launch_plan *plan)
{
	struct launch l = LAUNCH_INIT;
	struct hello h = { .pid = 0 };
	int ended;

	if (dup3(line, LINE, O_CLOEXEC) < 0)
		_exit(127);
	closefrom(LINE + 1);
	(void)prctl(PR_SET_NAME, "keeper");
	if (group_adopt(NULL))
		(void)err_errno(&h.why, ERR_AGAIN, "cannot adopt what the command leaves behind");
	else if (launch_hold(&l, plan, &h.why) == 0)
		h = (struct hello){ .pid = l.pid, .started = l.started };
	ended = l.ended;
	if (!send_hello(&h, &l) || !h.pid)
		_exit(127); /* and the program with us */
	l.ended = -1;
	launch_clear(&l);
	keep_to_end(LINE, h.pid, ended);
}

/* ---- in our process ---- */

static int hear_hello(int line, struct hello *h, struct launch *l)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(PASSED * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = h, .iov_len = sizeof(*h) };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = control.bytes,
		                  .msg_controllen = sizeof(control.bytes) };
	struct pollfd fd = { .fd = line, .events = POLLIN };
	int fds[PASSED];

	if (poll(&fd, 1, START_MS) != 1 ||
	    recvmsg(line, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*h))
		return -1;
	if (!h->pid)
		return 0;
	if (message.msg_controllen < CMSG_LEN(sizeof(fds)))
		return -1;
	memcpy(fds, CMSG_DATA(&control.header), sizeof(fds));
	l->out = fds[0];
	l->err = fds[1];
	l->ended = fds[2];
	l->go = fds[3];
	l->failed = fds[4];
	l->pid = h->pid;
	l->started = h->started;
	return 0;
}

static int give_up(struct keeper *k, struct launch *l)
{
	if (k->pid > 0) {
		(void)kill(k->pid, SIGKILL);
		(void)waitpid(k->pid, NULL, 0);
	}
	k->pid = 0;
	keeper_clear(k);
	launch_clear(l);
	l->pid = 0;
	return -1;
}

int keeper_hold(struct keeper *k, struct launch *l, const struct launch_plan *plan, struct err *e)
{
	struct hello h = { .pid = 0 };
	int line[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0)
		return err_errno(e, ERR_AGAIN, "cannot make a line to the command's keeper");
	k->pid = fork();
	if (k->pid == 0)
		keep(line[1], plan);
	(void)close(line[1]);
	k->line = line[0];
	k->ended = k->pid > 0 ? pidfd_open(k->pid, 0) : -1;
	if (k->ended < 0) {
		(void)err_errno(e, ERR_AGAIN, "cannot make a process for the command");
		return give_up(k, l);
	}
	if (hear_hello(k->line, &h, l)) {
		(void)err_set(e, ERR_AGAIN, "the command's keeper does not answer");
		return give_up(k, l);
	}
	if (!h.pid) {
		*e = h.why;
		return give_up(k, l);
	}
	(void)fcntl(k->line, F_SETFL, O_NONBLOCK);
	return 0;
}

bool keeper_has_status(struct keeper *k, int *ret_status)
{
	siginfo_t info;

	if (k->line < 0 || read(k->line, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	*ret_status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8
	                                         : info.si_status & SIGNAL_BITS;
	return true;
}

void keeper_signal(const struct keeper *k, pid_t pid, int number)
{
	const unsigned char byte = (unsigned char)number;

	if (!k->is_owners && pid > 1)
		(void)kill(-pid, number);
	else if (k->line >= 0)
		(void)send(k->line, &byte, sizeof(byte), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void keeper_release(struct keeper *k)
{
	io_shut(&k->line);
}

bool keeper_reap(struct keeper *k)
{
	struct pollfd end = { .fd = k->ended, .events = POLLIN };

	if (k->is_owners && poll(&end, 1, 0) > 0)
		k->pid = 0;
	if (!k->is_owners && k->pid && waitpid(k->pid, NULL, WNOHANG) != 0)
		k->pid = 0;
	return k->pid == 0;
}

void keeper_clear(struct keeper *k)
{
	io_shut(&k->line);
	io_shut(&k->ended);
}
