#include "policy_gate.h"

#include "content.h"
#include "setting.h"
#include "sql/policy.h"

int policy_gate_take(struct store *st, const char *machine, enum policy_trust trust, bool is_listed,
                     struct policy_file *f, struct err *e)
{
	if (!f->policy)
		return 0;
	f->counts = trust == POLICY_TRUST_OFF || (trust == POLICY_TRUST_LISTED && is_listed);
	return f->counts ? 0 : policy_trust_load(st, machine, f, e);
}

bool policy_gate_judge(const struct policy_file *f, const struct policy_question *q,
                       struct policy_answer *a)
{
	OWNED(policy_answer) struct policy_answer trusted = { 0 };

	policy_judge(f->policy, q, a);
	if (!a->approved || f->counts)
		return false;
	policy_judge(f->trusted, q, &trusted);
	if (trusted.approved)
		return false;
	str_addf(&trusted.rule, "%s", a->rule.bytes);
	policy_answer_clear(a);
	str_addf(&a->why, "%s allows it, but nobody has trusted this version of the policy",
	         trusted.rule.bytes);
	return true;
}

void policy_gate_add_reason(struct str *out, const struct policy_file *f,
                            const struct policy_answer *a)
{
	str_addf(out, "%s (policy %.8s)", a->rule.bytes, f->hash);
}

cJSON *policy_gate_commands(struct store *st)
{
	OWNED(str) struct str required = { 0 };
	OWNED(str) struct str commands = { 0 };
	cJSON *map = NULL;

	if (setting_get(st, "policy.require_global_allowlist", &required, NULL) <= 0 ||
	    required.bytes[0] != 't')
		return NULL;
	if (setting_get(st, "commands", &commands, NULL) > 0)
		map = cJSON_Parse(commands.bytes);
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
