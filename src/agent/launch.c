#include "launch.h"

#include "group.h"
#include "io.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	GO = STDERR_FILENO + 1, /* the new process keeps its ends of the two pipes here */
	FAILED,
	FIRST_FREE = 20, /* above all descriptors that are put in place */
};

struct ends {
	int in[2], out[2], err[2], go[2], failed[2];
};

#define ENDS_INIT                                                                                  \
	{                                                                                          \
		{ -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 },                                    \
		{                                                                                  \
			-1, -1                                                                     \
		}                                                                                  \
	}

static void ends_clear(struct ends *p)
{
	for (int i = 0; i < 2; i++) {
		io_shut(&p->in[i]);
		io_shut(&p->out[i]);
		io_shut(&p->err[i]);
		io_shut(&p->go[i]);
		io_shut(&p->failed[i]);
	}
}

/* ---- in the new process ---- */

enum step { STEP_PREPARE, STEP_DIRECTORY, STEP_ENTER, STEP_EXEC };

struct failure {
	enum step step;
	int number; /* errno */
};

__attribute__((noreturn)) static void fail(int fd, enum step step)
{
	const struct failure f = { .step = step, .number = errno };

	(void)!write(fd, &f, sizeof(f));
	_exit(127);
}

/* Leaves descriptors 0 to 4 open, and no others. */
static void arrange(const struct ends *p)
{
	int in = p->in[0] >= 0 ? p->in[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int have[] = { in, p->out[1], p->err[1], p->go[0], p->failed[1] };
	int above[COUNT(have)];

	for (size_t i = 0; i < COUNT(have); i++)
		above[i] = fcntl(have[i], F_DUPFD_CLOEXEC, FIRST_FREE);
	for (size_t i = 0; i < COUNT(have); i++)
		if (above[i] < 0 || dup3(above[i], (int)i, i < GO ? 0 : O_CLOEXEC) < 0)
			fail(p->failed[1], STEP_PREPARE);
	closefrom(FAILED + 1);
}

/* Becomes the agent. If our parent is already gone, the kernel will not signal its death to us. */
__attribute__((noreturn)) static void become(const struct launch_plan *plan, const struct ends *p,
                                             pid_t parent)
{
	char byte;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || setsid() < 0)
		fail(p->failed[1], STEP_PREPARE);
	arrange(p);
	signals_reset();
	if (read(GO, &byte, sizeof(byte)) != sizeof(byte))
		_exit(127);
	if (plan->directory && chdir(plan->directory) != 0)
		fail(FAILED, STEP_DIRECTORY);
	if (plan->enter && plan->enter(plan->entering) != 0)
		fail(FAILED, STEP_ENTER);
	environ = (char **)plan->environment;
	(void)execvp(plan->argv[0], plan->argv);
	fail(FAILED, STEP_EXEC);
}

/* ---- in our process ---- */

static int open_pipes(bool talks, struct ends *p, struct err *e)
{
	if ((!talks || pipe2(p->in, O_CLOEXEC) == 0) && pipe2(p->out, O_CLOEXEC) == 0 &&
	    pipe2(p->err, O_CLOEXEC) == 0 && pipe2(p->go, O_CLOEXEC) == 0 &&
	    pipe2(p->failed, O_CLOEXEC) == 0)
		return 0;
	return err_errno(e, ERR_AGAIN, "cannot make pipes for the agent");
}

static int take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Keeps our ends; those that we poll do not block. */
static void keep(struct launch *l, struct ends *p)
{
	l->in = take(&p->in[1]);
	l->out = take(&p->out[0]);
	l->err = take(&p->err[0]);
	l->go = take(&p->go[1]);
	l->failed = take(&p->failed[0]);
	const int fds[] = { l->in, l->out, l->err };
	for (size_t i = 0; i < COUNT(fds); i++)
		if (fds[i] >= 0)
			(void)fcntl(fds[i], F_SETFL, O_NONBLOCK);
}

static void end(struct launch *l)
{
	if (!l->is_anothers) {
		(void)kill(l->pid, SIGKILL);
		(void)waitpid(l->pid, NULL, 0);
	}
	l->pid = 0;
	launch_clear(l);
}

static int make_process(struct launch *l, const struct ends *p, const struct launch_plan *plan,
                        struct err *e)
{
	pid_t us = getpid();

