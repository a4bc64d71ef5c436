/* reader: lists folders, shows files of workspaces and what has changed there, as operators order
 * it.
 *
 * Outside: files below workspaces, which it only reads; in those of other users by a hand of
 * theirs, which as-owner starts
 *
 * Each look is done in a process of its own (look.h), several at once, with a deadline: neither a
 * disk that hangs nor a huge folder delays the others. A workspace whose processes cannot even be
 * killed is refused until its disk answers. If reader is killed, its processes end with it, and the
 * next reader does the looks again. */
#include "clock.h"
#include "file_look.h"
#include "filer.h"
#include "io.h"
#include "log.h"
#include "look.h"
#include "object.h"
#include "worker.h"
#include "workspace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LOOKS_MAX = 8, /* at once */
	LOOKS_OF_WORKSPACE = 2, /* of these; also counts those that cannot be killed */
	LINGER_MS = 1000, /* that a process has to end, once its look is settled */
};

/* A look in hand, or a process that is left of one. */
struct slot {
	bool used;
	struct file_look_claim_row look; /* empty once it is settled */
	pid_t pid;
	int pidfd, fd; /* fd: of the answer; -1: it has ended */
	int tie; /* hangs up at the end of its hand, too (look_start); -1: it has none */
	char *root;
	struct str answer;
	int64_t end_ms; /* monotonic: the deadline */
	int64_t stuck_ms; /* monotonic: when it cannot be killed, if it is there still; once settled
	                   */
};

/* What is left of a look when only the hand of another user has not ended, which may be for as long
 * as their disk says. It keeps no look from another workspace. */
struct rest {
	LIST_ENTRY(rest) next;
	char *root;
	int tie;
	int64_t stuck_ms;
};

struct reader {
	struct slot slots[LOOKS_MAX];
	LIST_HEAD(, rest) rests;
	int64_t now_ms; /* monotonic: of this turn */
	struct str objects; /* the folder of what checkpoints hold */
	struct own_places ours; /* are not shown */
};

static struct reader reader;

/* ---- slots ---- */

static struct slot *free_slot(struct reader *r)
{
	for (size_t i = 0; i < LOOKS_MAX; i++)
		if (!r->slots[i].used)
			return &r->slots[i];
	return NULL;
}

/* Whether it is of a look that is settled, and has not ended in time. */
static bool is_stuck(const struct reader *r, const struct slot *s)
{
	return s->fd < 0 && r->now_ms >= s->stuck_ms;
}

/* Looks in a workspace whose processes have not ended; stuck: only those that cannot be killed. */
static int count_in(const struct reader *r, const char *root, bool stuck)
{
	const struct rest *one;
	int count = 0;

	for (size_t i = 0; i < LOOKS_MAX; i++) {
		const struct slot *s = &r->slots[i];

		count += s->used && strcmp(s->root, root) == 0 && (!stuck || is_stuck(r, s));
	}
	LIST_FOREACH (one, &r->rests, next)
		count += strcmp(one->root, root) == 0 && (!stuck || r->now_ms >= one->stuck_ms);
	return count;
}

/* Adds why another look into this workspace is not begun. */
static int say_stuck(struct worker *w, const char *root, struct str *why, struct err *e)
{
	struct filer_owner owner = { 0 };
	int failed = filer_find_owner(&w->store, w->machine, root, &owner, e);

	str_addf(why, "the disk of %s does not answer%s", root,
	         filer_has_hand(&owner)
	             ? ", or its owner has stopped the processes that read it (filer)"
	             : "");
	filer_owner_clear(&owner);
	return failed;
}

/* stuck_ms: 0, it was killed, and is not waited for. */
static void stop_listening(struct slot *s, int64_t stuck_ms)
{
	io_shut(&s->fd);
	s->stuck_ms = stuck_ms;
	str_clear(&s->answer);
	file_look_claim_row_clear(&s->look);
}

static bool has_hung_up(int tie)
{
	struct pollfd end = { .fd = tie }; /* what is written to it counts for nothing */

	return poll(&end, 1, 0) > 0;
}

/* The process of a slot has ended; its hand may not have. */
static void part(struct reader *r, struct slot *s)
{
	struct rest *one;

	if (s->tie < 0 || has_hung_up(s->tie)) {
		io_shut(&s->tie);
		free(s->root);
		return;
	}
	one = xcalloc(1, sizeof(*one));
	*one = (struct rest){ .root = s->root, .tie = s->tie, .stuck_ms = s->stuck_ms };
	LIST_INSERT_HEAD(&r->rests, one, next);
}

/* Once the process has ended. */
static bool free_if_ended(struct reader *r, struct slot *s)
{
	if (!s->used || s->fd >= 0 || waitpid(s->pid, NULL, WNOHANG) == 0)
		return false;
	io_shut(&s->pidfd);
	part(r, s);
	*s = (struct slot){ .fd = -1, .tie = -1 };
	return true;
}

static void rest_free(struct rest *one)
{
	LIST_REMOVE(one, next);
	(void)close(one->tie);
	free(one->root);
	free(one);
}

