#include "usage_rows.h"

#include "budget.h"
#include "clock.h"
#include "json.h"
#include "setting.h"
#include "sql/agent_usage.h"
#include "usage.h"

#include <inttypes.h>
#include <stdio.h>
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

/* ---- budgets ---- */

/* One of them, and what of it is used by now. */
struct kept {
	const char *of; /* in words */
	struct str text; /* as it is configured */
	struct budget budget;
	struct agent_usage_sum_row sum;
};

static void kept_clear(struct kept *k)
{
	str_clear(&k->text);
}

static int64_t times(const struct kept *k, const struct usage_count *without)
{
	return budget_times(&k->budget, k->sum.total_tokens - without->total,
	                    k->sum.cost_micros - without->micros);
}

/* The session is paused: resumed, it goes on until as much is used again. 1, or -1 error; so do
 * those that call it, and 0 where there is no need. */
static int pause_session(const struct kept *k, struct runner *r, const struct agent_talk_row *row,
                         struct str *line, struct err *e)
{
	const struct usage_told told = {
		.total_tokens = k->budget.tokens ? k->sum.total_tokens : 0,
		.cost_micros = k->budget.micros ? k->sum.cost_micros : 0,
		.currency = k->budget.currency,
	};
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "The budget of %s (%s) is used up: ", k->of, str_text(&k->text));
	usage_add(&why, &told);
	str_addf(line,
	         "%s%s. The session is paused; `session-resume` goes on until as much is used "
	         "again.",
	         line->length ? "\n" : "", why.bytes);
	return sql_agent_usage_pause(&r->w.store, why.bytes, row->session_seq, e) < 0 ? -1 : 1;
}

/* 1 there is such a budget, 0 there is none, -1 error. */
static int read_budget(struct kept *k, struct runner *r, const char *setting, struct err *e)
{
	int got = setting_get(&r->w.store, setting, &k->text, e);

	return got <= 0 ? got : budget_read(str_text(&k->text), &k->budget);
}

static int keep_session(struct runner *r, const struct agent_talk_row *row,
                        const struct usage_count *added, struct str *line, struct err *e)
{
	static const struct usage_count NONE = { 0 };
	OWNED(kept) struct kept k = { .of = "this session" };
	int got = read_budget(&k, r, "budget.session", e);

	if (got <= 0)
		return got;
	if (sql_agent_usage_of_session(&r->w.store, k.budget.currency, row->session_seq, &k.sum,
	                               e) < 0)
		return -1;
	return times(&k, &NONE) > times(&k, added) ? pause_session(&k, r, row, line, e) : 0;
}

/* That of a day is common to all sessions: each is paused when it sees that it is used up. */
static int keep_day(struct usage_rows *u, struct runner *r, const struct agent_talk_row *row,
                    const char *day, const struct usage_count *added, struct str *line,
                    struct err *e)
{
	static const struct usage_count NONE = { 0 };
	OWNED(kept) struct kept k = { .of = "the day" };
	int got = read_budget(&k, r, "budget.day", e);
	int64_t before, now;

	if (got <= 0)
		return got;
	if (sql_agent_usage_of_day(&r->w.store, k.budget.currency, day, &k.sum, e) < 0)
		return -1;
	before = strcmp(u->day, day) == 0 ? u->day_times : times(&k, added);
	now = times(&k, &NONE);
	(void)snprintf(u->day, sizeof(u->day), "%s", day);
	u->day_times = now;
	return now > before ? pause_session(&k, r, row, line, e) : 0;
}

/* ---- rows ---- */

int usage_rows_write(struct usage_rows *u, struct runner *r, const struct agent_talk_row *row,
                     struct str *line, struct err *e)
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
	if (sql_agent_usage_begin(&r->w.store, r->w.row, day, e) ||
	    sql_agent_usage_add(&r->w.store, &args, e))
		return -1;
	int session = keep_session(r, row, &added, line, e);
	int all = session < 0 ? -1 : keep_day(u, r, row, day, &added, line, e);

	return all < 0 ? -1 : session || all;
}

void usage_rows_written(struct usage_rows *u)
{
	if (u->is_new)
		u->written = count_of(u);
	u->is_new = false;
}
