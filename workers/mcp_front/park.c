#include "park.h"

#include "front.h"
#include "result.h"
#include "sql/session.h"

#include <string.h>

void park_call(struct front *f, struct job *job)
{
	const char *token = job->as.call.call.progress_token;

	if (!job->held_as && !job->sink->gone) {
		hold_job(f, job, token, NULL);
		job->as.call.parked_ms = clock_monotonic_ms();
	}
	STAILQ_INSERT_TAIL(&f->parked, job, next);
}

static bool is_paused(struct front *f, int64_t session_seq)
{
	OWNED(session_row) struct session_row row = { 0 };

	return sql_session_by_seq(&f->worker.store, session_seq, &row, NULL) > 0 &&
	       row.status == SESSION_STATUS_PAUSED;
}

static void tell_paused(struct front *f, struct job *job)
{
	hold_release(f, job->held_as);
	result_refuse(&job->as.call.call, "session_paused",
	              "the operator has paused this session; call again with the same arguments to "
	              "wait until it is resumed");
	str_add(&job->result, str_text(&job->as.call.call.result));
	job_reply_tool(job);
}

/* Returns whether the job is done with. */
static bool look_at_parked(struct front *f, struct job *job)
{
	const struct peer *p = job->sink->peer;

	if (hold_is_over(f, job))
		return true;
	if (!is_paused(f, p->session_seq)) {
		hold_release(f, job->held_as);
		job->held_as = 0;
		job->as.call.parked = false;
		job_forget_call(job); /* look again, with the files as they are now */
		job_requeue(f, job, false);
		return false;
	}
	if (!(f->worker.stopping && job->sink->http) &&
	    clock_monotonic_ms() - job->as.call.parked_ms < call_patience_ms(p, &f->settings)) {
		STAILQ_INSERT_TAIL(&f->parked, job, next);
		return false;
	}
	tell_paused(f, job);
	return true;
}

void park_look(struct front *f)
{
	struct job_queue parked;
	struct job *job;

	STAILQ_INIT(&parked);
	STAILQ_CONCAT(&parked, &f->parked);
	while ((job = STAILQ_FIRST(&parked)) != NULL) {
		STAILQ_REMOVE_HEAD(&parked, next);
		if (look_at_parked(f, job))
			job_free(job);
	}
}