	l->pid = fork();
	if (l->pid == 0)
		become(plan, p, us);
	if (l->pid < 0) {
		l->pid = 0;
		return err_errno(e, ERR_AGAIN, "cannot make a process for the agent");
	}
	return 0;
}

static int watch(struct launch *l, struct err *e)
{
	l->started = group_started(l->pid);
	l->ended = pidfd_open(l->pid, 0);
	if (l->ended >= 0)
		return 0;
	(void)err_errno(e, ERR_AGAIN, "cannot watch the agent's process");
	end(l);
	return -1;
}

int launch_hold(struct launch *l, const struct launch_plan *plan, struct err *e)
{
	OWNED(ends) struct ends p = ENDS_INIT;

	if (open_pipes(plan->talks, &p, e) || make_process(l, &p, plan, e))
		return -1;
	keep(l, &p);
	return watch(l, e);
}

/* Whoever has one of them as /dev/stdout opens it anew, which its mode must allow; to find it, they
 * need the right to trace a process that has it. */
static void open_for_all(int fd)
{
	enum { READ_AND_WRITE = 0666 };

	(void)fchmod(fd, READ_AND_WRITE);
}

int launch_offer(struct launch *l, bool talks, int theirs[LAUNCH_ENDS], struct err *e)
{
	OWNED(ends) struct ends p = ENDS_INIT;

	if (open_pipes(talks, &p, e))
		return -1;
	if (!talks)
		p.in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (p.in[0] < 0)
		return err_errno(e, ERR_AGAIN, "cannot open /dev/null");
	if (talks)
		open_for_all(p.in[0]);
	open_for_all(p.out[1]);
	open_for_all(p.err[1]);
	l->is_anothers = true;
	keep(l, &p);
	theirs[0] = take(&p.in[0]);
	theirs[1] = take(&p.out[1]);
	theirs[2] = take(&p.err[1]);
	theirs[3] = take(&p.go[0]);
	theirs[4] = take(&p.failed[1]);
	return 0;
}

int launch_take(struct launch *l, const int theirs[LAUNCH_ENDS], const struct launch_plan *plan,
                struct err *e)
{
	const struct ends p = { .in = { theirs[0], -1 },
		                .out = { -1, theirs[1] },
		                .err = { -1, theirs[2] },
		                .go = { theirs[3], -1 },
		                .failed = { -1, theirs[4] } };

	return make_process(l, &p, plan, e) ? -1 : watch(l, e);
}

static int tell(const struct launch_plan *plan, const struct failure *f, struct err *e)
{
	errno = f->number;
	if (f->step == STEP_DIRECTORY)
		return err_errno(e, ERR_INPUT, "cannot enter the workspace %s", plan->directory);
	if (f->step == STEP_PREPARE)
		return err_errno(e, ERR_AGAIN, "cannot prepare the agent's process");
	if (f->step == STEP_ENTER)
		return err_errno(e, ERR_INPUT, "cannot fence the agent in");
	return err_errno(e, ERR_INPUT, "cannot start %s", plan->argv[0]);
}

void launch_let_go(struct launch *l)
{
	(void)!write(l->go, "g", 1);
	io_shut(&l->go);
}

int launch_went(struct launch *l, const struct launch_plan *plan, struct err *e)
{
	struct pollfd closed = { .fd = l->failed, .events = POLLIN }; /* once the agent runs */
	struct failure f;
	ssize_t n;

	if (poll(&closed, 1, 0) == 0)
		return err_set(e, ERR_AGAIN,
		               "what is to become %s does not go on: somebody has stopped it",
		               plan->argv[0]);
	do
		n = read(l->failed, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	io_shut(&l->failed);
	if (n != sizeof(f))
		return 0;
	end(l);
	return tell(plan, &f, e);
}

int launch_go(struct launch *l, const struct launch_plan *plan, struct err *e)
{
	struct pollfd closed = { .fd = l->failed, .events = POLLIN };

	launch_let_go(l);
	while (poll(&closed, 1, -1) < 0 && errno == EINTR)
		continue;
	return launch_went(l, plan, e);
}

void launch_clear(struct launch *l)
{
	io_shut(&l->in);
	io_shut(&l->out);
	io_shut(&l->err);
	io_shut(&l->ended);
	io_shut(&l->go);
	io_shut(&l->failed);
}
