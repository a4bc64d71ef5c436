#include "policy_gate.h"

#include "content.h"
#include "decision.h"
#include "request.h"
#include "setting.h"
#include "sql/auto_approval.h"
#include "sql/policy.h"
#include "visible.h"

#include <string.h>

enum { SUBJECT_BYTES = 200 };

int policy_gate_take(struct store *st, const char *machine, enum policy_trust trust, bool is_listed,
                     struct policy_file *f, struct err *e)
{
	if (!f->policy)
		return 0;
	f->counts = trust == POLICY_TRUST_OFF || (trust == POLICY_TRUST_LISTED && is_listed);
	return f->counts ? 0 : policy_trust_load(st, machine, f, e);
}

/* Whether the file allows it and only lacks the trust of a person. */
static bool judge(const struct policy_file *f, const struct policy_question *q,
                  struct policy_answer *a)
{
	OWNED(policy_answer) struct policy_answer trusted = { 0 };

	policy_judge(f->policy, q, a);
	if (!a->approved || f->counts)
		return false;
	policy_judge(f->trusted, q, &trusted);
	if (trusted.approved && !policy_hides(f->policy, f->trusted))
		return false;
	str_reset(&trusted.rule);
	str_add(&trusted.rule, a->rule.bytes);
	policy_answer_clear(a);
	str_addf(&a->why, "%s allows it, but nobody has trusted this version of the policy",
	         trusted.rule.bytes);
	return true;
}

void policy_gate_judge(const struct policy_file *f, const struct policy_question *asked,
                       struct policy_verdict *v)
{
	OWNED(policy_answer) struct policy_answer a = { 0 };
	struct policy_question q = *asked;

	q.root = f->workspace_root;
	v->is_untrusted = judge(f, &q, &a);
	v->allowed = a.approved;
	str_add(&v->rule, str_text(&a.rule));
	str_add(&v->why, str_text(&a.why));
	if (!v->allowed)
		return;
	str_addf(&v->reason, "%s (policy %.8s)", str_text(&a.rule), f->hash);
	memcpy(v->hash, f->hash, sizeof(v->hash));
	v->logs = policy_logs(f->policy, &v->summary_ms);
	v->summary_ms *= 1000;
}

void policy_verdict_clear(struct policy_verdict *v)
{
	str_clear(&v->rule);
	str_clear(&v->why);
	str_clear(&v->reason);
	*v = (struct policy_verdict){ 0 };
}

int policy_gate_note(struct store *st, const struct policy_verdict *v, int64_t session,
                     int64_t request, const char *subject, struct err *e)
{
	const struct instant due = clock_instant(clock_now_ms() + v->summary_ms);
	OWNED(str) struct str line = { 0 };

	if (!v->logs)
		return 0;
	visible_add_first_line(&line, subject, SUBJECT_BYTES);
	return sql_auto_approval_insert(
	    st,
	    &(struct auto_approval_insert_args){ .session = session,
	                                         .request = request,
	                                         .subject = str_text(&line),
	                                         .rule = str_text(&v->rule),
	                                         .hash = v->hash,
	                                         .due_at = due.text },
	    e);
}

int policy_gate_approve(struct store *st, const struct policy_verdict *v, int64_t session,
                        int64_t request, const char *word, const char *digest, const char *subject,
                        struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(decision_result) struct decision_result result = { 0 };
	struct decision d = { .verdict = word,
		              .reason = str_text(&v->reason),
		              .digest = digest,
		              .operator_id = "system:policy",
		              .source = "policy" };
	int got = request_read_answer(st, request, &r, e);

	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_BUG, "a call's request without a row");
	d.request_id = r.row.id;
	if (decision_insert(st, &d, &result, e))
		return -1;
	if (result.is.outcome != DECISION_OUTCOME_APPLIED)
		return 0;
	return policy_gate_note(st, v, session, request, subject, e) ? -1 : 1;
}

cJSON *policy_gate_commands(struct store *st)
{
	cJSON *map;

	if (!setting_is_on(st, "policy.require_global_allowlist", false))
		return NULL;
	(void)setting_json(st, "commands", &map, NULL);
	return map ? map : cJSON_CreateObject();
}

int policy_gate_record(struct store *st, const char *machine, const struct policy_file *f,
                       struct err *e)
{
	bool loaded = f->exists && !f->why[0];
	struct policy_insert_args args = {
		.machine = machine,
		.workspace = f->workspace_root,
		.state = f->why[0]   ? POLICY_STATE_BROKEN
		         : f->exists ? POLICY_STATE_LOADED
		                     : POLICY_STATE_GONE,
		.hash = f->hash,
		.why = f->why[0] ? f->why : NULL,
	};

	if (loaded)
		args.content = content_put(st, str_text(&f->bytes), f->bytes.length, e);
	return args.content < 0 ? -1 : sql_policy_insert(st, &args, e);
}
