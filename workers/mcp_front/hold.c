#include "hold.h"

#include "front.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int by_seq(const void *a, const void *b)
{
	const struct held_call *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

struct held_call *hold_find(struct front *f, int64_t call_seq)
{
	struct held_call key = { .seq = call_seq };
	struct held_call **node = tfind(&key, &f->held, by_seq);

	return node ? *node : NULL;
}

/* ---- keep-alives ---- */

static void set_clock(struct front *f)
{
	const struct waiter *first = TAILQ_FIRST(&f->line);

	if (first && !evtimer_pending(f->clock, NULL))
		front_in(f->clock, first->next_ms - clock_monotonic_ms());
}

/* Whole seconds since the call started, always more than the last value: also after a resume, and
 * when the clock is set back (MCP, "Progress": the value must increase). */
static int64_t next_progress(struct held_call *held, int64_t waited_ms)
{
	held->progress = waited_ms / 1000 > held->progress ? waited_ms / 1000 : held->progress + 1;
	return held->progress;
}

/* A subscription needs none: its subscriptions/listen has them. */
static void sign_of_life(const struct waiter *w)
{
	OWNED(str) struct str message = { 0 };
	int64_t waited_ms = clock_now_ms() - w->held->started_ms;
	char event_id[60], text[80];

	if (w->subscription)
		return;
	(void)snprintf(event_id, sizeof(event_id), "%lld.%lld", (long long)w->held->seq,
	               (long long)waited_ms);
	(void)snprintf(text, sizeof(text), "waiting for the operator, %lld s",
	               (long long)(waited_ms / 1000));
	if (w->progress_token)
		mcp_progress(&message, w->progress_token, next_progress(w->held, waited_ms), text);
	w->sink->by->notify(w->sink, &message, w->modern ? NULL : event_id);
}

void hold_on_clock(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	int64_t now = clock_monotonic_ms();
	struct waiter *w;

	(void)fd;
	(void)what;
	while ((w = TAILQ_FIRST(&f->line)) != NULL && w->next_ms <= now) {
		TAILQ_REMOVE(&f->line, w, in_line);
		w->next_ms = now + f->progress_ms;
		TAILQ_INSERT_TAIL(&f->line, w, in_line);
		sign_of_life(w); /* may cut off a slow reader, and free w with it */
	}
	set_clock(f);
}

/* ---- holding ---- */

static struct waiter *add_waiter(struct front *f, struct sink *sink, int64_t call_seq,
                                 int64_t started_ms, const char *rpc_id)
{
	struct held_call *held = hold_find(f, call_seq);
	struct waiter *w = xcalloc(1, sizeof(*w));

	if (!held) {
		held = xcalloc(1, sizeof(*held));
		held->seq = call_seq;
		held->started_ms = started_ms;
		(void)tsearch(held, &f->held, by_seq);
	}
	w->held = held;
	w->sink = sink;
	sink_hold(sink);
	w->rpc_id = xstrdup(rpc_id);
	sink->held++;
	w->next_ms = clock_monotonic_ms() + f->progress_ms;
	LIST_INSERT_HEAD(&sink->waiters, w, of_sink);
	LIST_INSERT_HEAD(&held->waiters, w, of_call);
	TAILQ_INSERT_TAIL(&f->line, w, in_line);
	set_clock(f);
	return w;
}

void hold_caller(struct front *f, struct sink *sink, int64_t call_seq, int64_t started_ms,
                 const char *rpc_id, const char *progress_token, bool modern)
{
	struct waiter *w = add_waiter(f, sink, call_seq, started_ms, rpc_id);

	w->progress_token = progress_token ? xstrdup(progress_token) : NULL;
	w->modern = modern;
	f->listens += call_seq < 0 && modern;
}

void hold_subscriber(struct front *f, struct sink *sink, int64_t call_seq, const char *listen_id)
{
	struct waiter *w = add_waiter(f, sink, call_seq, clock_now_ms(), listen_id);

	w->modern = true;
	w->subscription = true;
}

void hold_job(struct front *f, struct job *job, const char *progress_token, const char *event_id)
{
	sink_wait(job->sink, event_id);
	job->held_as = --f->listen_seq;
	if (!job->sink->gone)
		hold_caller(f, job->sink, job->held_as, clock_now_ms(), job->message.id,
		            progress_token, job->version == MCP_MODERN);
}

/* ---- releasing ---- */

/* Returns whether it was the last one of its call. */
static bool take(struct front *f, struct waiter *w)
{
	struct held_call *held = w->held;
	bool last;

	w->sink->held--;
	f->listens -= held->seq < 0 && w->modern;
	LIST_REMOVE(w, of_sink);
	LIST_REMOVE(w, of_call);
	TAILQ_REMOVE(&f->line, w, in_line);
	w->held = NULL;
	last = LIST_EMPTY(&held->waiters);
	if (last) {
		(void)tdelete(held, &f->held, by_seq);
		free(held);
	}
	return last;
}

struct waiter *hold_take(struct front *f, int64_t call_seq)
{
	struct held_call *held = hold_find(f, call_seq);
	struct waiter *w = held ? LIST_FIRST(&held->waiters) : NULL;

	if (w)
		(void)take(f, w);
	return w;
}

void hold_free(struct waiter *w)
{
	sink_drop(w->sink);
	free(w->rpc_id);
	free(w->progress_token);
	free(w);
}

bool hold_forget(struct front *f, struct waiter *w)
{
	bool last = take(f, w);

	hold_free(w);
	return last;
}

void hold_release(struct front *f, int64_t call_seq)
{
	struct waiter *w;

	while ((w = hold_take(f, call_seq)) != NULL)
		hold_free(w);
}

bool hold_has_room(const struct sink *s, int more, struct err *e)
{
	if (s->held + more <= FRONT_MAX_HELD)
		return true;
	(void)err_set(
	    e, ERR_AGAIN,
	    "%d calls of this connection wait for an answer, which is the limit; open another "
	    "connection, or wait",
	    (int)FRONT_MAX_HELD); /* more may come in than have room */
	return false;
}

bool hold_is_over(struct front *f, struct job *job)
{
	if (job->sink->gone)
		return true;
	if (hold_find(f, job->held_as))
		return false;
	sink_owes_less(job->sink);
	return true;
}

void hold_gone(struct sink *s)
{
	struct front *f = s->front;
	struct waiter *w, *next;

	if (s->gone)
		return;
	s->gone = true;
	s->http = NULL;
	s->pipe = NULL;
	for (w = LIST_FIRST(&s->waiters); w; w = next) {
		enum job_kind kind = w->modern ? JOB_DROP : JOB_HANG_UP;
		int64_t call_seq = w->subscription ? 0 : w->held->seq;

		next = LIST_NEXT(w, of_sink);
		if (hold_forget(f, w) && call_seq > 0)
			job_queue_note(f, kind, s, call_seq);
	}
	if (s->peer->transport == CONNECTION_TRANSPORT_STDIO || s->ends_session)
		job_queue_note(f, JOB_END, s, 0);
	sink_drop(s);
}
