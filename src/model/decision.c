#include "decision.h"

#include "str.h"

#include <stdlib.h>
#include <string.h>

static int read_outcome(struct store *st, int64_t seq, struct decision_result *r, struct err *e)
{
	stmt *s = store_stmt(st, SQL_DECISION_OUTCOME);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		r->outcome = col_copy(s, DECISION_OUTCOME_OUTCOME);
		r->why = col_copy(s, DECISION_OUTCOME_WHY);
	}
	stmt_reset(s);
	if (got == 0 || (got > 0 && !r->outcome))
		return err_set(e, ERR_BUG, "db: decision %lld has no outcome", (long long)seq);
	return got < 0 ? -1 : 0;
}

static int read_state(struct store *st, int64_t seq, struct decision_result *r, struct err *e)
{
	stmt *s = store_stmt(st, SQL_DECISION_STATE);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		r->state = col_copy(s, DECISION_STATE_STATE);
		r->verdict = col_copy(s, DECISION_STATE_DECISION);
		r->decided_by = col_copy(s, DECISION_STATE_DECIDED_BY);
		r->decided_at = col_copy(s, DECISION_STATE_DECIDED_AT);
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

int decision_insert(struct store *st, const struct decision *d, struct decision_result *result,
                    struct err *e)
{
	stmt *s = store_stmt(st, SQL_DECISION_INSERT);
	struct proof proof;
	int64_t seq;

	bind_text(s, ":request_id", d->request_id);
	bind_text(s, ":verdict", d->verdict);
	bind_text(s, ":reason", d->reason);
	bind_text(s, ":instruction", d->instruction);
	bind_text(s, ":digest", d->digest);
	bind_text(s, ":operator_id", d->operator_id);
	bind_text(s, ":source", d->source);
	if (d->key)
		proof = proof_of(d->key, d);
	bind_text(s, ":proof", d->key ? proof.text : NULL);
	if (stmt_run(s, e) < 0)
		return -1;
	seq = store_last_seq(st);
	return read_outcome(st, seq, result, e) || read_state(st, seq, result, e) ? -1 : 0;
}

void decision_result_clear(struct decision_result *r)
{
	free(r->outcome);
	free(r->why);
	free(r->state);
	free(r->verdict);
	free(r->decided_by);
	free(r->decided_at);
	*r = (struct decision_result)DECISION_RESULT_INIT;
}

static int already(const struct decision_result *r, struct err *e)
{
	const char *by = r->decided_by ? r->decided_by : "somebody";
	const char *at = r->decided_at ? r->decided_at : "an unknown time";
	const char *verdict = r->verdict ? r->verdict : "";

	if (r->state && strcmp(r->state, "consumed") == 0)
		return err_set(e, ERR_INPUT, "already approved by %s at %s, and written", by, at);
	if (strcmp(verdict, "approve") == 0)
		return err_set(e, ERR_INPUT, "already approved by %s at %s", by, at);
	if (strcmp(verdict, "reject") == 0)
		return err_set(e, ERR_INPUT, "already rejected by %s at %s", by, at);
	return err_set(e, ERR_INPUT, "already answered with '%s' by %s at %s", verdict, by, at);
}

static const char *in_words(const char *outcome)
{
	static const char *const WORDS[][2] = {
		{ "not_found", "not found" },
		{ "too_late", "too late" },
		{ "not_in_this_mode", "not in this mode" },
		{ "wrong_verb", "wrong verb" },
	};

	for (size_t i = 0; i < COUNT(WORDS); i++)
		if (strcmp(outcome, WORDS[i][0]) == 0)
			return WORDS[i][1];
	return outcome;
}

/* What was said wrong says so itself. */
static int refuse(const char *outcome, const char *why, struct err *e)
{
	if (why && (strcmp(outcome, "malformed") == 0 || strcmp(outcome, "refused") == 0))
		return err_set(e, ERR_INPUT, "%s", why);
	return err_set(e, ERR_INPUT, "%s: %s", in_words(outcome), why ? why : "no reason");
}

int decision_check(const struct decision_result *r, struct err *e)
{
	if (strcmp(r->outcome, "applied") == 0)
		return 0;
	if (strcmp(r->outcome, "duplicate") == 0)
		return already(r, e);
	return refuse(r->outcome, r->why, e);
}

int command_insert(struct store *st, const struct command *c, struct command_result *result,
                   struct err *e)
{
	stmt *s = store_stmt(st, SQL_COMMAND_INSERT);

	bind_text(s, ":verb", c->verb);
	bind_text(s, ":session_id", c->session_id);
	bind_text(s, ":argument", c->argument);
	bind_text(s, ":operator_id", c->operator_id);
	bind_text(s, ":source", c->source);
	if (stmt_run(s, e) < 0)
		return -1;
	return command_read(st, store_last_seq(st), result, e);
}

int command_read(struct store *st, int64_t seq, struct command_result *result, struct err *e)
{
	stmt *s = store_stmt(st, SQL_COMMAND_OUTCOME);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		result->seq = seq;
		result->outcome = col_copy(s, COMMAND_OUTCOME_OUTCOME);
		result->why = col_copy(s, COMMAND_OUTCOME_WHY);
		result->reply = col_copy(s, COMMAND_OUTCOME_REPLY);
	}
	stmt_reset(s);
	if (got == 0)
		return err_set(e, ERR_BUG, "db: command %lld is gone", (long long)seq);
	return got < 0 ? -1 : 0;
}

void command_result_clear(struct command_result *r)
{
	free(r->outcome);
	free(r->why);
	free(r->reply);
	*r = (struct command_result)COMMAND_RESULT_INIT;
}

int command_check(const struct command_result *r, struct err *e)
{
	return !r->outcome || strcmp(r->outcome, "done") == 0 ? 0 : refuse(r->outcome, r->why, e);
}

int64_t saying_put(struct store *st, const struct saying *w, struct err *e)
{
	stmt *s = store_stmt(st, SQL_STEERING_INSERT);

	bind_text(s, ":kind", w->kind);
	bind_text(s, ":session_id", w->session_id);
	bind_text(s, ":channel_id", w->channel_id);
	bind_text(s, ":text", w->text);
	bind_text(s, ":operator_id", w->operator_id);
	bind_text(s, ":source", w->source);
	return stmt_run(s, e) < 0 ? -1 : store_last_seq(st);
}

int saying_check(struct store *st, int64_t seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_STEERING_OUTCOME);
	int got, refused = 0;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0 && col_text(s, STEERING_OUTCOME_WHY))
		refused = err_set(e, ERR_INPUT, "%s: %s", col_text(s, STEERING_OUTCOME_OUTCOME),
		                  col_text(s, STEERING_OUTCOME_WHY));
	stmt_reset(s);
	return got < 0 ? -1 : refused;
}

int saying_insert(struct store *st, const struct saying *w, struct err *e)
{
	int64_t seq = saying_put(st, w, e);

	return seq < 0 ? -1 : saying_check(st, seq, e);
}
