#include "looker_owner.h"

#include "clock.h"
#include "hand_first.h"
#include "io.h"
#include "log.h"
#include "look_line.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	TOLD_AT_ONCE = 64, /* so that one that tells without a pause cannot hold up questions */
	OLD_MS = 20000, /* then as-owner is asked again whether its user may have one: they may have
	                   left the group of the agents */
};

struct looker_owner {
	char *socket, *fence;
	uid_t uid;
	struct owner_process process;
	int control; /* of the hand; -1: it does not run */
	int64_t began_ms; /* monotonic: since when it runs */
	uint32_t number; /* of the last job */
	int stuck; /* hangs up when a job that did not answer has ended; -1: there is none */
};

struct looker_owner *looker_owner_new(const char *socket, uid_t uid, const char *fence)
{
	struct looker_owner *o = xcalloc(1, sizeof(*o));

	*o = (struct looker_owner){ .socket = xstrdup(socket),
		                    .fence = xstrdup(fence),
		                    .uid = uid,
		                    .process = OWNER_PROCESS_INIT,
		                    .control = -1,
		                    .stuck = -1 };
	return o;
}

void looker_owner_rest(struct looker_owner *o)
{
	io_shut(&o->control); /* which ends it, and its jobs */
	owner_process_clear(&o->process);
}

void looker_owner_free(struct looker_owner *o)
{
	if (!o)
		return;
	looker_owner_rest(o);
	io_shut(&o->stuck);
	free(o->socket);
	free(o->fence);
	free(o);
}

bool looker_owner_is_there(const struct looker_owner *o)
{
	return owner_is_there(o->socket);
}

/* Whether a job that did not answer goes on. */
static bool is_stuck(struct looker_owner *o)
{
	struct pollfd end = { .fd = o->stuck };

	if (o->stuck < 0)
		return false;
	if (poll(&end, 1, 0) == 0)
		return true;
	io_shut(&o->stuck);
	return false;
}

/* It is not waited for: what it is told meanwhile it finds. */
static bool start(struct looker_owner *o)
{
	struct err e = { 0 };

	o->began_ms = clock_monotonic_ms();
	if (hand_first_ask_owner(o->socket, o->uid, o->fence, &o->process, &o->control, &e) == 0)
		return true;
	log_warn("no policy of user %u is looked at: %s", (unsigned)o->uid, e.text);
	return false;
}

/* A hand that says which process does a job must not wait for us. */
static void take_told(struct looker_owner *o)
{
	struct hand_told told;

	for (int i = 0; i < TOLD_AT_ONCE && hand_first_told_by_other(o->control, &told) > 0; i++)
		continue;
}

/* Has a hand begin a job that talks over fd: the one that runs, unless it has ended. */
static bool begin(struct looker_owner *o, int fd)
{
	o->number++;
	if (clock_monotonic_ms() - o->began_ms >= OLD_MS)
		looker_owner_rest(o);
	if (o->control >= 0)
		take_told(o);
	if (o->control >= 0 && hand_first_send(o->control, o->number, fd, -1) == 0)
		return true;
	looker_owner_rest(o);
	return start(o) && hand_first_send(o->control, o->number, fd, -1) == 0;
}

/* What as-owner has said, if it did not start it. */
static void tell_why(struct looker_owner *o)
{
	struct err e = { 0 };
	int got = 0;

	while (o->process.fd >= 0 && (got = owner_hear(&o->process, &e)) > 0)
		continue;
	if (got < 0)
		log_warn("the hand of user %u: %s", (unsigned)o->uid, e.text);
}

/* Its hand is not used again: it may be what hangs. */
static void give_up(struct looker_owner *o, int fd)
{
	tell_why(o);
	looker_owner_rest(o);
	(void)shutdown(fd, SHUT_WR);
	o->stuck = fd;
}

bool looker_owner_ask(struct looker_owner *o, const struct hand_ask *ask, struct hand_found *found)
{
	int pair[2];
	bool has_begun;

	if (is_stuck(o) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return false;
	has_begun = begin(o, pair[1]);
	(void)close(pair[1]);
	if (has_begun && look_line_ask(pair[0], clock_monotonic_ms() + LOOK_LINE_MS, ask, found)) {
		(void)close(pair[0]);
		return true;
	}
	give_up(o, pair[0]);
	return false;
}
