#include "broadcasts.h"

#include "await_slack.h"
#include "front.h"
#include "tools/broadcast.h"

/* Queues a note of what the caller was told, if it was still there. */
static void note_said(struct front *f, struct job *job)
{
	struct job *note = job_queue(f, JOB_SAID, job->sink, NULL);

	note->call_seq = job->call_seq;
	str_add(&note->result, str_text(&job->result));
}

static bool answer(struct front *f, struct job *job, bool late)
{
	OWNED(str) struct str result = { 0 };
	struct err e = { 0 };

	if (broadcast_said(&f->worker.store, job->call_seq, late, &result, &e) == 0)
		return false;
	if (job->held_as)
		hold_release(f, job->held_as);
	if (result.length) {
		str_reset(&job->result);
		str_add(&job->result, result.bytes);
	}
	job_reply_tool(job);
	note_said(f, job);
	return true;
}

void broadcasts_reply(struct front *f, struct job *job)
{
	static const struct awaited TS = { .answer = answer, .end = note_said, .ms = BROADCAST_MS };

	await_slack(f, job, &TS, !hold_has_room(job->sink, 1, NULL));
}

int broadcasts_run_said(struct front *f, struct job *job, struct err *e)
{
	return broadcast_finish(&f->worker.store, job->call_seq, str_text(&job->result), e);
}
