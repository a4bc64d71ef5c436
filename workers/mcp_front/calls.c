#include "calls.h"

#include "broadcasts.h"
#include "channels.h"
#include "elicit.h"
#include "elicitation.h"
#include "front.h"
#include "park.h"
#include "policies.h"
#include "sql/tool_call.h"
#include "tasks.h"
#include "tell.h"

#include <stdio.h>
#include <string.h>

/* ---- before the transaction ---- */

void calls_prepare(struct front *f, struct job *job)
{
	struct peer *p = job->sink->peer;
	const cJSON *responses =
	    cJSON_GetObjectItemCaseSensitive(job->message.params, "inputResponses");
	struct err e = ERR_INIT;

	if (responses && !cJSON_IsObject(responses)) {
		job_refuse(job, RPC_INVALID_PARAMS, "params.inputResponses must be an object");
		return;
	}
	if (call_open(&job->as.call.call, job->message.params, job->message.id,
	              job->message.has_nul, &e)) {
		job_refuse(job, RPC_INVALID_PARAMS, e.text);
		return;
	}
	if (peer_settle(&f->worker.store, &f->settings.workspaces, p, &e)) {
		job_refuse(job, job_fault_code(&e), e.text);
		return;
	}
	if (!p->session_seq && channels_check(f, p->identity.channel_id, &e)) {
		job_refuse(job, job_fault_code(&e), e.text);
		return;
	}
	job->as.call.call.modern = job->version == MCP_MODERN;
	job->as.call.call.as_task = job->as.call.call.modern && p->identity.tasks &&
	                            mcp_client_extends(job->message.params, MCP_TASKS);
	job->as.call.call.elicits = job->as.call.call.modern && f->settings.elicitation &&
	                            elicit_is_offered(mcp_client_capabilities(job->message.params));
	job->as.call.call.responses = responses;
	call_prepare(&job->as.call.call, p,
	             call_asks_policy(&job->as.call.call) ? policies_of(f, p->workspace_root)
	                                                  : NULL,
	             &f->settings);
}

/* ---- inside the transaction ---- */

/* A relay that came back sends its open requests again: such a call is found, not made anew. */
static int find_again(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;
	OWNED(tool_call_by_rpc_row) struct tool_call_by_rpc_row row = { 0 };
	const struct call *c = &job->as.call.call;

	if (!p->resumed || !p->seq)
		return 0;
	if (sql_tool_call_by_rpc(&f->worker.store, p->seq, c->rpc_id, &row, e) < 0)
		return -1;
	if (!row.seq || strcmp(row.tool, c->tool->name) != 0 ||
	    strcmp(row.digest, c->digest.text) != 0 || row.state == TOOL_CALL_STATE_CANCELLED)
		return 0;
	job->call_seq = row.seq;
	job->as.call.waits = row.state == TOOL_CALL_STATE_WAITING;
	job->as.call.untold = row.state == TOOL_CALL_STATE_ANSWERED;
	return 1;
}

static int attach(struct front *f, struct job *job, struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };

	if (sql_tool_call_read(&f->worker.store, job->call_seq, &row, e) < 0)
		return -1;
	if (row.seq) /* its progress goes on from where it was */
		job->as.call.started_ms = clock_parse(row.created_at);
	return call_attach(&f->worker.store, job->call_seq, f->worker.id.text, e);
}

/* The result of a call whose wait is over; if nobody has been told it yet, its caller is now. */
static int tell(struct front *f, struct job *job, struct err *e)
{
	OWNED(telling) struct telling t = TELLING_INIT;

	if (call_result(&f->worker.store, job->call_seq, &t, e) ||
	    (job->as.call.untold && call_steer(&f->worker.store, &t, 0, e)))
		return -1;
	if (job->as.call.untold && call_finish(&f->worker.store, job->call_seq, &t, e))
		return -1;
	str_add(&job->result, str_text(&t.result));
	job->as.call.call.is_error = t.is_error;
	job->as.call.call.steering = t.steering;
	t.steering = (struct steering)STEERING_INIT;
	return 0;
}

static bool may_wait(struct job *job, struct err *e)
{
	if (!hold_has_room(job->sink, job->sink->asking + 1, e))
		return false;
	job->sink->asking++;
	return true;
}

int calls_run(struct front *f, struct job *job, struct err *e)
{
	struct store *st = &f->worker.store;
	struct peer *p = job->sink->peer;
	int64_t seq = p->seq, session = p->session_seq; /* as before this part */
	int again = find_again(f, job, e);

	if (again < 0)
		return -1;
	if (again && job->as.call.waits)
		return may_wait(job, e) ? attach(f, job, e) : -1;
	if (again)
		return tell(f, job, e);
	job->as.call.parked = p->paused;
	if (job->as.call.parked)
		return 0;
	if (peer_join(st, &f->settings.workspaces, p, e) ||
	    call_run(st, &job->as.call.call, p, &f->settings, e) ||
	    (job->as.call.call.waiting && !job->as.call.call.is_task && !may_wait(job, e))) {
		peer_unjoin(p, seq, session);
		return -1;
	}
	job->as.call.waits = job->as.call.call.waiting;
	job->call_seq = job->as.call.call.seq;
	if (job->as.call.call.is_task)
		return tasks_make(f, job, e);
	if (job->as.call.call.elicitation.length) {
		mcp_input_required(&job->result, job->as.call.call.elicitation.bytes);
		job->as.call.whole = true;
	} else if (!job->as.call.waits) {
		str_add_bytes(&job->result, job->as.call.call.result.bytes,
		              job->as.call.call.result.length);
	}
	return 0;
}

