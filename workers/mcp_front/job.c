#include "job.h"

#include "big.h"
#include "front.h"
#include "hook.h"
#include "shelf.h"

#include <stdio.h>
#include <stdlib.h>

struct job *job_queue(struct front *f, enum job_kind kind, struct sink *sink,
                      struct rpc_message *message)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->kind = kind;
	job->sink = sink;
	sink_hold(sink);
	if (message) {
		job->message = *message;
		*message = (struct rpc_message){ 0 };
	}
	job_requeue(f, job, false);
	return job;
}

void job_queue_note(struct front *f, enum job_kind kind, struct sink *sink, int64_t call_seq)
{
	job_queue(f, kind, sink, NULL)->call_seq = call_seq;
}

void job_untold(struct sink *sink)
{
	for (size_t i = 0; i < sink->told_count; i++)
		job_queue_note(sink->front, JOB_UNTOLD, sink, sink->told[i]);
	sink->told_count = 0;
}

void job_requeue(struct front *f, struct job *job, bool first)
{
	if (big_is(job)) {
		big_add(f, job, false);
		return;
	}
	if (first)
		STAILQ_INSERT_HEAD(&f->jobs, job, next);
	else
		STAILQ_INSERT_TAIL(&f->jobs, job, next);
	job_turn_soon(f);
}

/* Schedules the turn not at once, but after one more pass over the transports (a timer of 0 fires
 * in the next pass of the loop, after everything that is ready): answers in hand leave before the
 * fsync, and what arrived meanwhile joins the same commit. An event priority would let a flood of
 * requests delay the turn for ever. */
void job_turn_soon(struct front *f)
{
	static const struct timeval NEXT_PASS = { 0 };

	if (!evtimer_pending(f->turn, NULL))
		(void)event_add(f->turn, &NEXT_PASS);
}

void job_forget_call(struct job *job)
{
	struct job_call *jc = &job->as.call;

	shelf_clear(job);
	if (jc->found)
		hand_found_clear(jc->found);
	free(jc->found);
	jc->found = NULL;
	jc->looked = false;
	jc->task = (struct hand_task){ .by = NULL };
	call_clear(&jc->call);
}

void job_free(struct job *job)
{
	sink_drop(job->sink);
	rpc_message_clear(&job->message);
	str_clear(&job->result);
	if (job->kind == JOB_CALL || job->kind == JOB_RESUME)
		job_forget_call(job);
	if (job->kind == JOB_HOOK) {
		call_clear(&job->as.hook.call);
		str_clear(&job->as.hook.changed);
		telling_clear(&job->as.hook.telling);
		cJSON_Delete(job->as.hook.input);
	}
	free(job);
}

void job_free_all(struct job_queue *jobs)
{
	struct job *job;

	while ((job = STAILQ_FIRST(jobs)) != NULL) {
		STAILQ_REMOVE_HEAD(jobs, next);
		job_free(job);
	}
}

void job_refuse(struct job *job, int code, const char *text)
{
	job->refused = true;
	job->fault = (struct mcp_fault){ .status = 200, .code = code };
	(void)snprintf(job->fault.text, sizeof(job->fault.text), "%.299s", text);
}

int job_fault_code(const struct err *e)
{
	return e->kind == ERR_INPUT || e->kind == ERR_REFUSED ? RPC_INVALID_PARAMS
	                                                      : RPC_INTERNAL_ERROR;
}

/* A caller that is already gone was not told; for the others the transport checks. */
static void tells(struct job *job)
{
	if (job->sink->gone && job->call_seq > 0)
		job_queue_note(job->sink->front, JOB_UNTOLD, job->sink, job->call_seq);
	else
		sink_tells(job->sink, job->call_seq);
}

void job_reply(struct job *job)
{
	tells(job);
	sink_reply(job->sink, job->message.id, &job->result);
}

static void reply_hook(struct job *job)
{
	const struct call *call = &job->as.call.call;
	const struct gate_input *in = &call->hook->in;
	OWNED(str) struct str result = { 0 };

	hook_add_reply(&result, in->host, in->event, str_text(&job->result),
	               str_text(&call->steering.text),
	               in->class == GATE_PLAN ? in->tool_input : NULL);
	sink_reply(job->sink, job->message.id, &result);
}

void job_reply_tool(struct job *job)
{
	const struct call *call = &job->as.call.call;
	OWNED(str) struct str result = { 0 };
	OWNED(str) struct str message = { 0 };
	char event_id[40];

	if (call->hook) {
		reply_hook(job);
		return;
	}
	mcp_tool_result(&result, job->version, str_text(&job->result),
	                telling_said(&call->steering), call->is_error, call->traceparent);
	rpc_result(&message, job->message.id, result.bytes);
	(void)snprintf(event_id, sizeof(event_id), "%lld.end", (long long)job->call_seq);
	tells(job);
	job->sink->by->reply(job->sink, &message,
	                     job->version == MCP_MODERN || !job->call_seq ? NULL : event_id);
}
