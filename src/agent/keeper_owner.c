#include "keeper_owner.h"

#include "clock.h"
#include "group.h"
#include "io.h"
#include "owner.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* One end of a line is ours, the other goes to as-owner, which answers later. -1 on error, with
 * nothing left open. */
static int ask_owner(const char *socket, const struct owner_ask *what, struct owner_process *p,
                     struct err *e)
{
	struct owner_ask ask = *what;
	int line[2], failed;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0)
		return err_errno(e, ERR_AGAIN, "cannot make a line to a keeper");
	ask.fds = &line[1];
	ask.fd_count = 1;
	failed = owner_ask(socket, &ask, p, e);
	(void)close(line[1]);
	if (failed) {
		(void)close(line[0]);
		return owner_say_silent(what->kind, e);
	}
	(void)fcntl(line[0], F_SETFL, O_NONBLOCK);
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
	if (recv(line, h, sizeof(*h), MSG_DONTWAIT) != (ssize_t)sizeof(*h))
		return err_set(e, ERR_AGAIN, "the keeper of the owner's process does not answer");
	if (h->pid > 1)
		return 0;
	return err_set(e, h->may_try_again ? ERR_AGAIN : ERR_INPUT, "%.*s", KEEPER_WHY_BYTES - 1,
	               h->why);
}

static int give_up(struct keeper *k, struct launch *l)
{
	keeper_clear(k); /* which ends it */
	launch_clear(l);
	k->pid = 0;
	return -1;
}

int keeper_owner_ask(struct keeper *k, struct launch *l, struct owner_process *asked,
                     const char *socket, uid_t uid, const struct recipe *recipe, struct err *e)
{
	const struct owner_ask ask = { .kind = OWNER_KEEPER,
		                       .uid = uid,
		                       .workspace = recipe->workspace,
		                       .words = { "keep" } };

	*k = (struct keeper)KEEPER_INIT;
	k->is_owners = true;
	k->line = ask_owner(socket, &ask, asked, e);
	if (k->line < 0)
		return -1;
	return hand_over(k->line, l, recipe, e) ? give_up(k, l) : 0;
}

/* 1 as-owner has started it, 0 not yet, -1. */
static int hear_owner(struct keeper *k, struct owner_process *asked, struct err *e)
{
	int got = 1;

	while (got > 0 && (asked->pidfd < 0 || !asked->is_ready))
		got = owner_hear(asked, e);
	if (got <= 0)
		return got;
	k->pid = asked->pid;
	k->started = group_started(asked->pid);
	k->ended = asked->pidfd;
	asked->pidfd = -1;
	return 1;
}

int keeper_owner_hear(struct keeper *k, struct launch *l, struct owner_process *asked, bool late,
                      struct str *holds, struct err *e)
{
	struct pollfd line = { .fd = k->line, .events = POLLIN };
	struct keeper_hello h;
	int got = k->pid ? 1 : hear_owner(k, asked, e);

	if (got == 0 && late && asked->pid == 0)
		return owner_say_silent(OWNER_KEEPER, e);
	if (got < 0 || (!late && (got == 0 || poll(&line, 1, 0) == 0)))
		return got < 0 ? -1 : 0;
	if (hear_hello(k->line, &h, e))
		return -1;
	owner_process_clear(asked); /* whatever becomes of as-owner: the line is what counts */
	l->pid = h.pid;
	l->started = h.started;
	str_addf(holds, "%.*s", KEEPER_HOLDS_BYTES - 1, h.holds);
	return 1;
}

int keeper_owner_hold(struct keeper *k, struct launch *l, const char *socket, uid_t uid,
                      const struct recipe *recipe, struct str *holds, struct err *e)
{
	struct owner_process asked = OWNER_PROCESS_INIT;
	int64_t end = clock_monotonic_ms() + KEEPER_OWNER_MS, left = KEEPER_OWNER_MS;
	int got = keeper_owner_ask(k, l, &asked, socket, uid, recipe, e);

	while (got == 0) {
		got = keeper_owner_hear(k, l, &asked, left <= 0, holds, e);
		left = end - clock_monotonic_ms();
		struct pollfd signs[] = { { .fd = k->line, .events = POLLIN },
			                  { .fd = k->pid ? -1 : asked.fd, .events = POLLIN } };
		if (got == 0 && left > 0)
			(void)poll(signs, COUNT(signs), (int)left);
	}
	owner_process_clear(&asked);
	return got < 0 ? give_up(k, l) : 0;
}

int keeper_owner_went(struct launch *l, const struct recipe *recipe, struct err *e)
{
	char *const argv[] = { recipe->command, NULL };
	const struct launch_plan plan = { .argv = argv, .directory = recipe->workspace };

	return launch_went(l, &plan, e);
}

int keeper_owner_go(struct launch *l, const struct recipe *recipe, struct err *e)
{
	struct pollfd closed = { .fd = l->failed, .events = POLLIN };

	launch_let_go(l);
	(void)poll(&closed, 1, KEEPER_OWNER_MS);
	return keeper_owner_went(l, recipe, e);
}

/* ---- what is left ---- */

int keeper_owner_sweep_begin(struct keeper_sweep *s, const char *socket, uid_t uid,
                             const struct keeper_rest *rest, struct err *e)
{
	const struct owner_ask ask = { .kind = OWNER_SWEEPER, .uid = uid, .words = { "sweep" } };

	*s = (struct keeper_sweep)KEEPER_SWEEP_INIT;
	s->line = ask_owner(socket, &ask, &s->asked, e);
	if (s->line < 0)
		return -1;
	if (send(s->line, rest, sizeof(*rest), MSG_NOSIGNAL) == (ssize_t)sizeof(*rest))
		return 0;
	(void)err_errno(e, ERR_AGAIN, "cannot tell a sweeper what to end");
	keeper_sweep_clear(s);
	return -1;
}

int keeper_owner_sweep_end(struct keeper_sweep *s, struct err *e)
{
	int32_t killed = -1;

	if (recv(s->line, &killed, sizeof(killed), MSG_DONTWAIT) != (ssize_t)sizeof(killed) ||
	    killed < 0)
		killed =
		    err_set(e, ERR_AGAIN, "it does not end, or its user has stopped what ends it");
	keeper_sweep_clear(s);
	return killed;
}

void keeper_sweep_clear(struct keeper_sweep *s)
{
	owner_process_clear(&s->asked);
	io_shut(&s->line);
}

int keeper_owner_sweep(const char *socket, uid_t uid, const struct keeper_rest *rest, struct err *e)
{
	struct keeper_sweep s;
	struct pollfd end = { .events = POLLIN };

	if (keeper_owner_sweep_begin(&s, socket, uid, rest, e))
		return -1;
	end.fd = s.line;
	(void)poll(&end, 1, KEEPER_SWEEP_MS);
	return keeper_owner_sweep_end(&s, e);
}
