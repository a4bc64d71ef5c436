#include "calls.h"

#include "ahead.h"
#include "broadcasts.h"
#include "channels.h"
#include "editor.h"
#include "elicit.h"
#include "elicitation.h"
#include "front.h"
#include "guests_place.h"
#include "hook.h"
#include "hooks.h"
#include "log.h"
#include "park.h"
#include "policies.h"
#include "policy_trust.h"
#include "shelf.h"
#include "sql/tool_call.h"
#include "tasks.h"
#include "tell.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a call needs to know about files ---- */

static void set_found(struct job *job, struct hand_found *found)
{
	job->as.call.found = xcalloc(1, sizeof(*found));
	*job->as.call.found = *found;
	job->as.call.found->policy.known.look = job->as.call.task.ask.known.look;
	*found = (struct hand_found)HAND_FOUND_INIT;
}

/* A job that was held for a hand now waits only for its turn. */
static void go_on(struct front *f, struct job *job)
{
	if (job->held_as)
		hold_release(f, job->held_as);
	job->held_as = 0;
	job->as.call.looked = true;
	job_requeue(f, job, true);
}

static struct job *job_of(struct hand_task *t)
{
	return (struct job *)((char *)t - offsetof(struct job, as.call.task));
}

static void on_found(struct front *f, struct hand_task *t, struct hand_found *found)
{
	set_found(job_of(t), found);
	go_on(f, job_of(t));
}

static void refuse(struct job *job, const struct refusal *why)
{
	if (job->sink->peer->session_seq)
		call_refuse(&job->as.call.call, why);
	else /* its workspace is not known yet: it has no session */
		job_refuse(job, RPC_INTERNAL_ERROR, why->text);
}

static void on_failed(struct front *f, struct hand_task *t, const struct refusal *why)
{
	refuse(job_of(t), why);
	go_on(f, job_of(t));
}

/* From here on the caller gets keep-alives, and a hang-up is noticed. */
static void on_slow(struct front *f, struct hand_task *t)
{
	struct job *job = job_of(t);

	if (!job->sink->gone)
		hold_job(f, job, job->as.call.call.progress_token, NULL);
}

/* Whether the caller is gone or has cancelled the call. */
static bool is_over(struct front *f, struct hand_task *t)
{
	const struct job *job = job_of(t);

	return job->sink->gone || job->as.call.cancelled ||
	       (job->held_as && !hold_find(f, job->held_as));
}

/* A relay repeats the call to the next front by itself. */
static bool is_told(const struct hand_task *t)
{
	const struct job *job =
	    (const struct job *)((const char *)t - offsetof(struct job, as.call.task));

	return job->sink->http;
}

static void on_dropped(struct front *f, struct hand_task *t)
{
	struct job *job = job_of(t);

	(void)f;
	if (!job->sink->gone)
		sink_owes_less(job->sink);
	job_free(job);
}

static const struct hand_asker IN_HAND = { .done = on_found,
	                                   .failed = on_failed,
	                                   .slow = on_slow,
	                                   .is_over = is_over,
	                                   .is_told = is_told,
	                                   .dropped = on_dropped };

/* Round robin goes by session, or by connection while there is no session. */
static void name_asker(struct hand_task *t, const struct peer *p)
{
	if (p->session_seq)
		(void)snprintf(t->asker, sizeof(t->asker), "session %lld",
		               (long long)p->session_seq);
	else if (p->key[0])
		(void)snprintf(t->asker, sizeof(t->asker), "%s", p->key);
	else
		(void)snprintf(t->asker, sizeof(t->asker), "%p", (const void *)p);
}

static void refuse_hand(struct job *job, const char *text)
{
	struct refusal busy = { .code = "busy" };

	(void)snprintf(busy.text, sizeof(busy.text), "%s", text);
	job->as.call.looked = true;
	refuse(job, &busy);
}

