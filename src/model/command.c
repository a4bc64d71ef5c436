#include "command.h"

static int refuse(const char *outcome, const char *why, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s: %s", outcome, why ? why : "no reason");
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
