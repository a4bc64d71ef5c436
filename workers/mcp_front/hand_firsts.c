#include "hand_firsts.h"

#include "clock.h"
#include "front.h"
#include "hand_places.h"
#include "io.h"
#include "log.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RESTART_MS = 1000, /* between two starts; */
	STARTS_MAX = 3, /* but one of another user is not waited for, and may be started so often */
	OLD_MS = 20000,
	OLD_BUSY_MS = 60000, /* whoever has left the group of the agents asks nothing after that */
	IDLE_MS = 300000, /* then one of another user is ended */
	TOLD_AT_ONCE = 64, /* so that one that tells without a pause cannot hold up the others */
};

/* ---- hearing ---- */

static void on_told(evutil_socket_t fd, short what, void *arg)
{
	struct hand_first *first = arg;
	struct hand_told told;
	int got = 1, pidfd = -1;

	(void)what;
	for (int i = 0; i < TOLD_AT_ONCE && got > 0; i++) {
		got = first->is_foreign ? hand_first_told_by_other(fd, &told)
		                        : hand_first_told(fd, &told, &pidfd);
		if (got > 0 &&
		    !first->front->hands->heard->process(first->front, first, &told, pidfd))
			got = -1;
	}
	if (got < 0)
		first->front->hands->heard->lost(first->front, first);
}

/* What as-owner says of it. */
static void on_said(evutil_socket_t fd, short what, void *arg)
{
	struct hand_first *first = arg;
	struct err e = { 0 };
	int got;

	(void)fd;
	(void)what;
	while ((got = owner_hear(&first->process, &e)) > 0)
		continue;
	if (got == 0)
		return;
	if (e.kind == ERR_REFUSED)
		(void)snprintf(first->why, sizeof(first->why), "%.390s", e.text);
	first->front->hands->heard->lost(first->front, first);
}

static void listen_to(struct hand_first *first)
{
	struct event_base *base = first->front->base;

	first->told = event_new(base, first->control, EV_READ | EV_PERSIST, on_told, first);
	(void)event_add(first->told, NULL);
	if (!first->is_foreign)
		return;
	first->said = event_new(base, first->process.fd, EV_READ | EV_PERSIST, on_said, first);
	(void)event_add(first->said, NULL);
}

/* ---- starting ---- */

static int start_foreign(struct hand_first *first, struct err *e)
{
	struct hands *hands = first->front->hands;

	return hand_first_ask_owner(hands->owner_socket, first->uid, str_text(&hands->fence),
	                            &first->process, &first->control, e);
}

bool hand_firsts_run(struct hand_first *first)
{
	struct hands *hands = first->front->hands;
	struct err e = { 0 };
	int failed;

	first->used_ms = clock_monotonic_ms();
	if (first->control >= 0)
		return true;
	if (first->used_ms >= first->start_ms)
		first->starts = 0;
	else if (!first->is_foreign || ++first->starts >= STARTS_MAX)
		return false;
	first->start_ms = first->used_ms + RESTART_MS;
	first->began_ms = first->used_ms;
	first->why[0] = '\0';
	failed = first->is_foreign
	             ? start_foreign(first, &e)
	             : hand_first_start(hands->path, str_text(&hands->fence),
	                                first->front->policy_fd, &first->pid, &first->control, &e);
	if (failed) {
		log_error("%s", e.text);
		if (first->is_foreign)
			(void)snprintf(first->why, sizeof(first->why), OWNER_SILENT,
			               OWNER_UNIT_FILES);
		else
			(void)snprintf(first->why, sizeof(first->why), "%.390s", e.text);
		return false;
	}
	listen_to(first);
	return true;
}

/* Without as-owner our own user reads the files, as far as access lists let it. */
static bool is_foreign(const struct hands *hands, const struct hand_task *t)
{
	return t->ask.has_user && t->ask.user != geteuid() && *hands->owner_socket &&
	       owner_is_there(hands->owner_socket);
}

struct hand_first *hand_firsts_of(struct front *f, const struct hand_task *t)
{
	struct hands *hands = f->hands;
	bool foreign = is_foreign(hands, t);
	struct hand_first *first;

	LIST_FOREACH (first, &hands->firsts, next)
		if (first->is_foreign == foreign && (!foreign || first->uid == t->ask.user))
			return first;
	first = xcalloc(1, sizeof(*first));
	first->front = f;
	first->control = -1;
	first->process = (struct owner_process)OWNER_PROCESS_INIT;
	first->is_foreign = foreign;
	first->uid = foreign ? t->ask.user : geteuid();
	LIST_INSERT_HEAD(&hands->firsts, first, next);
	return first;
}

bool hand_firsts_is_old(const struct hand_first *first, bool is_busy)
{
	return first->is_foreign && first->control >= 0 &&
	       clock_monotonic_ms() - first->began_ms >= (is_busy ? OLD_BUSY_MS : OLD_MS);
}

/* ---- ending ---- */

bool hand_firsts_has_ended(const struct hand_first *first)
{
	siginfo_t about = { .si_pid = 0 };
	struct pollfd end = { .fd = first->process.pidfd, .events = POLLIN };

	if (first->control < 0)
		return true;
	if (first->is_foreign)
		return first->process.pidfd >= 0 && poll(&end, 1, 0) > 0;
	return waitid(P_PID, (id_t)first->pid, &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       about.si_pid == first->pid;
}

void hand_firsts_end(struct hand_first *first)
{
	front_drop(&first->told);
	front_drop(&first->said);
	io_shut(&first->control); /* which ends one of another user */
	owner_process_clear(&first->process);
	if (first->pid) {
		(void)kill(first->pid, SIGKILL);
		(void)waitpid(first->pid, NULL, 0);
	}
	first->pid = 0;
}

static void forget(struct hand_first *first)
{
	hand_firsts_end(first);
	LIST_REMOVE(first, next);
	free(first);
}

void hand_firsts_tidy(struct front *f, bool (*is_busy)(const struct hand_first *first))
{
	struct hand_first *first, *after;
	int64_t now = clock_monotonic_ms();

	for (first = LIST_FIRST(&f->hands->firsts); first; first = after) {
		after = LIST_NEXT(first, next);
		if (first->is_foreign && now - first->used_ms >= IDLE_MS && !is_busy(first))
			forget(first);
	}
}

void hand_firsts_clear(struct front *f)
{
	struct hand_first *first, *after;

	for (first = LIST_FIRST(&f->hands->firsts); first; first = after) {
		after = LIST_NEXT(first, next);
		forget(first);
	}
}