static bool ask_hand(struct front *f, struct job *job)
{
	struct hand_task *t = &job->as.call.task;
	const struct peer *p = job->sink->peer;

	t->by = &IN_HAND;
	t->bytes = job->message.length;
	name_asker(t, p);
	if (!f->hands) { /* the last turn: its caller is cut off already */
		on_dropped(f, t);
		return true;
	}
	if (f->worker.stopping && is_told(t)) {
		refuse_hand(job, HANDS_STOPPING);
		return false;
	}
	if (!hands_have_room(f, t)) {
		refuse_hand(job, "too many proposals wait for their files to be read; nothing was "
		                 "asked; call again");
		return false;
	}
	peer_ask_place(&f->settings.workspaces, p, &t->ask);
	if (t->ask.policy && !p->unplaced)
		t->ask.known = policy_file_known(&f->policies, p->workspace_root)->known;
	t->ask.known.look = ++f->policies.looks;
	shelf_put(f, job);
	hands_ask(f, t);
	return true;
}

static int open_call(struct job *job, struct err *e)
{
	const cJSON *responses =
	    cJSON_GetObjectItemCaseSensitive(job->message.params, "inputResponses");
	struct call *c = &job->as.call.call;

	if (strcmp(job->message.method, HOOK_METHOD) == 0) {
		c->tool = &TOOL_HOOK;
		return hook_open(c, job->message.params, job->message.id, job->message.has_nul, e);
	}
	if (responses && !cJSON_IsObject(responses))
		return err_set(e, ERR_INPUT, "params.inputResponses must be an object");
	if (call_open(c, job->message.params, job->message.id, job->message.has_nul, e)) {
		e->kind = ERR_INPUT;
		return -1;
	}
	c->responses = responses;
	return 0;
}

static int settle(struct front *f, struct peer *p, struct err *e)
{
	if (peer_settle(&f->worker.store, &f->settings.workspaces, p, e))
		return -1;
	return !p->session_seq && channels_check(f, p->identity.channel_id, e) ? -1 : 0;
}

/* True: the call waits for its next turn, or is dropped. */
static bool is_put_ahead(struct front *f, struct job *job)
{
	struct hand_task *t = &job->as.call.task;

	if (job->as.call.cancelled ||
	    (job->as.call.ahead != JOB_AHEAD_ARGUMENTS && is_over(f, t))) {
		on_dropped(f, t);
		return true;
	}
	return ahead_put(f, job);
}

bool calls_look(struct front *f, struct job *job)
{
	struct peer *p = job->sink->peer;
	struct job_call *jc = &job->as.call;
	struct err e = { 0 };

	if (jc->looked)
		return is_put_ahead(f, job);
	jc->looked = true;
	if (open_call(job, &e) || hooks_introduce(f, job, &e) || settle(f, p, &e)) {
		job_refuse(job, job_fault_code(&e), e.text);
		return false;
	}
	/* Another user may have left the group, or lost the folder: their hand says so. */
	if (!call_look(&jc->call, &f->settings, &jc->task.ask) && !p->unplaced && !p->has_user)
		return false;
	jc->looked = false;
	return ask_hand(f, job);
}

/* ---- before the transaction ---- */

static int place(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;
	const struct hand_found *found = job->as.call.found;

	if (settle(f, p, e))
		return -1;
	if (p->unplaced && !found)
		return err_set(e, ERR_AGAIN, "%s", "the workspace could not be looked at");
	if (p->unplaced)
		return guests_place(f, p, found, e);
	if (found && found->unfit)
		return err_set(e, ERR_INPUT, "no workspace: %.300s is %s", p->workspace_root,
		               found->unfit);
	if (found && strcmp(found->root, p->workspace_root) != 0)
		return err_set(e, ERR_AGAIN, "the session works elsewhere by now; call again");
	return 0;
}

