#include "hook_settle.h"

#include "ask.h"
#include "decision.h"
#include "hook.h"
#include "json.h"
#include "json_writer.h"
#include "sql/request.h"
#include "visible.h"

#include <string.h>

static const struct {
	const char *verdict;
	const char *why; /* it is not as a person has said, or needs no answer */
} TOLD[] = {
	[HOOK_TOLD_APPROVE] = { "approve", "its editor's user allowed it while agent-intercom "
	                                   "could not be reached" },
	[HOOK_TOLD_REJECT] = { "reject", "its editor's user refused it while agent-intercom could "
	                                 "not be reached" },
	[HOOK_TOLD_REFUSE] = { "refuse", "it was refused while agent-intercom could not be "
	                                 "reached" },
	[HOOK_TOLD_WITHDRAW] = { "withdraw", "its editor or its agent has gone, or cancelled it" },
};

void hook_settle_add_how(struct str *out, const cJSON *params)
{
	enum { NAME_BYTES = 200 };
	const char *chosen = json_text(params, "chosen");

	str_add(out, cJSON_IsTrue(json_get(params, "always")) ? "always, in the editor"
	                                                      : "in the editor");
	if (chosen) {
		str_add(out, ": ");
		str_add_shown(out, chosen, strlen(chosen), NAME_BYTES);
	}
}

int hook_settle_read(struct hook *h, const cJSON *params, struct err *e)
{
	const char *told = json_text(params, "told");
	OWNED(str) struct str how = { 0 };

	if (!told || !h->in.host->relays)
		return 0;
	for (size_t i = HOOK_TOLD_APPROVE; i < COUNT(TOLD); i++)
		if (strcmp(told, TOLD[i].verdict) == 0)
			h->told = (enum hook_told)i;
	if (!h->told)
		return err_set(e, ERR_INPUT,
		               "params.told must be approve, reject, refuse or withdraw");
	if (h->before && strlen(h->before) != sizeof(h->digest.text) - 1)
		return err_set(e, ERR_INPUT, "params.before must be a digest");
	hook_settle_add_how(&how, params);
	h->how = str_take(&how);
	return 0;
}

/* What the editor's user chose goes where all answers are, if nobody has answered yet. */
static int decide(struct store *st, const struct hook *h, const struct request *r, struct err *e)
{
	OWNED(decision_result) struct decision_result result = { 0 };
	const struct decision d = { .request_id = r->row.id,
		                    .verdict = TOLD[h->told].verdict,
		                    .reason = h->how,
		                    .digest = r->row.digest,
		                    .source = "editor" };

	return err_if(sql_request_revive(st, NULL, r->row.seq, e) ||
	              decision_insert(st, &d, &result, e));
}

/* The agent was told otherwise than a person has said. */
static void note_other(struct call *c, const struct request *r)
{
	const char *why = TOLD[c->hook->told].why;

	c->request_seq = r->row.seq;
	c->is_answer = true;
	if (r->row.state == REQUEST_STATE_REJECTED) {
		hook_set_result(&c->result, GATE_NONE, why);
		return;
	}
	str_reset(&c->result);
	json_object(&c->result);
	json_member(&c->result, "decision", gate_decision_name(GATE_DENY));
	json_member(&c->result, "reason", why);
	json_member_bool(&c->result, HOOK_WITHHELD, true);
	json_object_end(&c->result);
}

/* The agent was told what a person has said: an approval is used up by that. */
static int note_same(struct store *st, struct call *c, const struct request *r, struct err *e)
{
	bool is_yes = r->row.state == REQUEST_STATE_APPROVED;
	int used = is_yes ? sql_gate_call_used(st, r->row.seq, e) : 0;

	if (used)
		return used < 0 ? -1 : sql_request_delivered(st, r->row.seq, e);
	c->request_seq = r->row.seq;
	c->is_answer = true;
	hook_set_result(&c->result, is_yes ? GATE_ALLOW : GATE_DENY, NULL);
	return 0;
}

static int note(struct store *st, struct call *c, const struct request *r, struct err *e)
{
	bool said_yes = r->row.state == REQUEST_STATE_APPROVED;
	bool told_yes = c->hook->told == HOOK_TOLD_APPROVE;

	if (!said_yes && r->row.state != REQUEST_STATE_REJECTED) /* nobody has decided */
		return ask_outdate(st, r->row.seq, TOLD[c->hook->told].why, e);
	if (said_yes == told_yes)
		return note_same(st, c, r, e);
	note_other(c, r);
	return 0;
}

int hook_settle(struct store *st, struct call *c, const struct peer *p, struct err *e)
{
	const struct hook *h = c->hook;
	bool chose = h->told == HOOK_TOLD_APPROVE || h->told == HOOK_TOLD_REJECT;
	OWNED(request) struct request r = { 0 };
	OWNED(request) struct request now = { 0 };
	int64_t seq = sql_request_unsettled(st, p->session_seq, c->digest.text, e);
	int got = seq > 0 ? request_read(st, seq, &r, e) : (int)seq;

	hook_set_result(&c->result, GATE_NONE, NULL);
	if (got <= 0)
		return got;
	if (!chose || !request_is_open(r.row.state))
		return note(st, c, &r, e);
	if (decide(st, h, &r, e) || request_read(st, seq, &now, e) < 0)
		return -1;
	return note(st, c, &now, e);
}
