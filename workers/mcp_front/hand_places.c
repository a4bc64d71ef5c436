#include "hand_places.h"

#include "clock.h"
#include "hand_process.h"

#include <string.h>
#include <time.h>

enum {
	REST_MS = 50, /* a job that has used no processor time for so long waits for a disk */
	SLOW_MAX = 512, /* slow or unkillable processes in total: one hanging disk may hold many
	                 * workspaces; */
	SLOW_OF_ONE = 2, /* per workspace */
	STUCK_MS = 5000, /* a killed process that has not ended after so long waits for a disk */
};

const char *hand_places_root(const struct hand_task *t)
{
	return t->ask.given ? t->ask.given : t->ask.root;
}

static bool is_slow(const struct hand *h)
{
	return h->is_killed ||
	       (h->task && !h->is_big && clock_monotonic_ms() - h->began_ms >= HAND_QUICK_MS);
}

/* Whether its process has used processor time since this was asked last. */
static bool has_worked(struct hand *h)
{
	struct timespec used = { .tv_sec = 0 };
	int64_t before_ns = h->worked_ns;
	clockid_t clock;

	if (h->pid <= 0 || clock_getcpuclockid(h->pid, &clock) || clock_gettime(clock, &used))
		return false;
	h->worked_ns = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
	return h->worked_ns != before_ns;
}

/* Places are for those who use a processor: a job that waits for a disk gives its place up. A big
 * one, which holds much memory, does so later. */
static bool rests(struct hand *h)
{
	if (is_slow(h))
		return true;
	if (clock_monotonic_ms() - h->moved_ms < (h->is_big ? HAND_QUICK_MS : REST_MS))
		return false;
	if (!has_worked(h))
		return true;
	h->moved_ms = clock_monotonic_ms();
	return false;
}

bool hand_places_have_room(const struct hands *hands, bool is_big)
{
	int used = 0, slow = 0, most = is_big ? hands->big_at_once : hands->at_once;
	struct hand *h;

	LIST_FOREACH (h, &hands->all, next) {
		slow += is_slow(h);
		used += h->task && h->is_big == is_big && !rests(h);
	}
	return used < most && slow < SLOW_MAX;
}

/* The jobs of a workspace, by what they do. */
struct jobs_of_one {
	int all, slow, stuck; /* stuck: killed, and did not end */
};

static struct jobs_of_one count_jobs(const struct hands *hands, const char *root)
{
	struct jobs_of_one n = { 0 };
	struct hand *h;

	LIST_FOREACH (h, &hands->all, next) {
		if (strcmp(h->root, root) != 0)
			continue;
		n.all += h->task || h->is_killed;
		n.slow += is_slow(h) || (h->is_big && rests(h));
		n.stuck += h->is_killed && clock_monotonic_ms() - h->killed_ms >= STUCK_MS;
	}
	return n;
}

/* Whether a workspace has as many jobs as allowed: fewer if they hang. */
static bool is_full(const struct hands *hands, const char *root)
{
	struct jobs_of_one n = count_jobs(hands, root);

	return n.all >= hands->at_once + SLOW_OF_ONE || n.slow >= SLOW_OF_ONE;
}

/* Whether an asker has a job running that is not slow. Its next job then waits, so that its jobs
 * are done in the order in which they were asked. */
static bool is_served(const struct hands *hands, const char *asker)
{
	const struct hand *h;

	LIST_FOREACH (h, &hands->all, next)
		if (h->task && !is_slow(h) && strcmp(h->task->asker, asker) == 0)
			return true;
	return false;
}

/* Thousands may wait for a workspace that
 * is full: its jobs are counted once. */
struct hand_task *hand_places_next(struct hands *hands, bool is_big)
{
	const char *full = NULL;
	struct hand_turn *one;
	struct hand_task *t;

	TAILQ_FOREACH (one, &hands->queue.turns[is_big], next) {
		if (is_served(hands, one->asker))
			continue;
		TAILQ_FOREACH (t, &one->tasks, next) {
			if (full && strcmp(hand_places_root(t), full) == 0)
				continue;
			if (!is_full(hands, hand_places_root(t))) {
				hand_queue_take(&hands->queue, one, t);
				return t;
			}
			full = hand_places_root(t);
		}
	}
	return NULL;
}

bool hand_places_have_one(const struct hands *hands, const struct hand_task *t)
{
	return hand_places_have_room(hands, t->ask.is_big) && !is_served(hands, t->asker) &&
	       !is_full(hands, hand_places_root(t));
}

bool hand_places_are_hopeless(const struct hands *hands, const struct hand_task *t)
{
	struct jobs_of_one n = count_jobs(hands, hand_places_root(t));

	return n.stuck >= SLOW_OF_ONE ||
	       (n.slow >= SLOW_OF_ONE && clock_monotonic_ms() - t->asked_ms >= HAND_DEADLINE_MS);
}
