/* Callers who wait for slack-poster, for seconds: for a channel that is read, and to be told where
 * in Slack a broadcast stands. Each is held with its job. */
#include "front.h"

#include "tools/broadcast.h"

#include <stdio.h>

/* ---- the clock ---- */

static int64_t first_end(const struct front *f)
{
	const struct job *job;
	int64_t end = INT64_MAX;

	STAILQ_FOREACH (job, &f->soon, next)
		if (job->end_ms < end)
			end = job->end_ms;
	return end;
}

static void set_clock(struct front *f)
{
	int64_t end = first_end(f), ms = end - clock_monotonic_ms();
	struct timeval t;

	if (end == INT64_MAX)
		return;
	if (ms < 1)
		ms = 1;
	t = (struct timeval){ .tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000 };
	(void)evtimer_add(f->patience, &t);
}

/* ---- broadcasts ---- */

/* Has it written down what the caller was told, if it still was there. */
static void note_said(struct front *f, struct job *job)
{
	struct job *note = front_queue(f, JOB_SAID, job->sink, NULL);

	note->call_seq = job->call_seq;
	str_add(&note->result, str_text(&job->result));
}

/* Replies if it is known what became of it, or time is up: true. */
static bool said(struct front *f, struct job *job, bool late)
{
	OWNED(str) struct str result = STR_INIT;
	struct err e = ERR_INIT;

	if (broadcast_said(&f->worker.store, job->call_seq, late, &result, &e) == 0)
		return false;
	if (job->park_seq)
		front_release(f, job->park_seq);
	if (result.length) {
		str_reset(&job->result);
		str_add(&job->result, result.bytes);
	}
	front_finish_call(job);
	note_said(f, job);
	return true;
}

/* ---- holding ---- */

static bool is_answered(struct front *f, struct job *job, bool late)
{
	return job->kind == JOB_READ ? resource_is_answered(f, job, late) : said(f, job, late);
}

/* True: the job is over. */
static bool is_over(struct front *f, struct job *job)
{
	if (!front_job_is_over(f, job))
		return is_answered(f, job, clock_monotonic_ms() >= job->end_ms);
	if (job->kind == JOB_CALL)
		note_said(f, job);
	return true;
}

static void hold(struct front *f, struct job *job, int64_t ms)
{
	bool modern = job->version == MCP_MODERN;
	char event_id[40];

	(void)snprintf(event_id, sizeof(event_id), "%lld.0", (long long)job->call_seq);
	job->sink->by->wait(job->sink, modern || !job->call_seq ? NULL : event_id);
	job->park_seq = --f->listen_seq;
	job->end_ms = clock_monotonic_ms() + ms;
	if (!job->sink->gone)
		front_hold(f, job->sink, job->park_seq, clock_now_ms(), job->message.id, NULL,
		           modern);
	STAILQ_INSERT_TAIL(&f->soon, job, next);
	set_clock(f);
}

void front_wait_for_poster(struct front *f, struct job *job, int64_t ms)
{
	bool full = job->kind == JOB_CALL && !front_has_room(job->sink, 1, NULL);

	if (job->sink->gone && job->kind == JOB_CALL)
		note_said(f, job);
	if (job->sink->gone || is_answered(f, job, full))
		front_job_free(job);
	else
		hold(f, job, ms);
}

void front_look_at_soon(struct front *f)
{
	struct job_queue waiting;
	struct job *job;

	STAILQ_INIT(&waiting);
	STAILQ_CONCAT(&waiting, &f->soon);
	while ((job = STAILQ_FIRST(&waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&waiting, next);
		if (is_over(f, job))
			front_job_free(job);
		else
			STAILQ_INSERT_TAIL(&f->soon, job, next);
	}
	set_clock(f);
}

void front_on_patience(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	front_look_at_soon(arg);
}
