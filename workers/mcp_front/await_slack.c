#include "await_slack.h"

#include "front.h"

#include <stdio.h>

/* ---- the clock ---- */

static int64_t first_end(const struct front *f)
{
	const struct job *job;
	int64_t end = INT64_MAX;

	STAILQ_FOREACH (job, &f->awaiting_slack, next)
		if (job->end_ms < end)
			end = job->end_ms;
	return end;
}

static void set_clock(struct front *f)
{
	int64_t end = first_end(f);

	if (end != INT64_MAX)
		front_in(f->patience, end - clock_monotonic_ms());
}

/* ---- holding ---- */

static void end(struct front *f, struct job *job)
{
	if (job->awaited->end)
		job->awaited->end(f, job);
}

/* Replies if it is time. Returns whether the job is done with. */
static bool is_over(struct front *f, struct job *job)
{
	bool stops = f->worker.stopping && job->sink->http;

	if (!hold_is_over(f, job))
		return job->awaited->answer(f, job, stops || clock_monotonic_ms() >= job->end_ms);
	end(f, job);
	return true;
}

static void hold(struct front *f, struct job *job)
{
	char event_id[40];

	(void)snprintf(event_id, sizeof(event_id), "%lld.0", (long long)job->call_seq);
	hold_job(f, job, NULL, job->version == MCP_MODERN || !job->call_seq ? NULL : event_id);
	job->end_ms = clock_monotonic_ms() + job->awaited->ms;
	STAILQ_INSERT_TAIL(&f->awaiting_slack, job, next);
	set_clock(f);
}

void await_slack(struct front *f, struct job *job, const struct awaited *awaited, bool late)
{
	job->awaited = awaited;
	if (job->sink->gone)
		end(f, job);
	if (job->sink->gone || job->awaited->answer(f, job, late))
		job_free(job);
	else
		hold(f, job);
}

void await_slack_look(struct front *f)
{
	struct job_queue waiting;
	struct job *job;

	STAILQ_INIT(&waiting);
	STAILQ_CONCAT(&waiting, &f->awaiting_slack);
	while ((job = STAILQ_FIRST(&waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&waiting, next);
		if (is_over(f, job))
			job_free(job);
		else
			STAILQ_INSERT_TAIL(&f->awaiting_slack, job, next);
	}
	set_clock(f);
}

void await_slack_on_patience(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	await_slack_look(arg);
}
