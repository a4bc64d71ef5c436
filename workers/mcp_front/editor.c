#include "editor.h"

#include "decision.h"
#include "elicitation.h"
#include "front.h"
#include "hook.h"
#include "hook_settle.h"
#include "json.h"
#include "json_writer.h"
#include "log.h"
#include "sql/request.h"
#include "sql/tool_call.h"

#include <string.h>

static const char HOST[] = "acp"; /* gate_host.c */

void editor_begin(struct front *f, const struct job *job)
{
	const struct call *call = &job->as.call.call;
	OWNED(request) struct request r = { 0 };
	OWNED(str) struct str message = { 0 };
	struct err e = { 0 };
	int got;

	if (!call->hook || strcmp(call->hook->in.host->name, HOST) != 0)
		return;
	got = elicitation_question(f, job->call_seq, NULL, &r, &e);
	if (got < 0)
		log_warn("call %lld: %s", (long long)job->call_seq, e.text);
	if (got <= 0)
		return;
	job->sink->editor_call = job->call_seq;
	json_object(&message);
	json_member(&message, "jsonrpc", "2.0");
	json_member(&message, "method", "intercom/asked");
	json_member_object(&message, "params");
	json_member_bool(&message, "editor",
	                 r.row.session_mode != SESSION_MODE_REMOTE && f->guests.dir_fd < 0);
	json_member(&message, "digest", r.row.digest);
	json_object_end(&message);
	json_object_end(&message);
	job->sink->by->notify(job->sink, &message, NULL);
}

/* ---- the answer ---- */

static void set_outcome(struct job *job, const char *outcome, const char *why)
{
	str_reset(&job->result);
	json_object(&job->result);
	json_member(&job->result, "outcome", outcome);
	json_member(&job->result, "why", why);
	json_object_end(&job->result);
}

static int decide(struct front *f, struct job *job, const struct request *r, const char *verdict,
                  struct err *e)
{
	OWNED(decision_result) struct decision_result result = { 0 };
	OWNED(str) struct str how = { 0 };
	struct decision d = { .request_id = r->row.id,
		              .verdict = verdict,
		              .digest = r->row.digest,
		              .source = "editor" };

	hook_settle_add_how(&how, job->message.params);
	d.reason = how.bytes;
	if (decision_insert(&f->worker.store, &d, &result, e))
		return -1;
	set_outcome(job, decision_outcome_name(result.is.outcome), result.is.why);
	return 0;
}

/* Nobody needs the answer, unless another call waits for it, too: it expires now. A person's answer
 * that came before is too late for its agent: its editor's side, which says so, says it again as
 * what the agent was told (hook_settle.h). */
static int withdraw(struct front *f, struct job *job, const struct request *r, struct err *e)
{
	static const char WITHDRAWN[] = "its editor or its agent has gone, or cancelled it";
	struct store *st = &f->worker.store;
	int64_t seq = r->row.seq;

	if (r->row.state == REQUEST_STATE_APPROVED || r->row.state == REQUEST_STATE_REJECTED) {
		set_outcome(job, decision_outcome_name(DECISION_OUTCOME_TOO_LATE), NULL);
		return 0;
	}
	set_outcome(job, decision_outcome_name(DECISION_OUTCOME_APPLIED), NULL);
	return sql_tool_call_unlisten(st, job->call_seq, e) || /* for another that is withdrawn */
	               sql_request_expire(st, seq, job->call_seq, e) ||
	               sql_request_settle_withdrawn(st, WITHDRAWN, seq, e) ||
	               sql_request_withdrawn(st, seq, e)
	           ? -1
	           : 0;
}

int editor_run(struct front *f, struct job *job, struct err *e)
{
	const char *verdict = json_text(job->message.params, "verdict");
	const struct waiter *w = LIST_FIRST(&job->sink->waiters);
	OWNED(request) struct request r = { 0 };
	int got;

	if (!verdict)
		return err_set(e, ERR_INPUT, "params.verdict must be approve, reject or withdraw");
	job->call_seq = w && w->held->seq == job->sink->editor_call ? w->held->seq : 0;
	got = job->call_seq > 0 ? elicitation_question(f, job->call_seq, NULL, &r, e) : 0;
	if (got < 0)
		return -1;
	if (got == 0)
		set_outcome(job, decision_outcome_name(DECISION_OUTCOME_NOT_FOUND),
		            "no question for an editor waits on this connection");
	else if (strcmp(verdict, "withdraw") == 0)
		return withdraw(f, job, &r, e);
	else
		return decide(f, job, &r, verdict, e);
	return 0;
}

bool editor_reply(struct front *f, struct job *job)
{
	(void)f;
	job_reply(job);
	return true;
}
