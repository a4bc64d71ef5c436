#include "upkeep.h"

#include <stdio.h>
#include <string.h>

static const int64_t DAY_MS = 24 * 3600 * (int64_t)1000;

struct last {
	int64_t age_ms; /* negative: there was none, or the clock was wrong then or is now */
	bool damaged;
};

static int read_last(struct store *st, const char *kind, struct last *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_UPKEEP_LAST);
	int got;

	*out = (struct last){ .age_ms = -1 };
	bind_text(s, ":kind", kind);
	got = stmt_row(s, e);
	if (got > 0) {
		out->age_ms = clock_now_ms() - clock_parse(col_text(s, UPKEEP_LAST_AT));
		out->damaged = strcmp(col_text(s, UPKEEP_LAST_OUTCOME), "damaged") == 0;
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static bool is_due(const struct last *last, int64_t span_ms)
{
	return last->age_ms < 0 || last->age_ms >= span_ms;
}

static int insert(struct store *st, const char *kind, const char *why, const struct instant *began,
                  struct err *e)
{
	stmt *s = store_stmt(st, SQL_UPKEEP_INSERT);

	bind_text(s, ":kind", kind);
	bind_text(s, ":outcome", why ? "damaged" : "ok");
	bind_text(s, ":why", why);
	bind_text(s, ":started_at", began->text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static void begin_check(struct upkeep *u)
{
	str_reset(&u->found);
	u->table[0] = '\0';
	u->began = clock_now();
	u->checking = true;
}

/* SQLite reads tables here (since 3.46 all of them), so this may be what meets the damage. */
static int optimize(struct upkeep *u, struct store *st, struct err *e)
{
	struct instant began = clock_now();
	struct err why = ERR_INIT;

	if (store_begin(st, e))
		return -1;
	if (!store_optimize(st, &why) && !insert(st, "optimize", NULL, &began, &why))
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
	u->checking = false;
	if (u->found.length)
		*ret_damaged = u->found.bytes;
	if (store_begin(st, e))
		return -1;
	if (insert(st, "check", *ret_damaged, &u->began, e)) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e) ? -1 : 1;
}

static int next_table(struct upkeep *u, struct store *st, struct err *e)
{
	stmt *s = store_stmt(st, SQL_UPKEEP_TABLE);
	char name[UPKEEP_TABLE_BYTES] = "";
	int got;

	bind_text(s, ":after", u->table);
	got = stmt_row(s, e);
	if (got > 0)
		(void)snprintf(name, sizeof(name), "%s", col_text(s, UPKEEP_TABLE_NAME));
	stmt_reset(s);
	(void)snprintf(u->table, sizeof(u->table), "%s", name); /* it was bound */
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
	if (read_last(st, "check", &check, e) || read_last(st, "optimize", &statistics, e))
		return -1;
	if (is_due(&check, 7 * DAY_MS)) {
		begin_check(u);
		return 1;
	}
	return !check.damaged && is_due(&statistics, DAY_MS) ? optimize(u, st, e) : 0;
}
