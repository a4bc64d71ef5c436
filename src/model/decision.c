#include "decision.h"

#include "content.h"
#include "request.h"

#include <string.h>

int decision_insert(struct store *st, const struct decision *d, struct decision_result *result,
                    struct err *e)
{
	int64_t edited = d->edited ? content_put(st, d->edited, strlen(d->edited), e) : 0;
	const struct proof proof = d->key ? proof_of(d->key, d) : (struct proof){ 0 };
	const struct decision_insert_args args = { .request_id = d->request_id,
		                                   .verdict = d->verdict,
		                                   .reason = d->reason,
		                                   .instruction = d->instruction,
		                                   .choice = d->choice,
		                                   .edited = edited,
		                                   .digest = d->digest,
		                                   .operator_id = d->operator_id,
		                                   .source = d->source,
		                                   .proof = d->key ? proof.text : NULL };
	int64_t seq = edited < 0 ? -1 : sql_decision_insert(st, &args, e);

	if (seq < 0 || sql_decision_outcome(st, seq, &result->is, e) < 0)
		return -1;
	if (!result->is.outcome)
		return err_set(e, ERR_BUG, "db: decision %lld has no outcome", (long long)seq);
	return sql_decision_state(st, seq, &result->request, e) < 0 ? -1 : 0;
}

void decision_result_clear(struct decision_result *r)
{
	decision_outcome_row_clear(&r->is);
	decision_state_row_clear(&r->request);
}

static int already(const struct decision_state_row *r, struct err *e)
{
	const char *by = r->decided_by ? r->decided_by : "somebody";
	const char *at = r->decided_at ? r->decided_at : "an unknown time";
	const char *verdict = request_verdict_name(r->decision);

	if (r->state == REQUEST_STATE_CONSUMED)
		return err_set(e, ERR_INPUT, "already approved by %s at %s, and written", by, at);
	if (r->chosen)
		return err_set(e, ERR_INPUT, "already answered with '%.80s' by %s at %s", r->chosen,
		               by, at);
	if (r->asked_again)
		return err_set(
		    e, ERR_INPUT,
		    "already approved by %s at %s; the workspace had changed by then, so "
		    "it is asked again: %.13s",
		    by, at, r->asked_again);
	if (r->decision == REQUEST_VERDICT_APPROVE)
		return err_set(e, ERR_INPUT, "already approved by %s at %s%s", by, at,
		               r->kind == REQUEST_KIND_CLEARANCE ? REQUEST_UNWRITTEN : "");
	if (r->decision == REQUEST_VERDICT_REJECT)
		return err_set(e, ERR_INPUT, "already rejected by %s at %s", by, at);
	return err_set(e, ERR_INPUT, "already answered with '%s' by %s at %s",
	               verdict ? verdict : "", by, at);
}

static int refuse(const char *outcome, const char *why, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s: %s", outcome, why ? why : "no reason");
}

int decision_check(const struct decision_result *r, struct err *e)
{
	const char *why = r->is.why;

	switch (r->is.outcome) {
	case DECISION_OUTCOME_APPLIED:
		return 0;
	case DECISION_OUTCOME_DUPLICATE:
		return already(&r->request, e);
	case DECISION_OUTCOME_NOT_FOUND:
		return refuse("not found", why, e);
	case DECISION_OUTCOME_TOO_LATE:
		return refuse("too late", why, e);
	case DECISION_OUTCOME_NOT_IN_THIS_MODE:
		return refuse("not in this mode", why, e);
	case DECISION_OUTCOME_WRONG_VERB:
		return refuse("wrong verb", why, e);
	case DECISION_OUTCOME_MALFORMED: /* the malformed part has its own message */
		return why ? err_set(e, ERR_INPUT, "%s", why) : refuse("malformed", why, e);
	case DECISION_OUTCOME_UNAUTHORIZED:
		return refuse("unauthorized", why, e);
	case DECISION_OUTCOME_NONE:
		break;
	}
	return err_set(e, ERR_BUG, "a decision without an outcome");
}
