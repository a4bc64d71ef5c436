#include "connections.h"

#include "channels.h"
#include "front.h"
#include "sql/session.h"

void connections_prepare_initialize(struct front *f, struct job *job)
{
	const struct peer *p = job->sink->peer;
	struct err e = ERR_INIT;

	if (workspaces_check_channel(&f->settings.workspaces, p->identity.channel_id, &e) ||
	    channels_check(f, p->identity.channel_id, &e) < 0)
		job_refuse(job, job_fault_code(&e), e.text);
}

int connections_run_initialize(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;

	if (!p->seq && peer_insert(&f->worker.store, &f->settings.workspaces, p, e))
		return -1;
	mcp_initialize_result(&job->result, p->version);
	return 0;
}

bool connections_reply_initialize(struct front *f, struct job *job)
{
	(void)f;
	job_reply(job);
	return true;
}

int connections_run_reopen(struct front *f, struct job *job, struct err *e)
{
	const struct peer *p = job->sink->peer;

	if (sql_connection_reopen(&f->worker.store, p->seq, e))
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

bool connections_reply_end(struct front *f, struct job *job)
{
	(void)f;
	job->sink->by->finish(job->sink, 204);
	return true;
}