void calls_prepare(struct front *f, struct job *job)
{
	struct peer *p = job->sink->peer;
	struct call *c = &job->as.call.call;
	struct hand_found *found = job->as.call.found;
	struct policy_file *policy = NULL;
	struct err e = { 0 };

	if (job->refused)
		return;
	if ((shelf_has(job) && shelf_take(job, &e)) ||
	    (job->as.call.task.by && place(f, job, &e))) { /* the call may have waited for long */
		job_refuse(job, job_fault_code(&e), e.text);
		return;
	}
	c->modern = job->version == MCP_MODERN;
	c->as_task =
	    c->modern && p->identity.tasks && mcp_client_extends(job->message.params, MCP_TASKS);
	c->elicits = c->modern && f->settings.elicitation &&
	             elicit_is_offered(mcp_client_capabilities(job->message.params));
	if (found && found->has_policy)
		policy = policies_take(f, p->workspace_root, found);
	call_prepare(c, found, policy, &f->settings);
	if (c->policy.is_untrusted &&
	    policy_trust_look(&f->worker.store, f->worker.machine, c->policy_file,
	                      f->settings.commands, f->settings.always_ask, &e))
		log_warn("what the policy of %s newly allows: %s", p->workspace_root, e.text);
}

/* ---- inside the transaction ---- */

/* A relay that reconnected repeats its open requests: finds such a call instead of creating it
 * again. Hooks do not: each of their questions is a use of its own. */
static int find_again(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;
	OWNED(tool_call_by_rpc_row) struct tool_call_by_rpc_row row = { 0 };
	const struct call *c = &job->as.call.call;

	if (!p->resumed || !p->seq || c->hook)
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
	if (row.seq) /* its progress continues where it was */
		job->as.call.started_ms = clock_parse(row.created_at);
	return call_attach(&f->worker.store, job->call_seq, f->worker.id.text, e);
}

/* Puts the result of an ended call into the job. If it was never sent, it now counts as sent to
 * this caller. */
static int tell(struct front *f, struct job *job, struct err *e)
{
	OWNED(telling) struct telling t = { 0 };

	if (call_result(&f->worker.store, job->call_seq, &t, e) ||
	    (job->as.call.untold && call_steer(&f->worker.store, &t, 0, e)))
		return -1;
	if (job->as.call.untold ? call_finish(&f->worker.store, job->call_seq, &t, e)
	                        : call_tell_again(&f->worker.store, job->call_seq, e))
		return -1;
	str_add(&job->result, str_text(&t.result));
	job->as.call.call.is_error = t.is_error;
	job->as.call.call.steering = t.steering;
	t.steering = (struct steering){ 0 };
	free(job->as.call.call.traceparent);
	job->as.call.call.traceparent = t.traceparent;
	t.traceparent = NULL;
	return 0;
}

static bool may_wait(struct job *job, struct err *e)
{
	if (!hold_has_room(job->sink, job->sink->asking + 1, e))
		return false;
	job->sink->asking++;
	return true;
}

/* An editor's side that has hung up may have withdrawn its question on another connection already
 * (hook_settle.h): nobody would do that again. */
static bool is_withdrawn(const struct job *job)
{
	const struct hook *h = job->as.call.call.hook;

	return h && h->in.host->relays && !h->told && sink_has_hung_up(job->sink);
}

