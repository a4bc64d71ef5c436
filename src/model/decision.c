#include "decision.h"

#include "sql/steering.h"

int decision_insert(struct store *st, const struct decision *d, struct decision_result *result,
                    struct err *e)
{
	const struct proof proof = d->key ? proof_of(d->key, d) : (struct proof){ 0 };
	const struct decision_insert_args args = { .request_id = d->request_id,
		                                   .verdict = d->verdict,
		                                   .reason = d->reason,
		                                   .instruction = d->instruction,
		                                   .digest = d->digest,
		                                   .operator_id = d->operator_id,
		                                   .source = d->source,
		                                   .proof = d->key ? proof.text : NULL };
	int64_t seq = sql_decision_insert(st, &args, e);

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
	if (r->decision == REQUEST_VERDICT_APPROVE)
		return err_set(e, ERR_INPUT, "already approved by %s at %s", by, at);
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
	case DECISION_OUTCOME_MALFORMED: /* what was said wrong says so itself */
		return why ? err_set(e, ERR_INPUT, "%s", why) : refuse("malformed", why, e);
	case DECISION_OUTCOME_UNAUTHORIZED:
		return refuse("unauthorized", why, e);
	case DECISION_OUTCOME_NONE:
		break;
	}
	return err_set(e, ERR_BUG, "a decision without an outcome");
}

int command_insert(struct store *st, const struct command *c, struct command_result *result,
                   struct err *e)
{
	const struct command_insert_args args = { .verb = c->verb,
		                                  .session_id = c->session_id,
		                                  .argument = c->argument,
		                                  .operator_id = c->operator_id,
		                                  .source = c->source };
	int64_t seq = sql_command_insert(st, &args, e);

	return seq < 0 ? -1 : command_read(st, seq, result, e);
}

int command_read(struct store *st, int64_t seq, struct command_result *result, struct err *e)
{
	int got = sql_command_outcome(st, seq, &result->is, e);

	result->seq = seq;
	if (got == 0)
		return err_set(e, ERR_BUG, "db: command %lld is gone", (long long)seq);
	return got < 0 ? -1 : 0;
}

void command_result_clear(struct command_result *r)
{
	command_outcome_row_clear(&r->is);
}

int command_check(const struct command_result *r, struct err *e)
{
	const char *why = r->is.why;

	switch (r->is.outcome) {
	case COMMAND_OUTCOME_NONE:
	case COMMAND_OUTCOME_DONE:
		return 0;
	case COMMAND_OUTCOME_MALFORMED:
	case COMMAND_OUTCOME_REFUSED:
		if (why)
			return err_set(e, ERR_INPUT, "%s", why);
		break;
	case COMMAND_OUTCOME_NOT_FOUND:
		return refuse("not found", why, e);
	case COMMAND_OUTCOME_UNAUTHORIZED:
		break;
	}
	return refuse(command_outcome_name(r->is.outcome), why, e);
}

int64_t saying_put(struct store *st, const struct saying *w, struct err *e)
{
	const struct steering_insert_args args = { .kind = w->kind,
		                                   .session_id = w->session_id,
		                                   .channel_id = w->channel_id,
		                                   .text = w->text,
		                                   .operator_id = w->operator_id,
		                                   .source = w->source };

	return sql_steering_insert(st, &args, e);
}

int saying_check(struct store *st, int64_t seq, struct err *e)
{
	OWNED(steering_outcome_row) struct steering_outcome_row row = { 0 };
	int got = sql_steering_outcome(st, seq, &row, e);

	if (got > 0 && row.why)
		return err_set(e, ERR_INPUT, "%s: %s", steering_outcome_name(row.outcome), row.why);
	return got < 0 ? -1 : 0;
}

int saying_insert(struct store *st, const struct saying *w, struct err *e)
{
	int64_t seq = saying_put(st, w, e);

	return seq < 0 ? -1 : saying_check(st, seq, e);
}
