#include "hooks.h"

#include "front.h"
#include "hook.h"
#include "hook_kept.h"
#include "json.h"
#include "json_writer.h"
#include "peer_hook.h"
#include "peer_process.h"
#include "sql/gate_call.h"
#include "sql/tool_call.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char FAILED[] = "the answer could not be recorded; call the same again";

/* ---- who calls ---- */

/* Where the host says that it works: its folder may change with each command. */
static const char *project_of(const cJSON *env)
{
	static const char *const NAMES[] = { "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR",
		                             "QWEN_PROJECT_DIR", "COPILOT_PROJECT_DIR",
		                             "CURSOR_PROJECT_DIR" };

	for (size_t i = 0; i < COUNT(NAMES); i++) {
		const char *folder = json_text(env, NAMES[i]);

		if (folder && folder[0] == '/')
			return folder;
	}
	return NULL;
}

static void take_variable(char **to, const cJSON *env, const char *name)
{
	const char *text = json_text(env, name);

	if (text && *text)
		xreplace(to, text);
}

static void take_environment(struct peer *p, const cJSON *env)
{
	take_variable(&p->identity.session_id, env, "INTERCOM_SESSION_ID");
	take_variable(&p->identity.workspace_id, env, "INTERCOM_WORKSPACE_ID");
	take_variable(&p->identity.channel_id, env, "INTERCOM_CHANNEL_ID");
	take_variable(&p->identity.agent, env, "INTERCOM_AGENT");
}

/* An editor's agent talks to nobody but the proxy: so that is its program. */
static void learn_program(const struct sink *s, const struct gate_host *host)
{
	char name[PEER_PROCESS_BYTES];
	int fd = s->pipe ? bufferevent_getfd(s->pipe) : -1;

	if (!s->peer->host_process && fd >= 0 &&
	    (host->relays ? peer_process_of(fd, name) : peer_process_of_host(fd, name)))
		s->peer->host_process = xstrdup(name);
}

int hooks_introduce(struct front *f, struct job *job, struct err *e)
{
	const cJSON *params = job->message.params;
	const cJSON *env = json_get(params, "env");
	const struct hook *h = job->as.call.call.hook;
	struct peer *p = job->sink->peer;
	const char *project = project_of(env);
	struct peer_hook from;

	if (!h)
		return 0;
	from = (struct peer_hook){ .host = h->in.host->name,
		                   .session = h->in.session,
		                   .workspace = project ? project : h->in.cwd,
		                   .may_move = !project,
		                   .relays = h->in.host->relays,
		                   .run = json_text(params, "run"),
		                   .continues = cJSON_IsTrue(json_get(params, "continues")) };
	p->patience_ms = h->patience_ms;
	if (f->settings.gate_wait_ms &&
	    (!p->patience_ms || p->patience_ms > f->settings.gate_wait_ms))
		p->patience_ms = f->settings.gate_wait_ms;
	p->begins = h->in.event == GATE_SESSION_START;
	learn_program(job->sink, h->in.host);
	if (peer_of_hook(&f->worker.store, p, &from, e))
		return -1;
	if (!p->seq)
		take_environment(p, env);
	return 0;
}

/* ---- what it is told ---- */

bool hooks_holds(const struct held_call *held)
{
	return LIST_FIRST(&held->waiters)->sink->peer->transport == CONNECTION_TRANSPORT_HOOK;
}

void hooks_tell(struct front *f, const struct held_call *held)
{
	job_queue_note(f, JOB_HOOK, LIST_FIRST(&held->waiters)->sink, held->seq);
}

int hooks_hang_up(struct front *f, struct job *job, struct err *e)
{
	struct store *st = &f->worker.store;

	if (sql_tool_call_cancel(st, job->call_seq, e))
		return -1;
	return sql_gate_call_decide(st, GATE_CALL_DECISION_DENY,
	                            "its hook had ended before it was told", NULL, job->call_seq,
	                            e) < 0
	           ? -1
	           : 0;
}