int calls_run(struct front *f, struct job *job, struct err *e)
{
	struct store *st = &f->worker.store;
	struct peer *p = job->sink->peer;
	int64_t seq = p->seq, session = p->session_seq; /* restored if this part fails */
	int again;

	if (is_withdrawn(job)) {
		job_refuse(job, RPC_INVALID_REQUEST, "its caller has gone");
		return 0;
	}
	again = find_again(f, job, e);
	if (again < 0)
		return -1;
	if (again && job->as.call.waits)
		return may_wait(job, e) ? attach(f, job, e) : -1;
	if (again)
		return tell(f, job, e);
	job->as.call.parked = p->paused && call_is_parked(&job->as.call.call);
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
		mcp_input_required(&job->result, job->as.call.call.elicitation.bytes,
		                   job->as.call.call.traceparent);
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
	OWNED(str) struct str token = { 0 };
	OWNED(tool_call_by_rpc_row) struct tool_call_by_rpc_row row = { 0 };
	struct store *st = &f->worker.store;

	if (!id || !p->seq || p->transport == CONNECTION_TRANSPORT_STATELESS)
		return 0;
	json_add_id(&token, id);
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
	if (job->sink->peer->transport == CONNECTION_TRANSPORT_HOOK)
		return hooks_hang_up(f, job, e);
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
	bool modern = job->version == MCP_MODERN || call->call.hook; /* gone, it is cancelled */
	char event_id[40];

	(void)snprintf(event_id, sizeof(event_id), "%lld.0", (long long)job->call_seq);
	if (!job->sink->gone)
		sink_wait(job->sink, modern ? NULL : event_id);
	if (job->sink->gone) {
		job_queue_note(f, modern ? JOB_DROP : JOB_HANG_UP, job->sink, job->call_seq);
		return;
	}
	hold_caller(f, job->sink, job->call_seq,
	            call->started_ms > 0 ? call->started_ms : clock_now_ms(), job->message.id,
	            call->call.progress_token, modern);
	editor_begin(f, job);
	if (!modern && call->call.waiting) /* not a repeated one: its question was already shown */
		elicitation_begin(f, job->sink, job->call_seq);
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

static struct waiter *caller_of(struct front *f, int64_t call_seq)
{
	struct held_call *held = hold_find(f, call_seq);
	struct waiter *w = held ? LIST_FIRST(&held->waiters) : NULL;

	while (w && w->subscription)
		w = LIST_NEXT(w, of_call);
	return w;
}

/* A client that resumes a stream has lost it, though we may not see that yet, and a message goes
 * over one stream only (MCP, "Transports"). Returns whether the question was shown there. */
static bool leave_lost_stream(struct front *f, int64_t call_seq)
{
	bool elicited = false;
	struct waiter *w;

	while ((w = caller_of(f, call_seq)) != NULL) {
		struct sink *sink = w->sink;

		elicited |= w->elicits;
		sink_hold(sink);
		(void)hold_forget(f, w);
		sink_owes_less(sink);
		sink_drop(sink);
	}
	return elicited;
}

bool calls_reply_resumed(struct front *f, struct job *job)
{
	if (job->as.call.waits) {
		bool elicited = leave_lost_stream(f, job->call_seq);
		struct waiter *w;

		reply_held(f, job);
		w = caller_of(f, job->call_seq);
		if (w)
			w->elicits = elicited;
		return true;
	}
	if (!job->sink->gone)
		sink_wait(job->sink, NULL);
	job_reply_tool(job);
	return true;
}

static void stop_listening(struct front *f, const struct job *job)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(job->message.params, "requestId");
	OWNED(str) struct str token = { 0 };

	if (!id)
		return;
	json_add_id(&token, id);
	tasks_stop_listening(f, job->sink, token.bytes);
}

/* Cancels a call that waits for a hand, or for its turn after that, and has no row yet. */
static void cancel_in_hand(struct front *f, struct hand_task *t, void *arg)
{
	const struct job *cancel = arg;
	const struct peer *by = cancel->sink->peer;
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(cancel->message.params, "requestId");
	OWNED(str) struct str token = { 0 };
	struct job *job;

	if (!id || t->by != &IN_HAND)
		return;
	job = job_of(t);
	if (job->sink != cancel->sink &&
	    (!by->key[0] || strcmp(by->key, job->sink->peer->key) != 0))
		return;
	json_add_id(&token, id);
	if (strcmp(str_text(&token), job->as.call.call.rpc_id) != 0)
		return;
	job->as.call.cancelled = true;
	if (job->held_as)
		hold_release(f, job->held_as);
}

bool calls_reply_cancel(struct front *f, struct job *job)
{
	struct job *other;

	if (job->call_seq) {
		tell_cancelled(f, job->call_seq);
	} else {
		stop_listening(f, job);
		hands_each(f, cancel_in_hand, job);
		STAILQ_FOREACH (other, &f->bigs, next)
			cancel_in_hand(f, &other->as.call.task, job);
		STAILQ_FOREACH (other, &f->jobs, next)
			if (other->kind == JOB_CALL)
				cancel_in_hand(f, &other->as.call.task, job);
		hands_look(f);
	}
	return true;
}
