#include "tasks.h"

#include "front.h"
#include "json.h"
#include "json_writer.h"
#include "peer_user.h"
#include "sql/tool_call.h"
#include "task.h"
#include "tell.h"

#include <stdio.h>
#include <string.h>

/* ---- creating and polling ---- */

int tasks_make(struct front *f, struct job *job, struct err *e)
{
	OWNED(task) struct task t = { 0 };
	int got = task_read(&f->worker.store, job->call_seq, &t, e);
	struct mcp_task shown = task_message(&t, NULL);

	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "a task without a row");
	mcp_task_created(&job->result, &shown, job->as.call.call.traceparent);
	job->as.call.waits = false;
	job->as.call.whole = true;
	return 0;
}

/* The result of a completed task; from now on it counts as told. */
static int fetch(struct front *f, struct job *job, const struct task *t, struct str *outcome,
                 struct err *e)
{
	OWNED(telling) struct telling telling = { 0 };

	if (call_result(&f->worker.store, job->call_seq, &telling, e) ||
	    (t->untold && call_steer(&f->worker.store, &telling, 0, e)))
		return -1;
	task_outcome(outcome, &telling);
	return t->untold ? call_finish(&f->worker.store, job->call_seq, &telling, e) : 0;
}

static int get(struct front *f, struct job *job, struct err *e)
{
	OWNED(task) struct task t = { 0 };
	OWNED(str) struct str outcome = { 0 };
	struct mcp_task shown;

	if (task_read(&f->worker.store, job->call_seq, &t, e) < 0)
		return -1;
	if (t.status == MCP_TASK_WORKING && call_attach(&f->worker.store, job->call_seq, NULL, e))
		return -1;
	if (t.status == MCP_TASK_COMPLETED && fetch(f, job, &t, &outcome, e))
		return -1;
	shown = task_message(&t, t.status == MCP_TASK_COMPLETED ? outcome.bytes : NULL);
	mcp_task_result(&job->result, &shown);
	return 0;
}

/* Ends the wait; the question stays open, and asking again finds it. A task that has ended is
 * unchanged. */
static int cancel(struct front *f, struct job *job, struct err *e)
{
	if (sql_tool_call_cancel_task(&f->worker.store, job->call_seq, e))
		return -1;
	mcp_empty_result(&job->result, MCP_MODERN);
	return 0;
}

int tasks_run(struct front *f, struct job *job, struct err *e)
{
	enum mcp_method method = mcp_method_of(job->message.method, true);
	const cJSON *params = job->message.params;
	const char *id = json_text(params, "taskId");

	if (!id)
		return err_set(e, ERR_INPUT, "params.taskId must be a string");
	if (method == MCP_TASKS_UPDATE && !cJSON_IsObject(json_get(params, "inputResponses")))
		return err_set(e, ERR_INPUT, "params.inputResponses must be an object");
	job->call_seq =
	    sql_tool_call_by_task(&f->worker.store, id, peer_only_of(job->sink->peer), e);
	if (job->call_seq < 0)
		return -1;
	if (!job->call_seq)
		return err_set(e, ERR_INPUT, "there is no task with this taskId");
	if (method == MCP_TASKS_GET)
		return get(f, job, e);
	if (method == MCP_TASKS_CANCEL)
		return cancel(f, job, e);
	mcp_empty_result(&job->result, MCP_MODERN); /* none of our tasks asks for input */
	return 0;
}

bool tasks_reply(struct front *f, struct job *job)
{
	if (mcp_method_of(job->message.method, true) == MCP_TASKS_CANCEL)
		tell_cancelled(f, job->call_seq);
	job_reply(job);
	return true;
}

/* ---- listening ---- */

/* Those of the requested tasks that exist. */
struct listened {
	int64_t calls[FRONT_MAX_LISTENED];
	int count;
	struct str ids; /* JSON array */
};