/* Claude Code lets a plan pass only if its input is given back. */
static int read_input(struct store *st, struct job_hook *told, int64_t call_seq, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *all = hook_kept(st, call_seq, e);

	if (!all)
		return -1;
	told->input = cJSON_DetachItemFromObjectCaseSensitive(all, "input");
	return 0;
}

/* A deny after which the same call may be answered otherwise. */
static void set_again(struct str *result, const char *reason, bool is_withheld)
{
	str_reset(result);
	json_object(result);
	json_member(result, "decision", gate_decision_name(GATE_DENY));
	json_member(result, "reason", reason);
	json_member_bool(result, "again", true);
	if (is_withheld)
		json_member_bool(result, HOOK_WITHHELD, true);
	json_object_end(result);
}

static void tell_used(struct telling *t, const char *request_id)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text,
	         "the approval of question %s was used by another call that is the same; call it "
	         "again to have this one asked, too",
	         request_id);
	set_again(&t->result, str_text(&text), false);
}

/* ---- whether it is still what was approved ---- */

static struct job *job_of(struct hand_task *t)
{
	return (struct job *)((char *)t - offsetof(struct job, as.hook.task));
}

static void go_on(struct front *f, struct hand_task *t)
{
	job_of(t)->as.hook.looked = true;
	job_requeue(f, job_of(t), true);
}

/* What a call was bound to when it was asked. */
static int read_bound(struct front *f, const struct job *job, struct sha256 *bound, struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };

	if (sql_tool_call_read(&f->worker.store, job->call_seq, &row, e) <= 0)
		return err_set(e, ERR_AGAIN, "what was shown could not be read");
	(void)snprintf(bound->text, sizeof(bound->text), "%s", row.digest);
	return 0;
}

static void on_found(struct front *f, struct hand_task *t, struct hand_found *found)
{
	struct job_hook *told = &job_of(t)->as.hook;
	struct call *c = &told->call;
	struct sha256 bound;
	struct err e = { 0 };

	call_prepare(c, found, NULL, &f->settings);
	if (c->hook->verdict == HOOK_DENY)
		str_add(&told->changed, str_text(&c->hook->why));
	else if (read_bound(f, job_of(t), &bound, &e))
		str_add(&told->changed, e.text);
	else if (strcmp(c->digest.text, bound.text) != 0)
		str_addf(&told->changed, "what it is about has changed since it was shown; %s",
		         c->hook->in.host->relays ? "it is asked again as it is now"
		                                  : "call it again to have it shown as it is now");
	/* The next question comes by itself, and takes its place. */
	told->is_spent = c->hook->in.host->relays;
	go_on(f, t);
}

static void on_failed(struct front *f, struct hand_task *t, const struct refusal *why)
{
	str_addf(&job_of(t)->as.hook.changed,
	         "it was approved, but could not be looked at again: %s", why->text);
	go_on(f, t);
}

static bool is_over(struct front *f, struct hand_task *t)
{
	return job_of(t)->sink->gone || !hold_find(f, job_of(t)->call_seq);
}

static void on_dropped(struct front *f, struct hand_task *t)
{
	(void)f;
	job_free(job_of(t));
}

static const struct hand_asker AGAIN = {
	.done = on_found, .failed = on_failed, .is_over = is_over, .dropped = on_dropped
};

static bool is_allow(const struct telling *t)
{
	OWNED(str) struct str reason = { 0 };

	return hook_decision(str_text(&t->result), &reason) == GATE_CALL_DECISION_ALLOW;
}

/* Whether the answer to a call allows. 1, 0, -1. */
static int is_approved(struct front *f, int64_t call_seq, struct err *e)
{
	OWNED(telling) struct telling t = { 0 };

	return call_result(&f->worker.store, call_seq, &t, e) ? -1 : is_allow(&t);
}

