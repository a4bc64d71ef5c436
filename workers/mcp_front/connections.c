#include "connections.h"

#include "await_slack.h"
#include "channels.h"
#include "front.h"
#include "sql/session.h"

enum { CHANNEL_MS = 8000 }; /* how long a new connection waits for Slack to confirm its channel */

void connections_prepare_initialize(struct front *f, struct job *job)
{
	const struct peer *p = job->sink->peer;
	struct err e = { 0 };

	int got = peer_check_channel(&f->settings.workspaces, p->identity.channel_id, &e)
	              ? -1
	              : channels_check(f, p->identity.channel_id, &e);

	if (got < 0)
		job_refuse(job, job_fault_code(&e), e.text);
	job->unsure = got > 0;
}

int connections_run_initialize(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;

	if (job->unsure)
		return 0;
	if (!p->seq && peer_insert(&f->worker.store, &f->settings.workspaces, p, e))
		return -1;
	mcp_initialize_result(&job->result, p->version);
	return 0;
}

/* Slack has confirmed or refused the channel, or has not answered in time: initialize runs again,
 * or is refused. */
static bool answer(struct front *f, struct job *job, bool late)
{
	const char *channel = job->sink->peer->identity.channel_id;
	struct err e = { 0 };
	int got = channels_check(f, channel, &e);

	if (got > 0 && !late)
		return false;
	if (job->held_as)
		hold_release(f, job->held_as);
	if (got == 0)
		(void)job_queue(f, JOB_INITIALIZE, job->sink, &job->message);
	else
		sink_refuse(job->sink, job->message.id, job_fault_code(&e), e.text);
	return true;
}

bool connections_reply_initialize(struct front *f, struct job *job)
{
	static const struct awaited SLACK = { .answer = answer, .ms = CHANNEL_MS };

	if (job->unsure) {
		await_slack(f, job, &SLACK, !hold_has_room(job->sink, 1, NULL));
		return false;
	}
	job_reply(job);
	return true;
}

int connections_run_reopen(struct front *f, struct job *job, struct err *e)
{
	const struct peer *p = job->sink->peer;

	if (sql_connection_reopen(&f->worker.store, p->seq, e) ||
	    call_heard(&f->worker.store, p->seq, e))
		return -1;
	return sql_session_client_is_back(&f->worker.store, p->session_seq, e);
}

int connections_run_end(struct front *f, struct job *job, struct err *e)
{
	const struct peer *p = job->sink->peer;

	if (!p->seq)
		return 0;
	if (sql_connection_close(&f->worker.store, p->seq, e))
		return -1;
	return p->session_seq ? sql_session_offline(&f->worker.store, p->session_seq, e) : 0;
}

/* Over HTTP each of its streams is a sink of its own. Ending one forgets all waiters of its sink.
 */
static void end_streams(struct front *f, const struct sink *by)
{
	struct waiter *w = TAILQ_FIRST(&f->line), *next;

	for (; w; w = next) {
		struct sink *s = w->sink;

		for (next = w; next && next->sink == s;)
			next = TAILQ_NEXT(next, in_line);
		if (s != by && s->peer->seq == by->peer->seq && s->by->finish)
			s->by->finish(s, 202);
	}
}

bool connections_reply_end(struct front *f, struct job *job)
{
	if (job->sink->peer->seq)
		end_streams(f, job->sink);
	if (job->sink->by->finish)
		job->sink->by->finish(job->sink, 204);
	return true;
}