/* Forgets what has ended. How many. */
static int look_at_rests(struct reader *r)
{
	struct rest *one, *after;
	int done = 0;

	for (one = LIST_FIRST(&r->rests); one; one = after) {
		after = LIST_NEXT(one, next);
		if (!has_hung_up(one->tie))
			continue;
		rest_free(one);
		done++;
	}
	return done;
}

/* events: 0, only for its hanging up. */
static void listen_to(struct worker *w, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	if (fd >= 0)
		(void)epoll_ctl(w->extra_fd, EPOLL_CTL_ADD, fd, &event);
}

/* ---- ending ---- */

static int settle(struct worker *w, const struct file_look_claim_row *l,
                  const struct look_found *found, struct err *e)
{
	const struct file_look_found f = { .text = str_text(&found->text),
		                           .length = found->text.length,
		                           .detail = found->detail,
		                           .is_long = found->is_long,
		                           .why = found->why };
	int did = file_look_settle(&w->store, l, &f, e);

	if (did > 0 && found->why)
		log_info("look %lld refused: %s", (long long)l->seq, found->why);
	else if (did == 0)
		log_warn("look %lld was claimed by another reader", (long long)l->seq);
	return did < 0 ? -1 : 0;
}

static int refuse(struct worker *w, const struct file_look_claim_row *l, const char *why,
                  struct err *e)
{
	OWNED(look_found) struct look_found found = { .why = xstrdup(why) };

	return settle(w, l, &found, e);
}

static int end_in_time(struct worker *w, struct slot *s, struct err *e)
{
	OWNED(look_found) struct look_found found = { 0 };
	int wrong = look_read(&s->answer, &found);
	int failed = wrong ? refuse(w, &s->look, "the look ended without an answer", e)
	                   : settle(w, &s->look, &found, e);

	if (!wrong && !found.has_hand) /* as-owner may hold the other end, if it hangs */
		io_shut(&s->tie);
	/* A row that the rules refuse is not settled by trying again. */
	if (!failed || e->kind == ERR_REFUSED)
		stop_listening(s, clock_monotonic_ms() + LINGER_MS);
	return failed;
}

static int end_late(struct worker *w, struct slot *s, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	(void)kill(s->pid, SIGKILL);
	str_addf(&why,
	         "not done within %d s: the disk of %s does not answer, or there is too much in "
	         "it; name a folder further down",
	         LOOK_DEADLINE_MS / 1000, s->look.workspace_root);
	if (refuse(w, &s->look, why.bytes, e))
		return -1;
	stop_listening(s, 0);
	return 0;
}

