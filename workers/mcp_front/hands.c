#include "hands.h"

#include "clock.h"
#include "front.h"
#include "hand_places.h"
#include "io.h"
#include "log.h"
#include "pack.h"
#include "paths.h"
#include "setting.h"
#include "workspace_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	AT_ONCE = 8, /* default of the setting */
	START_MS = 5000, /* within which the process of a job must start */
	SILENT_MS = 60000,
	PATIENCE_MS = 120000, /* how long a job waits for its turn */
	LOOK_MS = 250, /* while there is anything to watch; */
	LOOK_SOON_MS = 25, /* while a job waits for a place */
};

static void serve(struct front *f);
static void watch_socket(struct hand *h);
static void on_end(evutil_socket_t fd, short what, void *arg);

/* ---- the end of a job ---- */

static void forget_texts(struct hand_task *t)
{
	free((char *)t->ask.given);
	free((char *)t->ask.root);
	t->ask.given = t->ask.root = NULL;
}

static bool is_over(struct front *f, struct hand_task *t)
{
	return t->by->is_over && t->by->is_over(f, t);
}

static void drop(struct front *f, struct hand_task *t)
{
	forget_texts(t);
	t->by->dropped(f, t);
}

__attribute__((format(printf, 4, 5))) static void fail(struct front *f, struct hand_task *t,
                                                       const char *code, const char *format, ...)
{
	struct refusal why = { .code = code };
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why.text, sizeof(why.text), format, args);
	va_end(args);
	forget_texts(t);
	t->by->failed(f, t, &why);
}

/* ---- processes ---- */

static void let_go_of_socket(struct hand *h)
{
	front_drop(&h->io);
	io_shut(&h->fd);
	str_clear(&h->out);
	str_clear(&h->in);
}

static void hand_free(struct hand *h)
{
	let_go_of_socket(h);
	front_drop(&h->end);
	io_shut(&h->pidfd);
	LIST_REMOVE(h, next);
	free(h->root);
	free(h);
}

/* What a hand of another user calls the process of a job may be any process, also one of ours:
 * that hand ends it, not we. */