/* Starts a look at the files of an approved call. 1 started, 0 there is nothing to look at, -1. */
static int look_again(struct front *f, struct job *job, struct err *e)
{
	struct job_hook *told = &job->as.hook;
	const struct peer *p = job->sink->peer;

	told->task = (struct hand_task){ .by = &AGAIN };
	told->call.tool = &TOOL_HOOK;
	if (hook_kept_open(&f->worker.store, job->call_seq, &told->call, e))
		return -1;
	(void)call_look(&told->call, &f->settings, &told->task.ask);
	told->task.ask.policy = false; /* a person has approved it */
	if (!hand_asks(&told->task.ask))
		return 0;
	told->task.ask.root = p->workspace_root;
	told->task.bytes = told->call.hook->input.length;
	(void)snprintf(told->task.asker, sizeof(told->task.asker), "session %lld",
	               (long long)p->session_seq);
	if (!hands_have_room(f, &told->task))
		return err_set(e, ERR_AGAIN, "too many others wait for their files to be read");
	hands_ask(f, &told->task);
	return 1;
}

bool hooks_look(struct front *f, struct job *job)
{
	struct job_hook *told = &job->as.hook;
	struct err e = { 0 };
	int got;

	if (told->looked) { /* if it cannot be recorded now, it is looked at again */
		told->looked = false;
		return false;
	}
	call_clear(&told->call);
	str_reset(&told->changed);
	if (!hold_find(f, job->call_seq))
		return false; /* its caller has left */
	got = is_approved(f, job->call_seq, &e);
	if (got == 0) /* it may be approved at this moment */
		str_add(&told->changed, "it was answered too late to be looked at again; call it "
		                        "again");
	if (got > 0)
		got = look_again(f, job, &e);
	if (got < 0)
		str_addf(&told->changed, "it was approved, but could not be looked at again: %s",
		         e.text);
	return got > 0;
}

/* ---- what it is told ---- */

/* An approval that was not used, nor is spent, is there for whoever calls it again as it was shown.
 */
static void tell_changed(struct telling *t, const struct job_hook *told)
{
	set_again(&t->result, told->changed.bytes, true);
	t->is_answer = told->is_spent;
}

int hooks_run(struct front *f, struct job *job, struct err *e)
{
	OWNED(gate_call_of_call_row) struct gate_call_of_call_row row = { 0 };
	struct job_hook *told = &job->as.hook;
	struct telling *t = &told->telling;
	struct store *st = &f->worker.store;
	const struct gate_event_name *event;
	int got, used;

	telling_clear(t);
	told->is_recorded = false;
	if (!hold_find(f, job->call_seq))
		return 0; /* its caller has left */
	if (sink_has_hung_up(job->sink)) /* while the database was busy: it has denied by itself */
		return hooks_hang_up(f, job, e);
	if (call_result(st, job->call_seq, t, e))
		return -1;
	got = sql_gate_call_of_call(st, job->call_seq, &row, e);
	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "a hook's call without a row");
	used = sql_gate_call_used(st, row.request_seq, e);
	if (used < 0)
		return -1;
	if (used && t->is_answer)
		tell_used(t, row.request_id);
	else if (told->changed.length && is_allow(t))
		tell_changed(t, told);
	else if (row.parks && !t->is_answer && !t->is_error)
		hook_defer(&t->result);
	told->host = gate_host_named(row.host);
	event = told->host ? gate_host_event(told->host, row.event) : NULL;
	told->event = event ? event->event : GATE_PRE_TOOL;
	if (row.class == GATE_CALL_CLASS_PLAN && read_input(st, told, job->call_seq, e))
		return -1;
	if (!row.is_subagents &&
	    hook_tells(told->host, told->event, row.tool_use_id, str_text(&t->result)) &&
	    call_steer(st, t, 0, e))
		return -1;
	if (call_finish(st, job->call_seq, t, e))
		return -1;
	told->is_recorded = true;
	return 0;
}

bool hooks_reply(struct front *f, struct job *job)
{
	struct job_hook *told = &job->as.hook;
	struct waiter *w;

	if (!told->is_recorded)
		hook_set_result(&told->telling.result, GATE_DENY, FAILED);
	while ((w = hold_take(f, job->call_seq)) != NULL) {
		OWNED(str) struct str body = { 0 };

		hook_add_reply(&body, told->host, told->event, str_text(&told->telling.result),
		               str_text(&told->telling.steering.text), told->input);
		sink_reply(w->sink, w->rpc_id, &body);
		hold_free(w);
	}
	return true;
}