int calls_run_cancel(struct front *f, struct job *job, struct err *e)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(job->message.params, "requestId");
	struct peer *p = job->sink->peer;
	OWNED(str) struct str token = STR_INIT;
	OWNED(tool_call_by_rpc_row) struct tool_call_by_rpc_row row = { 0 };
	struct store *st = &f->worker.store;

	if (!id || !p->seq || p->transport == CONNECTION_TRANSPORT_STATELESS)
		return 0;
	rpc_id_canonical(&token, id);
	if (sql_tool_call_by_rpc(st, p->seq, token.bytes, &row, e) < 0)
		return -1;
	job->call_seq = row.seq;
	if (!row.seq)
		return 0;
	if (row.state == TOOL_CALL_STATE_DONE)
		return call_doubt(st, p->seq, row.seq, e);
	return call_given_up(st, row.seq, e) || sql_tool_call_cancel(st, row.seq, e) ? -1 : 0;
}

int calls_run_resume(struct front *f, struct job *job, struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };
	struct peer *p = job->sink->peer;
	int got = sql_tool_call_read(&f->worker.store, job->call_seq, &row, e);

	if (got < 0)
		return -1;
	if (!got || row.connection_seq != p->seq || row.state == TOOL_CALL_STATE_CANCELLED) {
		job_refuse(job, RPC_INVALID_REQUEST, "there is no stream with this Last-Event-ID");
		return 0;
	}
	job->version = peer_version(p);
	job->as.call.waits = row.state == TOOL_CALL_STATE_WAITING;
	job->as.call.untold = row.state == TOOL_CALL_STATE_ANSWERED;
	job->message.id = xstrdup(row.rpc_id);
	job->as.call.call.progress_token = row.progress_token ? xstrdup(row.progress_token) : NULL;
	return job->as.call.waits ? attach(f, job, e) : tell(f, job, e);
}

int calls_run_hang_up(struct front *f, struct job *job, struct err *e)
{
	if (hold_find(f, job->call_seq))
		return 0;
	if (!f->worker.stopping && job->sink->peer->transport != CONNECTION_TRANSPORT_STDIO &&
	    call_given_up(&f->worker.store, job->call_seq, e))
		return -1;
	return job->kind == JOB_DROP ? sql_tool_call_cancel(&f->worker.store, job->call_seq, e)
	                             : sql_tool_call_unlisten(&f->worker.store, job->call_seq, e);
}

int calls_run_untold(struct front *f, struct job *job, struct err *e)
{
	return call_untell(&f->worker.store, job->call_seq, e);
}

/* ---- replies ---- */

static void reply_held(struct front *f, struct job *job)
{
	struct job_call *call = &job->as.call;
	bool modern = job->version == MCP_MODERN;
	char event_id[40];

	(void)snprintf(event_id, sizeof(event_id), "%lld.0", (long long)job->call_seq);
	if (!job->sink->gone)
		job->sink->by->wait(job->sink, modern ? NULL : event_id);
	if (job->sink->gone) {
		job_queue_note(f, modern ? JOB_DROP : JOB_HANG_UP, job->sink, job->call_seq);
		return;
	}
	hold_caller(f, job->sink, job->call_seq,
	            call->started_ms > 0 ? call->started_ms : clock_now_ms(), job->message.id,
	            call->call.progress_token, modern);
	if (!modern && call->call.waiting) /* not one that came again: it has been shown before */
		elicitation_begin(f, job->sink, job->call_seq, job->version);
}

bool calls_reply(struct front *f, struct job *job)
{
	if (job->as.call.parked) {
		park_call(f, job);
		return false;
	}
	if (job->as.call.call.is_said) {
		broadcasts_reply(f, job);
		return false;
	}
	if (job->as.call.whole)
		job_reply(job);
	else if (job->as.call.waits)
		reply_held(f, job);
	else
		job_reply_tool(job);
	return true;
}

bool calls_reply_resumed(struct front *f, struct job *job)
{
	if (job->as.call.waits) {
		reply_held(f, job);
		return true;
	}
	if (!job->sink->gone)
		job->sink->by->wait(job->sink, NULL);
	job_reply_tool(job);
	return true;
}

static void stop_listening(struct front *f, const struct job *job)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(job->message.params, "requestId");
	OWNED(str) struct str token = STR_INIT;

	if (!id)
		return;
	rpc_id_canonical(&token, id);
	tasks_stop_listening(f, job->sink, token.bytes);
}

bool calls_reply_cancel(struct front *f, struct job *job)
{
	if (job->call_seq)
		tell_cancelled(f, job->call_seq);
	else
		stop_listening(f, job);
	return true;
}