static void kill_job(const struct hand_first *first, uint32_t number, int pidfd)
{
	if (first->is_foreign)
		(void)hand_first_kill(first->control, number);
	else if (pidfd >= 0)
		(void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
}

/* Takes its job away. A process stuck in a system call ends when the call returns; it is kept in
 * the list until then. */
static struct hand_task *give_up(struct hand *h)
{
	struct hand_task *t = h->task;

	h->task = NULL;
	h->is_killed = true;
	h->killed_ms = clock_monotonic_ms();
	kill_job(h->first, h->number, h->pidfd);
	if (h->first->is_foreign) {
		str_clear(&h->out);
		str_clear(&h->in);
		(void)shutdown(h->fd, SHUT_WR);
		watch_socket(h);
		return t;
	}
	let_go_of_socket(h);
	if (h->pidfd < 0)
		hand_free(h); /* it finds its socket closed, or ends with the first */
	return t;
}

/* ---- the first process ---- */

/* Its jobs are repeated once, unless as-owner has refused it. */
static void end_job(struct front *f, struct hand *h)
{
	struct hand_task *t = h->task;
	const char *why = h->first->why;

	(void)give_up(h);
	if (*why) {
		fail(f, t, "workspace_unreadable", "%.390s; nothing was done", why);
	} else if (t->tried) {
		fail(f, t, "io_error",
		     "the process that reads the files has ended twice; nothing was done; call "
		     "again");
	} else {
		t->tried = true;
		hand_queue_add(&f->hands->queue, t);
	}
}

static void lose_first(struct front *f, struct hand_first *first)
{
	struct hand *h = LIST_FIRST(&f->hands->all);

	hand_firsts_end(first);
	if (*first->why)
		log_warn("hand cannot run as user %u: %s", (unsigned)first->uid, first->why);
	else
		log_warn("hand is gone; it is started again");
	while (h) {
		struct hand *after = LIST_NEXT(h, next);

		if (h->first == first && h->task)
			end_job(f, h);
		h = after;
	}
}

static void on_lost(struct front *f, struct hand_first *first)
{
	lose_first(f, first);
	serve(f);
}

static struct hand *find_hand(struct hands *hands, uint32_t number)
{
	struct hand *h;

	LIST_FOREACH (h, &hands->all, next)
		if (h->number == number)
			return h;
	return NULL;
}

/* Takes pidfd. False: there is none. */
static bool watch_process(struct front *f, struct hand *h, int pidfd)
{
	h->end = event_new(f->base, pidfd, EV_READ, on_end, h);
	if (event_add(h->end, NULL)) {
		front_drop(&h->end);
		(void)close(pidfd);
		return false;
	}
	h->pidfd = pidfd;
	return true;
}

/* Learns which process does a job; ends the process if its job was given up. */
static bool take_process(struct front *f, struct hand_first *first, const struct hand_told *told,
                         int pidfd)
{
	struct hand *h = find_hand(f->hands, told->number);

	if (told->pid < 0)
		return true;
	if (!h || h->first != first) {
		kill_job(first, told->number, pidfd);
		io_shut(&pidfd);
		return true;
	}
	if (h->is_begun) {
		io_shut(&pidfd);
		return false;
	}
	h->is_begun = true;
	h->pid = told->pid;
	return first->is_foreign || watch_process(f, h, pidfd);
}

/* ---- a job at work ---- */

/* Leaves out a configured folder on a silent disk for a minute. */
static void leave_out(struct hands *hands, const struct hand_task *t, int silent)
{
	size_t last = hands->listed_count - hands->left_out - 1;
	const char *folder;

	if (silent < 0 || t->ask.listed_count != last + 1)
		return;
	folder = hands->listed[silent];
	log_warn("the disk of the workspace %.300s does not answer", folder);
	memmove(&hands->listed[silent], &hands->listed[silent + 1],
	        (hands->listed_count - (size_t)silent - 1) * sizeof(*hands->listed));
	hands->listed[hands->listed_count - 1] = folder;
	hands->left_out++;
	hands->silent_ms = clock_monotonic_ms() + SILENT_MS;
}

static void take_found(struct front *f, struct hand_task *t, struct hand_found *found)
{
	leave_out(f->hands, t, found->silent);
	if (found->is_too_big) {
		t->ask.is_big = true;
		hand_queue_add(&f->hands->queue, t);
	} else {
		forget_texts(t);
		t->by->done(f, t, found);
	}
}

/* The answer is complete, or there will be none. The end of the process is waited for only if it
 * is certain to be that of the job. */
static void finish(struct hand *h)
{
	OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;
	OWNED(str) struct str answer = { 0 };
	struct front *f = h->front;
	struct hand_first *first = h->first;
	struct hand_task *t = h->task;

	h->task = NULL;
	answer = h->in;
	h->in = (struct str){ 0 };
	let_go_of_socket(h);
	if (h->pidfd < 0 || h->has_ended)
		hand_free(h);
	if (!answer.length && !t->tried && hand_firsts_has_ended(first)) {
		t->tried = true;
		hand_queue_add(&f->hands->queue, t);
	} else if (!answer.length)
		fail(f, t, "io_error",
		     "the process that read the files ended before it was done (out of memory, or "
		     "killed); nothing was done; call again, with less in one proposal");
	else if (hand_found_read(&t->ask, &answer, &found))
		fail(f, t, "io_error",
		     "what was read of the files makes no sense; nothing was done; call again");
	else
		take_found(f, t, &found);
	serve(f);
}

/* Takes the header off an answer. Returns 1 if there is now room for the rest, 0 if nothing has
 * arrived, -1 if it is missing or invalid: a hand sends it in one piece. */
static int take_head(struct hand *h)
{
	char head[PACK_HEAD_BYTES];
	ssize_t n = recv(h->fd, head, sizeof(head), 0);
	size_t length;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
	if (n < (ssize_t)sizeof(head))
		return -1;
	length = pack_length(head);
	if (length == 0 || length > HAND_FOUND_BYTES)
		return -1;
	h->in.capacity = length + 1;
	h->in.bytes = xmalloc(h->in.capacity);
	h->in.bytes[0] = '\0';
	return 1;
}

/* Takes what has arrived. Returns 1 if the answer is complete, 0 if more is to come, -1 if there
 * will be none. */
static int take_answer(struct hand *h)
{
	int got = h->in.capacity ? 1 : take_head(h);

	while (got > 0 && h->in.length < h->in.capacity - 1) {
		ssize_t n =
		    recv(h->fd, h->in.bytes + h->in.length, h->in.capacity - 1 - h->in.length, 0);

		if (n > 0)
			h->in.bytes[h->in.length += (size_t)n] = '\0';
		else
			got = n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
	}
	if (got < 0)
		str_clear(&h->in);
	return got;
}

static void send_question(struct hand *h)
{
	while (h->sent < h->out.length) {
		ssize_t n =
		    send(h->fd, h->out.bytes + h->sent, h->out.length - h->sent, MSG_NOSIGNAL);

		if (n <= 0)
			return; /* the reader has ended: on_end sees that */
		h->sent += (size_t)n;
	}
	str_clear(&h->out);
	h->sent = 0;
}

/* The process has ended. Its last output may still be unread. */
static void on_end(evutil_socket_t fd, short what, void *arg)
{
	struct hand *h = arg;
	struct front *f = h->front;

	(void)fd;
	(void)what;
	h->has_ended = true;
	if (h->task) {
		(void)take_answer(h);
		finish(h);
	} else {
		hand_free(h);
		serve(f);
	}
}

/* Of a job that was given up nothing is taken but its end. */
static void wait_for_end(struct hand *h)
{
	struct front *f = h->front;
	char bytes[4096];
	ssize_t n = recv(h->fd, bytes, sizeof(bytes), 0);

	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	hand_free(h);
	serve(f);
}

static void on_io(evutil_socket_t fd, short what, void *arg)
{
	struct hand *h = arg;

	(void)fd;
	if (!h->task) {
		wait_for_end(h);
		return;
	}
	if (what & EV_WRITE) {
		send_question(h);
		if (!h->out.length)
			watch_socket(h);
	}
	if ((what & EV_READ) && take_answer(h) != 0)
		finish(h);
}

static void watch_socket(struct hand *h)
{
	short what = EV_READ | EV_PERSIST | (h->out.length ? EV_WRITE : 0);

	front_drop(&h->io);
	h->io = event_new(h->front->base, h->fd, what, on_io, h);
	(void)event_add(h->io, NULL);
}

/* Its first process does not run. Ours is restarted later; another user's may never run, so its
 * task fails at once. True: the task is over. */
static bool cannot_begin(struct front *f, const struct hand_first *first, struct hand_task *t)
{
	if (!first->is_foreign)
		return false;
	fail(f, t, "workspace_unreadable",
	     "the files cannot be read as their owner now: %.390s; nothing was done; call again",
	     *first->why ? first->why : "the process for it has just ended");
	return true;
}

static bool has_jobs(const struct hand_first *first)
{
	const struct hand *h;

	LIST_FOREACH (h, &first->front->hands->all, next)
		if (h->first == first)
			return true;
	return false;
}

/* as-owner is to say again whether one of another user may run: its user may have left the group of
 * the agents. What it does is done again, once: no job takes as long as the next renewal. */
static void renew(struct front *f, struct hand_first *first)
{
	bool is_busy = has_jobs(first);

	if (!hand_firsts_is_old(first, is_busy))
		return;
	if (is_busy)
		lose_first(f, first);
	else
		hand_firsts_end(first);
}

/* False: the task cannot start now. */
static bool begin(struct front *f, struct hand_task *t)
{
	struct hands *hands = f->hands;
	struct hand_first *first = hand_firsts_of(f, t);
	struct hand *h;
	int pair[2];

	renew(f, first);
	if (!hand_firsts_run(first))
		return cannot_begin(f, first, t);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return false;
	if (hand_first_send(first->control, ++hands->number, pair[1],
	                    t->ask.is_apart ? t->apart : -1)) {
		(void)close(pair[0]);
		(void)close(pair[1]);
		return false;
	}
	(void)close(pair[1]);
	(void)fcntl(pair[0], F_SETFL, O_NONBLOCK);
	h = xcalloc(1, sizeof(*h));
	h->front = f;
	h->number = hands->number;
	h->first = first;
	h->task = t;
	h->root = xstrdup(hand_places_root(t));
	h->is_big = t->ask.is_big;
	h->began_ms = h->moved_ms = clock_monotonic_ms();
	h->fd = pair[0];
	h->pidfd = -1;
	LIST_INSERT_HEAD(&hands->all, h, next);
	if (clock_monotonic_ms() >= hands->silent_ms)
		hands->left_out = 0;
	t->ask.listed = hands->listed;
	t->ask.listed_count = hands->listed_count - hands->left_out;
	hand_ask_write(&t->ask, &h->out);
	send_question(h);
	watch_socket(h);
	return true;
}

/* ---- scheduling ---- */

static void serve_kind(struct front *f, bool is_big)
{
	struct hand_task *t;

	while (hand_places_have_room(f->hands, is_big) &&
	       (t = hand_places_next(f->hands, is_big)) != NULL)
		if (is_over(f, t)) {
			drop(f, t);
		} else if (!begin(f, t)) {
			hand_queue_add(&f->hands->queue, t);
			return;
		}
}

static void set_clock(struct front *f)
{
	static const struct timeval SOON = { .tv_usec = LOOK_SOON_MS * 1000 },
	                            LATER = { .tv_usec = LOOK_MS * 1000 };
	struct hands *hands = f->hands;

	if (!hand_queue_is_empty(&hands->queue) && !hands->is_soon) {
		hands->is_soon = true;
		(void)evtimer_add(hands->clock, &SOON);
	} else if (!LIST_EMPTY(&hands->all) && !evtimer_pending(hands->clock, NULL)) {
		(void)evtimer_add(hands->clock, &LATER);
	}
}

static void serve(struct front *f)
{
	serve_kind(f, false);
	serve_kind(f, true);
	set_clock(f);
}

/* ---- the clock ---- */

static void say_slow(struct front *f, struct hand_task *t)
{
	if (t->told_slow || clock_monotonic_ms() - t->asked_ms < HAND_QUICK_MS)
		return;
	t->told_slow = true;
	if (t->by->slow)
		t->by->slow(f, t);
}

static void look_at_turn(struct front *f, struct hand_turn *one)
{
	struct hand_task *t, *after;

	for (t = TAILQ_FIRST(&one->tasks); t; t = after) {
		bool last = TAILQ_FIRST(&one->tasks) == t && !TAILQ_NEXT(t, next);

		after = TAILQ_NEXT(t, next);
		say_slow(f, t);
		if (is_over(f, t)) {
			hand_queue_take(&f->hands->queue, one, t);
			drop(f, t);
		} else if (hand_places_are_hopeless(f->hands, t)) {
			hand_queue_take(&f->hands->queue, one, t);
			fail(f, t, "workspace_unreadable",
			     "this workspace's file system does not answer: other calls wait for "
			     "it already; nothing was done; call again");
		} else if (clock_monotonic_ms() - t->asked_ms >= PATIENCE_MS) {
			hand_queue_take(&f->hands->queue, one, t);
			fail(f, t, "busy",
			     "the files could not be looked at for %d s: other jobs come first; "
			     "nothing was done; call again",
			     PATIENCE_MS / 1000);
		} else {
			continue;
		}
		if (last)
			return; /* with its last job the turn is gone */
	}
}

static void look_at_hand(struct front *f, struct hand *h)
{
	struct hand_task *t = h->task;

	if (!t)
		return;
	say_slow(f, t);
	if (is_over(f, t)) {
		drop(f, give_up(h));
	} else if (clock_monotonic_ms() - h->began_ms >= HAND_DEADLINE_MS) {
		bool is_foreign = h->first->is_foreign;

		log_warn("the files of %.300s could not be read within %d s", h->root,
		         HAND_DEADLINE_MS / 1000);
		(void)give_up(h);
		fail(f, t, "workspace_unreadable",
		     "the files could not be read within %d s: the workspace's disk does not "
		     "answer%s, or there is too much in one proposal; nothing was done; call again",
		     HAND_DEADLINE_MS / 1000,
		     is_foreign ? ", or its owner has stopped the process that reads it (hand)"
		                : "");
	}
}

/* Whether the first process does not start what it was told to. */
static bool is_unbegun(const struct hand *h)
{
	return !h->is_begun && clock_monotonic_ms() - h->began_ms >= START_MS;
}

void hands_look(struct front *f)
{
	struct hands *hands = f->hands;
	struct hand *h, *next_hand;
	struct hand_turn *one, *next_turn;
	struct hand_first *hangs = NULL;

	if (!hands)
		return;
	for (h = LIST_FIRST(&hands->all); h; h = next_hand) {
		next_hand = LIST_NEXT(h, next);
		if (is_unbegun(h))
			hangs = h->first;
		look_at_hand(f, h);
	}
	if (hangs && hangs->control >= 0) {
		if (hangs->is_foreign && !hangs->process.is_ready)
			(void)snprintf(hangs->why, sizeof(hangs->why), OWNER_SILENT,
			               OWNER_UNIT_FILES);
		lose_first(f, hangs);
	}
	hand_firsts_tidy(f, has_jobs);
	for (int i = 0; i < 2; i++)
		for (one = TAILQ_FIRST(&hands->queue.turns[i]); one; one = next_turn) {
			next_turn = TAILQ_NEXT(one, next);
			look_at_turn(f, one);
		}
	serve(f);
}

static void on_clock(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;

	(void)fd;
	(void)what;
	f->hands->is_soon = false;
	hands_look(f);
}

/* ---- for the other files ---- */

void hands_each(struct front *f, void (*visit)(struct front *f, struct hand_task *t, void *arg),
                void *arg)
{
	struct hand *h;
	struct hand_turn *one;
	struct hand_task *t;

	if (!f->hands)
		return;
	LIST_FOREACH (h, &f->hands->all, next)
		if (h->task)
			visit(f, h->task, arg);
	for (int i = 0; i < 2; i++)
		TAILQ_FOREACH (one, &f->hands->queue.turns[i], next)
			TAILQ_FOREACH (t, &one->tasks, next)
				visit(f, t, arg);
}

bool hands_have_room(struct front *f, const struct hand_task *t)
{
	return hand_queue_has_room(&f->hands->queue, t);
}

/* What no agent asks for, in a workspace of another user, is looked at as that user, too. */
static void find_user(struct front *f, struct hand_task *t)
{
	struct err e = { 0 };

	if (!t->ask.has_user && *f->hands->owner_socket && t->ask.root && !t->ask.judge)
		t->ask.has_user = workspace_owner_now(&f->worker.store, f->worker.machine,
		                                      t->ask.root, &t->ask.user, &e) > 0;
}

void hands_ask(struct front *f, struct hand_task *t)
{
	find_user(f, t);
	if (t->ask.ours)
		own_places_look(&f->settings.ours);
	t->ask.given = xstrdup_if(t->ask.given);
	t->ask.root = xstrdup_if(t->ask.root);
	t->ask.is_big = false;
	t->asked_ms = clock_monotonic_ms();
	t->told_slow = t->tried = false;
	hand_queue_add(&f->hands->queue, t);
	if (hand_places_have_one(f->hands, t))
		serve(f);
	else
		set_clock(f); /* and so none of those that wait already */
}

/* ---- start and stop ---- */

/* One processor stays for others: however nice a big job is, whoever wakes up beside it waits. */
static int big_at_once(int at_once)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int most = (at_once + 3) / 4;

	if (most >= processors)
		most = (int)processors - 1;
	return most > 0 ? most : 1;
}

