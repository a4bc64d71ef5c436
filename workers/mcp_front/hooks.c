#include "hooks.h"

#include "front.h"
#include "hook.h"
#include "hook_rewrite.h"
#include "json_writer.h"
#include "peer_process.h"
#include "sql/gate_call.h"
#include "sql/tool_call.h"

#include <stdlib.h>
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

	if (!text || !*text)
		return;
	free(*to);
	*to = xstrdup(text);
}

static void take_environment(struct peer *p, const cJSON *env)
{
	take_variable(&p->identity.session_id, env, "INTERCOM_SESSION_ID");
	take_variable(&p->identity.workspace_id, env, "INTERCOM_WORKSPACE_ID");
	take_variable(&p->identity.channel_id, env, "INTERCOM_CHANNEL_ID");
	take_variable(&p->identity.agent, env, "INTERCOM_AGENT");
}

static void learn_program(const struct sink *s)
{
	char name[PEER_PROCESS_BYTES];

	if (!s->peer->host_process && s->pipe &&
	    peer_process_of_host(bufferevent_getfd(s->pipe), name))
		s->peer->host_process = xstrdup(name);
}

int hooks_introduce(struct front *f, struct job *job, struct err *e)
{
	const cJSON *params = job->message.params;
	const cJSON *env = cJSON_GetObjectItemCaseSensitive(params, "env");
	const struct hook *h = job->as.call.call.hook;
	struct peer *p = job->sink->peer;
	const char *folder = project_of(env);

	if (!h)
		return 0;
	p->patience_ms = h->patience_ms;
	if (f->settings.gate_wait_ms &&
	    (!p->patience_ms || p->patience_ms > f->settings.gate_wait_ms))
		p->patience_ms = f->settings.gate_wait_ms;
	p->begins = h->in.event == GATE_SESSION_START;
	if (!h->in.session)
		learn_program(job->sink);
	if (peer_of_hook(&f->worker.store, p, h->in.host->name, h->in.session,
	                 folder ? folder : h->in.cwd, e))
		return -1;
	if (!p->seq) {
		take_environment(p, env);
		learn_program(job->sink);
	}
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

static void tell_used(struct telling *t, const char *request_id)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text,
	         "the approval of question %s was used by another call that is the same; call it "
	         "again to have this one asked, too",
	         request_id);
	str_reset(&t->result);
	json_object(&t->result);
	json_member(&t->result, "decision", gate_decision_name(GATE_DENY));
	json_member(&t->result, "reason", str_text(&text));
	json_member_bool(&t->result, "again", true);
	json_object_end(&t->result);
}

int hooks_run(struct front *f, struct job *job, struct err *e)
{
	OWNED(gate_call_of_call_row) struct gate_call_of_call_row row = { 0 };
	struct job_hook *told = &job->as.hook;
	struct telling *t = &told->telling;
	struct store *st = &f->worker.store;
	const struct gate_event_name *event;
	int used;

	telling_clear(t);
	told->is_recorded = false;
	if (!hold_find(f, job->call_seq))
		return 0; /* its caller has left */
	if (call_result(st, job->call_seq, t, e) ||
	    sql_gate_call_of_call(st, job->call_seq, &row, e) <= 0)
		return -1;
	used = sql_gate_call_used(st, row.request_seq, e);
	if (used < 0)
		return -1;
	if (used && t->is_answer)
		tell_used(t, row.request_id);
	told->host = gate_host_named(row.host);
	event = told->host ? gate_host_event(told->host, row.event) : NULL;
	told->event = event ? event->event : GATE_PRE_TOOL;
	if (row.class == GATE_CALL_CLASS_PLAN && read_input(st, told, job->call_seq, e))
		return -1;
	if (hook_tells(told->host, told->event, str_text(&t->result)) && call_steer(st, t, 0, e))
		return -1;
	if (call_finish(st, job->call_seq, t, e))
		return -1;
	told->is_recorded = true;
	return 0;
}

bool hooks_reply(struct front *f, struct job *job)
{
	struct job_hook *told = &job->as.hook;
	struct held_call *held;

	if (!told->is_recorded)
		hook_set_result(&told->telling.result, GATE_DENY, FAILED);
	while ((held = hold_find(f, job->call_seq)) != NULL) {
		struct waiter *w = LIST_FIRST(&held->waiters);
		OWNED(char_ptr) char *id = xstrdup(w->rpc_id);
		OWNED(str) struct str body = { 0 };
		struct sink *sink = w->sink;

		sink_hold(sink);
		(void)hold_forget(f, w);
		hook_add_reply(&body, told->event, str_text(&told->telling.result),
		               str_text(&told->telling.steering.text), told->input);
		sink_reply(sink, id, &body);
		sink_drop(sink);
	}
	return true;
}