/* Returns 0, or -1 if the request was refused. */
static int find_listened(struct front *f, struct sink *sink, const struct rpc_message *m,
                         const cJSON *wanted, struct listened *l)
{
	struct err e = { 0 };
	const cJSON *one;

	if (wanted && (!cJSON_IsArray(wanted) || cJSON_GetArraySize(wanted) > FRONT_MAX_LISTENED)) {
		sink_refuse(sink, m->id, RPC_INVALID_PARAMS,
		            "notifications.taskIds must be an array of at most 100 task ids");
		return -1;
	}
	str_add_char(&l->ids, '[');
	cJSON_ArrayForEach (one, wanted) {
		const char *id = cJSON_GetStringValue(one);
		int64_t call =
		    id ? sql_tool_call_by_task(&f->worker.store, id, peer_only_of(sink->peer), &e)
		       : 0;

		if (call < 0) {
			sink_refuse(sink, m->id, RPC_INTERNAL_ERROR, e.text);
			return -1;
		}
		if (!call)
			continue;
		str_add(&l->ids, l->count ? "," : "");
		json_quote(&l->ids, id);
		l->calls[l->count++] = call;
	}
	str_add_char(&l->ids, ']');
	return 0;
}

/* Notifies of an already ended task at once; nothing else would ever do it. */
static void tell_ended(struct front *f, int64_t call)
{
	OWNED(task) struct task t = { 0 };
	struct err e = { 0 };

	if (task_read(&f->worker.store, call, &t, &e) <= 0 || t.status == MCP_TASK_WORKING)
		return;
	if (t.status == MCP_TASK_CANCELLED)
		tell_cancelled(f, call);
	else
		(void)tell_call(f, call);
}

static void hold_open(struct front *f, struct sink *sink, const struct rpc_message *m,
                      const struct listened *l)
{
	hold_caller(f, sink, --f->listen_seq, clock_now_ms(), m->id, NULL, true);
	for (int i = 0; i < l->count; i++)
		hold_subscriber(f, sink, l->calls[i], m->id);
	for (int i = 0; i < l->count && !sink->gone; i++)
		tell_ended(f, l->calls[i]);
}

/* Whether this many more waiters may be held for this caller; else refuses the request. */
static bool has_room(struct front *f, struct sink *sink, const struct rpc_message *m, int more)
{
	struct mcp_fault full = { .status = 503, .code = RPC_INTERNAL_ERROR };
	struct err e = { 0 };

	if (f->listens >= FRONT_MAX_LISTENS)
		(void)err_set(&e, ERR_AGAIN, "%d subscriptions are open, which is the limit",
		              f->listens);
	if (e.kind == ERR_NONE && hold_has_room(sink, more, &e))
		return true;
	(void)snprintf(full.text, sizeof(full.text), "%.299s", e.text);
	sink->by->refuse(sink, m->id, &full);
	return false;
}

void tasks_listen(struct front *f, struct sink *sink, const struct rpc_message *m)
{
	const cJSON *wanted = json_get(json_get(m->params, "notifications"), "taskIds");
	OWNED(str) struct str message = { 0 };
	struct listened l = { 0 };

	if (find_listened(f, sink, m, wanted, &l) == 0 && has_room(f, sink, m, l.count + 1)) {
		mcp_listen_acknowledged(&message, m->id, wanted ? l.ids.bytes : NULL);
		sink_hold(sink);
		sink_wait(sink, NULL);
		sink->by->notify(sink, &message, NULL);
		if (!sink->gone)
			hold_open(f, sink, m, &l);
		sink_drop(sink);
	}
	str_clear(&l.ids);
}

static bool has_id(const struct waiter *w, const char *canonical)
{
	OWNED(str) struct str own = { 0 };

	json_add_id_token(&own, w->rpc_id);
	return strcmp(own.bytes, canonical) == 0;
}

void tasks_stop_listening(struct front *f, struct sink *sink, const char *id)
{
	struct waiter *w = LIST_FIRST(&sink->waiters);

	while (w) {
		struct waiter *next = LIST_NEXT(w, of_sink);

		if ((w->held->seq < 0 || w->subscription) && has_id(w, id))
			(void)hold_forget(f, w);
		w = next;
	}
}