static const struct hand_firsts_heard HEARD = { take_process, on_lost };

/* Where as-owner is, if several users are served. */
static int find_owner_socket(struct front *f, struct err *e)
{
	OWNED(str) struct str path = { 0 };

	if (setting_get(&f->worker.store, "shared.directory", &path, e) < 0)
		return -1;
	if (path.length) {
		str_reset(&path);
		if (setting_get(&f->worker.store, "shared.owner_socket", &path, e) < 0)
			return -1;
	}
	f->hands->owner_socket = xstrdup(str_text(&path));
	return 0;
}

/* Our own runs from the start. */
static int run_own(struct front *f, struct err *e)
{
	const struct hand_task ours = { .by = NULL };
	struct hand_first *first = hand_firsts_of(f, &ours);

	return hand_firsts_run(first) ? 0 : err_set(e, ERR_AGAIN, "%s", first->why);
}

int hands_start(struct front *f, struct err *e)
{
	OWNED(str) struct str path = { 0 };
	struct hands *hands = xcalloc(1, sizeof(*hands));

	f->hands = hands;
	LIST_INIT(&hands->firsts);
	hands->heard = &HEARD;
	LIST_INIT(&hands->all);
	hand_queue_init(&hands->queue);
	hands->clock = evtimer_new(f->base, on_clock, f);
	hands->at_once = (int)setting_int(&f->worker.store, "mcp.hands", AT_ONCE);
	hands->big_at_once = big_at_once(hands->at_once);
	if (setting_get(&f->worker.store, "fence", &hands->fence, e) < 0)
		return -1;
	if (!hands->fence.length)
		str_add(&hands->fence, "auto");
	if (setting_named_workspace(&f->worker.store, &hands->usual, e) < 0)
		return -1;
	hands->listed = hand_listed(str_text(&hands->usual), f->settings.workspaces.listed,
	                            &hands->listed_count);
	if (paths_program("hand", &path, e))
		return -1;
	hands->path = str_take(&path);
	return find_owner_socket(f, e) || run_own(f, e) ? -1 : 0;
}

