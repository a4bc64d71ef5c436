#include "big.h"

#include "clock.h"
#include "front.h"
#include "shelf.h"

#include <string.h>

enum {
	REST_FACTOR = 2,
	REST_MAX_MS = 100, /* a disk that was slow once must not delay the next step for long */
};

static bool has_long_text(const struct job *job)
{
	const char *diff = cJSON_GetStringValue(shelf_diff(job));

	return shelf_has(job) || (diff && strnlen(diff, FRONT_BIG_CALL + 1) > FRONT_BIG_CALL);
}

bool big_is(const struct job *job)
{
	return job->kind == JOB_CALL && !job->refused && job->as.call.looked && has_long_text(job);
}

void big_add(struct front *f, struct job *job, bool first)
{
	if (first)
		STAILQ_INSERT_HEAD(&f->bigs, job, next);
	else
		STAILQ_INSERT_TAIL(&f->bigs, job, next);
	big_soon(f);
}

void big_soon(struct front *f)
{
	int64_t rest_ms = f->big_rest_ms - clock_monotonic_ms();
	struct timeval rest = { .tv_usec = rest_ms > 0 ? rest_ms * 1000 : 0 };

	if (!f->big || evtimer_pending(f->big, NULL))
		return;
	if (rest_ms > 0) /* its idea of now is that from before the step */
		(void)event_base_update_cache_time(f->base);
	(void)evtimer_add(f->big, &rest);
}

/* What was read in this pass has its turn first. */
static bool lets_others_go(struct front *f)
{
	f->big_waited = !f->big_waited && evtimer_pending(f->turn, NULL);
	return f->big_waited;
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	int64_t start_ms = clock_monotonic_ms(), rest_ms;

	(void)fd;
	(void)what;
	if (!lets_others_go(f)) {
		if (!f->big_step(f))
			return;
		rest_ms = (clock_monotonic_ms() - start_ms) * REST_FACTOR;
		f->big_rest_ms =
		    clock_monotonic_ms() + (rest_ms < REST_MAX_MS ? rest_ms : REST_MAX_MS);
	}
	big_soon(f);
}

void big_start(struct front *f, bool (*step)(struct front *f))
{
	STAILQ_INIT(&f->bigs);
	f->big_step = step;
	f->big = evtimer_new(f->base, on_step, f);
}

void big_stop(struct front *f)
{
	front_drop(&f->big);
}
