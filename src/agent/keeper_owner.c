#include "keeper_owner.h"

#include "clock.h"
#include "group.h"
#include "io.h"
#include "owner.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	START_MS = 10000, /* to make a process, on whatever disk its user's home is */
	SWEEP_MS = GROUP_END_MS + 3000,
};

/* One end of a line is ours, the other goes to as-owner. -1 on error, with nothing left open. */
static int ask_owner(const char *socket, const struct owner_ask *what, struct owner_process *p,
                     struct err *e)
{
	struct owner_ask ask = *what;
	int line[2], failed;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0)
		return err_errno(e, ERR_AGAIN, "cannot make a line to a keeper");
	ask.fds = &line[1];
	ask.fd_count = 1;
	failed = owner_start(socket, &ask, START_MS, p, e);
	(void)close(line[1]);
	if (failed) {
		(void)close(line[0]);
		return -1;
	}
	return line[0];
}

/* ---- what is to be started ---- */

/* The recipe may be longer than a message. -1 on error. */
static int write_recipe(const struct recipe *recipe, struct err *e)
{
	OWNED(str) struct str bytes = { 0 };
	int fd = memfd_create("recipe", MFD_CLOEXEC);

	recipe_write(recipe, &bytes);
	if (fd >= 0 && io_write_all(fd, bytes.bytes, bytes.length) == 0)
		return fd;
	(void)err_errno(e, ERR_AGAIN, "cannot write down what is to be started");
	io_shut(&fd);
	return -1;
}

static int send_recipe(int line, const int fds[KEEPER_FDS])
{
	char byte = 0;

	return io_send_fds(line, &byte, 1, fds, KEEPER_FDS, 0) == 1 ? 0 : -1;
}

/* The recipe, and the program's ends of its pipes. */
static int hand_over(int line, struct launch *l, const struct recipe *recipe, struct err *e)
{
	int fds[KEEPER_FDS] = { -1, -1, -1, -1, -1, -1 }, failed;

	fds[0] = write_recipe(recipe, e);
	if (fds[0] < 0)
		return -1;
	failed = launch_offer(l, recipe->talks, &fds[1], e);
	if (!failed && send_recipe(line, fds))
		failed = err_errno(e, ERR_AGAIN, "cannot tell a keeper what to start");
	for (size_t i = 0; i < COUNT(fds); i++)
		io_shut(&fds[i]);
	return failed;
}

static int hear_hello(int line, struct keeper_hello *h, struct err *e)
{
	struct pollfd fd = { .fd = line, .events = POLLIN };

	if (poll(&fd, 1, START_MS) != 1 ||
	    recv(line, h, sizeof(*h), MSG_DONTWAIT) != (ssize_t)sizeof(*h))
		return err_set(e, ERR_AGAIN, "the keeper of the owner's process does not answer");
	if (h->pid > 1)
		return 0;
	return err_set(e, h->may_try_again ? ERR_AGAIN : ERR_INPUT, "%.*s", KEEPER_WHY_BYTES - 1,
	               h->why);
}

int keeper_owner_hold(struct keeper *k, struct launch *l, const char *socket, uid_t uid,
                      const struct recipe *recipe, struct str *holds, struct err *e)
{
	const struct owner_ask ask = { .kind = OWNER_KEEPER,
		                       .uid = uid,
		                       .workspace = recipe->workspace,
		                       .words = { "keep" } };
	struct owner_process p;
	struct keeper_hello h;
	int line = ask_owner(socket, &ask, &p, e);

	if (line < 0)
		return -1;
	io_shut(&p.fd); /* whatever becomes of as-owner: the line is what counts */
	*k = (struct keeper){ .pid = p.pid,
		              .line = line,
		              .ended = p.pidfd,
		              .is_owners = true,
		              .started = group_started(p.pid) };
	if (hand_over(line, l, recipe, e) || hear_hello(line, &h, e)) {
		keeper_clear(k); /* which ends it */
		launch_clear(l);
		k->pid = 0;
		return -1;
	}
	l->pid = h.pid;
	l->started = h.started;
	str_addf(holds, "%.*s", KEEPER_HOLDS_BYTES - 1, h.holds);
	(void)fcntl(line, F_SETFL, O_NONBLOCK);
	return 0;
}

int keeper_owner_go(struct launch *l, const struct recipe *recipe, struct err *e)
{
	char *const argv[] = { recipe->command, NULL };
	const struct launch_plan plan = { .argv = argv, .directory = recipe->workspace };

	return launch_go(l, &plan, e);
}

/* ---- what is left ---- */

int keeper_owner_sweep(const char *socket, uid_t uid, const struct keeper_rest *rest, struct err *e)
{
	const struct owner_ask ask = { .kind = OWNER_SWEEPER, .uid = uid, .words = { "sweep" } };
	struct owner_process p;
	int line = ask_owner(socket, &ask, &p, e);
	struct pollfd end = { .fd = line, .events = POLLIN };
	int32_t killed = -1;

	if (line < 0)
		return -1;
	if (send(line, rest, sizeof(*rest), MSG_NOSIGNAL) != (ssize_t)sizeof(*rest) ||
	    poll(&end, 1, SWEEP_MS) != 1 ||
	    recv(line, &killed, sizeof(killed), MSG_DONTWAIT) != (ssize_t)sizeof(killed) ||
	    killed < 0)
		killed = err_set(e, ERR_AGAIN, "what is left of a process of user %u does not end",
		                 (unsigned)uid);
	(void)close(line);
	owner_process_clear(&p);
	return killed;
}
