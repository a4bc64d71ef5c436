/* The pipes of an agent: always read, so that it never stands still because of us, and written when
 * it reads. Its end is a descriptor like the others. */
#include "runner.h"

#include "clock.h"
#include "io.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	READS = 4, /* of one pipe in one turn: then the others */
};

static int watch(struct runner *r, int fd, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return err_errno(e, ERR_AGAIN, "cannot watch the agent's pipes");
}

int pipes_open(struct runner *r, struct err *e)
{
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return err_errno(e, ERR_AGAIN, "cannot watch the agent's pipes");
	r->w.extra_fd = r->epoll;
	return err_if(watch(r, r->agent.out, e) || watch(r, r->agent.err, e) ||
	              watch(r, r->agent.ended, e) || watch(r, r->keeper.line, e) ||
	              watch(r, r->keeper.ended, e));
}

static int hear(void *runner, const char *bytes, size_t length, struct err *e)
{
	struct runner *r = runner;

	r->heard = r->driver->hear != NULL;
	return r->heard ? r->driver->hear(r, bytes, length, e) : 0;
}

static int remember(void *runner, const char *bytes, size_t length, struct err *e)
{
	struct runner *r = runner;

	(void)e;
	tail_add(&r->tail, bytes, length);
	return 0;
}

/* ---- its stdin ---- */

/* POLLOUT only while there is something to write. */
static void expect_room(struct runner *r, bool wanted)
{
	struct epoll_event event = { .events = EPOLLOUT, .data.fd = r->agent.in };

	(void)epoll_ctl(r->epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, r->agent.in, &event);
}

void pipes_hang_up(struct runner *r)
{
	io_shut(&r->agent.in);
	str_clear(&r->queue);
	r->written = 0;
	r->stuck_ms = 0;
}

static void flush(struct runner *r)
{
	while (r->agent.in >= 0 && r->written < r->queue.length) {
		ssize_t n =
		    write(r->agent.in, r->queue.bytes + r->written, r->queue.length - r->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!r->stuck_ms)
				r->stuck_ms = clock_monotonic_ms();
			return;
		}
		if (n < 0) {
			pipes_hang_up(r); /* the agent has closed it: its end follows */
			return;
		}
		r->written += (size_t)n;
		r->stuck_ms = 0;
	}
	if (r->agent.in < 0 || !r->queue.length)
		return;
	expect_room(r, false);
	str_reset(&r->queue);
	r->written = 0;
	r->stuck_ms = 0;
}

void pipes_say(struct runner *r, const char *bytes, size_t length)
{
	if (r->agent.in < 0)
		return;
	if (!r->queue.length)
		expect_room(r, true);
	str_add_bytes(&r->queue, bytes, length);
	flush(r);
}

/* ---- its keeper ---- */

/* Where the keeper of an agent of another user was killed, nobody says how the agent has ended: it
 * was killed with it. */
static void hear_keeper(struct runner *r)
{
	if (!r->is_kept || r->has_ended)
		return;
	r->has_ended = keeper_has_status(&r->keeper, &r->status);
	if (r->has_ended || !keeper_reap(&r->keeper))
		return;
	r->has_ended = r->has_lost = true;
	r->status = SIGKILL;
	keeper_clear(&r->keeper);
}

/* ---- all of them ---- */

/* What ending_turn goes by. */
static int what_is_over(const struct runner *r)
{
	return r->has_ended << 2 | (r->agent.out < 0) << 1 | (r->agent.err < 0);
}

int pipes_turn(struct runner *r, struct err *e)
{
	int over = what_is_over(r);
	int out = io_drain(&r->agent.out, READS, hear, r, e);
	int err = out < 0 ? 0 : io_drain(&r->agent.err, READS, remember, r, e);
	struct epoll_event events[4];

	flush(r);
	hear_keeper(r);
	int n = r->agent.ended < 0 ? 0 : epoll_wait(r->epoll, events, (int)COUNT(events), 0);
	for (int i = 0; i < n; i++)
		if (events[i].data.fd == r->agent.ended)
			r->has_ended = true;
	if (r->has_ended)
		io_shut(&r->agent.ended); /* which is readable from now on, and would wake us */
	return out < 0 || err < 0 ? -1 : out > 0 || err > 0 || what_is_over(r) != over;
}

bool pipes_are_open(const struct runner *r)
{
	return r->agent.out >= 0 || r->agent.err >= 0;
}

void pipes_close(struct runner *r)
{
	pipes_hang_up(r);
	launch_clear(&r->agent);
	keeper_clear(&r->keeper);
	tail_clear(&r->tail);
	/* epoll is closed as w.extra_fd */
}