/* Reads what is there. 1 that was all, 0 more will come. */
static int take(struct slot *s)
{
	char bytes[65536];

	for (;;) {
		ssize_t n = read(s->fd, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno != EAGAIN;
		if (n == 0 || s->answer.length > LOOK_FOUND_BYTES + sizeof(bytes))
			return 1;
		str_add_bytes(&s->answer, bytes, (size_t)n);
	}
}

/* Ends what has ended, or is late. How many; -1. */
static int look_after(struct worker *w, struct reader *r, struct err *e)
{
	int done = look_at_rests(r);

	for (size_t i = 0; i < LOOKS_MAX; i++) {
		struct slot *s = &r->slots[i];
		bool ended = s->used && s->fd >= 0 && take(s);
		bool late = s->used && s->fd >= 0 && !ended && r->now_ms >= s->end_ms;

		if (ended || late) {
			if ((ended ? end_in_time : end_late)(w, s, e))
				return -1;
			done++;
		}
		done += free_if_ended(r, s);
	}
	return done;
}

/* ---- beginning ---- */

static int begin(struct worker *w, struct reader *r, struct slot *s, struct file_look_claim_row *l,
                 struct err *e)
{
	OWNED(file_look_sides_row) struct file_look_sides_row sides = { 0 };
	OWNED(filer_owner) struct filer_owner owner = { 0 };
	const struct look_order order = {
		.row = l,
		.sides = &sides,
		.objects = str_text(&r->objects),
		.owner = &owner,
		.ours = &r->ours,
	};

	*s = (struct slot){ .pidfd = -1, .fd = -1, .tie = -1 };
	own_places_look(&r->ours);
	if ((l->what == FILE_LOOK_WHAT_DIFF &&
	     sql_file_look_sides(&w->store, l->seq, &sides, e) < 0) ||
	    filer_find_owner(&w->store, w->machine, l->workspace_root, &owner, e))
		return -1;
	s->pid = look_start(&order, &s->fd, &s->tie);
	if (s->pid < 0) {
		s->fd = s->tie = -1;
		return refuse(w, l, "the machine is short of processes or descriptors; try again",
		              e);
	}
	s->used = true;
	s->root = xstrdup(l->workspace_root);
	s->look = *l;
	*l = (struct file_look_claim_row){ 0 };
	s->end_ms = clock_monotonic_ms() + LOOK_DEADLINE_MS;
	s->pidfd = pidfd_open(s->pid, 0);
	listen_to(w, s->fd, EPOLLIN);
	listen_to(w, s->pidfd, EPOLLIN);
	listen_to(w, s->tie, 0);
	return 0;
}

/* 1 it was claimed, and is begun or refused; 0 somebody was faster; -1. */
static int do_one(struct worker *w, struct reader *r, const struct file_look_next_row *next,
                  struct slot *s, struct err *e)
{
	OWNED(file_look_claim_row) struct file_look_claim_row l = { 0 };
	OWNED(str) struct str why = { 0 };
	int got = file_look_claim(&w->store, next, w->id.text, &l, e);

	if (got <= 0)
		return got;
	if (l.attempts > FILE_LOOK_ATTEMPTS)
		str_addf(&why, "crashed worker: reader died %d times over this look",
		         FILE_LOOK_ATTEMPTS);
	else if (count_in(r, l.workspace_root, true) >= LOOKS_OF_WORKSPACE &&
	         say_stuck(w, l.workspace_root, &why, e))
		return -1;
	if (why.length)
		return refuse(w, &l, why.bytes, e) ? -1 : 1;
	return begin(w, r, s, &l, e) ? -1 : 1;
}

/* Begins what there is room for, oldest first; a workspace that has its share waits. */
static int begin_some(struct worker *w, struct reader *r, struct err *e)
{
	int64_t after = 0;
	int did = 0;

	for (;;) {
		OWNED(file_look_next_row) struct file_look_next_row next = { 0 };
		struct slot *s = free_slot(r);
		int got =
		    s ? sql_file_look_next(&w->store, w->machine, after, w->id.text, &next, e) : 0;
		bool waits;

		if (got <= 0)
			return got < 0 ? -1 : did;
		after = next.seq;
		waits = count_in(r, next.workspace_root, false) >= LOOKS_OF_WORKSPACE &&
		        count_in(r, next.workspace_root, true) < LOOKS_OF_WORKSPACE;
		if (waits)
			continue;
		got = do_one(w, r, &next, s, e);
		if (got < 0)
			return -1;
		did += got;
	}
}

static void set_due_by(struct worker *w, const struct reader *r, int64_t monotonic_ms)
{
	int64_t due_ms = clock_now_ms() + monotonic_ms - clock_monotonic_ms();

	if (monotonic_ms > r->now_ms && due_ms < w->due_ms)
		w->due_ms = due_ms;
}

/* When the next deadline is due, or what has not ended counts as stuck. */
static void set_due(struct worker *w, const struct reader *r)
{
	const struct rest *one;

	for (size_t i = 0; i < LOOKS_MAX; i++)
		if (r->slots[i].used)
			set_due_by(w, r,
			           r->slots[i].fd >= 0 ? r->slots[i].end_ms : r->slots[i].stuck_ms);
	LIST_FOREACH (one, &r->rests, next)
		set_due_by(w, r, one->stuck_ms);
}

/* A look is in hand, or may wait for one that has just ended. */
static bool is_busy(const struct reader *r)
{
	const struct rest *one;

	for (size_t i = 0; i < LOOKS_MAX; i++)
		if (r->slots[i].used && !is_stuck(r, &r->slots[i]))
			return true;
	LIST_FOREACH (one, &r->rests, next)
		if (r->now_ms < one->stuck_ms)
			return true;
	return false;
}

static int step(struct worker *w, struct err *e)
{
	struct reader *r = &reader;
	int did, begun;

	r->now_ms = clock_monotonic_ms();
	did = look_after(w, r, e);
	if (did < 0)
		return -1;
	begun = begin_some(w, r, e);
	if (begun < 0)
		return -1;
	set_due(w, r);
	w->in_hand = is_busy(r);
	return did + begun;
}

/* ---- its life ---- */

static void end_all(struct reader *r)
{
	for (size_t i = 0; i < LOOKS_MAX; i++) {
		if (r->slots[i].used)
			(void)kill(r->slots[i].pid, SIGKILL);
		stop_listening(&r->slots[i], 0);
		free(r->slots[i].root);
	}
	while (!LIST_EMPTY(&r->rests))
		rest_free(LIST_FIRST(&r->rests));
}

int main(int argc, char **argv)
{
	struct reader *r = &reader;
	struct worker w;
	struct err e = { 0 };
	int failed = worker_open(&w, "reader", "Lists folders and shows files of workspaces.", argc,
	                         argv, &e);

	for (size_t i = 0; i < LOOKS_MAX; i++)
		r->slots[i].fd = r->slots[i].tie = -1;
	if (!failed)
		w.extra_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!failed && w.extra_fd < 0)
		failed = err_errno(&e, ERR_AGAIN, "cannot wait for looks");
	if (!failed) {
		workspace_ours(&r->ours, w.run_dir, w.database);
		objects_path(w.database, &r->objects);
	}
	failed = worker_serve(&w, failed, step, &e);
	end_all(r);
	str_clear(&r->objects);
	own_places_clear(&r->ours);
	return failed;
}
