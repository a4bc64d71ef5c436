#include "upkeep.h"

#include "sql/upkeep.h"

#include <stdio.h>
#include <string.h>

static const int64_t DAY_MS = 24 * 3600 * (int64_t)1000;

struct last {
	int64_t age_ms; /* negative: there was none, or the clock was or is wrong */
	bool damaged;
};

static int read_last(struct store *st, enum upkeep_kind kind, struct last *out, struct err *e)
{
	OWNED(upkeep_last_row) struct upkeep_last_row row = { 0 };
	int got = sql_upkeep_last(st, kind, &row, e);

	*out = (struct last){ .age_ms = got > 0 ? clock_now_ms() - clock_parse(row.at) : -1,
		              .damaged = row.outcome == UPKEEP_OUTCOME_DAMAGED };
	return got < 0 ? -1 : 0;
}

static bool is_due(const struct last *last, int64_t span_ms)
{
	return last->age_ms < 0 || last->age_ms >= span_ms;
}

static void begin_check(struct upkeep *u)
{
	str_reset(&u->found);
	u->table[0] = '\0';
	u->began = clock_now();
	u->checking = true;
}

/* SQLite reads tables here (since 3.46 all of them), so this may be where damage is found. */
static int optimize(struct upkeep *u, struct store *st, struct err *e)
{
	struct instant began = clock_now();
	struct err why = { 0 };

	if (store_begin(st, e))
		return -1;
	if (!store_optimize(st, &why) &&
	    !sql_upkeep_insert(st, UPKEEP_KIND_OPTIMIZE, UPKEEP_OUTCOME_OK, NULL, began.text, &why))
		return store_commit(st, e) ? -1 : 1;
	store_rollback(st);
	if (why.kind != ERR_INPUT && why.kind != ERR_REFUSED) {
		*e = why;
		return -1;
	}
	begin_check(u);
	str_addf(&u->found, "optimize: %s", why.text);
	return 1;
}

static int end_check(struct upkeep *u, struct store *st, const char **ret_damaged, struct err *e)
{
	enum upkeep_outcome outcome = u->found.length ? UPKEEP_OUTCOME_DAMAGED : UPKEEP_OUTCOME_OK;

	u->checking = false;
	if (u->found.length)
		*ret_damaged = u->found.bytes;
	if (store_begin(st, e))
		return -1;
	return store_end(st,
	                 sql_upkeep_insert(st, UPKEEP_KIND_CHECK, outcome, *ret_damaged,
	                                   u->began.text, e),
	                 e)
	           ? -1
	           : 1;
}

static int next_table(struct upkeep *u, struct store *st, struct err *e)
{
	OWNED(upkeep_table_row) struct upkeep_table_row row = { 0 };
	int got = sql_upkeep_table(st, u->table, &row, e);

	(void)snprintf(u->table, sizeof(u->table), "%s", got > 0 ? row.name : "");
	return got;
}

static int check_some(struct upkeep *u, struct store *st, const char **ret_damaged, struct err *e)
{
	int got = next_table(u, st, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return end_check(u, st, ret_damaged, e);
	return store_check_table(st, u->table, &u->found, e) < 0 ? -1 : 1;
}

int upkeep_some(struct upkeep *u, struct store *st, const char **ret_damaged, struct err *e)
{
	struct last check, statistics;

	*ret_damaged = NULL;
	if (u->checking)
		return check_some(u, st, ret_damaged, e);
	if (read_last(st, UPKEEP_KIND_CHECK, &check, e) ||
	    read_last(st, UPKEEP_KIND_OPTIMIZE, &statistics, e))
		return -1;
	if (is_due(&check, 7 * DAY_MS)) {
		begin_check(u);
		return 1;
	}
	return !check.damaged && is_due(&statistics, DAY_MS) ? optimize(u, st, e) : 0;
}
