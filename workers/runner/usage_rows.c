#include "usage_rows.h"

#include "json.h"
#include "sql/agent_usage.h"
#include "usage.h"

#include <inttypes.h>
#include <string.h>

enum { MICROS = 1000000, FULL_PERCENT = 90 };

/* ---- counting ---- */

/* Agents count the tokens of their session, as the protocol has it, or those of each turn: whoever
 * counts less than before counts turns. */
static void take_tokens(struct usage_rows *u, const struct acp_event *event)
{
	u->by_turn = u->by_turn || event->total < u->last.total;
	u->last = (struct usage_count){ .input = event->input,
		                        .output = event->output,
		                        .total = event->total };
	u->all.input += event->input;
	u->all.output += event->output;
	u->all.total += event->total;
}

static void take_cost(struct usage_rows *u, const char *json)
{
	static const double MOST = 1e9;
	OWNED(cJSON_ptr) cJSON *cost = json ? cJSON_Parse(json) : NULL;
	const cJSON *amount = cJSON_GetObjectItemCaseSensitive(cost, "amount");
	const char *currency = json_text(cost, "currency");
	int64_t micros;

	if (!cJSON_IsNumber(amount) || amount->valuedouble < 0 || amount->valuedouble > MOST ||
	    !currency || strlen(currency) != sizeof(u->currency) - 1)
		return;
	micros = (int64_t)(amount->valuedouble * MICROS + 0.5);
	if (micros < u->cost_last)
		u->cost_before += u->cost_last;
	u->cost_last = micros;
	if (!u->currency[0])
		memcpy(u->currency, currency, sizeof(u->currency));
}

static void take_context(struct usage_rows *u, const struct acp_event *event, struct str *line)
{
	if (event->size <= 0)
		return;
	u->used = event->used;
	u->size = event->size;
	if (u->is_told || u->used < u->size / 100 * FULL_PERCENT)
		return;
	u->is_told = true;
	str_addf(line,
	         "The agent's context is %" PRId64 " %% full: %" PRId64 " of %" PRId64 " tokens.",
	         u->used * 100 / u->size, u->used, u->size);
}

void usage_rows_take(struct usage_rows *u, const struct acp_event *event, struct str *line)
{
	u->is_new = true;
	if (event->total > 0)
		take_tokens(u, event);
	take_cost(u, event->json);
	take_context(u, event, line);
}

/* What the agent has used in all, as far as it is known. */
static struct usage_count count_of(const struct usage_rows *u)
{
	struct usage_count now = u->by_turn ? u->all : u->last;

	now.micros = u->cost_before + u->cost_last;
	return now;
}

static int64_t more(int64_t now, int64_t before)
{
	return now > before ? now - before : 0;
}

/* ---- rows ---- */

int usage_rows_write(struct usage_rows *u, struct runner *r, struct err *e)
{
	const struct usage_count now = count_of(u);
	const struct usage_count added = { .input = more(now.input, u->written.input),
		                           .output = more(now.output, u->written.output),
		                           .total = more(now.total, u->written.total),
		                           .micros = more(now.micros, u->written.micros) };
	char day[USAGE_DAY_BYTES];

	if (!u->is_new)
		return 0;
	usage_today(day);
	const struct agent_usage_add_args args = { .input_tokens = added.input,
		                                   .output_tokens = added.output,
		                                   .total_tokens = added.total,
		                                   .cost_micros = added.micros,
		                                   .currency = u->currency[0] ? u->currency : NULL,
		                                   .context_used = u->used,
		                                   .context_size = u->size,
		                                   .run = r->w.row,
		                                   .day = day };
	return err_if(sql_agent_usage_begin(&r->w.store, r->w.row, day, e) ||
	              sql_agent_usage_add(&r->w.store, &args, e));
}

void usage_rows_written(struct usage_rows *u)
{
	if (u->is_new)
		u->written = count_of(u);
	u->is_new = false;
}