static void end(struct front *f, struct hand_task *t)
{
	if (is_over(f, t))
		drop(f, t);
	else
		fail(f, t, "busy", "%s", HANDS_STOPPING);
}

static bool is_told(const struct hand_task *t)
{
	return t && t->by->is_told && t->by->is_told(t);
}

/* A waiting task whose caller must be told that we stop; NULL if none. */
static struct hand_task *take_told(struct hands *hands)
{
	struct hand_turn *one;
	struct hand_task *t;

	for (int i = 0; i < 2; i++)
		TAILQ_FOREACH (one, &hands->queue.turns[i], next)
			TAILQ_FOREACH (t, &one->tasks, next)
				if (is_told(t)) {
					hand_queue_take(&hands->queue, one, t);
					return t;
				}
	return NULL;
}

bool hands_refuse(struct front *f)
{
	struct hand *h, *next_hand;
	struct hand_task *t;
	bool any = false;

	if (!f->hands)
		return false;
	while ((t = take_told(f->hands)) != NULL) {
		end(f, t);
		any = true;
	}
	for (h = LIST_FIRST(&f->hands->all); h; h = next_hand) {
		next_hand = LIST_NEXT(h, next);
		if (!is_told(h->task))
			continue;
		end(f, give_up(h));
		any = true;
	}
	return any;
}

void hands_stop(struct front *f)
{
	struct hands *hands = f->hands;
	struct hand *h, *next_hand;
	struct hand_turn *one;

	if (!hands)
		return;
	for (h = LIST_FIRST(&hands->all); h; h = next_hand) {
		struct hand_task *t = h->task;

		next_hand = LIST_NEXT(h, next);
		h->task = NULL;
		hand_free(h);
		if (t)
			end(f, t);
	}
	for (int i = 0; i < 2; i++)
		while ((one = TAILQ_FIRST(&hands->queue.turns[i])) != NULL) {
			struct hand_task *t = TAILQ_FIRST(&one->tasks);

			hand_queue_take(&f->hands->queue, one, t);
			end(f, t);
		}
	hand_firsts_clear(f);
	front_drop(&hands->clock);
	free(hands->listed);
	free(hands->path);
	free(hands->owner_socket);
	str_clear(&hands->fence);
	str_clear(&hands->usual);
	free(hands);
	f->hands = NULL;
}
