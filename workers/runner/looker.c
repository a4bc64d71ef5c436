#include "looker.h"

#include "clock.h"
#include "io.h"
#include "look_line.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the other process ---- */

static bool look(int fd)
{
	OWNED(str) struct str question = { 0 };
	OWNED(str) struct str answer = { 0 };
	OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;
	struct hand_ask ask = { .given = NULL };
	bool goes_on = hand_ask_take(fd, &question) && hand_ask_read(&question, &ask) == 0;

	if (goes_on) {
		hand_look_around(&ask, &found);
		hand_work(&ask, -1, &found);
		hand_found_write(&ask, &found, &answer);
		goes_on = io_write_all(fd, answer.bytes, answer.length) == 0;
	}
	hand_ask_release(&ask);
	return goes_on;
}

/* It has nothing of ours but the socket: what it holds open would outlive us. */
__attribute__((noreturn)) static void serve(int fd, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	io_close_all_but(STDERR_FILENO + 1, fd, -1);
	while (getppid() == parent && look(fd))
		continue;
	_exit(0);
}

/* ---- in ours ---- */

static bool start(struct looker *l)
{
	pid_t us = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	l->pid = fork();
	if (l->pid == 0)
		serve(ends[1], us);
	(void)close(ends[1]);
	l->fd = ends[0];
	if (l->pid > 0)
		return true;
	(void)close(l->fd);
	l->pid = 0;
	return false;
}

/* Whether a child of ours goes on. One that has ended is reaped, unless it was already. */
static bool is_there(pid_t pid)
{
	return pid && waitpid(pid, NULL, WNOHANG) == 0;
}

/* One that waits for a disk may not end even so. */
static void give_up(struct looker *l)
{
	(void)close(l->fd);
	if (is_there(l->pid)) {
		(void)kill(l->pid, SIGKILL);
		l->stuck = l->pid;
	}
	l->pid = 0;
}

void looker_rest(struct looker *l)
{
	if (l->pid)
		give_up(l);
	if (l->owner)
		looker_owner_rest(l->owner);
}

void looker_clear(struct looker *l)
{
	looker_rest(l);
	looker_owner_free(l->owner);
	*l = (struct looker){ 0 };
}

bool looker_ask(struct looker *l, const struct hand_ask *question, struct hand_found *found)
{
	if (l->owner && looker_owner_is_there(l->owner))
		return looker_owner_ask(l->owner, question, found);
	if (is_there(l->stuck))
		return false;
	l->stuck = 0;
	if (l->pid && !is_there(l->pid))
		give_up(l);
	if ((l->pid || start(l)) &&
	    look_line_ask(l->fd, clock_monotonic_ms() + LOOK_LINE_MS, question, found))
		return true;
	looker_rest(l);
	return false;
}
