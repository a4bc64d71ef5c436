#include "calls.h"

#include "broadcasts.h"
#include "channels.h"
#include "elicit.h"
#include "elicitation.h"
#include "front.h"
#include "park.h"
#include "policies.h"
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
	stmt *s;
	int got;

	if (!p->resumed || !p->seq)
		return 0;
	s = store_stmt(&f->worker.store, SQL_TOOL_CALL_BY_RPC);
	bind_int(s, ":connection", p->seq);
	bind_text(s, ":rpc_id", job->as.call.call.rpc_id);
	got = stmt_row(s, e);
	if (got > 0 &&
	    strcmp(col_text(s, TOOL_CALL_BY_RPC_TOOL), job->as.call.call.tool->name) == 0 &&
	    strcmp(col_text(s, TOOL_CALL_BY_RPC_DIGEST), job->as.call.call.digest.text) == 0 &&
	    strcmp(col_text(s, TOOL_CALL_BY_RPC_STATE), "cancelled") != 0) {
		job->call_seq = col_int(s, TOOL_CALL_BY_RPC_SEQ);
		job->as.call.waits = strcmp(col_text(s, TOOL_CALL_BY_RPC_STATE), "waiting") == 0;
		job->as.call.untold = strcmp(col_text(s, TOOL_CALL_BY_RPC_STATE), "answered") == 0;
	}
	stmt_reset(s);
	return got < 0 ? -1 : job->call_seq != 0;
}

static int attach(struct front *f, struct job *job, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_TOOL_CALL_READ);
	int got;

	bind_int(s, ":seq", job->call_seq);
	got = stmt_row(s, e);
	if (got > 0) /* its progress goes on from where it was */
		job->as.call.started_ms = clock_parse(col_text(s, TOOL_CALL_READ_CREATED_AT));
	stmt_reset(s);
	return got < 0 ? -1 : call_attach(&f->worker.store, job->call_seq, f->worker.id.text, e);
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

static int on_seq(struct front *f, enum sql which, int64_t call_seq, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, which);

	bind_int(s, ":seq", call_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int calls_run_cancel(struct front *f, struct job *job, struct err *e)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(job->message.params, "requestId");
	struct peer *p = job->sink->peer;
	OWNED(str) struct str token = STR_INIT;
	int64_t call_seq = 0;
	bool done = false;
	int got;
	stmt *s;

	if (!id || !p->seq || p->transport == PEER_STATELESS)
		return 0;
	rpc_id_canonical(&token, id);
	s = store_stmt(&f->worker.store, SQL_TOOL_CALL_BY_RPC);
	bind_int(s, ":connection", p->seq);
	bind_text(s, ":rpc_id", token.bytes);
	got = stmt_row(s, e);
	if (got > 0) {
		call_seq = col_int(s, TOOL_CALL_BY_RPC_SEQ);
		done = strcmp(col_text(s, TOOL_CALL_BY_RPC_STATE), "done") == 0;
	}
	stmt_reset(s);
	job->call_seq = call_seq;
	if (got <= 0)
		return got;
	if (done)
		return call_doubt(&f->worker.store, p->seq, call_seq, e);
	if (call_given_up(&f->worker.store, call_seq, e))
		return -1;
	return on_seq(f, SQL_TOOL_CALL_CANCEL, call_seq, e);
}

int calls_run_resume(struct front *f, struct job *job, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_TOOL_CALL_READ);
	struct peer *p = job->sink->peer;
	bool ours = false;
	int got;

	bind_int(s, ":seq", job->call_seq);
	got = stmt_row(s, e);
	if (got > 0 && col_int(s, TOOL_CALL_READ_CONNECTION_SEQ) == p->seq &&
	    strcmp(col_text(s, TOOL_CALL_READ_STATE), "cancelled") != 0) {
		const char *token = col_text(s, TOOL_CALL_READ_PROGRESS_TOKEN);

		ours = true;
		job->version = peer_version(p);
		job->as.call.waits = strcmp(col_text(s, TOOL_CALL_READ_STATE), "waiting") == 0;
		job->as.call.untold = strcmp(col_text(s, TOOL_CALL_READ_STATE), "answered") == 0;
		job->message.id = xstrdup(col_text(s, TOOL_CALL_READ_RPC_ID));
		job->as.call.call.progress_token = token ? xstrdup(token) : NULL;
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	if (!ours) {
		job_refuse(job, RPC_INVALID_REQUEST, "there is no stream with this Last-Event-ID");
		return 0;
	}
	return job->as.call.waits ? attach(f, job, e) : tell(f, job, e);
}

int calls_run_hang_up(struct front *f, struct job *job, struct err *e)
{
	if (hold_find(f, job->call_seq))
		return 0;
	if (!f->worker.stopping && job->sink->peer->transport != PEER_STDIO &&
	    call_given_up(&f->worker.store, job->call_seq, e))
		return -1;
	return on_seq(f, job->kind == JOB_DROP ? SQL_TOOL_CALL_CANCEL : SQL_TOOL_CALL_UNLISTEN,
	              job->call_seq, e);
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
